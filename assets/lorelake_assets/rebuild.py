"""Derive everything again from what cannot be derived: raw, with the ledger in it, and history.

`lay_out` puts those into a lake of its own, as they were when the served release was made; `derive` runs the night's
own steps there, up to the candidate. No source is looked at, no landing folder, no model and no network: what a model
answered lies in raw. Nothing is written into the lake that is looked at.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import polars as pl

from lorelake.content.redaction import RULES_VERSION
from lorelake.errors import ReleaseError, UsageError
from lorelake.lake import Lake, read_table, write_bytes, write_table
from lorelake.release import history
from lorelake.release.build import check_team
from lorelake.release.manifest import Manifest, config_sha256, read_manifest
from lorelake.release.publish import verify
from lorelake.settings import LOGIC_VERSION, Settings
from lorelake.tables import INTAKE, MODEL_ANSWERS, QUARANTINE, RAW_RECORDS, Table
from lorelake_assets import prepare, run
from lorelake_assets.resources import Night

NOT_AGAIN = ("raw_records", "intake", "model_answers", "published")
"""Steps of the night that bring something in, ask somebody, or switch what is served."""

SECONDS_BEFORE = 10
SECONDS_A_MEGABYTE = 8
"""Of stored raw, on two cores: an estimate to wait by. Measured on the example and on some hundred real sessions."""

DATED: tuple[tuple[Table, str], ...] = ((RAW_RECORDS, "first_kept"), (MODEL_ANSWERS, "first_kept"))


@dataclass(frozen=True)
class Source:
    """What was laid out: rows of raw, its days, and its size in bytes."""

    rows: int
    days: tuple[date, ...]
    size: int

    @property
    def seconds(self) -> int:
        """How long deriving will take, roughly."""
        return round(SECONDS_BEFORE + SECONDS_A_MEGABYTE * self.size / 1e6)


def served_manifest(lake: Lake, settings: Settings) -> Manifest:
    """The manifest of the served release, after a look at whether its files are those that were published.

    Raises:
        ReleaseError: nothing is served, or its files are damaged.
        SettingsError: the lake belongs to another team.
    """
    current = lake.current_release()
    if current is None:
        raise ReleaseError("nothing is served, so there is nothing to compare with", where=str(lake.root))
    check_team(lake, settings.team.id)
    problems = verify(lake.releases / current)
    if problems:
        raise ReleaseError(
            f"the served release is damaged: {'; '.join(problems[:3])}",
            where=str(lake.releases / current),
            remedy="`lorelake release verify` lists everything; the next night builds it again",
        )
    return read_manifest(lake.releases / current)


def refuse_place(lake: Lake, into: Path) -> None:
    """Refuse a folder in which something lies, or that is part of the lake.

    Raises:
        UsageError: naming it.
    """
    place, root = into.resolve(), lake.root.resolve()
    if place == root or place.is_relative_to(root) or root.is_relative_to(place):
        raise UsageError("a lake is not rebuilt into itself", where=str(into), remedy="name a folder elsewhere")
    if into.exists() and (not into.is_dir() or any(into.iterdir())):
        raise UsageError("the folder is not empty", where=str(into), remedy="name a new folder")


def lay_out(lake: Lake, into: Lake, release: Manifest) -> Source:
    """Put raw and history into another lake as they were when a release was made.

    Files are linked where the file system can (a file of a lake is replaced, never written into), else copied. Records
    first kept after the release's as-of day are left out, and so is every publish from its own one on.
    """
    rows, days, size = 0, set(), 0
    for table, column in DATED:
        for path in lake.days(table):
            target = into.root / path.relative_to(lake.root)
            kept = _until(table, path, column, release.as_of, target)
            if table is RAW_RECORDS and kept:
                rows, size = rows + kept, size + path.stat().st_size
                days.add(date.fromisoformat(path.parent.name.removeprefix("day=")))
    for table in (INTAKE, QUARANTINE):
        if lake.table(table).exists():
            _link(lake.table(table), into.table(table))
    first = next((path for path in history.files(lake) if path.stem.split("-", 1)[1] == release.release_id), None)
    for path in sorted(path for path in lake.history.rglob("*") if path.is_file()):
        if first is None or path.suffix != ".parquet" or path.name < first.name:
            _link(path, into.history / path.relative_to(lake.history))
    write_bytes(into.team_file, f"{release.team}\n".encode())
    write_bytes(into.state / "redaction_rules", RULES_VERSION.encode())
    return Source(rows, tuple(sorted(days)), size)


def _until(table: Table, path: Path, column: str, as_of: date, target: Path) -> int:
    """Lay out the rows of a file up to a day; how many there are."""
    last = pl.scan_parquet(path).select(pl.col(column).max(), pl.len().alias("rows")).collect()
    if last[column][0] is None or last[column][0] <= as_of:
        _link(path, target)
        return int(last["rows"][0])
    known = read_table(table, path).filter(pl.col(column) <= as_of)
    if known.height:
        write_table(table, known, target)
    return known.height


def _link(path: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(path.resolve(), target)
    except OSError:  # another file system, or one without links
        shutil.copyfile(path, target)


def derive(night: Night, into: Lake, days: Iterable[date]) -> Path:
    """Derive everything in a lake that `lay_out` made; the candidate's folder.

    Args:
        night: of the lake that is looked at; its as-of is that of the release.
    """
    from lorelake_assets.definitions import ASSETS

    again = Night(settings_path=night.settings_path, home=str(into.root.resolve()), as_of=night.as_of)
    every = [key.to_user_string() for asset in ASSETS for key in asset.keys]
    run.execute(again, days, night.lake, [name for name in every if name not in NOT_AGAIN])
    return into.candidate


def why_differing(lake: Lake, release: Manifest, settings: Settings) -> list[str]:
    """What was not the same when the release was made, in words; empty where a difference can only be a fault."""
    now = prepare.told_apart(lake)
    told = []
    if release.logic_version != LOGIC_VERSION:
        told.append(
            f"the release was made by logic version {release.logic_version}, this is {LOGIC_VERSION}: every derived"
            " table may say something else, and that speaks against neither"
        )
    elif release.inputs.get("code") != now["code"]:
        told.append("the release was made by other code of the same logic version: what differs is a change of a rule")
    if release.config_sha256 != config_sha256(settings):
        told.append(
            "the settings are not those the release was made with: people and projects change everything, [review],"
            " [ageing] and [revalidate] the tables of learnings, [slack] and [redaction] what may be shown"
        )
    if "captures" in release.inputs and release.inputs["captures"] != now["captures"]:
        told.append(
            "captures were read since: of equal records another copy may now be named as their source, and the books of"
            " intake tell of tonight"
        )
    return told
