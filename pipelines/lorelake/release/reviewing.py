"""What reviewers get: per audience the queue, and every item that a decision may name with all there is to know of it.

It lies beside the index of the same audience, under the same permission, and holds the words of that audience alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from lorelake import served
from lorelake.lake import write_bytes
from lorelake.release import index
from lorelake.release.privacy import WITHHELD, withheld

Row = Mapping[str, Any]


def write_reviews(
    folder: Path, team: str, frames: Mapping[str, pl.DataFrame], claims: pl.DataFrame | None = None
) -> None:
    """Write `queue.json` and `items.jsonl` of every audience; what was forgotten or holds a secret is in none.

    Args:
        folder: the release's `review/`.
        frames: the released tables, whole.
        claims: `tables.CLAIMS`, for what an item is near to.
    """
    known = _Known(frames, claims)
    queues: dict[str, list[dict[str, Any]]] = defaultdict(list)
    lines: dict[str, list[bytes]] = defaultdict(list)
    for row in frames["learnings"].sort("learning_id").iter_rows(named=True):
        if withheld(row["state"], row["state_reason"]):
            continue
        item = index.item_of(row, known.quotes.get(row["learning_id"], ()))
        for entry in known.queue.get(row["learning_id"], ()):
            asked = {key: _plain(entry[key]) for key in entry if key != "audience"}
            queues[row["audience"]].append({**msgspec.to_builtins(item), **asked})
        lines[row["audience"]].append(msgspec.json.encode(known.reviewed(row, item)))
    for audience, some in sorted(lines.items()):
        own = folder / served.audience_id(team, audience)
        write_bytes(own / served.REVIEW_ITEMS, b"\n".join(some) + b"\n")
        if audience in queues:
            write_bytes(own / served.REVIEW_QUEUE, msgspec.json.format(msgspec.json.encode(queues[audience]), indent=2))


class _Known:
    """The tables by learning."""

    def __init__(self, frames: Mapping[str, pl.DataFrame], claims: pl.DataFrame | None) -> None:
        evidence = frames["learning_evidence"].sort("ts", "signal_id")
        self.quotes = index.quotes_by_learning(frames["learning_evidence"])
        self.queue = _by_learning(frames["review_queue"].sort("learning_id", "why"))
        self._evidence = _by_learning(evidence)
        self._events = _by_learning(frames["learning_events"].sort("ts", "to_state", "reason"))
        self._approved = _by_learning(frames["approved_texts"])
        self._ledger = {row["decision_id"]: row for row in frames["ledger"].iter_rows(named=True)}
        status = frames["decision_status"].filter(pl.col("learning_id").is_not_null()).sort("decision_id")
        self._decided = _by_learning(status)
        self._about = dict(status.select("decision_id", "learning_id").iter_rows())
        self._audience = dict(frames["learnings"].select("learning_id", "audience").iter_rows())
        self._rules = dict(frames["admissions"].select("signal_id", "rule").iter_rows())
        self._near: dict[str, set[str]] = defaultdict(set)
        if claims is not None:
            near = claims.filter(pl.col("tombstone_match") == "near").select("learning_id", "tombstone")
            for learning, tombstone in near.iter_rows():
                self._near[learning].add(tombstone)

    def reviewed(self, row: Row, item: served.Item) -> served.Reviewed:
        own = row["learning_id"]
        evidence, asked = self._evidence.get(own, ()), self.queue.get(own, ())
        return served.Reviewed(
            item=item,
            state_reason=row["state_reason"],
            claims=tuple(sorted({seen["claim_id"] for seen in evidence})),
            risks=tuple(row["risks"]),
            why=tuple(entry["why"] for entry in asked),
            reach=max((entry["reach"] for entry in asked), default=row["families"]),
            missing=tuple(asked[0]["missing"]) if asked else (),
            waiting_days=max((entry["waiting_days"] for entry in asked), default=None),
            passed=tuple(self._passed(seen) for seen in evidence),
            history=tuple(sorted(self._history(own), key=lambda change: (change.ts, change.what, change.reason))),
            near=tuple(self._near_to(decision, row["audience"]) for decision in sorted(self._near.get(own, ()))),
            approved=msgspec.convert(self._approved[own][0], served.Wording) if own in self._approved else None,
        )

    def _near_to(self, decision: str, audience: str) -> served.Change:
        """A rejection that may be of these words; whose and why only where this audience was told of it."""
        row, of = self._ledger.get(decision), self._audience.get(self._about.get(decision, ""))
        if row is None or of not in (audience, served.TEAM_AUDIENCE):
            return served.Change(_plain(row["ts"]) if row else "", "reject", WITHHELD, "")
        return _decision(row, None)

    def _passed(self, seen: Row) -> served.Passed:
        return served.Passed(
            signal_id=seen["signal_id"],
            kind=seen["kind"],
            start=seen["quote_start"],
            end=seen["quote_end"],
            verified=seen["quote_verified"],
            actor=seen["actor"],
            said=_plain(seen["ts"]),
            source=seen["source_uri"],
            rule=self._rules.get(seen["signal_id"], ""),
        )

    def _history(self, learning: str) -> Iterator[served.Change]:
        for row in self._events.get(learning, ()):
            yield served.Change(_plain(row["ts"]), str(row["to_state"]), row["actor"], row["reason"])
        for row in self._decided.get(learning, ()):
            came = None if row["verdict"] == "applies" else f"{row['verdict']}: {row['because'] or ''}".rstrip(": ")
            yield _decision(self._ledger[row["decision_id"]], came)


def _decision(row: Row, because: str | None) -> served.Change:
    return served.Change(_plain(row["ts"]), str(row["decision"]), str(row["actor"]), str(row["reason"]), because)


def _by_learning(frame: pl.DataFrame) -> dict[str, Sequence[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in frame.iter_rows(named=True):
        found[row["learning_id"]].append(row)
    return dict(found)


def _plain(value: Any) -> Any:
    """Days and instants as ISO text."""
    return value.isoformat() if hasattr(value, "isoformat") else value
