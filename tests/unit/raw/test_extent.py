"""The books say how far each capture reached."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from types import SimpleNamespace

from lorelake.formats.record import Capture
from lorelake.raw.extent import PLACES, extent

SLACK = SimpleNamespace(place_of=lambda unit_id: unit_id.split(":")[1])


def row(unit: str, day: int | None = None) -> dict[str, object]:
    return {"unit_id": unit, "ts": datetime(2026, 3, day, 9, tzinfo=UTC) if day else None}


def test_times_units_places_and_what_landing_knows() -> None:
    rows = [row("slack:C2:1", 4), row("slack:C1:1", 2), row("slack:C1:1")]
    told = json.loads(extent(Capture("x", (), "", extent={"ref": "main"}), SLACK, rows))
    assert told == {
        "ref": "main", "units": 2, "first": "2026-03-02T09:00:00+00:00", "last": "2026-03-04T09:00:00+00:00",
        "places": ["C1", "C2"],
    }  # fmt: skip
    assert extent(Capture("x", (), ""), SLACK, rows) == extent(Capture("x", (), ""), SLACK, rows[::-1])


def test_nothing_kept_covers_nothing() -> None:
    assert json.loads(extent(Capture("x", (), ""), object(), [])) == {"units": 0}


def test_a_long_list_of_places_is_cut_and_says_so() -> None:
    rows = [row(f"slack:C{number:04}:1", 2) for number in range(PLACES + 3)]
    told = json.loads(extent(Capture("x", (), ""), SLACK, rows))
    assert len(told["places"]) == PLACES
    assert told["places_not_listed"] == 3
