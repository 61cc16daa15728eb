"""What memories gave the lake's sessions: rows of exposures and recalls, and the texts for the echo gate.

Only session families in which some call may have asked a memory are read: most never did.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

import polars as pl

from lorelake.evidence import exposures, recalls, traces
from lorelake.evidence.known_ids import KnownIds
from lorelake.evidence.unit import EventRow, units_in
from lorelake.lake import Lake, read_table
from lorelake.tables import EVENTS, SERVED_IDS

_TOOLS = r"(?i)lorelake|gitmem|teamai|memory|mem0|knowledge"
_COMMANDS = r"lorelake|teamai"


class Rows(NamedTuple):
    """Rows of `tables.EXPOSURES` and `tables.RECALLS`."""

    exposures: list[dict[str, Any]]
    recalls: list[dict[str, Any]]


def rows(lake: Lake, sessions: pl.DataFrame, known: KnownIds) -> Rows:
    """All exposures and recalls, from all days.

    Args:
        sessions: the `sessions` table.
        known: what the lake's releases answered to.
    """
    events_of = _events_of(lake, sessions)
    traces_of = traces.of_units(events_of, events_of, known)
    units = [row for row in sessions.iter_rows(named=True) if row["unit_id"] in events_of]
    return Rows(
        exposures.exposure_rows(units, events_of, traces_of),
        recalls.recall_rows(units, traces_of),
    )


def texts(lake: Lake, sessions: pl.DataFrame, family: Mapping[str, str]) -> dict[str, list[tuple[datetime, str]]]:
    """Session family to everything memories printed in it, each with its time."""
    found: dict[str, list[tuple[datetime, str]]] = {}
    for unit_id, events in _events_of(lake, sessions).items():
        if given := traces.memory_texts(events):
            found.setdefault(family[unit_id], []).extend(given)
    return found


def _events_of(lake: Lake, sessions: pl.DataFrame) -> dict[str, list[EventRow]]:
    """Events of the units of every family with a call that may have asked a memory: a citation may stand in any."""
    days = lake.days(EVENTS)
    if not days:
        return {}
    events = pl.scan_parquet(days)
    asks = pl.col("tool").str.contains(_TOOLS) | pl.col("command").str.contains(_COMMANDS)
    asking = events.filter(pl.col("kind") == "tool_call", asks).select("unit_id").unique().collect()
    families = sessions.filter(pl.col("unit_id").is_in(asking["unit_id"].implode()))["family_id"].unique()
    units = sessions.filter(pl.col("family_id").is_in(families.implode())).select("unit_id")
    if not len(units):
        return {}
    return dict(units_in(events.join(units.lazy(), on="unit_id", how="semi").collect()))


def known_ids(lake: Lake) -> KnownIds:
    """What the lake's releases answered to."""
    files = lake.served_ids()
    publishes: dict[str, int] = {}
    for path in files:
        sequence, release_id = path.stem.split("-", 1)
        publishes.setdefault(release_id, int(sequence))
    ids = read_table(SERVED_IDS, files).select("sequence", "claim_id").iter_rows() if files else ()
    return KnownIds(ids, publishes)
