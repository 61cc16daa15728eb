"""Raw and what was erased: it is kept out on the way in, and taken out of what is stored.

The records that remain lose the erased persons' names. Nothing of a record that is kept out is told but the capture it
stood in, and the keyed hash that stands for it: its refusal has no words, and no hash that could be guessed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import polars as pl

from lorelake.content.erasure import Erased, record_hmac
from lorelake.content.masking import encoded
from lorelake.content.values import strings
from lorelake.formats.record import Capture, Record, Refusal
from lorelake.lake import Lake, read_table, write_table
from lorelake.raw import keep
from lorelake.tables import INTAKE, MODEL_ANSWERS, QUARANTINE, RAW_RECORDS

_JOINT = re.compile(r"[/:@]")

ERASED = "erased"
"""The reason code of what is kept out."""


def named(capture: Capture, kept_out: Erased) -> Capture:
    """A capture under the name by which the books know it, where erased persons have none."""
    return msgspec.structs.replace(capture, name=kept_out.path(capture.name), extent=dict(capture.extent))


def sifted(
    source: str, capture: Capture, found: Iterable[Record | Refusal], kept_out: Erased
) -> Iterator[Record | Refusal]:
    """What a capture holds: a refusal for each record that may not come in, and the rest without erased names."""
    if not kept_out:
        yield from found
        return
    for item in found:
        if not isinstance(item, Record):
            yield unnamed(item, kept_out)
        elif kept_out.keeps_out(source, item.unit, item.id, item.type, item.value, capture.person):
            line = item.line if item.member in ("", capture.name) else 0  # the name of a member may tell what it held
            yield Refusal(ERASED, "", "", line, sha256=record_hmac(kept_out.key, source, item.id))
        else:
            item.value, item.member = kept_out.masked(item.value), kept_out.path(item.member)
            item.unit, item.id = kept_out.path(item.unit), kept_out.path(item.id)
            yield item


def unnamed(refusal: Refusal, kept_out: Erased) -> Refusal:
    """A refusal without erased persons' names."""
    if not kept_out:
        return refusal
    return msgspec.structs.replace(
        refusal,
        member=kept_out.path(refusal.member),
        detail=kept_out.path(refusal.detail),
        head=kept_out.text(refusal.head),
    )


def emptied(capture: Capture, refusals: list[Refusal], kept_out: Erased) -> tuple[Capture, list[Refusal]]:
    """A capture of which nothing is left under a name that tells nothing, and its refusals by that name alone."""
    hidden = msgspec.structs.replace(capture, name=kept_out.hidden(capture.name))
    return hidden, [msgspec.structs.replace(refusal, member="") for refusal in refusals]


def renamed(rows: pl.DataFrame, entries: Sequence[Mapping[str, Any]], kept_out: Erased) -> pl.DataFrame:
    """Rows of the books or of quarantine, with captures of which nothing is left under their new names."""
    new = {entry["capture"] for entry in entries}
    names = {name: kept_out.hidden(name) for name in rows["capture"].unique()} if kept_out else {}
    names = {name: hidden for name, hidden in names.items() if hidden in new}
    return rows.with_columns(pl.col("capture").replace(names)) if names else rows


def without_words(refusals: list[Refusal]) -> list[Refusal]:
    """The refusals of a capture. Beside an erased record nobody can tell whose words an unreadable one holds."""
    if all(refusal.reason != ERASED for refusal in refusals):
        return refusals
    return [
        refusal if refusal.reason == ERASED else msgspec.structs.replace(refusal, detail="", head="", sha256="")
        for refusal in refusals
    ]


@dataclass
class Taken:
    """What an erasure takes out of raw. Counts are of versions of records; `units` lost any; `in_git` are places in
    repositories, which are the team's own to rewrite; `captures` every name of what held a record."""

    records: int = 0
    masked: int = 0
    by_source: dict[str, int] = field(default_factory=dict)
    units: set[str] = field(default_factory=set)
    in_git: set[str] = field(default_factory=set)
    captures: set[str] = field(default_factory=set)


class Judged(NamedTuple):
    """Rows of raw: those that stay, without erased names; those that go; how many of those that stay were changed; and
    the texts that are lost in both ways."""

    stay: pl.DataFrame
    go: pl.DataFrame
    changed: int
    lost: list[str]


def judged(rows: pl.DataFrame, kept_out: Erased) -> Judged:
    """What an erasure makes of some rows of raw."""
    stay, go, changed = [], [], 0
    lost: dict[str, None] = {}
    for row in rows.iter_rows(named=True):
        native = row["unit_id"].removeprefix(f"{row['source']}:")
        value = msgspec.json.decode(row["body"])
        told = row["source"], native, row["record_id"], row["record_type"], value, row["person_hint"]
        if kept_out.keeps_out(*told):
            go.append(row)
            lost |= texts_of(value)
            continue
        rest = kept_out.masked(value)
        if rest is not value:
            lost |= {text: None for text in texts_of(value) if text not in texts_of(rest)}
        fresh = _renamed(row, value, rest, kept_out)
        changed += fresh != row
        stay.append(fresh)
    schema = RAW_RECORDS.polars_schema()
    kept, gone = (pl.DataFrame(part, schema=schema, orient="row") for part in (stay, go))
    return Judged(kept, gone, changed, list(lost))


def texts_of(value: Any) -> dict[str, None]:
    """Every text in a decoded value; keys are the format's."""
    return strings([value])[0]


