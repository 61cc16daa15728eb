"""In which order the versions of one document stood: along one ref, along two branches, or without Git."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from heapq import merge
from itertools import pairwise

from lorelake.formats.record import Event, Unit, UnitRecord, in_order


def standing(unit: Unit) -> list[tuple[UnitRecord, str | None]]:
    """Each version once, with the branch that shadowed it when it landed.

    In the ref's order, or without Git by time and the day each was first kept. Positions count along one line only,
    so where two branches hold the file, their lines are joined by time.
    """
    newest = {record.id: record for record in sorted(unit.records, key=_weight)}
    kept = sorted(in_order(newest.values()), key=lambda record: (record.value.get("position", -1), *_met(record)))
    branches = {record.id: record.value["branch"] for record in unit.records if record.value.get("branch")}
    if not branches:
        return [(record, None) for record in kept]
    lines: list[list[tuple[datetime, UnitRecord]]] = [[], []]
    for record in kept:
        line = lines[record.id in branches]
        line.append((max(record.ts, line[-1][0]) if line else record.ts, record))
    stood: list[tuple[UnitRecord, str | None]] = []
    live: tuple[str, object] | None = None
    for _, record in merge(*lines, key=lambda entry: (entry[0], entry[1].value.get("position", -1))):
        branch = branches.get(record.id)
        if branch:
            live = (branch, record.value.get("text")) if record.type == "document" else None
        # The same text is no other file: this is how a branch's learning comes to be merged.
        shadowed = not branch and live and live[1] != record.value.get("text")
        stood.append((record, live[0] if live and shadowed else None))
    return stood


def _weight(record: UnitRecord) -> tuple[int, bool, bool]:
    """Of equal commits read twice the one counts that knows the newer list of projects, a merge, and the remote."""
    value = record.value
    return value.get("projects_position", -1), "branch" not in value, bool(value.get("remote"))


def _met(record: UnitRecord) -> tuple[datetime, str, bool]:
    """When it stood, for what has no place on a ref. An archived file states no time: the day it was met counts."""
    archived = record.type == "document_archived" and "landed" not in record.value
    ts = max(record.ts, _midnight(record.first_kept)) if archived else record.ts
    return ts, record.first_kept, archived


def _midnight(day: str) -> datetime:
    return datetime.fromisoformat(day).replace(tzinfo=UTC)


def dated(found: Sequence[Event]) -> list[Event]:
    """Times that follow the order, which clocks need not: nothing comes before what it follows, no end with it.

    Without Git a later text of a file keeps the date it states; it holds from when the lake first met it.
    """
    for before, event in pairwise(found):
        ended = "document_deleted" in (before.kind, event.kind)
        event.ts = max(event.ts, before.ts + timedelta(microseconds=1 if ended else 0))
        if not event.revision and not before.revision:
            event.ts = max(event.ts, _midnight(event.first_kept))
    return list(found)
