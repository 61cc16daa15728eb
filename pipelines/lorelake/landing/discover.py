"""Everything the configured sources hold, as captures that a format reads, and refusals with a reason.

Content decides what a file is. Every file found is in exactly one capture or refusal; only the insides of
`.git`, the lake, the settings file, the key and lorelake's own notes are passed over. The lake's landing folder is
read last, as a source that needs no entry in the settings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO, NamedTuple

from lorelake.formats import registry
from lorelake.formats.record import HEAD_BYTES, Capture, Member, Refusal, digest, refuse
from lorelake.lake import Lake
from lorelake.landing import archive, bucket, repository
from lorelake.landing.grouping import Group, groups
from lorelake.landing.hash_cache import HashCache
from lorelake.landing.hints import Hint, Hints, is_note
from lorelake.landing.walk import not_read, walk
from lorelake.settings import FILE_NAME, Settings, Source

UNKNOWN = "unknown"
LONGEST_NAME = 3
"""Folders of a path that a source's name may hold; past that it has a number, for a name should not tell a home."""
LANDING = "landing"
"""Name of the implied last source: what `collect`, `pull` and `import` brought into the lake's landing folder."""


class Discovery(NamedTuple):
    """`captures` as (format name, capture); `refusals` as (format name or `unknown`, capture name, refusal)."""

    captures: list[tuple[str, Capture]]
    refusals: list[tuple[str, str, Refusal]]


class _File(NamedTuple):
    """A file of a folder or archive; `path` only where it is one by itself."""

    name: str
    size: int
    sha256: Callable[[], str]
    open: Callable[[], BinaryIO]
    path: Path | None

    def head(self) -> bytes:
        with self.open() as stream:
            return stream.read(HEAD_BYTES)

    def member(self, name: str) -> Member:
        return Member(name, self.size, self.open)


def captures(settings: Settings, cache: HashCache | None = None) -> Discovery:
    """Look through all sources of the settings, in their order, each sorted by name.

    Args:
        cache: hashes of an earlier run; filled for the next.
    """
    landing = Lake(settings.lake_root).landing
    own = frozenset({settings.lake_root, settings.resolve(settings.redaction.key_file), settings.resolve(FILE_NAME)})
    read = cache or HashCache(limits=archive.limits_of(settings.archives))
    found = Discovery([], [])
    sources = _named(settings)
    for source, root, name in sources:
        search = _Search(settings, source, read, own, found)
        if bucket.is_url(source.path):
            for refusal in bucket.mirror(source.path, root, name):
                search.refuse(refusal)
        search.look(root, name)
    elsewhere = {root for _, root, _ in sources}
    if landing.is_dir() and not elsewhere & {landing, settings.lake_root}:
        _Search(settings, Source(LANDING), read, own | elsewhere | {bucket.home(landing)}, found).look(landing, LANDING)
    return found


def landed(settings: Settings, cache: HashCache) -> Discovery:
    """Only what lies in the lake's landing folder, mirrors of buckets included, each named from the lake's root."""
    home = settings.lake_root
    landing = Lake(home).landing
    found = Discovery([], [])
    inside = [(source, root) for source, root, _ in _named(settings) if root.is_relative_to(landing) and root.exists()]
    roots = frozenset(root for _, root in inside)
    for source, root in inside:
        search = _Search(settings, source, cache, roots - {root}, found)
        search.look(root, root.relative_to(home).as_posix())
    if landing.is_dir() and landing not in roots:
        _Search(settings, Source(LANDING), cache, roots, found).look(landing, LANDING)
    return found


def file_of(member: Member) -> Path | None:
    """The file of this machine that a member is, or the archive it stands in; None where it is neither."""
    if not isinstance(member.open, partial):
        return None
    if member.open.func is _open:
        return Path(member.open.args[0])
    holder = getattr(member.open.func, "__self__", None)
    return holder.path if isinstance(holder, archive.Archive) else None


