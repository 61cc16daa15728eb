"""`lorelake pull github|gitlab`: bring in merge requests, only what changed since the last pull."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click

from lorelake.cli.text_table import plain, terminal_width, text_table
from lorelake.errors import LorelakeError, UsageError
from lorelake.lake import Lake
from lorelake.landing import forges, pull_github, pull_gitlab
from lorelake.landing.forge_client import Client, token_from
from lorelake.landing.forge_files import folder_of
from lorelake.landing.forges import Report
from lorelake.recall.reader import find_home, find_settings
from lorelake.settings import load

_DURATION = re.compile(r"(\d{1,5})\s*(m|h|d)")
_UNITS = {"m": "minutes", "h": "hours", "d": "days"}
_OVERLAP = f"{forges.OVERLAP // timedelta(hours=1)}h"
_SHOWN = 5
_CLEAR = "\r\x1b[K"

wait = time.sleep
"""How seconds pass while a forge wants to be left alone."""


def _duration(ctx: click.Context, param: click.Parameter, value: str) -> timedelta:
    """`90m`, `6h`, `2d` as a duration."""
    found = _DURATION.fullmatch(value.strip())
    if found is None:
        raise click.BadParameter(f"{value!r} is no duration; write 90m, 6h or 2d", ctx, param)
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def _options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options both forges share."""
    for option in reversed(
        (
            click.option(
                "--since", type=click.DateTime(["%Y-%m-%d"]), metavar="YYYY-MM-DD",
                help="Read from this day of update (UTC) on, even if it was read before. A first pull without it reads "
                "the whole history.",
            ),
            click.option(
                "--into", type=click.Path(path_type=Path, file_okay=False), metavar="FOLDER",
                help="Where the files go; by default the lake's landing folder, which every night reads.",
            ),
            click.option("--url", metavar="URL", help="A self-hosted forge, as https://git.example.com."),
            click.option(
                "--token-env", metavar="NAME", help="The environment variable that holds the token."
            ),
            click.option(
                "--overlap", callback=_duration, default=_OVERLAP, show_default=True, metavar="DURATION",
                help="How much before the last pull is read again, for what the forge shows late.",
            ),
            click.option("--dry-run", is_flag=True, help="Only list what would be fetched; write nothing."),
        )
    ):  # fmt: skip
        command = option(command)
    return command


@click.group()
def pull() -> None:
    """Bring in merge requests from GitHub or GitLab, only what changed since the last pull.

    Each request becomes one file in the lake's landing folder, as the forge's API gave it; the next `lorelake nightly`
    reads it. docs/pulling.md has the whole of it.
    """


@pull.command(short_help="Pull requests of GitHub.")
@click.argument("projects", nargs=-1, required=True, metavar="OWNER/NAME...")
@_options
def github(
    projects: tuple[str, ...],
    since: datetime | None,
    into: Path | None,
    url: str | None,
    token_env: str | None,
    overlap: timedelta,
    dry_run: bool,
) -> None:
    """Pull requests of GitHub, with reviews, comments, commits and threads.

    The token comes from GITHUB_TOKEN (or --token-env) and needs to read pull requests and contents.

    \b
    Examples:
      lorelake pull github harbour/api harbour/web
      lorelake pull github harbour/api --since 2026-01-01
      lorelake pull github team/app --url https://github.example.com --token-env GHE_TOKEN
    """
    names = _projects(projects, pull_github.PROJECT, "owner/name")
    token = token_from(os.environ, token_env or pull_github.VARIABLE)
    transport = pull_github.PyGithubTransport(token, url)
    client = Client(transport, token, wait, _say)
    forge = pull_github.GitHubForge(transport, client)
    _pull(forge, transport.host, names, since, into, overlap, dry_run)


