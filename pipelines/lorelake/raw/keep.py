"""How redacted records become the evidence log: one row per version of a record, whichever capture brought it.

Pure over frames. Equal records fold into one row that remembers the smallest capture hash and the earliest
`first_kept`; so captures in any order, twice, or split over nights end in the same rows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from datetime import date
from typing import Any

import msgspec
import polars as pl

from lorelake.content.masking import encoded, masked
from lorelake.content.redaction import Redactor
from lorelake.formats.record import Capture, Record, Refusal
from lorelake.tables import RAW_RECORDS

KEY = list(RAW_RECORDS.key)
BATCH = 8_000
BATCH_BYTES = 8_000_000
"""Records redacted together: enough for a vectorised search, small enough for a flat memory curve."""

_WITHOUT_BODY = (
    "source", "unit_id", "record_id", "body_sha256", "record_type", "ts", "ts_assumed", "unit_day", "project_hint",
    "person_hint", "capture_sha256", "source_uri", "first_kept",
)  # fmt: skip
"""What `_row` gives, in this order: tuples, because a night may make millions of rows."""

Found = tuple[str, Capture, Record]
"""A record with its source and the capture it was read from."""


def frames(found: Iterable[Found], redactor: Redactor, as_of: date) -> Iterator[pl.DataFrame]:
    """Redacted `raw_records` rows, a batch at a time, `unit_day` not yet final.

    A record dated after the as-of day is kept as of its own day, so that a later run finds it as if it had
    come in time.
    """
    schema = {name: RAW_RECORDS.polars_schema()[name] for name in _WITHOUT_BODY}
    for batch, texts in _batches(found):
        bodies = masked([record.value for _, _, record in batch], texts, redactor)
        rows = [_row(*one, body, as_of) for one, body in zip(batch, bodies, strict=True)]
        column = pl.Series("body", bodies, dtype=pl.Binary).cast(pl.String)
        yield pl.DataFrame(rows, schema=schema, orient="row").with_columns(column).select(RAW_RECORDS.column_names)


def _row(source: str, capture: Capture, record: Record, body: bytes, as_of: date) -> tuple[Any, ...]:
    """The columns `_WITHOUT_BODY`."""
    day = record.ts.date() if record.ts else None
    return (
        source,
        f"{source}:{record.unit}",
        record.id,
        hashlib.sha256(body).hexdigest(),
        record.type,
        record.ts,
        record.ts_assumed or record.ts is None,
        day or as_of,
        capture.project,
        capture.person,
        capture.sha256,
        _place(capture.name, record.member, record.line),
        max(as_of, day) if day else as_of,
    )


def _place(capture: str, member: str, line: int) -> str:
    """Capture, member and line; a single file is its own member and is named once."""
    name = member if not member or member.startswith(capture) else f"{capture}/{member}"
    return f"{name or capture}:{line}" if line else name or capture


def _batches(found: Iterable[Found]) -> Iterator[tuple[list[Found], list[bytes]]]:
    """Records with their JSON text, some thousand or some megabytes at a time."""
    batch: list[Found] = []
    texts: list[bytes] = []
    size = 0
    for one in found:
        text = encoded(one[2].value)
        batch.append(one)
        texts.append(text)
        size += len(text)
        if len(batch) >= BATCH or size >= BATCH_BYTES:
            yield batch, texts
            batch, texts, size = [], [], 0
    if batch:
        yield batch, texts


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


def redact_again(rows: pl.DataFrame, redactor: Redactor) -> pl.DataFrame:
    """Stored rows under newer redaction rules; what was masked stays masked, what is new is masked now."""
    bodies = [encoded(value) for value in redactor.values([msgspec.json.decode(body) for body in rows["body"]])]
    return rows.with_columns(
        pl.Series("body", bodies, dtype=pl.Binary).cast(pl.String),
        pl.Series("body_sha256", [hashlib.sha256(body).hexdigest() for body in bodies], dtype=pl.String),
    )


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
