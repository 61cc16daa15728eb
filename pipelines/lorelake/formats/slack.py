"""Slack exports: the official layout and slackdump's, API pages, and loose files of messages; a whole export a capture.

Which conversations are read is the settings' word (`slack.include`, by default public ones). A message of any other
is refused as `private`, with its hash and without a word of it; its conversation is still recorded, by id and kind
alone, so that a channel that has turned private can be withdrawn (`kinds`).

Unit = thread, `<channel id>:<thread_ts>`; record = `<channel id>:<ts>`. Both timestamps are kept as the text they are:
a float loses their last digits. slackdump puts a reply into the day file of its parent and the official export into
its own day's, so no time is taken from a file's name. A reply also sent to the channel is one record wherever it lies.
`value` is {"conversation": {"id", "kind"}, "message": …, "names": {id: name of who and what it mentions}}.

A file is decoded whole, so one above `slack_export.MOST_BYTES` is refused; slackdump's own database is not read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from lorelake.formats import slack_events
from lorelake.formats.json_text import UndecodableError, fault, load, outline, refuse_value
from lorelake.formats.record import Capture, Event, Member, Record, Refusal, Unit, UnitFacts, canonical, refuse
from lorelake.formats.slack_events import PEOPLE, Message, timestamp
from lorelake.formats.slack_export import (
    CHANNEL_KEYS,
    DAY_FILE,
    DM,
    LISTS,
    MOST_BYTES,
    NAMES,
    PRIVATE,
    PUBLIC,
    USER_KEYS,
    USERS,
    Conversation,
    Directory,
    entries,
    failed,
    folder_of,
    id_in,
    kind_of_entry,
    list_by_content,
    list_named,
    messages,
    name_of_user,
    privacy,
    root_of,
    text,
)  # fmt: skip
from lorelake.formats.slack_markup import mentioned

NAME = "slack"
SEEN = (
    "official exports of 2015-2016, slackdump exports of 2026, API pages as clients write them, and the fixtures of "
    "Zulip's importer"
)

_DATABASE = b"SQLite format 3\x00"
_SLACKDUMP_TABLES = (b"S_USER", b"CHANNEL_USER")


class _Listed(NamedTuple):
    """One entry of a list: where it stands, and which list that is."""

    member: str
    position: int
    listed_in: str
    entry: Any


class _Export:
    """What the lists of one capture say, and what is read with it."""

    def __init__(self, capture: Capture) -> None:
        self.capture = capture
        self.members = sorted(capture.members, key=lambda member: member.name)
        self.loose = [member.name for member in self.members] == [capture.name]
        self.root = capture.name[: capture.name.rfind("/") + 1] if self.loose else root_of(self.members)
        self.directory = Directory()
        self.names: dict[str, str] = {}
        self.workspace = f"workspace:{capture.name}"

    def learn(self, listed: list[_Listed]) -> None:
        """Take in all lists, before the first message is read. What `names.json` says comes after what users say."""
        found = [one for one in listed if isinstance(one.entry, dict) and text(one.entry.get("id"))]
        for one in sorted(found, key=lambda one: one.listed_in == NAMES):
            if one.listed_in in LISTS:
                self.directory.add(one.entry, one.listed_in)
            else:
                name = name_of_user(one.entry)
                if name:
                    self.names.setdefault(one.entry["id"], name)
        teams = (one.entry.get(key) for key in ("team_id", "context_team_id") for one in found)
        team = next(filter(None, map(text, teams)), None)
        if team:
            self.workspace = f"workspace:{team}"

    def includes(self, conversation: Conversation | None) -> bool:
        return conversation is not None and conversation.kind in self.capture.include

    def names_in(self, value: Any) -> dict[str, str]:
        """What to show for those whom a message mentions by id, as far as the lists tell."""
        shown: dict[str, str] = {}
        for native in mentioned(canonical(value)):
            name = self.directory.shown(native)
            name = self.names.get(native) if name is None else name
            if name is not None:
                shown[native] = name
        return shown


def sniff(member: str, head: bytes) -> bool:
    """By the keys of the first object: a message, a page of them, a user or a conversation; or slackdump's database."""
    if head.startswith(_DATABASE):
        return member.rpartition("/")[2] == "slackdump.sqlite" or any(name in head for name in _SLACKDUMP_TABLES)
    seen = outline(head)
    keys = seen.keys
    if seen.lines:
        return False
    if not seen.listed:
        page = "messages" in keys and (b'"ts"' in head or bool({"has_more", "channel_id", "cursor"} & keys))
        return page or ("ok" in keys and bool({"channels", "members"} & keys))
    message = "ts" in keys and bool({"text", "user", "subtype", "bot_id", "blocks"} & keys)
    entry = {"id", "name"} <= keys and bool((CHANNEL_KEYS | USER_KEYS) & keys)
    return message or entry or {"id", "created", "members"} <= keys


