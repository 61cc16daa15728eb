"""Small Slack exports written by hand, and what raw and events make of them."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import polars as pl

from lorelake.content.redaction import Redactor
from lorelake.formats import slack
from lorelake.formats.record import (
    Capture,
    Event,
    Member,
    Record,
    Refusal,
    Unit,
    UnitRecord,
    canonical,
    digest,
    in_order,
)
from lorelake.raw import keep
from lorelake.tables import RAW_RECORDS

REAL = Path(__file__).resolve().parents[4] / "shared" / "data" / "slack"
RUNS = ("run-2026-08-07T13-47-36", "run-2026-08-10T05-46-24", "run-2026-08-10T05-48-32")
PUBLIC = {"id": "C1", "name": "deploys", "is_private": False, "members": ["U1"]}
ROOT = "1772442000.000100"
REDACTOR = Redactor(b"a key for tests, nothing more 32")


def export(files: dict[str, Any], name: str = "export", **settings: Any) -> Capture:
    """Values are written as JSON, bytes and text as they are."""
    members = []
    for path, content in files.items():
        text = content if isinstance(content, bytes | str) else json.dumps(content)
        data = text if isinstance(text, bytes) else text.encode()
        members.append(Member(path, len(data), lambda data=data: io.BytesIO(data)))
    parts = sorted((member.name, member.read().hex()) for member in members)
    return Capture(name, tuple(members), digest(*(part for pair in parts for part in pair)), **settings)


def deploys(*messages: Any, **settings: Any) -> Capture:
    return export({"channels.json": [PUBLIC], "deploys/2026-03-02.json": list(messages)}, **settings)


def message(text: str, ts: str = ROOT, user: str = "U1", **more: Any) -> dict[str, Any]:
    return {"type": "message", "user": user, "text": text, "ts": ts, **more}


def read(*captures: Capture) -> tuple[list[Record], list[Refusal]]:
    found = [one for capture in captures for one in slack.read(capture)]
    return [one for one in found if isinstance(one, Record)], [one for one in found if isinstance(one, Refusal)]


def messages_of(records: list[Record]) -> list[Record]:
    return [one for one in records if "message" in one.value]


def units(nights: Iterable[tuple[str, list[Record]]]) -> dict[str, Unit]:
    """What raw makes of records: each version once, kept on the day it was first met."""
    kept: dict[str, dict[tuple[str, str], UnitRecord]] = {}
    for day, records in nights:
        for one in records:
            stored = UnitRecord(
                one.id, one.type, one.ts or datetime(2026, 1, 1, tzinfo=UTC), one.value, f"{one.member}:{one.line}", day
            )
            kept.setdefault(one.unit, {}).setdefault((one.id, canonical(one.value)), stored)
    return {unit: Unit("slack", f"slack:{unit}", in_order(found.values()), None, None) for unit, found in kept.items()}


def nights(*captures: Capture) -> dict[str, Unit]:
    """Units of captures that came one a night, from the 2nd of March on."""
    return units((f"2026-03-{2 + number:02d}", read(capture)[0]) for number, capture in enumerate(captures))


def said(*captures: Capture) -> list[Event]:
    """Events of captures that came one a night, by time."""
    found = nights(*captures)
    return sorted((event for unit in found.values() for event in slack.events(unit)), key=lambda event: event.ts)


def rows_of(capture: Capture, as_of: date = date(2026, 8, 20)) -> pl.DataFrame:
    """Redacted rows of one capture, not yet folded."""
    found = [("slack", capture, record) for record in read(capture)[0]]
    return pl.concat(keep.frames(found, REDACTOR, as_of)) if found else pl.DataFrame(schema=RAW_RECORDS.polars_schema())


def folded(parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Rows of raw_records as one night folds them, sorted by key."""
    return keep.fold(pl.concat(parts)).sort(list(RAW_RECORDS.key))


def raw(captures: Sequence[Capture]) -> pl.DataFrame:
    """Rows of raw_records of captures that came in one night, sorted by key."""
    return folded([rows_of(capture) for capture in captures])
