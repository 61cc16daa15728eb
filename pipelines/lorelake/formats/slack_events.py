"""From the records of one Slack thread to events: one for each message, whatever the number of its versions.

An export shows a message as it stands at its time, so edits, reactions and deletions come as later versions. The
newest (by the time of its edit, then the day it was first kept) is what was said. A deletion beats every version,
also one that is imported after it: the words are gone, the replies stay.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import msgspec

from lorelake.formats.record import Event, Unit, UnitRecord, canonical, in_order
from lorelake.formats.slack_markup import from_blocks, links, plain

PEOPLE = "people"
"""Unit of the user list."""
NOBODY = "unknown"
"""Alias where a message names no speaker."""

_HUMAN = frozenset({"", "file_share", "me_message", "thread_broadcast", "reply_broadcast", "file_comment"})
_BOT = frozenset({"bot_message", "slackbot_response"})
_PLACEHOLDERS = frozenset(
    {"This message was deleted.", "This content can't be displayed.", "This message contains interactive elements."}
)
"""Stock sentences Slack puts where it has no text to show; nobody said them."""

Words = str | dict[str, Any] | None
"""A text field; an object where redaction put a blob's description in its place."""


class Message(msgspec.Struct):
    """What is read of a message. Decoration is read with care at its place, so that odd shapes cost no message."""

    text: Words = None
    subtype: str | None = None
    user: str | None = None
    bot_id: str | None = None
    username: str | None = None
    hidden: bool | None = None
    blocks: Any = None
    attachments: Any = None
    edited: Any = None
    reactions: Any = None
    files: Any = None
    file: Any = None
    comment: Any = None
    user_profile: Any = None
    bot_profile: Any = None


class Version(msgspec.Struct):
    """One stored version of a message."""

    record: UnitRecord
    message: Message
    deleted: bool
    words: str


def said(value: dict[str, Any]) -> dict[str, Any]:
    """The message a record is about: itself, or the one inside a `message_changed` or `message_deleted`."""
    names = {"message_changed": "message", "message_deleted": "previous_message"}
    inner = value.get(names.get(str(value.get("subtype")), ""))
    return inner if isinstance(inner, dict) else value


def events(unit: Unit) -> list[Event]:
    """One event a message. Units of users and conversations have none."""
    versions: dict[str, list[Version]] = defaultdict(list)
    for record in in_order(unit.records):
        if isinstance(record.value, dict) and "message" in record.value:
            versions[record.id].append(_version(record))
    root = unit.unit_id.rpartition(":")[2]
    return [_event(found, root) for found in versions.values()]


def _version(record: UnitRecord) -> Version:
    value = record.value["message"]
    try:
        message = msgspec.convert(said(value), Message)
    except msgspec.ValidationError:  # only a redaction that changed a field's type can do this
        message = Message(text=said(value).get("text") if isinstance(said(value).get("text"), str) else None)
    gone = value.get("subtype") in ("tombstone", "message_deleted") or (
        message.user == "USLACKBOT" and bool(message.hidden)
    )
    return Version(record, message, gone, "" if gone else _words(message))


def _words(message: Message) -> str:
    """What the person said: the text, else the blocks' text; of a bot also what it attached."""
    if message.subtype == "file_share" and isinstance(message.file, dict):
        # Until 2018 the text of an upload was Slack's own sentence; what the person wrote lay inside the file.
        initial = message.file.get("initial_comment")
        return _comment(initial)
    if message.subtype == "file_comment" and message.comment is not None:
        return _comment(message.comment)
    text = message.text if isinstance(message.text, str) else ""
    if text.strip() and text.strip() not in _PLACEHOLDERS:
        return plain(text)
    blocks = from_blocks(message.blocks)
    if blocks or not _is_bot(message):
        return blocks
    attached = (_attached(item) for item in message.attachments) if isinstance(message.attachments, list) else ()
    return "\n".join(part for part in attached if part)


def _comment(comment: Any) -> str:
    text = comment.get("comment") if isinstance(comment, dict) else None
    return plain(text) if isinstance(text, str) else ""


