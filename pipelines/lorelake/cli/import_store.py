"""`lorelake import`: take what another memory tool holds, once, at the trust that its history proves."""

from __future__ import annotations

import getpass
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lorelake import settings as settings_module
from lorelake.cli.text_table import count, plain, terminal_width, text_table
from lorelake.errors import LorelakeError, SourceError, UsageError
from lorelake.lake import Lake
from lorelake.recall.reader import find_settings
from lorelake.settings import Settings

if TYPE_CHECKING:
    from lorelake.cli.import_preview import Preview
    from lorelake.landing.stores import Import


@click.command("import")
@click.argument("store", type=click.Choice(["teamai", "gitmem"]))
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--project", metavar="P", help="Project assumed, and marked so, for entries that state none.")
@click.option("--person", metavar="W", help="Author assumed, and marked so, for documents that state none.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Show what would be taken, and take nothing.")
@click.option(
    "--settings", "settings_path", type=click.Path(dir_okay=False, path_type=Path), help="lorelake.toml to use."
)
def import_store(
    store: str,
    path: Path,
    project: str | None,
    person: str | None,
    yes: bool,
    dry_run: bool,
    settings_path: Path | None,
) -> None:
    """Take a teamai or GitMem store into the lake, once.

    PATH is teamai's clone (or an export of it), or GitMem's folder, or JSON or CSV files of its tables. What is taken
    is copied into the lake's landing folder and read by the next night; the store is left as it is. A second import
    takes only what is new. docs/importing.md says what becomes of each field, and at what trust.

    \b
    Examples:
      lorelake import teamai ../team-memory --dry-run
      lorelake import gitmem ~/.gitmem --project shop
    """
    from lorelake.cli import import_preview
    from lorelake.landing import stores
    from lorelake.release.build import check_team

    settings = _settings(settings_path)
    place = path.expanduser().resolve()
    _check(place, settings)
    lake = Lake(settings.lake_root)
    plan = stores.plan(lake, store, place, settings.ledger.ref, project, person)
    now = datetime.now(UTC)
    found = import_preview.preview(plan, settings, now.date())
    _show(plan, found)
    if not plan.store.entries:
        raise SourceError(f"nothing of a {store} store can be read here", where=str(place), remedy=_WHERE[store])
    if not (plan.new or plan.assumes_else):
        click.echo(f"\nNothing is new: all of it was taken before, into {plan.folder}")
        return
    if dry_run:
        click.echo(f"\nA dry run: nothing was taken. It would go to {plan.folder}")
        return
    _confirm(yes)
    this: dict[str, object] = {
        "at": now.isoformat(timespec="seconds"),
        "by": getpass.getuser(),
        "from": str(place),
        "new": {line.taken_as: line.new for line in found.lines},
    }
    with lake.writing():
        check_team(lake, settings.team.id)
        stores.take(lake, plan, settings.ledger.ref, this)
    what = "Taken into" if plan.new else "Nothing is new; what is assumed was noted in"
    click.echo(f"\n{what} {plan.folder}. Next: lorelake nightly")


_WHERE = {
    "teamai": "name the clone of the team's repository, the one that has `learnings/`",
    "gitmem": "name GitMem's folder (`~/.gitmem`) or an exported table",
}


def _settings(path: Path | None) -> Settings:
    found = path or find_settings()
    if found is None:
        raise UsageError("no lorelake.toml here or above", remedy="run `lorelake init`, or name one with --settings")
    return settings_module.load(found)


def _check(place: Path, settings: Settings) -> None:
    """That there is something, and that no night reads it anyway."""
    if not place.exists():
        raise UsageError("nothing is there", where=str(place), remedy="name a folder or file")
    if place.is_relative_to(settings.lake_root):
        raise UsageError("it lies in the lake", where=str(place), remedy="name the store itself")
    for source in settings.sources:
        if "://" not in source.path and place.is_relative_to(settings.resolve(source.path)):
            raise UsageError(
                "every night reads it already, as one of [[sources]]",
                where=str(place),
                remedy=f"leave it there, or take `{source.path}` out of lorelake.toml first",
            )


def _show(plan: Import, found: Preview) -> None:
    from lorelake.cli import import_preview

    store = plan.store
    if found.lines:
        rows = [(line.taken_as, line.entries, line.new, import_preview.TAKEN_AS[line.taken_as]) for line in found.lines]
        click.echo(text_table(["taken as", "entries", "new", "what it means"], rows, terminal_width()))
    if found.unplaced:
        click.echo(f"\nEntries of no project, and so for nobody: {found.unplaced}; name their project with --project")
    refused = import_preview.refused(store.refusals)
    if refused:
        click.echo("\nRefused, and left where it is:" if store.entries else "Refused:")
    for code, meaning, number, first in refused:
        click.echo(f"  {code} ({meaning}): {number}, such as {plain(first)}")
    if store.left:
        shown = ", ".join(name.removeprefix("store/") for name in store.left[:3])
        more = ", …" if len(store.left) > 3 else ""
        click.echo(f"\nNo part of what is read: {count(len(store.left), 'file')} ({plain(shown)}{more})")
    waiting = store.place.parent / "pending-learnings"
    if store.kind == "teamai" and waiting.is_dir():
        unpublished = sum(1 for _ in waiting.rglob("*.md"))
        click.echo(
            f"\nNot taken, since never published: {count(unpublished, 'learning')} in {waiting}; "
            "publish them in teamai first"
        )


def _confirm(yes: bool) -> None:
    if yes:
        return
    if not _at_terminal():
        raise UsageError("nobody is here to confirm what will be taken", remedy="look first, then run it with --yes")
    if not click.confirm("\nTake this into the lake?", default=True):
        raise LorelakeError("nothing was taken", remedy="`--dry-run` shows the same without asking")


def _at_terminal() -> bool:
    return sys.stdin.isatty()
