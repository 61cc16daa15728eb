"""JSON that a command wrote to a file: one document, several in a row, or a list that was cut.

`gh api --paginate` writes one list a page without a word between them, `--jq '.[]'` one object a line, and a download
that broke off leaves a list without its end. What is whole is kept; the rest is told of once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from lorelake.formats.json_text import UndecodableError, load
from lorelake.formats.record import Member, Refusal, refuse

_GAP = re.compile(r"[\s,]*")
_BAD_BYTES = re.compile("[\udc80-\udcff]")
_SCANNER = json.JSONDecoder()


class Document(msgspec.Struct, frozen=True):
    """One decoded value: the whole file, one of several documents, or one element of a cut list."""

    value: Any


def documents(member: Member) -> Iterator[Document | Refusal]:
    """Every whole JSON value of a member, and one Refusal for what is left."""
    data = member.read()
    try:
        yield Document(load(data))
    except UndecodableError as error:
        if error.reason == "empty":
            yield refuse(member.name, data, error.reason, error.detail)
        else:
            yield from _pieces(member.name, data, error)


def _pieces(name: str, data: bytes, whole: UndecodableError) -> Iterator[Document | Refusal]:
    text = data.decode("utf-8", "surrogateescape").removeprefix("\ufeff")
    position, inside = _after_gap(text, 0), False
    while position < len(text):
        if inside and text[position] == "]":
            position, inside = _after_gap(text, position + 1), False
            continue
        value, end = _value_at(text, position)
        listed = isinstance(value, list) and not inside
        if (end is None or listed) and text[position] == "[" and not inside:
            position, inside = _after_gap(text, position + 1), True
            continue
        piece = text[position : end or len(text)]
        if end is None or _BAD_BYTES.search(piece):
            bad = bool(_BAD_BYTES.search(piece))
            yield _refusal(name, text, position, piece, "not_utf8" if bad else "not_json", whole)
        else:
            yield Document(value)
        position = _after_gap(text, end or len(text))


def _value_at(text: str, position: int) -> tuple[Any, int | None]:
    try:
        return _SCANNER.raw_decode(text, position)
    except (ValueError, RecursionError):
        return None, None


def _after_gap(text: str, position: int) -> int:
    found = _GAP.match(text, position)
    return found.end() if found else position


def _refusal(name: str, text: str, position: int, piece: str, reason: str, whole: UndecodableError) -> Refusal:
    offset = len(text[:position].encode("utf-8", "surrogateescape"))
    detail = whole.detail if whole.reason == reason else f"what is left from byte {offset} on is no whole JSON value"
    return refuse(name, piece.encode("utf-8", "surrogateescape"), reason, detail, offset=offset)
