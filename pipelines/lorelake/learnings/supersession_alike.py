"""Two statements about one subject: which value changed, which choice was turned round, which are nearly the same.

Compared are the words that are served of each learning with those of others of its audience, never of one document
twice, never what only a machine or a tool saw. Candidates come from what is rare, so the work grows with the number of
statements and not with its square. The newer one was first said after the older one was last said.
"""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any

import msgspec

from lorelake.content import contrast
from lorelake.content.normalise import normalise, words
from lorelake.learnings import supersession_reversed as reversal
from lorelake.learnings import supersession_values as values
from lorelake.learnings.supersession_rows import Link
from lorelake.learnings.word_pairs import sharing_rare_pairs

NEAR = 0.5
"""Word bigrams in common (Jaccard) from which on two learnings are shown to a person as near duplicates."""
COPY = 0.8
"""From here on `clusters` makes one learning of two, unless a word settles that they say different things: such a pair
is shown to a person all the same."""
RARE_IN = 20
"""What stands in more statements of an audience than so many does not bring two together."""

Key = tuple[str, str]
"""A word in an audience."""


class Statement(msgspec.Struct, frozen=True):
    """One learning as it was said: the words that are served, also normalised, since when, until when, by whom."""

    learning_id: str
    signal_id: str
    audience: str
    text: str
    plain: str
    title: str
    rejected: str
    actor: str
    first: datetime
    last: datetime
    document: str | None
    is_preference: bool
    places: frozenset[str]
    said: tuple[str, ...]
    """The words of `text`, in order."""


def statements(claims: Iterable[Mapping[str, Any]], signals: Mapping[str, Mapping[str, Any]]) -> list[Statement]:
    """The learnings that persons stated or reviewed and no tombstone holds, by first time and id."""
    times: dict[str, list[datetime]] = defaultdict(list)
    served: dict[str, Mapping[str, Any]] = {}
    for row in claims:
        times[row["learning_id"]].append(signals[row["signal_id"]]["ts"])
        if row["is_canonical"] and row["trust_basis"] in ("stated", "reviewed") and row["tombstone_match"] is None:
            known = served.setdefault(row["learning_id"], row)
            if row["signal_id"] < known["signal_id"]:
                served[row["learning_id"]] = row
    found = [_statement(row, signals[row["signal_id"]], times[learning]) for learning, row in served.items()]
    return sorted(found, key=lambda one: (one.first, one.learning_id))


def _statement(claim: Mapping[str, Any], signal: Mapping[str, Any], times: Sequence[datetime]) -> Statement:
    item = json.loads(signal["payload"]).get("item") or {}
    text = str(item.get("witness") or signal["quote"])
    plain = normalise(text)
    return Statement(
        learning_id=claim["learning_id"],
        signal_id=claim["signal_id"],
        audience=str(signal["audience"]),
        text=text,
        plain=plain,
        title=str(claim["title"]),
        rejected=str(claim["rejected"] or ""),
        actor=str(signal["actor"]),
        first=min(times),
        last=max(times),
        document=claim["document"],
        is_preference=claim["kind"] == "preference",
        places=frozenset(place for place in claim["applies_to"] if "/" in place or "." in place),
        said=tuple(words(plain)),
    )


def links(found: Sequence[Statement]) -> list[Link]:
    """Candidates of the three reasons; a pair has one of them, the most telling.

    Args:
        found: as `statements` gives them.
    """
    reasons: dict[tuple[str, str], Link] = {}
    sources: tuple[Callable[[Sequence[Statement]], Iterator[Link]], ...] = (_changed, _reversed, _near)
    for source in sources:
        for link in source(found):
            pair = link.older_id, link.newer_id
            if pair not in reasons and pair[::-1] not in reasons:
                reasons[pair] = link
    return list(reasons.values())


def comparable(older: Statement, newer: Statement) -> bool:
    """Whether the one may replace the other: one audience, later, not of one document, about places that may meet."""
    return (
        older.audience == newer.audience
        and older.last < newer.first
        and (older.document is None or older.document != newer.document)
        and older.is_preference == newer.is_preference
        and (not older.is_preference or older.actor == newer.actor)
        and (not older.places or not newer.places or bool(older.places & newer.places))
    )


