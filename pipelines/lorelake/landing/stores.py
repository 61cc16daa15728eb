"""Another tool's store, looked at before it is taken, and its copy in the lake's landing folder.

What is in a store is compared by content with what was taken before, so that a second import, or an import of a
copy, takes only what is new. Nothing that was taken is ever removed or shortened here: a file that is gone, or a
collection that lost its oldest rows, retires nothing.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NamedTuple

import msgspec

from lorelake.errors import SourceError
from lorelake.formats import documents, gitmem, registry, teamai
from lorelake.formats.record import HEAD_BYTES, Capture, Member, Record, Refusal, canonical, digest
from lorelake.lake import Lake, write_bytes
from lorelake.landing import repository
from lorelake.landing.git_objects import GitError
from lorelake.landing.walk import not_read, walk

KINDS = ("teamai", "gitmem")
NOTE = "import.json"
HISTORY = "store.git"
_LAYOUT = re.compile(r"(?:\.teamai/)?(?:learnings|skills|rules|agents|claudemd|docs|manifest|votes)/")
"""Where teamai keeps what a team shares; logs, caches and local state lie elsewhere."""

_KEPT_IMPORTS = 20


class Entry(NamedTuple):
    """One record of a store: the source and capture it is of, and the key of its content."""

    source: str
    capture: Capture
    record: Record
    key: str


class Store(NamedTuple):
    """What a store holds: its records, what is refused, and how many files in it are none of its material."""

    kind: str
    place: Path
    entries: tuple[Entry, ...]
    refusals: tuple[Refusal, ...]
    left: tuple[str, ...]

    @property
    def keys(self) -> frozenset[str]:
        """The keys of all records."""
        return frozenset(entry.key for entry in self.entries)


class Import(NamedTuple):
    """A store, the folder it goes to, the keys of what was not taken before, and what is assumed for all of it."""

    store: Store
    folder: Path
    new: frozenset[str]
    project: str | None
    person: str | None
    assumes_else: bool
    """Whether it was taken before under another assumption."""


def look(kind: str, place: Path, name: str, ref: str, project: str | None = None, person: str | None = None) -> Store:
    """Read a store where it lies; nothing is written.

    Args:
        kind: of `KINDS`.
        place: folder, repository, `git fast-export` stream or file.
        name: what its captures are called.
        ref: the protected ref of a repository.
        project: assumed where a record states none.
        person: the same.

    Raises:
        SourceError: it is no such store, with what to name instead.
    """
    captures: list[tuple[str, Capture]]
    left: list[str] = []
    if kind == "teamai" and (found := _history(place, name, ref, project, person)) is not None:
        captures = [pair for pair in found.captures if pair[0] == "documents"]
        refusals = [found.refusal] if found.refusal else []
    else:
        tree = walk(place, f"{name}/{place.name}" if place.is_file() else name)
        if kind == "teamai" and tree.repositories:
            raise SourceError(
                "a folder with Git repositories in it, not a store",
                where=str(place),
                remedy=f"name the clone itself: {tree.repositories[0][1]}",
            )
        captures, refusals = [], list(tree.refusals)
        for below, path in tree.files:
            try:
                source = _source(kind, below.removeprefix(f"{name}/"), path)
                size = path.stat().st_size
            except OSError as error:
                refusals.append(not_read(below, "unreadable", error.strerror or str(error)))
                continue
            if source is None:
                left.append(below)
                continue
            member = Member(below, size, partial(_open, path))
            captures.append((source, Capture(below, (member,), "", project, person, ref=ref)))
    entries = []
    for source, capture in captures:
        for item in registry.by_name(source).read(capture):
            if isinstance(item, Record):
                entries.append(Entry(source, capture, item, _key(source, item, name)))
            else:
                refusals.append(item)
    return Store(kind, place, tuple(entries), tuple(refusals), tuple(left))


def _history(place: Path, name: str, ref: str, project: str | None, person: str | None) -> repository.Found | None:
    """What a repository or a stream holds; None where the place is neither."""
    if not place.is_dir():
        with open(place, "rb") as stream:
            if not repository.is_stream(stream.read(HEAD_BYTES)):
                return None
    elif not repository.is_repository(place):
        return None
    return repository.read(place, f"{name}/{HISTORY}", ref, project, person)


def _source(kind: str, relative: str, path: Path) -> str | None:
    """The source a file is read as, or None where it is none of the store's material."""
    with open(path, "rb") as stream:
        head = stream.read(HEAD_BYTES)
    if kind == "gitmem":
        known = path.name in gitmem.FILES or gitmem.sniff(path.name, head)
        return "gitmem" if known and path.name not in gitmem.OWN_FILES else None
    if not (_LAYOUT.match(relative) or teamai.sniff(relative, head)) or path.name in gitmem.OWN_FILES:
        return None
    return "documents" if documents.sniff(relative, head) else None


def _open(path: Path) -> BinaryIO:
    return open(path, "rb")


