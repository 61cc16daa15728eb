"""From the records of a Gemini CLI session to events.

A message of the model holds its tool calls with their results, and is written again when they are there: the version
that holds the most of it counts. The client puts the files that a prompt names behind the prompt, and texts of its own
among the user's messages; neither is a person's.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import PurePosixPath
from typing import Any

import msgspec

from lorelake.formats.record import Event, Unit, UnitFacts, UnitRecord, canonical, parse_time
from lorelake.formats.transcripts import blocks_text, call_command, call_path, call_text, latest

AGENT = "gemini_cli"

_INJECTED = re.compile(
    r"\s*(?:<(?:session_context|state_snapshot|hook_context|project_context|system-reminder|system_reminder)[\s>]"
    r"|This is the Gemini CLI\. We are setting up the context for our chat\."
    r"|System: (?:Potential loop detected|Please continue)|Please continue\.\s*\Z"
    r"|Here is the user's editor context as a JSON object"
    r"|Here is a summary of changes in the user's editor context|--- Content from referenced files ---)"
)
_WRAPPED = re.compile(r"<(hook_context|session_context|system-reminder|system_reminder)>.*?</\1>\s*", re.DOTALL)
_FILES = "--- Content from referenced files ---"
_STOPPED = re.compile(r"\s*(?:Request cancelled|User cancelled the request)\.?\s*")
_EXIT_CODE = re.compile(r"^Exit Code: (-?\d{1,9})\b", re.MULTILINE)
_REASON = re.compile(r"\[Operation Cancelled\] Reason: (.*)", re.DOTALL)
_DENIED = re.compile(r"[^\n]{0,200}\bdenied by policy\b", re.IGNORECASE)
_PLAN_WORDS = re.compile(r"Plan rejected\. User feedback: (.*?)(?=\n\nThe plan is stored at|\Z)", re.DOTALL)
_SUB_AGENT_FILE = re.compile(r"(?:^|/)chats/([^/]+)/([^/]+)\.jsonl?(?::\d+)?$")

_RANK = {"user": 0, "gemini": 2}
_LONGEST_CALL = timedelta(days=1)


class _Call(msgspec.Struct, rename="camel"):
    """A tool call of a message. Any field may be missing or of another shape."""

    id: Any = None
    name: Any = None
    args: Any = None
    result: Any = None
    status: Any = None
    timestamp: Any = None
    result_display: Any = None

    @property
    def tool(self) -> str | None:
        """The tool's name."""
        return self.name if isinstance(self.name, str) else None

    @property
    def call_id(self) -> str | None:
        """The native id."""
        return self.id if isinstance(self.id, str) and self.id else None


class _Item(msgspec.Struct):
    record: UnitRecord
    live: bool = True

    @property
    def body(self) -> dict[str, Any]:
        return self.record.value if isinstance(self.record.value, dict) else {}

    def event(self, part: str, kind: str, actor_class: str, text: str, **more: Any) -> Event:
        alias = "" if actor_class in ("human", "tool") else AGENT
        return Event(
            self.record.id, part, more.pop("ts", self.record.ts), more.pop("actor_alias", alias), actor_class, kind,
            text, self.record.source_uri, self.record.first_kept, on_live_path=self.live, **more,
        )  # fmt: skip


def facts(unit: Unit) -> UnitFacts:
    """The session's folders where they are stated or proved, and the session that called a sub-agent.

    A chat names its project by the hash of its folder alone. The folder is known where a tool was given a path below
    it, as its hash proves.
    """
    heads = [_head(record) for record in latest(unit.records, _growth) if record.type in ("session", "$set")]
    folders: dict[str, None] = {}
    hashes = {head["projectHash"] for head in heads if isinstance(head.get("projectHash"), str)}
    folders.update(dict.fromkeys(folder for folder in _ancestors(unit) if _sha256(folder) in hashes))
    for head in heads:
        stated = head.get("directories")
        folders.update(dict.fromkeys(one for one in stated if isinstance(one, str)) if isinstance(stated, list) else {})
    return UnitFacts("session", cwds=tuple(folders), agent=AGENT, parent_unit=_parent(unit) if _is_sub(heads) else None)


def _head(record: UnitRecord) -> dict[str, Any]:
    """What a record says about the whole session."""
    body = record.value if isinstance(record.value, dict) else {}
    told = body.get("$set") if record.type == "$set" else body
    return told if isinstance(told, dict) else {}


def _is_sub(heads: list[dict[str, Any]]) -> bool:
    return any(head.get("kind") == "subagent" for head in heads)


def _parent(unit: Unit) -> str | None:
    """The session whose folder a sub-agent's file lies in; nothing in the file says it."""
    native = unit.unit_id.removeprefix(f"{AGENT}:")
    found = (_SUB_AGENT_FILE.search(record.source_uri) for record in unit.records)
    return min((match[1] for match in found if match and match[2] == native), default=None)


