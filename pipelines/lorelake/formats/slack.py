"""Slack exports: the official layout and slackdump's, API pages, and loose files of messages; a whole export a capture.

Which conversations are read is the settings' word (`slack.include`, by default public ones). A message of any other
is refused as `private`, with its hash and without a word of it; its conversation is still recorded, by id and kind
alone, so that a channel that has turned private can be withdrawn (`kinds`).

Unit = thread, `<channel id>:<thread_ts>`; record = `<channel id>:<ts>`. Both timestamps are kept as the text they are:
a float loses their last digits. slackdump puts a reply into the day file of its parent and the official export into
its own day's, so no time is taken from a file's name. A reply also sent to the channel is one record wherever it lies.
`value` is {"conversation": {"id", "kind"}, "message": …}.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from lorelake.formats import slack_events
from lorelake.formats.json_text import UndecodableError, fault, load, outline, refuse_value
from lorelake.formats.record import Capture, Event, Member, Record, Refusal, Unit, UnitFacts, refuse
from lorelake.formats.slack_events import PEOPLE, Message
from lorelake.formats.slack_export import (
    DAY_FILE,
    DM,
    LISTS,
    PRIVATE,
    PUBLIC,
    USERS,
    Conversation,
    Directory,
    folder_of,
    kind_of_entry,
    messages,
    privacy,
    root_of,
)  # fmt: skip

NAME = "slack"
SEEN = "official exports of 2015-2016, slackdump exports of 2026, and the fixtures of Zulip's importer"

_TS = re.compile(r"(\d{1,12})(?:\.(\d{1,6}))?")
_CHANNEL_KEYS = frozenset({"is_channel", "is_private", "is_archived", "is_im", "members", "purpose", "topic"})
_USER_KEYS = frozenset({"profile", "real_name", "team_id", "is_bot"})


def sniff(member: str, head: bytes) -> bool:
    """By the keys of the first object: a message, a page of them, a user or a conversation."""
    seen = outline(head)
    keys = seen.keys
    if seen.lines:
        return False
    if not seen.listed:
        return "messages" in keys and (b'"ts"' in head or bool({"has_more", "channel_id", "cursor"} & keys))
    message = "ts" in keys and bool({"text", "user", "subtype", "bot_id", "blocks"} & keys)
    entry = {"id", "name"} <= keys and bool((_CHANNEL_KEYS | _USER_KEYS) & keys)
    return message or entry or {"id", "created", "members"} <= keys


def read(capture: Capture) -> Iterator[Record | Refusal]:
    """Users, conversations and messages; one Record or Refusal for each, and one Refusal for an unreadable file."""
    members = sorted(capture.members, key=lambda member: member.name)
    root = root_of(members)
    directory, documents = Directory(), []
    for member in members:
        name = member.name.rpartition("/")[2]
        if f"{root}{name}" != member.name or name not in (*LISTS, *USERS):
            continue
        entries = _entries(member, private=LISTS.get(name, PUBLIC) != PUBLIC)
        if isinstance(entries, Refusal):
            yield entries
            continue
        documents.append((member, name, entries))
        for entry in entries if name in LISTS else ():
            if isinstance(entry, dict):
                directory.add(entry, name)
    workspace = f"workspace:{_team(documents) or capture.name}"
    for member, name, entries in documents:
        for position, entry in enumerate(entries, 1):
            yield _entry(capture, workspace, member.name, name, position, entry)
    listed = {f"{root}{name}" for name in (*LISTS, *USERS)}
    for member in members:
        if member.name not in listed:
            yield from _file(capture, member, root, directory)


def _entries(member: Member, private: bool) -> list[Any] | Refusal:
    data = member.read()
    try:
        value = load(data)
    except UndecodableError as error:
        found = refuse(member.name, data, error.reason, error.detail)
    else:
        if isinstance(value, list) or value is None:
            return value or []
        found = refuse(member.name, data, "wrong_shape", "no list of entries")
    if private:
        found.head = ""
    return found


def _team(documents: list[tuple[Member, str, list[Any]]]) -> str | None:
    """The workspace's id, from the first user or channel that states it."""
    for key in ("team_id", "context_team_id"):
        for _, _, entries in documents:
            for entry in entries:
                if isinstance(entry, dict) and isinstance(entry.get(key), str) and entry[key]:
                    return str(entry[key])
    return None


def _entry(capture: Capture, workspace: str, member: str, name: str, position: int, entry: Any) -> Record | Refusal:
    hidden = LISTS.get(name, PUBLIC) != PUBLIC
    if not isinstance(entry, dict) or not isinstance(entry.get("id"), str):
        return refuse_value(member, entry, "wrong_shape", "an entry without an id", position, private=hidden)
    broken = fault(entry)
    if broken:
        return refuse_value(member, entry, *broken, position, private=hidden)
    if name in USERS:
        return Record(PEOPLE, f"user:{entry['id']}", "user", None, entry, member, position)
    kind = kind_of_entry(entry, name)
    value = {"conversation": {"id": entry["id"], "kind": kind}}
    if kind in capture.include:
        value["entry"] = entry
    return Record(workspace, f"channel:{entry['id']}", "channel", None, value, member, position)