def read(capture: Capture) -> Iterator[Record | Refusal]:
    """Users, conversations and messages; one Record or Refusal for each, and one Refusal for an unreadable file."""
    export = _Export(capture)
    listed: list[_Listed] = []
    files = []
    for member in export.members:
        name = list_named(member.name, export.root) or (list_by_content(member.head()) if export.loose else None)
        if name is None:
            files.append(member)
            continue
        found = _entries(member, name)
        if isinstance(found, Refusal):
            yield found
        else:
            listed += [_Listed(member.name, position, name, entry) for position, entry in enumerate(found, 1)]
    export.learn(listed)
    for one in listed:
        yield _entry(export, one)
    for member in files:
        yield from _file(export, member)


def _entries(member: Member, name: str) -> list[Any] | Refusal:
    document = _document(member)
    if not isinstance(document, Refusal):
        error = failed(document)
        found = None if error else entries(document, name)
        if found is not None:
            return found
        detail = f"an answer without content: {error[:80]}" if error else "no list of entries"
        document = refuse(member.name, member.read(), "wrong_shape", detail)
    if name not in USERS:
        document.head = ""
    return document


def _document(member: Member) -> Any:
    """The decoded file, or the Refusal of it."""
    if member.head().startswith(_DATABASE):
        detail = "slackdump's database, which is not read; write an export from it: slackdump convert -f export"
        return _unread(member, "unknown_format", detail)
    if member.size > MOST_BYTES:
        detail = f"{member.size} bytes; a file of at most {MOST_BYTES} is read, so export by day or by thread"
        return _unread(member, "too_large", detail)
    data = member.read()
    try:
        return load(data)
    except UndecodableError as error:
        return refuse(member.name, data, error.reason, error.detail)


def _unread(member: Member, reason: str, detail: str) -> Refusal:
    sha256 = hashlib.sha256()
    with member.open() as stream:
        while chunk := stream.read(1024 * 1024):
            sha256.update(chunk)
    return Refusal(reason, detail, member.name, sha256=sha256.hexdigest())


def _entry(export: _Export, one: _Listed) -> Record | Refusal:
    hidden = one.listed_in not in USERS
    entry = one.entry
    if not isinstance(entry, dict) or not isinstance(entry.get("id"), str) or not entry["id"]:
        detail = "an entry without an id"
        return refuse_value(one.member, entry, "wrong_shape", detail, one.position, private=hidden)
    broken = fault(entry)
    if broken:
        return refuse_value(one.member, entry, *broken, one.position, private=hidden)
    if one.listed_in in USERS:
        return Record(PEOPLE, f"user:{entry['id']}", "user", None, entry, one.member, one.position)
    if one.listed_in == NAMES:
        return _name(export, one)
    kind = kind_of_entry(entry, one.listed_in)
    value: dict[str, Any] = {"conversation": {"id": entry["id"], "kind": kind}}
    if kind in export.capture.include:
        value["entry"] = entry
    if kind != PUBLIC:
        value["listed_in"] = export.capture.sha256
    return Record(export.workspace, f"channel:{entry['id']}", "channel", None, value, one.member, one.position)


def _name(export: _Export, one: _Listed) -> Record | Refusal:
    """A name alone says nothing of privacy, so a conversation's is kept only if a list tells that it is read."""
    entry = one.entry
    if not isinstance(entry["name"], str):
        return refuse_value(one.member, entry, "wrong_shape", "a name that is no text", one.position, private=True)
    person = entry["id"][:1] in ("U", "W")
    known = person or export.includes(export.directory.find(entry["id"]))
    value = entry if known else {"id": entry["id"]}
    unit = PEOPLE if person else export.workspace
    return Record(unit, f"name:{entry['id']}", "name", None, value, one.member, one.position)


def _file(export: _Export, member: Member) -> Iterator[Record | Refusal]:
    folder = folder_of(member.name, export.root)
    around = export.directory.find(folder)
    document = _document(member) if member.name.endswith((".json", ".sqlite")) else None
    refusal = document if isinstance(document, Refusal) else None
    found = None
    if not refusal:
        error = failed(document)
        found = None if error else messages(document, expected=DAY_FILE.search(member.name) is not None)
        if found is None:
            detail = f"an answer without content: {error[:80]}" if error else "no part of an export that is read"
            refusal = refuse(member.name, member.read(), "wrong_shape" if error else "unknown_format", detail)
    if refusal:
        if not export.includes(around):
            refusal.head = ""
        yield refusal
        return
    named = export.directory.find(member.name.rpartition("/")[2].removesuffix(".json"))
    for position, item in enumerate(found or (), 1):
        stated = export.directory.find(item.conversation)
        known = [one for one in (around, stated, named if not around and not item.conversation else None) if one]
        conversation = max(known, key=lambda one: privacy(one.kind), default=None)
        unlisted = item.conversation or folder or id_in(member.name) or f"file:{member.name}"
        yield _message(export, member.name, position, item.value, conversation, unlisted)


