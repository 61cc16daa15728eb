"""`lorelake funnel`: of what the rules saw, what each gate refused and what came of the rest."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lorelake.cli.release_tables import find_release, table_of
from lorelake.cli.text_table import terminal_width, text_table
from lorelake.errors import UsageError
from lorelake.evidence.gates import RULES
from lorelake.tables import GATE_FUNNEL

if TYPE_CHECKING:
    import polars

GROUPS = {"source": "source", "signal_kind": "kind"}
AFTER = ("admitted", "learnings", "active")


@click.command()
@click.option("--source", help="Only signals of this source family, as `lorelake sources` names it.")
@click.option("--kind", help="Only signals of this kind, as rejection, correction or review_change.")
@click.option("--json", "as_json", is_flag=True, help="Rows of the table `gate_funnel`, one JSON object a line.")
@click.option("--release", "release_id", help="A release id; default the one that is served.")
@click.option("--home", type=click.Path(path_type=Path), help="The lake; default LORELAKE_HOME or the settings'.")
def funnel(source: str | None, kind: str | None, as_json: bool, release_id: str | None, home: Path | None) -> None:
    """Tell of each source and kind of signal how many there are, what each gate refused, and what came of the rest.

    \b
    lorelake funnel                      all sources and kinds, and what each gate refused
    lorelake funnel --source slack       one source
    lorelake funnel --kind review_change one kind of signal

    A signal is refused by the first gate that finds something, so gates further down are asked less often.
    `lorelake explain ID` tells it of one signal. The same numbers are in the table `gate_funnel` for `lorelake sql`.
    """
    import polars as pl

    rows = table_of(find_release(home, release_id), GATE_FUNNEL)
    for column, wanted in (("source", source), ("signal_kind", kind)):
        if wanted is not None:
            known = sorted(set(rows[column]))
            rows = rows.filter(pl.col(column) == wanted)
            if rows.is_empty():
                raise UsageError(
                    f"no signal of {GROUPS[column]} `{wanted}`",
                    remedy=f"there are signals of: {', '.join(known) or 'none'}",
                )
    rows = rows.sort("source", "signal_kind", "position")
    if as_json:
        click.echo(rows.write_ndjson(), nl=False)
        return
    width = terminal_width()
    click.echo(_came(rows, width))
    refused = _refused(rows)
    if refused:
        table = text_table(("gate", "refused", "because"), refused, width, wrap_last=True)
        click.echo(f"\nRefused, in the order of the gates\n{table}")


def _came(rows: polars.DataFrame, width: int | None) -> str:
    """One line a source and kind, and the sum."""
    counts: dict[tuple[str, str], dict[str, int]] = {}
    for source, kind, step, refusal, number in rows.select(
        "source", "signal_kind", "step", "is_refusal", "rows"
    ).iter_rows():
        line = counts.setdefault((source, kind), {"refused": 0})
        if refusal:
            line["refused"] += number
        else:
            line[step] = number
    steps = ("signals", "refused", *AFTER)
    lines: list[Sequence[Any]] = [(*place, *(line.get(step, 0) for step in steps)) for place, line in counts.items()]
    if len(lines) > 1:
        lines.append(("all", "", *(sum(line.get(step, 0) for line in counts.values()) for step in steps)))
    return text_table(("source", "signal", *steps), lines, width)


def _refused(rows: polars.DataFrame) -> list[tuple[str, int, str]]:
    """Each gate that refused something, in their order, with how many and why."""
    import polars as pl

    by_rule = (
        rows.filter("is_refusal").group_by("step").agg(pl.col("rows").sum(), pl.col("position").min()).sort("position")
    )
    return [(rule, number, RULES.get(rule, "")) for rule, number, _ in by_rule.iter_rows() if number]
