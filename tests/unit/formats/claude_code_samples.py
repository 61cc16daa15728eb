"""Transcripts as Claude Code writes them, and what raw and events make of them."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from lorelake.formats import claude_code
from lorelake.formats.record import (
    Capture,
    Event,
    Member,
    Record,
    Refusal,
    Unit,
    UnitRecord,
    canonical,
    in_order,
)

SESSION = "5b0c9a1e-0000-4000-8000-00000000000a"
REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). "
)
STOP = REFUSED + "STOP what you are doing and wait for the user to tell you how to proceed."
SAID = REFUSED + "To tell you how to proceed, the user said:\n"
NOTE = (
    "\n\nNote: The user's next message may contain a correction or preference. Pay close attention — if they explain "
    "what went wrong or how they'd prefer you to work, consider saving that to memory for future sessions."
)


class Transcript:
    """Writes records the way the agent does: one after the other, each naming the one before."""

    def __init__(self, session: str = SESSION, agent: str | None = None) -> None:
        self.base: dict[str, Any] = {"sessionId": session, "cwd": "/home/mara/harbour-api", "gitBranch": "main"}
        self.base["isSidechain"] = agent is not None
        if agent:
            self.base["agentId"] = agent
        self.records: list[dict[str, Any]] = []
        self.last: str | None = None

    def add(self, kind: str, at: int | None = None, parent: str | None = "", **fields: Any) -> str:
        number = len(self.records)
        uuid = f"{self.base.get('agentId', 'main')}-{number:04d}"
        second = number if at is None else at
        self.records.append(
            {
                "type": kind,
                "uuid": uuid,
                "parentUuid": self.last if parent == "" else parent,
                "timestamp": f"2026-03-02T09:{second // 60:02d}:{second % 60:02d}.000Z",
                **self.base,
                **fields,
            }
        )
        self.last = uuid
        return uuid

    def plain(self, kind: str, **fields: Any) -> None:
        """A record outside the tree."""
        self.records.append({"type": kind, **fields})

    def user(self, content: Any, **fields: Any) -> str:
        return self.add("user", message={"role": "user", "content": content}, **fields)

    def assistant(self, *blocks: dict[str, Any], message: str = "", tokens: int = 1, **fields: Any) -> str:
        body = {"id": message or f"msg_{len(self.records)}", "model": "claude-opus-4-6", "content": list(blocks)}
        body["usage"] = {"output_tokens": tokens, "input_tokens": 3}
        return self.add("assistant", message=body, requestId=f"req_{body['id']}", **fields)

    def call(self, name: str, tool_input: dict[str, Any], call_id: str = "toolu_1", **fields: Any) -> str:
        return self.assistant({"type": "tool_use", "id": call_id, "name": name, "input": tool_input}, **fields)

    def result(self, content: Any, call_id: str = "toolu_1", is_error: bool | None = None, **fields: Any) -> str:
        block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
        if is_error is not None:
            block["is_error"] = is_error
        return self.user([block], **fields)

    def bytes(self) -> bytes:
        return b"".join(json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in self.records)

    def events(self) -> list[Event]:
        return events_of(read(self.bytes()))


def capture(data: bytes, name: str = f"{SESSION}.jsonl") -> Capture:
    member = Member(name, len(data), lambda: io.BytesIO(data))
    return Capture(name, (member,), hashlib.sha256(data).hexdigest())


def read(data: bytes, name: str = f"{SESSION}.jsonl") -> list[Record | Refusal]:
    return list(claude_code.read(capture(data, name)))


def kept(items: Iterable[Record | Refusal]) -> list[Record]:
    return [item for item in items if isinstance(item, Record)]


def refused(items: Iterable[Record | Refusal]) -> list[str]:
    return [item.reason for item in items if isinstance(item, Refusal)]


def unit_of(items: Iterable[Record | Refusal], name: str = SESSION) -> Unit:
    """What raw makes of records: one per id and body, those without a time at the unit's earliest."""
    records = [record for record in kept(items) if record.unit == name]
    earliest = min((r.ts for r in records if r.ts), default=datetime(2026, 3, 2, tzinfo=UTC))
    bodies = {(r.id, canonical(r.value)): r for r in records}
    stored = [UnitRecord(r.id, r.type, r.ts or earliest, r.value, "a.jsonl", "2026-03-03") for r in bodies.values()]
    return Unit("claude_code", f"claude_code:{name}", in_order(stored), None, None)


def events_of(items: Iterable[Record | Refusal], name: str = SESSION) -> list[Event]:
    return claude_code.events(unit_of(items, name))


def one(events: Iterable[Event], kind: str) -> Event:
    (event,) = [event for event in events if event.kind == kind]
    return event


def texts(events: Iterable[Event], *kinds: str, live: bool = True) -> list[str]:
    return [event.text for event in events if event.kind in kinds and event.on_live_path is live]


def streamed() -> Transcript:
    session = Transcript()
    session.user("run the tests")
    session.assistant({"type": "thinking", "thinking": "make test, then"}, message="msg_a", tokens=9)
    session.assistant({"type": "text", "text": "I will run them."}, message="msg_a", tokens=9)
    call = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "make test"}}
    session.assistant(call, message="msg_a", tokens=159)
    return session
