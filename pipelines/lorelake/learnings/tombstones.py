"""What people rejected or had forgotten, and which claims meet it.

The same words are suppressed, and so is a copy of them as the clustering would know one. What may say the same in other
words, or comes from the very passage the tombstoned words came from, is only held for a person: likeness in other words
may never retire anything by itself. What is compared stands in `content.gist_signature`; here is which pairs are.

A tombstone knows its words by the signature its decision carries, and by the claims of the lake that have its key.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import msgspec

from lorelake.content import gist_signature as signing
from lorelake.content.normalise import words
from lorelake.content.similarity import signature as word_pairs
from lorelake.content.similarity import signature_similarity
from lorelake.content.tombstones import origins

Row = Mapping[str, Any]

PAIRS_NEAR = 0.5
"""Likeness from which on a signature of word pairs, as decision files had before, holds a claim."""
PASSAGE = 400
"""Characters up to which a text is compared whole; of a longer one each sentence is, and each two that follow."""
FEWEST_SHARED = 2
SHARED = 0.5
"""Share of the shorter side's concepts that single words must show in common before a text is read for its gist."""


class _Tombstone(msgspec.Struct, frozen=True):
    """One standing decision with what is known of its words."""

    rank: tuple[Any, ...]
    decision_id: str
    content_key: str
    reach: str
    signature: signing.Hashed
    pairs: list[str]

    def reaches(self, audience: str) -> bool:
        return self.reach in ("team", audience)


def mark(
    rows: Sequence[dict[str, Any]],
    witness: Mapping[str, str],
    signals: Mapping[str, Row],
    decisions: Sequence[Row],
    key: bytes = b"",
) -> None:
    """Fill in `tombstone`, `tombstone_match` and `signature` of every claim.

    Args:
        rows: rows of `tables.CLAIMS`.
        witness: signal id to the words the claim's id is made of.
        signals: signal id to the row of `tables.SIGNALS`.
        decisions: `content.tombstones.standing` of the ledger.
        key: the team's key, under which signatures are made.
    """
    keys = {row["content_key"] for row in decisions}
    signed: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        if row["content_key"] in keys:
            signal = signals[row["signal_id"]]
            row["signature"] = signing.signature(witness[row["signal_id"]], origins(row, signal), key)
            signed[row["content_key"]].update(row["signature"])
    ground = Ground(decisions, signed, key)
    for row in rows:
        signal = signals[row["signal_id"]]
        met = ground.met(row, witness[row["signal_id"]], str(signal["audience"]), origins(row, signal))
        row["tombstone"], row["tombstone_match"] = met or (None, None)


class _Features(dict[str, frozenset[str]]):
    """Word to the hashes of the concepts it may name and some tombstone has. Remembered, as words are few."""

    def __init__(self, known: Mapping[str, Any], key: bytes) -> None:
        super().__init__()
        self._known, self._key = known, key

    def __missing__(self, word: str) -> frozenset[str]:
        self[word] = frozenset(signing.concepts_of(word, self._key) & self._known.keys())
        return self[word]


