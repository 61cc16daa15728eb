"""What a capture covers: its own first and last time, how many units, which conversations or repositories, which ref.

A message that is missing where a capture did not look says nothing, and one that is missing where it did is a
question, never a deletion: deletions are records. The books keep the extent so that a person can tell the two apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from lorelake.formats.record import Capture

PLACES = 200
"""How many places an extent lists; more are counted."""


def extent(capture: Capture, format_: object, rows: Iterable[Mapping[str, Any]]) -> str:
    """A capture's extent as a JSON object with sorted keys.

    Args:
        format_: its module; `place_of(unit_id)`, where it has one, names the conversation or repository of a unit.
        rows: `raw_records` rows of the capture.
    """
    first = last = None
    units: set[str] = set()
    for row in rows:
        units.add(row["unit_id"])
        ts = row["ts"]
        if ts is not None:
            first = ts if first is None or ts < first else first
            last = ts if last is None or ts > last else last
    found: dict[str, Any] = {**capture.extent, "units": len(units)}
    if first is not None and last is not None:
        found |= {"first": first.isoformat(), "last": last.isoformat()}
    place_of = getattr(format_, "place_of", None)
    places = sorted({place for unit in units if (place := place_of(unit))}) if place_of else []
    if places:
        found["places"] = places[:PLACES]
    if len(places) > PLACES:
        found["places_not_listed"] = len(places) - PLACES
    return msgspec.json.encode(found, order="sorted").decode()
