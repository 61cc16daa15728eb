"""`lorelake sample --retired`: what was retired without a decision, with both sides' words, to see if it was right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from lorelake.cli.text_table import count, on_terminal, plain
from lorelake.recall.answer import ID_SHOWN

if TYPE_CHECKING:
    import polars

LONGEST = 300


def show_retired(drawn: polars.DataFrame, learnings: polars.DataFrame, as_json: bool) -> None:
    """Print rows of `retirement_samples` with the titles of both sides."""
    titles = dict(learnings.select("learning_id", "title").iter_rows())
    rows = [
        {**row, "title": titles.get(row["learning_id"], ""), "newer_title": titles.get(row["newer_id"])}
        for row in drawn.sort("kind", "seat").iter_rows(named=True)
    ]
    if as_json:
        import msgspec

        for row in rows:
            click.echo(msgspec.json.encode(row).decode())
        return
    for row in rows:
        for line in _lines(row):
            click.echo(on_terminal(plain(line)))
    kinds = {row["kind"]: row["drawn_from"] for row in rows}
    told = ", ".join(f"{kind} {total}" for kind, total in sorted(kinds.items()))
    click.echo(f"{count(len(rows), 'retirement')} drawn" + (f" of {told}" if told else ": nothing was retired so"))


def _lines(row: dict[str, Any]) -> list[str]:
    id_ = row["learning_id"][:ID_SHOWN]
    found = [f"{row['kind']} {row['seat']}. {row['title'] or '(words withheld)'}  [{id_}]  {row['reason']}"]
    if row["newer_id"]:
        found.append(f"    by: {row['newer_title'] or '(words withheld)'}  [{row['newer_id'][:ID_SHOWN]}]")
    for name, words in (("was said", row["quote"]), ("now said", row["newer_quote"]), ("says so", row["said"])):
        if words:
            found.append(f'    {name}: "{" ".join(words.split())[:LONGEST]}"')
    found.append(f"    {row['actor']}, {row['ts'].date().isoformat()}")
    return found
