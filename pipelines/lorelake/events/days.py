"""Which days must be derived again, and deriving one.

A day's input hash covers everything its events depend on: its raw rows, what its sessions do not own, the people
and projects, how far the as-of day lets it see, and the logic. An equal hash means equal events, so the day is
skipped; an alias edit or a parent that arrived late changes the hash of exactly the days it touches.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from lorelake.content.erasure import LABEL
from lorelake.events import derive, ownership
from lorelake.events.ledger import ledger_rows
from lorelake.events.people import People
from lorelake.formats.record import Unit, digest
from lorelake.lake import Lake, frame, read_table, write_bytes, write_table
from lorelake.settings import LOGIC_VERSION, Settings
from lorelake.tables import EVENTS, RAW_RECORDS, UNITS

AT_ONCE = ("reject", "forget")
"""Decisions that act whatever the as-of day: a tombstone is not bound to the past."""

VOTES = ("endorse", "dispute")
"""Decisions that weigh like a vote and settle nothing by themselves."""

INDEX = ("source", "unit_id", "record_id", "ts", "unit_day")


class Inputs:
    """What all days share in one run.

    Args:
        index: raw_records columns of `INDEX`, all days.
        people_rows: `people` rows.
        as_of: the run's as-of day.
        narrowed: of `visibility.narrowed`.
        copied: of `copies.owned_elsewhere`.
    """

    def __init__(
        self,
        index: pl.DataFrame,
        people_rows: list[dict[str, Any]],
        settings: Settings,
        as_of: date,
        narrowed: Mapping[str, str | None] | None = None,
        copied: Mapping[tuple[str, str], str] | None = None,
    ) -> None:
        self.settings, self.as_of = settings, as_of
        self.people = People(people_rows)
        self.narrowed = dict(narrowed or {})
        self.owned = ownership.owners(index) | dict(copied or {})
        self.links = ownership.links(index, self.owned)
        self._shared = digest(
            LOGIC_VERSION,
            repr(people_rows),
            repr(settings.projects),
            repr(sorted(self.narrowed.items())),
        )
        self._last = dict(index.group_by("unit_day").agg(pl.col("ts").max().dt.date()).iter_rows())
        self._not_owned = self._slices(index)

    def _slices(self, index: pl.DataFrame) -> dict[date, str]:
        if not self.owned:
            return {}
        keys = pl.DataFrame(
            [(source, record, owner) for (source, record), owner in self.owned.items()],
            schema=["source", "record_id", "owner"],
            orient="row",
        )
        lost = (
            index.join(keys, on=["source", "record_id"])
            .filter(pl.col("unit_id") != pl.col("owner"))
            .select("unit_day", "unit_id", "record_id", "owner")
            .unique()
            .sort("unit_day", "unit_id", "record_id")
        )
        return {day[0]: digest(repr(rows.rows())) for day, rows in lost.group_by("unit_day", maintain_order=True)}

    def hash_of(self, day: date, raw_hash: str) -> str:
        """The input hash of a day whose raw rows have this hash."""
        horizon = min(self.as_of, self._last.get(day) or self.as_of)
        return digest(self._shared, raw_hash, self._not_owned.get(day, ""), horizon.isoformat())


def raw_files(lake: Lake) -> dict[date, list[Path]]:
    """The raw files of every stored day."""
    found: dict[date, list[Path]] = {}
    for path in lake.days(RAW_RECORDS):
        found.setdefault(date.fromisoformat(path.parent.name.removeprefix("day=")), []).append(path)
    return found


def raw_hash(paths: list[Path]) -> str:
    """sha256 over the bytes of a day's raw files."""
    total = hashlib.sha256()
    for path in sorted(paths):
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def scan_raw(lake: Lake) -> pl.LazyFrame:
    """All stored raw rows, lazily; an empty frame before the first night."""
    days = lake.days(RAW_RECORDS)
    return pl.scan_parquet(days) if days else pl.LazyFrame(schema=RAW_RECORDS.polars_schema())


def slack_users(raw: pl.LazyFrame) -> list[Any]:
    """The bodies of every Slack user record among raw rows, for folding people."""
    users = raw.filter(pl.col("source") == "slack", pl.col("record_type") == "user")
    return [msgspec.json.decode(body) for body in users.sort("record_id", "body_sha256").collect()["body"]]


def decision_units(lake: Lake) -> list[Unit]:
    """Every decision file with all its versions, of every day: what was decided acts at once."""
    rows = scan_raw(lake).filter(pl.col("source") == "decisions").collect()
    return list(derive.units_of(rows, {}, date.max))


