"""Codex CLI rollouts: `~/.codex/sessions/Y/M/D/rollout-<time>-<uuid>.jsonl`, lines {timestamp, type, payload}.

A file is one session: its `session_meta` names it. A forked rollout opens with its own `session_meta` and a copy
of its parent's lines under the fork's times, so a record is known by its payload, never by its line or time.

This module decodes and names; what the records mean is in `codex_events`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec

from lorelake.formats.codex_events import SessionMeta, events
from lorelake.formats.json_lines import Line, first_objects, objects_holding, read_lines
from lorelake.formats.record import Capture, Member, Record, Refusal, Unit, UnitFacts, canonical, digest, refuse
from lorelake.formats.transcripts import stated_time, typed

__all__ = ["NAME", "SEEN", "events", "facts", "read", "sniff"]

NAME = "codex"
SEEN = "0.104 and 0.140 to 0.142; the one-line format before about 0.40 was never met"

_ENVELOPE_TYPES = ("session_meta", "turn_context", "response_item", "event_msg", "compacted")


class _Envelope(msgspec.Struct):
    """What every line holds."""

    type: str
    payload: dict[str, Any]
    timestamp: str | int | float | None = None


class _TurnContext(msgspec.Struct):
    cwd: str | None = None


def sniff(member: str, head: bytes) -> bool:
    """Whether the first lines are {timestamp, type, payload} of a type this agent writes."""
    objects = first_objects(head)
    if objects:
        return any(value.get("type") in _ENVELOPE_TYPES and isinstance(value.get("payload"), dict) for value in objects)
    # The first line holds the base instructions and may be longer than the head.
    return b'"payload"' in head and any(f'"{name}"'.encode() in head for name in _ENVELOPE_TYPES)


def read(capture: Capture) -> Iterator[Record | Refusal]:
    """One Record or Refusal for each line; a file without a `session_meta` is refused line by line as `no_unit`."""
    for member in capture.members:
        yield from _read_member(member)


def _read_member(member: Member) -> Iterator[Record | Refusal]:
    session = _session_of(member)
    seen: Counter[str] = Counter()
    for line in read_lines(member):
        if isinstance(line, Refusal):
            yield line
            continue
        envelope = typed(line.value, _Envelope)
        if envelope is None:
            detail = "not a line of {timestamp, type, payload}"
            yield refuse(member.name, line.raw, "wrong_shape", detail, line.line, line.offset)
        elif session is None:
            detail = "no session_meta in the file names its session"
            yield refuse(member.name, line.raw, "no_unit", detail, line.line, line.offset)
        else:
            yield _record(member, line, envelope, session, seen)


def _session_of(member: Member) -> str | None:
    """The id in the file's `session_meta`; of a fork's own and its copied parent's, the one nobody descends from."""
    metas: dict[str, SessionMeta] = {}
    for value in objects_holding(member, b"session_meta"):
        meta = typed(value.get("payload"), SessionMeta) if value.get("type") == "session_meta" else None
        if meta and meta.id:
            metas.setdefault(meta.id, meta)
    parents = {meta.parent() for meta in metas.values()}
    return next((session for session in metas if session not in parents), next(iter(metas), None))


def _record(member: Member, line: Line, envelope: _Envelope, session: str, seen: Counter[str]) -> Record | Refusal:
    ts, assumed, impossible = stated_time(envelope.timestamp)
    if impossible:
        detail = f"timestamp {str(envelope.timestamp)[:40]!r}"
        return refuse(member.name, line.raw, "bad_time", detail, line.line, line.offset)
    body = canonical([envelope.type, envelope.payload])
    # A prompt such as "push" comes twice with the same payload: the second is a record of its own.
    key = digest(body)
    record_id = f"{session}:{digest(body, str(seen[key]))}"
    seen[key] += 1
    return Record(session, record_id, envelope.type, ts, line.value, member.name, line.line, assumed)


def facts(unit: Unit) -> UnitFacts:
    """Remote and branch as the session recorded them at its start, recorded folders in order, and the parent."""
    native = unit.unit_id.removeprefix(f"{NAME}:")
    metas: list[SessionMeta] = []
    cwds: dict[str, None] = {}
    for record in unit.records:
        payload = record.value.get("payload") if isinstance(record.value, dict) else None
        if record.type == "session_meta" and (meta := typed(payload, SessionMeta)) is not None:
            if meta.id == native:
                metas.append(meta)
                if meta.cwd:
                    cwds.setdefault(meta.cwd)
        elif record.type == "turn_context" and (context := typed(payload, _TurnContext)) is not None and context.cwd:
            cwds.setdefault(context.cwd)
    git = next((meta.git for meta in metas if meta.git), None)
    return UnitFacts(
        "session",
        remote=git.repository_url if git else None,
        cwds=tuple(cwds),
        branch=git.branch if git else None,
        agent=NAME,
        parent_unit=next((meta.parent() for meta in metas if meta.parent()), None),
    )
