"""Signals day by day, and what the whole night's evidence is compared with.

A day's signals depend on its events, the families of its units, what the rules over all units found in them, and the
logic. An equal input hash skips the day; a family that a late parent changed, or a comment made a third time
elsewhere, redoes exactly the days it touches.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from lorelake.evidence import across, memory_of_lake, model_answers
from lorelake.evidence.gates import Context, Given
from lorelake.evidence.signals import signal_rows
from lorelake.evidence.unit import Signal, units_in
from lorelake.formats.record import digest
from lorelake.lake import Lake, frame, write_bytes, write_table
from lorelake.settings import LOGIC_VERSION
from lorelake.tables import EVENTS, SIGNALS


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
    wider = across.signals_across(_events(lake))
    hashes: dict[str, str] = {}
    written: dict[str, int] = {}
    for path in lake.days(EVENTS):
        day = path.parent.name.removeprefix("day=")
        target = lake.root / "evidence" / SIGNALS.name / f"day={day}" / f"{SIGNALS.name}.parquet"
        answers = model_answers.path_of(lake, date.fromisoformat(day))
        hashes[day] = _input_hash([path, answers], by_unit, wider)
        if known.get(day) == hashes[day] and target.exists():
            continue
        answered = model_answers.of_day(lake, date.fromisoformat(day))
        rows = [
            row
            for unit_id, events in units_in(pl.read_parquet(path))
            for row in signal_rows(
                events,
                by_unit[unit_id],
                [*wider.get(unit_id, ()), *model_answers.signals(events, answered.get(unit_id, ()))],
            )
        ]
        write_table(SIGNALS, frame(SIGNALS, rows), target)
        written[day] = len(rows)
    for gone in lake.days(SIGNALS):
        if gone.parent.name.removeprefix("day=") not in hashes:
            gone.unlink()
    write_bytes(state, msgspec.json.encode(hashes, order="sorted"))
    return written


def _input_hash(
    paths: Sequence[Path], by_unit: Mapping[str, Mapping[str, Any]], wider: Mapping[str, Sequence[Signal]]
) -> str:
    """Of a day's events and a model's answers about them, of its units' families, and of signals over all units."""
    units = pl.read_parquet(paths[0], columns=["unit_id"])["unit_id"].unique().sort()
    families = [f"{unit}={by_unit[unit]['family_id']}" for unit in units]
    contents = [hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else "" for path in paths]
    found = across.digest_of([signal for unit in units for signal in wider.get(unit, ())])
    return digest(LOGIC_VERSION, *contents, *families, found)


def _events(lake: Lake) -> pl.LazyFrame:
    days = lake.days(EVENTS)
    return pl.scan_parquet(days) if days else pl.LazyFrame(schema=EVENTS.polars_schema())


def gate_context(lake: Lake, sessions: pl.DataFrame, ledger: pl.DataFrame, signals: pl.DataFrame) -> Context:
    """What the admission gates compare with tonight. Texts given to a session are read where it gave a signal."""
    family = dict(sessions.select("unit_id", "family_id").iter_rows())
    memory = memory_of_lake.texts(lake, sessions, family)
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