def ledger(
    lake: Lake, people_rows: Iterable[Mapping[str, Any]], settings: Settings, as_of: date
) -> list[dict[str, Any]]:
    """Rows of `ledger`. Decisions after the as-of day wait, except those that take something away.

    What an erased person decided as a reviewer stands, under their label; what they merely voted goes with them.
    """
    known = list(people_rows)
    deciders = [row["person_id"] for row in known if row["person_id"].startswith(LABEL) and row["is_reviewer"]]
    rows = ledger_rows(
        decision_units(lake),
        People(known).resolve,
        (*settings.review.reviewers, *deciders),
        settings.ledger.local_person,
        as_of=as_of,
        at_once=AT_ONCE,
        signed_only=settings.ledger.require_signature,
    )
    for row in rows:
        if row["actor"].startswith(LABEL) and row["decision"] in VOTES:
            row |= {"verdict": "refused", "refused_because": "erased"}
    return rows


def known_hashes(lake: Lake, what: str) -> dict[str, str]:
    """Input hash by ISO day of what is already derived. `what` names the table."""
    path = lake.state / f"{what}_days.json"
    if not path.exists():
        return {}
    known: dict[str, str] = msgspec.json.decode(path.read_bytes(), type=dict[str, str])
    return known


def remember(lake: Lake, what: str, hashes: Mapping[str, str]) -> None:
    """Store the input hashes, after the days themselves are written."""
    write_bytes(lake.state / f"{what}_days.json", msgspec.json.encode(dict(hashes), order="sorted"))


def stale_days(lake: Lake, inputs: Inputs, touched: Collection[date] = ()) -> list[date]:
    """Days to derive: those whose raw rows change tonight, and those whose events are not those of their inputs.

    Args:
        touched: days that the intake plan is going to rewrite, whose hash cannot be known yet; none once it has.
    """
    known = known_hashes(lake, EVENTS.name)
    files = raw_files(lake)
    gone = {date.fromisoformat(day) for day in known} - set(files)
    stale = {
        day
        for day, paths in files.items()
        if day not in touched and not _stands(lake, day, known, inputs.hash_of(day, raw_hash(paths)))
    }
    return sorted(stale | gone | set(touched))


def derive_days(
    lake: Lake,
    days: Iterable[date],
    inputs: Inputs,
    format_of: Callable[[str], derive.Format],
) -> dict[str, int]:
    """Write `events` and `units` of each day whose input hash is new, and remember the hash after the files.

    Returns:
        ISO day -> events written, for the days that were derived; skipped days are left out.
    """
    known, files = known_hashes(lake, EVENTS.name), raw_files(lake)
    written: dict[str, int] = {}
    for day in days:
        key, paths = day.isoformat(), files.get(day)
        wanted = inputs.hash_of(day, raw_hash(paths)) if paths else None
        if wanted is not None and _stands(lake, day, known, wanted):
            continue
        written[key] = _derive_day(lake, day, paths, inputs, format_of)
        known.pop(key, None)
        if wanted is not None:
            known[key] = wanted
    remember(lake, EVENTS.name, known)
    return written


def _stands(lake: Lake, day: date, known: Mapping[str, str], wanted: str) -> bool:
    """Whether a day is derived from these inputs and its files are still there: derived folders may be deleted."""
    there = all(lake.table(table, day).exists() for table in (EVENTS, UNITS))
    return there and known.get(day.isoformat()) == wanted


def _derive_day(
    lake: Lake,
    day: date,
    paths: list[Path] | None,
    inputs: Inputs,
    format_of: Callable[[str], derive.Format],
) -> int:
    events_path, units_path = lake.table(EVENTS, day), lake.table(UNITS, day)
    if not paths:
        events_path.unlink(missing_ok=True)
        units_path.unlink(missing_ok=True)
        return 0
    units = derive.units_of(read_table(RAW_RECORDS, paths), inputs.owned, inputs.as_of)
    events, unit_rows = derive.derive(day, units, format_of, inputs.people, inputs.settings, inputs.narrowed)
    write_table(EVENTS, frame(EVENTS, events), events_path)
    write_table(UNITS, frame(UNITS, unit_rows), units_path)
    return len(events)


def sessions(lake: Lake, inputs: Inputs) -> pl.DataFrame:
    """All days' units with the family each belongs to: the `sessions` table."""
    units = read_table(UNITS, lake.days(UNITS))
    parents = units.filter(pl.col("parent_unit").is_not_null()).select("unit_id", "parent_unit").rows()
    family = ownership.families(units["unit_id"], [*inputs.links, *parents])
    return units.with_columns(pl.col("unit_id").replace_strict(family, return_dtype=pl.String).alias("family_id")).drop(
        "parent_unit"
    )
