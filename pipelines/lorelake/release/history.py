"""What each publish changed: appended once per switch, never rewritten."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from lorelake.lake import Lake, frame, read_table, write_table
from lorelake.tables import HISTORY


class Change(NamedTuple):
    """A learning whose state a publish changed; None where it was not there, or is gone."""

    learning: str
    before: str | None
    after: str | None


class Switch(NamedTuple):
    """One publish. `told` counts its state changes, as in `+3 active, -1 candidate`."""

    published_at: datetime
    told: str


def append(lake: Lake, release: str, changes: list[Change], now: datetime) -> None:
    """Write one publish into history, unless its last entry is this release already (a run that was killed)."""
    past = files(lake)
    last_sequence, last_release = past[-1].stem.split("-", 1) if past else ("0", "")
    if last_release == release:
        return
    sequence = int(last_sequence) + 1
    stamp: dict[str, Any] = {"sequence": sequence, "release_id": release, "published_at": now}
    rows = [{**stamp, "learning_id": "", "from_state": None, "to_state": None}]
    rows += [{**stamp, "learning_id": c.learning, "from_state": c.before, "to_state": c.after} for c in changes]
    write_table(HISTORY, frame(HISTORY, rows), lake.history / f"{sequence:06d}-{release}.parquet")


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
