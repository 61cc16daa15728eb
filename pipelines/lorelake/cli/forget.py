"""`lorelake forget`: preview and decide what goes out of memory; erase what was decided; prove that it is gone."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from lorelake import settings as settings_module
from lorelake.cli import decision_files
from lorelake.cli.text_table import count, terminal_width, text_table
from lorelake.errors import LorelakeError, UsageError
from lorelake.lake import Lake
from lorelake.recall.reader import find_settings
from lorelake.settings import Settings

if TYPE_CHECKING:
    from lorelake.cli.forget_select import Criteria, Selected

DAY = click.DateTime(["%Y-%m-%d"])


@click.command()
@click.option("--id", "ids", multiple=True, metavar="ID", help="An item, by its id or a prefix that only one has.")
@click.option("--query", metavar="WORDS", help="Items in which all of these words stand.")
@click.option("--person", metavar="W", help="What a person said: a name as the settings or a source have it.")
@click.option("--source", metavar="S", help="What came from a source family, such as `slack`.")
@click.option("--channel", metavar="C", help="What was said in a Slack conversation, by id or name.")
@click.option("--project", metavar="P", help="What belongs to a project.")
@click.option("--from", "since", type=DAY, help="What was said on this day (UTC) or later.")
@click.option("--to", "until", type=DAY, help="What was said on this day (UTC) or earlier.")
@click.option("--erase", is_flag=True, help="Erase the records too, from every file of the lake.")
@click.option("--mentions", is_flag=True, help="With --erase --person: also the plain words of their name, anywhere.")
@click.option("--reason", metavar="WHY", help="Why; it stands in the decision, so name nobody and nothing in it.")
@click.option(
    "--into",
    type=click.Path(file_okay=False, path_type=Path),
    help="The repository that holds decisions/; default `ledger.folder`.",
)
@click.option("--dry-run", is_flag=True, help="Show what it would reach, and write nothing.")
@click.option("--apply", "apply_", is_flag=True, help="Erase what decisions on the protected ref say.")
@click.option("--prove", is_flag=True, help="Look through every file for words read from standard input, one a line.")
@click.option("--words", type=click.File(encoding="utf-8"), help="With --prove: read the words from this file instead.")
@click.option("--files", "every", is_flag=True, help="With --prove: list every file, not only those that fail.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option(
    "--settings", "settings_path", type=click.Path(dir_okay=False, path_type=Path), help="lorelake.toml to use."
)
def forget(
    ids: tuple[str, ...], query: str | None, person: str | None, source: str | None, channel: str | None,
    project: str | None, since: datetime | None, until: datetime | None, erase: bool, mentions: bool,
    reason: str | None, into: Path | None, dry_run: bool, apply_: bool, prove: bool, words: TextIO | None,
    every: bool, yes: bool, settings_path: Path | None,
) -> None:  # fmt: skip
    """Take something out of memory, in three steps that a person takes one by one.

    \b
    lorelake forget --query "billing outage"     preview the exact items, then write the decision
    lorelake forget --person mara --erase        the same, of records too
    lorelake forget --apply                      erase what such decisions on the protected ref say
    lorelake forget --prove < words.txt          look through every file that is left

    The first writes a decision file with ids and keyed hashes, never a text, and nothing else happens: commit it, and
    the next night after it is on the protected ref keeps exactly those items out of memory. Records are erased by
    `--apply` alone, which shows again what it will do; it cannot be undone. All that is given must hold at once.
    docs/forgetting.md says what goes, what stays, and what is yours to rewrite.
    """
    from lorelake.cli.forget_select import Criteria

    settings, path = _settings(settings_path)
    asked = Criteria(ids, query, person, source, channel, project, _day(since), _day(until), mentions)
    if apply_ and prove:
        raise UsageError("--apply and --prove are two steps", remedy="--apply proves by itself; give one of them")
    if apply_ or prove:
        if asked.by_item or asked.by_place or erase:
            remedy = "what is erased stands in the decisions; select without --apply and --prove"
            raise UsageError("nothing is selected here", remedy=remedy)
        _apply(settings, path, yes) if apply_ else _prove(settings, words, every)
        return
    if not (asked.by_item or asked.by_place):
        raise UsageError("nothing says what to forget", remedy="`lorelake forget --help` lists what it is selected by")
    if mentions and not (erase and person):
        raise UsageError("--mentions goes with --erase --person")
    _decide(settings, asked, erase, reason, into, dry_run, yes)


def _settings(given: Path | None) -> tuple[Settings, Path]:
    path = given or find_settings()
    if path is None:
        raise UsageError("no lorelake.toml here", remedy="give --settings, or run where it lies")
    return settings_module.load(path), path


def _day(moment: datetime | None) -> date | None:
    return moment.date() if moment else None


def _apply(settings: Settings, path: Path, yes: bool) -> None:
    from lorelake.cli import forget_apply
    from lorelake.content.redaction import load_key

    forget_apply.apply(settings, path, load_key(settings.resolve(settings.redaction.key_file)), yes)


def _prove(settings: Settings, words: TextIO | None, every: bool) -> None:
    from lorelake.cli import forget_apply
    from lorelake.release.proof import prove

    given = [line.strip() for line in (words or sys.stdin)]
    wanted = list(dict.fromkeys(line for line in given if line))
    if not wanted:
        raise UsageError("no words to look for", remedy="give them on standard input or with --words, one a line")
    root = settings.lake_root
    if not root.is_dir():
        raise UsageError("there is no lake", where=str(root))
    forget_apply.report(prove(root, wanted), root, len(wanted), every=every)


def _decide(
    settings: Settings, asked: Criteria, erase: bool, reason: str | None, into: Path | None, dry_run: bool, yes: bool
) -> None:
    from lorelake.cli.forget_select import Selector
    from lorelake.content.redaction import load_key
    from lorelake.raw import erased as raw
    from lorelake.release import forget as decided

    lake = Lake(settings.lake_root)
    if lake.current_release() is None:
        raise LorelakeError("nothing is published here yet", where=str(lake.root), remedy="run `lorelake nightly`")
    key = load_key(settings.resolve(settings.redaction.key_file))
    found = Selector(lake, settings, key).select(asked, erase)
    taken = raw.survey(lake, found.erased(key)) if erase else raw.Taken()
    if not (found.learnings or found.kept or taken.records or taken.masked):
        raise LorelakeError("nothing here meets this", remedy="nothing was written")
    whole_person = erase and bool(asked.person) and not asked.by_item
    _show(lake, found, taken, erase, whole_person)
    if whole_person and not asked.mentions:
        by_name = Selector(lake, settings, key).named(asked, found)
        more = raw.survey(lake, by_name.erased(key)).masked - taken.masked
        click.echo(f"further records that name them in plain words: {more}; --mentions takes the name out of these too")
    if not (found.learnings or erase):
        raise LorelakeError("every item stands on others' words too, so none is forgotten", remedy="name it by --id")
    if dry_run:
        click.echo("\na dry run: nothing was written")
        return
    why = reason or _ask("Why (it stands in the decision; name nobody in it)", yes)
    folder = decision_files.folder(settings, into)
    _confirm(yes)
    values = decided.decisions(
        # What a person said falls with their records; that others say the same later is no return of it.
        [] if whole_person else decided.signed(lake, settings.team.id, found.learnings),
        why,
        erase=erase,
        records=found.records,
        persons=found.persons,
    )
    _write(folder, values, erase)


def _show(lake: Lake, found: Selected, taken: object, erase: bool, whole_person: bool) -> None:
    from lorelake.raw.erased import Taken
    from lorelake.release import forget as decided

    if found.learnings:
        what = "that nobody else said, and that fall with the records" if whole_person else "to forget"
        click.echo(f"{count(len(found.learnings), 'item')} {what}:")
        rows = [(row["learning_id"], row["state"], row["audience"], row["title"]) for row in found.learnings]
        click.echo(text_table(("id", "state", "audience", "title"), rows, terminal_width()))
    for row in found.kept:
        click.echo(f"stands on others' words too, and stays{' without theirs' * erase}: {row['learning_id']}")
    ids = decided.ids_of(lake, [row["learning_id"] for row in found.learnings])
    audiences = sorted({row["audience"] for row in found.learnings})
    units = taken.units if isinstance(taken, Taken) else set()
    touched = decided.rows_touched(lake, ids, units)
    click.echo(f"\nclaims: {len(ids)}; audiences: {', '.join(audiences) or 'none'}")
    click.echo(f"releases that know them: {', '.join(decided.releases_with(lake, ids)) or 'none'}")
    click.echo("rows that name them: " + (", ".join(f"{n} {name}" for name, n in sorted(touched.items())) or "none"))
    for what, people in decided.affected(lake, found.learnings).items():
        click.echo(f"who {what}: {', '.join(people) or 'nobody'}")
    if erase and isinstance(taken, Taken):
        sources = ", ".join(f"{number} {source}" for source, number in sorted(taken.by_source.items()))
        click.echo(f"\nrecords to erase: {taken.records}" + (f" ({sources})" if sources else ""))
        for unit in sorted(taken.units):
            click.echo(f"  {unit}")
        click.echo(f"records of others that lose a name or what hangs on it: {taken.masked}")


def _ask(question: str, yes: bool) -> str:
    if yes or not sys.stdin.isatty():
        raise UsageError("a decision needs a reason", remedy="give --reason")
    return str(click.prompt(question))


def _confirm(yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError("nobody is here to confirm it", remedy="give --yes, or --dry-run to look only")
    if not click.confirm("\nWrite the decision?", default=False):
        raise LorelakeError("nothing was written")


def _write(folder: Path, values: Sequence[Mapping[str, Any]], erase: bool) -> None:
    click.echo("")
    for decision in values:
        click.echo(f"written: {decision_files.write(folder, decision)}")
    click.echo("commit it; it counts with the first night after it is on the protected ref")
    if erase:
        click.echo("then `lorelake forget --apply` erases exactly this")
