"""The intake plan: what changed since last night, decoded, redacted and staged by day before the run begins.

It needs no orchestrator. `plan` reads only captures whose fingerprint is new, writes the files of the touched days
aside and returns the days; `apply_day` puts one day's files in place; `close` writes the books last, so that a run
killed before it simply reads the same captures again and ends in the same rows. Rows are never held all at once.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pyarrow.parquet as parquet

from lorelake import executor
from lorelake.content.erasure import NOTHING, Erased
from lorelake.content.redaction import RULES_VERSION, Redactor
from lorelake.errors import SourceError
from lorelake.formats.record import Capture, Refusal, digest
from lorelake.lake import Lake, frame, place, read_table, write_bytes, write_table
from lorelake.raw import erased, keep, shards, staging
from lorelake.raw.staging import Reader, entry, fingerprint
from lorelake.tables import INTAKE, QUARANTINE, RAW_RECORDS

Progress = Callable[[str, int, int], None]
"""Called with (what, done, of)."""


UNRECOGNISED = "unknown"
"""Source of refusals of files that no format took. Every night judges all of them anew, so older ones are dropped."""
SHARE_BYTES = 12_000_000
"""Captures decoded by one task: enough for a vectorised search over many small ones, little enough to share evenly."""
WORTH_SHARING = 32_000_000
"""Bytes below which fresh processes cost more than they save."""
PACKED = 5
"""Bytes of records in a byte of stored Parquet, roughly."""


@dataclass(frozen=True)
class Plan:
    """What a night has to do in raw.

    The files of all touched days are staged as they will be; `emptied` are those (source, day) that nothing is left
    of. `days` are all days that change, those that gain a unit before those that only lose one, so that a kill
    between two days leaves no unit in neither. `rows` is how many rows the staged files hold.
    """

    as_of: date
    days: tuple[date, ...]
    emptied: tuple[tuple[str, date], ...]
    intake: pl.DataFrame
    quarantine: pl.DataFrame
    rows: int
    read: int
    unchanged: int


def plan(
    lake: Lake,
    as_of: date,
    found: Sequence[tuple[str, Capture]],
    refused: Sequence[tuple[str, str, Refusal]],
    redactor: Redactor,
    reader: Callable[[str], Reader],
    progress: Progress = lambda what, done, of: None,
    kept_out: Erased = NOTHING,
) -> Plan:
    """Decode what is new and stage the files of the days it touches. Overwrites the plan of a run that never ended.

    Args:
        found: (format name, capture) of everything that lies there tonight.
        refused: (source or `UNRECOGNISED`, capture name, refusal) of what no format took.
        reader: format module by name.
        kept_out: what was erased, and is refused wherever it comes from.
    """
    books = read_table(INTAKE, lake.table(INTAKE))
    known = dict(zip(zip(books["source"], books["capture"], strict=True), books["fingerprint"], strict=True))
    fresh = [
        (source, capture)
        for source, capture in sorted(found, key=lambda pair: (pair[0], pair[1].name))
        if fingerprint(source, capture, kept_out) not in _read_as(known, source, kept_out.path(capture.name), kept_out)
    ]
    shutil.rmtree(_folder(lake), ignore_errors=True)
    stored = [] if _rules_seen(lake) == RULES_VERSION else lake.days(RAW_RECORDS)
    size = sum(map(_size, fresh)) + PACKED * sum(path.stat().st_size for path in stored)
    with executor.choose(size, WORTH_SHARING) as runner:
        parts, entries, bad = _decode(runner, lake, fresh, redactor, reader, as_of, progress, kept_out)
        days, emptied, rows = _stage(runner, lake, parts, redactor)
    shutil.rmtree(_folder(lake) / "decoded", ignore_errors=True)
    unread = [(source, kept_out.path(name), erased.unnamed(refusal, kept_out)) for source, name, refusal in refused]
    for source, name, refusal in sorted(unread, key=lambda item: (item[0], item[1], item[2].reason)):
        bad.append(keep.quarantine_row(source, name, refusal, redactor, as_of))
        entries.append(entry(source, name, refusal.sha256, digest(source, name, refusal.reason), 0, [refusal]))
    books = erased.renamed(books, entries, kept_out)
    quarantined = erased.renamed(read_table(QUARANTINE, lake.table(QUARANTINE)), entries, kept_out)
    return Plan(
        as_of=as_of,
        days=days,
        emptied=emptied,
        intake=_newest(books, frame(INTAKE, entries), list(INTAKE.key)),
        quarantine=_replaced(quarantined, pl.DataFrame(bad, schema=QUARANTINE.polars_schema(), orient="row"), entries),
        rows=rows,
        read=len(fresh),
        unchanged=len(found) - len(fresh),
    )


def _read_as(known: Mapping[tuple[str, str], str], source: str, name: str, kept_out: Erased) -> set[str | None]:
    """Fingerprints under which a capture was read, by its name and by the one it has where nothing of it is left."""
    return {known.get((source, name)), known.get((source, kept_out.hidden(name))) if kept_out else None}


def _decode(
    runner: executor.Executor,
    lake: Lake,
    fresh: Sequence[tuple[str, Capture]],
    redactor: Redactor,
    reader: Callable[[str], Reader],
    as_of: date,
    progress: Progress,
    kept_out: Erased,
) -> tuple[pl.DataFrame, list[dict[str, Any]], list[dict[str, Any]]]:
    """(`shards.PARTS` and `rank` of the new rows, `intake` rows, `quarantine` rows) of captures, in their order."""
    shares = [
        staging.Share(
            tuple(captures), reader, redactor, as_of, _folder(lake) / "decoded" / f"{number:05d}.parquet", kept_out
        )
        for number, captures in enumerate(_shares(fresh))
    ]
    biggest_first = sorted(range(len(shares)), key=lambda number: -sum(map(_size, shares[number].captures)))
    done: dict[int, staging.Decoded] = {}
    seen = 0
    for position, decoded in runner.run(staging.decode, [shares[number] for number in biggest_first]):
        share = shares[biggest_first[position]]
        done[biggest_first[position]] = decoded
        seen += len(share.captures)
        progress(share.captures[-1][1].name, seen, len(fresh))
    inorder = [done[number] for number in range(len(shares))]
    parts = [decoded.parts.with_columns(pl.lit(number).alias("rank")) for number, decoded in enumerate(inorder)]
    return (
        pl.concat(parts) if parts else pl.DataFrame(schema={**shards.PARTS, "rank": pl.Int32}),
        [row for decoded in inorder for row in decoded.entries],
        [row for decoded in inorder for rows in decoded.refused for row in rows],
    )


def _shares(fresh: Sequence[tuple[str, Capture]]) -> Iterator[list[tuple[str, Capture]]]:
    """Neighbours together up to a size; a large capture is alone."""
    share: list[tuple[str, Capture]] = []
    size = 0
    for pair in fresh:
        if share and size + _size(pair) > SHARE_BYTES:
            yield share
            share, size = [], 0
        share.append(pair)
        size += _size(pair)
    if share:
        yield share


def _size(pair: tuple[str, Capture]) -> int:
    return sum(max(member.size, 0) for member in pair[1].members)


def _stage(
    runner: executor.Executor, lake: Lake, new: pl.DataFrame, redactor: Redactor
) -> tuple[tuple[date, ...], tuple[tuple[str, date], ...], int]:
    """Write the files of all days that a unit joins, stays in or leaves. Returns (days, emptied, rows).

    Newly read rows go before stored ones: the settings may assume something else now.
    """
    stored = _stored(runner, lake, new, redactor)
    touched = stored.filter(pl.col("touched"))
    columns = [*shards.PARTS, "rank"]
    places = staging.days_of(pl.concat([new, touched.select(columns)]), lambda day, source: Path())
    files = {(task.source, task.day) for task in places} | set(touched.select("source", "unit_day").unique().rows())
    wanted = pl.DataFrame(sorted(files), schema={"source": pl.String, "unit_day": pl.Date}, orient="row")
    beside = stored.filter(~pl.col("touched")).join(wanted, on=["source", "unit_day"], how="semi")
    staged = Lake(_folder(lake))
    tasks = staging.days_of(
        pl.concat([new, touched.select(columns), beside.select(columns)]),
        lambda day, source: staged.table(RAW_RECORDS, day, source),
    )
    rows = sum(done for _, done in runner.run(staging.fold_day, tasks))
    emptied = files - {(task.source, task.day) for task in tasks}
    gaining = {task.day for task in places}
    losing = {day for _, day in files} - gaining
    return (*sorted(gaining), *sorted(losing)), tuple(sorted(emptied)), rows


def _stored(runner: executor.Executor, lake: Lake, new: pl.DataFrame, redactor: Redactor) -> pl.DataFrame:
    """`shards.PARTS`, `rank`, `unit_day` and `touched` of what is stored.

    Touched are the units that `new` holds rows of; all units, masked again, when the rules have changed: records
    whose source has vanished exist only here, so new rules must reach them where they lie.
    """
    days = lake.days(RAW_RECORDS)
    later = pl.lit(len(new) + 1, pl.Int32).alias("rank")
    none = pl.DataFrame(schema={**shards.PARTS, "rank": pl.Int32, "unit_day": pl.Date, "touched": pl.Boolean})
    if not days or (new.is_empty() and _rules_seen(lake) == RULES_VERSION):
        return none
    if _rules_seen(lake) != RULES_VERSION:
        again = _folder(lake) / "decoded"
        tasks = [
            staging.Masking(path, redactor, again / f"masked-{number:05d}.parquet") for number, path in enumerate(days)
        ]
        masked = [
            parts.with_columns(later, pl.lit(_day_of(days[position])).alias("unit_day"), pl.lit(True).alias("touched"))
            for position, parts in runner.run(staging.mask_again, tasks)
        ]
        return pl.concat([none, *(parts.select(none.columns) for parts in masked)])
    parts = pl.concat([shards.stored_parts(path) for path in days])
    touched = pl.col("unit_id").is_in(new["unit_id"].unique().implode())
    return parts.with_columns(later, touched.alias("touched")).select(none.columns)


def _day_of(path: Path) -> date:
    return date.fromisoformat(path.parent.name.removeprefix("day="))


def _folder(lake: Lake) -> Path:
    """Where a plan lies until its books are closed."""
    return lake.root / "staging"


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
    staged = Lake(_folder(lake))
    replaced = {staged.root / path.relative_to(staged.root) for path in staged.days(RAW_RECORDS)}
    emptied = {lake.table(RAW_RECORDS, day, source) for source, day in plan.emptied}
    rest = [
        path
        for path in lake.days(RAW_RECORDS)
        if path not in emptied and staged.root / path.relative_to(lake.root) not in replaced
    ]
    files = [*rest, *sorted(replaced)]
    return pl.scan_parquet(files) if files else pl.LazyFrame(schema=RAW_RECORDS.polars_schema())


def save(lake: Lake, plan: Plan) -> None:
    """Write the plan beside its staged files, where the run finds it."""
    folder = _folder(lake)
    write_table(INTAKE, plan.intake, folder / "intake.parquet")
    write_table(QUARANTINE, plan.quarantine, folder / "quarantine.parquet")
    facts = _Facts(plan.as_of, plan.days, plan.emptied, plan.rows, plan.read, plan.unchanged)
    write_bytes(folder / "plan.json", msgspec.json.encode(facts))


def load(lake: Lake) -> Plan:
    """The staged plan.

    Raises:
        SourceError: no plan is staged; a run starts with the intake plan.
    """
    folder = _folder(lake)
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
        days=facts.days,
        emptied=facts.emptied,
        intake=read_table(INTAKE, folder / "intake.parquet"),
        quarantine=read_table(QUARANTINE, folder / "quarantine.parquet"),
        rows=facts.rows,
        read=facts.read,
        unchanged=facts.unchanged,
    )


class _Facts(msgspec.Struct):
    as_of: date
    days: tuple[date, ...]
    emptied: tuple[tuple[str, date], ...]
    rows: int
    read: int
    unchanged: int


def apply_day(lake: Lake, day: date, plan: Plan) -> int:
    """Put every source's file of one day in place. Returns the rows the day holds."""
    staged = Lake(_folder(lake))
    for path in staged.days(RAW_RECORDS):
        if _day_of(path) == day:
            place(path, lake.root / path.relative_to(staged.root))
    for source, emptied in plan.emptied:
        if emptied == day:
            lake.table(RAW_RECORDS, day, source).unlink(missing_ok=True)
    here = [path for path in lake.days(RAW_RECORDS) if _day_of(path) == day]
    return sum(parquet.read_metadata(path).num_rows for path in here)


def close(lake: Lake, plan: Plan) -> None:
    """Write the books: quarantine first, then intake, which says that these captures need no second reading."""
    write_table(QUARANTINE, plan.quarantine, lake.table(QUARANTINE))
    write_table(INTAKE, plan.intake, lake.table(INTAKE))
    write_bytes(lake.state / "redaction_rules", RULES_VERSION.encode())
    shutil.rmtree(_folder(lake), ignore_errors=True)
