"""`lorelake review`: what waits for a person, what there is to know of it, and what became of decisions.

Reads the served release and the checkout of the ledger; the verbs that write stand in `review_verbs`.
"""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from lorelake.cli import review_text, review_verbs
from lorelake.cli.review_items import Shelf, age
from lorelake.errors import UsageError


@click.group(invoke_without_command=True)
@click.option("--status", is_flag=True, help="Tell of each decision: pending, applied, overruled or refused.")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="Items to list.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@click.option("--home", type=click.Path(path_type=Path), help="The lake, or a synced copy; default as for `recall`.")
@click.option("--into", type=click.Path(file_okay=False, path_type=Path), help="The checkout that holds decisions/.")
@click.option(
    "--settings", "settings_path", type=click.Path(dir_okay=False, path_type=Path), help="lorelake.toml to use."
)
@click.pass_context
def review(
    context: click.Context, status: bool, limit: int, as_json: bool, home: Path | None, into: Path | None,
    settings_path: Path | None,
) -> None:  # fmt: skip
    """Decide what agents may be told. Without a command: what waits, by risk and reach.

    \b
    lorelake review                                  what waits
    lorelake review show lrn_4f21                    one item, its quotes, history and what changed
    lorelake review approve lrn_4f21 --reason "..."  write the decision
    lorelake review approve --low-risk --max 10      several of low risk at once
    lorelake review edit lrn_4f21 --set do="..."     word it otherwise
    lorelake review --status                         what became of every decision

    Each decision is one file in the ledger's decisions/. Nothing is committed unless --commit is given, and nothing
    counts before the file is on the protected ref and a night has run. docs/reviewing.md says which decision to take.
    """
    desk = review_verbs.Desk(home, into, settings_path)
    context.obj = desk
    if context.invoked_subcommand:
        if status:
            raise UsageError("--status goes with no command", remedy="`lorelake review --status`")
        return
    if status:
        from lorelake.cli.review_status import statuses, told

        found = list(statuses(desk))
        for decided in found if as_json else ():
            click.echo(msgspec.json.encode(decided).decode())
        if not as_json:
            click.echo(told(found))
        return
    shelf = desk.shelf()
    queue = shelf.queue()
    for one in queue[:limit] if as_json else ():
        click.echo(msgspec.json.encode(one).decode())
    if not as_json:
        click.echo(review_text.listed(queue, queue[:limit], age(queue)))
    _closed(shelf)


@review.command()
@click.argument("item", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.pass_obj
def show(desk: review_verbs.Desk, item: str, as_json: bool) -> None:
    """Show one item: words, quotes and where they stand, what let it in, history, and what changed since approval."""
    shelf = desk.shelf()
    found = shelf.find(item)
    click.echo(msgspec.json.encode(found).decode() if as_json else review_text.whole(found))


def _closed(shelf: Shelf) -> None:
    if shelf.closed:
        click.echo(f"folders of {shelf.closed} audiences are closed to you; what waits there is not told", err=True)


for verb in review_verbs.VERBS:
    review.add_command(verb)
