"""Pulling merge requests from a forge: only what changed, nothing missed, one file a request.

A forge lists what changed in *streams*, each sorted by update time, oldest first. A run reads every stream from its
bookmark less an overlap, fetches whole each request that a stream names, and moves a bookmark once its stream was read
to the end and everything it named is stored. Why nothing falls between two runs:

- Pages cannot shift under us; see `forge_streams`.
- Bookmarks are times the host stated, never our clock. What a host shows late (it writes a time when a change begins
  and shows it when it ends, and has clocks of its own that differ) lies within the overlap.
- A request of the overlap is fetched again, whatever its time says. One that an interrupted run has stored is not, if
  the file holds what the stream states and the change is not of the last moments of that run.
- A file is replaced whole or not at all, and a state only tells of files that are there.

What vanishes at the forge stays here: an absence is no deletion.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

import msgspec

from lorelake.formats.record import parse_time
from lorelake.landing.forge_client import Client, RequestError
from lorelake.landing.forge_files import (
    State,
    dumped,
    held,
    poorer,
    read_request,
    read_state,
    same,
    write_request,
    write_state,
)
from lorelake.landing.forge_streams import Entry, Stream, earlier, read_stream, told

OVERLAP = timedelta(hours=1)
_HOPELESS = 3
"""So many requests in a row without an answer mean that the host is down: asking for each of the rest is no use."""


class Forge(Protocol):
    """What GitHub and GitLab do differently."""

    name: str
    client: Client
    passing: tuple[str, ...]
    """Fields of a request that change without it: states being computed, counters of its repository."""

    def open(self, project: str) -> str:
        """Look at the project; its path as the forge writes it today. Raises RequestError."""

    def streams(self) -> list[Stream]:
        """The lists to read, the requests' own first."""

    def beginnings(self) -> dict[str, datetime]:
        """Where streams start that need no history in a first run, since the requests' own stream brings it."""

    def fetch(self, number: int, stored: dict[str, Any] | None) -> dict[str, Any]:
        """One request with all that belongs to it. Raises RequestError; notes lists that are too short in the client.

        Args:
            stored: what an earlier run stored, for parts that never change.
        """

    def covers(self, document: dict[str, Any], entry: Entry) -> bool:
        """Whether a stored request already holds what the stream tells of."""


class Report(msgspec.Struct):
    """What one run did for one project. Each request it saw is in one of `changed` (written; in a dry run: would be
    fetched), `unchanged`, `incomplete` and `gone`, the last two with the reason."""

    project: str
    changed: set[int] = set()
    unchanged: set[int] = set()
    incomplete: dict[int, str] = {}
    gone: dict[int, str] = {}
    faults: list[str] = []
    notes: list[str] = []
    requests: int = 0
    waited: float = 0.0

    @property
    def seen(self) -> int:
        """How many requests the streams named."""
        return len(self.changed | self.unchanged | self.incomplete.keys() | self.gone.keys())

    @property
    def complete(self) -> bool:
        """Whether everything that changed is stored now."""
        return not self.incomplete and not self.faults


def pull(
    forge: Forge,
    project: str,
    folder: Path,
    since: datetime | None = None,
    overlap: timedelta = OVERLAP,
    dry_run: bool = False,
    progress: Callable[[Report], None] = lambda report: None,
) -> Report:
    """Bring one project's folder up to date; never raises for what the forge does.

    Args:
        project: `owner/name` or `group/…/name`.
        folder: where this project's files lie; made with mode 0700, files 0600.
        since: read from this update time even if the bookmark is later; without a bookmark, do not go further back.
        overlap: how much before each bookmark is read again.
        dry_run: list what would be fetched; writes nothing.
        progress: called after each request.

    Raises:
        LakeBusyError: another pull holds the folder.
        OSError: the folder cannot be written.
    """
    run = _Run(forge, Report(project), folder, since, overlap, dry_run, progress)
    before = forge.client.requests, forge.client.waited
    streams = run.open(project)
    if streams is not None:
        with held(folder, dry_run):
            run.run(streams)
    run.report.requests = forge.client.requests - before[0]
    run.report.waited = forge.client.waited - before[1]
    return run.report


class _StopError(Exception):
    """The rest of this project is left to the next run."""


