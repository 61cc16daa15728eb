"""Every format that a lake may hold, decoded down to its texts: what a proof of erasure looks through.

A decoder yields all that can be had, whether a reader would be shown it or not: older versions, values that no row
points at, statistics, free pages. Where something may lie that it cannot read it says so as a `Fault`; whoever asks
takes that for a failure.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import re
import sqlite3
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import msgspec
import pyarrow as pa
import pyarrow.parquet as parquet

from lorelake.content import search_words
from lorelake.content import values as decoded
from lorelake.release.index import INDEXED_QUOTE_CHARS

_FULL_TEXT = re.compile(r"CREATE VIRTUAL TABLE .* USING fts5", re.IGNORECASE | re.DOTALL)

NESTED = 8
"""How deep archives may lie within archives."""


class Fault(NamedTuple):
    """Something that could not be decoded, and what to do about it."""

    why: str


Found = str | bytes | Fault
"""A text; bytes that are to be looked through as they are; or what could not be decoded."""


def sniffed(head: bytes) -> str:
    """The format of a file by its first bytes; `text` where nothing else is known, which may prove false."""
    for name, magic, at in _MAGIC:
        if head[at : at + len(magic)] == magic:
            return name
    return "text" if head else "empty"


def decode(name: str, data: bytes, path: Path | None = None, depth: int = 0) -> Iterator[Found]:
    """Everything in one file; its own bytes are not among it.

    Args:
        name: of the file, for `.msgpack`, which has no magic.
        path: where it lies on disk, for databases, which may have a journal beside them.
        depth: archives around it.
    """
    form = sniffed(data[:512])
    if name.endswith(".msgpack"):
        form = "msgpack"
    if depth > NESTED:
        yield Fault("archives within archives, too deep to follow")
        return
    try:
        yield from _DECODERS[form](name, data, path, depth)
    except _ERRORS as error:
        yield Fault(f"cannot be decoded as {form}: {type(error).__name__}: {error}")


def _parquet(name: str, data: bytes, path: Path | None, depth: int) -> Iterator[Found]:
    """Rows, dictionaries with the values that no row has, statistics, and bytes outside every column."""
    about = parquet.read_metadata(io.BytesIO(data))
    texts = [
        about.schema.column(number).path
        for number in range(about.num_columns)
        if about.schema.column(number).physical_type == "BYTE_ARRAY"
    ]
    file = parquet.ParquetFile(io.BytesIO(data), read_dictionary=texts)
    covered = about.serialized_size + 12
    for key, value in (about.metadata or {}).items():
        yield key
        yield value
    for group in range(about.num_row_groups):
        for column in range(about.num_columns):
            chunk = about.row_group(group).column(column)
            covered += chunk.total_compressed_size
            if chunk.is_stats_set and chunk.statistics.has_min_max:
                yield from (str(end) for end in (chunk.statistics.min, chunk.statistics.max))
        for column in file.read_row_group(group).columns:
            for part in column.chunks:
                yield from _arrow(part)
    if covered < len(data):
        yield Fault(f"{len(data) - covered} bytes belong to no column")


def _arrow(array: pa.Array) -> Iterator[Found]:
    kind = array.type
    if pa.types.is_dictionary(kind):
        yield from _arrow(array.dictionary)
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        yield from _arrow(array.flatten())
    elif pa.types.is_struct(kind):
        for child in array.flatten():
            yield from _arrow(child)
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_binary(kind):
        yield from (value for value in array.to_pylist() if value)


def _sqlite(name: str, data: bytes, path: Path | None, depth: int) -> Iterator[Found]:
    """Every cell of every table, those of indexes included, and whether pages are free that may hold old rows."""
    with closing(_opened(data, path)) as db:
        free = db.execute("PRAGMA freelist_count").fetchone()[0]
        if free:
            yield Fault(f"{free} free pages may hold deleted rows; run VACUUM on it")
        texts: set[str] = set()
        tables = db.execute("SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'view', 'index')").fetchall()
        for table, sql in tables:
            yield f"{table} {sql}"
        for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            for row in db.execute(" ".join(("SELECT * FROM", _quoted(table)))):
                for cell in row:
                    yield from _cell(cell)
                    texts |= _strings(cell)
        for table, sql in tables:
            if _FULL_TEXT.match(sql or ""):
                yield from _orphans(db, table, sql, texts)
    if path is not None:
        for end in ("-wal", "-journal"):
            beside = path.with_name(path.name + end)
            if beside.exists() and beside.stat().st_size:
                yield beside.read_bytes()


def _opened(data: bytes, path: Path | None) -> sqlite3.Connection:
    """With what its journal holds, where it lies on disk."""
    if path is not None:
        return sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    db = sqlite3.connect(":memory:")
    db.deserialize(data)
    return db


def _strings(cell: Any) -> set[str]:
    """A text, and the strings in it where it is JSON."""
    if not isinstance(cell, str):
        return set()
    with suppress(ValueError, RecursionError):
        return {cell, *decoded.strings([json.loads(cell)])[0]}
    return {cell}


def _cell(cell: Any) -> Iterator[Found]:
    if isinstance(cell, str):
        yield cell
    elif isinstance(cell, bytes):
        yield cell
        with suppress(zlib.error):
            yield zlib.decompress(cell)


def _orphans(db: sqlite3.Connection, table: str, sql: str, texts: set[str]) -> Iterator[Fault]:
    """Terms of a full-text index that no text of the file explains: they are stems, packed by prefix.

    Args:
        texts: of every row of the file. A fresh index over them, cut into words as ours are, has all they explain.
    """
    with closing(sqlite3.connect(":memory:")) as fresh:
        fresh.execute(sql)
        columns = len(fresh.execute(" ".join(("PRAGMA table_info(", _quoted(table), ")"))).fetchall())
        rest = (None,) * (columns - 1)
        cut = texts | {found[:INDEXED_QUOTE_CHARS] for found in texts}  # a long quote is indexed up to there
        rows = ((text, *rest) for found in cut for text in (found, search_words.index_text(found)))
        marks = ", ".join("?" * columns)
        fresh.executemany(" ".join(("INSERT INTO", _quoted(table), "VALUES (", marks, ")")), rows)
        unknown = _terms(db, table) - _terms(fresh, table)
    if unknown:
        yield Fault(f"{len(unknown)} indexed terms that no row has")


def _terms(db: sqlite3.Connection, table: str) -> set[str]:
    db.execute(" ".join(("CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main,", _quoted(table), ", row)")))
    found = {term for (term,) in db.execute("SELECT term FROM temp.terms")}
    db.execute("DROP TABLE temp.terms")
    return found


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _duckdb(name: str, data: bytes, path: Path | None, depth: int) -> Iterator[Found]:
    if path is None:
        yield Fault("a DuckDB file within an archive")
        return
    with duckdb.connect(str(path), read_only=True) as db:
        free = db.execute("SELECT free_blocks FROM pragma_database_size()").fetchone()
        if free and free[0]:
            yield Fault(f"{free[0]} free blocks may hold deleted rows; copy it into a fresh file")
        for sql, comment in db.execute("SELECT sql, comment FROM duckdb_views() WHERE NOT internal").fetchall():
            yield f"{sql} {comment}"
        for (comment,) in db.execute("SELECT comment FROM duckdb_columns() WHERE comment IS NOT NULL").fetchall():
            yield str(comment)
        for (table,) in db.execute("SELECT table_name FROM duckdb_tables()").fetchall():
            for column in db.table(table).to_arrow_table().columns:
                for part in column.chunks:
                    yield from _arrow(part)


def _json(name: str, data: bytes, path: Path | None, depth: int) -> Iterator[Found]:
    """A text; where it is JSON, or JSON a line, every string in it too, since escapes hide letters."""
    text = data.decode("utf-8")
    yield text
    if "\\" not in text:
        return
    lines = [text] if text.lstrip()[:1] in ("[", "{") else []
    for whole in (*lines, *text.splitlines()):
        with suppress(ValueError, RecursionError):
            yield from decoded.strings([json.loads(whole)])[0]


def _msgpack(name: str, data: bytes, path: Path | None, depth: int) -> Iterator[Found]:
    yield from decoded.strings([msgspec.msgpack.decode(data, strict=False)])[0]


def _inside(unpack: Callable[[bytes], bytes]) -> Callable[[str, bytes, Path | None, int], Iterator[Found]]:
    def look(name: str, data: bytes, path: Path | None, depth: int) -> Iterator[Found]:
        inner = unpack(data)
        yield inner
        yield from decode(name.rpartition(".")[0], inner, None, depth + 1)

    return look


def _zstd(data: bytes) -> bytes:
    with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
        return bytes(stream.read())


def _zip(name: str, data: bytes, path: Path | None, depth: int) -> Iterator[Found]:
    """Members and their names; a member that the list of contents names no more is a fault."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        listed = sum(item.compress_size for item in archive.infolist())
        for item in archive.infolist():
            yield item.filename
            inner = archive.read(item)
            yield inner
            yield from decode(item.filename, inner, None, depth + 1)
    about = sum(2 * len(item.filename) + len(item.extra) + 160 for item in archive.infolist()) + 200
    if listed + about < len(data):
        yield Fault(f"{len(data) - listed} bytes belong to no member")


