"""Gemini CLI chats: `~/.gemini/tmp/<project>/chats/session-<time>-<id>.json`, a JSON document that is rewritten whole.

{sessionId, projectHash, startTime, lastUpdated, messages[{id, timestamp, type, content, ...}]}: a message is a record,
what stands around the messages is one more. Later versions append lines instead: the head of the document, then a
message a line, written again as it grows, `$set` (the head changed) and `$rewindTo` (messages were taken back); the
files of sub-agents lie in a folder named after their session. Names tell the two apart wrongly, so content does.

This module decodes and names; what the records mean is in `gemini_cli_events`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgspec

from lorelake.formats.gemini_cli_events import events, facts
from lorelake.formats.json_lines import Line, first_objects, objects_holding, read_lines
from lorelake.formats.json_text import UndecodableError, fault, load, outline, refuse_value
from lorelake.formats.record import Capture, Member, Record, Refusal, canonical, digest, refuse
from lorelake.formats.transcripts import stated_time

__all__ = ["NAME", "SEEN", "events", "facts", "read", "sniff"]

NAME = "gemini_cli"
SEEN = "0.23 (documents of January 2026); the lines of later versions by their published source only"

MAX_BYTES = 128 * 1024 * 1024
"""The largest document that is decoded; it has to be held in memory whole."""

_HEAD = frozenset({"sessionId", "projectHash"})
_LIST_OF_PROMPTS = frozenset({"sessionId", "messageId", "message"})
_VERSION_MARKS = ("version", "schemaVersion", "formatVersion")
"""No version of the format met so far has any of these; one that does is of a layout nobody has looked at."""
_MESSAGE_IN_HEAD = re.compile(rb'"type"\s*:\s*"(?:gemini|user)"')


def sniff(member: str, head: bytes) -> bool:
    """By the keys of the document or of the first lines; the list of typed prompts is ours too, and refused by name."""
    seen = outline(head)
    if seen.listed:
        return seen.keys >= _LIST_OF_PROMPTS
    if seen.keys >= _HEAD and "uuid" not in seen.keys:
        return True
    if seen.keys >= {"messages", "lastUpdated"} and _MESSAGE_IN_HEAD.search(head):
        return True  # written again with its keys in another order
    return any(_is_line(value) for value in first_objects(head))


def _is_line(value: dict[str, Any]) -> bool:
    changed = value.get("$set")
    if _is_head(value) or isinstance(value.get("$rewindTo"), str):
        return True
    if isinstance(changed, dict):
        return "lastUpdated" in changed or "messages" in changed
    return value.get("type") == "gemini" and "id" in value and "timestamp" in value


def _is_head(value: dict[str, Any]) -> bool:
    return isinstance(value.get("sessionId"), str) and "projectHash" in value and "uuid" not in value


def read(capture: Capture) -> Iterator[Record | Refusal]:
    """One Record or Refusal for each message and for the head of a document, or for each line.

    A document that cannot be decoded, or whose layout is not known, is one refusal.
    """
    for member in capture.members:
        head = member.head()
        if outline(head).listed:
            yield refuse(member.name, head, "not_a_transcript", "the agent's list of the prompts typed in a project")
        elif _is_lines(head):
            yield from _read_lines(member)
        else:
            yield from _read_document(member)


def _is_lines(head: bytes) -> bool:
    """Whether a file holds a record a line. It may be cut or damaged anywhere."""
    first = head.lstrip(b"\xef\xbb\xbf \t\r\n").partition(b"\n")[0].strip()
    if first == b"{":
        return False
    whole = first_objects(first, limit=1)
    if whole:
        return not isinstance(whole[0].get("messages"), list)
    if "messages" in outline(head).keys:
        return False
    return any(_is_line(value) for value in first_objects(head)) or first.startswith(b'{"')


# --- a document ----------------------------------------------------------------------------------------------


def _read_document(member: Member) -> Iterator[Record | Refusal]:
    if member.size > MAX_BYTES:
        yield refuse(member.name, member.head(), "too_large", f"{member.size} bytes; at most {MAX_BYTES} are read")
        return
    data = member.read()
    try:
        document = load(data)
    except UndecodableError as error:
        reason = "incomplete_tail" if error.reason in ("not_json", "not_utf8") and _is_torn(data) else error.reason
        yield refuse(member.name, data, reason, error.detail)
        return
    problem = _unknown_layout(document)
    if problem:
        yield refuse(member.name, data, *problem)
        return
    around = {name: value for name, value in document.items() if name != "messages"}
    session = document.get("sessionId")
    yield _record(member.name, around, session, 1, head=True)
    for position, message in enumerate(document["messages"], 2):
        yield _record(member.name, message, session, position)


def _is_torn(data: bytes) -> bool:
    """Whether a document was cut, rather than whole and wrong."""
    try:
        msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        return "truncated" in str(error)
    return False


def _unknown_layout(document: Any) -> tuple[str, str] | None:
    if not isinstance(document, dict):
        return "wrong_shape", f"a JSON {type(document).__name__} where a chat should be"
    if mark := _version_mark(document):
        return "unknown_format", mark
    if not isinstance(document.get("messages"), list):
        return "unknown_format", f"a chat without a list of messages; it holds {', '.join(sorted(document))[:200]}"
    return None


def _version_mark(head: dict[str, Any]) -> str | None:
    """What a version mark says; the layouts that are known have none."""
    found = next((name for name in _VERSION_MARKS if head.get(name) is not None), None)
    return f"Gemini CLI chat of {found} {str(head[found])[:40]}, which is not known" if found else None


def _record(member: str, value: Any, session: Any, position: int, head: bool = False) -> Record | Refusal:
    """A part of a document. `position` stands where a line number would: the head is 1, the first message 2."""
    if not isinstance(value, dict):
        return refuse_value(member, value, "wrong_shape", "no message", position)
    broken = fault(value)
    if broken:
        return refuse_value(member, value, *broken, position)
    if not isinstance(session, str) or not session:
        return refuse_value(member, value, "no_unit", "the chat names no session", position)
    found = _named(value, session, head)
    if isinstance(found, tuple):
        return refuse_value(member, value, *found, position)
    found.member, found.line = member, position
    return found


# --- lines ---------------------------------------------------------------------------------------------------


def _read_lines(member: Member) -> Iterator[Record | Refusal]:
    heads = [value for value in objects_holding(member, b"projectHash") if _is_head(value)]
    mark = next((mark for value in heads if (mark := _version_mark(value))), None)
    if mark:
        yield refuse(member.name, member.head(), "unknown_format", mark)
        return
    session = heads[0]["sessionId"] if heads else None
    until: datetime | None = None
    for line in read_lines(member):
        if isinstance(line, Refusal):
            yield line
            continue
        if _is_head(line.value):
            session = line.value["sessionId"]
        found = _of_line(member.name, line, session, until)
        if isinstance(found, Record) and found.ts and not found.ts_assumed:
            until = max(until or found.ts, found.ts)
        yield found


def _of_line(member: str, line: Line, session: str | None, until: datetime | None) -> Record | Refusal:
    if not session:
        detail = "no line of the file names its session"
        return refuse(member, line.raw, "no_unit", detail, line.line, line.offset)
    found = _named(line.value, session, _is_head(line.value))
    if isinstance(found, tuple):
        return refuse(member, line.raw, *found, line.line, line.offset)
    if found.ts is None and found.type.startswith("$") and until is not None:
        # What was taken back is known by when: the line states no time, so it has that of what stands before it.
        found.ts, found.ts_assumed = until, True
        found.id = digest(canonical(line.value), until.isoformat())
    found.member, found.line = member, line.line
    return found


def _named(value: dict[str, Any], session: str, head: bool) -> Record | tuple[str, str]:
    """A record of a session without its place, or (reason, detail)."""
    kind, stated = value.get("type"), value.get("timestamp")
    native = value.get("id")
    record_id = native if isinstance(native, str) and native else digest(canonical(value))
    if head:
        kind, stated, record_id = "session", value.get("startTime"), f"session:{session}"
    elif isinstance(value.get("$set"), dict):
        kind, stated = "$set", value["$set"].get("lastUpdated")
    elif "$rewindTo" in value:
        kind = "$rewindTo"
    elif not isinstance(kind, str) or not kind:
        return "wrong_shape", "a message without a type"
    ts, assumed, impossible = stated_time(stated)
    if impossible:
        return "bad_time", f"timestamp {str(stated)[:40]!r}"
    return Record(session, record_id, kind, ts, value, "", 0, assumed)
