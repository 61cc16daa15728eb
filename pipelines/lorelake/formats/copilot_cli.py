"""GitHub Copilot CLI sessions: `~/.copilot/session-state/<id>/events.jsonl`.

Lines are {type, id, parentId, timestamp, data}. A file is one session, which its `session.start` names; a resume
appends to the same file. Each line names the line before it as its parent, so that a file in which several sessions
were put together can be told apart. Sub-agents write into the file of their session.

This module decodes and names; what the records mean is in `copilot_cli_events`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from lorelake.formats.copilot_cli_events import events
from lorelake.formats.json_lines import first_objects, objects_holding, read_lines
from lorelake.formats.json_text import outline
from lorelake.formats.record import Capture, Member, Record, Refusal, Unit, UnitFacts, canonical, digest, refuse
from lorelake.formats.transcripts import stated_time, typed

__all__ = ["NAME", "SEEN", "events", "facts", "read", "sniff"]

NAME = "copilot_cli"
SEEN = "1.0.64 to 1.0.68, event schema 1; calls, refusals and sub-agents by the published event schema only"

SCHEMA = 1
"""The `version` of `session.start` that is known. A file of another one is refused, not guessed at."""

_FAMILIES = "session|user|assistant|tool|hook|system|permission|subagent|skill"
_TYPE = re.compile(rf"(?:{_FAMILIES})\.\w+|abort")
_KEYS = frozenset({"type", "data", "id", "parentId", "timestamp", "agentId", "ephemeral"})
_TYPE_IN_HEAD = re.compile(rf'"type"\s*:\s*"(?:{_FAMILIES})\.\w'.encode())


class _Envelope(msgspec.Struct, rename="camel"):
    """What every line may hold."""

    type: str
    data: dict[str, Any] | None = None
    id: str | None = None
    parent_id: str | None = None
    timestamp: str | int | float | None = None


class _Start(msgspec.Struct, rename="camel"):
    """What `session.start` says of the file."""

    session_id: str | None = None
    version: Any = None
    copilot_version: Any = None
    detached_from_spawning_parent_session_id: str | None = None


class _Context(msgspec.Struct, rename="camel"):
    """Where a session works."""

    cwd: str | None = None
    git_root: str | None = None
    branch: str | None = None
    repository: str | None = None
    repository_host: str | None = None
    host_type: str | None = None


def sniff(member: str, head: bytes) -> bool:
    """Whether the first lines are {type, data} of a kind this agent writes, in a chain of parents."""
    objects = first_objects(head)
    if objects:
        return any(_is_event(value) for value in objects)
    # A first line that holds the system prompt is longer than the head, so its keys have to do.
    keys = outline(head).keys
    return {"type", "data"} <= keys <= _KEYS and _TYPE_IN_HEAD.search(head) is not None


def _is_event(value: dict[str, Any]) -> bool:
    kind = value.get("type")
    if not isinstance(kind, str) or not _TYPE.fullmatch(kind) or not isinstance(value.get("data"), dict):
        return False
    return "parentId" in value or ("id" in value and "timestamp" in value)


def read(capture: Capture) -> Iterator[Record | Refusal]:
    """One Record or Refusal for each line.

    Lines of a file that names no session are refused as `no_unit`; a file of an event schema that is not known is
    refused whole, by name and version.
    """
    for member in capture.members:
        yield from _read_member(member)


def _read_member(member: Member) -> Iterator[Record | Refusal]:
    starts = dict(_starts(member))
    for start in starts.values():
        if not _is_known(start):
            stated = f"Copilot CLI {str(start.copilot_version)[:40]}, event schema {str(start.version)[:40]}"
            yield refuse(member.name, member.head(), "unknown_format", f"{stated}; schema {SCHEMA} is the known one")
            return
    home = _homes(member, starts)
    for line in read_lines(member):
        if isinstance(line, Refusal):
            yield line
            continue
        envelope = typed(line.value, _Envelope)
        if envelope is None:
            detail = "not a line of {type, id, parentId, timestamp, data}"
            yield refuse(member.name, line.raw, "wrong_shape", detail, line.line, line.offset)
            continue
        session = home(envelope)
        ts, assumed, impossible = stated_time(envelope.timestamp)
        if session is None:
            detail = "no session.start in the file names its session"
            yield refuse(member.name, line.raw, "no_unit", detail, line.line, line.offset)
        elif impossible:
            detail = f"timestamp {str(envelope.timestamp)[:40]!r}"
            yield refuse(member.name, line.raw, "bad_time", detail, line.line, line.offset)
        else:
            record_id = envelope.id or digest(canonical(line.value))
            yield Record(session, record_id, envelope.type, ts, line.value, member.name, line.line, assumed)


def _starts(member: Member) -> Iterator[tuple[str, _Start]]:
    """The `session.start` lines of a file, by their id."""
    for value in objects_holding(member, b"session.start"):
        envelope = typed(value, _Envelope)
        if envelope and envelope.type == "session.start":
            start = typed(envelope.data, _Start)
            if start and (start.session_id or not _is_known(start)):
                yield envelope.id or digest(canonical(value)), start


def _is_known(start: _Start) -> bool:
    return start.version is None or start.version == SCHEMA


def _homes(member: Member, starts: dict[str, _Start]) -> Callable[[_Envelope], str | None]:
    """Which session a line belongs to: the file's, or of several the one whose start its chain of parents leads to."""
    sessions = {start.session_id for start in starts.values()} or _hinted(member)
    if len(sessions) <= 1:
        only = next(iter(sessions), None)
        return lambda envelope: only
    parents = {e.id: e.parent_id for e in map(_envelope, objects_holding(member, b"parentId")) if e and e.id}
    known: dict[str, str | None] = {start_id: start.session_id for start_id, start in starts.items()}

    def home(envelope: _Envelope) -> str | None:
        path: list[str] = []
        here = envelope.id or envelope.parent_id
        while here is not None and here not in known:
            known[here] = None  # until told otherwise: a chain may lead back to itself
            path.append(here)
            here = parents.get(here)
        session = known[here] if here is not None else None
        known.update(dict.fromkeys(path, session))
        return session

    return home


