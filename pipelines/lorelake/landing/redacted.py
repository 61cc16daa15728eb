"""A transcript as it may leave the machine: decoded, without pictures, redacted, and written out again.

Only what was decoded is delivered. A line that is not JSON cannot be redacted value by value, so it stays behind and
is counted; a last line without its end is the next run's.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

import msgspec

from lorelake.content.blobs import strip_blobs
from lorelake.content.redaction import Redactor, disown
from lorelake.formats import json_text
from lorelake.formats.json_lines import Line, first_objects, read_lines
from lorelake.formats.record import HEAD_BYTES, Member, Refusal

BATCH = 2_000
"""Lines redacted together."""

FEW = 50
"""Lines within which a file of lines has a whole one."""

TORN = "incomplete_tail"

_MARK = re.compile(rb"\[redacted:([a-z0-9_]{1,40}):[0-9a-f]{8}\]")
_JSON_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*[\[{]")


class Redacted(NamedTuple):
    """`data` is what may be delivered, `lines` how many records that is (a document is one), `left_out` what is not in
    it by reason, `marks` how often each kind of value was hidden."""

    data: bytes
    lines: int
    left_out: dict[str, int]
    marks: dict[str, int]
    is_lines: bool


def redacted(name: str, data: bytes, redactor: Redactor) -> Redacted:
    """One file's content, whichever of the shapes transcripts have: JSON lines, one JSON document, or text."""
    if data.startswith(b"SQLite format 3\0"):
        return Redacted(b"", 0, {"unknown_format": 1}, {}, False)
    if not _JSON_START.match(data):
        return _text(data, redactor)
    if not first_objects(data[:HEAD_BYTES]):
        try:
            return _document(json_text.load(data), redactor)
        except json_text.UndecodableError as error:
            if not _has_lines(data):
                return Redacted(b"", 0, {error.reason: 1}, {}, False)
    return _lines(name, data, redactor)


def _has_lines(data: bytes) -> bool:
    """Whether an object stands on a line of its own near the start: the head may end within the first, long line."""
    return any(line.startswith(b"{") and first_objects(line, limit=1) for line in data.split(b"\n", FEW)[:FEW])


def _lines(name: str, data: bytes, redactor: Redactor) -> Redacted:
    left_out: Counter[str] = Counter()
    count = 0
    parts = []

    def values() -> Iterator[Any]:
        for line in read_lines(Member(name, len(data), lambda: io.BytesIO(data))):
            if isinstance(line, Refusal):
                left_out[line.reason] += line.reason not in (TORN, "empty")
            else:
                yield _own(line)

    rest = values()
    while batch := list(islice(rest, BATCH)):
        count += len(batch)
        parts += [msgspec.json.encode(value) + b"\n" for value in redactor.values(batch)]
    whole = b"".join(parts)
    return Redacted(whole, count, dict(+left_out), _marks(whole), True)


def _own(line: Line) -> Any:
    return disown(strip_blobs(line.value))


def _document(value: Any, redactor: Redactor) -> Redacted:
    fault = json_text.fault(value)
    if fault:
        return Redacted(b"", 0, {fault[0]: 1}, {}, False)
    whole = msgspec.json.encode(redactor.values([disown(strip_blobs(value))])[0]) + b"\n"
    return Redacted(whole, 1, {}, _marks(whole), False)


def _text(data: bytes, redactor: Redactor) -> Redacted:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return Redacted(b"", 0, {"not_utf8": 1}, {}, False)
    if not text.strip():
        return Redacted(b"", 0, {}, {}, False)
    whole = str(redactor.values([disown(strip_blobs(text))])[0]).encode()
    return Redacted(whole, 1, {}, _marks(whole), False)


def _marks(data: bytes) -> dict[str, int]:
    return dict(Counter(kind.decode() for kind in _MARK.findall(data)))
