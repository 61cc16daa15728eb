"""From the records of a Copilot CLI session to events.

What a person typed is the `content` of `user.message`; `transformedContent` is what the client made of it and is never
read. A call is announced by the model's message, then by `tool.execution_start`; it is one event. A refusal is
recorded by `permission.completed` and again by the call's result; it is one event too. Hooks are kept and give none.

The shell reports success for a command that failed: its exit code stands in the result's text alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from lorelake.formats.copilot_cli_session import (
    Call,
    Data,
    Item,
    Session,
    decoded,
    is_from_person,
    requests_of,
    verdict_of,
)
from lorelake.formats.record import Event, Unit
from lorelake.formats.transcripts import blocks_text, call_command, call_path, call_text, cut, patched_paths

_INJECTED = re.compile(
    r"\s*(?:<(?:system_reminder|system-reminder|reminder|current_datetime|system_notification|skill-context"
    r"|skill_context|tagged_files|environment_context)[\s>])"
)
"""How a text begins that the client put together. What a program types into a session reads like a person's words, and
is taken for the words of whoever ran it."""
_REMINDER = re.compile(
    r"<(system_reminder|system-reminder|reminder|current_datetime|system_notification)>.*?</\1>\s*", re.DOTALL
)
_EXIT_CODE = re.compile(
    r"^<[^<>\n]{0,80}with exit code (-?\d{1,9})>[ \t]*$"
    r"|(?:completed|exited) with exit code (-?\d{1,9})\b[^\n]{0,2}\s*\Z",
    re.MULTILINE,
)
_SHELL = re.compile(r"shell|bash|terminal", re.IGNORECASE)
_REJECTED = re.compile(r"The user rejected this tool call\.?(?: User feedback: ?)?")
_DENIED = re.compile(
    r"Permission denied and could not request|(?:Tool|Access|This)[^\n]{0,80}\bdenied by\b|Denied by ", re.IGNORECASE
)
_ANSWER = re.compile(r"User (responded|selected): ")
_PLAN_WORDS = re.compile(r"[^\n]*\bUser feedback: ?")
_QUESTION_TOOL, _PLAN_TOOL = "ask_user", "exit_plan_mode"
_STOPPED_BY_PERSON = re.compile(r"user|remote", re.IGNORECASE)


def events(unit: Unit) -> list[Event]:
    """The events of one session, by time; lines of one millisecond in the order of their chain."""
    session = Session(unit)
    return [event for item in session.items for event in _events_of(session, item)]


def _events_of(session: Session, item: Item) -> Iterator[Event]:
    match item.record.type:
        case "user.message":
            yield from _prompt(item)
        case "assistant.message":
            yield from _answer(session, item)
        case "tool.execution_start" | "tool.user_requested":
            yield from _started(session, item)
        case "tool.execution_complete":
            yield from _result(session, item)
        case "permission.completed":
            yield from _permission(session, item)
        case "abort":
            yield _interrupt(item)
        case "session.compaction_complete":
            yield item.event("compaction", "compaction", "injected", blocks_text(item.data.summary_content))
        case "session.shutdown":
            yield _usage(item)
        case _:
            yield from _said_by_client(item)


def _said_by_client(item: Item) -> Iterator[Event]:
    data = item.data
    about = {"event": item.record.type, **({"name": data.name} if data.name else {})}
    match item.record.type:
        case "session.error" | "session.warning" | "session.info" if text := blocks_text(data.message):
            yield item.event("text", "other", "system", text, attributes=about)
        case "system.message" | "system.notification" | "skill.invoked" if text := blocks_text(data.content):
            yield item.event("text", "injected", "injected", text, attributes=about)
        case "session.handoff" if text := blocks_text(data.summary):
            yield item.event("text", "injected", "injected", text, attributes=about)


def _interrupt(item: Item) -> Event:
    reason = item.data.reason
    by_person = isinstance(reason, str) and _STOPPED_BY_PERSON.search(reason)
    return item.event("interrupt", "interrupt", "human" if by_person else "system", "", attributes={"reason": reason})


def _prompt(item: Item) -> Iterator[Event]:
    """A person's words, without the reminders that some versions leave in them."""
    data = item.data
    text = blocks_text(data.content)
    if item.agent or (isinstance(data.source, str) and data.source.startswith("agent-")):
        # The task a sub-agent was given: words of the agent that called it.
        yield item.event("text", "injected", "agent", text)
        return
    if not is_from_person(item) or _INJECTED.match(_REMINDER.sub("", text)):
        about = {"source": data.source} if data.source else {}
        yield item.event("text", "injected", "injected", text, attributes=about)
        return
    kind = "queued_prompt" if data.delivery in ("steering", "queued") else "prompt"
    start, number = 0, 0
    for reminder in [*_REMINDER.finditer(text), None]:
        words = text[start : reminder.start() if reminder else len(text)]
        if words.strip():
            yield item.event(f"text:{number}" if number else "text", kind, "human", words)
            number += 1
        if reminder:
            yield item.event(f"reminder:{reminder.start()}", "injected", "injected", reminder.group())
            start = reminder.end()


