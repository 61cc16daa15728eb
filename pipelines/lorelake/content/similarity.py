"""How alike two texts are, by their word bigrams; exact from the texts, estimated from sketches.

Jaccard over word bigrams keeps order in view: `use X not Y` and `use Y not X` share words but few bigrams.
A sketch is the k smallest of the hashed bigrams (bottom-k, Cohen 1997). With a key nobody without it can test
whether given words are in it; without one a list of common word pairs could be tried, so a sketch that outlives
its text (a tombstone of something forgotten) is made with the team's key.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Set
from itertools import pairwise

from lorelake.content.normalise import shingles, words

SIZE = 48
"""Hashes kept: a standard error of at most 0.07 on the estimate."""


def word_bigrams(text: str) -> set[str]:
    """Pairs of neighbouring words; a text of one word has that word."""
    found = words(text)
    return {f"{a} {b}" for a, b in pairwise(found)} or set(found)


def jaccard(a: str, b: str) -> float:
    """Shared word bigrams over all word bigrams, from 0 to 1. Two texts without words share nothing: 0."""
    left, right = word_bigrams(a), word_bigrams(b)
    union = len(left | right)
    return len(left & right) / union if union else 0.0


def shingles_of(texts: Iterable[str]) -> set[str]:
    """Shingles of texts and of each of their lines: a statement shorter than a shingle is found as a whole line."""
    found: set[str] = set()
    for text in texts:
        found |= shingles(text)
        for line in text.splitlines():
            found |= shingles(line)
    return found


def shingle_share(text: str, others: Set[str]) -> float:
    """How much of a text stands in others, by its shingles: from 0 to 1; 0 for a text without words."""
    mine = shingles(text)
    return len(mine & others) / len(mine) if mine else 0.0


def signature(text: str, key: bytes = b"") -> list[str]:
    """At most `SIZE` hashes of 16 hex, ascending. Sketches compare only when made under the same key."""
    short = hashlib.sha256(key).digest() if key else b""
    pairs = (pair.encode("utf-8", "surrogatepass") for pair in word_bigrams(text))
    return sorted({hashlib.blake2b(pair, digest_size=8, key=short).hexdigest() for pair in pairs})[:SIZE]


def signature_similarity(a: list[str], b: list[str]) -> float:
    """The Jaccard similarity that two sketches speak for; exact where both hold all bigrams of their text."""
    left, right = set(a), set(b)
    nearest = sorted(left | right)[:SIZE]
    return sum(each in left and each in right for each in nearest) / len(nearest) if nearest else 0.0
