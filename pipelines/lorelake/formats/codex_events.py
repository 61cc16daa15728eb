"""From the records of a Codex session to events.

Prompts and answers are recorded twice, as `event_msg` (what the person saw) and as `response_item` (what the model
saw); each is one event. Injected texts only stand among the response items. `compacted` repeats earlier messages
in its `replacement_history`, which is never read.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from lorelake.formats.record import Event, Unit, UnitRecord
from lorelake.formats.transcripts import (
    blocks_text,
    call_command,
    call_path,
    call_text,
    cut,
    latest,
    patched_paths,
    typed,
)

AGENT = "codex"

_INJECTED = re.compile(
    r"\s*(?:# AGENTS\.md instructions|# Context from my IDE setup:"
    r"|<(?:[a-z]+_instructions|environment_context|turn_aborted|user_action|hook_prompt|skill"
    r"|INSTRUCTIONS|permissions instructions|collaboration_mode|subagent_notification|user_shell_command)[\s>])"
)
_REQUEST = re.compile(r"^## My request for Codex:[ \t]*\n", re.MULTILINE)
_EXIT_CODE = re.compile(
    r"^(?:Process exited with code|Exit code:|Command exited with code) (-?\d{1,9})\b", re.MULTILINE
)
_REJECTED = re.compile(r"(?:[^\n]{0,200}\b)?rejected by (?:the )?user", re.IGNORECASE)

_SAME_INSTANT = {"prompt": 0, "answer": 2, "tool_call": 3, "tool_result": 4, "usage": 5}
"""Which kind comes first of records that state the same millisecond; the rest stand behind the prompt."""


class Git(msgspec.Struct):
    """The checkout at the start of a session."""

    repository_url: str | None = None
    branch: str | None = None


class SessionMeta(msgspec.Struct):
    """The payload of `session_meta`."""

    id: str | None = None
    cwd: str | None = None
    git: Git | None = None
    forked_from_id: str | None = None
    parent_thread_id: str | None = None
    thread_source: str | None = None
    source: Any = None

    def parent(self) -> str | None:
        """The session it was forked from or spawned by."""
        return self.forked_from_id or self.parent_thread_id or self._spawn().get("parent_thread_id")

    def is_subagent(self) -> bool:
        """Whether an agent, not a person, wrote its prompts."""
        return self.thread_source == "subagent" or (isinstance(self.source, dict) and "subagent" in self.source)

    def _spawn(self) -> dict[str, Any]:
        subagent = self.source.get("subagent") if isinstance(self.source, dict) else None
        spawn = subagent.get("thread_spawn") if isinstance(subagent, dict) else None
        return spawn if isinstance(spawn, dict) else {}


class _Payload(msgspec.Struct):
    """The payload of `response_item` and `event_msg`: the union of what their kinds state."""

    type: str | None = None
    role: str | None = None
    content: Any = None
    message: Any = None
    name: str | None = None
    arguments: Any = None
    input: Any = None
    action: Any = None
    call_id: str | None = None
    output: Any = None
    reason: str | None = None
    info: Any = None
    success: bool | None = None
    changes: Any = None
    num_turns: Any = None


class _Item(msgspec.Struct):
    record: UnitRecord
    payload: _Payload

    def event(self, part: str, kind: str, actor_class: str, text: str, **more: Any) -> Event:
        alias = "" if actor_class in ("human", "tool") else AGENT
        return Event(
            self.record.id, part, self.record.ts, more.pop("actor_alias", alias), actor_class, kind, text,
            self.record.source_uri, self.record.first_kept, **more,
        )  # fmt: skip


class _Session:
    """What must be known of the whole session to understand one record."""

    def __init__(self, unit: Unit) -> None:
        self.items = [_Item(record, _payload(record)) for record in latest(unit.records)]
        native = unit.unit_id.removeprefix(f"{AGENT}:")
        metas = [typed(_body(item.record), SessionMeta) for item in self.items if item.record.type == "session_meta"]
        self.is_subagent = any(meta.is_subagent() for meta in metas if meta and meta.id == native)
        self.tools: dict[str, str] = {}
        self.patched: dict[str, bool] = {}
        self.typed: set[str] = set()
        self.answered: set[str] = set()
        for item in self.items:
            self._learn(item)

    def _learn(self, item: _Item) -> None:
        payload = item.payload
        match item.record.type, payload.type:
            case "event_msg", "user_message":
                self.typed.add(blocks_text(payload.message).strip())
            case "response_item", "message" if payload.role == "assistant":
                self.answered.add(blocks_text(payload.content).strip())
            case "response_item", _ if payload.call_id and payload.name:
                self.tools[payload.call_id] = payload.name
            case "event_msg", "patch_apply_end" if payload.call_id and payload.success is not None:
                self.patched[payload.call_id] = payload.success


def events(unit: Unit) -> list[Event]:
    """The events of one session, by time."""
    session = _Session(unit)
    found: list[Event] = []
    usage: Event | None = None
    model: str | None = None
    for item in session.items:
        if item.record.type == "turn_context":
            body = _body(item.record)
            model = body["model"] if isinstance(body.get("model"), str) else model
        if item.payload.type == "task_started" and usage:
            found.append(usage)
            usage = None
        if item.record.type == "event_msg" and item.payload.type == "token_count":
            usage = _usage(item, model) or usage
        found.extend(_events_of(session, item))
    if usage:
        found.append(usage)
    found.sort(key=lambda event: (event.ts, _SAME_INSTANT.get(event.kind, 1)))
    _take_back(found, session.items)
    return found


def _take_back(events: list[Event], items: list[_Item]) -> None:
    """Mark what a person rolled back: the last turns before the record that says so, which stay in the file."""
    for item in sorted(items, key=lambda item: (item.record.ts, item.record.id)):
        turns = item.payload.num_turns
        if item.payload.type != "thread_rolled_back" or not isinstance(turns, int) or turns < 1:
            continue
        until = item.record.ts
        live = [event for event in events if event.on_live_path and event.ts <= until]
        starts = [event.ts for event in live if event.kind == "prompt"][-turns:]
        for event in live:
            event.on_live_path = not starts or event.ts < starts[0]


def _body(record: UnitRecord) -> dict[str, Any]:
    body = record.value.get("payload") if isinstance(record.value, dict) else None
    return body if isinstance(body, dict) else {}


def _payload(record: UnitRecord) -> _Payload:
    return typed(_body(record), _Payload) or _Payload()


def _events_of(session: _Session, item: _Item) -> Iterator[Event]:
    payload = item.payload
    match item.record.type, payload.type:
        case "event_msg", "user_message":
            yield from _prompt(session, item, blocks_text(payload.message))
        case "event_msg", "agent_message":
            text = blocks_text(payload.message)
            if text.strip() not in session.answered:
                yield item.event("answer", "answer", "agent", text)
        case "event_msg", "turn_aborted":
            actor_class = "human" if payload.reason in (None, "interrupted", "replaced") else "system"
            yield item.event("interrupt", "interrupt", actor_class, "", attributes={"reason": payload.reason})
        case "event_msg", "error" | "stream_error" | "warning":
            yield item.event(
                "text", "other", "system", blocks_text(payload.message), attributes={"event": payload.type}
            )
        case "response_item", "message":
            yield from _message(session, item)
        case (
            "response_item",
            "function_call" | "custom_tool_call" | "local_shell_call" | "web_search_call" | "tool_search_call",
        ):
            yield _tool_call(item)
        case "response_item", "function_call_output" | "custom_tool_call_output":
            yield _tool_result(session, item)
        case "compacted", _:
            yield item.event("compaction", "compaction", "injected", blocks_text(payload.message))


def _prompt(session: _Session, item: _Item, text: str) -> Iterator[Event]:
    """A person's words; an editor puts what it has open before them, under headings of its own."""
    if session.is_subagent:
        yield item.event("text", "injected", "agent", text)
        return
    for part, words, human in user_parts(text):
        yield item.event(part, "prompt" if human else "injected", "human" if human else "injected", words)


