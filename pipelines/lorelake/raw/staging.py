"""The two steps of the intake plan that touch records: decode captures into shards, then fold a day out of them.

Both are pure functions from files to a file, so any executor may run them in any number of processes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec
import polars as pl
import pyarrow.parquet as parquet

from lorelake.content.erasure import NOTHING, Erased
from lorelake.content.redaction import RULES_VERSION, Redactor
from lorelake.formats.record import Capture, Record, Refusal, digest
from lorelake.lake import write_table_pieces
from lorelake.raw import erased, keep, shards
from lorelake.raw.extent import extent
from lorelake.settings import LOGIC_VERSION
from lorelake.tables import RAW_RECORDS

CHUNK_BYTES = 32_000_000
"""Bodies folded together; a single unit may be larger, and is folded whole."""


class Reader(Protocol):
    """What decoding needs of a format module."""

    def read(self, capture: Capture) -> Any:
        """Records and refusals of a capture."""


@dataclass(frozen=True)
class Share:
    """Captures that one task decodes, each with its source, into the shard `out`."""

    captures: tuple[tuple[str, Capture], ...]
    reader: Callable[[str], Reader]
    redactor: Redactor
    as_of: date
    out: Path
    erased: Erased = NOTHING


class Decoded(NamedTuple):
    """`parts` as in `shards.PARTS`; rows of `intake` and `quarantine` by position of the capture."""

    parts: pl.DataFrame
    entries: list[dict[str, Any]]
    refused: list[list[dict[str, Any]]]


def fingerprint(source: str, capture: Capture, kept_out: Erased = NOTHING) -> str:
    """Equal fingerprints mean: reading it again would keep the same."""
    person = capture.person or ""
    return digest(
        source, capture.sha256, capture.project or "", kept_out.path(person), ",".join(capture.include), capture.ref,
        LOGIC_VERSION, RULES_VERSION, *([kept_out.digest] if kept_out else ()),
    )  # fmt: skip


def decode(share: Share) -> Decoded:
    """Read, redact and keep the records of some captures."""
    reading = _Reading(share)
    with shards.Shard(share.out) as shard:
        for rows in keep.frames(reading.records(), share.redactor, share.as_of):
            shard.add(rows)
    return Decoded(shard.parts, reading.entries, reading.refused)


class _Reading:
    """Goes through the captures of a share and keeps the books of each."""

    def __init__(self, share: Share) -> None:
        self._share = share
        self.entries: list[dict[str, Any]] = []
        self.refused: list[list[dict[str, Any]]] = []

    def records(self) -> Iterator[keep.Found]:
        for source, brought in self._share.captures:
            format_ = self._share.reader(source)
            capture = erased.named(brought, self._share.erased)
            refusals: list[Refusal] = []
            span: dict[str, tuple[datetime | None, datetime | None]] = {}
            kept = 0
            for item in erased.sifted(source, brought, format_.read(brought), self._share.erased):
                if not isinstance(item, Record):
                    refusals.append(item)
                    continue
                kept += 1
                first, last = span.get(item.unit, (None, None))
                if item.ts is not None:
                    first = item.ts if first is None else min(first, item.ts)
                    last = item.ts if last is None else max(last, item.ts)
                span[item.unit] = first, last
                yield source, capture, item
            refusals = erased.without_words(refusals)
            if not kept and refusals and refusals[0].reason == erased.ERASED:
                capture, refusals = erased.emptied(capture, refusals, self._share.erased)
            ends = [{"unit_id": f"{source}:{unit}", "ts": ts} for unit, both in span.items() for ts in both]
            covered, mark = extent(capture, format_, ends), fingerprint(source, brought, self._share.erased)
            self.entries.append(entry(source, capture.name, capture.sha256, mark, kept, refusals, covered))
            self.refused.append(
                [
                    keep.quarantine_row(source, capture.name, refusal, self._share.redactor, self._share.as_of)
                    for refusal in refusals
                ]
            )


def entry(
    source: str, name: str, sha256: str, mark: str, kept: int, refusals: Sequence[Refusal], covered: str = "{}"
) -> dict[str, Any]:
    """An `intake` row."""
    reasons = Counter(refusal.reason for refusal in refusals)
    return {
        "source": source,
        "capture": name,
        "capture_sha256": sha256,
        "fingerprint": mark,
        "seen": kept + len(refusals),
        "kept": kept,
        "refused": len(refusals),
        "reasons": msgspec.json.encode(dict(reasons), order="sorted").decode(),
        "extent": covered,
    }


@dataclass(frozen=True)
class Masking:
    """A stored day's file whose rows are to be masked again, by newer rules, into the shard `out`."""

    path: Path
    redactor: Redactor
    out: Path


def mask_again(task: Masking) -> pl.DataFrame:
    """`shards.PARTS` of the rows, masked: records whose source has vanished exist only here."""
    with shards.Shard(task.out) as shard:
        for group in range(parquet.ParquetFile(task.path).num_row_groups):
            shard.add(keep.redact_again(shards.read_groups(task.path, [group]), task.redactor))
    return shard.parts


class Chunk(NamedTuple):
    """Whole units, and the row groups of each file that hold any of them; the files in order of precedence."""

    units: tuple[str, ...]
    reads: tuple[tuple[Path, tuple[int, ...]], ...]


@dataclass(frozen=True)
class Day:
    """One source's file of one day, as it will be: `chunks` in order of their units."""

    source: str
    day: date
    chunks: tuple[Chunk, ...]
    out: Path


def fold_day(task: Day) -> int:
    """Write the file of a day. Returns its rows."""
    return write_table_pieces(RAW_RECORDS, shards.pieces(_folded(task), CHUNK_BYTES), task.out)


def _folded(task: Day) -> Iterator[pl.DataFrame]:
    for chunk in task.chunks:
        units = pl.Series(chunk.units, dtype=pl.String).implode()
        rows = [
            shards.read_groups(path, groups).filter(pl.col("source") == task.source, pl.col("unit_id").is_in(units))
            for path, groups in chunk.reads
        ]
        yield keep.fold(pl.concat(rows))


def days_of(parts: pl.DataFrame, path_of: Callable[[date, str], Path]) -> list[Day]:
    """The files to write for units of which every part is given, by source and day.

    Args:
        parts: `shards.PARTS` and `rank`, the precedence of the file.
        path_of: where the file of a day and source is written.
    """
    began = parts.group_by("source", "unit_id").agg(
        pl.coalesce(pl.col("ts").min().dt.date(), pl.col("first_kept").min()).alias("day")
    )
    placed = parts.join(began, on=["source", "unit_id"]).sort("source", "day", "unit_id", "rank", "group")
    return [
        Day(source, day, tuple(_chunks(rows)), path_of(day, source))
        for (source, day), rows in placed.group_by("source", "day", maintain_order=True)
    ]


def _chunks(parts: pl.DataFrame) -> Iterator[Chunk]:
    size = 0
    units: dict[str, None] = {}
    groups: dict[tuple[int, str], set[int]] = {}

    def chunk() -> Chunk:
        reads = [(Path(file), tuple(sorted(found))) for (_, file), found in sorted(groups.items())]
        return Chunk(tuple(units), tuple(reads))

    for unit, file, group, rank, more in parts.select("unit_id", "file", "group", "rank", "size").rows():
        if size >= CHUNK_BYTES and unit not in units:
            yield chunk()
            size, units, groups = 0, {}, {}
        units[unit] = None
        groups.setdefault((rank, file), set()).add(group)
        size += more
    if units:
        yield chunk()
