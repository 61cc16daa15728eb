"""The records of Claude Code that are understood, as typed structs told apart by `type`.

Fields are those that something reads. Everything else of a record stays in its stored body.
"""

from __future__ import annotations

from typing import Any, cast

import msgspec

from lorelake.formats.transcripts import typed


class Message(msgspec.Struct):
    """What was said; `id` and `usage` only stand on the model's messages."""

    content: Any = None
    id: str | None = None
    model: str | None = None
    usage: dict[str, Any] | None = None


class Entry(msgspec.Struct, rename="camel", tag_field="type"):
    """What the records of the tree share."""

    uuid: str | None = None
    parent_uuid: str | None = None
    logical_parent_uuid: str | None = None
    is_sidechain: bool | None = None


class UserEntry(Entry, tag="user"):
    """A person's words, the client's, or tool results."""

    message: Message | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    is_visible_in_transcript_only: bool | None = None
    plan_content: Any = None
    origin: Any = None
    prompt_source: str | None = None
    tool_use_result: Any = None
    tool_denial_kind: str | None = None


class AssistantEntry(Entry, tag="assistant"):
    """A piece of a message of the model."""

    message: Message | None = None
    request_id: str | None = None
    is_api_error_message: bool | None = None


class SystemEntry(Entry, tag="system"):
    """Local commands, compaction boundaries, hook summaries, API errors."""

    subtype: str | None = None
    content: Any = None
    compact_metadata: Any = None


class AttachmentEntry(Entry, tag="attachment"):
    """What the client handed to the model beside the prompt."""

    attachment: dict[str, Any] | None = None


class ProgressEntry(Entry, tag="progress"):
    """An echo; it only matters as a link of the tree."""


class QueueEntry(Entry, tag="queue-operation"):
    """A step of the prompt queue."""

    operation: str = ""
    content: Any = None
    reason: str | None = None


class MergeRequestEntry(Entry, tag="pr-link"):
    """The session opened or touched a pull request."""

    pr_number: int | None = None
    pr_url: str | None = None
    pr_repository: str | None = None


Known = (
    UserEntry | AssistantEntry | SystemEntry | AttachmentEntry | ProgressEntry | QueueEntry | MergeRequestEntry
)  # the tags make it one union


KNOWN_TYPES = ("user", "assistant", "system", "attachment", "progress", "queue-operation", "pr-link")


class TextBlock(msgspec.Struct, tag="text"):
    """Words."""

    text: str = ""


class ToolUse(msgspec.Struct, tag="tool_use"):
    """A call of a tool."""

    id: str = ""
    name: str = ""
    input: Any = None


class ToolResult(msgspec.Struct, tag="tool_result"):
    """What a call gave back."""

    tool_use_id: str | None = None
    content: Any = None
    is_error: bool | None = None


def understood(value: Any) -> Entry | None:
    """A record as the struct of its type; None for types that nothing reads, and for shapes not met before."""
    return typed(value, cast(type[Entry], Known))


def blocks(message: Message, kind: type[Any]) -> list[tuple[int, Any]]:
    """The blocks of one kind, with their place in the message."""
    if not isinstance(message.content, list):
        return []
    decoded = ((place, typed(block, kind)) for place, block in enumerate(message.content))
    return [(place, block) for place, block in decoded if block is not None]


def texts(message: Message) -> list[tuple[int, str]]:
    """The texts of a message, with their place in it."""
    if isinstance(message.content, str):
        return [(0, message.content)]
    if not isinstance(message.content, list):
        return []
    return [(place, block.text) for place, block in blocks(message, TextBlock)]