def _answer(session: Session, item: Item) -> Iterator[Event]:
    data = item.data
    text = blocks_text(data.content)
    if text.strip():
        about = {"model": data.model, "tokens": {} if data.output_tokens is None else {"output": data.output_tokens}}
        yield item.event("answer", "answer", "agent", text, attributes=about)
    for call_id in dict.fromkeys(request["toolCallId"] for request in requests_of(data)):
        if not session.call(call_id).started:  # refused before it started, or by a client that announces only here
            yield _tool_call(session, item, f"call:{call_id}", call_id)


def _started(session: Session, item: Item) -> Iterator[Event]:
    call_id = item.data.tool_call_id
    call = session.call(call_id)
    if not call.by_person:
        yield _tool_call(session, item, "call", call_id)
    elif item.record.type == "tool.user_requested":
        # A command the person ran in the agent's shell, like one typed beside it.
        yield item.event(
            "text", "injected", "injected", _text_of(decoded(call.arguments)), tool=call.tool, call_id=call_id
        )


def _text_of(arguments: Any) -> str:
    if isinstance(arguments, str):
        return cut(arguments)
    return call_text(arguments if arguments is not None else {})


def _tool_call(session: Session, item: Item, part: str, call_id: str | None) -> Event:
    call = session.call(call_id)
    arguments = decoded(call.arguments)
    paths = patched_paths(arguments) if isinstance(arguments, str) else []
    return item.event(
        part, "tool_call", "agent", _text_of(arguments), tool=call.tool, call_id=call_id,
        command=call_command(arguments), path=paths[0] if paths else call_path(arguments),
        attributes={"paths": paths} if len(paths) > 1 else {},
    )  # fmt: skip


def _permission(session: Session, item: Item) -> Iterator[Event]:
    """A refusal, unless the call's result, which follows it, tells as much."""
    verdict, words = verdict_of(item.data.result)
    call_id = session.called_of(item.data)
    call = session.call(call_id)
    if verdict and (not call.answered or (verdict == "rejection" and words)):
        yield _refusal(item, verdict, words, call.tool, call_id)


def _refusal(item: Item, verdict: str, words: str, tool: str | None, call_id: str | None) -> Event:
    actor_class = "human" if verdict == "rejection" else "system"
    return item.event("refusal", verdict, actor_class, words, tool=tool, call_id=call_id, is_error=True)


