"""What a person reads before, during and after a night. Only what the release itself says is shown."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
import duckdb

from lorelake.cli.release_tables import table_of
from lorelake.cli.sample import rate_lines
from lorelake.cli.text_table import count, on_terminal, terminal_width, text_table
from lorelake.evidence.model_answers import last_asked
from lorelake.raw.intake import Plan
from lorelake.recall import answer
from lorelake.recall.reader import open_release
from lorelake.release.manifest import Manifest, read_manifest
from lorelake.release.verdict import read_verdict
from lorelake.tables import JUNK_RATE, TABLES
from lorelake_assets.resources import Night

STEPS = ("seen", "kept", "events", "signals", "admitted", "learnings", "active")


def opening(night: Night, pinned: bool) -> None:
    """Say what is about to be read, before anything is."""
    team, why = night.settings.team, " (pinned by the settings)" if pinned else ""
    click.echo(f"team {team.name or team.id}, as of {night.as_of}{why}, into {_short(night.lake.root)}")


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
    with duckdb.connect() as db:
        _funnel(db, folder)
        _refusals(db, folder)
        _by_signal(db, folder)
        _tables(manifest)
        click.echo(f"\nrelease {release} {'published' if new else 'stands'}")
        if not new:
            click.echo(f"nothing new in {plan.unchanged} captures: nothing was published")
        verdict = read_verdict(folder)
        for finding in verdict.findings if verdict else ():
            click.echo(f"warning: {finding.code}: {finding.message}")
        _model(night)
        _queue(db, folder)
        _sample(folder)
        question = _question(db, folder)
    _next(night, example, _recall(night, question) if question else None)


def _short(path: Path) -> str:
    here = Path.cwd()
    return f"./{path.relative_to(here)}" if path.is_relative_to(here) else str(path)


def _rows(db: duckdb.DuckDBPyConnection, folder: Path, name: str, rest: str) -> list[tuple[Any, ...]]:
    path = str(folder / "tables" / f"{name}.parquet").replace("'", "''")
    return db.execute("SELECT " + rest.format(table=f"read_parquet('{path}')")).fetchall()


def _table(title: str, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    click.echo(f"\n{title}\n{text_table(names, rows, terminal_width())}")


def _funnel(db: duckdb.DuckDBPyConnection, folder: Path) -> None:
    by_source: dict[str, dict[str, int]] = {}
    for source, step, rows in _rows(db, folder, "funnel", "source, step, rows FROM {table} ORDER BY source, position"):
        by_source.setdefault(source, {})[step] = rows
    counts = [(source, *(steps.get(step, 0) for step in STEPS)) for source, steps in by_source.items()]
    _table("What came in, and what is left of it", ("source", *STEPS), counts)


def _refusals(db: duckdb.DuckDBPyConnection, folder: Path) -> None:
    by_rule = "stage, rule, sum(rows)::BIGINT FROM {table} GROUP BY ALL ORDER BY stage DESC, 3 DESC, rule"
    rows = _rows(db, folder, "refusals", by_rule)
    if rows:
        _table("What was refused, by rule", ("stage", "rule", "rows"), rows)


def _by_signal(db: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """What the gates made of each kind of signal, over all sources; `lorelake funnel` tells it gate by gate."""
    steps = ("signals", "admitted", "learnings", "active")
    sums = ", ".join(f"coalesce(sum(rows) FILTER (step = '{step}'), 0)::BIGINT" for step in steps)
    rows = _rows(
        db, folder, "gate_funnel", f"signal_kind, {sums} FROM {{table}} GROUP BY signal_kind ORDER BY 2 DESC, 1"
    )
    if rows:
        _table("What each rule saw", ("signal", *steps), rows)


def _sample(folder: Path) -> None:
    """The junk rate of the week's sample, and of the week before while nobody judged this one."""
    rates = table_of(folder, JUNK_RATE)
    weeks = sorted(set(rates["sample"]), reverse=True)
    judged = {row["sample"] for row in rates.iter_rows(named=True) if row["judged"]}
    shown = weeks[:1] + [week for week in weeks[1:2] if week in judged and weeks[0] not in judged]
    for week in shown or [None]:
        click.echo(rate_lines(rates, week)[0])


