"""Signals day by day, and what the whole night's evidence is compared with.

A day's signals depend on its events, the families of its units, and the logic. An equal input hash skips the
day; a family that a late parent changed redoes exactly the days it touches.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from lorelake.evidence import exposures
from lorelake.evidence.gates import Context, Given
from lorelake.evidence.signals import signal_rows
from lorelake.evidence.unit import EventRow, event_row
from lorelake.formats.record import digest
from lorelake.lake import Lake, frame, write_bytes, write_table
from lorelake.settings import LOGIC_VERSION
from lorelake.tables import EVENTS, SIGNALS

MARKER_SIGN = "lorelake:"
"""What every marker holds; units without it are not searched for exposures."""


def units_in(events: pl.DataFrame) -> Iterable[tuple[str, list[EventRow]]]:
    """Each unit's events in `seq` order."""
    ordered = events.sort("unit_id", "seq").iter_rows(named=True)
    for unit_id, rows in groupby(ordered, key=lambda row: str(row["unit_id"])):
        yield unit_id, [event_row(row) for row in rows]


def derive_days(lake: Lake, sessions: pl.DataFrame) -> dict[str, int]:
    """Write `signals` of every day whose input hash is new.

    Args:
        sessions: the `sessions` table.

    Returns:
        ISO day -> signals written; skipped days are left out.
    """
    state = lake.state / "signals_days.json"
    known = msgspec.json.decode(state.read_bytes(), type=dict[str, str]) if state.exists() else {}
    by_unit = {row["unit_id"]: row for row in sessions.iter_rows(named=True)}
    hashes: dict[str, str] = {}
    written: dict[str, int] = {}
    for path in lake.days(EVENTS):
        day = path.parent.name.removeprefix("day=")
        target = lake.root / "evidence" / SIGNALS.name / f"day={day}" / f"{SIGNALS.name}.parquet"
        hashes[day] = _input_hash(path, by_unit)
        if known.get(day) == hashes[day] and target.exists():
            continue
        rows = [
            row for unit_id, events in units_in(pl.read_parquet(path)) for row in signal_rows(events, by_unit[unit_id])
        ]
        write_table(SIGNALS, frame(SIGNALS, rows), target)
        written[day] = len(rows)
    for gone in lake.days(SIGNALS):
        if gone.parent.name.removeprefix("day=") not in hashes:
            gone.unlink()
    write_bytes(state, msgspec.json.encode(hashes, order="sorted"))
    return written


def _input_hash(path: Path, by_unit: Mapping[str, Mapping[str, Any]]) -> str:
    units = pl.read_parquet(path, columns=["unit_id"])["unit_id"].unique().sort()
    families = [f"{unit}={by_unit[unit]['family_id']}" for unit in units]
    return digest(LOGIC_VERSION, hashlib.sha256(path.read_bytes()).hexdigest(), *families)


def _events(lake: Lake) -> pl.LazyFrame:
    days = lake.days(EVENTS)
    return pl.scan_parquet(days) if days else pl.LazyFrame(schema=EVENTS.polars_schema())


def memory_units(lake: Lake) -> dict[str, list[EventRow]]:
    """The events of every unit in which a marker stands."""
    events = _events(lake)
    marked = events.filter(pl.col("text").str.contains(MARKER_SIGN, literal=True)).select("unit_id").unique()
    return dict(units_in(events.join(marked, on="unit_id", how="semi").collect()))


def exposure_rows(lake: Lake, sessions: pl.DataFrame) -> list[dict[str, Any]]:
    """Rows of `exposures`, from all days."""
    return exposures.exposure_rows(sessions.iter_rows(named=True), memory_units(lake))


def gate_context(lake: Lake, sessions: pl.DataFrame, ledger: pl.DataFrame, signals: pl.DataFrame) -> Context:
    """What the admission gates compare with tonight. Texts given to a session are read where it gave a signal."""
    family = dict(sessions.select("unit_id", "family_id").iter_rows())
    memory: dict[str, list[str]] = {}
    for unit_id, events in memory_units(lake).items():
        memory.setdefault(family[unit_id], []).extend(exposures.memory_texts(events))
    known: dict[str, list[str]] = {}
    texts = _events(lake).filter(pl.col("unit_kind") == "document", pl.col("actor_class") == "injected")
    for audience, text in texts.sort("event_id").select("audience", "text").collect().iter_rows():
        known.setdefault(audience, []).append(text)
    injected: dict[str, list[Given]] = {}
    judged = sessions.filter(pl.col("family_id").is_in(signals["family_id"].unique().implode())).select("unit_id")
    given = _events(lake).filter(pl.col("unit_kind") == "session", pl.col("kind") == "injected")
    told = given.join(judged.lazy(), on="unit_id", how="semi").sort("event_id").select("unit_id", "ts", "text")
    for unit_id, ts, text in told.collect().iter_rows():
        injected.setdefault(family[unit_id], []).append((ts, text))
    kinds = dict(sessions.select("unit_id", "unit_kind").iter_rows())
    return Context(memory=memory, known=known, injected=injected, unit_kinds=kinds, ledger=ledger.to_dicts())


def document_events(lake: Lake) -> list[dict[str, Any]]:
    """Every version and deletion of every document, in order: what same-document supersession looks at."""
    found = _events(lake).filter(pl.col("kind").is_in(["document_version", "document_deleted"]))
    return found.sort("unit_id", "seq").collect().to_dicts()
