"""Notes that lorelake itself leaves beside what it brings, and what they tell about the files they stand for.

A note is a JSON object whose first key is `lorelake`, with the name of the command that wrote it. It is recognised
by that and never by its name, and is neither a capture nor a refusal. What it says of project and person is taken as
the settings' own assumptions are: used only where a record states neither, and marked as assumed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from posixpath import basename, dirname
from typing import NamedTuple

import msgspec

from lorelake.content.projects import UNKNOWN, resolve
from lorelake.formats.record import REASONS, Refusal, digest
from lorelake.settings import Person, Settings

KINDS = ("collect", "withdrawn", "import", "pull", "erased")
SUFFIX = ".collect.json"
"""What the name of a delivered file's note adds to the file's."""

_FIRST_KEY = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"lorelake"\s*:\s*"(' + "|".join(KINDS).encode() + rb')"')


class Note(msgspec.Struct):
    """What is read of a note, whichever command wrote it; the rest is that command's own."""

    lorelake: str
    project: str | None = None
    projects: list[str] = []
    person: str | None = None
    machine: str | None = None
    remote: str | None = None
    left_out: dict[str, int] = {}


class Hint(NamedTuple):
    """Assumed project and person, either of which may be missing."""

    project: str | None = None
    person: str | None = None


def is_note(head: bytes) -> bool:
    """Whether a file's first bytes are those of a note."""
    return _FIRST_KEY.match(head) is not None


def read_note(data: bytes) -> Note | None:
    """A note, or None where it is none or damaged."""
    if not is_note(data):
        return None
    try:
        return msgspec.json.decode(data, type=Note)
    except (msgspec.ValidationError, msgspec.DecodeError, UnicodeDecodeError):
        return None


class Hints:
    """What the notes of one source say, by the name of the file or folder they stand for.

    Args:
        notes: content by name.
        settings: whose people and projects the notes' names are looked up in.
        default: what the source's own settings assume.
    """

    def __init__(self, notes: Mapping[str, bytes], settings: Settings, default: Hint) -> None:
        self._files: dict[str, Hint] = {}
        self._folders: dict[str, Hint] = {"": default}
        self.refusals: list[Refusal] = []
        for name in sorted(notes):
            note = read_note(notes[name])
            if note is None:
                why = "a note of lorelake's that cannot be read: what it stands for is taken without it"
                self.refusals.append(Refusal("not_json", why, name, sha256=digest(name, "not_json")))
            elif note.lorelake == "collect":
                self._files[name.removesuffix(SUFFIX)] = Hint(_project(note, settings), _person(note, settings.people))
                self.refusals += _left_out(name, note)
            elif note.lorelake in ("import", "pull"):
                self._folders[dirname(name)] = Hint(note.project, note.person)

    def of(self, name: str) -> Hint:
        """The hint for a file or folder: its own note's, its nearest folder's, the source's; part by part."""
        project, person = None, None
        found = self._files.get(name, Hint())
        place = name
        while True:
            here = self._folders.get(place, Hint())
            project, person = project or here.project, person or here.person
            if not place:
                return Hint(found.project or project, found.person or person)
            place = dirname(place)


def _project(note: Note, settings: Settings) -> str | None:
    """The settings' name of the project that collect found on the person's machine, else the one it has there."""
    folders = (note.project,) if note.project and note.project.startswith("/") else ()
    project, _ = resolve(note.remote, folders, note.project, settings.projects)
    return None if project == UNKNOWN else project


def _person(note: Note, people: Sequence[Person]) -> str | None:
    """The configured person, else a placeholder for that machine: two who call themselves `ann` are not one."""
    name = (note.person or "").lower()
    for person in people:
        if name and name in {known.lower() for known in (person.id, *person.emails, *person.logins)}:
            return person.id
    return f"machine-{note.machine}" if note.machine else None


def _left_out(name: str, note: Note) -> list[Refusal]:
    """One refusal for all that collect could not redact and therefore did not deliver."""
    counts = {reason: count for reason, count in note.left_out.items() if count > 0}
    if not counts:
        return []
    most = max(sorted(counts), key=lambda reason: counts[reason])
    told = ", ".join(f"{count} {reason}" for reason, count in sorted(counts.items()))
    reason = most if most in REASONS else "unreadable"
    why = f"left out by `lorelake collect` before delivery of {basename(name.removesuffix(SUFFIX))}: {told}"
    return [Refusal(reason, why, name, sha256=digest(name, json.dumps(counts, sort_keys=True)))]
