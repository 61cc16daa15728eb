"""Where collected files go, a folder or a bucket, and what lies there: transcripts, their notes, and withdrawals.

    transcripts/<machine>/<format>/<id>/<name>                 redacted
    transcripts/<machine>/<format>/<id>/<name>.collect.json    who, machine, agent, remote, branch, project
    transcripts/<machine>/withdrawn.json                       what was taken back: names that tell nothing, no text
    transcripts/erased.json                                    what the team erased, as keyed hashes

The note is written before the file it stands for and deleted after it, so that no file lies there unexplained.
"""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, Protocol

import msgspec

from lorelake.errors import LorelakeError
from lorelake.lake import HALF_WRITTEN, write_bytes
from lorelake.landing import bucket
from lorelake.landing.hints import SUFFIX, Note, read_note

TRANSCRIPTS = "transcripts"
WITHDRAWN = "withdrawn.json"

_PLAIN_STEM = re.compile(r"(?:agent-|session-|rollout-)?[0-9A-Fa-fT:_-]{4,80}")


class Place(Protocol):
    """What delivering needs of a folder or bucket. Names are `/`-separated; all may raise LorelakeError or OSError."""

    def names(self, below: str) -> list[str]:
        """Names of all files below a folder, sorted."""

    def read(self, name: str) -> bytes | None:
        """A file's content, or None where there is none."""

    def write(self, name: str, data: bytes) -> None:
        """Write a file, whole or not at all."""

    def delete(self, name: str) -> bool:
        """Delete a file; False where there is none."""

    def clear(self, below: str) -> None:
        """Delete what a killed run left half written below a folder. Its writer is the only one there."""


class Folder:
    """A folder of this machine. What is made in it is as private as the folder itself; a new one is its owner's alone.

    Args:
        root: made by the first write.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def names(self, below: str) -> list[str]:
        """Names of all files below a folder, sorted."""
        found = (self._root / below).rglob("*")
        files = [path for path in found if path.is_file() and not HALF_WRITTEN.fullmatch(path.name)]
        return sorted(path.relative_to(self._root).as_posix() for path in files)

    def read(self, name: str) -> bytes | None:
        """A file's content, or None where there is none."""
        try:
            return (self._root / name).read_bytes()
        except FileNotFoundError:
            return None

    def write(self, name: str, data: bytes) -> None:
        """Write a file, whole or not at all. Raises OSError."""
        self._root.mkdir(parents=True, exist_ok=True, mode=0o700)
        mode = stat.S_IMODE(self._root.stat().st_mode)
        folder = self._root
        for step in PurePosixPath(name).parts[:-1]:
            folder = folder / step
            if not folder.is_dir():
                folder.mkdir()
                folder.chmod(mode)
        write_bytes(self._root / name, data, mode=mode & 0o666)
        self.clear(str(PurePosixPath(name).parent))

    def delete(self, name: str) -> bool:
        """Delete a file, and folders that are left empty; False where there is no such file."""
        path = self._root / name
        try:
            path.unlink()
        except FileNotFoundError:
            return False
        self._prune(path)
        return True

    def clear(self, below: str) -> None:
        """Delete what a killed run left half written below a folder, and folders that are left empty."""
        for path in sorted((self._root / below).rglob(".*.tmp")):
            if HALF_WRITTEN.fullmatch(path.name) and path.is_file():
                path.unlink(missing_ok=True)
                self._prune(path)

    def _prune(self, path: Path) -> None:
        for parent in path.parents:
            if parent == self._root or any(parent.iterdir()):
                break
            parent.rmdir()


class _Bucket:
    """A bucket, listed below one folder."""

    def __init__(self, url: str) -> None:
        self._bucket = bucket.Bucket(url)
        self.read, self.write, self.delete = self._bucket.read, self._bucket.write, self._bucket.delete

    def clear(self, below: str) -> None:
        """Nothing: a store shows an object whole or not at all."""

    def names(self, below: str) -> list[str]:
        return [item.name for item in self._bucket.objects(below)]


