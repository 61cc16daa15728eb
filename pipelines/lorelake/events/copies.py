"""Records that a session holds and another said first, where equal ids do not tell.

A fork of Codex or OpenCode repeats its parent under ids of its own; a SpecStory file is a rendition of a session whose
agent keeps a transcript itself. Computed whole, from stored records alone, like all ownership: a parent or transcript
that arrives late takes back what is its own, and the days that lose it are derived again.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

import polars as pl

from lorelake.events.derive import units_of
from lorelake.formats import codex, codex_forks, opencode, opencode_forks, specstory
from lorelake.formats.record import Unit
from lorelake.formats.specstory_events import SESSION

_SPOKEN = (
    "user", "assistant", "response_item", "event_msg", "user.message", "assistant.message", "gemini", opencode.MESSAGE,
)  # fmt: skip
"""Types of record by which a transcript holds what was said; agents leave stubs with bookkeeping alone."""


def owned_elsewhere(raw: pl.LazyFrame) -> dict[tuple[str, str], str]:
    """The owning unit of every copied record, as `ownership.owners` gives it.

    Args:
        raw: all raw rows.

    Returns:
        (source, record_id) -> unit_id. The record ids of these sources name their session; where a timed turn of
        SpecStory's does not, an equal id is a copy all the same.
    """
    return {**_replayed(raw), **_forked(raw), **_rendered(raw)}


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


def _forked(raw: pl.LazyFrame) -> dict[tuple[str, str], str]:
    """What forks of OpenCode sessions copied, among the sessions that open with a message of the same instant."""
    rows = raw.filter(pl.col("source") == opencode.NAME)
    opened = (
        rows.filter((pl.col("record_type") == opencode.MESSAGE) & pl.col("ts").is_not_null())
        .group_by("unit_id")
        .agg(pl.col("ts").min())
        .filter(pl.len().over("ts") > 1)
        .collect()
    )
    mine = rows.filter(pl.col("unit_id").is_in(opened["unit_id"].to_list())).collect()
    owners = opencode_forks.copied(units_of(mine, {}, date.max))
    return {(opencode.NAME, record_id): owner for record_id, owner in owners.items()}


def _rendered(raw: pl.LazyFrame) -> dict[tuple[str, str], str]:
    """Every record of a rendition whose session is at hand as its own agent wrote it."""
    mine = raw.filter(pl.col("source") == specstory.NAME)
    files = mine.filter(pl.col("record_type") == SESSION).collect()
    named = ((unit.unit_id, specstory.native_unit(unit)) for unit in units_of(files, {}, date.max))
    native = {unit_id: name for unit_id, name in named if name is not None}
    if not native:
        return {}
    told = pl.col("unit_id").is_in(list(native.values())), pl.col("record_type").is_in(_SPOKEN)
    there = raw.filter(*told).select("unit_id").unique()
    at_hand = set(there.collect()["unit_id"])
    owner = {unit_id: name for unit_id, name in native.items() if name in at_hand}
    held = mine.filter(pl.col("unit_id").is_in(list(owner))).select("source", "record_id", "unit_id").collect()
    return {(source, record_id): owner[unit_id] for source, record_id, unit_id in held.iter_rows()}
