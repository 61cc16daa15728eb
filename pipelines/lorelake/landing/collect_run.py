"""What the commands of `collect` do: a whole run, a dry run, and the changes of a person's mind.

Every one of them holds the lock while it reads and writes what is remembered.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import NamedTuple

import msgspec

from lorelake.errors import LakeBusyError, LorelakeError
from lorelake.landing import collect_state, consent, silence
from lorelake.landing.agent_stores import AgentStore
from lorelake.landing.collect import Collector, Progress, Report
from lorelake.landing.collect_state import State
from lorelake.landing.consent import Consent, Personal, Secret
from lorelake.landing.delivery import Folder, erase, open_place
from lorelake.landing.survey import Surveyed, files_of, survey

WAIT = 30.0
"""Seconds that a command which changes something waits for a run to end."""


class Folders(NamedTuple):
    """Where a person's configuration and what collect remembers lie."""

    config: Path
    state: Path


@dataclass
class Outcome:
    """What a whole run did; `busy` where another one was at work, and nothing was done."""

    report: Report = field(default_factory=Report)
    warnings: list[str] = field(default_factory=list)
    erased: int = 0
    busy: bool = False


def quiet(what: str, done: int, of: int) -> None:
    """No progress."""


def run(
    folders: Folders,
    personal: Personal,
    stores: Sequence[AgentStore],
    now: datetime,
    within: float | None = None,
    progress: Progress = quiet,
) -> Outcome:
    """Deliver what is new of the enabled projects, and finish what was withdrawn.

    Args:
        within: seconds after which no further file is begun.

    Raises:
        LorelakeError, OSError: the place cannot be reached or written, or the key may not be used.
    """
    until = None if within is None else time.monotonic() + within
    outcome = Outcome()
    with collect_state.locked(folders.state) as free:
        if not free:
            return Outcome(busy=True)
        personal = consent.load(folders.config) or personal  # it may have changed while another run was at work
        secret, state = Secret(personal), collect_state.load(folders.state)
        for project in personal.withdrawing:
            try:
                outcome.erased += _erase(folders, project, now, state, secret, progress)
            except (LorelakeError, OSError) as error:
                outcome.warnings.append(f"what was sent of {project} is not erased yet: {error}")
        enabled = {given.project: given.folders for given in personal.projects}
        agreed = consent.stamp(folders.config)

        def stop() -> bool:
            return consent.stamp(folders.config) != agreed or (until is not None and time.monotonic() >= until)

        collector = Collector(personal, enabled, secret, open_place(personal.deliver_to) if enabled else None, state)
        try:
            collector.run(files_of(stores), stop, lambda: collect_state.save(folders.state, state), progress)
            if not collector.report.left_for_next:
                seen, today = collector.seen(stores), now.date()
                outcome.warnings += silence.warnings(state.stores, seen, today)
                collector.forget_gone()
                state.stores = silence.remember(state.stores, seen, today)
        finally:
            collect_state.save(folders.state, state)
    outcome.report = collector.report
    return outcome


def dry_run(
    folders: Folders, personal: Personal, project: str, found: Sequence[Surveyed], into: Path | None = None
) -> Report:
    """What enabling a project would deliver at first, and that somebody has now seen it.

    Args:
        found: what lies on this machine.
        into: a folder to write it to, for reading.
    """
    with _alone(folders):
        secret, state = Secret(personal), collect_state.load(folders.state)
        enabled = {given.project: given.folders for given in personal.projects}
        enabled[project] = folders_of(project, found)
        place = Folder(into) if into else None
        collector = Collector(personal, enabled, secret, place, State())
        own = [each.file for each in found if each.place and each.place.project == project]
        waiting = [
            each.file
            for each in found
            if each.place and each.place.project in enabled and each.place.project != project
            if collector.unsent_of(each.file, project, state)  # held back until now for want of this consent
        ]
        collector.run([*own, *waiting])
        state.dry_runs = sorted({*state.dry_runs, _seen(secret, personal, project)})
        collect_state.save(folders.state, state)
    return collector.report


def saw_dry_run(folders: Folders, personal: Personal, project: str) -> bool:
    """Whether a dry run of a project to this place was seen on this machine."""
    return _seen(Secret(personal), personal, project) in collect_state.load(folders.state).dry_runs


