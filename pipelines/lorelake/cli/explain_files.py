"""Where the record behind a signal lies: in raw, and in the file it came in, if that is still there."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from lorelake.lake import Lake
from lorelake.settings import Settings
from lorelake.tables import RAW_RECORDS

_LINE = re.compile(r":(\d+)$")
MOST_FOLDERS = 4
"""Folders of a source's path that the name of its captures may hold."""


class Place(msgspec.Struct, frozen=True):
    """Where one record lies.

    Attributes:
        record: capture, member and line, as stored.
        raw_file: the file of the lake that keeps it, relative to the lake; None where raw is not here.
        in_raw: whether it is in that file; a record whose raw has expired is not.
        file: the file it was read from, on this machine; None where no source of the settings has it, or where it was
            delivered from elsewhere and the settings are not here.
        file_is_there: whether that file is still there.
        line: its line in the file, where the record is one.
        assumed: what it leaves unsaid and something else was taken for, in words: its time, its person, its project.
    """

    record: str
    raw_file: str | None = None
    in_raw: bool | None = None
    file: str | None = None
    file_is_there: bool | None = None
    line: int | None = None
    assumed: tuple[str, ...] = ()


def place_of(signal: Mapping[str, Any], lake: Lake | None, settings: Settings | None) -> Place:
    """Find the record of a row of `tables.SIGNALS`, or of `tables.LEARNING_EVIDENCE` where there is no lake."""
    uri = str(signal["source_uri"])
    line = _LINE.search(uri)
    file, there = _file(uri[: line.start()] if line else uri, lake, settings)
    raw, stored = _raw(signal, lake) if lake else (None, None)
    found = None if stored is None else bool(stored)
    row = int(line[1]) if line else None
    return Place(uri, raw, found, str(file) if file else None, there, row, _assumed(stored or ()))


_HINTS = {"person_hint": "person", "project_hint": "project"}


def _raw(signal: Mapping[str, Any], lake: Lake) -> tuple[str | None, list[dict[str, Any]] | None]:
    import polars as pl

    source = str(signal["unit_id"]).partition(":")[0]
    path = lake.table(RAW_RECORDS, signal["day"], source)
    name = str(path.relative_to(lake.root))
    if not path.exists():
        return name, []
    here = pl.scan_parquet(path).filter(pl.col("source_uri") == signal["source_uri"])
    return name, here.select("ts", "ts_assumed", *_HINTS).collect().to_dicts()


def _assumed(stored: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """What the record may leave unsaid. The settings' person and project count only where it does."""
    if not stored:
        return ()
    row = stored[0]
    told = [f"{word} {row[name]}" for name, word in _HINTS.items() if row[name]]
    found = [f"where it states none: {', '.join(told)}"] if told else []
    if row["ts"] is None:
        found.append("it states no time: that of its unit, else the day it was first kept")
    elif row["ts_assumed"]:
        found.append("it states no time zone: UTC")
    return tuple(found)


def _file(name: str, lake: Lake | None, settings: Settings | None) -> tuple[Path | None, bool | None]:
    """The file a capture name stands for: a name begins with the end of its source's path, and then goes below it.

    What lies in an archive or a repository is found as that archive or repository.
    """
    roots = [lake.landing] if lake else []
    roots += (
        [settings.resolve(source.path) for source in settings.sources if "://" not in source.path] if settings else []
    )
    likely: Path | None = None
    for root in roots:
        for depth in range(1, min(MOST_FOLDERS, len(root.parts)) + 1):
            start = "/".join(root.parts[-depth:])
            if name != start and not name.startswith(start + "/"):
                continue
            below = name[len(start) :].strip("/")
            path = root / below if below else root
            if path.exists():
                return path, True
            holder = next((above for above in path.parents if above.is_relative_to(root) and above.exists()), None)
            if holder is not None and (holder.is_file() or (holder / "objects").is_dir() or (holder / ".git").exists()):
                return holder, True
            likely = likely or path
    return likely, False if likely else None
