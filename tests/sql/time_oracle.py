"""What was believed on a day, the slow way: the oracle's rules again, over what the lake had kept by then.

Identity is tonight's on both axes: which claims are one learning, what an id means, whose words a person's are.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import date, datetime
from typing import Any

from sql_oracle import Oracle
from sql_samples import Row


class KnownBy(Oracle):
    """An oracle that has heard only of what was first kept by a day."""

    def __init__(self, whole: Oracle, known: date) -> None:
        self.__dict__.update(whole.__dict__)
        self.whole, self.known = whole, known
        links = [row for row in whole.rows["supersession_candidates"] if link_kept(whole, row) <= known]
        self.rows = {**whole.rows, "supersession_candidates": links}
        self.deletions = [row for row in whole.deletions if row["first_kept"] <= known]
        kept = {row["ts"] for row in whole.rows["signals"] if row["kind"] == "revert" and row["first_kept"] <= known}
        self.reverts = [(ts, unit) for ts, unit in whole.reverts if ts in kept]
        self.members = _where(whole.members, lambda pair: pair[1]["first_kept"] <= known)
        self.decisions = [row for row in whole.decisions if row["first_kept"] <= known]
        self._named = _where(whole._named, lambda row: row["first_kept"] <= known)
        last = {
            row["signal_id"]
            for rows in whole._refuting.values()
            for row in {
                (row["actor"], row["family_id"]): row
                for row in sorted(rows, key=lambda row: (row["ts"], row["decision_id"]))
            }.values()
        }
        self._refuting = _where(whole._refuting, lambda row: row["first_kept"] <= known and row["signal_id"] in last)
        self._links = {}

    def canonical(self, learning: str) -> tuple[Row, Row]:
        """The first in place of those that were known."""
        return min(
            self.members[learning],
            key=lambda pair: (
                not pair[0]["is_canonical"], pair[0]["claim_id"] != learning, pair[1]["ts"], pair[1]["signal_id"],
                pair[0]["claim_id"],
            ),
        )  # fmt: skip

    def authors(self, learning: str) -> set[str]:
        return self.whole.authors(learning)

    def families(self, learning: str, members: list[tuple[Row, Row]]) -> set[str]:
        return self.whole.families(learning, members)

    def narrower(self, learning: str) -> list[tuple[Row, Row]]:
        return [pair for pair in self.whole.narrower(learning) if pair[1]["first_kept"] <= self.known]

    def tombstones(self, learning: str, until: datetime) -> set[str]:
        mine = self.members
        decided = {row["decision_id"] for row in self.whole.decisions} - {row["decision_id"] for row in self.decisions}
        everything = [
            ({**claim, "tombstone": None} if claim["tombstone"] in decided else claim, signal)
            for claim, signal in self.whole.members[learning]
        ]
        self.members = defaultdict(list, {learning: everything})
        try:
            return super().tombstones(learning, until)
        finally:
            self.members = mine

    def believed(self, learning: str, at: datetime) -> dict[str, Any] | None:
        """What a row of learning_versions says there; None before anything was said, or known to be."""
        if not any(signal["ts"] <= at for _, signal in self.members.get(learning, [])):
            return None
        state, reason = self.state(learning, at)
        text = self.versions(learning, at)[-1][0]
        return {
            "state": state, "state_reason": reason, "trust": self.trust(learning, at), "title": text["title"],
            "superseded_by": self.successor(learning, at) if state == "superseded" else None,
        }  # fmt: skip


def link_kept(oracle: Oracle, row: Row) -> date:
    """The day by which both claims of a link were kept, and what says so."""
    signals = {signal["signal_id"]: signal["first_kept"] for signal in oracle.rows["signals"]}
    said = signals | {decision["decision_id"]: decision["first_kept"] for decision in oracle.rows["ledger"]}
    ends = {oracle.claim_named(row["older_id"]), oracle.claim_named(row["newer_id"])}
    days: dict[str, list[date]] = {}
    for claim in oracle.rows["claims"]:
        if claim["claim_id"] in ends:
            days.setdefault(claim["claim_id"], []).append(signals[claim["signal_id"]])
    return max([*(min(some) for some in days.values()), *([said[row["evidence"]]] if row["evidence"] in said else [])])


def _where(grouped: Any, keep: Any) -> Any:
    kept = type(grouped)(list)
    for key, rows in grouped.items():
        some = [row for row in rows if keep(row)]
        if some:
            kept[key] = some
    return kept
