"""A gist as keyed hashes, and what another text is to it: the same, near it, or something else.

What was erased may be recognised and must not be read again. So a tombstone keeps of a text the hashes of its gist
under the team's key: whoever has no key cannot try words on it, and whoever has it can only compare.
An entry is 10 hex: two for the kind of feature, eight of its hash (32 bits: two features of one text seldom meet, and
if they do something is held that need not be). A concept has the same hash in every kind.

Entries of 16 hex are word pairs as `content.similarity.signature` makes them without a key: decision files have them
since before there were gists, and they still hold what they held.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Literal

import msgspec

from lorelake.content import contrast, similarity
from lorelake.content.gist import Gist, passages, read
from lorelake.content.gist_tokens import is_number, may_name
from lorelake.content.normalise import words

(
    STRONG, WEAK, DENIED, ONLY_DENIED, QUANTITY, NAME, PART, PAIR, PAIR_TURNED, SIDE, OTHER_SIDE, MODIFIED, HEAD,
    BIGRAM, SETTLED, ORIGIN,
) = (f"{number:02x}" for number in range(1, 17))  # fmt: skip
"""Kinds of entries."""

ENTRY, PAIR_ENTRY = 10, 16
"""Characters of an entry, and of one of the word pairs that decision files had before."""
MOST_OF_A_KIND = 48
"""Entries kept of one kind, the smallest hashes: a long text is compared by a fair sample of it."""

SAME = 0.8
"""Word bigrams in common from which on a text is a copy, as for clusters."""
NEAR = 0.62
"""Share of the smaller side's concepts that are common, from which on a text may say the same in other words."""
NEAR_IF_REPLACED = 0.78
"""The same where a word stands in the place of another: `login handler` for `payment handler`."""
NEAR_OF_ONE_ORIGIN = 0.5
"""The same where both were drawn from one passage: another parser, or the next version of a document."""
SHORT = 3.0
"""Concepts of a side so short that one more or less is most of what it says."""
FEWEST = 2

__all__ = ["Candidate", "Hashed", "candidate", "compare", "concepts_of", "hashed", "is_number", "passages", "signature"]

Verdict = Literal["same", "near"]


class Hashed(msgspec.Struct, frozen=True):
    """A gist's features by kind, as hashes."""

    of: Mapping[str, frozenset[str]]

    def __getitem__(self, kind: str) -> frozenset[str]:
        return self.of.get(kind, _NOTHING)


_NOTHING: frozenset[str] = frozenset()


class Candidate(msgspec.Struct, frozen=True):
    """A text to compare, with what only its own side knows: (modifier, head, both) of neighbouring concepts."""

    hashed: Hashed
    modified: tuple[tuple[str, str, str], ...]
    is_told: bool
    """Several sentences: a story of what went wrong asserts what its moral denies."""


def candidate(text: str, origins: Iterable[str] = (), key: bytes = b"") -> Candidate:
    """A text made ready for comparison. `origins` name the passages it was drawn from, as the lake knows them."""
    gist, short = read(text), _short(key)
    modified = tuple((_hash(a, short), _hash(b, short), _hash(f"{a} {b}", short)) for a, b in sorted(gist.modified))
    return Candidate(Hashed(_by_kind(_entries(text, gist, origins, short))), modified, gist.sentences > 1)


def signature(text: str, origins: Iterable[str] = (), key: bytes = b"") -> list[str]:
    """The entries of a text, sorted; empty for a text without words."""
    short = _short(key)
    gist = read(text)
    if not gist.concepts:
        return []
    found = _by_kind(_entries(text, gist, origins, short))
    return sorted(kind + value for kind, values in found.items() for value in sorted(values)[:MOST_OF_A_KIND])


def concepts_of(word: str, key: bytes = b"") -> set[str]:
    """The hashes of the concepts that a normalised word may name, by itself or as the first of a phrase."""
    return {_hash(concept, _short(key)) for concept in may_name(word)}


def hashed(entries: Iterable[str]) -> Hashed:
    """A signature made ready for comparison; entries of 16 hex are left to `similarity`."""
    found: dict[str, set[str]] = defaultdict(set)
    for entry in entries:
        if len(entry) == ENTRY:
            found[entry[:2]].add(entry[2:])
    return Hashed({kind: frozenset(values) for kind, values in found.items()})


def compare(one: Candidate, buried: Hashed) -> tuple[Verdict, float] | None:
    """What a text is to a signature made under the same key, and how near; None if it says something else.

    `same` copies the words; `near` says in other words what may be the same, which a person has to judge.
    """
    mine = one.hashed
    if _differ(one, buried):
        return None
    copied = _sketch_likeness(mine[BIGRAM], buried[BIGRAM])
    if copied >= SAME and mine[SETTLED] == buried[SETTLED]:
        return "same", copied
    own, theirs = _weight(mine), _weight(buried)
    shared_strong = mine[STRONG] & buried[STRONG]
    shared = len(shared_strong) + 0.4 * len(mine[WEAK] & buried[WEAK])
    shared += len((mine[NAME] & buried[PART]) - buried[NAME]) or len((mine[PART] & buried[NAME]) - mine[NAME])
    smaller = min(own, theirs)
    if len(shared_strong) < FEWEST or not smaller:
        return None
    score = min(1.0, shared / smaller)
    wanted = NEAR
    if mine[ORIGIN] & buried[ORIGIN]:
        wanted = NEAR_OF_ONE_ORIGIN
    elif smaller < SHORT or _is_replaced(one, buried):
        wanted = NEAR_IF_REPLACED
    return ("near", score) if score >= wanted else None


