"""Find a quote again in the text it was taken from, and check a stored one. Standard library only.

A quote matches where the text says the same after Unicode NFC and with every run of white space (line ends
included) read as one space. Case, punctuation and words must be equal: a quote is verbatim or it is none.
There is no fuzzy match here: a near quote may differ in the one number that matters.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata

_SPACE = re.compile(r"\s+")


def fold(text: str) -> str:
    """NFC, runs of white space as one space, none at the ends."""
    return _SPACE.sub(" ", unicodedata.normalize("NFC", text)).strip()


def locate(text: str, quote: str) -> tuple[int, int] | None:
    """Where `quote` stands in `text`: character offsets (end exclusive) into the text as it is, or None.

    `fold(text[start:end]) == fold(quote)` holds for what is returned. Of several places the first is taken;
    an empty quote stands nowhere.
    """
    wanted = fold(quote)
    if not wanted:
        return None
    folded, starts, ends = _fold_with_map(text)
    at = folded.find(wanted)
    while at >= 0:
        start, end = starts[at], ends[at + len(wanted) - 1]
        if fold(text[start:end]) == wanted:
            return start, end
        at = folded.find(wanted, at + 1)
    return None


def verify(text: str, start: int, end: int, sha: str) -> bool:
    """Whether the characters at that place still have that sha256."""
    if not 0 <= start < end <= len(text):
        return False
    return hashlib.sha256(text[start:end].encode("utf-8", "surrogatepass")).hexdigest() == sha


def _fold_with_map(text: str) -> tuple[str, list[int] | range, list[int] | range]:
    """The folded text, and for each of its characters where its source starts and ends in `text`."""
    plain = unicodedata.is_normalized("NFC", text)
    if plain and not re.search(r"\s\s|[^\S ]", text):
        return text, range(len(text)), range(1, len(text) + 1)
    folded: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for start, end in _pieces(text, plain):
        for character in unicodedata.normalize("NFC", text[start:end]):
            if not character.isspace():
                folded.append(character)
            elif folded and folded[-1] == " ":
                ends[-1] = end
                continue
            else:
                folded.append(" ")
            starts.append(start)
            ends.append(end)
    return "".join(folded), starts, ends


def _pieces(text: str, plain: bool) -> list[tuple[int, int]]:
    """Cut a text where NFC of the pieces, joined, is NFC of the whole."""
    if plain:
        return [(i, i + 1) for i in range(len(text))]
    cuts = [0]
    for i in range(1, len(text)):
        if text[i].isascii() or (not unicodedata.combining(text[i]) and _stands_alone(text[cuts[-1] : i], text[i])):
            cuts.append(i)
    return list(zip(cuts, [*cuts[1:], len(text)], strict=True)) if text else []


def _stands_alone(before: str, character: str) -> bool:
    """Whether a character that is no combining one neither composes with what stands before it nor falls apart."""
    form = unicodedata.normalize
    joined = form("NFC", before + character)
    first = form("NFD", character)[0]
    return joined == form("NFC", before) + form("NFC", character) and not unicodedata.combining(first)
