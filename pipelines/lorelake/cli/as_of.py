"""`lorelake as-of`: what was believed of a past day, as known on another; and what was served on a day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lorelake.cli.release_tables import find_release, table_of
from lorelake.cli.text_table import count, plain, terminal_width, text_table
from lorelake.errors import UsageError
from lorelake.lake import Lake
from lorelake.recall.answer import ID_SHOWN
from lorelake.tables import LEARNING_VERSIONS, PUBLISHES, SERVINGS

if TYPE_CHECKING:
    import polars

DAY = click.DateTime(["%Y-%m-%d"])
SHORTEST_PREFIX = 8


@click.command("as-of")
@click.option("--valid", type=DAY, help="The day told of: how things stood at its end. Default: the same as --known.")
@click.option("--known", type=DAY, help="Only what the lake had kept on that as-of day. Default: the release's own.")
@click.option("--served", type=DAY, help="Instead: what agents were served at the end of that day, from history.")
@click.option("--id", "wanted", help="One learning, by its id or a prefix of it.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@click.option("--release", "release_id", help="A release id; default the one that is served.")
@click.option("--home", type=click.Path(path_type=Path), help="The lake; default LORELAKE_HOME or the settings'.")
def as_of(
    valid: datetime | None,
    known: datetime | None,
    served: datetime | None,
    wanted: str | None,
    as_json: bool,
    release_id: str | None,
    home: Path | None,
) -> None:
    """Tell what was believed of a past day, by today's rules and what was known on a day; or what was served.

    \b
    lorelake as-of --valid 2026-03-01 --known 2026-03-01   what the team would have believed on that day
    lorelake as-of --valid 2026-03-01                      what it believes of that day now, with what came in since
    lorelake as-of --served 2026-03-01                     what agents were given that day, whatever the rules say now

    Days are UTC, and mean their end. The same is asked in SQL with `from as_of(valid, known)` and `from served(day)`.
    """
    folder = find_release(home, release_id)
    versions = table_of(folder, LEARNING_VERSIONS)
    if served is not None:
        if valid is not None or known is not None:
            raise UsageError("--served stands alone", remedy="give --valid and --known, or --served")
        rows = _served(folder, versions, served.date())
        columns: tuple[str, ...] = ("learning_id", "title", "release_id", "text_sha256")
        about = f"served at the end of {served.date()}"
    else:
        if valid is None and known is None:
            raise UsageError("no day given", remedy="give --valid, --known or --served, as 2026-03-01")
        kept_by = known.date() if known else date.fromisoformat(folder.name[:10])
        of = valid.date() if valid else kept_by
        rows = _believed(versions, of, kept_by)
        columns = ("learning_id", "state", "state_reason", "trust", "title")
        about = f"believed of {of}, as known on {kept_by}"
    if wanted is not None:
        rows = _one(rows, wanted)
    if as_json:
        import msgspec

        for row in rows:
            click.echo(msgspec.json.encode(row).decode())
        return
    cells = [[plain(_cell(row, name)) for name in columns] for row in rows]
    if cells:
        click.echo(text_table(columns, cells, terminal_width()))
    click.echo(f"{count(len(rows), 'learning')} {about}")


def _believed(versions: polars.DataFrame, of: date, known: date) -> list[dict[str, Any]]:
    import polars as pl

    end = pl.lit(datetime.combine(of + timedelta(days=1), time.min, UTC))
    held = (pl.col("valid_from") < end) & (pl.col("valid_to").is_null() | (pl.col("valid_to") >= end))
    heard = (pl.col("known_from") <= known) & (pl.col("known_to").is_null() | (pl.col("known_to") > known))
    return versions.filter(held & heard).sort("state", "learning_id").to_dicts()


def _served(folder: Path, versions: polars.DataFrame, day: date) -> list[dict[str, Any]]:
    """From the lake's own history, which knows of the newest publish too; in a copy without one from the release."""
    from lorelake.release import history

    lake = Lake(folder.parent.parent)
    publishes, servings = history.servings(lake)
    if not publishes:
        publishes, servings = (table_of(folder, table).to_dicts() for table in (PUBLISHES, SERVINGS))
    end = datetime.combine(day + timedelta(days=1), time.min, UTC)
    past = [row for row in publishes if row["served_from"] < end]
    if not past:
        return []
    publish = past[-1]
    titles = {(row["learning_id"], row["text_sha256"]): row["title"] for row in versions.iter_rows(named=True)}
    return [
        {
            "release_id": publish["release_id"],
            "learning_id": row["learning_id"],
            "text_sha256": row["text_sha256"],
            "title": titles.get((row["learning_id"], row["text_sha256"])),
        }
        for row in sorted(servings, key=lambda row: str(row["learning_id"]))
        if row["from_sequence"] <= publish["sequence"]
        and (row["to_sequence"] is None or row["to_sequence"] > publish["sequence"])
    ]


def _one(rows: Sequence[Mapping[str, Any]], wanted: str) -> list[dict[str, Any]]:
    prefix = wanted.strip().lower()
    if len(prefix) < SHORTEST_PREFIX:
        raise UsageError(f"`{prefix}` is too short", remedy=f"give at least {SHORTEST_PREFIX} characters of the id")
    return [dict(row) for row in rows if row["learning_id"].startswith(prefix)]


def _cell(row: Mapping[str, Any], name: str) -> str:
    value = row[name]
    if name in ("learning_id", "text_sha256"):
        return str(value)[:ID_SHOWN]
    if name == "title" and not value:
        return "(words withheld, or of no learning any more)"
    return str(value)
