"""Files with one JSON object a line, read as bytes so that one bad line costs one line.

Real files hold torn last lines (the agent is still writing), two objects on one line, half a surrogate pair,
NUL padding after a crash, and lines of many megabytes. polars and duckdb either refuse such a file whole or
turn the bad line into an empty row without a reason, so the lines are split and judged here.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

import msgspec

from lorelake.formats.record import Member, Refusal, refuse

MAX_LINE_BYTES = 256 * 1024 * 1024
"""The longest line that is decoded; a longer one is refused as `too_large` without being held in memory."""

MAX_DEPTH = 200
"""The deepest nesting that is let through, so that everything after may recurse over a value."""

_BOM = b"\xef\xbb\xbf"
_BLANK = b" \t\r\n"
_GAP = re.compile(r"[ \t\r]*")


class Line(msgspec.Struct, frozen=True):
    """One decoded JSON object.

    `line` counts from 1, `offset` is where the object starts in bytes; two objects on one line share the line
    and differ in offset. `raw` are exactly the object's bytes.
    """

    value: dict[str, Any]
    raw: bytes
    line: int
    offset: int


class _BadJSONError(Exception):
    """Why a piece of text is no record: a code of `record.REASONS` and words."""

    def __init__(self, reason: str, detail: str) -> None:
        self.reason, self.detail = reason, detail
        super().__init__(detail)


def read_lines(member: Member) -> Iterator[Line | Refusal]:
    """Every JSON object of a member, in file order, and a Refusal for each line or rest of a line that is none.

    Blank lines are no records. A last line without a line end is a record if it is whole, else it is refused
    as `incomplete_tail`, to be read again when the file has grown.
    """
    blank = True
    with member.open() as stream:
        for number, offset, raw in _raw_lines(stream):
            blank = blank and not raw.strip(_BLANK)
            if len(raw) > MAX_LINE_BYTES:
                yield _too_large(stream, member, number, offset, raw)
                continue
            yield from _decode_line(member.name, number, offset, raw)
    if blank:
        yield refuse(member.name, b"", "empty", "the file holds no line")


def first_objects(head: bytes, limit: int = 8) -> list[dict[str, Any]]:
    """The first whole JSON objects of a file's head, for `sniff`; the cut last line is left out."""
    found: list[dict[str, Any]] = []
    for raw in head.removeprefix(_BOM).split(b"\n"):
        found.extend(piece.value for piece in _decode_line("", 0, 0, raw) if isinstance(piece, Line))
        if len(found) >= limit:
            break
    return found[:limit]


def objects_holding(member: Member, words: bytes) -> Iterator[dict[str, Any]]:
    """The objects of the lines that hold some bytes: a first look for what decides how a file is read."""
    with member.open() as stream:
        for number, offset, raw in _raw_lines(stream):
            if words in raw and len(raw) <= MAX_LINE_BYTES:
                found = _decode_line(member.name, number, offset, raw)
                yield from (piece.value for piece in found if isinstance(piece, Line))


def _raw_lines(stream: BinaryIO) -> Iterator[tuple[int, int, bytes]]:
    """(line number, byte offset, bytes with line end); of an overlong line only the first MAX_LINE_BYTES + 1."""
    number = offset = 0
    while raw := stream.readline(MAX_LINE_BYTES + 1):
        number += 1
        if number == 1 and raw.startswith(_BOM):
            offset, raw = len(_BOM), raw[len(_BOM) :]
        yield number, offset, raw
        offset = stream.tell() if len(raw) > MAX_LINE_BYTES else offset + len(raw)


def _too_large(stream: BinaryIO, member: Member, number: int, offset: int, raw: bytes) -> Refusal:
    """Walk past an overlong line, hashing it piece by piece."""
    seen, size = hashlib.sha256(raw), len(raw)
    piece = raw
    while piece and not piece.endswith(b"\n"):
        piece = stream.readline(1 << 20)
        seen.update(piece)
        size += len(piece)
    detail = f"a line of {size} bytes; the limit is {MAX_LINE_BYTES}"
    refusal = refuse(member.name, raw[:800], "too_large", detail, number, offset)
    refusal.sha256 = seen.hexdigest()
    return refusal


