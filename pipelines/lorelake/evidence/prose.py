"""Which characters of a text are its author's own words, and where its sentences lie.

Quoted code, pasted logs, plans and documents, quotations of others and injected tags are not the author's words.
They are blanked, character for character, so that every offset still points into the text as stored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

LONGEST_MESSAGE = 20_000
_BLANKED = (
    re.compile(r"```.*?(?:```|\Z)", re.S),
    re.compile(r"<!--.*?(?:-->|\Z)", re.S),
    re.compile(r"<([a-z][\w-]*)\b[^<>]*>.{0,4000}?</\1>", re.S),
    re.compile(r"^[ \t]*(?:>|&gt;).*$", re.M),
    re.compile(r"^[ \t]*\|.*$", re.M),
    re.compile(r"https?://\S+"),
)
_QUOTATION = re.compile(r"\"[^\"\n]{12,1200}\"|“[^”\n]{12,1200}”")
_FEWEST_QUOTED_WORDS = 4
_NO_PROSE = (_BLANKED[0], _BLANKED[1], _BLANKED[3], _BLANKED[4])
_PLAN = re.compile(r"\bimplement (?:the |this )?following (?:plan|spec|specification|design)\b", re.I)
_INTRODUCTION = re.compile(
    r"\b(?:feedback|error|errors|logs?|output|message|comments?|stack ?trace|traceback|issue|diff|spec|plan|transcript"
    r"|review|warning|this used to be[^:\n]*|following|报错|日志|输出)\b[^:：\n]{0,80}[:：][ \t]*(?=\n)",
    re.I,
)
_HEADING = re.compile(r"^#{1,4} \S", re.M)
_DOCUMENT_HEADINGS = 2
_LOG_LINE = re.compile(
    r"""^(?:
        [ \t]*(?:\$|%|\#|>>>|\.\.\.|\+\+\+|---|@@|at\s+\S.*\(\S+:\d+|File\s"|goroutine\s|Traceback\b|E\s{2,})\s?.*
      | [ \t]*\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*
      | [ \t]*(?:\w+\.)*\w*(?:Error|Exception|Warning|FAIL|PANIC|fatal|error)\b[^\s]*:.*
      | .*\b(?:level|ts|msg)=\S+.*
      | [ \t]*[│⨯•✗✓×].*
      | .*[=()].*;\s*$
      | .*\{\s*$
      | \s*[})\]]+[;,)]*\s*$
      | [ \t]*(?:func|def|class|import|from|return|const|var|package)\s+[\w("'{.*].*[({:;,]\s*$
      | (?:\t|[ ]{4,})\S.*:=.*
    )$""",
    re.M | re.X,
)
_MESSAGE_END = re.compile(r"(?:[.!?]+[\"')\]]*(?=\s|$))|[。！？]+|\n+")
_DOCUMENT_END = re.compile(
    r"(?:[.!?]+[\"')\]*_]*(?=\s|$))|[。！？]+|\n[ \t]*\n\s*|\n(?=[ \t]*(?:[-*+•][ \t]|\d{1,2}[.)][ \t]|#{1,6}[ \t]))"
)
_BULLET = re.compile(r"\s*(?:[-*•]\s+|\(?\d{1,2}[.)]\s+|\[[ x]\]\s+)?")
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf|approx|no)\.$", re.I)
_INDENT = 12
_LIST_NUMBER = re.compile(r"\s*\(?\d{1,2}[.)]")
_CLAUSE = re.compile(
    r"\s+[-–—]+\s+|;\s+|\s*[,，]?\s+(?=because\b|since (?:we|it|they)\b|so that\b)|,\s+(?=since\b|otherwise\b)"
    r"|，(?=因为|否则)"
)


class Sentence(msgspec.Struct, frozen=True):
    """One sentence: `text` as stored at `start:end`, `own` the same with what is not the author's blanked."""

    start: int
    end: int
    text: str
    own: str

    @property
    def is_question(self) -> bool:
        """Whether it ends with a question mark."""
        return self.text.rstrip("\"')]} ").endswith(("?", "？"))


def own_words(text: str) -> str:
    """The text with everything that is not its author's own words blanked. Same length, same line ends.

    What follows the first `LONGEST_MESSAGE` characters was pasted, not typed.
    """
    cut = min(len(text), LONGEST_MESSAGE)
    plan = _PLAN.search(text)
    if plan:
        cut = min(cut, text.rfind("\n", 0, plan.start()) + 1)
    introduced = _INTRODUCTION.search(text)
    if introduced:
        cut = min(cut, introduced.end())
    headings = list(_HEADING.finditer(text))
    if len(headings) >= _DOCUMENT_HEADINGS:
        cut = min(cut, headings[0].start())
    kept = text[:cut]
    for pattern in _BLANKED:
        kept = pattern.sub(lambda match: _blank(match[0]), kept)
    kept = _QUOTATION.sub(_blank_if_others, kept)
    return _LOG_LINE.sub(lambda match: _blank(match[0]), kept) + _blank(text[cut:])


def _blank_if_others(quotation: re.Match[str]) -> str:
    """A quoted name or value belongs to the sentence; several quoted words are somebody else's."""
    return _blank(quotation[0]) if len(quotation[0].split()) >= _FEWEST_QUOTED_WORDS else quotation[0]


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def sentences(text: str) -> list[Sentence]:
    """The sentences of a message that hold a word of the author's own, in order, without bullets and outer space.

    A line end is a sentence end, unless a hard-wrapped line goes on in lower case.
    """
    return _found(text, own_words(text), 0, len(text), _MESSAGE_END)


def document_sentences(text: str, start: int, end: int) -> list[Sentence]:
    """The sentences of a passage of a Markdown document, code, tables and quotations left out.

    A line end inside a paragraph is a space; an empty line, a list item and a heading begin a new sentence.
    """
    own = text[start:end]
    for pattern in _NO_PROSE:
        own = pattern.sub(lambda match: _blank(match[0]), own)
    return _found(text, text[:start] + own, start, end, _DOCUMENT_END)


def _found(text: str, own: str, start: int, end: int, ends: re.Pattern[str]) -> list[Sentence]:
    found = []
    for first, last in _spans(own, start, end, ends):
        bullet = _BULLET.match(own, first, last)
        first = bullet.end() if bullet else first
        while last > first and own[last - 1].isspace():
            last -= 1
        while first < last and own[first].isspace():
            first += 1
        if any(character.isalnum() for character in own[first:last]):
            found.append(Sentence(first, last, text[first:last], own[first:last]))
    return found


def _spans(own: str, start: int, end: int, ends: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    for match in ends.finditer(own, start, end):
        if _ABBREVIATION.search(own, start, match.end()) or _LIST_NUMBER.fullmatch(own, start, match.end()):
            continue
        if ends is _MESSAGE_END and match[0] == "\n" and _goes_on(own, start, match):
            continue
        yield start, match.end()
        start = match.end()
    yield start, end


def _goes_on(own: str, start: int, line_end: re.Match[str]) -> bool:
    after = own[line_end.end() : line_end.end() + _INDENT].lstrip(" \t")
    return after[:1].islower() and bool(own[start : line_end.start()].strip())


def clauses(sentence: str) -> list[str]:
    """A sentence cut at spaced dashes, semicolons and reason words; the reason word stays with its clause."""
    return [part.strip(" ,，") for part in _CLAUSE.split(sentence) if part.strip(" ,，")]
