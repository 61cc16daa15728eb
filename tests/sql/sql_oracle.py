"""What the SQL half must say, in slow plain loops: written from the rules of the design, not from the models."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import review_oracle
from sql_samples import AS_OF, Row, text_hash

PRIOR = {"reviewed": (4, 1), "corroborated": (3, 1), "stated": (2, 1), "mechanical": (1.5, 1), "proposed": (1, 1)}
WEIGHT = {"human": 1.0, "agent": 0.25, "author": 0.1, "bot": 0.0}
STRENGTH = ("reviewed", "corroborated", "stated", "mechanical", "proposed")
FOREVER = datetime.max.replace(tzinfo=UTC)
HALF_LIFE, SILENT_DAYS, BOUND = 180, 90, 0.05


def width(audience: str) -> int:
    """Of two audiences the one with the smaller number is the wider."""
    return 1 if audience == "team" else 2 if audience.startswith("project:") else 3


class Oracle:
    """One lake's rows and the as-of day; every question is answered from scratch."""

    def __init__(
        self,
        rows: dict[str, list[Row]],
        require: str = "risky",
        as_of: date = AS_OF,
        revalidate: dict[str, int] | None = None,
    ) -> None:
        self.rows, self.require, self.as_of, self.revalidate = rows, require, as_of, revalidate or {}
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
        others = review_oracle.several_review(rows["people"])
        self.own = [row for row in self.decisions if review_oracle.is_own(row, self.decisions, self.members, rows)]
        self.decisions = [row for row in self.decisions if not (others and row in self.own)]
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
        self._links: dict[datetime, dict[tuple[str, str, str], Row]] = {}
        self.deletions = [row for row in rows["events"] if row["kind"] in ("document_deleted", "message_deleted")]
        self.reverts = [
            (row["ts"], seen["reverted"]) for row in rows["signals"] if row["kind"] == "revert"
            if not (seen := json.loads(row["payload"])["seen"]).get("undone")
        ]  # fmt: skip

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
                meets = meets and row["reach"] in ("team", known["audience"])
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

    def against(self, learning: str, until: datetime) -> tuple[int, int, int]:
        """(people against it since it was last restored, those whose own words it is, people for it)."""
        against = taken_back = praise = 0
        restored = [row["ts"] for row in self.on(learning, until, "restore")]
        for who, row in self.stances(learning, until).items():
            kind = self.voter_class(learning, who, "human")
            heard = row["decision"] == "dispute" and any(row["ts"] <= ts for ts in restored)
            against += row["decision"] == "dispute" and kind in ("human", "author") and not heard
            taken_back += row["decision"] == "dispute" and kind == "author" and not heard
            praise += row["decision"] == "endorse" and kind == "human"
        return against, taken_back, praise

    def disputed(self, learning: str, until: datetime) -> bool:
        against, _, praise = self.against(learning, until)
        return against > praise

    def refuted(self, learning: str, until: datetime) -> str | None:
        """What outweighs the support of an item nobody reviewed."""
        against, taken_back, praise = self.against(learning, until)
        _, said, mechanical, reverted = self.witnesses(learning, until)
        if against >= 2 and against > self.people(said) - taken_back + praise:
            return "refuted_by_people"
        if not self.people(said) and len(reverted) > len(mechanical):
            return "reverted"
        return None

    def tombstones(self, learning: str, until: datetime) -> set[str]:
        """Of rejected, forgotten, near: what holds the learning at that instant."""
        found = set()
        known = {row["decision_id"]: row for row in self.decisions if row["decision"] in ("reject", "forget")}
        audiences = {"team", *(signal["audience"] for _, signal in self.members[learning])}
        reaching = [row for row in known.values() if row["reach"] in audiences]
        hits = [("exact", row) for row in reaching if row["learning"] == learning]
        for claim, signal in self.members[learning]:
            here = [row for row in reaching if row["reach"] in ("team", signal["audience"])]
            hits += [("exact", row) for row in here if row["key"] == claim["content_key"]]
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

    def gone(self, signal: Row, claim: Row, until: datetime) -> list[Row]:
        """The deletions that took a signal's source away."""
        found = []
        deleted_by = json.loads(signal["payload"]).get("seen", {}).get("deleted_by")
        for row in self.deletions:
            if row["ts"] > until:
                continue
            document = row["kind"] == "document_deleted" and row["unit_id"] == signal["unit_id"]
            if (document and claim["document"] and row["ts"] > signal["ts"]) or row["event_id"] == deleted_by:
                found.append(row)
        return found

    def deleted(self, learning: str, until: datetime) -> str | None:
        """Which kind of source, if all of it is gone for good; `source_gone` where only a machine put it away."""
        restored = max((row["ts"] for row in self.on(learning, until, "restore")), default=None)
        so_far = [pair for pair in self.members[learning] if pair[1]["ts"] <= until]
        gone = [(claim, self.gone(signal, claim, until)) for claim, signal in so_far]
        newest = max(signal["ts"] for _, signal in so_far)
        documents = [rows for claim, rows in gone if claim["document"]]

        def went(some: list[list[Row]], all_gone: list[Row]) -> bool:
            last = max((row["ts"] for row in all_gone), default=None)
            return (
                bool(some) and all(some) and last is not None and last > newest and (not restored or last >= restored)
            )

        people = [[row for row in rows if row["actor_class"] == "human"] for rows in documents]
        everything = [row for _, rows in gone for row in rows]
        if went(people, [row for row in everything if row["actor_class"] == "human"]):
            return "document_deleted"
        if went(documents, everything):
            return "source_gone" if self.approved(learning, until) else "document_deleted"
        taken = all(rows for _, rows in gone) and any(row["kind"] == "message_deleted" for row in everything)
        if taken and (not restored or max(row["ts"] for row in everything) >= restored):
            return "message_deleted"
        return None

    def _said_links(self, until: datetime = FOREVER) -> dict[tuple[str, str, str], Row]:
        best: dict[tuple[str, str, str], Row] = {}
        for row in self.rows["supersession_candidates"]:
            if row["ts"] > until:
                continue
            older, newer = self.holds(row["older_id"]), self.holds(row["newer_id"])
            if older is None or newer is None or older == newer:
                continue
            key = (older, newer, row["reason"])
            if key not in best or _counts(row) > _counts(best[key]):
                best[key] = row
        return best

    def _acts(self, key: tuple[str, str, str], row: Row, until: datetime = FOREVER) -> bool:
        """Whether a link needs no person: said, or an unreviewed value that changed to one of no risk."""
        older, newer, reason = key
        if row["ambiguous"] or reason in ("decision_reversed", "duplicate"):
            return False
        if reason != "value_changed":
            return True
        for learning in (older, newer):
            if self.on(learning, until, "approve"):
                return False
            said = [claim for claim, signal in self.members[learning] if signal["ts"] <= until]
            if any(claim["trust_basis"] == "reviewed" for claim in said):
                return False
        return not any(claim["risks"] for claim, signal in self.members[newer] if signal["ts"] <= until)

    def _undone(self, older: str, row: Row, until: datetime = FOREVER) -> bool:
        return any(restore["ts"] > row["ts"] for restore in self.on(older, until, "restore"))

    def links(self, until: datetime = FOREVER) -> dict[tuple[str, str, str], Row]:
        """What acts at an instant, by what had been said until then."""
        if until not in self._links:
            self._links[until] = self._applied_links(until)
        return self._links[until]

    def _applied_links(self, until: datetime) -> dict[tuple[str, str, str], Row]:
        said = {
            key: row for key, row in self._said_links(until).items()
            if self._acts(key, row, until) and not row["partial"] and not self._undone(key[0], row, until)
        }  # fmt: skip
        at: dict[tuple[str, str], datetime] = {}
        for (older, newer, _), row in said.items():
            at[older, newer] = max(row["ts"], at.get((older, newer), row["ts"]))
        order = sorted(at, key=lambda pair: (at[pair], pair))
        kept = []
        for place, (older, newer) in enumerate(order):
            if older not in _reach(newer, order[place + 1 :]):
                kept.append((older, newer))
        ends = {newer for _, newer in kept}
        standing = {end for end in ends if not self.tombstones(end, until) & {"rejected", "forgotten"}}
        acting = {(older, newer) for older, newer in kept if _reach(newer, kept) & standing}
        return {key: row for key, row in said.items() if key[:2] in acting}

    def supersession(self) -> dict[tuple[str, str, str], str]:
        return {key: self._status(key, row) for key, row in self._said_links().items()}

    def _status(self, key: tuple[str, str, str], row: Row) -> str:
        if self._undone(key[0], row):
            return "undone"
        if row["partial"] and self._acts(key, row):
            gone = self.tombstones(key[1], FOREVER) & {"rejected", "forgotten"}
            return "proposed" if gone else "in_part"
        return "applied" if key in self.links() else "proposed"

    def replaced_parts(self, learning: str) -> list[str]:
        found = []
        for (older, newer, reason), row in self._said_links().items():
            if older == learning and self._status((older, newer, reason), row) == "in_part":
                found.append((newer, reason, newer + (f": {row['part']}" if row["part"] else "")))
        return [words for _, _, words in sorted(found)]

    def superseded(self, learning: str, until: datetime) -> bool:
        return any(key[0] == learning for key in self.links(until))

    def successor(self, learning: str, until: datetime = FOREVER) -> str:
        at = learning
        while True:
            nexts = [(row["ts"], newer) for (older, newer, _), row in self.links(until).items() if older == at]
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

    def left(self, learning: str, until: datetime) -> list[tuple[Row, Row]]:
        """Its own evidence but for what was drawn from messages that were deleted."""
        return [
            (claim, signal) for claim, signal in self.members[learning]
            if signal["ts"] <= until
            and not any(row["kind"] == "message_deleted" for row in self.gone(signal, claim, until))
        ]  # fmt: skip

    def witnesses(self, learning: str, until: datetime) -> tuple[list[str], list[Any], set[str], set[str]]:
        """(trust bases of its own, what people said, families of machines, those whose request was reverted)."""
        own = [pair for pair in self.members[learning] if pair[1]["ts"] <= until]
        left = self.left(learning, until)
        counted = left + [pair for pair in self.narrower(learning) if pair[1]["ts"] <= until]
        said = [
            (claim, signal) for claim, signal in counted
            if claim["trust_basis"] in STRENGTH[:3] and signal["actor_class"] == "human"
        ]  # fmt: skip
        machine = [(claim, signal) for claim, signal in counted if claim["trust_basis"] == "mechanical"]
        reverted = [
            (claim, signal) for claim, signal in machine
            if signal["signal_id"] in {other["signal_id"] for _, other in left}
            and any(signal["ts"] < ts <= until and unit == signal["unit_id"] for ts, unit in self.reverts)
        ]  # fmt: skip
        stands = [pair for pair in machine if pair not in reverted]
        bases = [claim["trust_basis"] for claim, _ in left or own]
        return bases, said, self.families(learning, stands), self.families(learning, reverted)

    def trust(self, learning: str, until: datetime) -> str:
        bases, said, mechanical, _ = self.witnesses(learning, until)
        own = [claim["trust_basis"] for claim, signal in self.members[learning] if signal["ts"] <= until]
        if self.approved(learning, until) or "reviewed" in own:
            return "reviewed"
        if self.people(said) >= 2 and len(self.families(learning, said)) >= 2:
            return "corroborated"
        if len(mechanical) >= 3:
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
        deleted = self.deleted(learning, until)
        if deleted in ("document_deleted", "message_deleted"):
            return "archived", deleted
        if self.superseded(learning, until):
            return "superseded", "superseded"
        state, reason = self._standing(learning, until, held)
        if state in ("active", "candidate"):
            today = min(until.date(), self.as_of)
            due = self.revalidate_by(learning, until)
            if due is not None and due < today:
                return "expired", "revalidate_by"
            if state == "candidate" and (today - self.last_sign(learning, until).date()).days > SILENT_DAYS:
                return "expired", "silent"
        return state, reason

    def _standing(self, learning: str, until: datetime, held: set[str]) -> tuple[str, str]:
        trust = self.trust(learning, until)
        if trust == "reviewed":
            if self.approved(learning, until):
                return "active", "approved"
            return ("candidate", "near_tombstone") if "near" in held else ("active", "reviewed_at_source")
        refuted = self.refuted(learning, until)
        if refuted:
            return "refuted", refuted
        risky = any(claim["risks"] for claim, signal in self.members[learning] if signal["ts"] <= until)
        if self.disputed(learning, until):
            return "candidate", "disputed"
        if "near" in held:
            return "candidate", "near_tombstone"
        if trust not in ("stated", "corroborated"):
            return "candidate", trust
        waits = self.require == "all" or (self.require == "risky" and risky)
        return ("candidate", "waits_for_review") if waits else ("active", trust)

    def revalidate_by(self, learning: str, until: datetime) -> date | None:
        """The day a person set, if nobody supported it since; else so many days of its kind after the last support."""
        support = [row["ts"] for row in self.on(learning, until, "approve", "edit", "endorse", "restore")]
        support += [signal["ts"] for _, signal in self.members[learning] if signal["ts"] <= until]
        dated = [row for row in self._named[learning] if row["ts"] <= until and row.get("revalidate_by")]
        dated = [row for row in dated if row["revalidate_by"] > row["ts"].date()]
        if dated and dated[-1]["ts"] >= max(support):
            return date.fromisoformat(str(dated[-1]["revalidate_by"]))
        days = self.revalidate.get(self.versions(learning, until)[-1][0]["kind"])
        kept = [signal["first_kept"] for _, signal in self.members[learning] if signal["ts"] <= until]
        return max([*(ts.date() for ts in support), *kept]) + timedelta(days) if days else None

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
        taken = {
            json.loads(signal["payload"]).get("seen", {}).get("deleted_by") for _, signal in self.members[learning]
        }
        instants |= {
            row["ts"] for row in self.deletions
            if (row["kind"] == "document_deleted" and row["unit_id"] in units) or row["event_id"] in taken
        }  # fmt: skip
        instants |= {ts for ts, unit in self.reverts if unit in units}
        instants |= self.link_instants(learning)
        midnight = datetime.combine(self.as_of, time.min, UTC)
        for ts in list(instants):
            instants |= self._due(ts.date(), midnight)
        for _, signal in self.members[learning]:
            instants |= self._due(signal["first_kept"], midnight)
        instants |= {row["ts"] for row in self._refuting[learning]}
        instants |= {signal["ts"] for _, signal in self.narrower(learning)}
        changes: list[tuple[datetime, str | None, str, str]] = []
        for ts in sorted(instant for instant in instants if instant >= first):
            state, reason = self.state(learning, ts)
            if not changes or changes[-1][2:] != (state, reason):
                changes.append((ts, changes[-1][2] if changes else None, state, reason))
        return changes

    def _due(self, heard: date, midnight: datetime) -> set[datetime]:
        days = (SILENT_DAYS, *self.revalidate.values())
        found = {datetime.combine(heard + timedelta(some + 1), time.min, UTC) for some in days}
        return {due for due in found if due <= midnight}

    def link_instants(self, learning: str) -> set[datetime]:
        """Everything said of what a learning is linked with, if it may be replaced."""
        near = {learning}
        pairs = [
            (self.holds(row["older_id"]), self.holds(row["newer_id"])) for row in self.rows["supersession_candidates"]
        ]
        for _ in pairs:
            near |= {end for pair in pairs if near & set(pair) for end in pair if end}
        if near == {learning}:
            return set()
        found = {row["ts"] for row in self.rows["supersession_candidates"]} | {row["ts"] for row in self.decisions}
        return found | {signal["ts"] for other in near for _, signal in self.members[other]}

    def queue(self, learning: str) -> set[str]:
        now = self.tonight(learning)
        state, reason = self.state(learning, now)
        if state not in ("candidate", "active"):
            return set()
        reviewed = self.trust(learning, now) == "reviewed"
        risky = any(claim["risks"] for claim, _ in self.members[learning])
        why = {"disputed"} if self.disputed(learning, now) else set()
        if self.deleted(learning, now) == "source_gone":
            why.add("source_gone")
        looked = [row["ts"] for row in self.on(learning, now, "approve", "edit", "endorse", "restore")]
        refuted = ("confirmed", "refuted")
        told = [row["ts"] for row in self._exposed[learning] if (row["act"], row["verdict"]) == refuted]
        if told and (not looked or max(told) > max(looked)):
            why.add("agent_refuted")
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
