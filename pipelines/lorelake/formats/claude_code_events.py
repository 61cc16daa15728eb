"""From the records of a Claude Code session to events.

One message of the model is spread over several records that share its id, one block each, with the usage
repeated: it is one answer, its tokens counted once. `progress` records echo what stands elsewhere and give no
events.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import msgspec

from lorelake.formats import claude_code_queue, claude_code_texts, claude_code_tree
from lorelake.formats.claude_code_entries import (
    KNOWN_TYPES,
    AssistantEntry,
    AttachmentEntry,
    Block,
    Entry,
    MergeRequestEntry,
    Message,
    QueueEntry,
    SystemEntry,
    UserEntry,
    blocks,
    calls,
    kinds,
    texts,
    undecoded,
    understood,
    whole_text,
)
from lorelake.formats.record import Event, Unit, UnitRecord
from lorelake.formats.transcripts import blocks_text, call_command, call_path, call_text, latest

AGENT = "claude_code"
_QUESTION_TOOL = "AskUserQuestion"
_SHELL_TOOLS = ("Bash", "PowerShell")


class Item(msgspec.Struct):
    """A record with what it was understood to be."""

    record: UnitRecord
    entry: Any
    live: bool = True

    def event(self, part: str, kind: str, actor_class: str, text: str, **more: Any) -> Event:
        """An event of this record."""
        alias = "" if actor_class in ("human", "tool") else AGENT
        more.setdefault("on_live_path", self.live)
        return Event(
            self.record.id, part, self.record.ts, more.pop("actor_alias", alias), actor_class, kind, text,
            self.record.source_uri, self.record.first_kept, **more,
        )  # fmt: skip


class _Session:
    """All records of one unit, and what must be known of the others to understand one."""

    def __init__(self, unit: Unit) -> None:
        self.items = _ordered([Item(record, understood(record)) for record in latest(unit.records)])
        self.calls: dict[str, Block] = {}
        self.pieces: dict[tuple[str, str], list[Item]] = defaultdict(list)
        for item in self.items:
            if isinstance(item.entry, AssistantEntry) and item.entry.message:
                self.pieces[_message_key(item)].append(item)
                self.calls.update((call_id, call) for _, call_id, _, call in calls(item.entry.message))
        for pieces in self.pieces.values():
            live = any(piece.live for piece in pieces)
            for piece in pieces:
                piece.live = live
        self.queue = self._queue()

    def _queue(self) -> dict[str, str]:
        steps: list[claude_code_queue.QueueStep] = []
        prompts: list[str] = []
        attached: set[str] | None = None
        for item in self.items:
            match item.entry:
                case QueueEntry() as step:
                    text = blocks_text(step.content)
                    steps.append(claude_code_queue.QueueStep(item.record.id, step.operation, text, step.reason))
                case UserEntry(message=Message() as message):
                    prompts.append(whole_text(message))
                case AttachmentEntry(attachment=dict() as queued) if queued.get("type") == "queued_command":
                    attached = (attached or set()) | {blocks_text(queued.get("prompt"))}
        self.enqueued = {step.text for step in steps if step.operation == "enqueue"}
        return claude_code_queue.fates(steps, prompts, attached)


def events(unit: Unit) -> list[Event]:
    """The events of one session or sub-agent, by time; parents stand before children of the same millisecond."""
    session = _Session(unit)
    found: list[Event] = []
    for item in session.items:
        match item.entry:
            case UserEntry(message=Message() as message):
                found.extend(_user(session, item, message))
            case AssistantEntry(message=Message()):
                found.extend(_assistant(session, item))
            case SystemEntry():
                found.extend(_system(item))
            case AttachmentEntry(attachment=dict() as attachment):
                found.extend(_attachment(session, item, attachment))
            case QueueEntry(operation="enqueue"):
                found.extend(_enqueued(session, item))
            case MergeRequestEntry() as link:
                found.append(_merge_request_link(item, link))
            case None if item.record.type in KNOWN_TYPES:
                # A known record of an unknown shape: the agent changed its format, and that must show.
                found.append(item.event("record", "other", "system", "", attributes={"unread": item.record.type}))
    return found


def _ordered(items: list[Item]) -> list[Item]:
    """By time, then place in the tree; marks what was rewound."""
    nodes: dict[str, claude_code_tree.Node] = {}
    for item in items:
        entry = item.entry
        if isinstance(entry, Entry) and entry.uuid:
            parent = entry.parent_uuid or entry.logical_parent_uuid
            nodes[item.record.id] = claude_code_tree.Node(item.record.id, parent, item.record.ts, _role(entry))
    depth = claude_code_tree.depths(nodes)
    dead = claude_code_tree.rewound(nodes)
    for item in items:
        item.live = item.record.id not in dead
    return sorted(items, key=lambda item: (item.record.ts, depth.get(item.record.id, 0), item.record.id))


def _role(entry: Entry) -> str:
    match entry:
        case AssistantEntry():
            return "turn"
        case UserEntry(message=Message() as message):
            said = {part.kind for _, text in texts(message) for part in _parts(entry, text)}
            if "prompt" in said and not entry.is_sidechain:
                return "prompt"
            return "turn" if "interrupt" in said or blocks(message, "tool_result") else "between"
    return "between"


def _message_key(item: Item) -> tuple[str, str]:
    message_id = item.entry.message.id
    return (message_id, item.entry.request_id or "") if message_id else ("", item.record.id)


def _parts(entry: UserEntry, text: str) -> list[claude_code_texts.Part]:
    """The pieces of a user record's text, after what the record itself says about its author."""
    if entry.is_compact_summary:
        return [claude_code_texts.Part("compaction", text)]
    origin = entry.origin.get("kind") if isinstance(entry.origin, dict) else None
    written_by_client = (
        entry.is_meta
        or entry.is_visible_in_transcript_only
        or entry.plan_content
        or entry.prompt_source == "system"
        or (origin is not None and origin != "human")
    )
    if written_by_client:
        return [claude_code_texts.Part("injected", text)]
    return list(claude_code_texts.user_parts(text))


