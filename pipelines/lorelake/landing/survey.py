"""What transcripts lie on this machine: files of the agents' stores, and the project each of them names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import msgspec

from lorelake.content.projects import UNKNOWN
from lorelake.landing import sessions
from lorelake.landing.agent_stores import AgentStore

DATABASES = frozenset({".db", ".sqlite", ".sqlite3"})
"""Kept in one file for sessions of all projects, so that it can be neither sent nor left as a whole."""
TELLING = DATABASES | {".jsonl"}
"""What a store keeps nothing but sessions in: one that no format reads is worth telling."""
KINDS = TELLING | {".json", ".md"}
"""What transcripts are kept in. Other files of a store are the agent's own affair."""


class Found(msgspec.Struct, frozen=True):
    """One file of a store that may be a transcript."""

    store: AgentStore
    path: Path
    size: int
    mtime_ns: int

    @property
    def day(self) -> date:
        """The UTC day on which it was last written."""
        return datetime.fromtimestamp(self.mtime_ns / 1e9, UTC).date()

    @property
    def inside(self) -> PurePosixPath:
        """Its path below the store."""
        return PurePosixPath(self.path.relative_to(self.store.path).as_posix())


class Surveyed(NamedTuple):
    """A transcript and the first place it names; None where it names none."""

    file: Found
    place: sessions.Where | None


def files_of(stores: Iterable[AgentStore]) -> list[Found]:
    """Every file of the stores that may be a transcript, the longest unchanged first. Links are not followed."""
    found = []
    for store in stores:
        for folder, _, names in os.walk(store.path):
            for name in names:
                path = Path(folder) / name
                if path.suffix in KINDS and not path.is_symlink() and path.is_file():
                    with suppress(FileNotFoundError):
                        status = path.stat()
                        found.append(Found(store, path, status.st_size, status.st_mtime_ns))
    return sorted(found, key=lambda file: (file.mtime_ns, str(file.path)))


def elsewhere(store: AgentStore) -> date | None:
    """The newest UTC day on which an agent's own folder changed outside its store: one level, and files alone."""
    own = store.path.parent
    if not own.name.startswith(".") or not own.is_dir():
        return None
    times = [0.0]
    with suppress(OSError), os.scandir(own) as entries:
        times += [entry.stat(follow_symlinks=False).st_mtime for entry in entries if entry.is_file()]
    return datetime.fromtimestamp(max(times), UTC).date() if max(times) else None


def survey(files: Sequence[Found], folders: Iterable[str] = ()) -> list[Surveyed]:
    """The project of every transcript, read no further than that takes.

    Args:
        folders: checkouts known already; those that sessions name come to them, for agents that record a hash alone.
    """
    known = set(folders)
    looked: list[Surveyed] = []
    for file in files:
        place = _place(file, ())
        if place and place.folder:
            known.add(place.folder)
        if place:
            looked.append(Surveyed(file, place))
    return [
        found if found.place and found.place.project != UNKNOWN else Surveyed(found.file, _named(found.file, known))
        for found in looked
    ]


def _named(file: Found, folders: Iterable[str]) -> sessions.Where | None:
    place = _place(file, folders)
    return None if place is None or place.project == UNKNOWN else place


def _place(file: Found, folders: Iterable[str]) -> sessions.Where | None:
    """The first place of a transcript, which may be unknown; None for what is no transcript or cannot be read."""
    with suppress(OSError):
        if file.size and file.path.suffix not in DATABASES and sessions.sniffed(file.path) == file.store.format:
            places = sessions.first_look(file.path, file.store.format, folders).places
            return next((place for place in places if place.project != UNKNOWN), next(iter(places), None))
    return None
