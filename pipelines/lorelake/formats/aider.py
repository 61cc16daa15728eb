"""Aider's `.aider.chat.history.md`: one Markdown file to which every launch in a repository appends.

    # aider chat started at 2026-03-02 09:00:00       opens a session; the machine's local time, without a zone
    #### words of the user                            each line of a prompt, ending in two spaces
    > what aider itself said                          ending in two spaces
    anything else                                     the model, once there was a prompt

Nothing has an id or a time of its own, and no folder is named. A session is known by its start and the first line of
its first prompt, which is whole when anything follows it. Within it the file only grows, so a block is known by its
place: of two captures the longer says what stood there.

Aider ends its own lines with two spaces, and models hardly ever do; so a heading or quote in an answer is not taken
for a prompt or a message of aider's. Where an editor has stripped them from a whole session, only what follows a
message of aider's is taken for a prompt. Sessions left at once give a `session` record and nothing else.

This module decodes and names; what the blocks mean is in `aider_events`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from lorelake.formats.aider_events import AGENT, SESSION, events
from lorelake.formats.record import Capture, Member, Record, Refusal, Unit, UnitFacts, digest, refuse
from lorelake.formats.transcripts import stated_time

__all__ = ["NAME", "SEEN", "events", "facts", "read", "sniff"]

NAME = "aider"
SEEN = "the writer read in Aider's source (0.86); published histories of 0.12, 0.83 and 0.86"

MAX_LINE_BYTES = 16 * 1024 * 1024
MAX_SESSION_BYTES = 128 * 1024 * 1024
"""A longer line or session is refused whole; sessions are held one at a time."""

_NAME = ".aider.chat.history.md"
_START = re.compile(rb"# aider chat started at (?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) *")
_HEAD = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*# aider chat started at \d{4}-\d\d-\d\d")
_USER = re.compile(rb"####(?: (?P<words>.*))?", re.DOTALL)
_TOOL = re.compile(rb">(?: (?P<words>.*))?", re.DOTALL)
_BREAK = b"  "


class _Line(NamedTuple):
    """One line without its end: number from 1, byte offset, and whether it has an end."""

    number: int
    offset: int
    raw: bytes
    whole: bool


class _Block(NamedTuple):
    """Lines of one speaker: `user`, `tool` or `assistant`."""

    kind: str
    first: _Line
    words: list[bytes]


def sniff(member: str, head: bytes) -> bool:
    """Whether the file opens with a session of aider's. A history whose beginning was cut off has its name alone."""
    return _HEAD.match(head) is not None or (PurePosixPath(member).name == _NAME and b"\x00" not in head)


def read(capture: Capture) -> Iterator[Record | Refusal]:
    """One `session` record for each launch, and one Record or Refusal for each block of its text."""
    for member in capture.members:
        anything = False
        for lines, size in _launches(_lines(member)):
            anything = True
            if size > MAX_SESSION_BYTES:
                detail = f"a session of more than {MAX_SESSION_BYTES} bytes"
                yield refuse(member.name, lines[0].raw, "too_large", detail, lines[0].number, lines[0].offset)
            else:
                yield from _launch(member, lines)
        if not anything:
            yield refuse(member.name, b"", "empty", "the file holds no text")


def _lines(member: Member) -> Iterator[_Line]:
    number = offset = 0
    with member.open() as stream:
        while raw := stream.readline(MAX_LINE_BYTES + 1):
            number += 1
            text = raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw
            whole = text.endswith(b"\n") or len(raw) > MAX_LINE_BYTES
            yield _Line(number, offset + len(raw) - len(text), text.rstrip(b"\r\n"), whole)
            offset += len(raw)


def _launches(lines: Iterable[_Line]) -> Iterator[tuple[list[_Line], int]]:
    """The lines of each session with their size; what stands before the first one comes first.

    A start counts with a blank line below it; above it a killed aider may have left half a line. Of a session past
    the limit no more than that is kept.
    """
    current: list[_Line] = []
    size = 0
    waiting: _Line | None = None
    for line in lines:
        if waiting is not None:
            if not line.raw.strip():
                yield from _any(current, size)
                current, size = [], 0
            size = _more(current, size, waiting)
            waiting = None
        if _START.fullmatch(line.raw) and line.whole:
            waiting = line
        else:
            size = _more(current, size, line)
    if waiting is not None:
        yield from _any(current, size)
        current, size = [waiting], 0
    yield from _any(current, size)