def _message(
    export: _Export, member: str, position: int, value: Any, listed: Conversation | None, unlisted: str
) -> Record | Refusal:
    conversation = listed or Conversation(unlisted, PRIVATE)
    if not export.includes(conversation):
        of = f"the {conversation.kind} conversation {conversation.id}"
        of = of if listed else f"the conversation {unlisted}, which no list names and so counts as private"
        return refuse_value(member, value, "private", f"of {of}; slack.include does not name it", position, True)
    if not isinstance(value, dict):
        return refuse_value(member, value, "wrong_shape", "a message that is no object", position)
    about = slack_events.said(value)
    stated = about.get("ts")
    if value.get("subtype") == "message_deleted":
        stated = value.get("deleted_ts") or (stated if about is not value else None)
    if stated is None:
        return refuse_value(member, value, "no_time", "a message without ts", position)
    ts = timestamp(stated)
    if ts is None:
        return refuse_value(member, value, "bad_time", f"ts {repr(stated)[:40]} is no possible time", position)
    broken = fault(value)
    if broken:
        return refuse_value(member, value, *broken, position)
    try:
        msgspec.convert(about, Message)
    except msgspec.ValidationError as error:
        return refuse_value(member, value, "wrong_shape", f"message: {error}", position)
    thread = timestamp(about.get("thread_ts")) or ts
    body = {"conversation": {"id": conversation.id, "kind": conversation.kind}, "message": value}
    names = export.names_in(value)
    if names:
        body["names"] = names
    subtype = value.get("subtype")
    return Record(
        f"{conversation.id}:{thread[0]}", f"{conversation.id}:{ts[0]}",
        subtype if isinstance(subtype, str) and subtype else "message", ts[1], body, member, position,
    )  # fmt: skip


def kinds(unit: Unit) -> dict[str, str]:
    """Of a `workspace:` unit: conversation id to its present kind (public, private, dm), by the newest listing.

    A channel that was public and is now private has messages in raw that may no longer be shown to the team. Of
    listings first kept on the same day the most private holds. A listing that is not public states the capture it is
    from, so that a channel that turns private a second time is seen to; a public one does not, so a channel opened
    again stays private until anything in its entry changes.
    """
    newest: dict[str, tuple[str, int, str]] = {}
    for record in unit.records:
        if record.type == "channel":
            conversation = record.value["conversation"]
            found = (record.first_kept, privacy(conversation["kind"]), conversation["kind"])
            newest[conversation["id"]] = max(found, newest.get(conversation["id"], found))
    return {native: kind for native, (_, _, kind) in sorted(newest.items())}


def members(unit: Unit) -> dict[str, frozenset[str]]:
    """Of a `workspace:` unit: conversation id to the ids of the users in it, by the newest listing that has any.

    An empty or missing list is a listing that failed or was not asked for, never "no one left", so it changes nothing;
    a conversation of which no list has members is left out: unknown. Of listings first kept on the same day only
    who is in all of them counts. Conversations whose kind is not included have no members on record.
    """
    newest: dict[str, tuple[str, frozenset[str]]] = {}
    for record in unit.records:
        stated = record.value.get("entry", {}).get("members") if record.type == "channel" else None
        found = frozenset(user for user in stated if isinstance(user, str)) if isinstance(stated, list) else None
        if not found:
            continue
        native = record.value["conversation"]["id"]
        day, before = newest.get(native, ("", frozenset()))
        if record.first_kept == day:
            newest[native] = (day, before & found)
        elif record.first_kept > day:
            newest[native] = (record.first_kept, found)
    return {native: users for native, (_, users) in sorted(newest.items())}


def place_of(unit_id: str) -> str | None:
    """The conversation that the unit `slack:<conversation id>:<thread_ts>` lies in; None for lists."""
    conversation, _, thread = unit_id.removeprefix(f"{NAME}:").rpartition(":")
    return conversation if timestamp(thread) and conversation not in ("", "workspace") else None


def facts(unit: Unit) -> UnitFacts:
    """A thread is told to the team if its channel is public, else to that channel's or message's people alone."""
    values = [record.value for record in unit.records]
    found = [value["conversation"] for value in values if "message" in value and "conversation" in value]
    if not found:
        return UnitFacts(kind="thread")
    conversation = max(found, key=lambda one: privacy(one["kind"]))
    scopes = {PUBLIC: "team", PRIVATE: f"channel:{conversation['id']}", DM: f"dm:{conversation['id']}"}
    return UnitFacts(kind="thread", audience=scopes[conversation["kind"]])


def events(unit: Unit) -> list[Event]:
    """What was said in one thread; see `slack_events`."""
    return slack_events.events(unit)