class _Run:
    def __init__(
        self,
        forge: Forge,
        report: Report,
        folder: Path,
        since: datetime | None,
        overlap: timedelta,
        dry_run: bool,
        progress: Callable[[Report], None],
    ) -> None:
        self.forge, self.report, self.folder = forge, report, folder
        self.since, self.overlap, self.dry_run, self.progress = since, overlap, dry_run, progress
        self.state = State()
        self.reached: datetime | None = None
        self.fresh_from: datetime | None = None
        self.in_a_row = 0

    def open(self, project: str) -> list[Stream] | None:
        try:
            current = self.forge.client.scrub(self.forge.open(project))
        except RequestError as fault:
            there = any(self.folder.glob("*.json"))
            absence = "; what is stored stands, an absence is no deletion" if there else ""
            missing = f" (no such project, or the token may not read it{absence})" if fault.kind == "gone" else ""
            self.report.faults.append(fault.told + missing)
            return None
        if current.lower() != project.lower():
            self.report.notes.append(f"is {current} today; pull it by that name")
        return self.forge.streams()

    def run(self, streams: list[Stream]) -> None:
        self.state = read_state(self.folder)
        self.reached = parse_time(self.state.reached)
        self.fresh_from = earlier(self.reached, self.overlap) if self.reached else None
        try:
            starts = self._starts(streams)
        except RequestError as fault:
            self.report.faults.append(fault.told)
            return
        try:
            for stream in streams:
                self._stream(stream, starts.get(stream.name))
        except _StopError:
            self._save()
            self.report.faults.append("stopped; what is stored stands, and the next run goes on from the same bookmark")

    def _starts(self, streams: list[Stream]) -> dict[str, datetime]:
        """Where to begin each stream: at its bookmark less the overlap, at `since` if that is earlier or the first."""
        starts = {}
        known = {name: moment for name, text in self.state.bookmarks.items() if (moment := parse_time(text))}
        fresh = [stream for stream in streams if stream.name not in known]
        begin = self.forge.beginnings() if fresh and self.since is None else {}
        for stream in streams:
            if stream.name in known:
                start = earlier(known[stream.name], self.overlap)
                starts[stream.name] = start if self.since is None else min(start, self.since)
            elif first := self.since or begin.get(stream.name):
                # Remembered before anything is fetched: a first run that is killed leaves requests behind, and their
                # later edits are told from here on.
                starts[stream.name] = first
                self.state.bookmarks[stream.name] = told(first)
        self._save()
        return starts

    def _stream(self, stream: Stream, start: datetime | None) -> None:
        last, whole = start, True
        try:
            for entries in read_stream(self.forge.client, stream, start):
                for entry in entries:
                    whole = self._entry(entry) and whole
                    last = entry.time if last is None else max(last, entry.time)
                self._save()
        except RequestError as fault:
            self.report.faults.append(fault.told)
            if fault.stops:
                raise _StopError from None
            return
        known = parse_time(self.state.bookmarks.get(stream.name))
        if whole and last is not None and (known is None or last > known):
            self.state.bookmarks[stream.name] = told(last)
            self._save()

    def _entry(self, entry: Entry) -> bool:
        """See to one line of a stream; whether what it names is stored."""
        number, path = entry.number, self.folder / f"{entry.number}.json"
        if number in self.report.incomplete:
            return False
        if number in self.report.gone or (self.dry_run and number in self.report.changed):
            return True
        stored = read_request(path)
        if stored and self._need_not_fetch(number, stored, entry):
            self._done(number, changed=False)
        elif self.dry_run:
            self._done(number, changed=True)
        elif not self._fetch(number, path, stored):
            return False
        self.reached = max(self.reached or entry.time, entry.time)
        return True

    def _need_not_fetch(self, number: int, stored: dict[str, Any], entry: Entry) -> bool:
        this_run = number in self.report.changed | self.report.unchanged
        settled = self.fresh_from is not None and entry.time < self.fresh_from and number not in self.state.incomplete
        return (this_run or settled) and self.forge.covers(stored, entry)

    def _fetch(self, number: int, path: Path, stored: dict[str, Any] | None) -> bool:
        client = self.forge.client
        client.shortages = []
        try:
            document = self.forge.fetch(number, stored)
            data = client.scrub(dumped(document)).encode("ascii")
        except RequestError as fault:
            self._failed(number, fault)
            return fault.kind == "gone"
        except RecursionError:
            self._incomplete(number, "nested too deeply to be stored")
            return False
        self.in_a_row = 0
        short = "; ".join(client.shortages)
        unchanged = stored is not None and same(json.loads(data), stored, self.forge.passing)
        if not unchanged and not (short and stored and poorer(document, stored)):
            write_request(path, data)
        if short:
            self._incomplete(number, short)
        else:
            self._done(number, changed=not unchanged)
        return not short

    def _failed(self, number: int, fault: RequestError) -> None:
        if fault.kind == "gone":
            self.report.gone[number] = fault.told
            self.progress(self.report)
            return
        self._incomplete(number, fault.told)
        self.in_a_row = self.in_a_row + 1 if fault.kind == "unreachable" else 0
        if fault.stops or self.in_a_row == _HOPELESS:
            raise _StopError

    def _incomplete(self, number: int, why: str) -> None:
        self.report.changed.discard(number)
        self.report.unchanged.discard(number)
        self.report.incomplete[number] = why
        self.progress(self.report)

    def _done(self, number: int, changed: bool) -> None:
        if changed:
            self.report.unchanged.discard(number)
            self.report.changed.add(number)
        elif number not in self.report.changed:
            self.report.unchanged.add(number)
        self.progress(self.report)

    def _save(self) -> None:
        if not self.dry_run:
            self.state.reached = told(self.reached) if self.reached else None
            open_ones = {*self.state.incomplete, *self.report.incomplete}
            settled = self.report.changed | self.report.unchanged | self.report.gone.keys()
            self.state.incomplete = sorted(open_ones - settled)
            write_state(self.folder, self.state)