def _link(older: Statement, newer: Statement, reason: str, features: dict[str, Any]) -> Link:
    return Link(
        older_id=older.learning_id, newer_id=newer.learning_id, reason=reason, evidence=newer.signal_id,
        actor=newer.actor, ts=newer.first, features=features,
    )  # fmt: skip


def _changed(found: Sequence[Statement]) -> Iterator[Link]:
    """Each statement with the latest comparable one before it that gives another value for the same subject."""
    read = [values.read(one.text, one.plain) for one in found]
    spread = Counter((one.audience, word) for one, said in zip(found, read, strict=True) for word in said.subject)
    by_frame: dict[Key, list[int]] = defaultdict(list)
    by_word: dict[Key, list[int]] = defaultdict(list)
    for number, (newer, said) in enumerate(zip(found, read, strict=True)):
        if not said.values:
            continue
        keys = _telling([(newer.audience, word) for word in said.subject], spread)
        frame = by_frame[newer.audience, said.frame]
        near = sorted({*frame[-RARE_IN:], *(other for key in keys for other in by_word[key])}, reverse=True)
        for other in near:
            changed = values.changed(read[other], said) if comparable(found[other], newer) else None
            if changed:
                yield _link(found[other], newer, "value_changed", changed)
                break
        frame.append(number)
        for key in keys:
            by_word[key].append(number)


def _telling(keys: Collection[Key], spread: Mapping[Key, int]) -> list[Key]:
    """Of the words of a subject the rarest, one of which another subject at least `ALIKE` has among its rarest too."""
    rarest = sorted(keys, key=lambda key: (spread[key], key))[: len(keys) - math.ceil(values.ALIKE * len(keys)) + 1]
    return [key for key in rarest if spread[key] <= RARE_IN]


def _reversed(found: Sequence[Statement]) -> Iterator[Link]:
    """What chose the very thing that a later statement turns down, or turned down what a later one goes back to."""
    chosen: dict[tuple[str, str], list[Statement]] = defaultdict(list)
    refused: dict[tuple[str, str], list[Statement]] = defaultdict(list)
    for newer in found:
        here = reversal.read(newer.plain, newer.title, newer.rejected)
        for terms, earlier in ((here.refused, chosen), (here.returned_to, refused)):
            for term, cue in sorted(terms.items()):
                met = earlier[newer.audience, term]
                for older in met if len(met) <= RARE_IN else ():
                    if comparable(older, newer):
                        yield _link(older, newer, "decision_reversed", {"object": term, "cue": cue})
        for term in here.chosen:
            chosen[newer.audience, term].append(newer)
        for term in here.refused:
            refused[newer.audience, term].append(newer)


def _near(found: Sequence[Statement]) -> Iterator[Link]:
    """Pairs that share half of their word bigrams; of two of which one denies, the later one reverses the other."""
    kept: dict[int, frozenset[tuple[str, str]]] = {}
    said, audiences = [one.said for one in found], [one.audience for one in found]
    for earlier, later in sharing_rare_pairs(said, audiences, NEAR, RARE_IN):
        if not comparable(found[earlier], found[later]):
            continue
        theirs, own = (kept.setdefault(place, _pairs(said[place])) for place in (earlier, later))
        shared = len(theirs & own)
        alike = shared / (len(theirs) + len(own) - shared)
        if alike >= NEAR:
            yield from _alike(found[earlier], found[later], alike)


def _pairs(said: Sequence[str]) -> frozenset[tuple[str, str]]:
    return frozenset(pairwise(said)) or frozenset((word, "") for word in said)


def _alike(older: Statement, newer: Statement, alike: float) -> Iterator[Link]:
    """What two near texts are to each other; nothing, where they differ in a word that settles what they say."""
    features: dict[str, Any] = {"similarity": round(alike, 3)}
    if reversal.is_denied(older.said) != reversal.is_denied(newer.said):
        yield _link(older, newer, "decision_reversed", features | {"cue": "denied"})
        return
    is_telling = contrast.settled_by(older.text, older.said) != contrast.settled_by(newer.text, newer.said)
    if is_telling or contrast.differ(older.text, newer.text, older.said, newer.said):
        if alike < COPY:
            return
        features["differs"] = True
    yield _link(older, newer, "duplicate", features)
