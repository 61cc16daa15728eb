"""What the team erased, as `collect` is told of it: a list of keyed hashes that lies where people deliver to.

The lake writes it there, and a machine that has the team's key asks it of every record before it sends. One with a key
of its own cannot; what it sends is kept out by raw.
"""

from __future__ import annotations

import io

import msgspec

from lorelake.content import erasure_log
from lorelake.content.erasure import NOTHING, Erased
from lorelake.formats import registry
from lorelake.formats.record import Capture, Member, Record
from lorelake.landing.delivery import TRANSCRIPTS, Place, note_bytes
from lorelake.landing.redacted import Redacted

LIST = f"{TRANSCRIPTS}/erased.json"
ERASED = "erased"


class _List(msgspec.Struct):
    lorelake: str
    key: str
    records: list[str] = []
    persons: dict[str, str] = {}


def write(place: Place, erased: Erased) -> None:
    """Write the list, if it differs from what lies there. Raises LorelakeError or OSError."""
    content = {
        "key": erasure_log.check_of(erased.key),
        "records": sorted(erased.records),
        "persons": dict(erased.persons),
    }
    data = note_bytes(ERASED, content)
    if place.read(LIST) != data:
        place.write(LIST, data)


def read(place: Place, key: bytes) -> Erased:
    """What is kept out of a place; nothing where there is no list, or one under another key."""
    data = place.read(LIST)
    if data is None:
        return NOTHING
    try:
        found = msgspec.json.decode(data, type=_List)
    except (msgspec.DecodeError, msgspec.ValidationError):
        return NOTHING
    return Erased(key, frozenset(found.records), found.persons) if found.key == erasure_log.check_of(key) else NOTHING


def without(made: Redacted, format_name: str, name: str, erased: Erased, person: str) -> Redacted:
    """What may be delivered of a file without what was erased: its other lines, or of a document nothing."""
    if not erased or not made.data:
        return made
    capture = Capture(name, (Member(name, len(made.data), lambda: io.BytesIO(made.data)),), "", person=person)
    bad: set[int] = set()
    for item in registry.by_name(format_name).read(capture):
        if isinstance(item, Record):
            out = erased.keeps_out(format_name, item.unit, item.id, item.type, item.value, person)
            if out or erased.masked(item.value) is not item.value:
                bad.add(item.line)
    if not bad:
        return made
    left_out = {**made.left_out, ERASED: len(bad)}
    if not made.is_lines or 0 in bad:
        return Redacted(b"", 0, left_out, {}, made.is_lines)
    lines = made.data.split(b"\n")
    kept = [line for number, line in enumerate(lines, 1) if number not in bad and line]
    data = b"\n".join(kept) + b"\n" if kept else b""
    return Redacted(data, len(kept), left_out, made.marks, True)
