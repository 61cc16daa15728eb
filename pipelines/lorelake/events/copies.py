"""Records that a session holds and another said first, where equal ids do not tell.

A Codex fork replays its parent under ids of its own; a SpecStory file is a rendition of a session whose agent keeps a
transcript itself. Computed whole, from stored records alone, like all ownership: a parent or transcript that arrives
late takes back what is its own, and the days that lose it are derived again.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

import polars as pl

from lorelake.events.derive import units_of
from lorelake.formats import codex, codex_forks
from lorelake.formats.record import Unit

RENDITIONS = ("specstory",)
"""Sources that write down what another program recorded, under its session ids."""

TRANSCRIPTS = ("claude_code", "codex", "copilot_cli", "gemini_cli", "opencode")
"""Sources of which a rendition may be one."""


def owned_elsewhere(raw: pl.LazyFrame) -> dict[tuple[str, str], str]:
    """The owning unit of every copied record, as `ownership.owners` gives it.

    Args:
        raw: all raw rows.

    Returns:
        (source, record_id) -> unit_id. The record ids of these sources name their session, so the key is one record.
    """
    return {**_replayed(raw), **_rendered(raw)}


def _replayed(raw: pl.LazyFrame) -> dict[tuple[str, str], str]:
    rows = raw.filter(pl.col("source") == codex.NAME)
    stated = _stated_parents(rows)
    if not stated:
        return {}
    linked = sorted({*stated, *stated.values()})
    mine = rows.filter(pl.col("unit_id").is_in(linked)).collect()
    units = {unit.unit_id: unit for unit in units_of(mine, {}, date.max)}
    found: dict[tuple[str, str], str] = {}
    for unit_id, parent_id in _parents_first(_at_hand(stated, units)):
        copied = codex_forks.replayed(units[unit_id], units[parent_id])
        for record_id, original in copied.items():
            found[codex.NAME, record_id] = found.get((codex.NAME, original), parent_id)
    return found


def _stated_parents(rows: pl.LazyFrame) -> dict[str, str]:
    """The parent each session names, by unit id."""
    metas = rows.filter(pl.col("record_type") == codex_forks.META).collect()
    found = {}
    for unit in units_of(metas, {}, date.max):
        parent = codex.facts(unit).parent_unit
        if parent:
            found[unit.unit_id] = f"{codex.NAME}:{parent}"
    return found


def _at_hand(stated: Mapping[str, str], units: Mapping[str, Unit]) -> dict[str, str]:
    """Each session's parent, or where that never arrived the earliest of its forks: they replay the same history."""
    eldest: dict[str, str] = {}
    for unit_id in sorted(stated, key=lambda name: (units[name].records[0].ts, name)):
        eldest.setdefault(stated[unit_id], unit_id)
    found = {unit_id: parent if parent in units else eldest[parent] for unit_id, parent in stated.items()}
    return {unit_id: parent for unit_id, parent in found.items() if unit_id != parent}


def _parents_first(parents: Mapping[str, str]) -> list[tuple[str, str]]:
    """(unit, parent) pairs, a parent's own pair before its children's; a ring of parents names nobody first."""
    done: dict[str, str] = {}
    for start in sorted(parents):
        path: list[str] = []
        here = start
        while here in parents and here not in done and here not in path:
            path.append(here)
            here = parents[here]
        if here in path:
            path = path[: path.index(here)]
        done.update((unit_id, parents[unit_id]) for unit_id in reversed(path))
    return list(done.items())


def _rendered(raw: pl.LazyFrame) -> dict[tuple[str, str], str]:
    """Every record of a rendition whose session is at hand as its own agent wrote it."""
    named = (
        raw.filter(pl.col("source").is_in([*RENDITIONS, *TRANSCRIPTS]))
        .select("source", "unit_id", pl.col("unit_id").str.split(":").list.slice(1).list.join(":").alias("native"))
        .unique()
        .collect()
    )
    renditions = named.filter(pl.col("source").is_in(list(RENDITIONS)))
    if renditions.is_empty():
        return {}
    originals = named.filter(pl.col("source").is_in(list(TRANSCRIPTS))).select(
        "native", pl.col("unit_id").alias("owner")
    )
    pairs = renditions.join(originals, on="native").sort("unit_id", "owner").unique("unit_id", keep="first")
    owner = dict(pairs.select("unit_id", "owner").iter_rows())
    held = raw.filter(pl.col("unit_id").is_in(list(owner))).select("source", "record_id", "unit_id").collect()
    return {(source, record_id): owner[unit_id] for source, record_id, unit_id in held.iter_rows()}