def _differ(one: Candidate, buried: Hashed) -> bool:
    """Whether something settles that the two say different things."""
    mine = one.hashed
    return (
        _replaced(mine[QUANTITY], buried[QUANTITY])
        or _other_names(mine, buried)
        or _other_polarity(mine, buried, one.is_told)
        or bool(mine[PAIR] & buried[PAIR_TURNED] and not mine[PAIR] & buried[PAIR])
        or bool(mine[SIDE] & buried[OTHER_SIDE] and mine[OTHER_SIDE] & buried[SIDE])
    )


def _replaced(left: Collection[str], right: Collection[str]) -> bool:
    """Whether each side has one that the other has not. One that only one side has may have been left out."""
    return not set(left) <= set(right) and not set(right) <= set(left)


def _other_names(mine: Hashed, buried: Hashed) -> bool:
    unmet = mine[NAME] - buried[PART] - buried[STRONG]
    missing = buried[NAME] - mine[PART] - mine[STRONG]
    by_part = len((buried[PART] - buried[NAME]) & mine[NAME])
    also_by_part = len((mine[PART] - mine[NAME]) & buried[NAME])
    return len(unmet) > also_by_part and len(missing) > by_part


def _other_polarity(mine: Hashed, buried: Hashed, is_told: bool) -> bool:
    """Whether what one denies the other asserts, and nothing is denied by both; or whether two changed places."""
    shared = mine[STRONG] & buried[STRONG]
    both = (mine[STRONG] | mine[WEAK]) & mine[DENIED] & buried[DENIED]
    turned_here = shared & mine[ONLY_DENIED] - buried[DENIED]
    turned_there = shared & buried[ONLY_DENIED] - mine[DENIED]
    if turned_here and turned_there:
        return True
    if shared & mine[DENIED] - both and shared & buried[DENIED] - both:
        return len(both) < FEWEST
    turned = turned_here if is_told else turned_here | turned_there
    return not both and 2 * len(turned) >= len(shared) > 0


def _is_replaced(one: Candidate, buried: Hashed) -> bool:
    """Whether a head that the buried text modifies has another modifier here, one the buried text does not have."""
    concepts = buried[STRONG] | buried[WEAK]
    return any(
        head in buried[HEAD] and both not in buried[MODIFIED] and modifier not in concepts
        for modifier, head, both in one.modified
    )


def _weight(of: Hashed) -> float:
    return len(of[STRONG]) + 0.4 * len(of[WEAK])


def _sketch_likeness(left: frozenset[str], right: frozenset[str]) -> float:
    nearest = sorted(left | right)[:MOST_OF_A_KIND]
    return sum(each in left and each in right for each in nearest) / len(nearest) if nearest else 0.0


def _entries(text: str, gist: Gist, origins: Iterable[str], short: bytes) -> Iterator[tuple[str, str]]:
    """(kind, hash) of every feature."""
    settled = contrast.settled_by(text, words(text))
    features: list[tuple[str, Iterable[str]]] = [
        (STRONG, (one for one, weight in gist.concepts.items() if weight == 1)),
        (WEAK, (one for one, weight in gist.concepts.items() if weight < 1)),
        (DENIED, gist.denied),
        (ONLY_DENIED, gist.only_denied),
        (QUANTITY, gist.quantities),
        (NAME, gist.names),
        (PART, gist.parts),
        (PAIR, (f"{a} > {b}" for a, b in gist.order)),
        (PAIR_TURNED, (f"{b} > {a}" for a, b in gist.order)),
        (SIDE, (f"{group} {side}" for group, side in gist.sides)),
        (OTHER_SIDE, (f"{group} {side}" for group, side in contrast.other_sides(gist.sides))),
        (MODIFIED, (f"{a} {b}" for a, b in gist.modified)),
        (HEAD, (head for _, head in gist.modified)),
        (BIGRAM, similarity.word_bigrams(text)),
        (SETTLED, ["\x1f".join(settled)]),
        (ORIGIN, origins),
    ]
    for kind, values in features:
        for value in values:
            yield kind, _hash(value, short)


def _by_kind(entries: Iterable[tuple[str, str]]) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for kind, value in entries:
        found[kind].add(value)
    return {kind: frozenset(values) for kind, values in found.items()}


@lru_cache(maxsize=8)
def _short(key: bytes) -> bytes:
    """A key of the length that the hash takes, of a use of its own."""
    return hashlib.sha256(b"tombstone" + key).digest() if key else b""


@lru_cache(maxsize=1 << 17)
def _hash(value: str, short: bytes) -> str:
    return hashlib.blake2b(value.encode("utf-8", "surrogatepass"), digest_size=4, key=short).hexdigest()
