"""OpenCode's SQLite store as rows, through SQLite's backup API and never the file itself.

The tables are those of OpenCode 1.2 and later: `session`, `message` and `part`, the last two with a JSON document in
`data`. A store that lacks what is needed here is told by name, with its tables and its last migration.
"""

from __future__ import annotations

import hashlib
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from lorelake.formats.json_lines import MAX_LINE_BYTES
from lorelake.formats.opencode_files import SIDECARS
from lorelake.formats.record import Member

MAGIC = b"SQLite format 3\x00"
IN_MEMORY = 256 * 1024 * 1024
"""The largest store that is read from memory; a larger one from a private file."""

NEEDED: dict[str, tuple[str, ...]] = {
    "session": ("id", "parent_id", "time_created"),
    "message": ("id", "session_id", "data"),
    "part": ("id", "message_id", "session_id", "data"),
}
"""Without any of these it cannot be told what was said, in which session, or whether a person said it."""

SESSION_TEXTS = {
    "parent_id": "parentID", "project_id": "projectID", "directory": "directory", "title": "title",
    "version": "version", "agent": "agent",
}  # fmt: skip
"""Columns of `session` that are kept, with the names they have in the JSON files."""

_CHUNK = 1 << 20
_TRIES = 3


class UnreadableStoreError(Exception):
    """Why a store is not read: a code of `record.REASONS` and words."""

    def __init__(self, reason: str, detail: str) -> None:
        self.reason, self.detail = reason, detail
        super().__init__(detail)


class Row(NamedTuple):
    """One row: its table, ids, and `data` as stored; None where it is longer than MAX_LINE_BYTES.

    Of a session `columns` are the values kept, and `data` is empty.
    """

    table: str
    id: str
    session: str
    message: str | None
    data: Any
    size: int
    columns: dict[str, Any]


def rows(members: tuple[Member, ...]) -> Iterator[Row]:
    """Every session, message and part, in order of id.

    Args:
        members: the store and, of one that was open, its `-wal` and `-shm`.

    Raises:
        UnreadableStoreError: `unreadable` where it is damaged or changes while it is read; `wrong_shape` where its
            schema is another one, or, after the last row, where a part of it is.
    """
    try:
        with _snapshot(members) as connection:
            _check(connection)
            yield from _sessions(connection)
            yield from _documents(connection, "message", "NULL")
            yield from _documents(connection, "part", "message_id")
            _check_unread(connection)
    except (sqlite3.Error, OverflowError, UnicodeDecodeError) as error:
        raise UnreadableStoreError("unreadable", f"SQLite: {error}") from None


@contextmanager
def _snapshot(members: tuple[Member, ...]) -> Iterator[sqlite3.Connection]:
    """The store's last committed state.

    OpenCode may be writing: opening its file, even to read, would make or change the `-shm` beside it and may hold up
    a checkpoint. So the bytes are copied into a folder of mode 0700, as a transcript is nobody else's to read. There
    SQLite itself puts the committed frames of the `-wal` into place and leaves out what was half written; the
    `-shm` is only an index over it, is made anew, and is not copied. `backup` carries that state page by page out of
    the folder, which is deleted before the first row is read.
    """
    with tempfile.TemporaryDirectory(prefix="lorelake-") as folder:
        copied = Path(folder) / "store.db"
        size = _copied(members, copied)
        large = size > IN_MEMORY
        target = sqlite3.connect(Path(folder) / "state.db" if large else ":memory:")
        with closing(target):
            with closing(sqlite3.connect(copied)) as source:
                source.execute("PRAGMA trusted_schema = OFF")
                source.backup(target)
            for path in Path(folder).glob("store.db*"):
                path.unlink()
            target.text_factory = bytes
            target.execute("PRAGMA trusted_schema = OFF")
            yield target


def _copied(members: tuple[Member, ...], path: Path) -> int:
    """Copy the store and its log; again if the store changed between, since old pages and a new log make no state."""
    store = next(member for member in members if not member.name.endswith(SIDECARS))
    log = next((member for member in members if member.name == f"{store.name}-wal"), None)
    for _ in range(_TRIES):
        before = _copy(store, path)
        written = _copy(log, path.with_name(f"{path.name}-wal")) if log else b""
        if _hash(store) == before and (log is None or _hash(log) == written):
            return path.stat().st_size
    raise UnreadableStoreError("unreadable", "the store changes while it is read; it is read again the next time")