def _queue(db: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """How many wait for a person, and for how long."""
    waits = "(SELECT learning_id, max(waiting_days) AS days FROM {table} GROUP BY ALL)"
    ((items, oldest, median),) = _rows(
        db, folder, "review_queue", f"count(*), max(days), cast(quantile_disc(days, 0.5) AS int) FROM {waits}"
    )
    if items:
        click.echo(
            f"review: {count(items, 'item')} wait for a person, the oldest {oldest} days, half of them {median} or more"
            f" (`{_program()} review`)"
        )


def _model(night: Night) -> None:
    """How the asking of a model went, where the settings name one."""
    extract = night.settings.extract
    asked = last_asked(night.lake) if extract.endpoint or extract.command else None
    if asked:
        more = [f"{asked.unusable} of them not as the JSON asked for"] if asked.unusable else []
        more += [f"{count(asked.missing, 'item')} quoted what nobody said"] if asked.missing else []
        more += [f"{asked.failed} without an answer ({asked.last_failure})"] if asked.failed else []
        why = "" if asked.failed and asked.stopped == asked.last_failure else f" ({asked.stopped})"
        more += [f"{asked.left} left for the next night{why}"] if asked.left else []
        click.echo("; ".join([f"model: {count(asked.answered, 'question')} answered, {asked.tokens} tokens", *more]))


def _tables(manifest: Manifest) -> None:
    rows = [(name, number, TABLES[name].grain) for name, number in manifest.rows.items()]
    _table("Tables of the release", ("table", "rows", "one row is"), rows)


def _question(db: duckdb.DuckDBPyConnection, folder: Path) -> str | None:
    """The situation of the surest served learning: a question this release must be able to answer."""
    surest = "WHERE state = 'active' AND title <> '' ORDER BY kind <> 'scar', confidence DESC, learning_id LIMIT 1"
    rows = _rows(db, folder, "learnings", '"when", title FROM {table} ' + surest)
    return " ".join(str(rows[0][0] or rows[0][1]).split()) if rows else None


def _recall(night: Night, question: str) -> str | None:
    """Ask as the shown command does: of the settings' projects, else of those that the sources name.

    Returns:
        What `explain` is given to tell where the shown item comes from; None where none is shown.
    """
    sources = sorted({source.project for source in night.settings.sources if source.project})
    projects = night.settings.recall.projects or tuple(sources)
    with open_release(home=night.lake.root, projects=projects) as reader:
        found = reader.recall(question, limit=1)
    options = "".join(f" --project {shlex.quote(project)}" for project in projects)
    click.echo(f"\n$ {_program()} recall {_quoted(question)} --limit 1{options}")
    click.echo(on_terminal(answer.to_text(found)))
    return f"{found.hits[0].learning_id[: answer.ID_SHOWN]}{options}" if found.hits else None


def _next(night: Night, example: bool, shown: str | None) -> None:
    program = _program()
    surest = "select title, trust, confidence from learnings where state = 'active' order by confidence desc"
    lines = [
        (f"{program} sql {_quoted(surest)}", ""),
        *([(f"{program} explain {shown}", "where that item comes from")] if shown else []),
        (f"{program} quarantine", "what could not be read, and why"),
        (f"{program} sources", "which sources still speak"),
        (f"{program} funnel", "what each gate refused, and why"),
        (f"{program} sample", "twenty learnings to judge"),
        (f"{program} topics", "what memory is about"),
        (f"{program} release list", ""),
    ]
    if example:
        lines.append((f"{program} init", "your own sources instead of the example"))
    click.echo("\nnext:")
    for line, why in lines:
        click.echo(f"  {line}" + (f"    # {why}" if why else ""))


def _quoted(text: str) -> str:
    """One argument of a shell; in double quotes where that says the same, for SQL is full of single ones."""
    return shlex.quote(text) if set(text) & set('"$`\\!') else f'"{text}"'


def _program() -> str:
    """The command as it was called, short: what is shown can be typed."""
    called = Path(sys.argv[0]).absolute()
    if called.name != "lorelake" or shutil.which("lorelake") == str(called):
        return "lorelake"
    return str(called.relative_to(Path.cwd())) if called.is_relative_to(Path.cwd()) else str(called)
