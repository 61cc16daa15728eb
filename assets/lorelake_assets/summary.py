"""What a person reads before, during and after a night. Only what the release itself says is shown."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
from rich.console import Console
from rich.table import Table

from lorelake.raw.intake import Plan
from lorelake.recall import answer
from lorelake.recall.reader import open_release
from lorelake.release.manifest import Manifest, read_manifest
from lorelake.tables import TABLES
from lorelake_assets.resources import Night

STEPS = ("seen", "kept", "events", "signals", "admitted", "learnings", "active")


def opening(night: Night, pinned: bool) -> None:
    """Say what is about to be read, before anything is."""
    why = " (pinned by the settings)" if pinned else ""
    _console().print(
        f"team {night.settings.team.id}, as of {night.as_of}{why}, into {_short(night.lake.root)}", highlight=False
    )


def progress(terminal: bool) -> Callable[[str, int, int], None]:
    """One line that follows the files being read; silent where standard error is no terminal."""

    def show(what: str, done: int, of: int) -> None:
        if terminal:
            end = "\n" if done == of else ""
            sys.stderr.write(f"\r\x1b[2K  reading {done} of {of}  {what[-60:]}{end}")
            sys.stderr.flush()

    return show


def closing(night: Night, plan: Plan, new: bool, example: bool) -> None:
    """Funnel, refusals, tables, release, one recall, and where to look next."""
    lake = night.lake
    release = lake.current_release()
    if release is None:
        return
    folder = lake.releases / release
    manifest = read_manifest(folder)
    console = _console()
    with duckdb.connect() as db:
        _funnel(console, db, folder)
        _refusals(console, db, folder)
        _tables(console, manifest)
        state = "published" if new else "stands"
        console.print(f"\nrelease [bold]{release}[/] {state}", highlight=False)
        if not new:
            console.print(f"nothing new in {plan.unchanged} captures: nothing was published", highlight=False)
        for warning in manifest.warnings:
            console.print(f"warning: {warning}", highlight=False, markup=False)
        question = _question(db, folder)
    if question:
        _recall(console, night, question)
    _next(console, night, question, example)


def _console() -> Console:
    return Console(soft_wrap=not sys.stdout.isatty())


def _short(path: Path) -> str:
    here = Path.cwd()
    return f"./{path.relative_to(here)}" if path.is_relative_to(here) else str(path)


def _rows(db: duckdb.DuckDBPyConnection, folder: Path, name: str, rest: str) -> list[tuple[object, ...]]:
    path = str(folder / "tables" / f"{name}.parquet").replace("'", "''")
    return db.execute("SELECT " + rest.format(table=f"read_parquet('{path}')")).fetchall()


def _funnel(console: Console, db: duckdb.DuckDBPyConnection, folder: Path) -> None:
    rows = _rows(db, folder, "funnel", "source, step, rows FROM {table} ORDER BY source, position")
    table = Table(title="Funnel: what came in, and what is left of it", box=None, title_justify="left", pad_edge=False)
    table.add_column("source")
    for step in STEPS:
        table.add_column(step, justify="right")
    by_source: dict[str, dict[str, int]] = {}
    for source, reached, count in rows:
        by_source.setdefault(str(source), {})[str(reached)] = int(str(count))
    for name, counts in by_source.items():
        table.add_row(name, *[f"{counts.get(column, 0):,}" for column in STEPS])
    console.print()
    console.print(table)


def _refusals(console: Console, db: duckdb.DuckDBPyConnection, folder: Path) -> None:
    rows = _rows(
        db, folder, "refusals", "stage, rule, sum(rows) FROM {table} GROUP BY ALL ORDER BY stage DESC, 3 DESC, rule"
    )
    if rows:
        table = Table(title="Refused, by rule", box=None, title_justify="left", pad_edge=False)
        for name in ("stage", "rule", "rows"):
            table.add_column(name, justify="right" if name == "rows" else "left")
        for stage, rule, count in rows:
            table.add_row(str(stage), str(rule), f"{count:,}")
        console.print()
        console.print(table)


def _tables(console: Console, manifest: Manifest) -> None:
    table = Table(title="Tables of the release", box=None, title_justify="left", pad_edge=False)
    for name in ("table", "rows", "one row is"):
        table.add_column(name, justify="right" if name == "rows" else "left")
    for name, count in manifest.rows.items():
        table.add_row(name, f"{count:,}", TABLES[name].grain)
    console.print()
    console.print(table)


def _question(db: duckdb.DuckDBPyConnection, folder: Path) -> str | None:
    """The situation of the surest served learning: a question this release must be able to answer."""
    surest = "WHERE state = 'active' AND title <> '' ORDER BY kind <> 'scar', confidence DESC, learning_id LIMIT 1"
    rows = _rows(db, folder, "learnings", '"when", title FROM {table} ' + surest)
    return str(rows[0][0] or rows[0][1]) if rows else None


def _recall(console: Console, night: Night, question: str) -> None:
    projects = sorted({source.project for source in night.settings.sources if source.project})
    allowed = night.settings.recall.projects or tuple(projects)
    with open_release(home=night.lake.root, projects=allowed) as reader:
        found = reader.recall(question, limit=1)
    console.print(f"\n$ lorelake recall {question!r}", highlight=False, markup=False)
    console.print(answer.to_text(found), highlight=False, markup=False)


def _next(console: Console, night: Night, question: str | None, example: bool) -> None:
    project = "".join(f" --project {name}" for name in night.settings.recall.projects[:1]) if example else ""
    lines = [
        f'lorelake recall "{question or "what you are about to do"}"{project}',
        "lorelake sql \"select title, trust, confidence from learnings where state = 'active' order by 3 desc\"",
        "lorelake release list",
    ]
    if example:
        lines.append("lorelake init           your own sources instead of the example")
    console.print("\nnext (commands lie in .venv/bin):", highlight=False)
    for line in lines:
        console.print(f"  {line}", highlight=False, markup=False)