def _renamed(row: dict[str, Any], value: Any, rest: Any, kept_out: Erased) -> dict[str, Any]:
    fresh = dict(row)
    for column in ("unit_id", "record_id", "source_uri"):
        fresh[column] = kept_out.path(row[column])
    if rest is not value:
        body = encoded(rest)
        fresh["body"], fresh["body_sha256"] = body.decode(), hashlib.sha256(body).hexdigest()
    return fresh


def survey(lake: Lake, kept_out: Erased, told: Callable[[Judged], None] | None = None) -> Taken:
    """What an erasure would take out of raw; changes nothing.

    Args:
        told: given what becomes of each stored file.
    """
    taken = Taken()
    for path in lake.days(RAW_RECORDS):
        found = judged(read_table(RAW_RECORDS, path), kept_out)
        _add(taken, found)
        if told:
            told(found)
    return taken


def take_out(lake: Lake, kept_out: Erased) -> Taken:
    """Rewrite raw, the books, quarantine and the model's answers without what was erased.

    Killed at any point and called again it ends in the same files: a unit that begins on another day now is written
    there before it leaves its old file. The books come last, since they tell what raw holds.
    """
    taken = Taken()
    for path in lake.days(RAW_RECORDS):
        found = judged(read_table(RAW_RECORDS, path), kept_out)
        if found.go.is_empty() and not found.changed:
            continue
        _add(taken, found)
        _place(lake, path, keep.fold(found.stay))
    _take_answers(lake, taken.units, kept_out)
    _take_refusals(lake, kept_out, taken)
    _take_books(lake, kept_out, taken)
    return taken


def _add(taken: Taken, found: Judged) -> None:
    taken.records += found.go.height
    taken.masked += found.changed
    taken.units |= set(found.go["unit_id"])
    for source, uri in found.go.select("source", "source_uri").iter_rows():
        taken.by_source[source] = taken.by_source.get(source, 0) + 1
        taken.captures |= _prefixes(uri)
        if source in ("documents", "decisions"):
            taken.in_git.add(uri)


def _prefixes(uri: str) -> set[str]:
    """Every name under which the books may know the capture in which a record stands."""
    return {uri, *(uri[: sign.start()] for sign in _JOINT.finditer(uri))}


def _place(lake: Lake, path: Path, rows: pl.DataFrame) -> None:
    source, own = path.parent.parent.name, date.fromisoformat(path.parent.name.removeprefix("day="))
    by_day = {day: part for (day,), part in rows.group_by("unit_day", maintain_order=True)}
    for day in sorted(by_day.keys() - {own}):
        there = lake.table(RAW_RECORDS, day, source)
        write_table(RAW_RECORDS, keep.fold(pl.concat([by_day[day], read_table(RAW_RECORDS, there)])), there)
    if own in by_day:
        write_table(RAW_RECORDS, by_day[own], path)
    else:
        path.unlink()


def _take_answers(lake: Lake, units: set[str], kept_out: Erased) -> None:
    """A model's answer about a unit that lost a record, or that names somebody, goes: it may hold their words."""
    for path in lake.days(MODEL_ANSWERS):
        rows = read_table(MODEL_ANSWERS, path)
        names = pl.Series([kept_out.text(text) != text for text in rows["answer"]], dtype=pl.Boolean)
        rest = rows.filter(~(pl.col("unit_id").is_in(list(units)) | names))
        if rest.is_empty():
            path.unlink()
        elif rest.height < rows.height:
            write_table(MODEL_ANSWERS, rest, path)


def _take_refusals(lake: Lake, kept_out: Erased, taken: Taken) -> None:
    """Refusals beside an erased record lose their words, and all lose the erased persons' names."""
    path = lake.table(QUARANTINE)
    if not path.exists():
        return
    rows = []
    for row in read_table(QUARANTINE, path).iter_rows(named=True):
        beside = row["capture"] in taken.captures
        person = kept_out.path(row["source_uri"]) != row["source_uri"]
        fresh = row | {name: kept_out.path(row[name]) for name in ("capture", "source_uri", "detail")}
        fresh["head"] = kept_out.text(row["head"])
        if beside or person:
            fresh |= {"detail": "", "head": "", "sha256": ""}
        rows.append(fresh)
    table = pl.DataFrame(rows, schema=QUARANTINE.polars_schema(), orient="row")
    write_table(QUARANTINE, table.unique(list(QUARANTINE.key), keep="first", maintain_order=True), path)


def _take_books(lake: Lake, kept_out: Erased, taken: Taken) -> None:
    """Captures are read again by the next night, so the books forget how far they were read, and erased names.

    A capture that is gone keeps its row: what it brought is still in raw.
    """
    path = lake.table(INTAKE)
    if not path.exists():
        return
    rows = []
    for row in read_table(INTAKE, path).iter_rows(named=True):
        fresh = row | {"capture": kept_out.path(row["capture"]), "extent": kept_out.text(row["extent"])}
        if row["capture"] in taken.captures or fresh["capture"] != row["capture"]:
            fresh |= {"capture_sha256": hashlib.sha256(fresh["capture"].encode()).hexdigest(), "fingerprint": ERASED}
        rows.append(fresh)
    table = pl.DataFrame(rows, schema=INTAKE.polars_schema(), orient="row")
    write_table(INTAKE, table.unique(list(INTAKE.key), keep="first", maintain_order=True), path)


def kept_out_captures(lake: Lake) -> list[str]:
    """Captures of which the last reading kept a record out, by the books."""
    books = read_table(INTAKE, lake.table(INTAKE)).select("capture", "reasons").rows()
    return sorted({capture for capture, reasons in books if msgspec.json.decode(reasons).get(ERASED)})
