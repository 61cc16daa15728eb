"""Which served items answer a question, in which order, and whether any does.

Terms are judged on the union of the folders a reader may see: how rare a term is, how strong a match, and the scale
are the same for all of them. At most the six rarest known terms are searched: all of them first, then any.

**Coverage** decides whether there is an answer: the share of the question's weight (rarity) that an item holds. Terms
memory has never seen count too, but at most as much as those it knows, since pasted output is full of them.

    RELEVANT      coverage >= 0.6, or four searched terms and >= 0.4
    WEAK          coverage >= 0.3
    NOT_RELEVANT  below, or one term of three or more that were asked: a word in common is chance

The order is strength x (0.8 + 0.2 x confidence x decay): what is believed more, or in use, can overtake a match at most
a quarter stronger, so an exact match is never buried, whatever was shown how often. Equal items go by id.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from lorelake import served
from lorelake.content import search_words
from lorelake.recall.lexical import LexicalIndex

Verdict = Literal["RELEVANT", "WEAK", "NOT_RELEVANT"]
RELEVANT_COVERAGE = 0.6
WEAK_COVERAGE = 0.3
MANY_TERMS = 4
MANY_TERMS_COVERAGE = 0.4
SEARCHED_TERMS = 6
KNOWN_TERMS_LOOKED_UP = 64
"""Longer questions are cut to this many distinct terms before their rarity is looked up."""
CANDIDATES = 100
BELIEF_WEIGHT = 0.2

STOP_WORDS = frozenset(
    """a about after all also always am an and any are as at be because been before being but by can could did do does
    doing don for from get had has have having he her here him his how i if in into is it its just like me more most
    my no nor not now of on once only or other our out over own please should so some such than that the their them
    then there these they this those to too under until up us use using very want was we were what when where which
    while who why will with would you your""".split()  # noqa: SIM905 - a word list reads better so
)


@dataclass(frozen=True)
class Terms:
    """A question's terms: `weights` of the searched ones (rarest first), what memory has never seen, and all known."""

    weights: dict[str, float]
    missing: tuple[str, ...]
    held_by: dict[str, dict[int, int]]
    """Term to number of items holding it, by position of the index."""
    total_weight: float


@dataclass
class Match:
    """One item that holds at least one searched term."""

    index: LexicalIndex
    rowid: int
    strength: float = 0.0
    terms: list[str] = field(default_factory=list)
    coverage: float = 0.0


@dataclass(frozen=True)
class Ranked:
    """One match in its final order; `rank` is its weighed strength, 1 for the best possible."""

    item: served.Item
    match: Match
    rank: float


Candidates = Callable[[LexicalIndex, Sequence[str]], list[int]]
"""Rowids worth scoring in one index; what an engine is."""


def question_terms(question: str) -> list[str]:
    """Distinct terms of a question in order, without words that carry no meaning unless it has no others."""
    terms = list(dict.fromkeys(term for term in search_words.query_terms(question) if any(map(str.isalnum, term))))
    telling = [term for term in terms if term.lower() not in STOP_WORDS]
    return (telling or terms)[:KNOWN_TERMS_LOOKED_UP]


def weigh_terms(question: str, indexes: Sequence[LexicalIndex]) -> Terms:
    """Look up how rare each term is over all indexes together."""
    size = sum(index.size for index in indexes)
    held_by: dict[str, dict[int, int]] = {}
    missing: list[str] = []
    for term in question_terms(question):
        held = {position: index.holding(term) for position, index in enumerate(indexes)}
        if any(held.values()):
            held_by[term] = held
        else:
            missing.append(term)
    rarest = sorted(held_by, key=lambda term: sum(held_by[term].values()))[:SEARCHED_TERMS]
    weights = {term: _rarity(size, sum(held_by[term].values())) for term in rarest}
    unseen = min(len(missing), max(len(weights), 1)) * _rarity(size, 1)
    return Terms(weights, tuple(missing), held_by, sum(weights.values()) + unseen)