def _key(source: str, record: Record, name: str) -> str:
    """What makes two records the same wherever their store lies: commit and path, else the content."""
    if source == "documents" and "landed" in record.value:
        return digest(record.unit, record.id, record.value.get("branch", ""))
    value = {field: part for field, part in record.value.items() if field != "path"}
    return digest(source, record.unit.removeprefix(f"{name}/"), canonical(value))


def landed(lake: Lake, ref: str) -> Iterator[tuple[Path, Store]]:
    """Every store that was taken before, with its folder, by name."""
    home = lake.landing / "documents"
    for folder in sorted(home.iterdir()) if home.is_dir() else ():
        note = _note(folder)
        if note is not None:
            history = folder / HISTORY
            place = history if history.exists() else folder
            yield folder, look(note.store, place, _name(folder), ref)


def plan(lake: Lake, kind: str, place: Path, ref: str, project: str | None, person: str | None) -> Import:
    """What importing a store would take, and where to. An assumption made before holds until another is given.

    Raises:
        SourceError: as `look` does.
    """
    store = look(kind, place, "store", ref, project, person)
    before = [(folder, taken.keys) for folder, taken in landed(lake, ref) if taken.kind == kind]
    new = store.keys.difference(*(keys for _, keys in before))
    shared = [(len(keys & store.keys), folder) for folder, keys in before if keys & store.keys]
    if not shared:
        return Import(store, _folder(lake, store), new, project, person, False)
    folder = max(shared, key=lambda pair: pair[0])[1]
    note = _note(folder)
    held = (note.project, note.person) if note else (None, None)
    assumed = (project or held[0], person or held[1])
    return Import(store, folder, new, *assumed, assumed != held)


def _folder(lake: Lake, store: Store) -> Path:
    """A folder of its own, called after where the store lies and what is in it."""
    parts = [part for part in store.place.parts[-2:] if part not in ("/", ".gitmem", ".teamai")]
    words = re.sub(r"[^a-z0-9]+", "-", (parts or [store.kind])[-1].lower()).strip("-") or store.kind
    return lake.landing / "documents" / f"{words}-{min(store.keys, default='nothing')[:8]}"


def _name(folder: Path) -> str:
    return f"landing/documents/{folder.name}"


def take(lake: Lake, plan: Import, ref: str, this: dict[str, object]) -> None:
    """Copy what is new into the landing folder, then the note that says who did it. The caller holds the lake.

    Args:
        this: what the note shall remember of this import.

    Raises:
        SourceError: the store cannot be copied.
    """
    store, folder = plan.store, plan.folder
    for made in (lake.landing, folder.parent, folder):
        made.mkdir(mode=0o700, parents=True, exist_ok=True)
    before = _note(folder)
    if plan.new and any("landed" in entry.record.value for entry in store.entries):
        _take_history(lake, store, folder, ref)
    else:
        for capture in _with_news(plan):
            _take_file(store.kind, capture, folder)
    imports = [*(before.imports if before else ()), this][-_KEPT_IMPORTS:]
    told = {
        "lorelake": "import",
        "store": store.kind,
        "project": plan.project,
        "person": plan.person,
        "imports": imports,
    }
    told = {name: value for name, value in told.items() if value}
    write_bytes(folder / NOTE, msgspec.json.format(msgspec.json.encode(told)) + b"\n", 0o600)


def _with_news(plan: Import) -> list[Capture]:
    """The captures in which something is new."""
    found = {entry.capture.name: entry.capture for entry in plan.store.entries if entry.key in plan.new}
    return [found[name] for name in sorted(found)]


def _take_file(kind: str, capture: Capture, folder: Path) -> None:
    """A document keeps its path. A collection is named by its content: a later one may lack what an earlier one had."""
    (member,) = capture.members
    data = member.read()
    relative = PurePosixPath(member.name.removeprefix("store/"))
    if kind == "gitmem":
        relative = PurePosixPath(f"{relative.stem}-{hashlib.sha256(data).hexdigest()[:8]}{relative.suffix}")
    target = folder / relative
    for parent in reversed([above for above in target.parents if above.is_relative_to(folder)]):
        parent.mkdir(mode=0o700, exist_ok=True)
    write_bytes(target, data, 0o600)


def _take_history(lake: Lake, store: Store, folder: Path, ref: str) -> None:
    target = folder / HISTORY
    made = target if target.exists() else lake.scratch("import") / HISTORY
    try:
        repository.copy(store.place, made, ref)
    except GitError as error:
        raise SourceError(f"cannot be copied: {error}", where=str(store.place), remedy="run `git fsck` there") from None
    for parent, folders, files in os.walk(made):
        for name in folders:
            os.chmod(Path(parent, name), 0o700)
        for name in files:
            os.chmod(Path(parent, name), 0o600)
    if made != target:
        made.rename(target)


class _Note(msgspec.Struct):
    """What is read of a note; the rest is for people."""

    lorelake: str
    store: str
    project: str | None = None
    person: str | None = None
    imports: Sequence[object] = ()


def _note(folder: Path) -> _Note | None:
    try:
        note = msgspec.json.decode((folder / NOTE).read_bytes(), type=_Note)
    except (OSError, msgspec.MsgspecError):
        return None
    return note if note.lorelake == "import" and note.store in KINDS else None
