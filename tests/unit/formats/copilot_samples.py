"""Copilot CLI sessions as the agent writes them, small; and what the format makes of them."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from lorelake.formats import copilot_cli
from lorelake.formats.record import Capture, Event, Member, Record, Refusal, Unit, UnitRecord, canonical, in_order

SESSION = "5b0c0000-0000-4000-8000-00000000000a"
CONTEXT = {
    "cwd": "/home/mara/harbour-api/tools", "gitRoot": "/home/mara/harbour-api", "branch": "tide-tables",
    "headCommit": "0" * 40, "repository": "harbour/harbour-api", "hostType": "github", "repositoryHost": "github.com",
}  # fmt: skip


class Log:
    """Writes lines the way the agent does: each names the one before it as its parent."""

    def __init__(self, session: str = SESSION, **start: Any) -> None:
        self.session = session
        self.lines: list[dict[str, Any]] = []
        given: dict[str, Any] = {
            "sessionId": session,
            "version": 1,
            "producer": "copilot-agent",
            "copilotVersion": "1.0.68",
        }
        self.add("session.start", **given, context=dict(CONTEXT), **start)

    def add(self, kind: str, **data: Any) -> str:
        number, agent = len(self.lines), data.pop("agentId", None)
        line = {
            "type": kind,
            "data": data,
            "id": f"{self.session[:4]}-{number}",
            "timestamp": f"2026-07-05T09:{number // 60:02d}:{number % 60:02d}.000Z",
            "parentId": self.lines[-1]["id"] if self.lines else None,
        }
        self.lines.append(line | ({"agentId": agent} if agent else {}))
        return str(line["id"])

    def said(self, text: str, **data: Any) -> str:
        around = (
            f"<current_datetime>2026-07-05</current_datetime>\n\n{text}\n\n<system_reminder>todos</system_reminder>"
        )
        return self.add("user.message", **{"content": text, "transformedContent": around, "attachments": []} | data)

    def call(self, tool: str, arguments: Any, call_id: str = "call_1") -> None:
        self.add(
            "assistant.message",
            content="",
            toolRequests=[{"toolCallId": call_id, "name": tool, "arguments": arguments, "type": "function"}],
        )
        self.add("tool.execution_start", toolCallId=call_id, toolName=tool, arguments=arguments)

    def result(self, text: str, call_id: str = "call_1", **more: Any) -> None:
        given: dict[str, Any] = {"success": True, "result": {"content": text, "detailedContent": text}} | more
        self.add("tool.execution_complete", toolCallId=call_id, **given)

    def refused(self, kind: str, call_id: str = "call_1", **result: Any) -> None:
        request = {"kind": "shell", "toolCallId": call_id, "fullCommandText": "git push"}
        self.add("permission.requested", requestId="r1", permissionRequest=request)
        self.add("permission.completed", requestId="r1", result={"kind": kind, **result})

    def bytes(self) -> bytes:
        return b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in self.lines)

    def events(self) -> list[Event]:
        return copilot_cli.events(unit_of(read(self.bytes()), self.session))


def read(data: bytes) -> list[Record | Refusal]:
    member = Member("events.jsonl", len(data), lambda: io.BytesIO(data))
    return list(copilot_cli.read(Capture("events.jsonl", (member,), hashlib.sha256(data).hexdigest())))


def kept(items: Iterable[Record | Refusal]) -> list[Record]:
    return [item for item in items if isinstance(item, Record)]


def refused(items: Iterable[Record | Refusal]) -> list[str]:
    return [item.reason for item in items if isinstance(item, Refusal)]


def unit_of(items: Iterable[Record | Refusal], session: str = SESSION) -> Unit:
    earliest = datetime(2026, 7, 5, tzinfo=UTC)
    records = {(r.id, canonical(r.value)): r for r in kept(items) if r.unit == session}.values()
    stored = [UnitRecord(r.id, r.type, r.ts or earliest, r.value, "e.jsonl", "2026-07-06") for r in records]
    return Unit("copilot_cli", f"copilot_cli:{session}", in_order(stored), None, None)


def one(events: Iterable[Event], kind: str) -> Event:
    (event,) = [event for event in events if event.kind == kind]
    return event


def texts(events: Iterable[Event], kind: str) -> list[str]:
    return [event.text for event in events if event.kind == kind]


def busy() -> Log:
    log = Log()
    log.said("räume auf: use uv – 潮汐表 🌊")
    log.call("bash", {"command": "pip install tide"})
    log.refused("denied-interactively-by-user", feedback="uv, not pip")
    log.result("", success=False, result=None, error={"message": "The user rejected this tool call.", "code": "denied"})
    log.call("bash", {"command": "uv add tide"}, "call_2")
    log.result("ok\n<shellId: 0 completed with exit code 0>", "call_2")
    log.add("abort", reason="user_initiated")
    log.add("session.shutdown", modelMetrics={"m": {"usage": {"inputTokens": 1}}}, note="Ende – 終わり 🌊" * 12)
    return log


def rich() -> Log:
    """All that a session may hold."""
    log = busy()
    log.call("ask_user", {"question": "Which?", "choices": ["a"]}, "call_3")
    log.result("User responded: b", "call_3")
    log.said("go <system_reminder>on</system_reminder>", delivery="steering")
    log.call("apply_patch", "*** Begin Patch\n*** Update File: a\n", "call_4")
    log.result("", "call_4", result={"content": [{"text": "a"}], "contents": [{"exitCode": 2}]})
    log.add("tool.user_requested", toolCallId="call_5", toolName="bash", arguments={"command": "ls"})
    log.add("session.compaction_complete", summaryContent="they")
    log.add("session.context_changed", **CONTEXT)
    log.add("session.error", message="no more", errorType="quota")
    return log
