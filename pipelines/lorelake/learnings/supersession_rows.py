"""What one link between two claims carries: who says so, both sides' words, what matched, whole or in part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import msgspec

SAID, DECIDED = 0, 1


class Link(msgspec.Struct, frozen=True):
    """One claim that may replace another, as one statement or one likeness says it."""

    older_id: str
    newer_id: str
    reason: str
    evidence: str
    actor: str
    ts: datetime
    quote: str | None = None
    is_partial: bool = False
    part: str | None = None
    is_ambiguous: bool = False
    features: dict[str, Any] = {}
    weight: int = SAID
    """A person's decision about the two weighs more than what a document says of them."""

    @property
    def _rank(self) -> tuple[Any, ...]:
        """The latest statement counts; of one moment's, what replaces in part, and names the part."""
        named = self.part is not None
        return self.weight, not self.is_ambiguous, self.ts, self.is_partial, named, self.evidence, self.quote or ""


class Witness(msgspec.Struct, frozen=True):
    """The words behind one claim: the signal that is served, else the earliest one."""

    signal_id: str
    quote: str


def rows(links: Iterable[Link], witness: Mapping[str, Witness]) -> list[dict[str, Any]]:
    """Rows of `tables.SUPERSESSION_CANDIDATES`: of each pair and reason the link that counts, in order of the key."""
    best: dict[tuple[str, str, str], Link] = {}
    for link in links:
        key = link.older_id, link.newer_id, link.reason
        if link.older_id != link.newer_id and (key not in best or best[key]._rank < link._rank):
            best[key] = link
    return [_row(best[key], witness) for key in sorted(best)]


def _row(link: Link, witness: Mapping[str, Witness]) -> dict[str, Any]:
    older, newer = witness.get(link.older_id), witness.get(link.newer_id)
    return {
        "older_id": link.older_id,
        "newer_id": link.newer_id,
        "reason": link.reason,
        "evidence": link.evidence,
        "quote": link.quote,
        "actor": link.actor,
        "ts": link.ts,
        "partial": link.is_partial,
        "part": link.part,
        "ambiguous": link.is_ambiguous,
        "older_evidence": older.signal_id if older else None,
        "older_quote": older.quote if older else None,
        "newer_evidence": newer.signal_id if newer else None,
        "newer_quote": newer.quote if newer else None,
        "features": msgspec.json.encode(link.features, order="sorted").decode(),
    }
