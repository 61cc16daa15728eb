"""What the SQL half must say, in slow plain loops: written from the rules of the design, not from the models."""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from sql_samples import AS_OF, Row, text_hash

PRIOR = {"reviewed": (4, 1), "corroborated": (3, 1), "stated": (2, 1), "mechanical": (1.5, 1), "proposed": (1, 1)}
WEIGHT = {"human": 1.0, "agent": 0.25, "author": 0.1, "bot": 0.0}
STRENGTH = ("reviewed", "corroborated", "stated", "mechanical", "proposed")
HALF_LIFE, SILENT_DAYS, BOUND = 180, 90, 0.05


def width(audience: str) -> int:
    """Of two audiences the one with the smaller number is the wider."""
    return 1 if audience == "team" else 2 if audience.startswith("project:") else 3


class Oracle:
    """One lake's rows and the as-of day; every question is answered from scratch."""

    def __init__(self, rows: dict[str, list[Row]], require: str = "risky", as_of: date = AS_OF) -> None:
        self.rows, self.require, self.as_of = rows, require, as_of
        signals = {row["signal_id"]: row for row in rows["signals"]}
        self.members: dict[str, list[tuple[Row, Row]]] = defaultdict(list)
        for claim in rows["claims"]:
            self.members[claim["learning_id"]].append((claim, signals[claim["signal_id"]]))
        self._held: dict[str, str | None] = {}
        self.holder = {claim["claim_id"]: claim["learning_id"] for claim in rows["claims"]}
        self.key = {claim["claim_id"]: claim["content_key"] for claim in rows["claims"]}
        self.audience = {claim["claim_id"]: signals[claim["signal_id"]]["audience"] for claim in rows["claims"]}
        self.names = self._every_id()
        self.in_slack = {row["person_id"] for row in rows["people"] if row["source"] == "slack"}
        self._beside: dict[str, list[tuple[Row, Row]]] = {}
        self.kind = {row["person_id"]: row["kind"] for row in rows["people"]}
        self.decisions = sorted(
            (self._resolved(row) for row in rows["ledger"] if row["verdict"] == "applies"),
            key=lambda row: (row["ts"], row["decision_id"]),
        )
        self._named: dict[str | None, list[Row]] = defaultdict(list)
        for row in self.decisions:
            self._named[row["learning"]].append(row)
        self._exposed: dict[str | None, list[Row]] = defaultdict(list)
        for row in rows["exposures"]:
            self._exposed[self.holds(row["claim_id"])].append(row)
        self._refuting: dict[str | None, list[Row]] = defaultdict(list)
        for row in rows["signals"]:
            seen = json.loads(row["payload"]).get("seen", {}) if row["kind"] == "memory_refuted" else {}
            if seen.get("plain") and row["quote_verified"] and row["actor_class"] == "human":
                said = {**row, "decision": "dispute", "decision_id": row["signal_id"]}
                learning = self.holds(seen["claim"])
                before = [act for act in self._exposed[learning] if act["ts"] <= row["ts"]]
                if (row["family_id"], True) in {(a["family_id"], a["act"] in ("shown", "opened")) for a in before}:
                    self._refuting[learning].append(said)
        self.links = self._applied_links()

    def holds(self, name: str) -> str | None:
        if name not in self._held:
            self._held[name] = self._look_up(name)
        return self._held[name]

    def _look_up(self, name: str) -> str | None:
        claim = self.claim_named(name)
        return None if claim is None else self.holder[claim]

    def _every_id(self) -> dict[str, str]:
        """Every id by which something may be named in full, and the claim it means."""
        names = {claim: claim for claim in self.holder}
        former: dict[str, set[str]] = defaultdict(set)
        for claim in self.rows["claims"]:
            for old in claim["former_ids"]:
                former[old].add(claim["claim_id"])
        for old, claims in former.items():
            if old not in self.holder and len({self.holder[claim] for claim in claims}) == 1:
                names[old] = min(claims)
        for row in self.rows["served_ids"]:
            if row["claim_id"] in names or width(row["audience"]) == 3:
                continue
            same = [claim for claim, key in self.key.items() if key == row["content_key"]]
            of_kind = [c for c in same if self.audience[c].split(":")[0] == row["audience"].split(":")[0]]
            shared = [claim for claim in same if width(self.audience[claim]) < 3]
            nearest = of_kind or shared or same
            if len({self.holder[claim] for claim in nearest}) == 1:
                names[row["claim_id"]] = min(nearest)
        return names

    def claim_named(self, name: str) -> str | None:
        if name in self.names:
            return self.names[name]
        if not re.fullmatch(r"lrn_[0-9a-f]{12,}", name):
            return None
        found = {claim for known, claim in self.names.items() if known.startswith(name)}
        return min(found) if len({self.holder[claim] for claim in found}) == 1 else None

    def _resolved(self, row: Row) -> Row:
        claim = self.claim_named(row["claim_id"])
        return {
            **row, "learning": self.holds(row["claim_id"]),
            "key": row["content_key"] or (self.key[claim] if claim else self._buried_key(row["claim_id"])),
        }  # fmt: skip

    def _buried_key(self, name: str) -> str | None:
        """The key of an id that nothing holds, if a standing tombstone took it."""
        applies = [row for row in self.rows["ledger"] if row["verdict"] == "applies"]
        for known in self.rows["served_ids"]:
            if known["claim_id"] != name or name in self.names:
                continue
            for row in applies:
                meets = row["content_key"] == known["content_key"] or name.startswith(row["claim_id"])
                lifted = any(
                    other["decision"] == "restore" and other["ts"] > row["ts"]
                    and (
                        other["claim_id"] == row["claim_id"]
                        or (row["content_key"] and other["content_key"] == row["content_key"])
                    )
                    for other in applies
                )  # fmt: skip
                if row["decision"] in ("reject", "forget") and meets and not lifted:
                    return str(known["content_key"])
        return None

    def on(self, learning: str, until: datetime, *kinds: str) -> list[Row]:
        return [
            row for row in self._named[learning] if row["decision"] in kinds and row["ts"] <= until
        ]  # fmt: skip

    def canonical(self, learning: str) -> tuple[Row, Row]:
        flagged = [pair for pair in self.members[learning] if pair[0]["is_canonical"]]
        return min(flagged, key=lambda pair: (pair[1]["ts"], pair[1]["signal_id"]))

    def versions(self, learning: str, until: datetime) -> list[tuple[Row, str | None]]:
        """(text, decision that brought it), oldest first."""
        text = dict(self.canonical(learning)[0])
        found: list[tuple[Row, str | None]] = [(dict(text), None)]
        for row in self.on(learning, until, "edit", "approve"):
            if row["new_text"] is None:
                continue
            for field, value in json.loads(row["new_text"]).items():
                text[field] = value
                text["inferred"] = [name for name in text["inferred"] if name != field]
            found.append((dict(text), row["decision_id"]))
        return found

    def approved(self, learning: str, until: datetime) -> bool:
        versions = self.versions(learning, until)
        now, brought_by = versions[-1]
        for row in self.on(learning, until, "approve"):
            if row["decided_on_sha256"] == text_hash(now):
                return True
            if row["decision_id"] == brought_by and row["decided_on_sha256"] == text_hash(versions[-2][0]):
                return True
        return False

    def stances(self, learning: str, until: datetime) -> dict[str, Row]:
        latest: dict[str, Row] = {}
        refuting: dict[tuple[str, str], Row] = {}
        for row in sorted(self._refuting[learning], key=lambda row: (row["ts"], row["decision_id"])):
            refuting[row["actor"], row["family_id"]] = row
        told = [row for row in refuting.values() if row["ts"] <= until]
        said = [
            *({**row, "family_id": row["decision_id"]} for row in self.on(learning, until, "endorse", "dispute")),
            *told,
        ]
        for row in sorted(said, key=lambda row: (row["ts"], row["decision_id"])):
            latest[row["actor"]] = row
        return latest

    def authors(self, learning: str) -> set[str]:
        return {signal["actor"] for _, signal in self.members[learning] if signal["actor_class"] == "human"}

    def voter_class(self, learning: str, who: str, otherwise: str) -> str:
        if self.kind.get(who) in ("bot", "agent"):
            return self.kind[who]
        return "author" if who in self.authors(learning) else otherwise

    def disputed(self, learning: str, until: datetime) -> bool:
        against = praise = 0
        for who, row in self.stances(learning, until).items():
            kind = self.voter_class(learning, who, "human")
            against += row["decision"] == "dispute" and kind in ("human", "author")
            praise += row["decision"] == "endorse" and kind == "human"
        return against > praise

    def tombstones(self, learning: str, until: datetime) -> set[str]:
        """Of rejected, forgotten, near: what holds the learning at that instant."""
        found = set()
        known = {row["decision_id"]: row for row in self.decisions if row["decision"] in ("reject", "forget")}
        hits = [("exact", row) for row in known.values() if row["learning"] == learning]
        for claim, _ in self.members[learning]:
            hits += [("exact", row) for row in known.values() if row["key"] == claim["content_key"]]
            if claim["tombstone"]:
                missing = {"ts": datetime.min.replace(tzinfo=UTC), "decision": "reject", "learning": None, "key": None}
                hits.append((claim["tombstone_match"], known.get(claim["tombstone"], missing)))
        for match, row in hits:
            if row["ts"] > until:
                continue
            lifted = any(
                restore["decision"] == "restore" and row["ts"] < restore["ts"] <= until
                and (
                    restore["learning"] == learning
                    or (row["learning"] and restore["learning"] == row["learning"])
                    or (row["key"] and restore["key"] == row["key"])
                )
                for restore in self.decisions
            )  # fmt: skip
            if not lifted:
                reason = "forgotten" if row["decision"] == "forget" else "rejected"
                found.add(reason if match == "exact" else "near")
        return found

    def retired(self, learning: str, until: datetime) -> bool:
        acts = self.on(learning, until, "retire")
        restores = self.on(learning, until, "restore")
        return bool(acts) and not any(row["ts"] > acts[-1]["ts"] for row in restores)

    def document_deleted(self, learning: str, until: datetime) -> bool:
        said: dict[str, datetime] = {}
        for claim, signal in self.members[learning]:
            if claim["document"] and signal["ts"] <= until:
                said[signal["unit_id"]] = max(signal["ts"], said.get(signal["unit_id"], signal["ts"]))
        gone = []
        for unit, last in said.items():
            deletions = [
                row["ts"] for row in self.rows["events"]
                if row["kind"] == "document_deleted" and row["unit_id"] == unit and last < row["ts"] <= until
            ]  # fmt: skip
            if not deletions:
                return False
            gone.append(max(deletions))
        newest = max(signal["ts"] for _, signal in self.members[learning] if signal["ts"] <= until)
        restores = self.on(learning, until, "restore")
        return bool(gone) and max(gone) > newest and not any(row["ts"] > max(gone) for row in restores)

    def _said_links(self) -> dict[tuple[str, str, str], Row]:
        best: dict[tuple[str, str, str], Row] = {}
        for row in self.rows["supersession_candidates"]:
            older, newer = self.holds(row["older_id"]), self.holds(row["newer_id"])
            if older is None or newer is None or older == newer:
                continue
            key = (older, newer, row["reason"])
            if key not in best or _counts(row) > _counts(best[key]):
                best[key] = row
        return best

    def _acts(self, key: tuple[str, str, str], row: Row) -> bool:
        """Whether a link needs no person: said, or an unreviewed value that changed to one of no risk."""
        older, newer, reason = key
        if row["ambiguous"] or reason in ("decision_reversed", "duplicate"):
            return False
        if reason != "value_changed":
            return True
        forever = datetime.max.replace(tzinfo=UTC)
        for learning in (older, newer):
            if self.on(learning, forever, "approve"):
                return False
            if any(claim["trust_basis"] == "reviewed" for claim, _ in self.members[learning]):
                return False
        return not any(claim["risks"] for claim, _ in self.members[newer])

    def _undone(self, older: str, row: Row) -> bool:
        forever = datetime.max.replace(tzinfo=UTC)
        return any(restore["ts"] > row["ts"] for restore in self.on(older, forever, "restore"))

    def _applied_links(self) -> dict[tuple[str, str, str], Row]:
        forever = datetime.max.replace(tzinfo=UTC)
        said = {
            key: row for key, row in self._said_links().items()
            if self._acts(key, row) and not row["partial"] and not self._undone(key[0], row)
        }  # fmt: skip
        at: dict[tuple[str, str], datetime] = {}
        for (older, newer, _), row in said.items():
            at[older, newer] = max(row["ts"], at.get((older, newer), row["ts"]))
        order = sorted(at, key=lambda pair: (at[pair], pair))
        kept = []
        for place, (older, newer) in enumerate(order):
            if older not in _reach(newer, order[place + 1 :]):
                kept.append((older, newer))
        standing = {
            learning for learning in self.members if not self.tombstones(learning, forever) & {"rejected", "forgotten"}
        }
        acting = {(older, newer) for older, newer in kept if _reach(newer, kept) & standing}
        return {key: row for key, row in said.items() if key[:2] in acting}

    def supersession(self) -> dict[tuple[str, str, str], str]:
        return {key: self._status(key, row) for key, row in self._said_links().items()}

    def _status(self, key: tuple[str, str, str], row: Row) -> str:
        if self._undone(key[0], row):
            return "undone"
        if row["partial"] and self._acts(key, row):
            gone = self.tombstones(key[1], datetime.max.replace(tzinfo=UTC)) & {"rejected", "forgotten"}
            return "proposed" if gone else "in_part"
        return "applied" if key in self.links else "proposed"

    def replaced_parts(self, learning: str) -> list[str]:
        found = []
        for (older, newer, reason), row in self._said_links().items():
            if older == learning and self._status((older, newer, reason), row) == "in_part":
                found.append((newer, reason, newer + (f": {row['part']}" if row["part"] else "")))
        return [words for _, _, words in sorted(found)]

    def superseded(self, learning: str, until: datetime) -> bool:
        return any(key[0] == learning and row["ts"] <= until for key, row in self.links.items())

    def successor(self, learning: str) -> str:
        at = learning
        while True:
            nexts = [(row["ts"], newer) for (older, newer, _), row in self.links.items() if older == at]
            if not nexts:
                return at
            at = max(nexts)[1]

    def people(self, members: list[tuple[Row, Row]]) -> int:
        """The fewest these can be: a placeholder or a Slack name may be somebody who is there by another name."""
        names = {signal["actor"] for _, signal in members if signal["actor_class"] == "human"}
        known = {name for name in names if ":" not in name}
        slack = {name for name in names if name.startswith("slack:")}
        return max(len(known) + max(0, len(slack) - len(known - self.in_slack)), min(1, len(names)))

    def narrower(self, learning: str) -> list[tuple[Row, Row]]:
        """What was said in the very words of one of its claims to a narrower audience, each signal once."""
        if learning not in self._beside:
            found: dict[str, tuple[Row, Row]] = {}
            for mine, wide in self.members[learning]:
                for members in self.members.values():
                    for claim, signal in members:
                        narrow = width(signal["audience"]) > width(wide["audience"])
                        if narrow and claim["content_key"] == mine["content_key"]:
                            day = datetime.combine(signal["ts"].date(), time.min, UTC)
                            found[signal["signal_id"]] = claim, {**signal, "ts": day}
            self._beside[learning] = list(found.values())
        return self._beside[learning]

    def families(self, learning: str, members: list[tuple[Row, Row]]) -> set[str]:
        """Independent sources among some of a learning's witnesses."""
        everybody = [*self.members[learning], *self.narrower(learning)]
        present = {signal["family_id"] for _, signal in everybody}
        found = set()
        for claim, signal in members:
            made_by = {
                row["session_id"] for row in self.rows["session_merge_requests"]
                if row["merge_request_id"] == signal["unit_id"]
            }  # fmt: skip
            here = made_by & present
            made = min(here or made_by, default=signal["family_id"])
            found.add(f"author:{signal['actor']}" if claim["document"] else made)
        return found

    def trust(self, learning: str, until: datetime) -> str:
        so_far = [pair for pair in self.members[learning] if pair[1]["ts"] <= until]
        bases = [claim["trust_basis"] for claim, _ in so_far]
        if self.approved(learning, until) or "reviewed" in bases:
            return "reviewed"
        counted = so_far + [pair for pair in self.narrower(learning) if pair[1]["ts"] <= until]
        said = [
            (claim, signal) for claim, signal in counted
            if claim["trust_basis"] in STRENGTH[:3] and signal["actor_class"] == "human"
        ]  # fmt: skip
        if self.people(said) >= 2 and len(self.families(learning, said)) >= 2:
            return "corroborated"
        mechanical = [(claim, signal) for claim, signal in counted if claim["trust_basis"] == "mechanical"]
        if len(self.families(learning, mechanical)) >= 3:
            return "corroborated"
        return min(bases, key=STRENGTH.index)

    def state(self, learning: str, until: datetime) -> tuple[str, str]:
        """(state, reason) at an instant, by the order of design section 8."""
        held = self.tombstones(learning, until)
        for reason in ("forgotten", "rejected"):
            if reason in held:
                return reason, reason
        if self.retired(learning, until):
            return "archived", "retired"
        if self.document_deleted(learning, until):
            return "archived", "document_deleted"
        if self.superseded(learning, until):
            return "superseded", "superseded"
        trust = self.trust(learning, until)
        if trust == "reviewed":
            return "active", "approved" if self.approved(learning, until) else "reviewed_at_source"
        risky = any(claim["risks"] for claim, signal in self.members[learning] if signal["ts"] <= until)
        waits = self.require == "all" or (self.require == "risky" and risky)
        if self.disputed(learning, until):
            reason = "disputed"
        elif "near" in held:
            reason = "near_tombstone"
        elif trust in ("stated", "corroborated"):
            if not waits:
                return "active", trust
            reason = "waits_for_review"
        else:
            reason = trust
        if (min(until.date(), self.as_of) - self.last_sign(learning, until).date()).days > SILENT_DAYS:
            return "expired", "silent"
        return "candidate", reason

    def last_sign(self, learning: str, until: datetime) -> datetime:
        signs = [row["ts"] for row in self._named[learning] if row["ts"] <= until]
        for _, signal in self.members[learning]:
            if signal["ts"] <= until:
                signs += [signal["ts"], datetime.combine(signal["first_kept"], time.min, UTC)]
        return max(signs)

    def tonight(self, learning: str) -> datetime:
        """The end of the as-of day, or a tombstone or restoration after it, which acts at once."""
        late = [row["ts"] for row in self.decisions if row["decision"] in ("reject", "forget", "restore")]
        return max([datetime.combine(self.as_of, time.max, UTC), *late])

    def log(self, learning: str) -> list[tuple[datetime, str | None, str, str]]:
        """(ts, from, to, reason) of every change."""
        first = min(signal["ts"] for _, signal in self.members[learning])
        instants = {signal["ts"] for _, signal in self.members[learning]}
        keys = {claim["content_key"] for claim, _ in self.members[learning]}
        marked = {claim["tombstone"] for claim, _ in self.members[learning]}
        units = {signal["unit_id"] for _, signal in self.members[learning]}
        instants |= {
            row["ts"] for row in self.decisions
            if row["learning"] == learning or row["key"] in keys or row["decision_id"] in marked
            or row["decision"] == "restore"
        }  # fmt: skip
        instants |= {
            row["ts"] for row in self.rows["events"]
            if row["kind"] == "document_deleted" and row["unit_id"] in units
        }  # fmt: skip
        instants |= {row["ts"] for key, row in self.links.items() if key[0] == learning}
        midnight = datetime.combine(self.as_of, time.min, UTC)
        for ts in list(instants):
            due = datetime.combine(ts.date() + timedelta(SILENT_DAYS + 1), time.min, UTC)
            instants |= {due} if due <= midnight else set()
        for _, signal in self.members[learning]:
            due = datetime.combine(signal["first_kept"] + timedelta(SILENT_DAYS + 1), time.min, UTC)
            instants |= {due} if due <= midnight else set()
        instants |= {row["ts"] for row in self._refuting[learning]}
        instants |= {signal["ts"] for _, signal in self.narrower(learning)}
        changes: list[tuple[datetime, str | None, str, str]] = []
        for ts in sorted(instant for instant in instants if instant >= first):
            state, reason = self.state(learning, ts)
            if not changes or changes[-1][2:] != (state, reason):
                changes.append((ts, changes[-1][2] if changes else None, state, reason))
        return changes

    def votes(self, learning: str) -> dict[tuple[str, str], tuple[str, bool, bool, bool]]:
        """(voter, family) to (class, recalled, upvoted, refuted)."""
        own = {signal["family_id"] for _, signal in self.members[learning]}
        families: dict[str, list[Row]] = defaultdict(list)
        for row in self._exposed[learning]:
            if row["family_id"] not in own:
                families[row["family_id"]].append(row)
        found: dict[tuple[str, str], tuple[str, bool, bool, bool]] = {}
        seen_days: set[tuple[str, date]] = set()
        for family, acts in sorted(families.items(), key=lambda item: (max(a["ts"] for a in item[1]), item[0])):
            shown = [row for row in acts if row["act"] in ("shown", "opened")]
            if not shown:
                continue
            voter = min(shown, key=lambda row: (row["ts"], row["exposure_id"]))["person"]
            kind = self.voter_class(learning, voter, "agent")
            used = [row["act"] == "cited" or row["verdict"] == "applying" for row in acts]
            cited = any(used) and kind != "bot"
            day = max(row["ts"] for row in acts).date()
            if kind == "author" and cited:
                cited = (voter, day) not in seen_days
                seen_days.add((voter, day))
            found[voter, family] = (kind, True, cited, False)
        for who, row in self.stances(learning, datetime.max.replace(tzinfo=UTC)).items():
            if row["family_id"] in own:
                continue
            kind = self.voter_class(learning, who, "human")
            up = row["decision"] == "endorse" and kind != "bot"
            down = row["decision"] == "dispute" and kind in ("human", "author")
            _, recalled, _, _ = found.get((who, row["family_id"]), ("", False, False, False))
            found[who, row["family_id"]] = (kind, recalled, up, down)
        return found

    def vote_time(self, learning: str, voter: str, family: str) -> datetime:
        _, recalled, _, _ = self.votes(learning)[voter, family]
        acts = [row["ts"] for row in self._exposed[learning] if row["family_id"] == family] if recalled else []
        stances = self.stances(learning, datetime.max.replace(tzinfo=UTC)).items()
        return max(acts + [row["ts"] for who, row in stances if (who, row["family_id"]) == (voter, family)])

    def confidence(self, learning: str) -> tuple[float, float, float, float | None]:
        """(mean, low, high, teamai's figure)."""
        support, against = map(float, PRIOR[self.trust(learning, self.tonight(learning))])
        weak = recalls = ups = 0.0
        last: int | None = None
        for (voter, family), (kind, recalled, up, down) in self.votes(learning).items():
            age = max(0, (self.as_of - self.vote_time(learning, voter, family).date()).days)
            fade = 0.5 ** (age / HALF_LIFE)
            support += WEIGHT["human"] * fade if up and kind == "human" else 0
            weak += WEIGHT[kind] * fade if up and kind in ("agent", "author") else 0
            against += fade if down else 0
            ups += up
            if recalled and kind != "bot":
                recalls += 1
                last = age if last is None else min(last, age)
        start = support / (support + against)
        low, high = 0.0, weak
        if (support + weak) / (support + weak + against) - start > BOUND:
            for _ in range(200):
                middle = (low + high) / 2
                moved = (support + middle) / (support + middle + against) - start
                low, high = (middle, high) if moved < BOUND else (low, middle)
            weak = low
        support += weak
        total = support + against
        mean = support / total
        spread = 1.96 * math.sqrt(support * against / (total * total * (total + 1)))
        teamai = None
        if recalls or ups:
            recency = max(0.0, 1 - last / 180) if last is not None else 0.0
            base = min(1.0, 0.1 * recalls + 0.3 * ups)
            teamai = math.floor((0.4 * base + 0.3 * recency + 0.3 * (ups / max(1, recalls))) * 100 + 0.5) / 100
        return mean, max(0.0, mean - spread), min(1.0, mean + spread), teamai

    def queue(self, learning: str) -> set[str]:
        now = self.tonight(learning)
        state, reason = self.state(learning, now)
        if state not in ("candidate", "active"):
            return set()
        reviewed = self.trust(learning, now) == "reviewed"
        risky = any(claim["risks"] for claim, _ in self.members[learning])
        why = {"disputed"} if self.disputed(learning, now) else set()
        if state == "candidate" and "near" in self.tombstones(learning, now):
            why.add("near_tombstone")
        if self.on(learning, now, "approve") and not reviewed:
            why.add("text_changed")
        if reason == "waits_for_review":
            why.add("risky" if risky else "candidate")
        if reason in ("mechanical", "proposed"):
            why.add("candidate")
        return why

    def text(self, learning: str) -> dict[str, Any]:
        text = self.versions(learning, self.tonight(learning))[-1][0]
        counter = set()
        for entry in text["not_when"]:
            words = " ".join(re.findall(r"[^\W_]+", re.sub(r"^[^:]{1,60}: ", "", entry).lower()))
            if len(words) >= 20:
                counter.add(words)
        kind = text["kind"]
        if kind == "scar" and (text["severity"] is None or len(counter) < 2):
            kind = "anti_pattern"
        return {**text, "kind": kind, "text_sha256": text_hash(text)}


def _counts(row: Row) -> tuple[Any, ...]:
    return not row["ambiguous"], row["ts"], row["partial"], row["evidence"], row["actor"]


def _reach(start: str, links: list[tuple[str, str]]) -> set[str]:
    found, todo = {start}, [start]
    while todo:
        at = todo.pop()
        for older, newer in links:
            if older == at and newer not in found:
                found.add(newer)
                todo.append(newer)
    return found
