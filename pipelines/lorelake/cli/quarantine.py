"""`lorelake quarantine`: what was refused, where it stands, and why."""

from __future__ import annotations

from pathlib import Path

import click

from lorelake.cli.text_table import plain
from lorelake.errors import LorelakeError
from lorelake.lake import Lake, read_table
from lorelake.recall.reader import find_home
from lorelake.tables import QUARANTINE


@click.command()
@click.option("--source", help="Only this source family.")
@click.option("--reason", help="Only this rule code.")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="Records to show.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, all columns.")
@click.option("--home", type=click.Path(path_type=Path), help="The lake; default LORELAKE_HOME or the settings'.")
def quarantine(source: str | None, reason: str | None, limit: int, as_json: bool, home: Path | None) -> None:
    """List refused records with file, line, byte, rule and masked beginning.

    docs/flow.md says what each rule code means. A record that is mended in its source leaves the quarantine with
    the next night.
    """
    import polars as pl

    lake = Lake((home or find_home()).resolve())
    if not lake.table(QUARANTINE).exists():
        raise LorelakeError(
            "nothing was read into this lake yet", where=str(lake.root), remedy="run `lorelake nightly`"
        )
    rows = read_table(QUARANTINE, lake.table(QUARANTINE))
    wanted = {"source": source, "reason": reason}
    for name, value in wanted.items():
        rows = rows if value is None else rows.filter(pl.col(name) == value)
    shown = rows.head(limit)
    if as_json:
        click.echo(shown.write_ndjson(), nl=False)
        return
    for row in shown.iter_rows(named=True):
        click.echo(plain(f"{row['source_uri']} (byte {row['byte_offset']}, since {row['first_seen']})"))
        click.echo(f"  {row['reason']}: {plain(row['detail'])}")
        if row["head"]:
            click.echo(f"  begins: {row['head'][:100]!r}")
    click.echo(f"{shown.height} of {rows.height} refused records" + (" (raise --limit)" if limit < rows.height else ""))