def _tar(name: str, data: bytes, path: Path | None, depth: int) -> Iterator[Found]:
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for item in archive:
            yield item.name
            stream = archive.extractfile(item)
            if stream:
                inner = stream.read()
                yield inner
                yield from decode(item.name, inner, None, depth + 1)


def _empty(name: str, data: bytes, path: Path | None, depth: int) -> Iterator[Found]:
    yield from ()


def _none(name: str, data: bytes, path: Path | None, depth: int) -> Iterator[Found]:
    yield Fault("no decoder for this format")


_ERRORS = (
    pa.ArrowException, sqlite3.Error, duckdb.Error, zlib.error, lzma.LZMAError, zipfile.BadZipFile, tarfile.TarError,
    msgspec.DecodeError, UnicodeDecodeError, OSError, EOFError, ValueError, RuntimeError,
)  # fmt: skip

_MAGIC = (
    ("parquet", b"PAR1", 0), ("sqlite", b"SQLite format 3\0", 0), ("duckdb", b"DUCK", 8), ("gzip", b"\x1f\x8b", 0),
    ("zstd", b"\x28\xb5\x2f\xfd", 0), ("zip", b"PK\x03\x04", 0), ("zip", b"PK\x05\x06", 0), ("bzip2", b"BZh", 0),
    ("xz", b"\xfd7zXZ\0", 0), ("tar", b"ustar", 257), ("git bundle", b"# v2 git bundle", 0),
    ("git bundle", b"# v3 git bundle", 0),
)  # fmt: skip

_DECODERS: dict[str, Callable[[str, bytes, Path | None, int], Iterator[Found]]] = {
    "parquet": _parquet, "sqlite": _sqlite, "duckdb": _duckdb, "gzip": _inside(gzip.decompress),
    "zstd": _inside(_zstd), "zip": _zip, "bzip2": _inside(bz2.decompress), "xz": _inside(lzma.decompress),
    "tar": _tar, "git bundle": _none, "msgpack": _msgpack, "text": _json, "empty": _empty,
}  # fmt: skip
