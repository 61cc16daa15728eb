"""How redacted records become the evidence log: one row per version of a record, whichever capture brought it.

Pure over frames. Equal records fold into one row that remembers the smallest capture hash and the earliest
`first_kept`; so captures in any order, twice, or split over nights end in the same rows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import Any

import msgspec
import polars as pl

from lorelake.content.blobs import strip_blobs
from lorelake.content.redaction import Redactor, disown
from lorelake.formats.record import Capture, Record, Refusal
from lorelake.tables import RAW_RECORDS

KEY = list(RAW_RECORDS.key)
BATCH = 2_000
"""Records redacted together: enough for a vectorised chain, small enough for a flat memory curve."""


def body_of(value: Any) -> str:
    """A decoded value as canonical JSON text."""
    return msgspec.json.encode(value, order="sorted").decode()


def rows_of(
    source: str, capture: Capture, records: Iterable[Record], redactor: Redactor, as_of: date
) -> Iterator[dict[str, Any]]:
    """Redacted `raw_records` rows of one capture, `unit_day` not yet final.

    A record dated after the as-of day is kept as of its own day, so that a later run finds it as if it had
    come in time.
    """
    for batch in _batches(records):
        bodies = redactor.values([disown(strip_blobs(record.value)) for record in batch])
        for record, value in zip(batch, bodies, strict=True):
            body = body_of(value)
            day = record.ts.date() if record.ts else None
            yield {
                "source": source,
                "unit_id": f"{source}:{record.unit}",
                "record_id": record.id,
                "body_sha256": hashlib.sha256(body.encode()).hexdigest(),
                "record_type": record.type,
                "ts": record.ts,
                "ts_assumed": record.ts_assumed or record.ts is None,
                "unit_day": day or as_of,
                "body": body,
                "project_hint": capture.project,
                "person_hint": capture.person,
                "capture_sha256": capture.sha256,
                "source_uri": _place(capture.name, record.member, record.line),
                "first_kept": max(as_of, day) if day else as_of,
            }


def _place(capture: str, member: str, line: int) -> str:
    """Capture, member and line; a single file is its own member and is named once."""
    name = member if not member or member.startswith(capture) else f"{capture}/{member}"
    return f"{name or capture}:{line}" if line else name or capture


def _batches(records: Iterable[Record]) -> Iterator[list[Record]]:
    batch: list[Record] = []
    for record in records:
        batch.append(record)
        if len(batch) >= BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def fold(rows: pl.DataFrame) -> pl.DataFrame:
    """Equal versions of a record as one row; `unit_day` set to the day the whole unit began.

    Of rows that differ in nothing but the settings' assumptions the first wins: give newly read ones before stored.
    A unit in which nothing states a time begins on the day it was first kept.
    """
    if rows.is_empty():
        return rows
    folded = (
        rows.sort([*KEY, "capture_sha256", "source_uri"], maintain_order=True)
        .group_by(KEY, maintain_order=True)
        .agg(pl.exclude("first_kept").first(), pl.col("first_kept").min())
    )
    began = folded.group_by("source", "unit_id").agg(
        pl.col("ts").min().dt.date().alias("stated"), pl.col("first_kept").min().alias("kept")
    )
    return (
        folded.drop("unit_day")
        .join(began, on=["source", "unit_id"], how="left")
        .with_columns(pl.coalesce("stated", "kept").alias("unit_day"))
        .select(RAW_RECORDS.column_names)
    )


def replace_units(day_rows: pl.DataFrame, staged: pl.DataFrame, touched: Sequence[str]) -> pl.DataFrame:
    """A day's file after a night: units that were touched come from `staged`, the rest stays as it was."""
    kept = day_rows.filter(~pl.col("unit_id").is_in(list(touched)))
    return pl.concat([kept, staged])


def redact_again(rows: pl.DataFrame, redactor: Redactor) -> pl.DataFrame:
    """Stored rows under newer redaction rules; what was masked stays masked, what is new is masked now."""
    values = redactor.values([msgspec.json.decode(body) for body in rows["body"]])
    bodies = [body_of(value) for value in values]
    hashes = [hashlib.sha256(body.encode()).hexdigest() for body in bodies]
    return fold(rows.with_columns(pl.Series("body", bodies), pl.Series("body_sha256", hashes)))


def quarantine_row(source: str, capture: str, refusal: Refusal, redactor: Redactor, as_of: date) -> dict[str, Any]:
    """A `quarantine` row; the head is masked as text before it is stored."""
    return {
        "source": source,
        "capture": capture,
        "source_uri": _place(capture, refusal.member, refusal.line),
        "reason": refusal.reason,
        "detail": redactor.text(refusal.detail),
        "byte_offset": refusal.offset,
        "sha256": refusal.sha256,
        "head": redactor.text(refusal.head)[:200],
        "first_seen": as_of,
    }