def _attached(item: Any) -> str:
    parts = [item.get(key) for key in ("pretext", "title", "text")] if isinstance(item, dict) else []
    return "\n".join(plain(part) for part in parts if isinstance(part, str) and part)


def _is_bot(message: Message) -> bool:
    return bool(message.bot_id or message.bot_profile) or message.subtype in _BOT or message.user == "USLACKBOT"


def _speaker(message: Message) -> tuple[str, str]:
    """(alias, actor class). Who is not named cannot be a witness."""
    alias = message.user or message.bot_id or (f"bot:{message.username}" if message.username else None)
    if alias is None and isinstance(message.comment, dict) and isinstance(message.comment.get("user"), str):
        alias = message.comment["user"]
    if (message.subtype or "") not in _HUMAN | _BOT:  # joins, topics, added integrations: Slack's own sentence
        return alias or NOBODY, "system"
    if _is_bot(message):
        return alias or NOBODY, "bot"
    return alias or NOBODY, "human" if alias else "system"


def _event(versions: list[Version], root: str) -> Event:
    newest = max(versions, key=_newness)
    same = [version.record for version in versions if version.words == newest.words]
    if newest.deleted:
        same = [version.record for version in versions if version.deleted]
    first = min(same, key=lambda record: (record.first_kept, record.source_uri))
    record, message = newest.record, newest.message
    conversation, _, ts = record.id.rpartition(":")
    alias, actor_class = _speaker(message)
    system = actor_class == "system" and message.subtype and message.subtype not in _HUMAN
    kind = "message_deleted" if newest.deleted else "other" if system else "message"
    return Event(
        record_id=record.id, part="", ts=record.ts, text=newest.words, kind=kind,
        actor_alias=NOBODY if newest.deleted else alias, actor_class="system" if newest.deleted else actor_class,
        source_uri=first.source_uri, first_kept=first.first_kept,
        reply_to=f"{conversation}:{root}" if ts != root else None,
        attributes=_attributes(versions, newest, conversation, root),
    )  # fmt: skip


def _newness(version: Version) -> tuple[bool, tuple[int, int], str, str]:
    edited = version.message.edited.get("ts") if isinstance(version.message.edited, dict) else None
    seconds, _, rest = str(edited or "").partition(".")
    when = (int(seconds), int(rest.ljust(6, "0") or 0)) if seconds.isdigit() and (rest or "0").isdigit() else (0, 0)
    return version.deleted, when, version.record.first_kept, canonical(version.record.value)


def _attributes(versions: list[Version], newest: Version, conversation: str, root: str) -> dict[str, Any]:
    message = newest.message
    about: dict[str, Any] = {"channel": conversation, "thread_root": root}
    if not newest.deleted:
        text = message.text if isinstance(message.text, str) else ""
        about |= {
            "subtype": message.subtype, "edited": bool(message.edited),
            "broadcast": any(version.message.subtype == "thread_broadcast" for version in versions),
            "reactions": _reactions(message.reactions), "files": _files(message), "links": links(text),
            "name": _name(message),
        }  # fmt: skip
    return {name: value for name, value in about.items() if value not in (None, False, [], {}, "")}


def _name(message: Message) -> str | None:
    for profile in (message.user_profile, message.bot_profile):
        for key in ("display_name", "real_name", "name"):
            if isinstance(profile, dict) and isinstance(profile.get(key), str) and profile[key]:
                return str(profile[key])
    return message.username


def _reactions(stated: Any) -> dict[str, int]:
    """Emoji to the number of people; `users` may be cut short, so the greater of it and `count` holds."""
    found: dict[str, int] = {}
    for item in stated if isinstance(stated, list) else ():
        if isinstance(item, dict) and isinstance(item.get("name"), str):
            users, count = item.get("users"), item.get("count")
            listed = len(users) if isinstance(users, list) else 0
            found[item["name"]] = max(listed, count if isinstance(count, int) else 0)
    return dict(sorted(found.items()))


def _files(message: Message) -> list[dict[str, Any]]:
    stated = message.files if isinstance(message.files, list) else [message.file]
    return [
        {key: file[key] for key in ("name", "mimetype", "size") if key in file}
        for file in stated
        if isinstance(file, dict)
    ]
