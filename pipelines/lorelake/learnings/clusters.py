"""Which claims are one learning: the same words, or nearly the same words as the canonical member, in one audience.

A claim is compared with canonical members only, never with other members: a chain of small differences does not
drift into another meaning. Members are taken in the order in which they may be canonical, so no arrival order shows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from lorelake.content.similarity import word_bigrams

NEAR = 0.8
RARE_IN = 20
"""A word bigram in at most so many claims of an audience is rare; two claims without a rare one in common differ."""

_OWN_WORDS = frozenset(("reviewed", "stated"))


class Member(msgspec.Struct, frozen=True):
    """One signal behind a claim, with what ranks it."""

    claim_id: str
    signal_id: str
    audience: str
    witness: str
    is_authored: bool
    is_reviewed: bool
    document: str | None
    ts: datetime

    @property
    def rank(self) -> int:
        """0 authored by a person, 1 reviewed, 2 anything else."""
        return 0 if self.is_authored else 1 if self.is_reviewed else 2


def member(signal: Mapping[str, Any], claim: Mapping[str, Any], witness: str) -> Member:
    """A member from a signal row and its claim row. A machine's document does not outrank a person's words."""
    basis = claim["trust_basis"]
    return Member(
        claim_id=claim["claim_id"],
        signal_id=claim["signal_id"],
        audience=str(signal["audience"]),
        witness=witness,
        is_authored=signal["kind"] == "authored" and basis in _OWN_WORDS,
        is_reviewed=basis == "reviewed",
        document=claim["document"],
        ts=signal["ts"],
    )


def clusters(members: Sequence[Member]) -> dict[str, str]:
    """Claim id to the claim id of the canonical member of its cluster."""
    best: dict[str, Member] = {}
    for one in sorted(members, key=_seniority):
        best.setdefault(one.claim_id, one)
    pairs = {claim: word_bigrams(one.witness) for claim, one in best.items()}
    spread = Counter((one.audience, pair) for claim, one in best.items() for pair in pairs[claim])
    canonical_with: dict[tuple[str, str], list[str]] = {}
    found: dict[str, str] = {}
    for claim, one in sorted(best.items(), key=lambda entry: _seniority(entry[1])):
        rare = sorted(pair for pair in pairs[claim] if spread[one.audience, pair] <= RARE_IN)
        near = dict.fromkeys(other for pair in rare for other in canonical_with.get((one.audience, pair), ()))
        chosen = min(
            (other for other in near if _overlap(pairs[claim], pairs[other]) >= NEAR),
            key=lambda other: _seniority(best[other]),
            default=claim,
        )
        found[claim] = chosen
        if chosen == claim:
            for pair in rare:
                canonical_with.setdefault((one.audience, pair), []).append(claim)
    return found


def _overlap(left: set[str], right: set[str]) -> float:
    """Jaccard, on sets made once; `content.similarity.jaccard` would make them again for each pair."""
    return len(left & right) / len(left | right) if left or right else 0.0


def canonical_signal(members: Sequence[Member]) -> str:
    """Of the signals of one canonical claim, the one whose words are served.

    The most senior one; of several versions of its document that make the same claim, the latest, whose reasons and
    exceptions are the ones that hold.
    """
    first = min(members, key=_seniority)
    if not first.is_authored or first.document is None:
        return first.signal_id
    versions = [one for one in members if one.is_authored and one.document == first.document]
    return max(versions, key=lambda one: (one.ts, one.signal_id)).signal_id


def _seniority(one: Member) -> tuple[int, datetime, str, str]:
    return one.rank, one.ts, one.claim_id, one.signal_id
