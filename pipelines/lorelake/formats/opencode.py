"""OpenCode sessions: its SQLite store, the JSON files it kept before, and what `opencode export` writes.

A session has messages, a message has parts, and the text stands in the parts. All three have ids of their own, which
the move from files to SQLite kept; so a session that lies in both is one, whichever is read first.

This module decodes and names; what the records mean is in `opencode_events`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from lorelake.formats.json_lines import MAX_LINE_BYTES
from lorelake.formats.json_text import UndecodableError, fault, load, outline, refuse_value
from lorelake.formats.opencode_events import events
from lorelake.formats.opencode_files import ASIDE, MESSAGE, PART, SESSION, SIDECARS, is_store, place
from lorelake.formats.opencode_records import AGENT, instant, worked_in
from lorelake.formats.opencode_store import MAGIC, SESSION_TEXTS, Row, UnreadableStoreError, rows
from lorelake.formats.record import Capture, Member, Record, Refusal, Unit, UnitFacts, refuse

__all__ = ["MESSAGE", "NAME", "SEEN", "events", "facts", "read", "sniff"]

NAME = "opencode"
SEEN = "schema, file layouts and migrations read in OpenCode's source (to 1.2); no real store was met"

_TABLE = re.compile(rb"CREATE TABLE [`\"\[]?(session|message|part)[`\"\]]? ?\(", re.IGNORECASE)
_PART_KEYS = frozenset({"messageID", "sessionID", "type"})
_MESSAGE_KEYS = frozenset({"sessionID", "role", "time"})
_SESSION_KEYS = frozenset({"id", "title", "version", "time"})
_EXPORT_KEYS = frozenset({"info", "messages"})


def sniff(member: str, head: bytes) -> bool:
    """Whether the head shows OpenCode's tables or objects.

    A large schema leaves the first pages without a table's name, and the first files said little of themselves; for
    those two the name decides.
    """
    if head.startswith(MAGIC):
        return len({name.lower() for name in _TABLE.findall(head)}) == 3 or is_store(member)
    shown = outline(head)
    if shown.listed or shown.lines or not shown.keys:
        return False
    keys = shown.keys
    if keys >= _PART_KEYS or keys >= _MESSAGE_KEYS or keys >= _EXPORT_KEYS or _is_session(keys):
        return b'"ses_' in head or place(member) is not None
    where = place(member)
    return where is not None and (where.kind != ASIDE) and bool(keys & {"role", "type", "title", "time"})


def _is_session(keys: Any) -> bool:
    return keys >= _SESSION_KEYS and not keys.isdisjoint({"directory", "projectID", "parentID", "share"})


def read(capture: Capture) -> Iterator[Record | Refusal]:
    """One Record or Refusal for each session, message and part.

    A store that cannot be read, or is of another schema, is one Refusal. Files beside the sessions (tasks, diffs,
    share links) are refused as `not_a_transcript`.
    """
    stores = [m for m in capture.members if not m.name.endswith(".json") and m.head().startswith(MAGIC)]
    if stores:
        yield from _read_store(capture, stores[0])
        return
    found: list[tuple[Member, int, Any]] = []
    for member in sorted(capture.members, key=lambda member: member.name):
        decoded = _decode(member)
        if isinstance(decoded, Refusal):
            yield decoded
        else:
            found.extend((member, position, value) for position, value in enumerate(decoded, 1))
    times = _message_times(value for _, _, value in found)
    sessions = _message_sessions(found)
    for member, position, value in found:
        yield _record(member.name, value, position, times, sessions)


def _read_store(capture: Capture, store: Member) -> Iterator[Record | Refusal]:
    members = tuple(m for m in capture.members if m is store or m.name.endswith(SIDECARS))
    times: dict[str, datetime] = {}
    try:
        for number, row in enumerate(rows(members), 1):
            value = _row_value(row)
            if isinstance(value, Refusal):
                value.member, value.line = capture.name, number
                yield value
                continue
            if row.table == MESSAGE:
                times.update(_message_times([value]))
            yield _record(capture.name, value, number, times, {})
    except UnreadableStoreError as error:
        yield refuse(capture.name, store.head()[:100], error.reason, error.detail)


def _row_value(row: Row) -> dict[str, Any] | Refusal:
    """A row as the object that the files have in its place."""
    if row.table == SESSION:
        return _session_value(row)
    if row.data is None and row.size:
        return refuse("", row.id.encode(), "too_large", f"{row.table} {row.id}: a document of {row.size} bytes")
    data = row.data if isinstance(row.data, bytes) else b""
    try:
        value = load(data)
    except UndecodableError as error:
        return refuse("", data, error.reason, f"{row.table} {row.id}: {error.detail}")
    if not isinstance(value, dict):
        return refuse("", data, "wrong_shape", f"{row.table} {row.id}: no object")
    value |= {"id": row.id, "sessionID": row.session}
    return value | {"messageID": row.message} if row.table == PART else value


def _session_value(row: Row) -> dict[str, Any]:
    columns = {name: _plain(value) for name, value in row.columns.items()}
    value: dict[str, Any] = {"id": row.id}
    value |= {theirs: columns[name] for name, theirs in SESSION_TEXTS.items() if name in columns}
    value["time"] = {
        name: columns[f"time_{name}"]
        for name in ("created", "updated")
        if isinstance(columns.get(f"time_{name}"), int | float)
    }
    project = {name: columns[name] for name in ("worktree", "vcs") if name in columns}
    if project:
        value["project"] = project
    if "revert" in columns:
        try:
            value["revert"] = load(str(columns["revert"]).encode())
        except UndecodableError:
            value["revert"] = columns["revert"]
    return value


def _plain(value: Any) -> Any:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _decode(member: Member) -> list[Any] | Refusal:
    """The objects of one file: itself, or all that an export holds."""
    with member.open() as stream:
        data = stream.read(MAX_LINE_BYTES + 1)
    if len(data) > MAX_LINE_BYTES:
        return refuse(member.name, data[:800], "too_large", f"more than {MAX_LINE_BYTES} bytes")
    where = place(member.name)
    if where is not None and where.kind == ASIDE:
        return refuse(member.name, data, "not_a_transcript", "tasks, diffs or a share link of a session")
    try:
        value = load(data)
    except UndecodableError as error:
        return refuse(member.name, data, error.reason, error.detail)
    if isinstance(value, dict) and isinstance(value.get("info"), dict) and isinstance(value.get("messages"), list):
        return [value["info"], *_exported(value["messages"])]
    return [_named(value, member.name)]


def _exported(messages: list[Any]) -> Iterator[Any]:
    for message in messages:
        if not isinstance(message, dict) or not isinstance(message.get("info"), dict):
            yield message
            continue
        yield message["info"]
        parts = message.get("parts")
        yield from parts if isinstance(parts, list) else ()


def _named(value: Any, name: str) -> Any:
    """An object with the ids that its file's name states, where it has none of its own."""
    where = place(name)
    if not isinstance(value, dict) or where is None:
        return value
    ids = {"id": where.id}
    if where.kind != SESSION and where.session:
        ids["sessionID"] = where.session
    if where.message:
        ids["messageID"] = where.message
    return ids | value