def _user(session: _Session, item: Item, message: Message) -> Iterator[Event]:
    entry = item.entry
    for place, text in texts(message):
        for number, part in enumerate(_parts(entry, text)):
            name = f"text:{place}" if number == 0 else f"text:{place}.{number}"
            yield _said(item, name, part)
    for place, result in blocks(message, "tool_result"):
        yield from _tool_result(session, item, place, result)


def _said(item: Item, name: str, part: claude_code_texts.Part) -> Event:
    if part.kind == "interrupt":
        return item.event(name, "interrupt", "human", "", attributes={"marker": part.text})
    if part.kind == "prompt" and not item.entry.is_sidechain:
        return item.event(name, "prompt", "human", part.text)
    if part.kind == "prompt":
        # The task a sub-agent was given: words of the agent that called it, never a person's.
        return item.event(name, "injected", "agent", part.text)
    return item.event(name, part.kind, "injected", part.text)


def _tool_result(session: _Session, item: Item, place: int, result: Block) -> Iterator[Event]:
    call = session.calls.get(result.tool_use_id or "")
    tool = call.name if call else None
    failed = bool(result.is_error)
    text = blocks_text(result.content)
    kind, words = claude_code_texts.verdict(text, failed, item.entry.tool_denial_kind)
    common: dict[str, Any] = {"tool": tool, "call_id": result.tool_use_id}
    name = f"tool_result:{place}"
    if kind == "rejection":
        yield item.event(name, kind, "human", words, is_error=True, attributes={"prefix": False}, **common)
        return
    if kind == "denial":
        yield item.event(name, kind, "system", words, is_error=True, **common)
        return
    code = claude_code_texts.exit_code(text) if failed else None
    yield item.event(name, kind, "tool", text, is_error=failed, exit_code=code, actor_alias=tool or "", **common)
    if call and tool == _QUESTION_TOOL and not failed:
        yield from _answers(item, place, call, text)


def _answers(item: Item, place: int, call: Block, text: str) -> Iterator[Event]:
    """A person's answers to the agent's questions. An option that was picked is the agent's wording."""
    questions = _questions(call)
    result = undecoded(item.entry.tool_use_result)
    answers = result.get("answers") if isinstance(result, dict) else None
    if not isinstance(answers, dict):
        answers = {question: _quoted_answer(text, question) for question in questions}
    notes = result.get("annotations") if isinstance(result, dict) else None
    added = (
        [(q, note.get("notes")) for q, note in notes.items() if isinstance(note, dict)]
        if isinstance(notes, dict)
        else []
    )
    for number, (question, answer) in enumerate([*answers.items(), *added]):
        words = ", ".join(map(str, answer)) if isinstance(answer, list) else answer
        if not isinstance(words, str) or not words.strip():
            continue
        options = questions.get(question, ())
        picked = words in options or all(piece in options for piece in words.split(", "))
        about = {"answers_question": True, "question": question, "picked_option": picked}
        yield item.event(f"answer:{place}.{number}", "prompt", "human", words, call_id=call.id, attributes=about)


