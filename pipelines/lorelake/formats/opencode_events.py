"""From the records of an OpenCode session to events.

A person's words are the text parts of user messages, except those the client marked as synthetic or ignored, and
except all of a session that another one started. A slash command's template is stored as if it had been typed; the
store does not tell them apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from lorelake.formats.claude_code_texts import user_parts
from lorelake.formats.opencode_files import PART
from lorelake.formats.opencode_records import Item, Message, Part, State, Understood, instant
from lorelake.formats.record import Event, Unit
from lorelake.formats.transcripts import call_command, call_text, patched_paths

_REJECTED = re.compile(
    r"(?:Error: )?The user rejected permission to use this specific tool call"
    r"(?: with the following feedback: (?P<words>.*))?",
    re.DOTALL,
)
_DISMISSED = re.compile(r"(?:Error: )?The user dismissed this question")
_DENIED = re.compile(r"(?:Error: )?The user has specified a rule which prevents")
_PATH_FIELDS = ("filePath", "path", "file_path")
_QUESTION_TOOL = "question"


def events(unit: Unit) -> list[Event]:
    """The events of one session, by message and part."""
    known = Understood(unit)
    found: list[Event] = []
    counted = {item.value.message_id for item in known.parts if item.value.type == "step-finish"}
    for item in known.parts:
        found.extend(_part_events(known, item))
    for message_id, item in known.messages.items():
        found.extend(_message_events(item, counted=message_id in counted))
    for record in known.unread:
        item = Item(record, None, record.ts)
        found.append(item.event("record", "other", "system", "", attributes={"unread": record.type}))
    return sorted(found, key=lambda event: event.ts)


def _message_events(item: Item, counted: bool) -> Iterator[Event]:
    message: Message = item.value
    if isinstance(message.error, dict):
        name, data = message.error.get("name"), message.error.get("data")
        words = data.get("message") if isinstance(data, dict) else None
        ended = instant(message.time.completed)
        if name == "MessageAbortedError":
            yield item.event("error", "interrupt", "human", "", ended, attributes={"marker": name})
        else:
            text = words if isinstance(words, str) else ""
            yield item.event("error", "other", "system", text, ended, attributes={"error": name})
    if not counted and isinstance(message.tokens, dict) and any(message.tokens.get(k) for k in ("input", "output")):
        about = {"tokens": message.tokens, "model": message.model_id}
        yield item.event("usage", "usage", "system", "", attributes=about)


def _part_events(known: Understood, item: Item) -> Iterator[Event]:
    part: Part = item.value
    message = known.messages.get(part.message_id)
    role = message.value.role if message else ""
    match part.type:
        case "text" if isinstance(part.text, str) and part.text.strip():
            if role == "user":
                yield from _said(known, item, part.text)
            elif role == "assistant" and message is not None:
                yield _answered(item, message.value, part.text)
            else:
                # Whose message it was is not known, so it is nobody's word.
                yield item.event("text", "injected", "injected", part.text, attributes={"message": "missing"})
        case "tool" if part.state is not None:
            yield from _called(item, part.state)
        case "step-finish" if isinstance(part.tokens, dict):
            about = {"tokens": part.tokens, "cost": part.cost, "model": message.value.model_id if message else None}
            yield item.event("usage", "usage", "system", "", attributes=about)
        case "compaction":
            yield item.event("compaction", "compaction", "system", "")
        case "subtask" if isinstance(part.prompt, str):
            yield item.event("text", "injected", "injected", part.prompt, attributes={"part": part.type})
        case "retry":
            data = part.error.get("data") if isinstance(part.error, dict) else None
            words = data.get("message") if isinstance(data, dict) else None
            text = words if isinstance(words, str) else ""
            yield item.event("text", "other", "system", text, attributes={"part": part.type})
        case "tool":
            yield item.event("record", "other", "system", "", attributes={"unread": f"{PART} {part.type}"})


def _said(known: Understood, item: Item, text: str) -> Iterator[Event]:
    if item.value.synthetic or item.value.ignored:
        yield item.event("text:0", "injected", "injected", text)
    elif not known.typed_by_a_person:
        # The task that the calling agent set, or a session of which nothing says who began it.
        yield item.event("text:0", "injected", "agent", text)
    else:
        for number, part in enumerate(user_parts(text)):
            if part.kind == "prompt":
                yield item.event(f"text:{number}", "prompt", "human", part.text)
            else:
                yield item.event(f"text:{number}", "injected", "injected", part.text)


def _answered(item: Item, message: Message, text: str) -> Event:
    if message.summary is True:
        return item.event("text", "compaction", "injected", text)
    if item.value.synthetic or item.value.ignored:
        return item.event("text", "injected", "injected", text)
    return item.event("text", "answer", "agent", text, attributes={"model": message.model_id})


def _called(item: Item, state: State) -> Iterator[Event]:
    part: Part = item.value
    command = call_command(state.input)
    patch = state.input.get("patchText") if isinstance(state.input, dict) else None
    paths = patched_paths(patch) if isinstance(patch, str) else []
    path = paths[0] if paths else _path(state.input)
    common: dict[str, Any] = {"tool": part.tool, "call_id": part.call_id}
    yield item.event(
        "call", "tool_call", "agent", call_text(state.input if state.input is not None else {}),
        instant(state.time.start), command=command, path=path,
        attributes={"paths": paths} if len(paths) > 1 else {}, **common,
    )  # fmt: skip
    if state.status not in ("completed", "error"):
        return
    ended = instant(state.time.end)
    text = state.error if state.status == "error" else state.output
    text = text if isinstance(text, str) else ""
    metadata = state.metadata if isinstance(state.metadata, dict) else {}
    if state.status == "error":
        refused = _refused(item, text, ended, common)
        if refused is not None:
            yield refused
            return
    code = metadata.get("exit")
    code = code if isinstance(code, int) and not isinstance(code, bool) else None
    failed = state.status == "error" or code not in (None, 0)
    yield item.event(
        "result", "tool_result", "tool", text, ended,
        is_error=failed, exit_code=code, actor_alias=part.tool or "", **common,
    )  # fmt: skip
    if part.tool == _QUESTION_TOOL and state.status == "completed":
        yield from _answers(item, state.input, metadata.get("answers"), ended)


def _refused(item: Item, text: str, ended: datetime | None, common: dict[str, Any]) -> Event | None:
    if (rejected := _REJECTED.match(text)) is not None:
        words = (rejected["words"] or "").strip()
        about = {"prefix": False}
        return item.event("result", "rejection", "human", words, ended, is_error=True, attributes=about, **common)
    if _DISMISSED.match(text):
        return item.event(
            "result", "rejection", "human", "", ended, is_error=True, attributes={"prefix": False}, **common
        )
    if _DENIED.match(text):
        return item.event("result", "denial", "system", text, ended, is_error=True, **common)
    return None


def _answers(item: Item, given: Any, answers: Any, ended: datetime | None) -> Iterator[Event]:
    """A person's answers to the agent's questions. An option that was picked is the agent's wording."""
    questions = given.get("questions") if isinstance(given, dict) else None
    if not isinstance(questions, list) or not isinstance(answers, list):
        return
    for number, (question, answer) in enumerate(zip(questions, answers, strict=False)):
        chosen = [word for word in answer if isinstance(word, str)] if isinstance(answer, list) else []
        if not isinstance(question, dict) or not any(word.strip() for word in chosen):
            continue
        options = question.get("options")
        labels = (
            [option.get("label") for option in options if isinstance(option, dict)] if isinstance(options, list) else []
        )
        about = {
            "answers_question": True, "question": question.get("question"),
            "picked_option": all(word in labels for word in chosen),
        }  # fmt: skip
        yield item.event(
            f"answer:{number}",
            "prompt",
            "human",
            ", ".join(chosen),
            ended,
            call_id=item.value.call_id,
            attributes=about,
        )


def _path(given: Any) -> str | None:
    if not isinstance(given, dict):
        return None
    return next((given[name] for name in _PATH_FIELDS if isinstance(given.get(name), str)), None)
