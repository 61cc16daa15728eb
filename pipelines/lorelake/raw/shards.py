"""Decoded rows on disk: a night may bring more than memory holds.

A shard is a scratch Parquet file written by one task. Its row groups follow the provisional days of their units, so
that a day is later read without the rest. What a shard holds is told by its parts, one row a unit and row group.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import polars as pl
import pyarrow.parquet as parquet

from lorelake.tables import RAW_RECORDS

BUFFER_BYTES = 16_000_000
"""Bodies held before they are written: enough that a day's rows stand together."""
GROUP_BYTES = 256_000
"""Least size of a row group, where units are small."""

PARTS: Mapping[str, Any] = {
    "source": pl.String, "unit_id": pl.String, "file": pl.String, "group": pl.Int64, "ts": pl.Datetime("us", "UTC"),
    "first_kept": pl.Date, "size": pl.Int64,
}  # fmt: skip
"""`ts` and `first_kept` are the earliest of the unit in that row group, `size` the bytes of its bodies."""

_FEW_VALUES = ["source", "unit_id", "record_type", "project_hint", "person_hint", "capture_sha256"]


class Shard:
    """Writes one shard; `parts` tells what it holds once it is closed.

    Args:
        path: made with the first row; without rows there is no file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writer: parquet.ParquetWriter | None = None
        self._held: list[pl.DataFrame] = []
        self._size = self._groups = 0
        self._parts = [pl.DataFrame(schema=PARTS)]

    def __enter__(self) -> Shard:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is None:
            self._flush()
        if self._writer is not None:
            self._writer.close()

    def add(self, rows: pl.DataFrame) -> None:
        """Rows of `raw_records`; of one unit in the order in which the first of equal ones is to win."""
        if rows.is_empty():
            return
        self._held.append(rows)
        self._size += _bytes(rows)
        if self._size >= BUFFER_BYTES:
            self._flush()

    @property
    def parts(self) -> pl.DataFrame:
        """One row of `PARTS` for each unit in each row group."""
        return pl.concat(self._parts)

    def _flush(self) -> None:
        if not self._held:
            return
        day = pl.col("ts").min().over("unit_id").dt.date()
        rows = (
            pl.concat(self._held)
            .with_columns(day.alias("unit_day"), pl.col("body").str.len_bytes().alias("size"))
            .sort("unit_day", maintain_order=True, nulls_last=True)
            .with_columns((pl.col("unit_day") != pl.col("unit_day").shift()).fill_null(False).cum_sum().alias("group"))
        )
        sizes = rows.group_by("group", maintain_order=True).agg(pl.col("size").sum()).rows()
        rows = rows.with_columns(pl.col("group").replace_strict(_joined(sizes), return_dtype=pl.Int64))
        rows = rows.with_columns(pl.col("group") + self._groups)
        self._parts.append(parts_of(rows, self._path))
        for group in rows.partition_by("group", maintain_order=True):
            self._write(group)
        self._held, self._size = [], 0

    def _write(self, rows: pl.DataFrame) -> None:
        table = rows.select(RAW_RECORDS.column_names).to_arrow()
        if self._writer is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.touch(mode=0o640)
            self._writer = parquet.ParquetWriter(
                self._path, table.schema, compression="lz4", use_dictionary=_FEW_VALUES, write_statistics=False
            )
        self._writer.write_table(table)
        self._groups += 1


def parts_of(rows: pl.DataFrame, path: Path) -> pl.DataFrame:
    """`PARTS` of rows that know their `group` and `size`."""
    return (
        rows.group_by("source", "unit_id", "group", maintain_order=True)
        .agg(pl.col("ts").min(), pl.col("first_kept").min(), pl.col("size").sum())
        .with_columns(pl.lit(str(path)).alias("file"))
        .select(pl.col(name).cast(kind) for name, kind in PARTS.items())
    )


def stored_parts(path: Path) -> pl.DataFrame:
    """`PARTS` of a day's file as it is stored, with its `unit_day`. Sizes are estimated, since bodies are not read."""
    file = parquet.ParquetFile(path)
    found = []
    for group in range(file.num_row_groups):
        rows = pl.DataFrame(file.read_row_group(group, columns=["source", "unit_id", "ts", "first_kept", "unit_day"]))
        whole = file.metadata.row_group(group).total_byte_size
        rows = rows.with_columns(
            pl.lit(group).alias("group"), pl.lit(whole // max(rows.height, 1), pl.Int64).alias("size")
        )
        found.append(parts_of(rows, path).with_columns(pl.lit(rows["unit_day"][0]).alias("unit_day")))
    return pl.concat(found)


def read_groups(path: Path, groups: Sequence[int]) -> pl.DataFrame:
    """Rows of some row groups of a shard or stored file."""
    table = parquet.ParquetFile(path).read_row_groups(list(groups), columns=list(RAW_RECORDS.column_names))
    return pl.DataFrame(table).cast(pl.Schema(RAW_RECORDS.polars_schema()))


def pieces(frames: Iterable[pl.DataFrame], least: int) -> Iterator[pl.DataFrame]:
    """Rows cut between units wherever `least` bytes of bodies are reached: the same pieces however the frames are cut.

    Args:
        frames: of whole units each, in order.
    """
    held = pl.DataFrame(schema=RAW_RECORDS.polars_schema())
    for frame in frames:
        held = pl.concat([held, frame])
        while (end := _end_of_piece(held, least)) is not None:
            yield held[:end]
            held = held[end:]
    if held.height:
        yield held


def _end_of_piece(rows: pl.DataFrame, least: int) -> int | None:
    """Rows up to the end of the unit that reaches `least`; None where they are all or too few."""
    if _bytes(rows) < least:
        return None
    reached = int((rows["body"].str.len_bytes().cum_sum() >= least).arg_true()[0])
    unit = rows["unit_id"][reached]
    return int((rows["unit_id"] == unit).arg_true()[-1]) + 1


def _joined(sizes: Sequence[tuple[int, int]]) -> dict[int, int]:
    """Neighbouring groups put together until they are large enough."""
    number = held = 0
    joined = {}
    for group, size in sizes:
        joined[group] = number
        held += size
        if held >= GROUP_BYTES:
            number, held = number + 1, 0
    return joined


def _bytes(rows: pl.DataFrame) -> int:
    return int(rows["body"].str.len_bytes().sum())
