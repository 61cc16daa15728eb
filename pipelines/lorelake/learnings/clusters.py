"""Which claims are one learning: the same words, or nearly the same words as the canonical member, in one audience.

A claim is compared with canonical members only, never with other members: a chain of small differences does not
drift into another meaning. Members are taken in the order in which they may be canonical, so no arrival order shows.
A claim that `content.contrast` tells apart from the canonical member is no copy, however near: it may replace it.

Every pair at or above `NEAR` is found, and few others are looked at. A set of n word bigrams that shares at least
`NEAR` of all with another shares at least ceil(NEAR n) of its own; so of its n - ceil(NEAR n) + `SHARED` rarest
bigrams the other has at least `SHARED` among its own rarest (prefix filter, Chaudhuri et al. 2006). What is rare is
counted within those that may be copies of each other, so thirty copies of one sentence still find each other.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain, pairwise
from operator import itemgetter
from typing import Any

import msgspec
import polars as pl

from lorelake.content import contrast
from lorelake.content.normalise import words
from lorelake.learnings.bulk import without_collector
from lorelake.learnings.word_pairs import word_pairs

NEAR = 0.8
_FIFTHS = 4
"""`NEAR` as a fraction of 5: sizes are computed in whole numbers."""
SHARED = 2
"""Rare bigrams that must be in common: with one, sentences of few common words would look at half of all others."""

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
    is_proposed: bool = False

    @property
    def rank(self) -> int:
        """0 authored by a person, 1 reviewed, 3 proposed, 2 anything else: no model words what somebody said."""
        return 0 if self.is_authored else 1 if self.is_reviewed else 3 if self.is_proposed else 2


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
        is_proposed=basis == "proposed",
    )


@without_collector()
def clusters(members: Sequence[Member]) -> dict[str, str]:
    """Claim id to the claim id of the canonical member of its cluster."""
    best: dict[str, Member] = {}
    for one in sorted(members, key=seniority):
        best.setdefault(one.claim_id, one)
    found = {claim: claim for claim in best}
    texts = [_Text(one, words(one.witness)) for one in best.values()]  # most senior first
    alike: dict[tuple[str, tuple[str, ...]], list[_Text]] = defaultdict(list)
    for text in _with_company(texts):
        alike[text.audience, contrast.settled_by(text.witness, text.words)].append(text)
    for some in alike.values():
        if len(some) > 1:
            found.update(_joined(some))
    return found


Pair = tuple[str, str]


class _Text:
    """The words of one claim. Bigrams are made when they are asked for: those of a whole lake would fill memory."""

    __slots__ = ("_kept", "audience", "claim_id", "witness", "words")

    def __init__(self, one: Member, found: list[str]) -> None:
        self.claim_id, self.audience, self.witness, self.words = one.claim_id, one.audience, one.witness, found
        self._kept: set[Pair] | None = None

    def bigrams(self) -> set[Pair]:
        """As `content.similarity.word_bigrams` has them; a text of one word has that word."""
        return self._kept or set(pairwise(self.words)) or {(word, "") for word in self.words}

    def keep_bigrams(self) -> set[Pair]:
        """The same, remembered: for one that many are compared with."""
        self._kept = self.bigrams()
        return self._kept


def _with_company(texts: Sequence[_Text]) -> list[_Text]:
    """Those that may have a copy: not more of their bigrams stand in no other text than a copy may lack.

    Counted by polars over all texts at once. It leaves most of a lake aside, in a third of the time that sets take.
    """
    once = (
        word_pairs([text.words for text in texts])
        .group_by("pair")
        .agg(pl.col("text").first(), pl.len())
        .filter(pl.col("len") == 1)
    )
    alone = dict(once["text"].value_counts().iter_rows())
    sizes = (max(len(text.words) - 1, 1) for text in texts)
    lacking = (size - _fewest_common(size) for size in sizes)
    return [text for at, (text, most) in enumerate(zip(texts, lacking, strict=True)) if alone.get(at, 0) <= most]


def _joined(texts: Sequence[_Text]) -> Iterator[tuple[str, str]]:
    """(claim, canonical member) of texts that may be copies of each other, most senior first."""
    held_by = Counter(chain.from_iterable(text.bigrams() for text in texts))
    several = sorted((entry for entry in held_by.items() if entry[1] > 1), key=itemgetter(1))
    rarity = {pair: place for place, (pair, _) in enumerate(several)}  # of equals in whatever order, the same for all
    canonical_with: dict[Pair, dict[int, list[int]]] = {}
    for number, text in enumerate(texts):
        own = text.bigrams()
        shared = own & rarity.keys()
        rarest = _rarest(len(own), shared, rarity)
        near = _candidates(len(own), len(shared), rarest, canonical_with)
        chosen = next((texts[other] for other in near if _is_copy(text, own, texts[other])), text)
        yield text.claim_id, chosen.claim_id
        if chosen is text:
            for pair in rarest:
                canonical_with.setdefault(pair, {}).setdefault(len(own), []).append(number)


def _rarest(size: int, shared: set[Pair], rarity: Mapping[Pair, int]) -> list[Pair]:
    """The bigrams of which a copy has at least `SHARED`; none where so many are nowhere else that there is no copy."""
    alone, may_lack = size - len(shared), size - _fewest_common(size)
    if alone > may_lack:
        return []
    return sorted(shared, key=rarity.__getitem__)[: may_lack + SHARED - alone]


def _fewest_common(size: int) -> int:
    """How many of its bigrams a set shares at least with any copy: ceil(NEAR x size)."""
    return -(-_FIFTHS * size // 5)


def _candidates(
    size: int, shared: int, rarest: Sequence[Pair], canonical_with: Mapping[Pair, Mapping[int, Sequence[int]]]
) -> list[int]:
    """Canonical members that share enough rare bigrams, most senior first."""
    # At least 4/9 of the bigrams of two copies together are common to both, and one that only one text has is not.
    least, most = _fewest_common(size), min(size * 5 // _FIFTHS, shared * 9 // _FIFTHS - size)
    found = [
        numbers
        for pair in rarest
        for theirs, numbers in canonical_with.get(pair, _NONE).items()
        if least <= theirs <= most
    ]
    needed = min(SHARED, least)
    if len(found) < needed:
        return []
    return sorted(number for number, times in Counter(chain.from_iterable(found)).items() if times >= needed)


_NONE: Mapping[int, Sequence[int]] = {}


def _is_copy(text: _Text, own: set[Pair], other: _Text) -> bool:
    theirs = other.keep_bigrams()
    common = len(own & theirs)
    if 5 * common < _FIFTHS * (len(own) + len(theirs) - common):
        return False
    return not contrast.differ(text.witness, other.witness, text.words, other.words)


def canonical_signal(members: Sequence[Member]) -> str:
    """Of the signals of one canonical claim, the one whose words are served.

    The most senior one; of several versions of its document that make the same claim, the latest, whose reasons and
    exceptions are the ones that hold.
    """
    first = min(members, key=seniority)
    if not first.is_authored or first.document is None:
        return first.signal_id
    versions = [one for one in members if one.is_authored and one.document == first.document]
    return max(versions, key=lambda one: (one.ts, one.signal_id)).signal_id


def seniority(one: Member) -> tuple[int, datetime, str, str]:
    """What orders members: the least may be canonical."""
    return one.rank, one.ts, one.claim_id, one.signal_id
