"""Gemini CLI chats as the agent writes them, small; and what the format makes of them."""

from __future__ import annotations

import copy
import hashlib
import io
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from lorelake.formats import gemini_cli
from lorelake.formats.record import Capture, Event, Member, Record, Refusal, Unit, UnitRecord, canonical, in_order

SESSION = "c40e0000-0000-4000-8000-00000000000a"
FOLDER = "/home/mara/harbour-api"
HASH = hashlib.sha256(FOLDER.encode()).hexdigest()
NAME = "tmp/harbour/chats/session-2026-01-15T20-51-c40e0000.json"


class Chat:
    """A chat that grows; `document` and `lines` give the two forms in which it is written."""

    def __init__(self, session: str = SESSION, **head: Any) -> None:
        self.head: dict[str, Any] = {
            "sessionId": session, "projectHash": HASH,
            "startTime": "2026-01-15T09:00:00.000Z", "lastUpdated": "2026-01-15T09:00:00.000Z", **head,
        }  # fmt: skip
        self.messages: list[dict[str, Any]] = []
        self.log: list[dict[str, Any]] = [dict(self.head)]

    def add(self, kind: str, content: Any, **more: Any) -> str:
        second = len(self.messages)
        ts = f"2026-01-15T09:{second // 60:02d}:{second % 60:02d}.500Z"
        message = {"id": f"m-{second}", "timestamp": ts, "type": kind, "content": content, **more}
        self.messages.append(message)
        self.head["lastUpdated"] = ts
        self.log += [copy.deepcopy(message), {"$set": {"lastUpdated": ts}}]
        return str(message["id"])

    def call(self, name: str, args: Any, response: Any = None, status: str | None = "success", **more: Any) -> str:
        answered = [{"functionResponse": {"id": "c", "name": name, "response": response}}] if response else None
        call = {"id": f"{name}-{len(self.messages)}", "name": name, "args": args, "result": answered, "status": status}
        return self.add("gemini", "", toolCalls=[call | more], model="gemini-2.5-flash")

    def document(self) -> bytes:
        return json.dumps({**self.head, "messages": self.messages}, indent=2, ensure_ascii=False).encode()

    def lines(self) -> bytes:
        return b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in self.log)

    def events(self) -> list[Event]:
        return gemini_cli.events(unit_of(read(self.document())))


def read(data: bytes, name: str = NAME) -> list[Record | Refusal]:
    member = Member(name, len(data), lambda: io.BytesIO(data))
    return list(gemini_cli.read(Capture(name, (member,), hashlib.sha256(data).hexdigest())))


def kept(items: Iterable[Record | Refusal]) -> list[Record]:
    return [item for item in items if isinstance(item, Record)]


def messages(items: Iterable[Record | Refusal]) -> list[Record]:
    return [record for record in kept(items) if record.type != "session" and not record.type.startswith("$")]


def refused(items: Iterable[Record | Refusal]) -> list[str]:
    return [item.reason for item in items if isinstance(item, Refusal)]


def unit_of(
    items: Iterable[Record | Refusal], session: str = SESSION, kept_on: str = "2026-01-16", uri: str = NAME
) -> Unit:
    earliest = datetime(2026, 1, 15, tzinfo=UTC)
    records = {(r.id, canonical(r.value)): r for r in kept(items) if r.unit == session}.values()
    stored = [UnitRecord(r.id, r.type, r.ts or earliest, r.value, uri, kept_on, r.ts_assumed) for r in records]
    return Unit("gemini_cli", f"gemini_cli:{session}", in_order(stored), None, None)


def one(events: Iterable[Event], kind: str) -> Event:
    (event,) = [event for event in events if event.kind == kind]
    return event


def texts(events: Iterable[Event], kind: str) -> list[str]:
    return [event.text for event in events if event.kind == kind]


def busy() -> Chat:
    chat = Chat()
    chat.add("user", "räume auf: use uv – 潮汐表 🌊")
    chat.call(
        "run_shell_command",
        {"command": "pip install tide"},
        {"error": "[Operation Cancelled] Reason: User did not allow tool call"},
        "cancelled",
    )
    chat.add("user", [{"text": "uv, not pip"}])
    chat.call("run_shell_command", {"command": "make"}, {"output": "Output: no rule\nError: (none)\nExit Code: 2"})
    chat.add("gemini", "Done.", tokens={"input": 10, "output": 2, "total": 12}, thoughts=[{"subject": "s"}])
    chat.add("info", "Ende – 終わり 🌊" * 12)
    return chat


def rich() -> Chat:
    """All that a chat may hold."""
    chat = busy()
    asked = {"questions": [{"question": "Which?", "options": [{"label": "a"}]}]}
    chat.call("ask_user", asked, {"output": '{"answers":{"0":"a, b"}}'}, timestamp="2026-01-15T09:00:09Z")
    chat.call("read_file", {"absolute_path": f"{FOLDER}/src/tide.py"}, {"output": "x"}, resultDisplay="x")
    chat.call("exit_plan_mode", {}, {"output": "Plan rejected. User feedback: uv"}, "success")
    chat.log.append({"$rewindTo": "m-2"})
    parts = [{"text": "go <hook_context>on</hook_context>"}, {"text": "--- Content from referenced files ---"}]
    chat.add("user", parts, displayContent="go")
    chat.add("user", parts)
    history = [*chat.messages[:3], {"id": "q", "type": "user", "content": "<state_snapshot>"}]
    chat.log.append({"$set": {"messages": copy.deepcopy(history), "directories": [FOLDER], "kind": "main"}})
    return chat
