"""A Slack export's lists and files: which conversations there are, who is in them, and which file holds which.

Privacy fails closed: what no list names is private, and where two lists disagree the more private word holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from lorelake.formats.json_text import outline
from lorelake.formats.record import Member

PUBLIC, PRIVATE, DM = "public", "private", "dm"
OF_ANY_KIND = "conversations.json"
LISTS = {"channels.json": PUBLIC, "groups.json": PRIVATE, "mpims.json": DM, "dms.json": DM, OF_ANY_KIND: PUBLIC}
"""Lists of conversations and what being listed there means, unless an entry says something more private."""
DAY_FILE = re.compile(r"(?:^|/)\d{4}-\d{2}-\d{2}\.json$")
USERS = ("users.json", "org_users.json")
NAMES = "names.json"
"""Ids to names, beside API pages."""
MOST_BYTES = 128 * 1024**2
"""Largest file that is read: decoding one takes about three times its size."""

CHANNEL_KEYS = frozenset({"is_channel", "is_private", "is_archived", "is_im", "members", "purpose", "topic"})
USER_KEYS = frozenset({"profile", "real_name", "team_id", "is_bot"})
"""By which an entry of a list is known."""

_ONE_USER = re.compile(r"users/[^/]+\.json")
_ID = re.compile(r"(?<![A-Za-z0-9])[CDG][A-Z0-9]{8,}(?![A-Za-z0-9])")


def privacy(kind: str) -> int:
    """Order of the kinds, the most private last."""
    return (PUBLIC, PRIVATE, DM).index(kind)


_END = object()


class Conversation(msgspec.Struct, frozen=True):
    """A channel, group or direct message: native id and kind of privacy."""

    id: str
    kind: str


class Found(msgspec.Struct, frozen=True):
    """One message of a file, and the name or id of the conversation it says it is from, if it says so."""

    value: Any
    conversation: str | None


def kind_of_entry(entry: dict[str, Any], listed_in: str) -> str:
    """How private a listed conversation is. A flag that is neither true nor false makes it private.

    The official `channels.json` of 2015 has no `is_private`: it listed public channels only. A list of all kinds
    must say it of each.
    """
    if entry.get("is_im") or entry.get("is_mpim") or LISTS[listed_in] == DM:
        return DM
    flags = [entry.get("is_private", None if listed_in == OF_ANY_KIND else False), entry.get("is_group", False)]
    return PUBLIC if LISTS[listed_in] == PUBLIC and all(flag is False for flag in flags) else PRIVATE


def text(value: Any) -> str | None:
    """A text that can be stored: not empty, and without half a surrogate pair. Else None."""
    try:
        return value if isinstance(value, str) and value.encode() else None
    except UnicodeEncodeError:
        return None


def name_of_user(user: dict[str, Any]) -> str | None:
    """What Slack shows for a person: the display name, else the real name, else the handle."""
    profile = user.get("profile")
    for about in (profile if isinstance(profile, dict) else {}, user):
        for key in ("display_name", "real_name"):
            found = text(about.get(key))
            if found and found.strip():
                return found.strip()
    return text(user.get("name"))


class Directory:
    """Conversations by id and by name, as the lists of one export give them."""

    def __init__(self) -> None:
        self._by_key: dict[str, list[Conversation]] = {}
        self._names: dict[str, str] = {}

    def add(self, entry: dict[str, Any], listed_in: str) -> None:
        """Take in one entry of a list."""
        native = text(entry.get("id"))
        if native is None:
            return
        found = Conversation(native, kind_of_entry(entry, listed_in))
        stated = [text(entry.get(key)) for key in ("id", "name", "name_normalized")]
        for key in dict.fromkeys(filter(None, stated)):
            self._by_key.setdefault(key, []).append(found)
        if stated[1]:
            self._names.setdefault(native, stated[1])

    def shown(self, native: str) -> str | None:
        """A channel's name as everybody may read it: "" for one that is not public, None for one that is unknown."""
        found = self.find(native)
        if found is None:
            return None
        return self._names.get(native) if found.kind == PUBLIC else ""

    def find(self, key: str | None) -> Conversation | None:
        """The conversation of that id or name, the most private if several have it; None if no list names it."""
        found = self._by_key.get(key or "", [])
        if not found:
            return None
        chosen = max(found, key=lambda one: (privacy(one.kind), one.id))
        return max(self._by_key[chosen.id], key=lambda one: privacy(one.kind))