def _named(settings: Settings) -> list[tuple[Source, Path, str]]:
    """Each source with its folder and the name its captures start with. A bucket's folder is its mirror.

    The name is the end of its path, as much of it as no other source shares: the order of the sources names nothing.
    """
    places = []
    for source in settings.sources:
        if bucket.is_url(source.path):
            root = bucket.mirror_folder(Lake(settings.lake_root).landing, source.path)
            places.append((source, root, tuple(bucket.parts(source.path))))
        else:
            root = settings.resolve(source.path)
            places.append((source, root, root.parts[1:] or ("root",)))
    names: dict[int, str] = {}
    taken = {LANDING}
    for place in sorted(range(len(places)), key=lambda place: _place_order(places[place])):
        parts = places[place][2]
        others = [other[2] for number, other in enumerate(places) if number != place]
        endings = [parts[-count:] for count in range(1, min(LONGEST_NAME, len(parts)) + 1)]
        apart = ("/".join(ending) for ending in endings if all(other[-len(ending) :] != ending for other in others))
        numbered = (f"{'/'.join(endings[-1])}-{number}" for number in range(2, len(places) + 3))
        name = next(name for name in (*apart, "/".join(endings[-1]), *numbered) if name not in taken)
        taken.add(name)
        names[place] = name
    return [(source, root, names[place]) for place, (source, root, _) in enumerate(places)]


def _place_order(place: tuple[Source, Path, tuple[str, ...]]) -> tuple[str, str, str]:
    source, root, _ = place
    return str(root), source.project or "", source.person or ""