def open_place(where: str) -> Place:
    """A folder by its path or a bucket by its URL. Raises SettingsError, UsageError or LorelakeError."""
    return _Bucket(where) if bucket.is_url(where) else Folder(Path(where).expanduser())


def shown(where: str) -> str:
    """A place as it may be printed."""
    return bucket.shown(where) if bucket.is_url(where) else where


def file_name(machine: str, format_name: str, source: str, path: PurePosixPath, generation: int) -> str:
    """Where a transcript is delivered. Its own name is kept where that is an id; other names may tell something.

    Args:
        source: 16 hex characters that stand for the file on its machine.
        generation: counts from 0; a transcript that was cut or rewritten does not overwrite what stood in it before.
    """
    stem = path.stem if _PLAIN_STEM.fullmatch(path.stem) else "transcript"
    suffix = path.suffix if path.suffix in (".json", ".md") else ".jsonl"
    number = f".{generation}" if generation else ""
    return f"{TRANSCRIPTS}/{machine}/{format_name}/{source}/{stem}{number}{suffix}"


def deliver(place: Place, name: str, data: bytes, note: dict[str, Any]) -> None:
    """Write a file and, before it, its note."""
    place.write(name + SUFFIX, note_bytes("collect", note))
    place.write(name, data)


def take_back(place: Place, name: str) -> None:
    """Delete a delivered file and, after it, its note."""
    place.delete(name)
    place.delete(name + SUFFIX)


def note_bytes(kind: str, content: dict[str, Any]) -> bytes:
    """A note as bytes: its kind first, the rest sorted, what is None left out."""
    rest = {key: content[key] for key in sorted(content) if content[key] is not None}
    return json.dumps({"lorelake": kind, **rest}, ensure_ascii=False, indent=1).encode() + b"\n"


def delivered(place: Place, machine: str) -> Iterator[tuple[str, Note]]:
    """Every delivered file of a machine with its note, by the notes that lie there."""
    for name in place.names(f"{TRANSCRIPTS}/{machine}"):
        if name.endswith(SUFFIX) and (data := place.read(name)) and (note := read_note(data)):
            yield name.removesuffix(SUFFIX), note


class Withdrawal(msgspec.Struct):
    """One withdrawal: who took back what and when (UTC). `ids` are folders below the machine's, named by HMACs."""

    actor: str
    time: str
    project: str
    ids: list[str]


class Erased(NamedTuple):
    """How many files were deleted, notes not counted, and the ids of all that was ever withdrawn of the project."""

    files: int
    ids: frozenset[str]


class _Withdrawn(msgspec.Struct):
    lorelake: str
    withdrawals: list[Withdrawal]


def erase(
    place: Place, machine: str, project: str, actor: str, time: str, told: Callable[[int, int], None] | None = None
) -> Erased:
    """Delete every file that was delivered for a project, after writing down that it is withdrawn.

    The record comes first: whoever mirrors this place deletes by it, and a kill in between leaves it to be finished.

    Raises:
        LorelakeError: the record of earlier withdrawals cannot be read.
    """
    files = [name for name, note in delivered(place, machine) if project in (note.project, *note.projects)]
    own = f"{TRANSCRIPTS}/{machine}/"
    place.clear(own)
    record = own + WITHDRAWN
    withdrawals = _withdrawals(place.read(record), record)
    if files:
        ids = sorted({name.removeprefix(own).rpartition("/")[0] for name in files})
        withdrawals = [*withdrawals, Withdrawal(actor, time, project, ids)]
        place.write(record, note_bytes("withdrawn", {"withdrawals": msgspec.to_builtins(withdrawals)}))
    for number, name in enumerate(files, 1):
        take_back(place, name)
        if told:
            told(number, len(files))
    return Erased(len(files), frozenset(id_ for one in withdrawals if one.project == project for id_ in one.ids))


def _withdrawals(data: bytes | None, name: str) -> list[Withdrawal]:
    if data is None:
        return []
    try:
        return msgspec.json.decode(data, type=_Withdrawn).withdrawals
    except (msgspec.DecodeError, msgspec.ValidationError):
        raise LorelakeError(
            "the record of earlier withdrawals is damaged", where=name, remedy="move it away, then withdraw again"
        ) from None