def _copy(member: Member, path: Path) -> bytes:
    seen = hashlib.sha256()
    with member.open() as stream, open(path, "wb") as target:
        while chunk := stream.read(_CHUNK):
            seen.update(chunk)
            target.write(chunk)
    return seen.digest()


def _hash(member: Member) -> bytes:
    seen = hashlib.sha256()
    with member.open() as stream:
        while chunk := stream.read(_CHUNK):
            seen.update(chunk)
    return seen.digest()


def _check(connection: sqlite3.Connection) -> None:
    """Raises UnreadableStoreError where the schema is another one or the pages do not hold together."""
    tables = _tables(connection)
    missing = []
    for table, needed in NEEDED.items():
        columns = _columns(connection, table) if table in tables else set()
        missing += [table] if table not in tables else [f"{table}.{name}" for name in needed if name not in columns]
    if missing:
        raise UnreadableStoreError(
            "wrong_shape",
            f"an OpenCode store of a schema that is not known: no {', '.join(missing)}; its tables are "
            f"{', '.join(sorted(tables)) or 'none'}; {_version(connection, tables)}",
        )
    (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if _text(verdict) != "ok":
        raise UnreadableStoreError("unreadable", f"SQLite: {_text(verdict)[:200]}")


def _check_unread(connection: sqlite3.Connection) -> None:
    """Raises UnreadableStoreError where sessions stand only in the table that newer versions write beside these."""
    if "session_id" not in _columns(connection, "session_message"):
        return
    (count,) = connection.execute(
        "SELECT count(*) FROM session_message WHERE session_id NOT IN (SELECT session_id FROM message)"
    ).fetchone()
    if count:
        version = _version(connection, _tables(connection))
        raise UnreadableStoreError(
            "wrong_shape",
            f"{count} rows of sessions that stand only in table session_message, a layout not known; {version}",
        )


def _tables(connection: sqlite3.Connection) -> set[str]:
    """Plain tables: a view or virtual table of such a name would run somebody else's code."""
    found = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'")
    return {_text(name) for name, sql in found if _text(sql).upper().startswith("CREATE TABLE")}


def _columns(connection: sqlite3.Connection, table: str) -> set[str]:
    return {_text(name) for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))}


def _version(connection: sqlite3.Connection, tables: set[str]) -> str:
    """The last migration that the store says it went through."""
    for table in sorted(table for table in tables if "migration" in table):
        columns = _columns(connection, table)
        column = next((name for name in ("name", "id", "created_at", "hash") if name in columns), None)
        if column and table.replace("_", "").isalnum():
            (last,) = connection.execute(f'SELECT max("{column}") FROM "{table}"').fetchone()  # noqa: S608 - checked
            return f"last migration {_text(last)[:80]}"
    (user_version,) = connection.execute("PRAGMA user_version").fetchone()
    return f"user_version {user_version}"


def _sessions(connection: sqlite3.Connection) -> Iterator[Row]:
    here = _columns(connection, "session")
    wanted = [name for name in (*SESSION_TEXTS, "revert", "time_created", "time_updated") if name in here]
    project = {"worktree", "vcs"} <= _columns(connection, "project") and "project_id" in here
    joined = ' LEFT JOIN "project" AS p ON p."id" = s."project_id"' if project else ""
    chosen = ", ".join([f's."{name}"' for name in wanted] + (['p."worktree"', 'p."vcs"'] if project else []))
    query = f'SELECT s."id", {chosen} FROM "session" AS s{joined} ORDER BY s."id"'  # noqa: S608 - names from above
    names = [*wanted, *(("worktree", "vcs") if project else ())]
    for native, *values in connection.execute(query):
        columns = {name: value for name, value in zip(names, values, strict=True) if value is not None}
        yield Row("session", _text(native), _text(native), None, b"", 0, columns)


def _documents(connection: sqlite3.Connection, table: str, message: str) -> Iterator[Row]:
    data = "CASE WHEN length(data) <= ? THEN data END"
    query = f"SELECT id, session_id, {message}, {data}, length(data) FROM {table} ORDER BY session_id, id"  # noqa: S608
    for native, session, of, document, size in connection.execute(query, (MAX_LINE_BYTES,)):
        yield Row(table, _text(native), _text(session), _text(of) or None, document, size or 0, {})


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)
