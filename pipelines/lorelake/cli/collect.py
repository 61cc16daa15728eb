"""`lorelake collect`: deliver one's own transcripts, of the projects one enabled, redacted."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import ParamSpec

import click

from lorelake.cli import collect_person, collect_told
from lorelake.cli.collect_person import shown
from lorelake.cli.text_table import count, plain
from lorelake.errors import LorelakeError, UsageError
from lorelake.landing import collect_run, consent
from lorelake.landing.agent_stores import AgentStore, stores
from lorelake.landing.collect_run import Folders
from lorelake.landing.consent import Personal

HOOK_SECONDS = 600
"""How long the run that a hook starts may go on beginning files."""
LOG_NAME = "hook.log"
SHOWN = 5
"""Files that `status` names; it counts the rest."""
CONSENTED = "who you are, this machine's random name, agent, remote, branch and project"

P = ParamSpec("P")


def _run_options(command: Callable[P, None]) -> Callable[P, None]:
    @click.option("--quiet", is_flag=True, help="Say nothing where nothing is wrong.")
    @click.option("--hook", is_flag=True, help="Start in the background and return at once with exit code 0.")
    @click.option("--within", type=click.FloatRange(min=0), metavar="S", help="Begin no file after so many seconds.")
    @wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
        command(*args, **kwargs)

    return wrapped


@click.group(invoke_without_command=True)
@_run_options
@click.pass_context
def collect(context: click.Context, quiet: bool, hook: bool, within: float | None) -> None:
    """Deliver your own agent transcripts, of the projects you enabled, redacted, and only what is new.

    Without a command it does what `collect run` does. docs/collecting.md tells the rest.

    \b
    Examples:
      lorelake collect status
      lorelake collect dry-run harbour/api --to s3://bucket/landing
      lorelake collect enable harbour/api
      lorelake collect
    """
    if context.invoked_subcommand is None:
        _run(quiet, hook, within)
    elif quiet or hook or within is not None:
        raise UsageError("options stand behind the command", remedy=f"lorelake collect {context.invoked_subcommand} …")


@collect.command()
@_run_options
def run(quiet: bool, hook: bool, within: float | None) -> None:
    """Deliver what is new of the enabled projects."""
    _run(quiet, hook, within)


@collect.command(short_help="Which projects have transcripts here and are sent.")
def status() -> None:
    """Which projects have transcripts here, which of them are sent, and whether every agent is understood."""

    folders, personal, here = _here()
    found = collect_run.look(personal, here)
    for line in collect_told.projects_told(personal, found):
        click.echo(line)
    click.echo("\n" + collect_told.agents_told(here, found))
    if personal:
        warnings, strange = collect_run.health(folders, personal, here, datetime.now(UTC).date())
        collect_told.warn(warnings)
        for path in strange[:SHOWN]:
            click.echo(f"  no format reads {plain(str(path))}", err=True)
    log = folders.state / LOG_NAME
    if log.exists() and (said := log.read_text(encoding="utf-8", errors="replace").strip()):
        click.echo(f"\nThe last run in the background said:\n{said[-2000:]}")


@collect.command("dry-run")
@click.argument("project")
@click.option("--to", "deliver_to", metavar="PLACE", help="Folder or s3://bucket/prefix that would be delivered to.")
@click.option("--person", metavar="W", help="Your name in the team's settings; by default your Git e-mail address.")
@click.option("--into", type=click.Path(path_type=Path), metavar="FOLDER", help="Write what would be sent to a folder.")
def dry_run(project: str, deliver_to: str | None, person: str | None, into: Path | None) -> None:
    """Show what enabling PROJECT would send, and send nothing.

    PROJECT is a name that `collect status` lists or its last parts, a remote's address, or the folder of a checkout.
    """

    _needs_polars()
    folders, before, here = _here()
    personal = collect_person.proposed(folders, before, deliver_to, person)
    found = collect_run.look(personal, here)
    name = collect_person.identity(project, collect_person.projects_of(found))
    if before is None or (personal != before and not before.projects):
        consent.save(folders.config, personal)
    if into and into.exists() and any(into.iterdir()):
        raise UsageError("that folder is not empty", where=str(into), remedy="name a new one")
    report = collect_run.dry_run(folders, personal, name, found, into)
    click.echo(f"{name}\nwould go to {shown(personal.deliver_to)} as {personal.person}\n")
    click.echo("\n".join(collect_told.sent_told(report)) or "no transcript")
    for line in collect_told.rest_told(report):
        click.echo(line)
    click.echo(f"\nBeside each file stands {CONSENTED}.")
    if into:
        click.echo(f"Every word that would be sent lies in {into}")
    else:
        click.echo(f"To read every word of it: lorelake collect dry-run {project} --into FOLDER")
    click.echo(f"Next: lorelake collect enable {project}{f' --to {deliver_to}' if deliver_to and before else ''}")


@collect.command()
@click.argument("project")
@click.option("--to", "deliver_to", metavar="PLACE", help="Another place than before, if nothing else is enabled.")
@click.option("--person", metavar="W", help="Your name in the team's settings.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def enable(project: str, deliver_to: str | None, person: str | None, yes: bool) -> None:
    """Agree that transcripts of PROJECT are sent from now on. Needs a dry run seen before."""

    folders, before, here = _here()
    if before is None:
        raise LorelakeError("nobody here has seen yet what would be sent", remedy=f"lorelake collect dry-run {project}")
    personal = collect_person.proposed(folders, before, deliver_to, person)
    found = collect_run.look(personal, here)
    name = collect_person.identity(project, collect_person.projects_of(found))
    if not collect_run.saw_dry_run(folders, personal, name):
        where = shown(personal.deliver_to)
        to = f" --to {deliver_to}" if deliver_to else ""
        raise LorelakeError(
            f"nobody here has seen yet what of {name} would be sent to {where}",
            remedy=f"lorelake collect dry-run {project}{to}",
        )
    if not yes:
        if not _at_terminal():
            raise UsageError("nobody is here to agree", remedy="look at the dry run first, then add --yes")
        now = sum(1 for each in found if each.place and each.place.project == name)
        click.echo(f"{name}: {count(now, 'transcript')} now, and what comes.")
        if not click.confirm(f"Send them, redacted, to {shown(personal.deliver_to)} as {personal.person}?"):
            raise LorelakeError("nothing was enabled")
    collect_run.enable(folders, personal, name, found, datetime.now(UTC))
    click.echo(f"Enabled {name}. Next: lorelake collect")


@collect.command()
@click.argument("project")
def disable(project: str) -> None:
    """Send nothing more of PROJECT. What was sent stays; `withdraw` erases it."""

    folders, personal, name = _agreed(project)
    if not personal.consent(name):
        raise LorelakeError(f"{name} is not enabled", remedy="lorelake collect status")
    collect_run.disable(folders, personal, name)
    click.echo(f"Nothing more of {name} is sent. What was sent stays; `lorelake collect withdraw {name}` erases it.")


@collect.command()
@click.argument("project")
def withdraw(project: str) -> None:
    """Send nothing more of PROJECT and erase what was sent of it."""

    folders, personal, name = _agreed(project)
    erased = collect_run.withdraw(folders, personal, name, datetime.now(UTC), _progress())
    place = shown(personal.deliver_to)
    click.echo(f"Nothing more of {name} is sent.")
    click.echo(f"Erased from {place}: {count(erased, 'file')}, with what stood beside.")
    if erased:
        click.echo(
            "Not erased from here: what a lake has read of them already (its raw records, events and releases), and "
            "copies that others made. withdrawn.json in that place names what to forget; ask who runs the lake for it."
        )


def _run(quiet: bool, hook: bool, within: float | None) -> None:
    folders = _folders()
    if hook:
        _start_in_background(folders)
        return
    personal = _personal(folders)
    if personal is None or not (personal.projects or personal.withdrawing):
        if not quiet:
            click.echo(collect_told.FIRST)
        return
    _needs_polars()
    progress = collect_run.quiet if quiet else _progress()
    outcome = collect_run.run(folders, personal, stores(), datetime.now(UTC), within, progress)
    if not quiet:
        for line in collect_told.outcome_told(outcome, personal):
            click.echo(line)
    collect_told.warn(outcome.warnings)


def _start_in_background(folders: Folders) -> None:
    """Start the run as a process of its own, which outlives the agent; nothing that fails here reaches the agent."""
    try:
        folders.state.mkdir(parents=True, exist_ok=True, mode=0o700)
        log = os.open(folders.state / LOG_NAME, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.ftruncate(log, 0)
            subprocess.Popen(
                [
                    sys.executable, "-c", "from lorelake.cli import main; main()",
                    "collect", "run", "--quiet", "--within", str(HOOK_SECONDS),
                ],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd="/",
            )  # fmt: skip
        finally:
            os.close(log)
    except OSError as error:
        click.echo(f"lorelake: collect did not start: {folders.state}: {error.strerror or error}", err=True)


def _folders() -> Folders:
    return Folders(consent.config_folder(), consent.state_folder())


def _personal(folders: Folders) -> Personal | None:
    return consent.load(folders.config)


def _here() -> tuple[Folders, Personal | None, list[AgentStore]]:
    folders = _folders()
    return folders, _personal(folders), stores()


def _agreed(project: str) -> tuple[Folders, Personal, str]:
    """For commands about what was agreed: a project by its name, or by what a folder or address says today."""
    folders = _folders()
    personal = _personal(folders)
    if personal is None:
        raise LorelakeError("nothing was ever enabled on this machine", remedy="lorelake collect status")
    known = {*personal.enabled(), *personal.withdrawing}
    here = collect_person.projects_of(collect_run.look(personal, stores()))  # one that is disabled stands nowhere else
    return folders, personal, collect_person.identity(project, known | here)


def _needs_polars() -> None:
    """Redaction searches with it; said before anything is looked at."""
    from importlib.util import find_spec

    if find_spec("polars") is None:
        raise UsageError(
            "`lorelake collect` needs polars, which is not installed", remedy="pip install 'lorelake[pipeline]'"
        )


def _at_terminal() -> bool:
    return sys.stdin.isatty()


def _progress() -> Callable[[str, int, int], None]:
    """Progress on a terminal; nothing elsewhere."""
    if not sys.stderr.isatty():
        return lambda what, done, of: None

    def show(what: str, done: int, of: int) -> None:
        end = "\n" if done == of else "\r"
        click.echo(f"{what}: {done} of {of}\x1b[K{end}", nl=False, err=True)

    return show
