"""Claude Code transcripts: one JSONL file a session, sub-agents in files of their own.

`~/.claude/projects/<folder>/<sessionId>.jsonl`, with sub-agents beside it as `agent-<id>.jsonl` or below it as
`<sessionId>/subagents/agent-<id>.jsonl`. The lines of a sub-agent carry the parent's session id: what tells them
apart is `agentId`. Folder names say nothing reliable and are not read.

This module decodes and names; what the records mean is in `claude_code_events`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

import msgspec

from lorelake.formats.claude_code_events import events
from lorelake.formats.json_lines import Line, first_objects, read_lines
from lorelake.formats.record import Capture, Member, Record, Refusal, Unit, UnitFacts, canonical, digest, refuse
from lorelake.formats.transcripts import stated_time, typed

__all__ = ["NAME", "SEEN", "events", "facts", "read", "sniff"]

NAME = "claude_code"
SEEN = "2.0.64 to 2.1.62 line by line; 2.1.226 and later by their index and published descriptions"

_KEYS_IN_HEAD = (b'"parentUuid"', b'"isSidechain"', b'"isSnapshotUpdate"', b'"leafUuid"', b'"queue-operation"')


class _Envelope(msgspec.Struct, rename="camel"):
    """What every record may say about itself, whatever its type."""

    type: str
    uuid: str | None = None
    session_id: str | None = None
    agent_id: str | None = None
    timestamp: str | int | float | None = None


class _Where(msgspec.Struct, rename="camel"):
    """What a record says about its place."""

    cwd: str | None = None
    git_branch: str | None = None


_WHERE = msgspec.json.Decoder(_Where)


def sniff(member: str, head: bytes) -> bool:
    """Whether the first lines are Claude Code's, its bookkeeping files included; `read` refuses those by name."""
    objects = first_objects(head)
    if any(_is_entry(value) or _is_bookkeeping(value) for value in objects):
        return True
    # A first line with a pasted picture is longer than the head, so its keys have to do.
    return not objects and b'"sessionId"' in head and any(key in head for key in _KEYS_IN_HEAD)


def _is_entry(value: dict[str, Any]) -> bool:
    if not isinstance(value.get("type"), str):
        return False
    if "sessionId" in value:
        return (
            "uuid" in value or "parentUuid" in value or value["type"] in ("queue-operation", "pr-link", "last-prompt")
        )
    return ("leafUuid" in value and "summary" in value) or ("snapshot" in value and "messageId" in value)


def _is_bookkeeping(value: dict[str, Any]) -> bool:
    """The agent's own notes beside its transcripts.

    A workflow's `journal.jsonl` (agents started and their results), a sub-agent's `.meta.json`, and
    `history.jsonl`, the list of everything a person typed, in every project.
    """
    if "sessionId" in value and "uuid" in value:
        return False
    journal = value.get("type") in ("started", "result") and "agentId" in value
    return (
        journal or ("agentType" in value and "type" not in value) or ("display" in value and "pastedContents" in value)
    )


def read(capture: Capture) -> Iterator[Record | Refusal]:
    """One Record or Refusal for each line.

    A record that names no session (`summary`, `file-history-snapshot`) belongs to the session of the other
    records of its file; where there is none it is refused as `no_unit`.
    """
    for member in capture.members:
        yield from _read_member(member)


def _read_member(member: Member) -> Iterator[Record | Refusal]:
    head = first_objects(member.head(), limit=1)
    if head and _is_bookkeeping(head[0]):
        yield refuse(member.name, member.head(), "not_a_transcript", "a bookkeeping file of the agent")
        return
    units: Counter[str] = Counter()
    steps: Counter[str] = Counter()
    unplaced: list[tuple[Line, _Envelope]] = []
    for line in read_lines(member):
        if isinstance(line, Refusal):
            yield line
            continue
        envelope = typed(line.value, _Envelope)
        if envelope is None:
            detail = "a record without a type, or whose ids are no text"
            yield refuse(member.name, line.raw, "wrong_shape", detail, line.line, line.offset)
        elif not envelope.session_id:
            unplaced.append((line, envelope))
        else:
            unit = f"{envelope.session_id}/{envelope.agent_id}" if envelope.agent_id else envelope.session_id
            units[unit] += 1
            yield _record(member, line, envelope, unit, steps)
    home = _home(member, units)
    for line, envelope in unplaced:
        if home is None:
            detail = "neither it nor another record of the file names a session"
            yield refuse(member.name, line.raw, "no_unit", detail, line.line, line.offset)
        else:
            yield _record(member, line, envelope, home, steps)


def _home(member: Member, units: Counter[str]) -> str | None:
    """The session of a file: the only one, the one the file is named after, or the one with the most records."""
    named = PurePosixPath(member.name).stem
    if named in units:
        return named
    return min(units, key=lambda unit: (-units[unit], unit), default=None)


def _record(member: Member, line: Line, envelope: _Envelope, unit: str, steps: Counter[str]) -> Record | Refusal:
    ts, assumed, impossible = stated_time(envelope.timestamp)
    if impossible:
        detail = f"timestamp {str(envelope.timestamp)[:40]!r}"
        return refuse(member.name, line.raw, "bad_time", detail, line.line, line.offset)
    record_id = envelope.uuid or _content_id(envelope, line.value, unit, steps)
    return Record(unit, record_id, envelope.type, ts, line.value, member.name, line.line, assumed)


def _content_id(envelope: _Envelope, value: dict[str, Any], unit: str, steps: Counter[str]) -> str:
    """The id of a record without one: its session and content.

    One summary lies in the files of sessions that have nothing else in common, so it is no sign that one copied the
    other. Two prompts that leave the queue in the same millisecond are two steps that read alike.
    """
    body = canonical(value)
    if envelope.type != "queue-operation" or "content" in value:
        return digest(unit, body)
    steps[body] += 1
    return digest(unit, body, str(steps[body]))


def facts(unit: Unit) -> UnitFacts:
    """Recorded folders in order, the last branch with a name, and the parent session of a sub-agent."""
    cwds: dict[str, None] = {}
    branch = None
    for record in unit.records:
        try:
            where = _WHERE.decode(record.body)
        except (msgspec.ValidationError, RecursionError):
            continue
        if where.cwd:
            cwds.setdefault(where.cwd)
        if where.git_branch and where.git_branch != "HEAD":
            branch = where.git_branch
    native = unit.unit_id.removeprefix(f"{NAME}:")
    parent, slash, _ = native.partition("/")
    return UnitFacts("session", cwds=tuple(cwds), branch=branch, agent=NAME, parent_unit=parent if slash else None)
