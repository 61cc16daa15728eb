"""Which fields of an item hold a word that no quote holds: those are ours, and are marked so.

A field may turn a sentence into advice ("could we be using X" is told as "Use X"), so a plain word counts as quoted
when the quote holds it in another form. What carries the meaning may not change: an identifier, a number and a
negation must stand in a quote as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from lorelake.content.normalise import words

FIELDS = ("title", "when", "do", "because", "rejected")
"""Fields that are compared. Counter-arguments name their own source; tags and paths are facts of the record."""

_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nor|without|cannot|avoid|stop|against)\b|n't\b|不|别|別|没|沒|勿|禁止|避免", re.IGNORECASE
)
_PLAIN = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_ENDING = re.compile(r"(?:ings?|ed|es|s|d|e|n't)$")
_SHORTEST_STEM = 3
_OURS = frozenset((
    "a", "an", "and", "are", "be", "by", "calling", "changing", "consider", "decided", "do", "drop", "editing", "for",
    "in", "instead", "is", "it", "not", "of", "on", "or", "our", "reading", "running", "that", "the", "then", "this",
    "to", "use", "we", "working",
))  # fmt: skip
"""Words the wording itself adds or takes away, also to say what is being done with a file.

A negation among them is compared by `_NEGATION`."""


def inferred(fields: Mapping[str, Any], quotes: Iterable[str]) -> list[str]:
    """Names of the fields, in the order of `FIELDS`, with a word that stands in none of the quotes.

    Args:
        fields: an item as it is served; absent and empty fields are quoted by nature.
        quotes: the verbatim words behind it.
    """
    text = "\n".join(quotes)
    said = set(words(text))
    stems = {_stems[word] for word in said}
    denied = bool(_NEGATION.search(text.replace("’", "'")))
    return [name for name in FIELDS if fields.get(name) and not _is_quoted(str(fields[name]), said, stems, denied)]


def _is_quoted(text: str, said: set[str], stems: set[str | None], denied: bool) -> bool:
    if not denied and _NEGATION.search(text.replace("’", "'")):
        return False
    return all(_stands(word, stems) for word in set(words(text)) - said - _OURS)


def _stands(word: str, stems: set[str | None]) -> bool:
    return word.isascii() and (stem := _stems[word]) is not None and stem in stems


class _Stems(dict[str, str | None]):
    """The stems of words that were met; None for what is no plain word, and has no other form."""

    def __missing__(self, word: str) -> str | None:
        if len(self) >= 1 << 16:
            self.clear()
        self[word] = _stem(word) if _PLAIN.fullmatch(word) else None
        return self[word]


_stems = _Stems()


def _stem(word: str) -> str:
    """A word without its English ending and a doubled last letter: running, runs and run are one."""
    stem = _ENDING.sub("", word)
    if len(stem) < _SHORTEST_STEM:
        return word
    return stem[:-1] if stem[-1] == stem[-2] and len(stem) > _SHORTEST_STEM else stem