def _ancestors(unit: Unit) -> Iterator[str]:
    """The folders above every absolute path that a tool was given."""
    seen: set[str] = set()
    for record in unit.records:
        for call in _calls(record.value if isinstance(record.value, dict) else {}):
            for value in call.args.values() if isinstance(call.args, dict) else ():
                if isinstance(value, str) and value.startswith("/") and len(value) < 1000 and "\n" not in value:
                    for folder in map(str, (PurePosixPath(value), *PurePosixPath(value).parents)):
                        if folder not in seen:
                            seen.add(folder)
                            yield folder


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _growth(value: Any) -> tuple[int, ...]:
    """How far a message had got when it was written, or when the head was."""
    body = value if isinstance(value, dict) else {}
    calls = _calls(body)
    updated = parse_time(body.get("lastUpdated"))
    return (
        len(calls), sum(call.result is not None for call in calls), int(bool(body.get("tokens"))),
        int(updated.timestamp() * 1000) if updated else 0,
    )  # fmt: skip


def _calls(body: dict[str, Any]) -> list[_Call]:
    calls = body.get("toolCalls")
    return [msgspec.convert(call, _Call) for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []


def events(unit: Unit) -> list[Event]:
    """The events of one session, by time; of one millisecond the person's first."""
    records = latest(unit.records, _growth)
    dead = _rewound(records)
    items = [_Item(record, record.id not in dead) for record in records]
    items.sort(key=lambda item: (item.record.ts, _RANK.get(item.record.type, 1), item.record.id))
    is_sub = _is_sub([_head(record) for record in records if record.type in ("session", "$set")])
    known = {record.id for record in records}
    found = [event for item in items for event in _events_of(item, is_sub, known)]
    if found:
        found += [_session(item) for item in items if item.record.type == "session"]
    return sorted(found, key=lambda event: event.ts)


def _rewound(records: list[UnitRecord]) -> set[str]:
    """Ids of the messages that were taken back: the one that is named and what was said after it until then."""
    times = {record.id: record.ts for record in records if not record.type.startswith("$")}
    dead: set[str] = set()
    for record in records:
        if record.type == "$rewindTo":
            target = record.value.get("$rewindTo") if isinstance(record.value, dict) else None
            start = times.get(target) if isinstance(target, str) else None
            dead |= {one for one, ts in times.items() if ts <= record.ts and (start is None or ts >= start)}
    return dead


def _session(item: _Item) -> Event:
    """What the chat says of its project, for those who can match it."""
    about = {"project_hash": item.body.get("projectHash"), "summary": item.body.get("summary")}
    return item.event("session", "other", "system", "", attributes={k: v for k, v in about.items() if v is not None})


def _events_of(item: _Item, is_sub: bool, known: set[str]) -> Iterator[Event]:
    match item.record.type:
        case "user" if is_sub:
            # The task a sub-agent was given: words of the agent that called it.
            if text := _text(item.body.get("content")):
                yield item.event("text", "injected", "agent", text)
        case "user":
            yield from _prompt(item)
        case "gemini":
            yield from _message(item)
        case "info" | "warning" | "error":
            yield from _said_by_client(item)
        case "$set":
            yield from _compaction(item, known)


def _text(content: Any) -> str:
    return blocks_text([content] if isinstance(content, dict) else content)


def _said_by_client(item: _Item) -> Iterator[Event]:
    text = _text(item.body.get("content"))
    if _STOPPED.fullmatch(text):
        yield item.event("interrupt", "interrupt", "human", "", attributes={"marker": text.strip()})
    elif text:
        yield item.event("text", "other", "system", text, attributes={"event": item.record.type})


def _prompt(item: _Item) -> Iterator[Event]:
    """A person's words, apart from files and notes that the client put behind or before them."""
    sent, shown = _text(item.body.get("content")), _text(item.body.get("displayContent"))
    if shown.strip() and not _INJECTED.match(shown):
        yield item.event("text", "prompt", "human", shown)
        if sent.strip() and sent.strip() != shown.strip():
            yield item.event("context", "injected", "injected", sent)
        return
    start = number = 0
    end = sent.find(_FILES)
    end = len(sent) if end < 0 else end
    for wrapped in [*_WRAPPED.finditer(sent, 0, end), None]:
        words = sent[start : wrapped.start() if wrapped else end]
        if words.strip():
            injected = bool(_INJECTED.match(words))
            kind, actor_class = ("injected", "injected") if injected else ("prompt", "human")
            yield item.event(f"text:{number}" if number else "text", kind, actor_class, words)
            number += 1
        if wrapped:
            yield item.event(f"context:{wrapped.start()}", "injected", "injected", wrapped.group())
            start = wrapped.end()
    if sent[end:].strip():
        yield item.event("files", "injected", "injected", sent[end:])


def _compaction(item: _Item, known: set[str]) -> Iterator[Event]:
    """A history that was put in place of the messages; what stands in it alone is the client's summary."""
    history = _head(item.record).get("messages")
    for place, message in enumerate(history if isinstance(history, list) else ()):
        if isinstance(message, dict) and message.get("type") == "user" and str(message.get("id")) not in known:
            yield item.event(f"compaction:{place}", "compaction", "injected", _text(message.get("content")))


def _message(item: _Item) -> Iterator[Event]:
    body = item.body
    model = body.get("model") if isinstance(body.get("model"), str) else None
    thoughts = body.get("thoughts")
    if (text := _text(body.get("content"))).strip():
        about = {"model": model, "thoughts": len(thoughts) if isinstance(thoughts, list) else 0}
        yield item.event("answer", "answer", "agent", text, attributes=about)
    for place, call in enumerate(_calls(body)):
        yield item.event(
            f"call:{place}", "tool_call", "agent", call_text(call.args if call.args is not None else {}),
            tool=call.tool, call_id=call.call_id, command=call_command(call.args), path=call_path(call.args),
        )  # fmt: skip
        yield from _result(item, place, call)
    tokens = body.get("tokens")
    counted = {name: count for name, count in tokens.items() if _is_count(count)} if isinstance(tokens, dict) else {}
    if any(counted.values()):
        yield item.event("usage", "usage", "system", "", attributes={"tokens": counted, "model": model})


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _ended(item: _Item, call: _Call) -> datetime:
    """When a call had its result; a time that cannot be is not believed."""
    began, ended = item.record.ts, parse_time(call.timestamp)
    return ended if ended and began <= ended and ended - began <= _LONGEST_CALL else began


def _result(item: _Item, place: int, call: _Call) -> Iterator[Event]:
    text = _output(call)
    common: dict[str, Any] = {"tool": call.tool, "call_id": call.call_id, "ts": _ended(item, call)}
    part = f"result:{place}"
    if call.status == "cancelled":
        reason = _REASON.search(text)
        about = {"reason": reason.group(1)} if reason else {}
        yield item.event(part, "rejection", "human", "", is_error=True, attributes=about, **common)
        return
    if call.status == "error" and _DENIED.match(text):
        yield item.event(part, "denial", "system", text, is_error=True, **common)
        return
    if call.status not in ("success", "error") and call.result is None:
        return  # not ended when this was written
    codes = _EXIT_CODE.findall(text) if "shell" in (call.tool or "").lower() else []
    code = int(codes[-1]) if codes else None
    failed = {"error": True, "success": False}.get(call.status) if isinstance(call.status, str) else None
    if code is not None:
        failed = bool(failed or code)
    yield item.event(
        part, "tool_result", "tool", text, is_error=failed, exit_code=code, actor_alias=call.tool or "", **common
    )
    yield from _answers(item, place, call, text, common)


def _output(call: _Call) -> str:
    """What a call gave back to the model, else what was shown of it."""
    parts = call.result if isinstance(call.result, list) else [call.result]
    found = [text for part in parts if (text := _part_text(part))]
    return "\n".join(found) or (call.result_display if isinstance(call.result_display, str) else "")


def _part_text(part: Any) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return ""
    answer = part.get("functionResponse")
    response = answer.get("response") if isinstance(answer, dict) else None
    if isinstance(response, dict) and response:
        said = next((response[name] for name in ("output", "error", "content") if name in response), None)
        return said if isinstance(said, str) else canonical(response)
    return part["text"] if isinstance(part.get("text"), str) else ""


def _answers(item: _Item, place: int, call: _Call, text: str, common: dict[str, Any]) -> Iterator[Event]:
    """What a person said to a question or a plan of the agent. An option that was picked is the agent's wording."""
    if call.tool == "exit_plan_mode" and (plan := _PLAN_WORDS.match(text)):
        yield item.event(f"answer:{place}", "rejection", "human", plan.group(1), is_error=True, **common)
    if call.tool != "ask_user":
        return
    try:
        said = msgspec.json.decode(text, type=dict[str, Any]).get("answers")
    except (msgspec.MsgspecError, RecursionError):
        return
    asked = call.args.get("questions") if isinstance(call.args, dict) else None
    for name, words in said.items() if isinstance(said, dict) else ():
        if not isinstance(words, str) or not words.strip():
            continue
        question = _question(asked, name)
        options = question.get("options")
        labels = [o.get("label") for o in options if isinstance(o, dict)] if isinstance(options, list) else []
        picked = words in labels or all(piece in labels for piece in words.split(", "))
        about = {"answers_question": True, "question": question.get("question"), "picked_option": picked}
        yield item.event(f"answer:{place}.{name}", "prompt", "human", words, attributes=about, **common)


def _question(asked: Any, name: str) -> dict[str, Any]:
    """The question that an answer of this name is to: its place in the list, from 0."""
    place = int(name) if name.isdecimal() and len(name) < 5 else -1
    found = asked[place] if isinstance(asked, list) and 0 <= place < len(asked) else None
    return found if isinstance(found, dict) else {}