def user_parts(text: str) -> Iterator[tuple[str, str, bool]]:
    """(name of the part, words, whether a person typed them) of what stands as a user's text."""
    request = _REQUEST.search(text)
    if request:
        yield "context", text[: request.start()], False
        text = text[request.end() :]
    if text.strip():
        yield "text", text, not _INJECTED.match(text)


def _message(session: _Session, item: _Item) -> Iterator[Event]:
    text = blocks_text(item.payload.content)
    if item.payload.role == "assistant":
        yield item.event("answer", "answer", "agent", text)
    elif item.payload.role != "user":
        yield item.event("text", "injected", "injected", text, attributes={"role": item.payload.role})
    elif _INJECTED.match(text) and not _REQUEST.search(text):
        yield item.event("text", "injected", "injected", text)
    elif not session.typed:
        yield from _prompt(session, item, text)
    elif text.strip() not in session.typed:
        # The session records what was typed, and this was not: a text injected in a form not met before.
        yield item.event("text", "injected", "injected", text)


def _tool_call(item: _Item) -> Event:
    payload = item.payload
    arguments = payload.arguments if payload.arguments is not None else payload.action
    if isinstance(arguments, str):
        with contextlib.suppress(msgspec.DecodeError, RecursionError):
            arguments = msgspec.json.decode(arguments)
    patch = payload.input if isinstance(payload.input, str) else None
    paths = patched_paths(patch or "")
    path = paths[0] if paths else call_path(arguments)
    about = {"paths": paths} if len(paths) > 1 else {}
    text = cut(patch) if patch is not None else call_text(arguments if arguments is not None else {})
    tool = payload.name or (payload.type or "").removesuffix("_call")
    return item.event(
        "call", "tool_call", "agent", text,
        tool=tool, call_id=payload.call_id, command=call_command(arguments), path=path, attributes=about,
    )  # fmt: skip