def enable(folders: Folders, personal: Personal, project: str, found: Sequence[Surveyed], now: datetime) -> Personal:
    """Write down that a project may go.

    Raises:
        LorelakeError: no dry run of it was seen, what was withdrawn of it is not erased yet, or something else was
            enabled or withdrawn since `personal` was read, which a person may think about for long.
    """
    if not saw_dry_run(folders, personal, project):
        raise LorelakeError(
            f"nobody here has seen yet what of {project} would be sent",
            remedy=f"lorelake collect dry-run {project}",
        )
    if project in personal.withdrawing:
        raise LorelakeError(
            f"what was sent of {project} is not erased yet", remedy=f"lorelake collect withdraw {project}"
        )
    with _alone(folders):
        saved = consent.load(folders.config)
        if saved and (saved.projects, saved.withdrawing) != (personal.projects, personal.withdrawing):
            raise LorelakeError(
                "what was agreed on this machine has changed meanwhile",
                where=str(folders.config / consent.FILE_NAME),
                remedy="look with `lorelake collect status`, then enable it again",
            )
        given = Consent(project, folders_of(project, found), now.astimezone(UTC).isoformat(timespec="seconds"))
        changed = msgspec.structs.replace(personal, projects=(*personal.without(project).projects, given))
        consent.save(folders.config, changed)
    return changed


def disable(folders: Folders, personal: Personal, project: str) -> Personal:
    """Send nothing more of a project; what was sent stays."""
    with _alone(folders):
        changed = (consent.load(folders.config) or personal).without(project)
        consent.save(folders.config, changed)
    return changed


def withdraw(folders: Folders, personal: Personal, project: str, now: datetime, progress: Progress = quiet) -> int:
    """Send nothing more of a project, and erase what was sent. Killed or refused in between, the next run goes on.

    Returns:
        How many files were erased.

    Raises:
        LakeBusyError: a run is at work and does not end; from its next file on nothing of the project is sent.
        LorelakeError, OSError: a place cannot be reached.
    """
    personal = consent.load(folders.config) or personal
    waiting = tuple(dict.fromkeys((*personal.withdrawing, project)))
    consent.save(folders.config, msgspec.structs.replace(personal.without(project), withdrawing=waiting))
    with _alone(folders):
        secret, state = Secret(personal), collect_state.load(folders.state)
        try:
            return _erase(folders, project, now, state, secret, progress)
        finally:
            collect_state.save(folders.state, state)


def folders_of(project: str, found: Sequence[Surveyed]) -> tuple[str, ...]:
    """The checkouts in which sessions of a project were recorded, sorted."""
    places = (each.place for each in found)
    return tuple(sorted({place.folder for place in places if place and place.project == project and place.folder}))


def look(personal: Personal | None, stores: Sequence[AgentStore]) -> list[Surveyed]:
    """Every transcript on this machine with the project it names."""
    known = [folder for given in (personal.projects if personal else ()) for folder in given.folders]
    return survey(files_of(stores), known)


def health(
    folders: Folders, personal: Personal, stores: Sequence[AgentStore], today: date
) -> tuple[list[str], list[Path]]:
    """What a run would warn of today, and the files of a transcript's kind that no format reads. Writes nothing."""
    enabled = {given.project: given.folders for given in personal.projects}
    state = collect_state.load(folders.state)
    collector = Collector(personal, enabled, Secret(personal), None, state)
    collector.look(files_of(stores))
    warnings = silence.warnings(state.stores, collector.seen(stores), today)
    return warnings, [file.path for file in collector.strange()]


def _erase(folders: Folders, project: str, now: datetime, state: State, secret: Secret, progress: Progress) -> int:
    personal = consent.load(folders.config)
    if personal is None:
        return 0
    files = 0
    keys: set[str] = set()
    for where in dict.fromkeys((personal.deliver_to, *personal.former)):
        erased = erase(
            open_place(where),
            personal.machine,
            project,
            personal.person,
            now.astimezone(UTC).isoformat(timespec="seconds"),
            lambda done, of: progress("erasing", done, of),
        )
        files += erased.files
        keys |= {id_.rpartition("/")[2] for id_ in erased.ids}
    mark = secret.name("project", project)
    for key, entry in state.files.items():
        if entry.project == mark or key in keys:  # a file of several projects is remembered under one of them
            entry.sent, entry.done = None, ""
    waiting = tuple(other for other in personal.withdrawing if other != project)
    consent.save(folders.config, msgspec.structs.replace(personal, withdrawing=waiting))
    return files


def _seen(secret: Secret, personal: Personal, project: str) -> str:
    return secret.name("dry run", f"{personal.deliver_to}\n{project}")


@contextmanager
def _alone(folders: Folders) -> Iterator[None]:
    with collect_state.locked(folders.state, WAIT) as free:
        if not free:
            raise LakeBusyError(
                "another `lorelake collect` is at work", where=str(folders.state), remedy="wait for it to end"
            )
        yield
