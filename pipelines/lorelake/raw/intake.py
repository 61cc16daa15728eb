"""The intake plan: what changed since last night, decoded, redacted and staged by day before the run begins.

It needs no orchestrator. `plan` reads only captures whose fingerprint is new and returns the touched days;
`apply_day` rewrites one day; `close` writes the books last, so that a run killed before it simply reads the
same captures again and ends in the same rows.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Protocol

import msgspec
import polars as pl

from lorelake.content.redaction import RULES_VERSION, Redactor
from lorelake.errors import SourceError
from lorelake.formats.record import Capture, Record, Refusal, digest
from lorelake.lake import Lake, frame, read_table, write_bytes, write_table
from lorelake.raw import keep
from lorelake.raw.extent import extent
from lorelake.settings import LOGIC_VERSION
from lorelake.tables import INTAKE, QUARANTINE, RAW_RECORDS

Progress = Callable[[str, int, int], None]
"""Called with (what, done, of)."""


UNRECOGNISED = "unknown"
"""Source of refusals of files that no format took. Every night judges all of them anew, so older ones are dropped."""


class Reader(Protocol):
    """What the plan needs of a format module."""

    def read(self, capture: Capture) -> Any:
        """Records and refusals of a capture."""


@dataclass(frozen=True)
class Plan:
    """What a night has to do in raw.

    `staged` holds the whole of every touched unit, folded; `days` are all days it changes, those that gain a unit
    before those that only lose one, so that a kill between two days leaves no unit in neither.
    """

    as_of: date
    staged: pl.DataFrame
    touched: tuple[str, ...]
    days: tuple[date, ...]
    intake: pl.DataFrame
    quarantine: pl.DataFrame
    read: int
    unchanged: int


def fingerprint(source: str, capture: Capture) -> str:
    """Equal fingerprints mean: reading it again would keep the same."""
    return digest(
        source, capture.sha256, capture.project or "", capture.person or "", ",".join(capture.include), capture.ref,
        LOGIC_VERSION, RULES_VERSION,
    )  # fmt: skip


def plan(
    lake: Lake,
    as_of: date,
    found: Sequence[tuple[str, Capture]],
    refused: Sequence[tuple[str, str, Refusal]],
    redactor: Redactor,
    reader: Callable[[str], Reader],
    progress: Progress = lambda what, done, of: None,
) -> Plan:
    """Decode what is new.

    Args:
        found: (format name, capture) of everything that lies there tonight.
        refused: (source or `UNRECOGNISED`, capture name, refusal) of what no format took.
        reader: format module by name.
    """
    books = read_table(INTAKE, lake.table(INTAKE))
    known = dict(zip(zip(books["source"], books["capture"], strict=True), books["fingerprint"], strict=True))
    fresh = [
        (source, capture)
        for source, capture in sorted(found, key=lambda pair: (pair[0], pair[1].name))
        if known.get((source, capture.name)) != fingerprint(source, capture)
    ]
    staged: list[pl.DataFrame] = []
    entries: list[dict[str, Any]] = []
    bad: list[dict[str, Any]] = []
    for number, (source, capture) in enumerate(fresh, 1):
        progress(capture.name, number, len(fresh))
        rows, refusals = _decode(source, capture, reader(source), redactor, as_of)
        staged.append(pl.DataFrame(rows, schema=RAW_RECORDS.polars_schema(), orient="row"))
        bad += [keep.quarantine_row(source, capture.name, refusal, redactor, as_of) for refusal in refusals]
        mark, covered = fingerprint(source, capture), extent(capture, reader(source), rows)
        entries.append(_entry(source, capture.name, capture.sha256, mark, len(rows), refusals, covered))
    for source, name, refusal in sorted(refused, key=lambda item: (item[0], item[1], item[2].reason)):
        bad.append(keep.quarantine_row(source, name, refusal, redactor, as_of))
        entries.append(_entry(source, name, refusal.sha256, digest(source, name, refusal.reason), 0, [refusal]))
    new = pl.concat(staged) if staged else pl.DataFrame(schema=RAW_RECORDS.polars_schema())
    before = _before(lake, new, redactor)
    after = keep.fold(pl.concat([new, before]))  # newly read first: the settings may assume something else now
    quarantined = read_table(QUARANTINE, lake.table(QUARANTINE))
    gaining, losing = set(after["unit_day"].unique()), set(before["unit_day"].unique())
    return Plan(
        as_of=as_of,
        staged=after,
        touched=tuple(after["unit_id"].unique().sort()),
        days=(*sorted(gaining), *sorted(losing - gaining)),
        intake=_newest(books, frame(INTAKE, entries), list(INTAKE.key)),
        quarantine=_replaced(quarantined, pl.DataFrame(bad, schema=QUARANTINE.polars_schema(), orient="row"), entries),
        read=len(fresh),
        unchanged=len(found) - len(fresh),
    )


def _decode(
    source: str, capture: Capture, format_: Reader, redactor: Redactor, as_of: date
) -> tuple[list[dict[str, Any]], list[Refusal]]:
    refusals: list[Refusal] = []

    def records() -> Any:
        for item in format_.read(capture):
            if isinstance(item, Record):
                yield item
            else:
                refusals.append(item)

    return list(keep.rows_of(source, capture, records(), redactor, as_of)), refusals


def _entry(
    source: str, name: str, sha256: str, mark: str, kept: int, refusals: Sequence[Refusal], covered: str = "{}"
) -> dict[str, Any]:
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


def _before(lake: Lake, new: pl.DataFrame, redactor: Redactor) -> pl.DataFrame:
    """Stored rows of the units that `new` touches; of all units, masked again, when the rules have changed.

    Records whose source has vanished exist only here, so new rules must reach them where they lie.
    """
    days = lake.days(RAW_RECORDS)
    if not days:
        return pl.DataFrame(schema=RAW_RECORDS.polars_schema())
    if _rules_seen(lake) != RULES_VERSION:
        return keep.redact_again(pl.read_parquet(days), redactor)
    return pl.scan_parquet(days).filter(pl.col("unit_id").is_in(new["unit_id"].unique().implode())).collect()


def _rules_seen(lake: Lake) -> str:
    path = lake.state / "redaction_rules"
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _newest(old: pl.DataFrame, new: pl.DataFrame, key: list[str]) -> pl.DataFrame:
    rest = old.join(new, on=key, how="anti").filter(pl.col("source") != UNRECOGNISED)
    return pl.concat([rest, new]).sort(key)


def _replaced(old: pl.DataFrame, new: pl.DataFrame, entries: Sequence[dict[str, Any]]) -> pl.DataFrame:
    """Refusals of captures read tonight replace their older ones; a refusal seen before keeps its first day."""
    again = pl.DataFrame(
        [(entry["source"], entry["capture"]) for entry in entries],
        schema={"source": pl.String, "capture": pl.String},
        orient="row",
    )
    key = list(QUARANTINE.key)
    first = old.select([*key, pl.col("first_seen").alias("before")])
    renewed = (
        new.unique(key, keep="first", maintain_order=True)
        .join(first, on=key, how="left")
        .with_columns(pl.min_horizontal("first_seen", "before").alias("first_seen"))
        .drop("before")
    )
    rest = old.join(again, on=["source", "capture"], how="anti").filter(pl.col("source") != UNRECOGNISED)
    return pl.concat([rest, renewed.select(QUARANTINE.column_names)]).sort(key)


def after(lake: Lake, plan: Plan) -> pl.LazyFrame:
    """All raw rows as they will be once the plan is applied."""
    days = lake.days(RAW_RECORDS)
    if not days:
        return plan.staged.lazy()
    rest = pl.scan_parquet(days).filter(~pl.col("unit_id").is_in(list(plan.touched)))
    return pl.concat([rest, plan.staged.lazy()])


def save(lake: Lake, plan: Plan) -> None:
    """Stage the plan where the run finds it. Overwrites the plan of a run that never ended."""
    folder = lake.root / "staging"
    write_table(RAW_RECORDS, plan.staged, folder / "raw_records.parquet")
    write_table(INTAKE, plan.intake, folder / "intake.parquet")
    write_table(QUARANTINE, plan.quarantine, folder / "quarantine.parquet")
    facts = {
        "as_of": plan.as_of,
        "touched": plan.touched,
        "days": plan.days,
        "read": plan.read,
        "unchanged": plan.unchanged,
    }
    write_bytes(folder / "plan.json", msgspec.json.encode(facts))


def load(lake: Lake) -> Plan:
    """The staged plan.

    Raises:
        SourceError: no plan is staged; a run starts with the intake plan.
    """
    folder = lake.root / "staging"
    try:
        facts = msgspec.json.decode((folder / "plan.json").read_bytes(), type=_Facts)
    except FileNotFoundError:
        raise SourceError(
            "no intake plan is staged",
            where=str(folder),
            remedy="start the run with `lorelake nightly` or its schedule",
        ) from None
    return Plan(
        as_of=facts.as_of,
        staged=read_table(RAW_RECORDS, folder / "raw_records.parquet"),
        touched=facts.touched,
        days=facts.days,
        intake=read_table(INTAKE, folder / "intake.parquet"),
        quarantine=read_table(QUARANTINE, folder / "quarantine.parquet"),
        read=facts.read,
        unchanged=facts.unchanged,
    )


class _Facts(msgspec.Struct):
    as_of: date
    touched: tuple[str, ...]
    days: tuple[date, ...]
    read: int
    unchanged: int


def apply_day(lake: Lake, day: date, plan: Plan) -> int:
    """Rewrite every source's file of one day. Returns the rows the day holds."""
    total = 0
    staged = plan.staged.filter(pl.col("unit_day") == day)
    there = {path.parent.parent.name for path in lake.days(RAW_RECORDS) if path.parent.name == f"day={day}"}
    for source in sorted(there | set(staged["source"].unique())):
        path = lake.table(RAW_RECORDS, day, source)
        rows = keep.replace_units(
            read_table(RAW_RECORDS, path), staged.filter(pl.col("source") == source), plan.touched
        )
        if rows.is_empty():
            path.unlink(missing_ok=True)
        else:
            write_table(RAW_RECORDS, rows, path)
        total += rows.height
    return total


def close(lake: Lake, plan: Plan) -> None:
    """Write the books: quarantine first, then intake, which says that these captures need no second reading."""
    write_table(QUARANTINE, plan.quarantine, lake.table(QUARANTINE))
    write_table(INTAKE, plan.intake, lake.table(INTAKE))
    write_bytes(lake.state / "redaction_rules", RULES_VERSION.encode())
    shutil.rmtree(lake.root / "staging", ignore_errors=True)
