"""What a text says, whatever its words: the concepts it names, what it denies, its numbers, names and order.

Two people word one lesson differently: other verbs, another order, another language. `read` takes from a text what
survives that, by the lexicon of `gist_words` and no model, so that the same text gives the same gist everywhere.
A gist is a set of features of one kind each. A feature is hashed under a key before it is compared, so that of two
texts one may be there as hashes only (`content.tombstones`); nothing here asks for the words of the other side.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

import msgspec

from lorelake.content import contrast
from lorelake.content.gist_tokens import Token, lexicon, stem, stop_words, tokenise
from lorelake.content.normalise import normalise

_CONCEPTS_OF_ORDER = 2
_LONGEST_DENIAL = 8
_LONGEST_CHOICE = 3
"""Concepts that a negation reaches at most; and `instead of`, which turns down one thing."""


class Gist(msgspec.Struct, frozen=True):
    """The features of one text.

    Attributes:
        concepts: concept to its weight, 1 for one that tells two lessons apart and less for others.
        denied: those of them that the text turns down somewhere.
        only_denied: those that it names nowhere else.
        quantities: numbers with their units, versions included.
        names: identifiers, paths and tools as written.
        parts: every run of path segments at an end of a name, the name itself included.
        order: (earlier, later) pairs of concepts.
        sides: (group, side) of each word that has an opposite.
        modified: (modifier, head) of neighbouring concepts.
        sentences: how many there are.
    """

    concepts: dict[str, float]
    denied: frozenset[str]
    only_denied: frozenset[str]
    quantities: frozenset[str]
    names: frozenset[str]
    parts: frozenset[str]
    order: frozenset[tuple[str, str]]
    sides: frozenset[tuple[int, int]]
    modified: frozenset[tuple[str, str]]
    sentences: int


def read(text: str) -> Gist:
    """The gist of a text of any length; of a text without words an empty one."""
    people = _proper_names(text)
    tokens = [Token("name", one.value) if one.value in people else one for one in tokenise(text)]
    concepts: dict[str, float] = {}
    for token in tokens:
        if token.kind in ("concept", "name", "quantity"):
            concepts[token.value] = max(token.weight, concepts.get(token.value, 0.0))
    names = {token.value for token in tokens if token.kind == "name"} | _commands(text)
    denied, asserted = _polarity(tokens)
    return Gist(
        concepts=concepts,
        denied=frozenset(denied),
        only_denied=frozenset(denied - asserted),
        quantities=frozenset(token.value for token in tokens if token.kind == "quantity"),
        names=frozenset(names),
        parts=frozenset(part for name in names for part in _parts(name)),
        order=frozenset(_order(tokens)),
        sides=frozenset(_sides(text)),
        modified=frozenset(_modified(tokens)),
        sentences=sum(any(token.kind in _IS_CONCEPT for token in some) for some in _sentences(tokens)),
    )


_PROPER = re.compile(r"(?<=[^\s.!?:;]\s)[A-Z][a-z]{2,}(?:'s)?(?!\w|\.\w)")
_GERMAN = re.compile(r"\b(?:der|die|das|und|nicht|nie|ist|wird|eine?|im|den|dem|zu|nur)\b|[äöüß]", re.IGNORECASE)
_COMMAND = re.compile(
    r"\b(?:(?:git|docker|cargo|kubectl|terraform|helm|gh|dbt) [a-z][\w-]+"
    r"|(?:npm|pnpm|yarn|bun|pip|uv|poetry) (?:install|add|remove|ci|run [a-z]\w*|publish|audit|update|sync|lock)"
    r"|make (?:lint|test|tests|check|build|install|deploy|clean|docs|fmt|format|release|setup|dev|up|rollback))\b"
)


def _proper_names(text: str) -> set[str]:
    """Words with a capital inside a sentence, in their small form; none of a German text, whose nouns all have one."""
    if len(_GERMAN.findall(text)) > 1:
        return set()
    found = {stem(word.lower().removesuffix("'s")) for word in _PROPER.findall(text)}
    return {
        word for word in found if word not in lexicon() and word not in stop_words() and not contrast.senses_of(word)
    }


def _commands(text: str) -> set[str]:
    """Commands with their verb: `git push` and `git rebase` are two names."""
    return set(_COMMAND.findall(normalise(text)))


def passages(text: str, most: int) -> list[str]:
    """A text whole if it has at most `most` characters; longer ones by sentence, and by two sentences that follow."""
    if len(text) <= most:
        return [text]
    sentences = [part for part in _SENTENCE.split(text) if part.strip()]
    return [*sentences, *(f"{one} {other}" for one, other in pairwise(sentences))]


_SENTENCE = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])|\n+")


def _parts(name: str) -> Iterator[str]:
    segments = [segment for segment in re.split(r"[/\\:@]", name) if segment]
    for count in range(1, len(segments) + 1):
        yield "/".join(segments[:count])
        yield "/".join(segments[-count:])


_IS_CONCEPT = frozenset(("concept", "name", "quantity"))


def _polarity(tokens: Sequence[Token]) -> tuple[set[str], set[str]]:
    """Concepts under a negation, and concepts without one; where one condition denies another all are without."""
    denied: set[str] = set()
    asserted: set[str] = set()
    for sentence in _sentences(tokens):
        conditional = any(token.kind == "without" for token in sentence)
        reach, chosen = 0, False
        marks: list[tuple[Token, bool]] = []
        preferring = any(token.kind in ("prefer", "choose", "favor", "favour") for token in sentence)
        keeps_out = [token.kind for token in sentence if token.kind in ("keep", "out")] == ["keep", "out"]
        for token in sentence:
            if token.kind == "not" or (token.kind == "keep" and keeps_out):
                reach, chosen = _LONGEST_DENIAL, False
            elif token.kind == "instead" or (token.kind == "over" and preferring):
                reach, chosen = _LONGEST_CHOICE, True
            elif token.kind in ("end", "then") or (chosen and token.kind == "place"):
                reach = 0
            elif token.kind in ("was not", "was instead"):
                marks = _look_back(marks, 1 if token.kind == "was instead" else len(marks))
            elif token.kind in _IS_CONCEPT:
                marks.append((token, reach > 0))
                reach -= 1
            if token.kind == "end":
                _settle(marks, denied, asserted, conditional)
                marks = []
        _settle(marks, denied, asserted, conditional)
    return denied, asserted


def _look_back(marks: list[tuple[Token, bool]], count: int) -> list[tuple[Token, bool]]:
    first = len(marks) - count
    return [(token, was or at >= first) for at, (token, was) in enumerate(marks)]


def _settle(marks: Sequence[tuple[Token, bool]], denied: set[str], asserted: set[str], conditional: bool) -> None:
    for token, is_denied in marks:
        (denied if is_denied and not conditional else asserted).add(token.value)


def _sentences(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    sentence: list[Token] = []
    for token in tokens:
        sentence.append(token)
        if token.kind == "end" and token.value and token.value[0] in ".!?;。！？；":
            yield sentence
            sentence = []
    yield sentence


def _order(tokens: Sequence[Token]) -> Iterator[tuple[str, str]]:
    """What comes first and what after it, as `before`, `after`, `first … then` and their like say."""
    kinds = [token.kind for token in tokens]
    for at, token in enumerate(tokens):
        if token.kind not in ("before", "after", "first", "first forward"):
            continue
        left = _beside(tokens[:at][::-1])
        right = _beside(tokens[at + 1 :])
        if token.kind == "first forward" or (token.kind == "first" and not left):
            after = next((n for n in range(at + 1, len(kinds)) if kinds[n] == "then"), None)
            left, right = right, _beside(tokens[after + 1 :]) if after is not None else []
        elif not left and token.kind in ("before", "after"):
            comma = next((n for n in range(at + 1, len(kinds)) if kinds[n] == "end"), len(kinds))
            left = _beside(tokens[comma + 1 :])
        pairs = ((a, b) for a in left for b in right if a != b)
        yield from ((b, a) for a, b in pairs) if token.kind == "after" else pairs


def _beside(tokens: Sequence[Token]) -> list[str]:
    """The nearest concepts up to the end of the clause."""
    found: list[str] = []
    for token in tokens:
        if token.kind == "end" or len(found) == _CONCEPTS_OF_ORDER:
            break
        if token.kind in _IS_CONCEPT:
            found.append(token.value)
    return found


_NO_ORDER = frozenset(
    side
    for word in ("before", "after", "first", "last", "earlier", "later", "must", "may", "and", "or", "seconds", "hours")
    for side in contrast.senses_of(word)
)


def _sides(text: str) -> Iterator[tuple[int, int]]:
    for word in re.findall(r"[^\W\d_]+", normalise(text)):
        yield from (side for side in contrast.senses_of(word) if side not in _NO_ORDER)


def _modified(tokens: Sequence[Token]) -> Iterator[tuple[str, str]]:
    for one, other in pairwise(tokens):
        if one.kind in _IS_CONCEPT and other.kind == "concept" and one.value != other.value:
            yield one.value, other.value