class Ground:
    """Every standing tombstone, found by what a text shares with it.

    Args:
        decisions: `content.tombstones.standing` of the ledger.
        signed: content key to the entries of the signatures that the lake's own claims give it.
        key: the team's key.
    """

    def __init__(self, decisions: Sequence[Row], signed: Mapping[str, Iterable[str]], key: bytes) -> None:
        self._key = key
        self._all = [_tombstone(row, signed.get(str(row["content_key"]), ())) for row in decisions]
        self._by_key: dict[str, list[_Tombstone]] = defaultdict(list)
        self._by_feature: dict[str, list[int]] = defaultdict(list)
        self._by_pair: dict[str, list[int]] = defaultdict(list)
        for number, one in enumerate(self._all):
            self._by_key[one.content_key].append(one)
            for feature in sorted(one.signature[signing.STRONG]):
                self._by_feature[feature].append(number)
            for pair in one.pairs:
                self._by_pair[pair].append(number)
        self._sizes = [len(one.signature[signing.STRONG]) for one in self._all]
        self._features_of = _Features(self._by_feature, key)
        self._seen: dict[tuple[str, tuple[str, ...]], list[signing.Candidate]] = {}

    def met(self, claim: Row, witness: str, audience: str, drawn_from: Sequence[str] = ()) -> tuple[str, str] | None:
        """(decision id, "exact" | "near") of the tombstone a claim meets, or None.

        Args:
            claim: a row of `tables.CLAIMS`.
            witness: the words the claim's id is made of.
            audience: whose the claim is: a tombstone may reach one audience only.
            drawn_from: `origins` of the claim.
        """
        exact = [one for one in self._by_key.get(claim["content_key"], ()) if one.reaches(audience)]
        if exact:
            return max(exact, key=lambda one: one.rank).decision_id, "exact"
        if not self._all:
            return None
        found = list(self._compared([witness, f"{claim['title']}. {claim['do']}"], audience, drawn_from))
        best = max(found, default=None)
        return None if best is None else (best[-1], "exact" if best[0] else "near")

    def _compared(
        self, texts: Sequence[str], audience: str, drawn_from: Sequence[str]
    ) -> Iterator[tuple[bool, float, tuple[Any, ...], str]]:
        """(whether it copies the words, how near, rank, decision id) of each tombstone met."""
        looked_at: set[str] = set()
        for at, text in enumerate(texts):
            said = words(text)
            told = set(chain.from_iterable(map(self._features_of.__getitem__, said)))
            if told and told <= looked_at:  # our own wording of what the witness said adds nothing to it
                continue
            looked_at |= told
            if text.isascii() and not self._sharing(told, len(told), sum(map(signing.is_number, set(said)))):
                continue
            for candidate in self._candidates(text, drawn_from):
                strong = candidate.hashed[signing.STRONG]
                for number in self._sharing(strong, len(strong)):
                    one = self._all[number]
                    verdict = signing.compare(candidate, one.signature) if one.reaches(audience) else None
                    if verdict:
                        # Of our own wording no copy is made: only the words of the witness suppress.
                        yield verdict[0] == "same" and at == 0, verdict[1], one.rank, one.decision_id
        for number, likeness in self._alike_by_pairs(texts) if self._by_pair else ():
            one = self._all[number]
            if one.reaches(audience):
                yield False, likeness, one.rank, one.decision_id

    def _candidates(self, text: str, drawn_from: Sequence[str]) -> list[signing.Candidate]:
        place = text, tuple(drawn_from)
        if place not in self._seen:
            parts = signing.passages(text, PASSAGE)
            self._seen[place] = [signing.candidate(part, drawn_from, self._key) for part in parts]
        return self._seen[place]

    def _sharing(self, features: Collection[str], size: int, besides: int = 0) -> list[int]:
        """Tombstones that share enough of these concepts, where so many more may be shared that were not counted."""
        if len(features) + besides < FEWEST_SHARED:
            return []
        times = Counter(chain.from_iterable(self._by_feature.get(feature, ()) for feature in features))
        return sorted(
            number
            for number, shared in times.items()
            if shared + besides >= max(FEWEST_SHARED, SHARED * min(size + besides, self._sizes[number]))
        )

    def _alike_by_pairs(self, texts: Sequence[str]) -> Iterator[tuple[int, float]]:
        """Tombstones of which only word pairs are known. Two sketches as near as this share a third of the smaller."""
        for text in texts:
            sketch = word_pairs(text)
            times = Counter(chain.from_iterable(self._by_pair.get(pair, ()) for pair in sketch))
            for number, shared in sorted(times.items()):
                pairs = self._all[number].pairs
                if shared * (1 + PAIRS_NEAR) >= PAIRS_NEAR * min(len(sketch), len(pairs)):
                    likeness = signature_similarity(sketch, pairs)
                    if likeness >= PAIRS_NEAR:
                        yield number, likeness


def _tombstone(row: Row, signed: Iterable[str]) -> _Tombstone:
    given = list(row["signature"] or ())
    known = signing.hashed([*given, *signed])
    return _Tombstone(
        rank=(row["ts"], str(row["decision_id"])),
        decision_id=str(row["decision_id"]),
        content_key=str(row["content_key"]),
        reach=str(row.get("reach") or "team"),
        signature=known,
        pairs=[] if known.of else [entry for entry in given if len(entry) == signing.PAIR_ENTRY],
    )
