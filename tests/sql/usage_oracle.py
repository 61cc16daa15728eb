"""What the tables of use must say, in slow plain loops: from the rules of docs/confidence.md, not from the models."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from sql_oracle import FOREVER, Oracle, width
from sql_samples import Row

FACTS = ("error_recurred", "error_fixed", "reverted", "merged", "stopped", "command_passed")
GOOD = ("error_fixed", "merged", "command_passed")
HALF_LIVES = {
    "scar": 0, "win": 365, "pattern": 365, "anti_pattern": 730, "decision": 0, "procedure": 365, "preference": 0,
    "fact": 180,
}  # fmt: skip


class UsageOracle(Oracle):
    """Use, votes, decay and repeated mistakes of one lake's rows."""

    def __init__(self, rows: dict[str, list[Row]], *arguments: Any, **named: Any) -> None:
        super().__init__(rows, *arguments, **named)
        passes = {row["event_id"]: row["ts"] for row in rows["events"]}
        self.family_of = {row["unit_id"]: row["family_id"] for row in rows["sessions"]}
        self.met: dict[tuple[str, str], list[Row]] = defaultdict(list)
        for row in rows["signals"]:
            seen = json.loads(row["payload"]).get("seen", {})
            if row["kind"] in ("error_seen", "error_fixed") and "signature" in seen:
                last = datetime.fromisoformat(seen["last"]) if "last" in seen else row["ts"]
                told = {**row, "last": last, "count": seen.get("count", 1), "fixed": passes.get(seen.get("passed_in"))}
                self.met[row["family_id"], seen["signature"]].append(told)
        self._uses: dict[str, dict[str, Row]] = {}
        self.stops: dict[str | None, list[datetime]] = defaultdict(list)
        self.merges: dict[str, list[datetime]] = defaultdict(list)
        self.taken_back: dict[str, list[datetime]] = defaultdict(list)
        for row in rows["events"]:
            if row["kind"] in ("rejection", "interrupt") and row["on_live_path"]:
                self.stops[self.family_of.get(row["unit_id"])].append(row["ts"])
            if row["kind"] == "merge_request_merged":
                self.merges[row["unit_id"]].append(row["ts"])
        for row in rows["signals"]:
            seen = json.loads(row["payload"]).get("seen", {}) if row["kind"] == "revert" else {}
            if seen.get("reverted") and not seen.get("undone"):
                self.taken_back[seen["reverted"]].append(row["ts"])

    # Use

    def signatures(self, learning: str) -> set[str]:
        """Errors that its served words name or its evidence saw."""
        found = {word for word in self.text(learning)["applies_to"] if word.startswith("sig-")}
        for _, signal in self.members[learning]:
            seen = json.loads(signal["payload"]).get("seen", {})
            if signal["kind"] in ("error_seen", "error_fixed", "retry_worked") and "signature" in seen:
                found.add(seen["signature"])
        return found

    def facts(self, learning: str, family: str, shown: datetime) -> dict[str, datetime]:
        found: dict[str, datetime] = {}

        def saw(fact: str, ts: datetime) -> None:
            found[fact] = max(ts, found.get(fact, ts))

        for fact, ts in self._errors(learning, family, shown):
            saw(fact, ts)
        for ts in self.stops[family]:
            if ts > shown:
                saw("stopped", ts)
        requests = {
            row["merge_request_id"] for row in self.rows["session_merge_requests"]
            if self.family_of.get(row["session_id"]) == family
        }  # fmt: skip
        for request in requests:
            merged = max(self.merges[request], default=shown)
            if merged <= shown:
                continue
            saw("merged", merged)
            reverted = max(self.taken_back[request], default=shown)
            if reverted >= merged:
                saw("reverted", reverted)
        return found

    def _errors(self, learning: str, family: str, shown: datetime) -> Iterator[tuple[str, datetime]]:
        own = self.signatures(learning)
        for (where, key), told in self.met.items():
            if where != family:
                continue
            last = max(row["last"] for row in told)
            fixed = max((row["fixed"] for row in told if row["fixed"]), default=None)
            if key not in own or (fixed and fixed > last):
                if fixed and fixed > shown:
                    yield "error_fixed" if key in own else "command_passed", fixed
            elif last > shown:
                yield "error_recurred", last

    def own_families(self, learning: str) -> set[str]:
        return {signal["family_id"] for _, signal in self.members[learning]}

    def usage(self, learning: str) -> dict[str, Row]:
        """Family to what became of the learning there."""
        if learning in self._uses:
            return self._uses[learning]
        own = self.own_families(learning)
        families: dict[str, list[Row]] = defaultdict(list)
        for row in self._exposed[learning]:
            if row["family_id"] not in own:
                families[row["family_id"]].append(row)
        against = {
            row["family_id"]: row["ts"] for who, row in sorted(self.stances(learning, FOREVER).items(), reverse=True)
            if row["decision"] == "dispute" and self.voter_class(learning, who, "human") in ("human", "author")
        }  # fmt: skip
        found = {}
        for family, acts in families.items():
            shown = sorted(
                (row for row in acts if row["act"] in ("shown", "opened")), key=lambda r: (r["ts"], r["exposure_id"])
            )
            if not shown:
                continue
            answers = [row for row in acts if row["act"] in ("cited", "confirmed")]
            confirmed = sorted(
                (row for row in acts if row["act"] == "confirmed"), key=lambda r: (r["ts"], r["exposure_id"])
            )
            last = confirmed[-1]["verdict"] if confirmed else None
            person = shown[0]["person"]
            said = self._said_against(learning, family)
            facts = self.facts(learning, family, shown[0]["ts"])
            basis = next((fact for fact in FACTS if fact in facts), None)
            ended = [row["ended"] for row in self.rows["sessions"] if row["family_id"] == family]
            quiet = max([*ended, *(row["ts"] for row in acts)])
            verdict = "none"
            if family in against or last == "refuted":
                verdict = "refuted"
            elif last == "applying":
                verdict = "explicit"
            elif answers:
                verdict = "acknowledged"
            everywhere = [row for row in self.rows["exposures"] if row["family_id"] == family]
            found[family] = {
                "person": person,
                "voter_class": self.voter_class(learning, person, "agent"),
                "audience": max((row["audience"] for row in everywhere), key=lambda a: (width(a), a)),
                "surfaced_at": shown[0]["ts"],
                "surfacings": len(shown),
                "acknowledged_at": min([row["ts"] for row in answers] + said, default=None),
                "verdict": verdict,
                "refuted_by": "person" if family in against else "agent" if last == "refuted" else None,
                "closed": quiet < datetime.combine(self.as_of, time.min, UTC),
                "outcome": "unknown" if basis is None else "held" if basis in GOOD else "failed",
                "outcome_basis": basis,
                "outcome_at": facts.get(basis or ""),
                "observed": sorted(facts),
                "used": any(row["act"] == "cited" or row["verdict"] == "applying" for row in acts),
                "last": last,
                "ts": max(row["ts"] for row in acts),
            }
        self._uses[learning] = found
        return found

    def _said_against(self, learning: str, family: str) -> list[datetime]:
        return [
            row["ts"] for who, row in self.stances(learning, FOREVER).items()
            if row["family_id"] == family and row["decision"] == "dispute"
            and self.voter_class(learning, who, "human") in ("human", "author")
        ]  # fmt: skip

    def votes(self, learning: str) -> dict[tuple[str, str], tuple[str, bool, bool, bool]]:
        """(voter, family) to (class, recalled, upvoted, refuted)."""
        found: dict[tuple[str, str], tuple[str, bool, bool, bool]] = {}
        seen_days: set[tuple[str, date]] = set()
        for family, use in sorted(self.usage(learning).items(), key=lambda item: (item[1]["ts"], item[0])):
            voter, kind = use["person"], use["voter_class"]
            cited = use["used"] and use["last"] != "refuted" and kind != "bot"
            day = use["ts"].date()
            if kind == "author" and cited:
                cited = (voter, day) not in seen_days
                seen_days.add((voter, day))
            found[voter, family] = (kind, True, cited, False)
        for who, row in self.stances(learning, FOREVER).items():
            if row["family_id"] in self.own_families(learning):
                continue
            kind = self.voter_class(learning, who, "human")
            up = row["decision"] == "endorse" and kind != "bot"
            down = row["decision"] == "dispute" and kind in ("human", "author")
            _, recalled, _, _ = found.get((who, row["family_id"]), ("", False, False, False))
            found[who, row["family_id"]] = (kind, recalled, up and not recalled, down)
        return found

    def vote_time(self, learning: str, voter: str, family: str) -> datetime:
        _, recalled, _, _ = self.votes(learning)[voter, family]
        acts = [self.usage(learning)[family]["ts"]] if recalled else []
        stances = self.stances(learning, FOREVER).items()
        return max(acts + [row["ts"] for who, row in stances if (who, row["family_id"]) == (voter, family)])

    # Decay

    def decay(self, learning: str) -> dict[str, Any]:
        first = self.as_of - timedelta(days=89)
        closed = [use for use in self.usage(learning).values() if use["closed"] and use["voter_class"] != "bot"]
        recent = [use for use in closed if use["surfaced_at"].date() >= first]
        ignored = sum(use["verdict"] == "none" for use in recent)
        refuted = sum(use["verdict"] == "refuted" for use in recent)
        disuse = 1 - 0.8 * (ignored + refuted) / len(recent) if len(recent) >= 3 else 1.0
        decided = self.on(learning, FOREVER, "approve", "edit", "restore", "endorse", "pin")
        signs = [signal["ts"] for _, signal in self.members[learning]] + [row["ts"] for row in decided]
        signs += [use["surfaced_at"] for use in closed if use["verdict"] in ("explicit", "acknowledged")]
        silent = max(0, (self.as_of - max(signs).date()).days)
        half_life = HALF_LIVES[self.text(learning)["kind"]]
        ageing = 0.5 ** (silent / half_life) if half_life else 1.0
        pinned = any(row["decision"] == "pin" for row in decided)
        return {
            "surfaced": len(recent), "ignored": ignored, "refuted": refuted, "disuse": disuse, "silent_days": silent,
            "ageing": ageing, "pinned": pinned, "decay": 1.0 if pinned else max(0.1, disuse * ageing),
        }  # fmt: skip

    # Mistakes that came again

    def repeats(self, learning: str) -> dict[tuple[str, str], tuple[Any, ...]]:
        """(family, signature) to (audience, first, last, times, shown at)."""
        text = self.versions(learning, FOREVER)[-1][0]
        audience = self.canonical(learning)[1]["audience"]
        found = {}
        warns, own = text["kind"] in ("scar", "anti_pattern"), self.own_families(learning)
        about = self.signatures(learning) if warns else set()
        for (family, key), rows in self.met.items():
            if key not in about or family in own:
                continue
            told = [
                row for row in rows
                if audience in ("team", row["audience"]) or audience == f"project:{row['project']}"
            ]  # fmt: skip
            if not told:
                continue
            last = max(row["last"] for row in told)
            begun = min(signal["ts"] for _, signal in self.members[learning])
            if begun > last or self.state(learning, last)[0] != "active":
                continue
            places: dict[tuple[str, str], list[Row]] = defaultdict(list)
            for row in told:
                places[row["audience"], row["project"]].append(row)
            times = sum(_times(some) for some in places.values())
            shown = self.usage(learning).get(family, {}).get("surfaced_at")
            found[family, key] = (
                max((row["audience"] for row in told), key=lambda a: (width(a), a)),
                min(row["ts"] for row in told), last, times, shown if shown and shown < last else None,
            )  # fmt: skip
        return found


def _times(told: list[Row]) -> int:
    seen = [row["count"] for row in told if row["kind"] == "error_seen"]
    return sum(seen) if seen else len(told)