def _result(session: Session, item: Item) -> Iterator[Event]:
    data = item.data
    call = session.call(data.tool_call_id)
    text, code = _output(data, call.tool)
    common: dict[str, Any] = {"tool": call.tool, "call_id": data.tool_call_id}
    if call.by_person:
        yield item.event("result", "injected", "injected", text, **common)
        return
    failed = not data.success if data.success is not None else None
    if failed or call.verdict:
        stated, words = _refused(text, call)
        if stated == "rejection" and call.words:
            return  # the permission holds the words
        if stated:
            yield _refusal(item, stated, words, call.tool, data.tool_call_id)
            return
    if code is not None:
        failed = bool(failed or code)
    yield item.event(
        "result", "tool_result", "tool", text, is_error=failed, exit_code=code, actor_alias=call.tool or "", **common
    )
    if not failed:
        yield from _answered(item, call, text)


def _refused(text: str, call: Call) -> tuple[str, str]:
    """Whether a failed call was refused, by whom, and the person's words in its message."""
    rejected = _REJECTED.match(text)
    if rejected or call.verdict == "rejection":
        return "rejection", text[rejected.end() :].strip() if rejected else ""
    return ("denial", text) if call.verdict == "denial" or _DENIED.match(text) else ("", "")


def _output(data: Data, tool: str | None) -> tuple[str, int | None]:
    """What a call gave back, and the exit code that a block of it states or a shell's text ends with."""
    result: dict[str, Any] = data.result if isinstance(data.result, dict) else {"content": data.result}
    text = blocks_text(result.get("content")) or blocks_text(result.get("detailedContent"))
    if data.error is not None and not data.success:
        text = blocks_text(data.error.get("message") if isinstance(data.error, dict) else data.error) or text
    blocks = result.get("contents")
    for block in blocks if isinstance(blocks, list) else ():
        stated = block.get("exitCode") if isinstance(block, dict) else None
        if isinstance(stated, int) and not isinstance(stated, bool):
            return text, stated
    if tool is not None and not _SHELL.search(tool):
        return text, None  # a file that was read may end with such a line
    code = None
    for found in _EXIT_CODE.finditer(text):
        code = int(found.group(1) or found.group(2))
    return text, code


def _answered(item: Item, call: Call, text: str) -> Iterator[Event]:
    """A person's answer to the agent's question. An option that was picked is the agent's wording."""
    arguments = decoded(call.arguments)
    asked = arguments if isinstance(arguments, dict) else {}
    answer = _ANSWER.match(text) if call.tool == _QUESTION_TOOL else None
    if answer:
        words = text[answer.end() :]
        choices = asked.get("choices")
        picked = answer.group(1) == "selected" or (isinstance(choices, list) and words in choices)
        about = {"answers_question": True, "question": asked.get("question"), "picked_option": picked}
        yield item.event("answer", "prompt", "human", words, call_id=item.data.tool_call_id, attributes=about)
    plan = _PLAN_WORDS.match(text) if call.tool == _PLAN_TOOL else None
    if plan and (words := text[plan.end() :].strip()):
        yield item.event(
            "answer", "rejection", "human", words, is_error=True, tool=call.tool, call_id=item.data.tool_call_id
        )


def _usage(item: Item) -> Event:
    """The tokens of a session at its end, over all models; two ends that state one start count the same tokens."""
    body = item.record.value.get("data") if isinstance(item.record.value, dict) else None
    body = body if isinstance(body, dict) else {}
    metrics = body.get("modelMetrics")
    tokens: dict[str, int] = {}
    models: list[str] = []
    for model, metric in sorted(metrics.items()) if isinstance(metrics, dict) else ():
        models.append(model)
        usage = metric.get("usage") if isinstance(metric, dict) else None
        for field, count in usage.items() if isinstance(usage, dict) else ():
            if isinstance(count, int) and not isinstance(count, bool):
                tokens[field] = tokens.get(field, 0) + count
    about = {
        "tokens": tokens, "models": models, "since": body.get("sessionStartTime"),
        "premium_requests": body.get("totalPremiumRequests"), "code_changes": body.get("codeChanges"),
        "ended": body.get("shutdownType"),
    }  # fmt: skip
    return item.event("usage", "usage", "system", "", attributes=about)
