"""What a transcript file on a person's machine says about itself: which projects it belongs to.

Files are read only as far as that takes. Which record states what is the formats' knowledge; which project that makes
is the one function that the lake uses too, so consent means the same on both sides.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from lorelake.content.projects import UNKNOWN, canonical_remote, checkout, resolve
from lorelake.formats import registry
from lorelake.formats.json_lines import first_objects
from lorelake.formats.record import HEAD_BYTES, Capture, Member, Record, Refusal, Unit, UnitFacts, UnitRecord, in_order

STEPS = (64 * 1024, 1024 * 1024, 16 * 1024 * 1024)
"""How much of a file is read, step by step, to find its project; where that is not enough it has none."""

NOT_TRANSCRIPTS = frozenset({"not_a_transcript", "empty", "incomplete_tail", "no_unit"})
"""Reasons for which a file without a record is nothing to worry about."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PROJECT_HASH = re.compile(rb'"projectHash"\s*:\s*"([0-9a-f]{64})"')
_GIT = ("git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "safe.directory=*")


class Where(NamedTuple):
    """One session's place: project identity, its remote without scheme or user, branch, and its checkout."""

    project: str
    remote: str | None
    branch: str | None
    folder: str


class Look(NamedTuple):
    """What a look at a file found: a place for each session in it, and whether any record could be read at all."""

    places: tuple[Where, ...]
    understood: bool
    others: frozenset[str] = frozenset()
    """Identities of other checkouts that its records were written in."""


@lru_cache(maxsize=4096)
def remote_of(folder: str) -> str | None:
    """The `origin` of a checkout as host/owner/name, or None where there is no such folder, Git or remote."""
    if not os.path.isabs(folder) or not os.path.isdir(folder):
        return None
    # A Git hook that starts us names its own repository in GIT_DIR, which would go before the folder.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        asked = subprocess.run(
            [*_GIT, "-C", folder, "config", "--local", "--get", "remote.origin.url"],
            capture_output=True, timeout=10, check=False, stdin=subprocess.DEVNULL, env=environment,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    return canonical_remote(asked.stdout.decode("utf-8", "replace")) or None


def identity(stated: str | None, cwds: Sequence[str]) -> Where:
    """The project of what recorded a remote, or else of the checkout it was recorded in, by that one's remote today."""
    folder = checkout(cwds)
    remote = canonical_remote(stated) if stated else remote_of(folder) if folder else None
    project, _ = resolve(remote, cwds, None, ())
    return Where(project, remote or None, None, folder)


def sniffed(path: Path) -> str | None:
    """Name of the format of a file's content, or None. Raises OSError."""
    with open(path, "rb") as stream:
        return registry.sniff_member(path.name, stream.read(HEAD_BYTES))


def first_look(path: Path, format_name: str, folders: Iterable[str] = ()) -> Look:
    """Read a file as far as it takes to know its project.

    Args:
        folders: checkouts that a hash of a folder's path may stand for.

    Raises:
        OSError: it cannot be read, or is gone.
    """
    understood = False
    with open(path, "rb") as stream:
        data = stream.read(HEAD_BYTES)
        if _PROJECT_HASH.search(data):
            place = _hashed(data, folders)
            return Look((place or Where(UNKNOWN, None, None, ""),), True)
        for step in STEPS:
            data += stream.read(step - len(data))
            whole = len(data) < step
            look = _look(path.name, data if whole else _to_line_end(data), format_name, folders)
            understood = understood or look.understood
            if whole or any(place.project != UNKNOWN for place in look.places):
                return look
    return Look((Where(UNKNOWN, None, None, ""),), understood)


def whole_look(name: str, data: bytes, format_name: str, folders: Iterable[str] = ()) -> Look:
    """Every session of a file, and every other project whose folders its records were written in."""
    return _look(name, data, format_name, folders, everywhere=True)


def _to_line_end(data: bytes) -> bytes:
    return data[: data.rfind(b"\n") + 1] if first_objects(data[:HEAD_BYTES]) or b"\n{" in data else data


def _look(name: str, data: bytes, format_name: str, folders: Iterable[str], everywhere: bool = False) -> Look:
    format_ = registry.by_name(format_name)
    capture = Capture(name, (Member(name, len(data), lambda: io.BytesIO(data)),), "")
    records: dict[str, list[Record]] = defaultdict(list)
    failed = False
    for item in format_.read(capture):
        if isinstance(item, Refusal):
            failed = failed or item.reason not in NOT_TRANSCRIPTS
        else:
            records[item.unit].append(item)
    places: dict[Where, None] = {}
    others: set[str] = set()
    for native in sorted(records):
        facts = format_.facts(_unit(format_name, native, records[native]))
        place = identity(facts.remote, facts.cwds)._replace(branch=facts.branch)
        if place.project == UNKNOWN:
            place = _hashed(data, folders) or place
        places[place] = None
        if everywhere:
            others |= _others(facts, place)
    return Look(tuple(places), bool(records) or not failed, frozenset(others))


def _unit(format_name: str, native: str, records: Sequence[Record]) -> Unit:
    """A session's records as `facts` wants them; nothing of it is kept."""
    began = min((record.ts for record in records if record.ts), default=_EPOCH)
    rows = [UnitRecord(record.id, record.type, record.ts or began, record.value, "", "") for record in records]
    return Unit(format_name, f"{format_name}:{native}", in_order(rows), None, None)


def _others(facts: UnitFacts, place: Where) -> set[str]:
    """Checkouts with a remote of their own that the session also worked in: another project's text may be in it."""
    own = {place.project, place.remote, remote_of(place.folder)}  # its remote may have another address today
    remotes = {remote_of(checkout([cwd])) for cwd in facts.cwds}
    return {remote for remote in remotes - own if remote}


def _hashed(data: bytes, folders: Iterable[str]) -> Where | None:
    """The project of a file that states its folder only as a sha256, if that is one of the known folders'."""
    match = _PROJECT_HASH.search(data, 0, HEAD_BYTES)
    for folder in folders if match else ():
        if match and hashlib.sha256(folder.encode("utf-8", "surrogatepass")).hexdigest() == match[1].decode():
            return identity(None, [folder])
    return None
