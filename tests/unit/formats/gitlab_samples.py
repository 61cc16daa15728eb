"""Merge requests as GitLab tells them, small; and what the format makes of them."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from lorelake.formats import gitlab
from lorelake.formats.record import Capture, Event, Member, Record, Refusal, Unit, UnitRecord, canonical, in_order

SETTINGS = {"visibility_level": 20, "merge_requests_rebase_enabled": False}


def export(requests: list[Any], other: dict[str, Any] | None = None, **settings: Any) -> Capture:
    files = {"tree/project.json": SETTINGS, "tree/project/merge_requests.ndjson": requests, **(other or {})}
    members = []
    for name, content in files.items():
        lines = content if isinstance(content, list) else [content]
        data = content if isinstance(content, bytes) else "\n".join(json.dumps(line) for line in lines).encode()
        members.append(Member(name, len(data), lambda data=data: io.BytesIO(data)))
    return Capture("export", tuple(members), "0" * 64, **settings)


def read(*captures: Capture) -> tuple[list[Record], list[Refusal]]:
    found = [one for capture in captures for one in gitlab.read(capture)]
    return [one for one in found if isinstance(one, Record)], [one for one in found if isinstance(one, Refusal)]


def units(nights: Iterable[tuple[str, list[Record]]]) -> dict[str, Unit]:
    """What raw makes of records: each version once, kept on the day it was first met."""
    kept: dict[str, dict[tuple[str, str], UnitRecord]] = {}
    for day, records in nights:
        for one in records:
            stored = UnitRecord(
                one.id, one.type, one.ts or datetime(2026, 1, 1, tzinfo=UTC), one.value, f"{one.member}:{one.line}", day
            )
            kept.setdefault(one.unit, {}).setdefault((one.id, canonical(one.value)), stored)
    return {
        unit: Unit("gitlab", f"gitlab:{unit}", in_order(found.values()), None, None) for unit, found in kept.items()
    }


def told(*nights: Capture) -> list[Event]:
    found = units((f"2026-03-{2 + number:02d}", read(night)[0]) for number, night in enumerate(nights))
    events = [event for unit in found.values() for event in gitlab.events(unit)]
    return sorted(events, key=lambda event: (event.ts, event.record_id, event.part))


def request(*notes: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "iid": 4, "target_project_id": 77, "title": "Cache rates", "description": "For an hour.", "state": "opened",
        "author_id": 1, "created_at": "2026-03-02T08:00:00.000Z", "updated_at": "2026-03-02T08:00:00.000Z",
        "source_branch": "cache", "target_branch": "main", "notes": list(notes), **more,
    }  # fmt: skip


def note(text: str, minute: int = 0, by: int | None = 2, **more: Any) -> dict[str, Any]:
    """A note as exports since 2023 write it: without an id."""
    moment = f"2026-03-02T09:{minute:02d}:00.000Z"
    return {
        "note": text, "author_id": by, "author": {"name": f"Person {by}"}, "created_at": moment,
        "updated_at": moment, "system": False, "type": None, "discussion_id": f"d{minute}", **more,
    }  # fmt: skip


def on_line(text: str, line: int, minute: int = 0, **more: Any) -> dict[str, Any]:
    place = {"new_path": "src/rates.py", "old_path": "src/rates.py", "new_line": line, "old_line": None,
             "head_sha": "a" * 40}  # fmt: skip
    return note(text, minute, type="DiffNote", position=place, original_position=place, **more)