def _decode_line(name: str, number: int, offset: int, raw: bytes) -> Iterator[Line | Refusal]:
    whole = raw.endswith(b"\n")
    body = raw.strip(_BLANK)
    if not body:
        return
    offset += raw.index(body[:1])
    stripped = body.strip(b"\0")
    if stripped != body:
        # A machine that lost power leaves a run of NULs where the file system had promised bytes; what the
        # agent appended after its restart follows on the same line.
        yield refuse(name, body, "not_json", f"{len(body) - len(stripped)} NUL bytes around the text", number, offset)
        offset += len(body) - len(body.lstrip(b"\0"))
        body = stripped
        if not body:
            return
    try:
        yield Line(_object(body), body, number, offset)
    except _BadJSONError as fault:
        yield from _pieces(name, number, offset, body, whole, fault)


def _pieces(
    name: str, number: int, offset: int, body: bytes, whole: bool, fault: _BadJSONError
) -> Iterator[Line | Refusal]:
    """What can be saved of a line that is not one JSON object: whole objects first, then one refusal."""
    text = body.decode("utf-8", "surrogateescape")
    position = place = 0
    while position < len(text):
        end = _end_of_object(text, position)
        if end is None:
            rest = body[place:]
            fault = _fault_of(rest) if place else fault
            reason = "incomplete_tail" if not whole and _is_torn(rest, fault) else fault.reason
            yield refuse(name, rest, reason, fault.detail, number, offset + place)
            return
        piece = text[position:end].encode("utf-8", "surrogateescape")
        try:
            yield Line(_object(piece), piece, number, offset + place)
        except _BadJSONError as piece_fault:
            yield refuse(name, piece, piece_fault.reason, piece_fault.detail, number, offset + place)
        gap = _GAP.match(text, end)
        position = gap.end() if gap else end
        place += len(piece) + position - end


def _object(body: bytes) -> dict[str, Any]:
    """Decode one object.

    Raises:
        _BadJSONError: with the reason code.
    """
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, msgspec.ValidationError, RecursionError) as error:
        raise _why(body, str(error)) from None
    if not isinstance(value, dict):
        raise _BadJSONError("wrong_shape", f"a JSON {type(value).__name__} where an object should be")
    if body.count(b"{") + body.count(b"[") > MAX_DEPTH and _deeper_than(value, MAX_DEPTH):
        raise _BadJSONError("wrong_shape", f"nested more than {MAX_DEPTH} levels deep")
    return value


def _deeper_than(value: Any, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        level = [
            child
            for item in level
            for child in (item.values() if isinstance(item, dict) else item)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True


def _fault_of(body: bytes) -> _BadJSONError:
    try:
        _object(body)
    except _BadJSONError as fault:
        return fault
    return _BadJSONError("not_json", "trailing characters")


def _why(body: bytes, message: str) -> _BadJSONError:
    """Which of the reason codes fits bytes that the decoder refused."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        return _BadJSONError("not_utf8", f"{error.reason} at byte {error.start} of the line")
    # msgspec calls half a surrogate pair truncated input; the standard library lets it through, so what it
    # decoded is asked whether it can be written again.
    try:
        json.dumps(json.loads(text), ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return _BadJSONError("lone_surrogate", "a \\ud800-\\udfff escape without its partner")
    except (ValueError, RecursionError):
        pass
    return _BadJSONError("not_json", message)


def _is_torn(rest: bytes, fault: _BadJSONError) -> bool:
    """Whether a last line without a line end was cut, rather than whole and wrong."""
    if fault.reason == "not_utf8":
        try:
            rest.decode("utf-8")
        except UnicodeDecodeError as error:
            return error.reason == "unexpected end of data"
    return fault.reason == "not_json"


_SCANNER = json.JSONDecoder()


def _end_of_object(text: str, start: int) -> int | None:
    """Where the JSON object that starts at `start` ends, or None if none stands there whole."""
    if not text.startswith("{", start):
        return None
    try:
        return _SCANNER.raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        return None