def _file(capture: Capture, member: Member, root: str, directory: Directory) -> Iterator[Record | Refusal]:
    folder = folder_of(member.name, root)
    around = directory.find(folder)
    data = member.read()
    found, reason, detail = None, "unknown_format", "no part of an export that is read"
    if member.name.endswith(".json"):
        try:
            found = messages(load(data), expected=DAY_FILE.search(member.name) is not None)
        except UndecodableError as error:
            reason, detail = error.reason, error.detail
    if found is None:
        refusal = refuse(member.name, data, reason, detail)
        if around is None or around.kind not in capture.include:
            refusal.head = ""
        yield refusal
        return
    for position, item in enumerate(found, 1):
        conversation = around or directory.find(item.conversation)
        unlisted = Conversation(item.conversation or folder or "unknown", PRIVATE)
        yield _message(capture, member.name, position, item.value, conversation or unlisted)


def _message(capture: Capture, member: str, position: int, value: Any, conversation: Conversation) -> Record | Refusal:
    if conversation.kind not in capture.include:
        detail = f"a message of a {conversation.kind} conversation; slack.include does not name it"
        return refuse_value(member, value, "private", detail, position, private=True)
    if not isinstance(value, dict):
        return refuse_value(member, value, "wrong_shape", "a message that is no object", position)
    about = slack_events.said(value)
    stated = value.get("deleted_ts") if value.get("subtype") == "message_deleted" else about.get("ts")
    if stated is None:
        return refuse_value(member, value, "no_time", "a message without ts", position)
    ts = timestamp(stated)
    if ts is None:
        return refuse_value(member, value, "bad_time", f"ts {str(stated)[:40]!r} is no possible time", position)
    broken = fault(value)
    if broken:
        return refuse_value(member, value, *broken, position)
    try:
        msgspec.convert(about, Message)
    except msgspec.ValidationError as error:
        return refuse_value(member, value, "wrong_shape", f"message: {error}", position)
    thread = timestamp(about.get("thread_ts")) or ts
    happened = timestamp(value.get("ts")) or ts if value.get("subtype") == "message_deleted" else ts
    subtype = value.get("subtype")
    return Record(
        f"{conversation.id}:{thread[0]}", f"{conversation.id}:{ts[0]}",
        subtype if isinstance(subtype, str) and subtype else "message", happened[1],
        {"conversation": {"id": conversation.id, "kind": conversation.kind}, "message": value}, member, position,
    )  # fmt: skip


def timestamp(stated: Any) -> tuple[str, datetime] | None:
    """Slack's `seconds.microseconds`: the text as stated and the instant, without float arithmetic; None if neither.

    A number, which some tools write, is taken to its six decimals.
    """
    if isinstance(stated, float) or (isinstance(stated, int) and not isinstance(stated, bool)):
        stated = f"{stated:.6f}"
    found = _TS.fullmatch(stated) if isinstance(stated, str) else None
    if not found or not int(found[1]):
        return None
    try:
        offset = timedelta(seconds=int(found[1]), microseconds=int((found[2] or "").ljust(6, "0")))
        return found[0], datetime(1970, 1, 1, tzinfo=UTC) + offset
    except OverflowError:
        return None


def kinds(unit: Unit) -> dict[str, str]:
    """Of a `workspace:` unit: conversation id to its present kind (public, private, dm), by the newest listing.

    A channel that was public and is now private has messages in raw that may no longer be shown to the team.
    """
    newest: dict[str, tuple[str, int, str]] = {}
    for record in unit.records:
        if record.type == "channel":
            conversation = record.value["conversation"]
            found = (record.first_kept, privacy(conversation["kind"]), conversation["kind"])
            newest[conversation["id"]] = max(found, newest.get(conversation["id"], found))
    return {native: kind for native, (_, _, kind) in sorted(newest.items())}


def facts(unit: Unit) -> UnitFacts:
    """A thread is told to the team if its channel is public, else to that channel's or message's people alone."""
    found = [record.value["conversation"] for record in unit.records if record.type not in ("user", "channel")]
    if not found:
        return UnitFacts(kind="thread")
    conversation = max(found, key=lambda one: privacy(one["kind"]))
    scopes = {PUBLIC: "team", PRIVATE: f"channel:{conversation['id']}", DM: f"dm:{conversation['id']}"}
    return UnitFacts(kind="thread", audience=scopes[conversation["kind"]])


def events(unit: Unit) -> list[Event]:
    """What was said in one thread; see `slack_events`."""
    return slack_events.events(unit)
