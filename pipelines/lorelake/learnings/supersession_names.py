"""How a text names another record: by link, path, file name, number, title or claim id; and this record itself.

`mask` puts one character in place of each name, so that the grammar around it can be read (`supersession_said`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from lorelake.content.normalise import normalise

NAME, THIS, GAP = "\ue000", "\ue001", "\ue002"
"""What stands for a name and for this record, each followed by gaps up to the length of the words it replaces."""

_ADR = r"(?:[A-Z]{0,3}ADR|[Aa]dr|AgDR|PDR|[Dd]ecision [Rr]ecord|决策记录)"
_SEP = r"[-_ #\u00a0]{0,3}"
_NAMES = re.compile(
    r"\[\[(?P<wiki>[^\]\[|\n]{1,200})(?:\|[^\]\n]{0,200})?\]\]"
    r"|\[(?P<text>[^\]\[]{0,300})\](?:\((?P<target>[^)\s]{1,500})(?:\s+\"[^\"\n]{0,200}\")?\)|\[[^\]\n]{0,100}\])"
    r"|(?P<claim>\blrn_[0-9a-f]{12,32}\b)"
    r"|(?<![\w./~-])`?(?P<path>[\w./~-]{1,250}\.(?:md|markdown))\b`?"
    rf"|\b(?P<several>{_ADR}s{_SEP}\d{{1,5}}\b(?:\s*(?:,|/|and|&|、|和|,\s*and)\s*(?:{_ADR}{_SEP})?\d{{1,5}}\b)*)"
    rf"|(?<![A-Za-z])(?P<number>{_ADR}{_SEP}\d{{1,5}}\b(?:\s*/\s*(?:{_ADR}{_SEP})?\d{{1,5}}\b)*)"
    r"|\b(?P<decision>[Dd]ecision (?:[Nn]o\.? ?|#)?\d{1,5}\b)(?! (?:above|below))"
    r"|第\s*(?P<chinese>\d{1,5})\s*号(?:决策|记录|ADR)"
    r"|`?\b(?P<slug>\d{3,5}-(?:\d\d-\d\d-)?(?=[a-z])[a-z0-9]+(?:-[a-z0-9]+)+)\b`?"
)
_QUOTED = re.compile(r"[\"“「《*_](?P<quoted>[^\"“”「」《》*_\n]{4,160})[\"”」》*_]")
_BARE = re.compile(
    r"(?i:super[sc]ed(?:es|ed\s+by)|replace(?:s|d\s+by)|obsoletes|obsoleted\s+by|取代|替代|废弃)\s*[:：]?[\s*_]*"
    r"(?P<bare>0\d{1,4}\b(?![-.:/]\d)|\d{1,4}(?=\.\s+[A-Z]|\s*(?:[,;]|$)))"
)
_THIS = re.compile(
    r"\b(?:this|the present|the current)\s+(?:ADR|AgDR|PDR|decision record|decision(?! (?:point|\d))|record|document|"
    r"proposal|note|learning|page|RFC)\b|本\s*(?:ADR|决策|记录|文档|文|提案)|[该此]\s*(?:ADR|决策|记录|文档)|"
    r"这[个条份]\s*(?:ADR|决策|记录|文档)",
    re.I,
)
_DIGITS = re.compile(r"\d{1,5}")


class Name(NamedTuple):
    """One name: what sort of name, and what it says.

    `kind` is link, path, number, slug, title or claim; `value` the target, digits, slug, normalised title or id;
    `words` the visible words.
    """

    kind: str
    value: str
    words: str


class Masked(NamedTuple):
    """A text with each name as one character and gaps; the names in order, several for a character that lists some."""

    text: str
    names: list[tuple[Name, ...]]


def mask(text: str, titles: Collection[str], bare: bool = False) -> Masked:
    """The text with its names masked, offsets kept.

    Args:
        text: one passage.
        titles: normalised titles that name a record; other quoted words are no name.
        bare: whether a number alone, right after the verb, is a name ("Superseded by 5. Keep the queue").
    """
    found: list[tuple[int, int, tuple[Name, ...]]] = []
    for match in _NAMES.finditer(text):
        names = _read(match, titles)
        if names:
            found.append((match.start(), match.end(), names))
    more = [*_quoted(text, titles), *(_bare(text) if bare else ())]
    taken = [(start, end) for start, end, _ in found]
    found += [one for one in more if not any(first < one[1] and one[0] < last for first, last in taken)]
    found.sort()
    plain = _THIS.sub(lambda match: THIS + GAP * (len(match[0]) - 1), text)
    masked: list[str] = []
    at = 0
    for start, end, _ in found:
        masked += [plain[at:start], NAME, GAP * (end - start - 1)]
        at = end
    return Masked("".join([*masked, plain[at:]]), [names for _, _, names in found])


def _quoted(text: str, titles: Collection[str]) -> Iterator[tuple[int, int, tuple[Name, ...]]]:
    for match in _QUOTED.finditer(text) if titles else ():
        title = normalise(match["quoted"])
        if title in titles:
            yield match.start(), match.end(), (Name("title", title, match["quoted"]),)


def _bare(text: str) -> Iterator[tuple[int, int, tuple[Name, ...]]]:
    for match in _BARE.finditer(text):
        yield *match.span("bare"), (Name("number", match["bare"], match["bare"]),)


def _read(match: re.Match[str], titles: Collection[str]) -> tuple[Name, ...]:
    words = " ".join(match[0].split())
    if match["target"] is not None:
        return (Name("link", match["target"], " ".join(match["text"].split())),)
    for group, kind in (("claim", "claim"), ("path", "path"), ("slug", "slug")):
        if match[group] is not None:
            return (Name(kind, match[group], words),)
    inside = match["wiki"] or match["text"]
    if inside is not None:
        return named(inside, titles)
    return tuple(Name("number", digits, words) for digits in _DIGITS.findall(words))


def named(words: str, titles: Collection[str]) -> tuple[Name, ...]:
    """What a value of the frontmatter, or the inside of brackets, names."""
    plain = words.strip().strip("`\"'")
    whole = normalise(plain)
    if whole in titles:
        return (Name("title", whole, plain),)
    if re.fullmatch(r"#?\d{1,5}", plain):
        return (Name("number", plain.lstrip("#"), plain),)
    found = tuple(name for match in _NAMES.finditer(plain) for name in _read(match, titles))
    if found or not re.fullmatch(r"[\w./-]{2,200}", plain):
        return found
    return (Name("slug", plain.rsplit("/", 1)[-1], plain),)
