"""Whether two folders of a release say the same: every table, index and review folder, by what its files hold.

Bytes are compared only where they must be equal. Lance names its files at random, SQLite's pages keep the order of
writes, and the catalog holds views: of these the rows count.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import polars as pl

from lorelake import served
from lorelake.formats.record import canonical
from lorelake.lake import read_table
from lorelake.release.build import CATALOG, TABLES_FOLDER
from lorelake.release.manifest import table_hash, values_of
from lorelake.release.verdict import VERDICT, hash_files
from lorelake.tables import TABLES, Table

SHOWN = 3
"""Differing keys that are named; the rest is counted."""

_APART = frozenset((served.MANIFEST, VERDICT, CATALOG))
"""Files at the top of a release that tell when and how it was made, or only point to its tables."""

_LEXICAL = ("items", "aliases", "retired", "topics", "topic_items")


class Part(NamedTuple):
    """One table or folder of two releases. `rows` are those of the first and of the second, None where it has none.

    `hashed`: it counts in the content hash; what does not tells of the night, not of memory. `keys` are the first that
    differ, each with how; `differing` counts them all.
    """

    name: str
    same: bool
    hashed: bool
    rows: tuple[int | None, int | None]
    differing: int = 0
    keys: tuple[str, ...] = ()


def compare(one: Path, other: Path) -> list[Part]:
    """Compare two release folders, tables first, then what each audience is handed."""
    parts = [_table(table, one, other) for table in TABLES.values() if table.released]
    folders = {path.relative_to(root).as_posix() for root in (one, other) for path in _folders(root)}
    return [*parts, *(_folder(name, one, other) for name in sorted(folders))]


def _table(table: Table, one: Path, other: Path) -> Part:
    frames = [_frame(table, root) for root in (one, other)]
    rows = (None if frames[0] is None else frames[0].height, None if frames[1] is None else frames[1].height)
    if frames[0] is None or frames[1] is None:
        return Part(table.name, frames[0] is frames[1], table.hashed, rows)
    first, second = frames[0], frames[1]
    odd = set(first.columns) ^ set(second.columns)
    if odd:
        return Part(table.name, False, table.hashed, rows, len(odd), tuple(f"column {name}" for name in sorted(odd)))
    if table_hash(table, first) == table_hash(table, second):
        return Part(table.name, True, table.hashed, rows)
    return _differing(table.name, table.hashed, _by_key(table, first), _by_key(table, second))


def _frame(table: Table, root: Path) -> pl.DataFrame | None:
    path = root / TABLES_FOLDER / f"{table.name}.parquet"
    return read_table(table, path) if path.exists() else None


def _by_key(table: Table, data: pl.DataFrame) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for row in data.sort(table.key).iter_rows(named=True):
        values = dict(zip(row, values_of(row.values()), strict=True))
        found[" ".join(str(values[name]) for name in table.key)] = values
    return found


def _differing(
    name: str, hashed: bool, first: Mapping[str, Mapping[str, Any]], second: Mapping[str, Mapping[str, Any]]
) -> Part:
    """Every key with another row, or with one on one side only. Names keys and columns, never words."""
    keys = [key for key in sorted(first.keys() | second.keys()) if first.get(key) != second.get(key)]
    told = []
    for key in keys[:SHOWN]:
        if key not in first or key not in second:
            told.append(f"{key}: {'missing' if key in first else 'new'}")
            continue
        columns = first[key].keys() | second[key].keys()
        told.append(f"{key}: {', '.join(sorted(c for c in columns if first[key].get(c) != second[key].get(c)))}")
    return Part(name, not keys, hashed, (len(first), len(second)), len(keys), tuple(told))


def _folders(root: Path) -> Iterable[Path]:
    """The folders of audiences, and whatever else stands beside the tables."""
    for top in sorted(root.iterdir()):
        if top.name == TABLES_FOLDER or top.name in _APART:
            continue
        if top.name in (served.INDEX_FOLDER, served.REVIEW_FOLDER):
            yield from sorted(path for path in top.iterdir() if path.is_dir())
        else:
            yield top


def _folder(name: str, one: Path, other: Path) -> Part:
    contents = [_content(root / name) for root in (one, other)]
    if not all((root / name).exists() for root in (one, other)):
        there = (root / name for root in (one, other))
        rows = [len(found) if path.exists() else None for found, path in zip(contents, there, strict=True)]
        return Part(_called(name, one, other), False, True, (rows[0], rows[1]))
    return _differing(_called(name, one, other), True, *contents)


def _called(name: str, one: Path, other: Path) -> str:
    """A folder's place with the audience it is for: its own name is opaque."""
    top, _, audience = name.partition("/")
    for root in (one, other):
        card = root / served.INDEX_FOLDER / audience / served.AUDIENCE_CARD
        if audience and card.exists():
            return f"{top} of {msgspec.json.decode(card.read_bytes(), type=served.AudienceCard).audience}"
    return name


def _content(path: Path) -> dict[str, dict[str, Any]]:
    """What a file or folder holds: by row for an index, by hash for any other file."""
    if not path.exists():
        return {}
    if path.is_file():
        return {path.name: {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()}}
    found: dict[str, dict[str, Any]] = {}
    for name, entry in hash_files(path).items():
        if name == served.LEXICAL_DB:
            found |= _lexical(path / name)
        elif not name.startswith(f"{served.LANCE_TABLE}.lance/"):
            found[name] = {"sha256": entry.sha256}
    return found | _lance(path)


def _lexical(path: Path) -> dict[str, dict[str, Any]]:
    found = {}
    with closing(sqlite3.connect(f"file:{path.resolve()}?mode=ro&immutable=1", uri=True)) as db:
        for table in _LEXICAL:
            rows = db.execute(" ".join(("SELECT * FROM", table)))
            columns = [column[0] for column in rows.description]
            key = {"items": "learning_id", "topic_items": None}.get(table, columns[0])
            for row in rows:
                values = dict(zip(columns, row, strict=True))
                found[f"{table} {values[key] if key else ' '.join(row)}"] = values
    return found


def _lance(folder: Path) -> dict[str, dict[str, Any]]:
    """The rows of a LanceDB table, where the folder holds one."""
    if not (folder / f"{served.LANCE_TABLE}.lance").is_dir():
        return {}
    import lancedb

    rows = lancedb.connect(folder).open_table(served.LANCE_TABLE).to_arrow().to_pylist()
    return {f"lance {row['learning_id']}": {name: canonical(value) for name, value in row.items()} for row in rows}