def _any(lines: list[_Line], size: int) -> Iterator[tuple[list[_Line], int]]:
    if any(line.raw.strip() for line in lines):
        yield lines, size


def _more(current: list[_Line], size: int, line: _Line) -> int:
    size += len(line.raw) + 1
    if size <= MAX_SESSION_BYTES or not current:
        current.append(line)
    return size


def _launch(member: Member, lines: list[_Line]) -> Iterator[Record | Refusal]:
    start = _START.fullmatch(lines[0].raw)
    if start is None:
        first = next(line for line in lines if line.raw.strip())
        detail = "text before the first `# aider chat started at`"
        yield refuse(member.name, first.raw, "no_unit", detail, first.number, first.offset)
        return
    body = [line for line in lines[1:] if line.whole]
    blocks = list(_blocks(body))
    prompt = next((block.words[0] for block in blocks if block.kind == "user"), b"")
    told = start["time"].decode("ascii")
    ts, _, _ = stated_time(told)
    unit = digest(told, prompt.decode("utf-8", "replace").strip())[:32]
    if ts is None:
        detail = f"started at {told!r}"
        yield refuse(member.name, lines[0].raw, "bad_time", detail, lines[0].number, lines[0].offset)
    else:
        yield Record(unit, f"{unit}:session", SESSION, ts, {"started": told}, member.name, lines[0].number, True)
    for position, block in enumerate(blocks):
        raw = b"\n".join(block.words)
        try:
            value = {"position": position, "text": raw.decode("utf-8").strip("\n")}
        except UnicodeDecodeError as error:
            detail = f"{error.reason} at byte {error.start} of the block"
            yield refuse(member.name, raw, "not_utf8", detail, block.first.number, block.first.offset)
            continue
        record_id = f"{unit}:{position:06d}"
        yield Record(unit, record_id, block.kind, ts, value, member.name, block.first.number, True)
    if not lines[-1].whole:
        # Aider may be writing it; a prompt cut short could say the opposite of itself.
        torn = lines[-1]
        yield refuse(member.name, torn.raw, "incomplete_tail", "the last line has no end", torn.number, torn.offset)


def _blocks(lines: list[_Line]) -> Iterator[_Block]:
    """Runs of lines of one speaker. A prompt that follows another at once is told apart by the blank line between."""
    strict = _is_strict(lines)
    prompted = False
    current: _Block | None = None
    before = b""
    for line in lines:
        kind, words = _speaker(line.raw, strict, before, current)
        if kind == "assistant" and not prompted:
            # No model spoke yet: this is the rest of what aider echoed of its own command line.
            kind = "tool"
        if kind == "assistant" and not words.strip() and (current is None or current.kind != "assistant"):
            before = line.raw
            continue
        if current is None or current.kind != kind or (kind == "user" and not before.strip()):
            if current is not None and any(word.strip() for word in current.words):
                yield current
            current = _Block(kind, line, [])
        prompted = prompted or kind == "user"
        current.words.append(words)
        before = line.raw
    if current is not None and any(word.strip() for word in current.words):
        yield current


def _is_strict(lines: list[_Line]) -> bool:
    """Whether aider's two spaces are still there: it announces itself before anybody speaks."""
    return any(line.raw.startswith((b"####", b"> ")) and line.raw.endswith(_BREAK) for line in lines)


def _speaker(raw: bytes, strict: bool, before: bytes, current: _Block | None) -> tuple[str, bytes]:
    if (user := _USER.fullmatch(raw)) is not None:
        speaker = current.kind if current is not None else "tool"
        goes_on = speaker == "user" and bool(before.strip())
        opens = not before.strip() and (strict or speaker == "tool")
        if (goes_on or opens) and (raw.endswith(_BREAK) or not strict):
            return "user", (user["words"] or b"").removesuffix(_BREAK)
    if (tool := _TOOL.fullmatch(raw)) is not None and (raw.endswith(_BREAK) or not strict):
        return "tool", (tool["words"] or b"").removesuffix(_BREAK)
    return "assistant", raw


def facts(unit: Unit) -> UnitFacts:
    """A session of aider's; the history names neither folder, remote, branch nor person."""
    return UnitFacts("session", agent=AGENT)
