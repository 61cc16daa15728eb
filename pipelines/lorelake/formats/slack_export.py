"""A Slack export's conversations: which there are, which folder and file holds which, and how private each is.

Privacy fails closed: what no list names is private, and where two lists disagree the more private word holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from lorelake.formats.record import Member

PUBLIC, PRIVATE, DM = "public", "private", "dm"
LISTS = {"channels.json": PUBLIC, "groups.json": PRIVATE, "mpims.json": DM, "dms.json": DM}
"""Lists of conversations and what being listed there means, unless an entry says something more private."""
DAY_FILE = re.compile(r"(?:^|/)\d{4}-\d{2}-\d{2}\.json$")
USERS = ("users.json", "org_users.json")


def privacy(kind: str) -> int:
    """Order of the kinds, the most private last."""
    return (PUBLIC, PRIVATE, DM).index(kind)


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

    The official `channels.json` of 2015 has no `is_private`: it listed public channels only.
    """
    if entry.get("is_im") or entry.get("is_mpim") or LISTS[listed_in] == DM:
        return DM
    flags = [entry.get(flag, False) for flag in ("is_private", "is_group")]
    return PUBLIC if LISTS[listed_in] == PUBLIC and all(flag is False for flag in flags) else PRIVATE


class Directory:
    """Conversations by id and by name, as the lists of one export give them."""

    def __init__(self) -> None:
        self._by_key: dict[str, list[Conversation]] = {}

    def add(self, entry: dict[str, Any], listed_in: str) -> None:
        """Take in one entry of a list."""
        native = entry.get("id")
        if not isinstance(native, str) or not native:
            return
        found = Conversation(native, kind_of_entry(entry, listed_in))
        for key in {native, entry.get("name"), entry.get("name_normalized")}:
            if isinstance(key, str) and key:
                self._by_key.setdefault(key, []).append(found)

    def find(self, key: str | None) -> Conversation | None:
        """The conversation of that id or name, the most private if several have it; None if no list names it."""
        found = self._by_key.get(key or "", [])
        if not found:
            return None
        chosen = max(found, key=lambda one: (privacy(one.kind), one.id))
        return max(self._by_key[chosen.id], key=lambda one: privacy(one.kind))


def root_of(members: list[Member]) -> str:
    """The folder the export lies in, with a slash at the end: where its lists are, else what all names share."""
    homes = [member.name.rpartition("/")[0] for member in members if member.name.rpartition("/")[2] in (*LISTS, *USERS)]
    shortest = min(homes, key=len, default="")
    return f"{shortest}/" if shortest else ""


def folder_of(name: str, root: str) -> str | None:
    """The folder a member lies in inside the export: a conversation's name or id.

    API pages lie in `messages/<id>/` and `threads/<id>/`; there the second folder is meant.
    """
    parts = name.removeprefix(root).split("/")[:-1]
    if len(parts) > 1 and parts[0] in ("messages", "threads"):
        return parts[1]
    return parts[0] if parts else None


def messages(document: Any, expected: bool) -> Iterator[Found] | None:
    """The messages of a day file, an API page or a dump of one conversation; None where it is none of these.

    A list is one of messages if one of them has a `ts`, or if its name is a day's (`expected`).
    """
    if isinstance(document, list):
        if expected or not document or any(isinstance(item, dict) and "ts" in item for item in document):
            return _page(document, None)
    elif isinstance(document, dict) and isinstance(document.get("messages"), list):
        named = document.get("channel_id") or document.get("channel")
        return _page(document["messages"], named if isinstance(named, str) else None)
    return None


def _page(items: list[Any], named: str | None) -> Iterator[Found]:
    for item in items:
        replies = item.pop("slackdump_thread_replies", None) if isinstance(item, dict) else None
        yield Found(item, named or _named(item))
        if isinstance(replies, list):
            yield from _page(replies, named)


def _named(item: Any) -> str | None:
    if not isinstance(item, dict):
        return None
    named = item.get("channel") or item.get("channel_name")
    return named if isinstance(named, str) else None
