"""An OpenCode session's records understood: each in its fullest version, timed, and told whether it was taken back."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec

from lorelake.formats.opencode_files import MESSAGE, PART, SESSION
from lorelake.formats.record import Event, Unit, UnitRecord
from lorelake.formats.transcripts import latest, typed

AGENT = "opencode"

_ENDED = {"pending": 0, "running": 1, "completed": 2, "error": 2}


class Time(msgspec.Struct):
    """Times of a record, in milliseconds since 1970."""

    created: float | None = None
    updated: float | None = None
    completed: float | None = None
    start: float | None = None
    end: float | None = None


class _Revert(msgspec.Struct, rename={"message_id": "messageID", "part_id": "partID"}):
    """From which message or part on a session was taken back."""

    message_id: str
    part_id: str | None = None


class Session(msgspec.Struct, rename={"parent_id": "parentID"}):
    """A session as far as it decides anything; `project` only where a store states it."""

    parent_id: str | None = None
    directory: str | None = None
    project: dict[str, Any] = {}
    time: Time = msgspec.field(default_factory=Time)
    revert: Any = None


class Message(msgspec.Struct, rename={"model_id": "modelID"}):
    """A message: whose, when and where; its text stands in its parts."""

    id: str
    role: str
    time: Time = msgspec.field(default_factory=Time)
    path: dict[str, Any] | None = None
    model_id: str | None = None
    summary: Any = None
    error: Any = None
    tokens: Any = None


class State(msgspec.Struct):
    """How a tool call stands."""

    status: str = ""
    input: Any = None
    output: Any = None
    error: Any = None
    metadata: Any = None
    time: Time = msgspec.field(default_factory=Time)


class Part(msgspec.Struct, rename={"message_id": "messageID", "call_id": "callID"}):
    """A piece of a message: the union of what the types of parts state."""

    id: str
    message_id: str
    type: str = ""
    text: Any = None
    synthetic: bool = False
    ignored: bool = False
    time: Time = msgspec.field(default_factory=Time)
    call_id: str | None = None
    tool: str | None = None
    state: State | None = None
    prompt: Any = None
    tokens: Any = None
    cost: float | None = None
    error: Any = None


class Item(msgspec.Struct):
    """A message or part with what it was understood to be; `ts` is its own time or its message's."""

    record: UnitRecord
    value: Any
    ts: datetime
    live: bool = True

    def event(
        self, part: str, kind: str, actor_class: str, text: str, ts: datetime | None = None, **more: Any
    ) -> Event:
        """An event of this record, at its own time unless another is given."""
        alias = "" if actor_class in ("human", "tool") else AGENT
        return Event(
            self.record.id, part, ts or self.ts, more.pop("actor_alias", alias), actor_class, kind, text,
            self.record.source_uri, self.record.first_kept, on_live_path=self.live, **more,
        )  # fmt: skip


class Understood:
    """The records of a session, each in its fullest version, and what must be known of all to understand one."""

    def __init__(self, unit: Unit) -> None:
        records = latest(unit.records, _growth)
        sessions = [typed(record.value, Session) for record in records if record.type == SESSION]
        self.session = next((session for session in sessions if session is not None), None)
        self.messages: dict[str, Item] = {}
        self.parts: list[Item] = []
        self.unread: list[UnitRecord] = []
        for record in records:
            self._sort(record)
        taken_back = _taken_back(unit)
        for item in self.messages.values():
            item.live = not any(one.holds_message(item) for one in taken_back)
        for item in self.parts:
            message = self.messages.get(item.value.message_id)
            if message is not None and not _own_time(item.value):
                item.ts = message.ts
            item.live = (message is None or message.live) and not any(one.holds_part(item) for one in taken_back)
        self.parts.sort(key=lambda item: (self._message_key(item), item.value.id))

    def _sort(self, record: UnitRecord) -> None:
        if record.type == MESSAGE and (message := typed(record.value, Message)) is not None:
            self.messages[message.id] = Item(record, message, instant(message.time.created) or record.ts)
        elif record.type == PART and (part := typed(record.value, Part)) is not None:
            self.parts.append(Item(record, part, _own_time(part) or record.ts))
        elif record.type in (MESSAGE, PART):
            self.unread.append(record)

    def _message_key(self, item: Item) -> tuple[datetime, str]:
        message = self.messages.get(item.value.message_id)
        return (message.ts if message else item.ts), item.value.message_id

    @property
    def typed_by_a_person(self) -> bool:
        """Whether its prompts are: an unknown session may have been started by another."""
        return self.session is not None and not self.session.parent_id


class _TakenBack(msgspec.Struct):
    """One undo, as a version of the session states it: ids ascend, and what came after it is not meant."""

    revert: _Revert
    at: datetime

    def holds_message(self, item: Item) -> bool:
        """Whether a message was taken back as a whole."""
        first = self.revert.message_id
        after = item.value.id > first if self.revert.part_id else item.value.id >= first
        return after and item.ts <= self.at

    def holds_part(self, item: Item) -> bool:
        """Whether a part was taken back of a message whose beginning stays."""
        same = self.revert.part_id is not None and item.value.message_id == self.revert.message_id
        return same and item.value.id >= (self.revert.part_id or "") and item.ts <= self.at


def _taken_back(unit: Unit) -> list[_TakenBack]:
    """Every undo that any stored version states: with the next prompt OpenCode forgets it together with what it hid,
    but what was kept before is still here."""
    found = []
    for record in unit.records:
        session = typed(record.value, Session) if record.type == SESSION else None
        revert = typed(session.revert, _Revert) if session and session.revert else None
        at = instant(session.time.updated) if session else None
        if revert is not None and at is not None:
            found.append(_TakenBack(revert, at))
    return found


def _growth(value: Any) -> tuple[int, ...]:
    """How far a record had come: an older layout or capture read later takes nothing away."""
    if not isinstance(value, dict):
        return (0,)
    state, time = value.get("state"), value.get("time")
    if isinstance(state, dict):
        return (_ENDED.get(str(state.get("status")), 0),)
    if not isinstance(time, dict):
        return (0,)
    if "messageID" not in value and "role" not in value:
        updated = time.get("updated")
        return (int(updated) if isinstance(updated, int | float) and abs(updated) < 1e15 else 0,)
    return (int(time.get("end") is not None or time.get("completed") is not None),)


def instant(milliseconds: float | None) -> datetime | None:
    """Milliseconds since 1970 as UTC, or None where they are no possible time."""
    if milliseconds is None:
        return None
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def _own_time(part: Part) -> datetime | None:
    state = part.state.time.start if part.state else None
    return instant(part.time.start if part.time.start is not None else part.time.created) or instant(state)


def worked_in(unit: Unit) -> tuple[tuple[str, ...], str | None]:
    """(folders recorded, the session's own first; the session it was started from)."""
    known = Understood(unit)
    cwds: dict[str, None] = {}
    parent = None
    if known.session is not None:
        parent = known.session.parent_id
        cwds.setdefault(known.session.directory or "")
        worktree = known.session.project.get("worktree")
        cwds.setdefault(worktree if isinstance(worktree, str) else "")
    for item in sorted(known.messages.values(), key=lambda item: (item.ts, item.value.id)):
        for name in ("cwd", "root"):
            folder = item.value.path.get(name) if item.value.path else None
            cwds.setdefault(folder if isinstance(folder, str) else "")
    # The root folder stands for "no project".
    return tuple(cwd for cwd in cwds if cwd.strip("/")), parent
