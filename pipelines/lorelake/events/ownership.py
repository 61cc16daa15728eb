"""Which session a record belongs to when histories were copied, and which sessions are one family.

A resume or fork copies its parent's records under its own session id. The copy is the same record (same native
id), so it must count once: for the session it was first said in. Computed whole, before any day is derived,
because a parent that arrives late changes what its children own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import polars as pl

COPYING = ("claude_code", "copilot_cli", "specstory")
"""Sources whose sessions copy each other's records with their ids; `copies` knows the others."""


def owners(index: pl.DataFrame) -> dict[tuple[str, str], str]:
    """The owning unit of every record that stands in more than one.

    The owner is the unit with the earliest beginning; of equals the one that says least of its own (a session
    that is wholly contained in another is its parent), then the smallest id.

    Args:
        index: raw_records columns source, unit_id, record_id, ts.

    Returns:
        (source, record_id) -> unit_id, shared records only.
    """
    candidates = index.filter(pl.col("source").is_in(list(COPYING))).select("source", "record_id", "unit_id", "ts")
    pairs = candidates.unique(["source", "record_id", "unit_id"], keep="first")
    counted = pairs.with_columns(pl.col("unit_id").n_unique().over("source", "record_id").alias("holders"))
    shared = counted.filter(pl.col("holders") > 1)
    if shared.is_empty():
        return {}
    began = candidates.group_by("unit_id").agg(pl.col("ts").min().alias("began"))
    own = counted.group_by("unit_id").agg(pl.col("ts").filter(pl.col("holders") == 1).min().alias("first_own"))
    ranked = (
        shared.join(began, on="unit_id")
        .join(own, on="unit_id")
        .sort("source", "record_id", "began", "first_own", "unit_id", nulls_last=[False, False, True, False, False])
        .unique(["source", "record_id"], keep="first", maintain_order=True)
    )
    return {(row["source"], row["record_id"]): row["unit_id"] for row in ranked.iter_rows(named=True)}


def links(index: pl.DataFrame, owned: Mapping[tuple[str, str], str]) -> list[tuple[str, str]]:
    """(unit, owner) for every unit that holds records of another: a resume or fork and its parent."""
    if not owned:
        return []
    keys = pl.DataFrame(
        [(source, record, unit) for (source, record), unit in owned.items()],
        schema=["source", "record_id", "owner"],
        orient="row",
    )
    joined = index.select("source", "record_id", "unit_id").join(keys, on=["source", "record_id"])
    pairs = (
        joined.filter(pl.col("unit_id") != pl.col("owner")).select("unit_id", "owner").unique().sort("unit_id", "owner")
    )
    return [(unit, owner) for unit, owner in pairs.iter_rows()]


def families(units: Iterable[str], joined: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Every unit's family: the smallest id among all that are linked, however far.

    Args:
        units: all unit ids.
        joined: (unit, parent or owner) pairs; a parent that never arrived still joins its children.
    """
    parent: dict[str, str] = {unit: unit for unit in units}

    def root(unit: str) -> str:
        parent.setdefault(unit, unit)
        while parent[unit] != unit:
            parent[unit] = parent[parent[unit]]
            unit = parent[unit]
        return unit

    for left, right in sorted(joined):
        low, high = sorted((root(left), root(right)))
        parent[high] = low
    return {unit: root(unit) for unit in sorted(parent)}