def _questions(call: Block) -> dict[str, tuple[str, ...]]:
    """Each question asked, with the labels of its options."""
    arguments = call.arguments
    asked = arguments.get("questions") if isinstance(arguments, dict) else None
    found: dict[str, tuple[str, ...]] = {}
    for item in asked if isinstance(asked, list) else []:
        if isinstance(item, dict) and isinstance(item.get("question"), str):
            options = item.get("options")
            labels = [o.get("label") for o in options if isinstance(o, dict)] if isinstance(options, list) else []
            found[item["question"]] = tuple(label for label in labels if isinstance(label, str))
    return found


def _quoted_answer(text: str, question: str) -> str | None:
    """The answer as the result's sentence quotes it: `"question"="answer"`, more pairs or a full stop after it."""
    found = re.search(
        re.escape(f'"{question}"="') + r'(.*?)"(?=, "|\. You can now| selected preview| notes:|$)', text, re.DOTALL
    )
    return found.group(1) if found else None


def _assistant(session: _Session, item: Item) -> Iterator[Event]:
    pieces = session.pieces[_message_key(item)]
    speaking = [piece for piece in pieces if texts(piece.entry.message)]
    if item is (speaking or pieces)[0]:
        yield _answer(item, pieces, bool(speaking))
    for place, call_id, tool, call in calls(item.entry.message):
        arguments = call.arguments
        command = call_command(arguments) if tool in _SHELL_TOOLS else None
        yield item.event(
            f"tool_use:{place}", "tool_call", "agent", call_text(arguments),
            tool=tool, call_id=call_id, command=command, path=call_path(arguments),
        )  # fmt: skip


def _answer(item: Item, pieces: list[Item], speaks: bool) -> Event:
    """One message of the model: its texts in order, and its tokens once, the largest value of each count."""
    tokens: dict[str, int] = {}
    found: list[str] = []
    for piece in pieces:
        for field, count in piece.entry.message.counts.items():
            tokens[field] = max(count, tokens.get(field, 0))
        found += kinds(piece.entry.message)
    message = item.entry.message
    about = {"tokens": tokens, "model": message.model, "blocks": found}
    text = "\n\n".join(text for piece in pieces for _, text in texts(piece.entry.message))
    if item.entry.is_api_error_message or message.model == "<synthetic>":
        return item.event("answer", "other", "system", text, attributes=about)
    return item.event("answer" if speaks else "usage", "answer" if speaks else "usage", "agent", text, attributes=about)


def _system(item: Item) -> Iterator[Event]:
    entry = item.entry
    text = blocks_text(entry.content)
    if entry.subtype == "compact_boundary":
        details = entry.compact_metadata if isinstance(entry.compact_metadata, dict) else {}
        yield item.event("compaction", "compaction", "system", text, attributes=dict(details))
    elif text:
        kind, actor_class = ("injected", "injected") if entry.subtype == "local_command" else ("other", "system")
        yield item.event("text", kind, actor_class, text, attributes={"subtype": entry.subtype})


def _attachment(session: _Session, item: Item, attachment: dict[str, Any]) -> Iterator[Event]:
    kind = attachment.get("type")
    about = {"attachment": kind, "hook": attachment.get("hookName")}
    if kind != "queued_command":
        text = blocks_text(attachment.get("content")) or blocks_text(attachment.get("stdout"))
        if text:
            yield item.event("attachment", "injected", "injected", text, attributes=about)
        return
    text = blocks_text(attachment.get("prompt"))
    if not text or text in session.enqueued:
        return
    origin = attachment.get("origin")
    human = (origin.get("kind") if isinstance(origin, dict) else "human") == "human"
    if human and claude_code_texts.is_typed(text):
        yield item.event("attachment", "queued_prompt", "human", text, attributes={"absorbed": True})
    else:
        yield item.event("attachment", "injected", "injected", text, attributes=about)


def _enqueued(session: _Session, item: Item) -> Iterator[Event]:
    text = blocks_text(item.entry.content)
    if not text:
        return
    fate = session.queue[item.record.id]
    about = {} if fate == "waiting" else {fate: True}
    live = fate not in ("dequeued", "withdrawn")
    if claude_code_texts.is_typed(text):
        yield item.event("queue", "queued_prompt", "human", text, on_live_path=live, attributes=about)
    else:
        yield item.event("queue", "injected", "injected", text, on_live_path=live, attributes=about)


def _merge_request_link(item: Item, link: MergeRequestEntry) -> Event:
    about = {"number": link.pr_number, "url": link.pr_url, "repository": link.pr_repository}
    return item.event("link", "merge_request_link", "system", link.pr_url or "", attributes=about)