@pull.command(short_help="Merge requests of GitLab.")
@click.argument("projects", nargs=-1, required=True, metavar="GROUP/PROJECT...")
@_options
def gitlab(
    projects: tuple[str, ...],
    since: datetime | None,
    into: Path | None,
    url: str | None,
    token_env: str | None,
    overlap: timedelta,
    dry_run: bool,
) -> None:
    """Merge requests of GitLab, with discussions, approvals, commits and diffs.

    The token comes from GITLAB_TOKEN (or --token-env) and needs the scope `read_api`.

    \b
    Examples:
      lorelake pull gitlab harbour/api harbour/tools/web
      lorelake pull gitlab harbour/api --dry-run
      lorelake pull gitlab team/app --url https://gitlab.example.com --overlap 6h
    """
    names = _projects(projects, pull_gitlab.PROJECT, "group/project")
    token = token_from(os.environ, token_env or pull_gitlab.VARIABLE)
    transport = pull_gitlab.PythonGitlabTransport(token, url)
    forge = pull_gitlab.GitLabForge(Client(transport, token, wait, _say))
    _pull(forge, transport.host, names, since, into, overlap, dry_run)


def _projects(given: Sequence[str], form: re.Pattern[str], wanted: str) -> list[str]:
    """The projects, each once. Raises UsageError for what is no project's path."""
    for name in given:
        if not form.fullmatch(name) or any(part.strip(".") == "" for part in name.split("/")):
            raise UsageError(f"`{name}` is not a project", remedy=f"write it as {wanted}, without the host")
    return list({name.lower(): name for name in given}.values())


def _pull(
    forge: forges.Forge,
    host: str,
    projects: Sequence[str],
    since: datetime | None,
    into: Path | None,
    overlap: timedelta,
    dry_run: bool,
) -> None:
    start = since.replace(tzinfo=UTC) if since else None
    if start and start > datetime.now(UTC):
        raise UsageError("a day that has not come yet", where="--since", remedy="name a day in the past")
    landing = Lake(find_home()).landing.expanduser().resolve()
    target = into.expanduser().resolve() if into else landing / "merge_requests"
    reports = []
    for project in projects:
        folder = folder_of(target, forge.name, host, project)
        with _progress(project) as progress:
            reports.append(forges.pull(forge, project, folder, start, overlap, dry_run, progress))
    _tell(reports, dry_run)
    if not target.is_relative_to(landing) and not _is_source(target):
        _say(f'no night reads {target} yet; add to lorelake.toml: [[sources]] path = "{target}"')
    incomplete = [report.project for report in reports if not report.complete]
    if incomplete:
        raise LorelakeError(
            f"{len(incomplete)} of {len(reports)} projects not complete: {', '.join(incomplete)}",
            where=str(target),
            remedy="run it again: it goes on where it stopped, and what is stored stands",
        )


def _is_source(target: Path) -> bool:
    found = find_settings()
    settings = load(found) if found else None
    folders = [settings.resolve(one.path) for one in settings.sources if "://" not in one.path] if settings else []
    return any(target.is_relative_to(folder) for folder in folders)


def _tell(reports: Sequence[Report], dry_run: bool) -> None:
    """Reasons to standard error, then one line a project."""
    for report in reports:
        for fault in report.faults:
            _say(f"{report.project}: {fault}")
        for word, found in (("incomplete", report.incomplete), ("gone at the forge, kept here", report.gone)):
            for number, why in sorted(found.items())[:_SHOWN]:
                _say(f"{report.project} {number}: {word}: {why}")
            if len(found) > _SHOWN:
                _say(f"{report.project}: and {len(found) - _SHOWN} more {word}")
        for note in report.notes:
            _say(f"{report.project}: {note}")
    names = (
        "project",
        "seen",
        "to fetch" if dry_run else "changed",
        "unchanged",
        "incomplete",
        "gone",
        "requests",
        "waited s",
    )
    rows = [
        (
            report.project, report.seen, len(report.changed), len(report.unchanged), len(report.incomplete),
            len(report.gone), report.requests, round(report.waited),
        )
        for report in reports
    ]  # fmt: skip
    click.echo(text_table(names, rows, terminal_width()))


def _say(line: str) -> None:
    """A line to standard error; what a host put into it moves no cursor."""
    click.echo(f"{_CLEAR if sys.stderr.isatty() else ''}lorelake: {plain(line)}", err=True)


@contextmanager
def _progress(project: str) -> Iterator[Callable[[Report], None]]:
    """One line that counts on, on a terminal only."""
    if not sys.stderr.isatty():
        yield lambda report: None
        return

    def show(report: Report) -> None:
        click.echo(f"{_CLEAR}{project}: {report.seen} seen, {len(report.changed)} changed", err=True, nl=False)

    try:
        yield show
    finally:
        click.echo(_CLEAR, err=True, nl=False)