def _tool_result(session: _Session, item: _Item) -> Event:
    payload = item.payload
    call_id = payload.call_id or ""
    text, code = _output(payload.output)
    tool = session.tools.get(call_id)
    if code is None and _REJECTED.match(text):
        return item.event("result", "rejection", "human", "", tool=tool, call_id=payload.call_id, is_error=True)
    failed = code != 0 if code is not None else None
    if failed is None and call_id in session.patched:
        failed = not session.patched[call_id]
    return item.event(
        "result", "tool_result", "tool", text,
        tool=tool, call_id=payload.call_id, is_error=failed, exit_code=code, actor_alias=tool or "",
    )  # fmt: skip


def _output(output: Any) -> tuple[str, int | None]:
    """What a call printed and the exit code stated with it. There is no error flag: a running command has neither."""
    if isinstance(output, dict):
        output = output.get("content", output.get("output"))
    text = blocks_text(output)
    if text.startswith("{"):
        try:
            wrapped = msgspec.json.decode(text)
        except (msgspec.DecodeError, RecursionError):
            wrapped = None
        metadata = wrapped.get("metadata") if isinstance(wrapped, dict) else None
        if isinstance(metadata, dict) and isinstance(wrapped.get("output"), str):
            code = metadata.get("exit_code")
            return wrapped["output"], code if isinstance(code, int) else None
    # Only the lines before the output itself count: a log that was printed may state another exit code.
    header = text.split("\nOutput:", 1)[0] if "\nOutput:" in text else "\n".join(text.split("\n", 6)[:6])
    found = _EXIT_CODE.search(header)
    return text, int(found.group(1)) if found else None


def _usage(item: _Item, model: str | None) -> Event | None:
    """Tokens of the session so far; the last count of a turn stands for it."""
    total = item.payload.info.get("total_token_usage") if isinstance(item.payload.info, dict) else None
    if not isinstance(total, dict):
        return None
    about = {"tokens": total, "cumulative": True, "model": model}
    return item.event("usage", "usage", "system", "", attributes=about)