def _envelope(value: dict[str, Any]) -> _Envelope | None:
    return typed(value, _Envelope)


def _hinted(member: Member) -> set[str | None]:
    """The session as the hooks of a file without a start were told it: a capture may hold the later lines only."""
    found: set[str | None] = set()
    for value in objects_holding(member, b"sessionId"):
        envelope = _envelope(value)
        told = envelope.data.get("input") if envelope and envelope.data and envelope.type == "hook.start" else None
        session = told.get("sessionId") if isinstance(told, dict) else None
        if isinstance(session, str) and session:
            found.add(session)
    return found


def facts(unit: Unit) -> UnitFacts:
    """Folders, repository and branch as the session recorded them at its start, at resumes and when it moved."""
    cwds: dict[str, None] = {}
    remote = branch = parent = None
    for record in unit.records:
        data = record.value.get("data") if isinstance(record.value, dict) else None
        if not isinstance(data, dict):
            continue
        if record.type == "session.start" and (start := typed(data, _Start)) is not None:
            parent = parent or start.detached_from_spawning_parent_session_id
        context = _context(record.type, data)
        if context is None:
            continue
        for folder in (context.cwd, context.git_root):
            if folder:
                cwds.setdefault(folder)
        branch = context.branch if context.branch and context.branch != "HEAD" else branch
        remote = remote or _remote(context)
    return UnitFacts("session", remote=remote, cwds=tuple(cwds), branch=branch, agent=NAME, parent_unit=parent)


def _context(kind: str, data: dict[str, Any]) -> _Context | None:
    if kind in ("session.start", "session.resume"):
        return typed(data.get("context"), _Context)
    return typed(data, _Context) if kind == "session.context_changed" else None


def _remote(context: _Context) -> str | None:
    """The repository's address; it is recorded as owner/name, mostly with the host beside it."""
    if not context.repository:
        return None
    if context.repository_host:
        return f"{context.repository_host}/{context.repository}"
    return f"github.com/{context.repository}" if context.host_type in (None, "github") else None
