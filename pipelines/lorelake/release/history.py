"""What each publish changed, and the ids it was the first to answer to: appended once per switch, never rewritten."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from lorelake.lake import Lake, frame, read_table, write_table
from lorelake.tables import HISTORY, SERVED_IDS


class Change(NamedTuple):
    """A learning whose state a publish changed; None where it was not there, or is gone."""

    learning: str
    before: str | None
    after: str | None


class Switch(NamedTuple):
    """One publish. `told` counts its state changes, as in `+3 active, -1 candidate`."""

    published_at: datetime
    told: str


def append(lake: Lake, release: str, changes: list[Change], aliases: pl.DataFrame, now: datetime) -> None:
    """Write one publish into history, unless its last entry is this release already (a run that was killed).

    Args:
        lake: whose history.
        release: what was published.
        changes: the state changes it brought.
        aliases: its table of that name; ids that no earlier publish recorded are recorded now.
        now: wall clock.
    """
    past = files(lake)
    last_sequence, last_release = past[-1].stem.split("-", 1) if past else ("0", "")
    if last_release == release:
        return
    sequence = int(last_sequence) + 1
    name = f"{sequence:06d}-{release}.parquet"
    known = read_table(SERVED_IDS, lake.served_ids())["claim_id"]
    new = aliases.filter(~pl.col("reference").is_in(known.implode())).select(
        pl.lit(sequence, pl.Int64).alias("sequence"),
        pl.lit(release).alias("release_id"),
        pl.col("reference").alias("claim_id"),
        "content_key",
        "audience",
    )
    # First the ids: they count once the entry of the publish is there, and a run after a kill writes them again.
    write_table(SERVED_IDS, new, lake.history / SERVED_IDS.name / name)
    stamp: dict[str, Any] = {"sequence": sequence, "release_id": release, "published_at": now}
    rows = [{**stamp, "learning_id": "", "from_state": None, "to_state": None}]
    rows += [{**stamp, "learning_id": c.learning, "from_state": c.before, "to_state": c.after} for c in changes]
    write_table(HISTORY, frame(HISTORY, rows), lake.history / name)


def files(lake: Lake) -> list[Path]:
    """The files of history, in order of publish."""
    return sorted(lake.history.glob("[0-9]*-*.parquet"))


def switches(lake: Lake) -> dict[str, Switch]:
    """The latest publish of every release."""
    found: dict[str, Switch] = {}
    for path in files(lake):
        rows = read_table(HISTORY, path).to_dicts()
        gained = Counter(row["to_state"] for row in rows if row["learning_id"] and row["to_state"])
        gained.subtract(row["from_state"] for row in rows if row["from_state"])
        told = ", ".join(f"{count:+d} {state}" for state, count in sorted(gained.items()) if count)
        found[rows[0]["release_id"]] = Switch(rows[0]["published_at"], told)
    return found
