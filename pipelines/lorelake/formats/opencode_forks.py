"""Which records of an OpenCode session another said first: a fork copies messages under new ids and names no parent.

What it keeps is each message's time, to the millisecond, and its words. So a session is a copy as far as its messages
are, from the first on, those of an earlier session.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from lorelake.formats.opencode_records import Item, Understood
from lorelake.formats.record import Unit

Said = tuple[str, datetime, tuple[str, ...]]
"""Role, time and texts of a message."""


class _Session(NamedTuple):
    began: datetime
    unit_id: str
    messages: list[tuple[Said, list[str]]]
    """What each message says and the ids of its records, in order."""


def copied(units: Iterable[Unit]) -> dict[str, str]:
    """Record id to the unit that said it first, for every record that a fork copied.

    Args:
        units: sessions that may be copies of each other, each with all its records.
    """
    alike: dict[Said, list[_Session]] = defaultdict(list)
    for unit in units:
        session = _session(unit)
        if session is not None:
            alike[session.messages[0][0]].append(session)
    found: dict[str, str] = {}
    for sessions in alike.values():
        sessions.sort(key=lambda session: (session.began, session.unit_id))
        for place, session in enumerate(sessions):
            _own(session, sessions[:place], found)
    return found


def _session(unit: Unit) -> _Session | None:
    known = Understood(unit)
    if known.session is None or known.session.parent_id or not known.messages:
        return None
    parts: dict[str, list[Item]] = defaultdict(list)
    for item in known.parts:
        parts[item.value.message_id].append(item)
    messages = [_message(item, parts) for item in sorted(known.messages.values(), key=lambda item: item.value.id)]
    began = min((record.ts for record in unit.records if record.id == _native(unit)), default=unit.records[0].ts)
    return _Session(began, unit.unit_id, messages)


def _native(unit: Unit) -> str:
    return unit.unit_id.partition(":")[2]


def _message(item: Item, parts: Mapping[str, list[Item]]) -> tuple[Said, list[str]]:
    mine = parts.get(item.value.id, [])
    texts = tuple(part.value.text for part in mine if part.value.type == "text" and isinstance(part.value.text, str))
    return (item.value.role, item.ts, texts), [item.record.id, *(part.record.id for part in mine)]


def _own(session: _Session, earlier: list[_Session], found: dict[str, str]) -> None:
    """Give what the session shares with an earlier one to that one, or to whom that one has it from."""
    shared = [(_in_common(session, other), other) for other in earlier]
    length, original = max(shared, key=lambda pair: pair[0], default=(0, session))
    for (_, mine), (_, theirs) in zip(session.messages[:length], original.messages[:length], strict=True):
        owner = found.get(theirs[0], original.unit_id)
        found.update(dict.fromkeys(mine, owner))


def _in_common(one: _Session, other: _Session) -> int:
    length = 0
    for (left, _), (right, _) in zip(one.messages, other.messages, strict=False):
        if left != right:
            break
        length += 1
    return length
