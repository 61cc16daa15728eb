"""The records of Claude Code that are understood, as typed structs told apart by `type`.

Fields are those that something reads. Everything else of a record stays in its stored body.
"""

from __future__ import annotations

from typing import Any, cast, get_args

import msgspec

from lorelake.formats.record import UnitRecord
from lorelake.formats.transcripts import blocks_text


class Block(msgspec.Struct, gc=False):
    """A piece of a message: words, a call of a tool, what a call gave back, or something else.

    One struct for all of them, since new kinds come with new versions and a union would refuse the whole record.
    """

    type: str = ""
    text: str | None = None
    id: str | None = ""
    name: str | None = ""
    input: msgspec.Raw = msgspec.Raw()
    tool_use_id: str | None = None
    content: Any = None
    is_error: bool | None = None

    @property
    def arguments(self) -> Any:
        """A call's input, decoded."""
        return undecoded(self.input)


class Message(msgspec.Struct, gc=False):
    """What was said; `id` and `usage` only stand on the model's messages.

    A block of a shape not met before stays a plain dictionary, and what is no block stays as it is.
    """

    content: str | list[Block] | None = None
    id: str | None = None
    model: str | None = None
    usage: msgspec.Raw = msgspec.Raw()

    @property
    def counts(self) -> dict[str, int]:
        """The whole numbers of `usage`."""
        used = undecoded(self.usage)
        items = used.items() if isinstance(used, dict) else ()
        return {name: n for name, n in items if isinstance(n, int) and not isinstance(n, bool)}


class Entry(msgspec.Struct, rename="camel", tag_field="type", gc=False):
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
    tool_use_result: msgspec.Raw = msgspec.Raw()
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


class _Outer(msgspec.Struct):
    """A record whose message is read apart."""

    message: dict[str, Any] | None = None


_ANY = msgspec.json.Decoder(cast(type[Entry], Known))
_DECODERS: dict[str, msgspec.json.Decoder[Any]] = {
    str(kind.__struct_config__.tag): msgspec.json.Decoder(kind) for kind in get_args(Known)
}
"""By type. In a stored body the type comes last, and a decoder that must look for it first reads everything twice."""


def understood(record: UnitRecord) -> Entry | None:
    """A record as the struct of its type; None for types that nothing reads, and for shapes not met before."""
    return parsed(record.body, _DECODERS[record.type]) if record.type in _DECODERS else None


def parsed(text: str | bytes, decoder: msgspec.json.Decoder[Any] = _ANY) -> Entry | None:
    """A record decoded from its JSON text: what no field asks for is passed over.

    A tool's result stands in a record twice; the second time, half of all bytes, it is kept as text.
    """
    try:
        return cast(Entry, decoder.decode(text))
    except msgspec.ValidationError as error:
        return _odd(text) if "`$.message.content" in str(error) else None
    except RecursionError:
        return None


def _odd(text: str | bytes) -> Entry | None:
    """A record with a block of another shape than `Block`: that block is left as it is, its neighbours are read."""
    try:
        value = msgspec.json.decode(text, type=dict[str, Any])
        message = msgspec.convert(value, _Outer).message
        items = message.get("content") if message else None
        if message is None or isinstance(items, str):
            return None
        entry = _ANY.decode(msgspec.json.encode({**value, "message": {**message, "content": None}}))
    except (msgspec.ValidationError, RecursionError):
        return None
    if isinstance(items, list):
        cast(Any, entry).message.content = [_block(item) for item in items]
    return entry


def _block(item: Any) -> Any:
    if not isinstance(item, dict):
        return item
    try:
        return msgspec.json.decode(msgspec.json.encode(item), type=Block)
    except (msgspec.ValidationError, RecursionError):
        return item


def undecoded(text: msgspec.Raw) -> Any:
    """A field that was kept as text, decoded; None where it was missing."""
    return msgspec.json.decode(text) if bytes(text) else None


def blocks(message: Message, kind: str) -> list[tuple[int, Block]]:
    """The blocks of one type, with their place in the message."""
    content = message.content
    if not isinstance(content, list):
        return []
    return [(place, block) for place, block in enumerate(content) if isinstance(block, Block) and block.type == kind]


def texts(message: Message) -> list[tuple[int, str]]:
    """The texts of a message, with their place in it."""
    if isinstance(message.content, str):
        return [(0, message.content)]
    return [(place, block.text) for place, block in blocks(message, "text") if block.text is not None]


def calls(message: Message) -> list[tuple[int, str, str, Block]]:
    """(place, id, tool, block) of the calls in a message."""
    return [
        (place, block.id, block.name, block)
        for place, block in blocks(message, "tool_use")
        if block.id is not None and block.name is not None
    ]


def whole_text(message: Message) -> str:
    """All that a message says, whatever the types of its blocks."""
    if not isinstance(message.content, list):
        return message.content or ""
    found = [block.text if isinstance(block, Block) else blocks_text([block]) or None for block in message.content]
    return "\n".join(text for text in found if text is not None)


def kinds(message: Message) -> list[str]:
    """The types of a message's blocks, as they stand."""
    items: list[Any] = message.content if isinstance(message.content, list) else []
    told = [item.type or None if isinstance(item, Block) else item.get("type") for item in items if _is_block(item)]
    return [str(kind) for kind in told]


def _is_block(item: Any) -> bool:
    return isinstance(item, Block | dict)
