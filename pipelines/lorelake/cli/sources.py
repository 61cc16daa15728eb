"""`lorelake sources`: which sources speak, what could not be read of them, and how far each capture reaches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lorelake.cli.text_table import terminal_width, text_table
from lorelake.errors import LorelakeError, ReleaseError
from lorelake.lake import Lake, read_table
from lorelake.recall.reader import find_home
from lorelake.tables import INTAKE, SOURCE_HEALTH


@click.command()
@click.argument("source", required=False)
@click.option("--check", is_flag=True, help="Exit with 1 if a source is silent or failed.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@click.option("--home", type=click.Path(path_type=Path), help="The lake; default LORELAKE_HOME or the settings'.")
def sources(source: str | None, check: bool, as_json: bool, home: Path | None) -> None:
    """Tell of each source whether it still speaks; of SOURCE, what each of its captures covers.

    \b
    fine      it is read, and spoke as often as it used to
    degraded  a part of it could not be read
    silent    nothing came for much longer than it ever paused: its store may have moved
    failed    most of it could not be read

    What lies outside a capture's extent was not looked at; what is missing within it is not thereby deleted.
    """
    import msgspec

    lake = Lake((home or find_home()).resolve())
    rows, wrong = _captures(lake, source) if source else _health(lake)
    if as_json:
        for row in rows:
            click.echo(msgspec.json.encode(row))
    else:
        names = list(rows[0])
        click.echo(text_table(names, [list(row.values()) for row in rows], terminal_width(), wrap_last=True))
    if check and wrong:
        raise LorelakeError(
            f"not to be relied on: {', '.join(wrong)}",
            remedy="`lorelake sources NAME` and `lorelake quarantine --source NAME` tell more",
        )


def _health(lake: Lake) -> tuple[list[dict[str, Any]], list[str]]:
    """A row for each source of the served release, and the names of those that are silent or failed."""
    release = lake.current_release()
    if release is None:
        raise ReleaseError("no release is published here", where=str(lake.root), remedy="run `lorelake nightly`")
    found = read_table(SOURCE_HEALTH, lake.releases / release / "tables" / f"{SOURCE_HEALTH.name}.parquet")
    rows = [
        {
            "source": row["source"],
            "status": row["status"],
            "captures": row["captures"],
            "seen": row["seen"],
            "refused": row["refused"],
            "last": row["last_event"].date().isoformat() if row["last_event"] else None,
            "why": row["why"],
        }
        for row in found.sort("source").iter_rows(named=True)
    ]
    return rows, [row["source"] for row in rows if row["status"] in ("silent", "failed")]


def _captures(lake: Lake, source: str) -> tuple[list[dict[str, Any]], list[str]]:
    """A row for each capture of one source, with its extent."""
    import msgspec
    import polars as pl

    path = lake.table(INTAKE)
    if not path.exists():
        raise LorelakeError(
            "nothing was read into this lake yet", where=str(lake.root), remedy="run `lorelake nightly`"
        )
    books = read_table(INTAKE, path)
    mine = books.filter(pl.col("source") == source).sort("capture")
    if mine.is_empty():
        known = ", ".join(sorted(set(books["source"])))
        raise LorelakeError(f"no source `{source}` in the books", where=str(path), remedy=f"there are: {known}")
    rows = []
    for row in mine.iter_rows(named=True):
        covers = msgspec.json.decode(row["extent"])
        first, last = (str(covers.pop(name, ""))[:10] for name in ("first", "last"))
        units = covers.pop("units", 0)
        rest = ", ".join(f"{name} {_listed(value)}" for name, value in sorted(covers.items()))
        rows.append(
            {"capture": row["capture"], "kept": row["kept"], "refused": row["refused"], "units": units,
             "first": first, "last": last, "covers": rest}
        )  # fmt: skip
    return rows, []


def _listed(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
