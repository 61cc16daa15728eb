"""One whole JSON document in, decoded value or reason out; and what its first bytes tell without decoding it.

The strict decoder goes first. Where it fails, a lenient one reads the document anyway if it can, so that one
record with `NaN` or half a surrogate pair is refused alone and its neighbours are kept.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from lorelake.formats.json_lines import MAX_DEPTH, _deeper_than
from lorelake.formats.record import Refusal, canonical, refuse

_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)(?:"|$)|[{}\[\]:]', re.DOTALL)


class UndecodableError(ValueError):
    """A document that cannot be read as JSON at all; `reason` is a code of `record.REASONS`."""

    def __init__(self, reason: str, detail: str) -> None:
        self.reason, self.detail = reason, detail
        super().__init__(detail)


def load(data: bytes) -> Any:
    """Decode one document.

    Raises:
        UndecodableError: empty, not_utf8 or not_json, with the place.
    """
    if not data.strip():
        raise UndecodableError("empty", "the file is empty")
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _load_leniently(data)


def _load_leniently(data: bytes) -> Any:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UndecodableError("not_utf8", f"byte {error.start} is not UTF-8") from None
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise UndecodableError("not_json", f"line {error.lineno}, column {error.colno}: {error.msg}") from None
    except RecursionError:
        raise UndecodableError("not_json", "nested too deeply") from None
    except ValueError as error:
        raise UndecodableError("not_json", str(error)) from None


def fault(value: Any) -> tuple[str, str] | None:
    """Why a decoded record cannot be stored, as (reason, detail); None if it can."""
    try:
        canonical(value).encode("utf-8")
    except UnicodeEncodeError:
        return "lone_surrogate", "holds half a surrogate pair"
    except ValueError:
        return "not_json", "holds NaN or Infinity, which JSON does not have"
    except RecursionError:
        return "wrong_shape", f"nested more than {MAX_DEPTH} levels deep"
    if isinstance(value, dict | list) and _deeper_than(value, MAX_DEPTH):
        return "wrong_shape", f"nested more than {MAX_DEPTH} levels deep"
    return None


def refuse_value(member: str, value: Any, reason: str, detail: str, position: int, private: bool = False) -> Refusal:
    """A Refusal of one decoded record.

    Args:
        position: which record of the member it is, from 1; stands where a line number would.
        private: leave the first characters out.
    """
    try:
        raw = json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":")).encode("ascii")
    except RecursionError:  # the decoder gets a few levels deeper than the encoder
        raw = f"{member}:{position}".encode("utf-8", "surrogatepass")
    refusal = refuse(member, raw, reason, detail, position)
    if private:
        refusal.head = ""
    return refusal


class Outline(msgspec.Struct, frozen=True):
    """What the first bytes of a document show: a list or not, keys of its first object, and whether it is lines."""

    listed: bool = False
    keys: frozenset[str] = frozenset()
    lines: bool = False


def outline(head: bytes) -> Outline:
    """Read the outline off the first bytes, which may end anywhere."""
    text = head.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    if text[:1] not in ("[", "{"):
        return Outline()
    listed = text[0] == "["
    wanted, depth = (2 if listed else 1), 0
    keys: set[str] = set()
    name: str | None = None
    for token in _TOKEN.finditer(text):
        mark = token[0][0]
        if mark == '"':
            name = token[1] if depth == wanted else None
            continue
        if mark == ":" and depth == wanted and name is not None:
            keys.add(name)
        depth += (mark in "{[") - (mark in "}]")
        name = None
        if mark in "}]" and depth < wanted:
            rest = text[token.end() :].lstrip()
            return Outline(listed, frozenset(keys), not listed and rest.startswith("{"))
    return Outline(listed, frozenset(keys))
