"""The structure of a Markdown note: frontmatter, title, sections by heading. Offsets are characters of the text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from lorelake.formats.strict_yaml import YamlError, load

_FRONT = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*\r?$\n?", re.DOTALL | re.MULTILINE)
_KEY_LINE = re.compile(r"^[A-Za-z_][\w -]*:(?:[ \t]|\r?$)", re.MULTILINE)
_LINE = re.compile(r"[^\n]*\n?")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})(?=[ \t])")
_SUBTITLE = re.compile(r"\s+[–—-]\s+|[:：]\s*")
_DATED_TAIL = re.compile(r"-\d{4}-\d{2}-\d{2}.*\Z")

SECTIONS: dict[str, str] = {
    "when": "when", "trigger": "when", "problem": "when", "symptom": "when", "背景": "when",
    "do": "do", "what to do": "do", "solution": "do", "fix": "do", "decision": "do", "解决方案": "do",
    "because": "because", "why": "because", "rationale": "because", "root cause": "because", "lesson": "because",
    "lessons": "because", "lessons learned": "because", "经验总结": "because",
    "when not": "not_when", "not when": "not_when", "exceptions": "not_when", "exception": "not_when",
    "counter-arguments": "not_when", "counterarguments": "not_when", "counter arguments": "not_when",
    "rejected": "rejected", "rejected alternatives": "rejected", "alternatives": "rejected",
    "alternatives considered": "rejected", "considered alternatives": "rejected", "considered options": "rejected",
    "self check": "self_check", "self-check": "self_check",
    "status": "status", "context": "context", "consequences": "consequences",
}  # fmt: skip
"""Heading in lower case to the name of its section; teamai's template has the Chinese ones."""


class Heading(NamedTuple):
    """One heading: its level, words, and where its line starts and ends."""

    level: int
    words: str
    start: int
    end: int


def frontmatter(text: str) -> tuple[dict[str, Any], int]:
    """(keys of the YAML frontmatter, where the body starts). No frontmatter is ({}, 0).

    A note may open with a rule and prose; only a block with a `key:` line is frontmatter.

    Raises:
        YamlError: it is one and is not valid YAML, or not a mapping; the line counts in the whole text.
    """
    block = _FRONT.match(text)
    if block is None or (block[1].strip() and not _KEY_LINE.search(block[1])):
        return {}, 0
    try:
        value = load(block[1])
    except YamlError as error:
        raise YamlError(error.what, error.line + 1) from None
    if value is None:
        return {}, block.end()
    if not isinstance(value, dict):
        raise YamlError("the frontmatter is not a list of `key: value` lines", 2)
    return value, block.end()


def body_start(text: str) -> int:
    """Where the body starts, for a text whose frontmatter may no longer be YAML after redaction."""
    block = _FRONT.match(text)
    return block.end() if block and (not block[1].strip() or _KEY_LINE.search(block[1])) else 0


def headings(text: str, start: int = 0) -> Iterator[Heading]:
    """Every `#` heading from `start` on that is not inside a fenced block."""
    fence = ""
    for line in _LINE.finditer(text, start):
        mark = _FENCE.match(line[0])
        if fence:
            if mark and mark[1].startswith(fence) and not line[0].strip().strip(fence[0]):
                fence = ""
        elif mark:
            fence = mark[1]
        elif heading := _HEADING.match(line[0]):
            yield Heading(len(heading[1]), _words(line[0][heading.end() :]), line.start(), line.end())


def _words(rest: str) -> str:
    """A heading's words without the closing hashes, which need a space before them: not those of `C#`."""
    words = rest.strip()
    bare = words.rstrip("#")
    return bare.rstrip() if bare.endswith((" ", "\t")) or not bare else words


def sections(text: str) -> dict[str, tuple[int, int]]:
    """Name to [start, end) of the words below the first heading of that name, its sub-headings included.

    "Decision — the wire format" is a Decision.
    """
    found = list(headings(text, body_start(text)))
    named: dict[str, tuple[int, int]] = {}
    for number, heading in enumerate(found):
        words = heading.words.strip(" *_:：").lower()
        name = SECTIONS.get(words) or SECTIONS.get(_SUBTITLE.split(words, maxsplit=1)[0])
        if name is None or name in named:
            continue
        end = next((after.start for after in found[number + 1 :] if after.level <= heading.level), len(text))
        below = text[heading.end : end]
        if below.strip():
            first = heading.end + len(below) - len(below.lstrip())
            named[name] = (first, first + len(below.strip()))
    return named


def title(text: str, front: dict[str, Any], path: str) -> str:
    """The stated title, else the first heading, else the file's name as teamai reads it."""
    stated = front.get("title")
    if isinstance(stated, str) and stated.strip():
        return stated.strip()
    heading = next((item.words for item in headings(text, body_start(text)) if item.words), None)
    if heading:
        return heading
    name = PurePosixPath(path).stem
    return re.sub(r"[-_]+", " ", _DATED_TAIL.sub("", name) or name).strip()