class _Search:
    """Looks through one source and adds what it finds."""

    def __init__(
        self, settings: Settings, source: Source, cache: HashCache, left_out: frozenset[Path], found: Discovery
    ) -> None:
        self._settings, self._source, self._cache = settings, source, cache
        self._left_out, self._found = left_out, found
        self._hints = Hints({}, settings, Hint(source.project, source.person))

    def look(self, root: Path, name: str) -> None:
        """Add everything below a file or folder."""
        tree = walk(root, name, self._left_out)
        outer = self._hints
        notes = _notes(tree.files)
        self._hints = Hints(notes, self._settings, outer.of(name))
        for refusal in (*tree.refusals, *self._hints.refusals):
            self.refuse(refusal)
        self._files([self._file(path, below) for below, path in tree.files if below not in notes])
        for below, path in tree.repositories:
            self._repository(path, below)
            if (path / ".git").exists():
                self._checkout(path, below)
        self._hints = outer

    def _file(self, path: Path, name: str) -> _File:
        try:
            size = path.stat().st_size
        except OSError:
            size = -1
        return _File(name, size, partial(self._cache.file, path), partial(_open, path), path)

    def _files(self, files: Iterable[_File]) -> None:
        """Exports first; every other file is a capture of its own."""
        by_name = {file.name: file for file in files}
        for group in groups(by_name, lambda name: self._format_of(by_name[name])):
            self._group(group, by_name)
        for name in sorted(by_name):
            self._single(by_name[name])

    def _format_of(self, file: _File) -> str | None:
        try:
            return registry.sniff_member(file.name, file.head())
        except OSError:
            return None

    def _group(self, group: Group, by_name: dict[str, _File]) -> None:
        members = [by_name.pop(name) for name in group.names if name in by_name]
        skip = len(group.root) + 1
        name = group.name or group.root
        try:
            sha256 = digest(*(part for file in members for part in (file.name[skip:], file.sha256())))
        except OSError as error:
            self.refuse(not_read(name, "unreadable", error.strerror or str(error)), group.format)
            return
        self._keep(group.format, name, tuple(file.member(file.name[skip:]) for file in members), sha256)

    def _single(self, file: _File) -> None:
        try:
            head = file.head()
            sha256 = file.sha256()
        except OSError as error:
            self.refuse(not_read(file.name, "unreadable", error.strerror or str(error)))
            return
        if not head:
            self.refuse(refuse(file.name, b"", "empty", "the file is empty"))
        elif archive.kind(head) and file.path:
            self._archive(file.path, file.name, head, sha256)
        elif repository.is_stream(head) and file.path:
            self._repository(file.path, file.name)
        elif format_name := registry.sniff_member(file.name, head):
            self._keep(format_name, file.name, (file.member(file.name),), sha256)
        else:
            within = "an archive within an archive" if archive.kind(head) else "no format recognises the content"
            self.refuse(_refused(file.name, head, sha256, "unknown_format", within))

    def _archive(self, path: Path, name: str, head: bytes, sha256: str) -> None:
        try:
            opened = self._cache.archive(path)
        except archive.RefusedArchiveError as error:
            self.refuse(_refused(name, head, sha256, error.reason, error.detail))
            return
        if not opened.entries:
            self.refuse(_refused(name, head, sha256, "empty", "an archive without files"))
        self._files(
            _File(
                f"{name}/{entry.name}", entry.size, partial(str, entry.sha256), partial(opened.open, entry.name), None
            )
            for entry in opened.entries
        )

    def _repository(self, path: Path, name: str) -> None:
        hint = self._hints.of(name)
        found = repository.read(path, name, self._settings.ledger.ref, hint.project, hint.person)
        self._found.captures.extend(found.captures)
        if found.refusal:
            self.refuse(found.refusal, "documents")

    def _checkout(self, path: Path, name: str) -> None:
        """Transcripts and exports that lie in a checkout. Documents and decisions count as the ref has them.

        The rest is the team's code; it is told of by one refusal, not by thousands.
        """
        tree = walk(path, name, self._left_out, checkout=True)
        aside = _Search(self._settings, self._source, self._cache, self._left_out, Discovery([], []))
        aside._hints = self._hints
        aside._files([self._file(found, below) for below, found in tree.files])
        text = ("documents", "decisions")
        self._found.captures.extend(pair for pair in aside._found.captures if pair[0] not in text)
        rest = [refusal for _, _, refusal in aside._found.refusals] + tree.refusals
        if rest:
            why = f"{len(rest)} files of the checkout are of no known format, the first being {rest[0].member}"
            refusal = not_read(name, "unknown_format", why)
            refusal.sha256 = digest(*(part for item in rest for part in (item.member, item.sha256)))
            self.refuse(refusal)
        for below, nested in tree.repositories:
            self.look(nested, below)

    def _keep(self, format_name: str, name: str, members: tuple[Member, ...], sha256: str) -> None:
        hint = self._hints.of(name)
        capture = Capture(
            name,
            members,
            sha256,
            project=hint.project,
            person=hint.person,
            include=self._settings.slack.include,
            ref=self._settings.ledger.ref,
        )
        self._found.captures.append((format_name, capture))

    def refuse(self, refusal: Refusal, source: str = UNKNOWN) -> None:
        """Add something that is not read."""
        self._found.refusals.append((source, refusal.member, refusal))


def _notes(files: Iterable[tuple[str, Path]]) -> dict[str, bytes]:
    """The notes of lorelake's own among some files; one that cannot be opened is refused like any other file."""
    found = {}
    for name, path in files:
        if name.endswith(".json"):
            with suppress(OSError), open(path, "rb") as stream:
                head = stream.read(HEAD_BYTES)
                if is_note(head):
                    found[name] = head + stream.read()
    return found


def _open(path: Path) -> BinaryIO:
    return open(path, "rb")


def _refused(name: str, head: bytes, sha256: str, reason: str, detail: str) -> Refusal:
    """A Refusal without the first characters: masking knows texts, and this may be a key or a picture."""
    refusal = refuse(name, head, reason, detail)
    refusal.sha256, refusal.head = sha256, ""
    return refusal
