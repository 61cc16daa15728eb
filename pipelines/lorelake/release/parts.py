"""What is left of an item's words when a part of it was replaced: the sentences that hold the part are not served.

Only what is served is cut. The item keeps its whole words, in the tables and for reviewers, and with them the hash that
an approval is bound to: an approval of the whole covers what is left of it. Where the part cannot be found, or nothing
would be left, the words stay and the note in front of them (`replaced_parts`) has to do.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lorelake.content.normalise import words

CUT = ("do", "because")
_SENTENCE = re.compile(r"[^\n]*?(?:[.!?]+(?=\s|\Z)|[。！？]+|\n+|\Z)[ \t]*")
_ARTICLES = frozenset({"the", "a", "an", "this", "that", "its", "their", "our"})


def served_words(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of `learnings` as it is served: `do` and `because` without the sentences that hold a replaced part."""
    named = (entry.partition(": ")[2] for entry in row["replaced_parts"])
    parts = [part for part in map(_told, named) if part]
    cut: dict[str, Any] = {}
    for name in CUT if parts else ():
        text = row[name] or ""
        left = without(text, parts)
        if left != text and (left or name != "do"):
            cut[name] = left or None
    return {**row, **cut}


def without(text: str, parts: list[list[str]]) -> str:
    """The text without the sentences in which one of the parts stands, word for word."""
    sentences = [found[0] for found in _SENTENCE.finditer(text) if found[0]]
    kept = [sentence for sentence in sentences if not any(_holds(words(sentence), part) for part in parts)]
    return text if len(kept) == len(sentences) else "".join(kept).strip()


def _told(part: str) -> list[str]:
    found = words(part)
    while found and found[0] in _ARTICLES:
        found = found[1:]
    return found


def _holds(sentence: list[str], part: list[str]) -> bool:
    return any(sentence[at : at + len(part)] == part for at in range(len(sentence) - len(part) + 1))
