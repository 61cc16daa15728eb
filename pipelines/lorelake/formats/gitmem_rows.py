"""GitMem's rows as they are written: arrays of JSON, and CSV of a table with Postgres' own spelling of lists."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from lorelake.formats.json_text import UndecodableError, load, outline
from lorelake.formats.record import Member, Refusal, digest, refuse

LISTS = frozenset({
    "counter_arguments", "applies_when", "keywords", "domain", "action_protocol", "self_check_criteria", "decisions",
    "open_threads", "alternatives_considered", "personas_involved", "docs_affected", "related_issues",
})  # fmt: skip
"""Columns that hold lists in one of the two stores, whichever way a file spells them."""

_OBJECTS = frozenset({"closing_reflection", "close_compliance", "metadata", "repeat_mistake_details"})
_BOOLS = frozenset({"is_active", "is_starter", "referenced", "execution_successful", "repeat_mistake"})
_TRUTH = {"t": True, "true": True, "f": False, "false": False}
_ITEM = re.compile(r'"((?:[^"\\]|\\.)*)"|([^,{}"\\]+)', re.DOTALL)
_ARRAY = re.compile(r'\{(?:(?:"(?:[^"\\]|\\.)*"|[^,{}"\\]+)(?:,(?:"(?:[^"\\]|\\.)*"|[^,{}"\\]+))*)?\}', re.DOTALL)


class Row(NamedTuple):
    """One row, and which of its file it is, from 1; of CSV the line it ends on."""

    value: Any
    position: int


def columns(member: str, head: bytes) -> frozenset[str]:
    """The names of the first row's fields, from the first bytes of a file."""
    if not member.lower().endswith(".csv"):
        seen = outline(head)
        return frozenset() if seen.lines else seen.keys
    text = head.decode("utf-8", "replace").removeprefix("\ufeff")
    line, end, _ = text.partition("\n")
    try:
        return frozenset(next(csv.reader([line.rstrip("\r")]), ())) if end else frozenset()
    except csv.Error:
        return frozenset()


def rows(member: Member) -> Iterator[Row | Refusal]:
    """Every row of a file. A file that cannot be read at all is one Refusal."""
    raw = member.read()
    if member.name.lower().endswith(".csv"):
        yield from _csv(member.name, raw)
        return
    try:
        value = load(raw)
    except UndecodableError as error:
        yield refuse(member.name, raw, error.reason, error.detail)
        return
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list):
        yield refuse(member.name, raw, "wrong_shape", "neither an array of rows nor one row")
        return
    for position, row in enumerate(value, 1):
        yield Row(_plain(row, spelled=False), position)


def _csv(name: str, raw: bytes) -> Iterator[Row | Refusal]:
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        yield refuse(name, raw, "not_utf8", f"byte {error.start} is not UTF-8")
        return
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] = []
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            yield refuse(name, raw, "wrong_shape", f"not CSV from here on: {error}", reader.line_num)
            return
        if cells is None:
            return
        if not header:
            header = cells
        elif len(cells) != len(header):
            told = json.dumps(cells, ensure_ascii=False).encode("utf-8", "replace")
            why = f"{len(cells)} values for {len(header)} columns"
            yield refuse(name, told, "wrong_shape", why, reader.line_num)
        else:
            yield Row(_plain(dict(zip(header, cells, strict=True)), spelled=True), reader.line_num)


def _plain(row: Any, spelled: bool) -> Any:
    """A row without nothings and without its vector. `spelled`: every value is text, as in CSV."""
    if not isinstance(row, Mapping):
        return row
    found: dict[str, Any] = {}
    for name, value in row.items():
        if value is None or value == "":
            continue
        if name == "embedding":
            found[name] = {"blob": {"type": "vector", "sha256": digest(str(value))}}
        elif spelled or (name in LISTS and isinstance(value, str)):
            found[name] = _spelled(name, str(value))
        else:
            found[name] = value
    return found


def _spelled(name: str, text: str) -> Any:
    if name in LISTS and (text[:1], text[-1:]) in (("{", "}"), ("[", "]")):
        return _list(text)
    if name in _BOOLS:
        return _TRUTH.get(text.lower(), text)
    if name in _OBJECTS:
        try:
            return json.loads(text, parse_constant=str)
        except (ValueError, RecursionError):
            return text
    return text


def _list(text: str) -> Any:
    """A list in JSON or in Postgres' spelling; text that is neither stays as it is."""
    if text.startswith("["):
        try:
            found = json.loads(text, parse_constant=str)
        except (ValueError, RecursionError):
            return text
        return found if isinstance(found, list) else text
    if not _ARRAY.fullmatch(text):
        return text
    items = []
    for item in _ITEM.finditer(text):
        if item[1] is not None:
            items.append(re.sub(r"\\(.)", r"\1", item[1], flags=re.DOTALL))
        elif item[2].strip().upper() != "NULL":
            items.append(item[2].strip())
    return items
