"""The lines of a Copilot CLI session as typed records, and what must be known of all to understand one."""

from __future__ import annotations

import contextlib
from typing import Any

import msgspec

from lorelake.formats import claude_code_tree
from lorelake.formats.json_text import fault
from lorelake.formats.record import Event, Unit, UnitRecord
from lorelake.formats.transcripts import blocks_text, latest, typed

AGENT = "copilot_cli"

_TURNS = ("assistant.message", "tool.execution_start", "tool.execution_complete", "permission.completed", "abort")


class Data(msgspec.Struct, rename="camel"):
    """The `data` of a line: the union of what the kinds that are read state."""

    content: Any = None
    source: Any = None
    is_autopilot_continuation: Any = None
    cross_session: Any = None
    delivery: Any = None
    model: str | None = None
    output_tokens: int | None = None
    tool_requests: Any = None
    tool_call_id: str | None = None
    parent_tool_call_id: str | None = None
    tool_name: str | None = None
    arguments: Any = None
    success: bool | None = None
    result: Any = None
    error: Any = None
    request_id: str | None = None
    permission_request: Any = None
    reason: Any = None
    message: Any = None
    summary: Any = None
    summary_content: Any = None
    name: Any = None


class Item(msgspec.Struct):
    """A line with what it was understood to be."""

    record: UnitRecord
    data: Data
    agent: str | None
    """The sub-agent that wrote the line."""
    live: bool = True

    def event(self, part: str, kind: str, actor_class: str, text: str, **more: Any) -> Event:
        """An event of this line."""
        if self.agent:
            more["attributes"] = {"sub_agent": self.agent, **more.get("attributes", {})}
        alias = "" if actor_class in ("human", "tool") else AGENT
        more.setdefault("on_live_path", self.live)
        return Event(
            self.record.id, part, self.record.ts, more.pop("actor_alias", alias), actor_class, kind, text,
            self.record.source_uri, self.record.first_kept, **more,
        )  # fmt: skip


class Call(msgspec.Struct):
    """What is known of one tool call from all its lines."""

    tool: str | None = None
    arguments: Any = None
    started: bool = False
    answered: bool = False
    by_person: bool = False
    verdict: str = ""
    words: str = ""


class Session:
    """What must be known of the whole session to understand one line."""

    def __init__(self, unit: Unit) -> None:
        self.items = _ordered([_item(record) for record in latest(unit.records)])
        self.calls: dict[str, Call] = {}
        self.requests: dict[str, str] = {}
        for item in self.items:
            self._learn(item.record.type, item.data)
        for item in self.items:
            if item.record.type == "permission.completed":
                self._judge(item.data)

    def call(self, call_id: str | None) -> Call:
        """The call of an id; an empty one where nothing is known of it."""
        return self.calls.get(call_id or "") or Call()

    def _learn(self, kind: str, data: Data) -> None:
        for request in requests_of(data):
            self._of(request["toolCallId"], request.get("name"), request.get("arguments"))
        call_id = data.tool_call_id
        if kind == "permission.requested" and data.request_id:
            asked = data.permission_request.get("toolCallId") if isinstance(data.permission_request, dict) else None
            call_id = asked if isinstance(asked, str) else call_id
            if call_id:
                self.requests[data.request_id] = call_id
        if not call_id:
            return
        call = self._of(call_id, data.tool_name, data.arguments)
        call.started |= kind == "tool.execution_start"
        call.answered |= kind == "tool.execution_complete"
        call.by_person |= kind == "tool.user_requested"

    def _of(self, call_id: str, tool: Any, arguments: Any) -> Call:
        call = self.calls.setdefault(call_id, Call())
        call.tool = call.tool or (tool if isinstance(tool, str) else None)
        call.arguments = call.arguments if call.arguments is not None else arguments
        return call

    def _judge(self, data: Data) -> None:
        verdict, words = verdict_of(data.result)
        call_id = self.called_of(data)
        if verdict and call_id:
            call = self._of(call_id, None, None)
            call.verdict, call.words = verdict, words

    def called_of(self, data: Data) -> str | None:
        """The call that a permission is about."""
        return data.tool_call_id or self.requests.get(data.request_id or "")


def _item(record: UnitRecord) -> Item:
    body = record.value if isinstance(record.value, dict) else {}
    data = typed(body.get("data") or {}, Data)
    agent = body.get("agentId") or (data.parent_tool_call_id if data else None)
    return Item(record, data or _lenient(body.get("data")), agent if isinstance(agent, str) else None)


def _lenient(data: Any) -> Data:
    """The fields that are of the shape they should be, where others are not."""
    found = Data()
    for name, field in zip(Data.__struct_encode_fields__, Data.__struct_fields__, strict=True):
        if isinstance(data, dict) and name in data and (one := typed({name: data[name]}, Data)) is not None:
            setattr(found, field, getattr(one, field))
    return found


def _ordered(items: list[Item]) -> list[Item]:
    """By time, then place in the chain; marks what was rewound: a prompt that another one took the place of."""
    nodes: dict[str, claude_code_tree.Node] = {}
    for item in items:
        parent = item.record.value.get("parentId") if isinstance(item.record.value, dict) else None
        role = "turn" if item.record.type in _TURNS else "between"
        if item.record.type == "user.message" and is_from_person(item):
            role = "prompt"
        parent = parent if isinstance(parent, str) else None
        nodes[item.record.id] = claude_code_tree.Node(item.record.id, parent, item.record.ts, role)
    depth = claude_code_tree.depths(nodes)
    dead = claude_code_tree.rewound(nodes)
    for item in items:
        item.live = item.record.id not in dead
    return sorted(items, key=lambda item: (item.record.ts, depth.get(item.record.id, 0), item.record.id))


def is_from_person(item: Item) -> bool:
    """Whether a `user.message` names no other origin than the person; its text may still be a program's."""
    data = item.data
    by_client = data.is_autopilot_continuation is True or data.cross_session is not None
    return not (item.agent or by_client) and data.source in (None, "", "user")


def decoded(arguments: Any) -> Any:
    """Arguments decoded, where they are written as JSON text."""
    if isinstance(arguments, str) and arguments.lstrip().startswith("{"):
        with contextlib.suppress(msgspec.DecodeError, RecursionError):
            value = msgspec.json.decode(arguments)
            return arguments if fault(value) else value
    return arguments


def requests_of(data: Data) -> list[dict[str, Any]]:
    """The calls that a message of the model announces: {toolCallId, name, arguments}."""
    requests = data.tool_requests if isinstance(data.tool_requests, list) else []
    return [one for one in requests if isinstance(one, dict) and isinstance(one.get("toolCallId"), str)]


def verdict_of(result: Any) -> tuple[str, str]:
    """What `permission.completed` decided: (rejection, the person's words), (denial, why), or nothing."""
    kind = result.get("kind") if isinstance(result, dict) else None
    if not isinstance(kind, str) or not kind.startswith(("denied", "reject")):
        return "", ""
    if kind.startswith("reject") or kind.endswith("by-user"):
        return "rejection", blocks_text(result.get("feedback"))
    return "denial", blocks_text(result.get("message")) or kind