def _rarity(size: int, held_by: int) -> float:
    """Lucene's idf, which stays positive for a term that every item holds."""
    return math.log(1 + (size - held_by + 0.5) / (held_by + 0.5))


def by_sqlite(index: LexicalIndex, terms: Sequence[str]) -> list[int]:
    """Candidates of the SQLite twin: items with all terms, and where those are few, with any."""
    found = index.matching(terms, "AND", CANDIDATES)
    if len(found) < CANDIDATES:
        found += [rowid for rowid in index.matching(terms, "OR", CANDIDATES) if rowid not in set(found)]
    return found


def matches(terms: Terms, indexes: Sequence[LexicalIndex], candidates: Candidates = by_sqlite) -> list[Match]:
    """Every candidate with its strength and coverage, in no particular order."""
    found: list[Match] = []
    if not terms.weights:
        return found
    for position, index in enumerate(indexes):
        here = {rowid: Match(index, rowid) for rowid in candidates(index, tuple(terms.weights))}
        if not here:
            continue
        for term, weight in terms.weights.items():
            held_by = terms.held_by[term][position]
            for rowid, strength in index.strengths(term, held_by, tuple(here)).items() if held_by else ():
                here[rowid].strength += weight * strength
                here[rowid].terms.append(term)
        for match in here.values():
            match.coverage = sum(terms.weights[term] for term in match.terms) / terms.total_weight
        found += here.values()
    return found


def judge(match: Match | None, terms: Terms) -> Verdict:
    """Whether a match answers the question."""
    if match is None or match.coverage < WEAK_COVERAGE:
        return "NOT_RELEVANT"
    if len(match.terms) < 2 < len(terms.weights) + len(terms.missing):
        return "NOT_RELEVANT"
    many = match.coverage >= MANY_TERMS_COVERAGE and len(match.terms) >= MANY_TERMS
    return "RELEVANT" if match.coverage >= RELEVANT_COVERAGE or many else "WEAK"


def rank(found: Sequence[Match], terms: Terms) -> list[Ranked]:
    """Matches that are at least weak, best first, one entry per text: of equal texts the narrowest audience's."""
    strongest = max((match.strength for match in found), default=0.0)
    ranked = []
    for match in found:
        if judge(match, terms) == "NOT_RELEVANT" or not strongest:
            continue
        item = match.index.item(match.rowid)
        belief = (1 - BELIEF_WEIGHT) + BELIEF_WEIGHT * _share(item.confidence) * _share(item.decay)
        ranked.append(Ranked(item, match, match.strength / strongest * belief))
    ranked.sort(key=lambda r: (-r.rank, r.item.learning_id))
    return _newest_first(_one_per_text(ranked))


def _share(value: float) -> float:
    return min(max(value, 0.0), 1.0)


def _newest_first(ranked: Sequence[Ranked]) -> list[Ranked]:
    """What replaced a part of another comes before it, where both match; all else keeps its place."""
    matched = {entry.item.learning_id: entry for entry in ranked}
    placed: dict[str, Ranked] = {}

    def place(entry: Ranked, after: frozenset[str]) -> None:
        for replaced in entry.item.replaced_parts:
            newer = replaced.partition(": ")[0]
            if newer in matched and newer not in placed and newer not in after:
                place(matched[newer], after | {newer})
        placed.setdefault(entry.item.learning_id, entry)

    for entry in ranked:
        place(entry, frozenset((entry.item.learning_id,)))
    return list(placed.values())


def _one_per_text(ranked: Sequence[Ranked]) -> list[Ranked]:
    kept: dict[str, Ranked] = {}
    for entry in ranked:
        held = kept.get(entry.item.text_sha256)
        if held is None or _breadth(entry) < _breadth(held):
            kept[entry.item.text_sha256] = entry
    return sorted(kept.values(), key=lambda r: (-r.rank, _breadth(r), r.item.learning_id))


def _breadth(entry: Ranked) -> int:
    if entry.item.audience == served.TEAM_AUDIENCE:
        return 2
    return 1 if served.is_shared(entry.item.audience) else 0
