"""What each publish changed, and the ids it was the first to answer to: appended once per switch, and rewritten by an
erasure alone. No words are kept here, only their hash: what was served on a day is told by `servings`, in whose words
by `learning_versions`, as long as the lake may still tell them."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from lorelake.lake import Lake, frame, read_table, write_table
from lorelake.tables import HISTORY, PUBLISHES, SERVED_IDS, SERVINGS

SERVED_STATE = "active"


class Change(NamedTuple):
    """A learning whose state or served words a publish changed; None where it was not there, or is gone."""

    learning: str
    before: str | None
    after: str | None
    text_sha256: str | None = None


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
    rows = [{**stamp, "learning_id": "", "from_state": None, "to_state": None, "text_sha256": None}]
    rows += [
        {
            **stamp, "learning_id": c.learning, "from_state": c.before, "to_state": c.after,
            "text_sha256": c.text_sha256 if c.after == SERVED_STATE else None,
        }
        for c in changes
    ]  # fmt: skip
    write_table(HISTORY, frame(HISTORY, rows), lake.history / name)


def files(lake: Lake) -> list[Path]:
    """The files of history, in order of publish."""
    return sorted(lake.history.glob("[0-9]*-*.parquet"))


def switches(lake: Lake) -> dict[str, Switch]:
    """The latest publish of every release."""
    found: dict[str, Switch] = {}
    for path in files(lake):
        rows = read(path).to_dicts()
        gained = Counter(row["to_state"] for row in rows if row["learning_id"] and row["to_state"])
        gained.subtract(row["from_state"] for row in rows if row["from_state"])
        told = ", ".join(f"{count:+d} {state}" for state, count in sorted(gained.items()) if count)
        found[rows[0]["release_id"]] = Switch(rows[0]["published_at"], told)
    return found


def read(path: Path) -> pl.DataFrame:
    """One file of history. Those of before served words were kept by their hash have none."""
    rows = read_table(HISTORY, path)
    if "text_sha256" not in rows.columns:
        rows = rows.with_columns(pl.lit(None, pl.String).alias("text_sha256"))
    return rows


def servings(lake: Lake) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rows of `publishes` and `servings` from history, the latest publish open."""
    publishes: list[dict[str, Any]] = []
    found: list[dict[str, Any]] = []
    running: dict[str, dict[str, Any]] = {}
    for path in files(lake):
        rows = read(path).to_dicts()
        sequence, at = rows[0]["sequence"], rows[0]["published_at"]
        if publishes:
            publishes[-1]["served_to"] = at
        publishes.append(
            {"sequence": sequence, "release_id": rows[0]["release_id"], "served_from": at, "served_to": None}
        )
        for row in rows:
            if not row["learning_id"]:
                continue
            ended = running.pop(row["learning_id"], None)
            if ended:
                ended["to_sequence"] = sequence
            if row["to_state"] == SERVED_STATE:
                running[row["learning_id"]] = {
                    "learning_id": row["learning_id"], "text_sha256": row["text_sha256"] or "",
                    "from_sequence": sequence, "to_sequence": None,
                }  # fmt: skip
                found.append(running[row["learning_id"]])
    return publishes, found


def with_candidate(lake: Lake, as_of: date, learnings: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """`publishes` and `servings` as a release about to be built tells them: itself at the end, without a name.

    Args:
        lake: whose history.
        as_of: its as-of day.
        learnings: its rows of `learnings`.
    """
    publishes, found = servings(lake)
    begins = datetime.combine(as_of + timedelta(days=1), time.min, UTC)
    if publishes:
        begins = max(begins, publishes[-1]["served_from"])
        publishes[-1]["served_to"] = begins
    sequence = len(publishes) + 1
    publishes.append({"sequence": sequence, "release_id": None, "served_from": begins, "served_to": None})
    active = learnings.filter(pl.col("state") == SERVED_STATE).select("learning_id", "text_sha256")
    now = dict(active.iter_rows())
    for row in found:
        if row["to_sequence"] is None:
            if now.get(row["learning_id"]) == row["text_sha256"]:
                del now[row["learning_id"]]
            else:
                row["to_sequence"] = sequence
    found += [
        {"learning_id": id_, "text_sha256": sha, "from_sequence": sequence, "to_sequence": None}
        for id_, sha in now.items()
    ]
    return {"publishes": frame(PUBLISHES, publishes), "servings": frame(SERVINGS, found)}
