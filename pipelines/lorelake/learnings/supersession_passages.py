"""A document cut into the passages in which a sentence stands: list entries, table rows, paragraphs, heading lines.

Offsets are characters of the text. Fenced code, HTML comments (a template's advice) and struck-through words say
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

STATUS = "status"
BODY = "body"

_LINE = re.compile(r"[^\n]*\n?")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_ITEM = re.compile(r"[ \t>]*(?:[-*+]|\d{1,3}[.)])[ \t]+")
_ROW = re.compile(r"[ \t]*\|")
_RULE = re.compile(r"[ \t|:=*_-]+$")
_KEY = re.compile(r"[ \t>]*[*_]*(?:[A-Z][\w /-]{1,30}|[\u4e00-\u9fff]{2,8})[*_]*[ \t]*[:：]")
_UNSAID = re.compile(r"<!--.*?(?:-->|\Z)|~~[^~\n]{1,400}~~", re.S)
_OF_THE_RECORD = re.compile(
    r"(?:\d+[.)]?\s*)?(?:status|links?\b|related|references?\b|see also|more information|history|change ?log|"
    r"amendments?|revisions?|super[sc]ed|replace[sd]|obsolet|deprecat|状态|关联|相关|链接|参考|变更|历史|取代|替代)",
    re.I,
)
_ABOUT_STATUS = re.compile(r"[\s>*_+-]*(?:status(?: note)?|update|状态)\b[^:：\n]{0,40}[:：]", re.I)


class Passage(NamedTuple):
    """One passage: [start, end), where it speaks from, and the heading above it.

    `zone` is `status` where the record speaks about itself (its head, its status, its links), else `body`.
    """

    start: int
    end: int
    zone: str
    heading: str
    is_item: bool
    is_heading: bool


def said(text: str) -> str:
    """The text with what is not said blanked out, offsets kept."""
    return _UNSAID.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def passages(text: str, start: int = 0) -> Iterator[Passage]:
    """The passages of a text from `start` on, in order. `text` as `said` gives it."""
    where = _Where()
    opened: list[int] = []
    for line, first, last in _lines(text, start):
        heading = _HEADING.match(line)
        if opened and (heading or not line.strip() or _opens(line)):
            yield where.passage(text, opened[0], opened[1])
            opened = []
        if heading:
            where.enter(len(heading[1]), heading[2].strip(" #\t"))
            yield where.passage(text, first + heading.start(2), last, is_heading=True)
        elif line.strip() and not _RULE.match(line.strip()):
            opened = [opened[0] if opened else first, last]
    if opened:
        yield where.passage(text, opened[0], opened[1])


def _opens(line: str) -> bool:
    """Whether a line begins a passage of its own though no empty line stands before it."""
    return bool(_ITEM.match(line) or _ROW.match(line) or _KEY.match(line))


def _lines(text: str, start: int) -> Iterator[tuple[str, int, int]]:
    """Each line outside fenced code with its [start, end); a fence itself counts as an empty line."""
    fence = ""
    for line in _LINE.finditer(text, start):
        mark = _FENCE.match(line[0])
        if fence:
            fence = "" if mark and mark[1].startswith(fence) else fence
        elif mark:
            fence = mark[1]
            yield "", line.start(), line.end()
        elif line[0]:
            yield line[0], line.start(), line.end()


class _Where:
    """The section one reads in."""

    def __init__(self) -> None:
        self.zone, self.heading = STATUS, ""
        self.level = 0
        self.is_titled = False

    def enter(self, level: int, words: str) -> None:
        """A heading was met. What follows the title is the record's head."""
        self.heading = words
        if level == 1 and not self.is_titled:
            self.is_titled = True
            return
        if self.zone == BODY or level <= self.level or not self.level:
            self.zone = STATUS if _OF_THE_RECORD.match(words) else BODY
            self.level = level

    def passage(self, text: str, start: int, end: int, is_heading: bool = False) -> Passage:
        words = text[start:end]
        zone = STATUS if _ABOUT_STATUS.match(words) else self.zone
        is_item = bool(_ITEM.match(words) or _ROW.match(words))
        return Passage(start, start + len(words.rstrip()), zone, self.heading, is_item, is_heading)
