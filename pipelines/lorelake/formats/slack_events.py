"""From the records of one Slack thread to events: one for each message, whatever the number of its versions.

An export shows a message as it stands at its time, so edits, reactions and deletions come as later versions. The
newest (by the time of its edit, then the day it was first kept) is what was said. A deletion beats every version,
also one that is imported after it: the words are gone, the replies stay. Slack never gives a ts twice and has no
way to bring a message back, so words under the ts of a deleted message are always an older capture.

A person or channel that is mentioned by id is shown under the name it had when the message was first kept with
one: a later change of name changes nobody's words.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from lorelake.formats.record import Event, Unit, UnitRecord, canonical, in_order
from lorelake.formats.slack_markup import from_blocks, links, plain

PEOPLE = "people"
"""Unit of the user list."""
NOBODY = "unknown"
"""Alias where a message names no speaker."""

_TS = re.compile(r"([0-9]{1,12})(?:\.([0-9]{1,6}))?")
_WRAPPED = {"message_changed": "message", "message_replied": "message", "message_deleted": "previous_message"}
"""Events of Slack's API that are about another message, and where they hold it."""
_HUMAN = frozenset({"", "file_share", "me_message", "thread_broadcast", "reply_broadcast", "file_comment"})
_BOT = frozenset({"bot_message", "slackbot_response"})
_FILE_KEYS = ("name", "mimetype", "size")
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
    latest_reply: Any = None
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
    """The message a record is about: itself, or the one inside an event of change or deletion."""
    inner = value.get(_WRAPPED.get(str(value.get("subtype")), ""))
    return inner if isinstance(inner, dict) else value


def timestamp(stated: Any) -> tuple[str, datetime] | None:
    """Slack's `seconds.microseconds`: the text as stated and the instant, without float arithmetic; None if neither.

    A number, which some tools write, is taken to its six decimals.
    """
    try:
        if isinstance(stated, float) or (isinstance(stated, int) and not isinstance(stated, bool)):
            stated = f"{stated:.6f}"
        found = _TS.fullmatch(stated) if isinstance(stated, str) else None
        if not found or not int(found[1]):
            return None
        offset = timedelta(seconds=int(found[1]), microseconds=int((found[2] or "").ljust(6, "0")))
        return found[0], datetime(1970, 1, 1, tzinfo=UTC) + offset
    except OverflowError:
        return None


def events(unit: Unit) -> list[Event]:
    """One event a message. Units of users and conversations have none."""
    stored: dict[str, list[UnitRecord]] = defaultdict(list)
    for record in in_order(unit.records):
        value = record.value
        if isinstance(value, dict) and "conversation" in value and isinstance(value.get("message"), dict):
            stored[record.id].append(record)
    root = unit.unit_id.rpartition(":")[2]
    return [_event(_versions(records), root) for records in stored.values()]


def _versions(records: Sequence[UnitRecord]) -> list[Version]:
    names: dict[str, str] = {}
    for record in sorted(records, key=lambda record: (record.first_kept, canonical(record.value))):
        for native, name in record.value.get("names", {}).items():
            if isinstance(name, str):  # redaction puts an object where a name is as long as a picture
                names.setdefault(native, name)
    return [_version(record, names) for record in records]


def _version(record: UnitRecord, names: Mapping[str, str]) -> Version:
    value = record.value["message"]
    about = said(value)
    try:
        message = msgspec.convert(about, Message)
    except msgspec.ValidationError:  # only a redaction that changed a field's type can do this
        message = Message(text=about.get("text") if isinstance(about.get("text"), str) else None)
    gone = "tombstone" in (value.get("subtype"), message.subtype) or value.get("subtype") == "message_deleted"
    gone = gone or (message.user == "USLACKBOT" and bool(message.hidden))
    return Version(record, message, gone, "" if gone else _words(message, names))


def _words(message: Message, names: Mapping[str, str]) -> str:
    """What the person said: the text, else the blocks' text; of a bot also what it attached."""
    if message.subtype == "file_share" and isinstance(message.file, dict):
        # Until 2018 the text of an upload was Slack's own sentence; what the person wrote lay inside the file.
        initial = message.file.get("initial_comment")
        return _comment(initial, names)
    if message.subtype == "file_comment" and message.comment is not None:
        return _comment(message.comment, names)
    text = message.text if isinstance(message.text, str) else ""
    if text.strip() and text.strip() not in _PLACEHOLDERS:
        return plain(text, names)
    blocks = from_blocks(message.blocks, names)
    if blocks or not _is_bot(message):
        return blocks
    attached = (_attached(item, names) for item in message.attachments) if isinstance(message.attachments, list) else ()
    return "\n".join(part for part in attached if part)


def _comment(comment: Any, names: Mapping[str, str]) -> str:
    text = comment.get("comment") if isinstance(comment, dict) else None
    return plain(text, names) if isinstance(text, str) else ""


def _attached(item: Any, names: Mapping[str, str]) -> str:
    parts = [item.get(key) for key in ("pretext", "title", "text")] if isinstance(item, dict) else []
    return "\n".join(plain(part, names) for part in parts if isinstance(part, str) and part)


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


def _newness(version: Version) -> tuple[bool, datetime, str, datetime, str]:
    """Order of versions: deletions last, then edits, then what was kept later, then what has seen later replies."""
    edited = version.message.edited.get("ts") if isinstance(version.message.edited, dict) else None
    return (
        version.deleted, _when(edited), version.record.first_kept, _when(version.message.latest_reply),
        canonical(version.record.value),
    )  # fmt: skip


def _when(stated: Any) -> datetime:
    found = timestamp(stated)
    return found[1] if found else datetime.min.replace(tzinfo=UTC)


def _attributes(versions: list[Version], newest: Version, conversation: str, root: str) -> dict[str, Any]:
    message = newest.message
    about: dict[str, Any] = {"channel": conversation, "thread_root": root}
    if newest.deleted:
        about["deleted_at"] = _deleted_at(versions)
    else:
        text = message.text if isinstance(message.text, str) else ""
        about |= {
            "subtype": message.subtype, "edited": bool(message.edited),
            "broadcast": any(version.message.subtype == "thread_broadcast" for version in versions),
            "reactions": _reactions(message.reactions), "files": _files(message), "links": links(text),
            "name": _name(message),
        }  # fmt: skip
    return {name: value for name, value in about.items() if value not in (None, False, [], {}, "")}


def _deleted_at(versions: list[Version]) -> str | None:
    """When, where an event of deletion says so; an export does not."""
    values = [version.record.value["message"] for version in versions]
    stated = [timestamp(value.get("ts")) for value in values if value.get("subtype") == "message_deleted"]
    return min((when[1].isoformat() for when in stated if when), default=None)


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
    """Name, type and size. Addresses may carry tokens, and serve nobody who reads a release."""
    stated = message.files if isinstance(message.files, list) else [message.file]
    named = ({key: file[key] for key in _FILE_KEYS if key in file} for file in stated if isinstance(file, dict))
    return [file for file in named if file]