def _kind(value: dict[str, Any]) -> str | None:
    if isinstance(value.get("messageID"), str):
        return PART
    if isinstance(value.get("role"), str):
        return MESSAGE
    native = value.get("id")
    return SESSION if isinstance(native, str) and ("sessionID" not in value) and "time" in value else None


def _message_times(values: Any) -> dict[str, datetime]:
    """Message id to its time: most parts state none."""
    found = {}
    for value in values:
        if isinstance(value, dict) and _kind(value) == MESSAGE and isinstance(value.get("id"), str):
            ts = _instant(_time(value, "created"))
            if ts is not None:
                found[value["id"]] = ts
    return found


def _message_sessions(found: Sequence[tuple[Member, int, Any]]) -> dict[str, str]:
    """Message id to its session, for parts that name only their message."""
    messages = (value for _, _, value in found if isinstance(value, dict) and _kind(value) == MESSAGE)
    return {
        value["id"]: value["sessionID"]
        for value in messages
        if isinstance(value.get("id"), str) and isinstance(value.get("sessionID"), str)
    }


def _record(
    member: str, value: Any, position: int, times: dict[str, datetime], sessions: dict[str, str]
) -> Record | Refusal:
    wrong = fault(value)
    if wrong is not None:
        return refuse_value(member, value, *wrong, position) if wrong[0] != "wrong_shape" else _deep(member, wrong)
    kind = _kind(value) if isinstance(value, dict) else None
    if kind is None:
        return refuse_value(member, value, "wrong_shape", "no session, message or part of OpenCode", position)
    native = value.get("id")
    if not isinstance(native, str) or not native:
        return refuse_value(member, value, "wrong_shape", f"a {kind} without id", position)
    session = native if kind == SESSION else value.get("sessionID")
    if kind == PART and not isinstance(session, str):
        session = sessions.get(value["messageID"])
    if not isinstance(session, str) or not session:
        return refuse_value(
            member, value, "no_unit", f"nothing says which session {kind} {native} belongs to", position
        )
    stated = _part_time(value) if kind == PART else _time(value, "created")
    ts = _instant(stated)
    if ts is None and stated is not None:
        return refuse_value(member, value, "bad_time", f"time {str(stated)[:40]}", position)
    if ts is None and kind == PART:
        ts = times.get(value["messageID"])
    return Record(session, native, kind, ts, value, member, position, ts_assumed=ts is None)


def _deep(member: str, wrong: tuple[str, str]) -> Refusal:
    return refuse(member, b"", *wrong)


def _time(value: dict[str, Any], name: str) -> Any:
    time = value.get("time")
    return time.get(name) if isinstance(time, dict) else None


def _part_time(value: dict[str, Any]) -> Any:
    state = value.get("state")
    own = _time(value, "start")
    own = _time(value, "created") if own is None else own
    return _time(state, "start") if own is None and isinstance(state, dict) else own


def _instant(milliseconds: Any) -> datetime | None:
    return (
        None if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float) else instant(milliseconds)
    )


def facts(unit: Unit) -> UnitFacts:
    """Folders that the session and its messages recorded, and the session it was started from. OpenCode keeps no
    remote: its project id is the repository's first commit."""
    cwds, parent = worked_in(unit)
    return UnitFacts("session", cwds=cwds, agent=AGENT, parent_unit=parent)
