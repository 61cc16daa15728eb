"""`lorelake sql`: a release's tables in DuckDB, read-only.

Two locks, because DuckDB's own folder permission covers writing too: only queries are run (each statement's type is
asked of DuckDB's parser), and the engine may touch nothing but the release's tables and cannot be told otherwise.
"""

from __future__ import annotations

import csv
import difflib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import duckdb

from lorelake.cli.text_table import terminal_width, text_table
from lorelake.errors import LorelakeError, ReleaseError, UsageError
from lorelake.recall.reader import find_home, release_folder
from lorelake.tables import TABLES, macros

ROWS_SHOWN = 200
"""On a terminal; what is piped or asked for as CSV or JSON is never cut."""

_EXPLAIN = re.compile(r"\s*explain\s*(?:analyze\b|\([^)]*\))?", re.IGNORECASE)
_PROMPT_HELP = ".tables lists the tables, .quit leaves; a statement ends with `;`"


@click.command()
@click.argument("statement", required=False)
@click.option("--csv", "form", flag_value="csv", help="Rows as CSV.")
@click.option("--json", "form", flag_value="json", help="Rows as JSON, one object a line.")
@click.option("--release", "release_id", help="A release id; default the one that is served.")
@click.option("--home", type=click.Path(path_type=Path), help="The lake; default LORELAKE_HOME or the settings'.")
def sql(statement: str | None, form: str | None, release_id: str | None, home: Path | None) -> None:
    """Query a release's tables in SQL, read-only. Without STATEMENT, statements are read until `.quit` or end of file.

    Every table and column is described in docs/tables.md, and by `DESCRIBE <table>`.
    """
    folder = release_folder(home or find_home(), release_id)
    try:
        opened = connect(folder)
    except duckdb.Error as error:
        raise ReleaseError(
            f"a table of this release cannot be read: {str(error).splitlines()[0]}",
            where=str(folder),
            remedy="`lorelake release verify` tells what is damaged; publish again or sync anew",
        ) from None
    with opened as db:
        if statement is not None:
            _run(db, statement, form)
        else:
            _prompt(db, form, folder.name)


def connect(folder: Path) -> duckdb.DuckDBPyConnection:
    """A locked in-memory database with a view per table of a release."""
    db = duckdb.connect(":memory:", config={"autoinstall_known_extensions": "false"})
    tables = folder / "tables"
    found = {name for name in TABLES if (tables / f"{name}.parquet").exists()}
    for name in sorted(found):
        db.read_parquet(str(tables / f"{name}.parquet")).create_view(name)
    for statement in macros.statements(found):
        db.execute(statement)
    db.execute(f"SET allowed_directories = ['{_quoted(tables)}/']")
    db.execute("SET temp_directory = ''")
    db.execute("SET enable_external_access = false")
    db.execute("SET lock_configuration = true")
    return db


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")


def query(db: duckdb.DuckDBPyConnection, statement: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Run one or more queries and return the last one's column names and rows.

    Raises:
        UsageError: it is not a query, or names a table or column that is not there (with the nearest that is).
    """
    try:
        for part in db.extract_statements(statement):
            _only_queries(db, part)
        result = db.execute(statement)
        return [column[0] for column in result.description or []], result.fetchall()
    except duckdb.Error as error:
        raise _explained(db, error, statement) from None


def _only_queries(db: duckdb.DuckDBPyConnection, part: duckdb.Statement) -> None:
    kind = part.type.name
    if kind == "EXPLAIN":
        inner = db.extract_statements(_EXPLAIN.sub("", part.query, count=1))
        kind = inner[0].type.name if len(inner) == 1 else kind
    if kind != "SELECT":
        raise UsageError(
            f"only queries are run here, not {kind.replace('_', ' ')}",
            remedy="copy the Parquet files of the release to work on them; they are plain files",
        )


def _explained(db: duckdb.DuckDBPyConnection, error: duckdb.Error, statement: str) -> LorelakeError:
    """DuckDB's message with what would have been right."""
    message = str(error).split("\n")[0]
    tables = _tables(db)
    table = re.search(r"Table with name (\S+) does not exist", message)
    if table:
        near = difflib.get_close_matches(table[1].lower(), tables, n=1)
        meant = f"did you mean `{near[0]}`? " if near else ""
        return UsageError(f"there is no table `{table[1]}`", remedy=f"{meant}tables: {', '.join(tables)}")
    column = re.search(r"Referenced column \"([^\"]+)\" not found|does not have a column named \"([^\"]+)\"", message)
    if column:
        wanted = (column[1] or column[2]).lower()
        named = [name for name in tables if re.search(rf"\b{name}\b", statement, re.IGNORECASE)]
        columns = sorted({c for name in named or tables for c in TABLES[name].column_names})
        near = difflib.get_close_matches(wanted, columns, n=3, cutoff=0.5)
        meant = f"did you mean {' or '.join(f'`{name}`' for name in near)}? " if near else ""
        return UsageError(
            f"there is no column `{wanted}`",
            remedy=f"{meant}`DESCRIBE {named[0] if named else 'learnings'}` lists them",
        )
    place = re.search(r"^LINE \d+:.*\n *\^", str(error), re.MULTILINE)
    pointed = f"\n{place[0]}" if place else ""
    return UsageError(f"DuckDB: {message}{pointed}", remedy="docs/sql.md has queries that work")


def _tables(db: duckdb.DuckDBPyConnection) -> list[str]:
    rows = db.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY view_name").fetchall()
    return [row[0] for row in rows]


def _run(db: duckdb.DuckDBPyConnection, statement: str, form: str | None) -> None:
    names, rows = query(db, statement)
    if form == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([_flat(value) for value in row] for row in rows)
    elif form == "json":
        for row in rows:
            click.echo(json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False, default=str))
    else:
        width = terminal_width()
        shown = rows if width is None else rows[:ROWS_SHOWN]
        click.echo(text_table(names, shown, width))
        cut = f"; the first {len(shown)} are shown, --csv gives all" if len(shown) < len(rows) else ""
        click.echo(f"({len(rows)} row{'' if len(rows) == 1 else 's'}{cut})", err=width is None)


def _flat(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, list | dict) else value


def _prompt(db: duckdb.DuckDBPyConnection, form: str | None, release: str) -> None:
    talking = sys.stdin.isatty()
    if talking:
        click.echo(f"release {release}; {_PROMPT_HELP}", err=True)
    for statement in _statements(talking):
        if statement == ".quit":
            return
        if statement == ".tables":
            rows = [(name, TABLES[name].grain) for name in _tables(db)]
            click.echo(text_table(("table", "one row is"), rows, terminal_width()))
            continue
        try:
            _run(db, statement, form)
        except LorelakeError as error:
            if not talking:
                raise
            click.echo(f"lorelake: error: {error}", err=True)


def _statements(talking: bool) -> Iterator[str]:
    """Dot commands, and statements up to their `;`. The last one may go without."""
    gathered = ""
    while True:
        if talking:
            click.echo("lorelake> " if not gathered else "     ...> ", nl=False, err=True)
        line = sys.stdin.readline()
        if not line:
            break
        if not gathered and line.strip().startswith("."):
            yield line.strip().rstrip(";")
            continue
        gathered += line
        if line.rstrip().endswith(";"):
            yield gathered
            gathered = ""
    if gathered.strip():
        yield gathered