def root_of(members: list[Member]) -> str:
    """The folder the export lies in, with a slash at the end: where its lists are, else what all names share."""
    lists = (*LISTS, *USERS, NAMES)
    homes = [member.name.rpartition("/")[0] for member in members if member.name.rpartition("/")[2] in lists]
    shortest = min(homes, key=len, default="")
    return f"{shortest}/" if shortest else ""


def list_named(name: str, root: str) -> str | None:
    """Which list a member is, by the name that `LISTS`, `USERS` or `NAMES` has for it; None if it is none.

    A file for each user counts as `users.json`.
    """
    below = name.removeprefix(root) if name.startswith(root) else name
    if below in LISTS or below in USERS or below == NAMES:
        return below
    return USERS[0] if _ONE_USER.fullmatch(below) else None


def list_by_content(head: bytes) -> str | None:
    """Which list a file is by its first bytes: one that a client wrote has any name."""
    seen = outline(head)
    if "ok" in seen.keys or not seen.listed:
        return USERS[0] if "members" in seen.keys else OF_ANY_KIND if "channels" in seen.keys else None
    if "ts" in seen.keys or "id" not in seen.keys:
        return None
    return OF_ANY_KIND if CHANNEL_KEYS & seen.keys else USERS[0] if USER_KEYS & seen.keys else None


def entries(document: Any, listed_in: str) -> list[Any] | None:
    """The entries of a list, bare or inside an API's answer; one user; names as {"id", "name"}. None if it is none."""
    if document is None:
        return []
    if isinstance(document, dict):
        if listed_in == NAMES:
            return [{"id": native, "name": name} for native, name in document.items()]
        if listed_in in USERS:
            user = document.get("user", document)
            return document["members"] if isinstance(document.get("members"), list) else [user]
        document = document.get("channels")
    return document if isinstance(document, list) and listed_in != NAMES else None


def failed(document: Any) -> str | None:
    """The error code of an API's answer that is none, such as `not_in_channel`."""
    if isinstance(document, dict) and document.get("ok") is False:
        return text(document.get("error")) or "unknown_error"
    return None


def folder_of(name: str, root: str) -> str | None:
    """The folder a member lies in inside the export: a conversation's name or id.

    API pages lie in `messages/<id>/` and `threads/<id>/`; there the second folder is meant.
    """
    parts = name.removeprefix(root).split("/")[:-1]
    if len(parts) > 1 and parts[0] in ("messages", "threads"):
        return parts[1]
    return parts[0] if parts else None


def id_in(name: str) -> str | None:
    """The conversation's id in a file name such as `C0123456789.json` or `D0123456789-1772442000.000100.json`."""
    found = _ID.search(name.rpartition("/")[2])
    return found[0] if found else None


def messages(document: Any, expected: bool) -> Iterator[Found] | None:
    """The messages of a day file, an API page or a dump of one conversation; None where it is none of these.

    A list is one of messages if one of them has a `ts`, or if its name is a day's (`expected`).
    """
    if isinstance(document, list):
        if expected or not document or any(isinstance(item, dict) and "ts" in item for item in document):
            return _page(document, None)
    elif isinstance(document, dict) and isinstance(document.get("messages"), list):
        named = document.get("channel_id") or document.get("channel")
        return _page(document["messages"], text(named))
    return None


def _page(items: list[Any], named: str | None) -> Iterator[Found]:
    """Replies that slackdump puts inside their root come after it, however deep they are nested."""
    waiting = [iter(items)]
    while waiting:
        item = next(waiting[-1], _END)
        if item is _END:
            waiting.pop()
            continue
        replies = item.pop("slackdump_thread_replies", None) if isinstance(item, dict) else None
        yield Found(item, named or _named(item))
        if isinstance(replies, list):
            waiting.append(iter(replies))


def _named(item: Any) -> str | None:
    if not isinstance(item, dict):
        return None
    return text(item.get("channel") or item.get("channel_name"))
