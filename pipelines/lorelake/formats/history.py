"""What a Git repository says about its files: which versions stood on the protected ref, and who put them there.

`landing.repository` writes it as one member of a capture; `documents` and `decisions` read it from there.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import msgspec

from lorelake.formats.record import Capture, Member

MEMBER = "history.json"
"""Name of the member that carries the history; the others are `<path>@<landing commit>`."""


class Name(msgspec.Struct, frozen=True):
    """A name and e-mail as a commit states them; the e-mail in lower case."""

    name: str
    email: str


class Version(msgspec.Struct, frozen=True):
    """One state of one file on the first-parent line of the ref.

    Drafts that never stood on the ref are no versions: a merge counts as what it left there. `commit` is where
    the text was written and `landed` the commit that put it on the ref; they differ where a merge brought it.
    `position` counts landing commits from the first one of the line, so order needs no clock.
    `landed_at` is in seconds since 1970. `actor` is the committer, or of a merge who merged; `merged_by` is the
    same person where they are shown to be a second pair of eyes: by a merge, or by committing another's work.
    `message` is what the landing commit says, `written` what the one says that wrote the text. `signed` is whether the
    landing commit carries a signature; checking whose would mean running what the repository names.
    """

    path: str
    member: str
    deleted: bool
    position: int
    commit: str
    author: Name
    landed: str
    landed_at: int
    actor: Name
    merged_by: Name | None
    message: str = ""
    written: str = ""
    signed: bool = False


class History(msgspec.Struct, frozen=True):
    """All versions, in order of position then path. `root` is the first commit: the repository's identity.

    `projects` is the text of teamai's `manifest/projects.yaml` as the protected ref has it, and
    `projects_position` where that text landed; empty and -1 where there is none.
    """

    root: str
    ref: str
    head: str
    remote: str | None
    versions: tuple[Version, ...]
    projects: str = ""
    projects_position: int = -1


def of(capture: Capture) -> tuple[History, Mapping[str, Member]] | None:
    """The history a capture carries and its other members by name; None where it is no repository."""
    members = {member.name: member for member in capture.members}
    carrier = members.pop(MEMBER, None)
    if carrier is None:
        return None
    return msgspec.json.decode(carrier.read(), type=History), members


def unit(history: History, path: str) -> str:
    """Native id of a file: its path and the repository it lies in, since many repositories have docs/adr/0001."""
    return f"{path}@{history.root[:12]}"


def landed_at(version: Version) -> datetime | None:
    """When a version came onto the ref, or None where the commit states an impossible time."""
    try:
        return datetime.fromtimestamp(version.landed_at, UTC)
    except (OverflowError, OSError, ValueError):
        return None
