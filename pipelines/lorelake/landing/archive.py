"""Zip and tar.gz archives, read within limits and never unpacked under their own names.

What an archive says about its sizes is its sender's claim, so every member is read through once and the real
bytes are counted. An archive that breaks a rule is refused whole: half an export would look like all of it.

In a zip only stored and deflated members are read: the others' decoders give out all they have at once, or take the
memory that the sender asks for, so nothing could be counted in time.
"""

from __future__ import annotations

import copy
import gzip
import hashlib
import io
import posixpath
import re
import stat
import struct
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, NoReturn, cast

import msgspec

from lorelake.settings import Archives

CHUNK = 1024 * 1024
_END_AT_MOST = 1 << 16 | 1 << 10
"""A zip ends in a fixed part of at most 98 bytes and a comment below 64 KiB."""
_MIB, _GIB = 1024**2, 1024**3


class Limits(msgspec.Struct, frozen=True):
    """What an archive may hold; sizes in bytes of what comes out.

    `ratio` is to the packed size, of a member and of the whole; it counts above `ratio_from`. `directory` is the list
    of members at the end of a zip, `header` what a tar says about one member: both are held in memory as they are.
    """

    members: int = 100_000
    total: int = 4 * _GIB
    member: int = 512 * _MIB
    ratio: int = 200
    ratio_from: int = _MIB
    directory: int = 32 * _MIB
    header: int = _MIB

    def most(self, packed: int) -> int:
        """Bytes that an archive of this size may unpack to."""
        return min(self.total, max(self.ratio_from, self.ratio * packed))


LIMITS = Limits()


def limits_of(archives: Archives) -> Limits:
    """The limits that the settings state; the others are as they are."""
    return Limits(archives.members, archives.total_mib * _MIB, archives.member_mib * _MIB, archives.ratio)


_DAMAGE = (
    zipfile.BadZipFile, zlib.error, tarfile.TarError, EOFError, OSError, RuntimeError, KeyError, IndexError, ValueError,
    struct.error,
)  # fmt: skip
"""What zipfile and tarfile raise over bytes that are not what they say; most of it is not documented."""


class RefusedArchiveError(Exception):
    """Why an archive is not read: a code of `formats.record.REASONS` and words that name member and limit."""

    def __init__(self, reason: str, detail: str) -> None:
        self.reason, self.detail = reason, detail
        super().__init__(detail)


class Entry(msgspec.Struct, frozen=True):
    """One file in an archive, as it really is."""

    name: str
    size: int
    sha256: str


class Archive:
    """A checked archive.

    Args:
        path: the file.
        entries: what `check` found in it.
        limits: those it was checked with.
    """

    def __init__(self, path: Path, entries: tuple[Entry, ...], limits: Limits = LIMITS) -> None:
        self.path, self.entries, self._limits = path, entries, limits
        self._sizes = {entry.name: entry.size for entry in entries}

    def open(self, name: str) -> BinaryIO:
        """A fresh stream of one member.

        Raises:
            KeyError: no such member.
            OSError: the file changed since it was checked.
        """
        size = self._sizes[name]
        try:
            if kind(self._head) == "zip":
                return _open_zip(*self._zip, name, size)
            folder, numbers = self._unpacked
            return open(Path(folder.name) / str(numbers[name]), "rb")
        except (RefusedArchiveError, *_DAMAGE) as error:
            raise OSError(f"changed while it was read: {error}") from None

    @cached_property
    def _head(self) -> bytes:
        with open(self.path, "rb") as stream:
            return stream.read(4)

    @cached_property
    def _zip(self) -> tuple[zipfile.ZipFile, dict[str, zipfile.ZipInfo]]:
        archive = zipfile.ZipFile(self.path)
        return archive, {posixpath.normpath(info.filename): info for info in archive.infolist() if not info.is_dir()}

    @cached_property
    def _unpacked(self) -> tuple[tempfile.TemporaryDirectory[str], dict[str, int]]:
        """A tar has no index, so it is unpacked once, into files named by number. The folder goes with the object."""
        folder = tempfile.TemporaryDirectory(prefix="lorelake-")
        numbers: dict[str, int] = {}
        for number, (name, chunks) in enumerate(_tar_members(self.path, self._limits)):
            with open(Path(folder.name) / str(number), "wb") as target:
                target.writelines(chunks)
            numbers[name] = number
        return folder, numbers


def kind(head: bytes) -> str | None:
    """`zip`, `gzip` or None, by the first bytes."""
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip"
    return "gzip" if head.startswith(b"\x1f\x8b\x08") else None


def check(path: Path, limits: Limits = LIMITS) -> Archive:
    """Read an archive through and list what it holds.

    Raises:
        RefusedArchiveError: unsafe_name, too_large, or unreadable where it is torn, damaged or encrypted.
        OSError: the file cannot be opened.
    """
    with open(path, "rb") as stream:
        head = stream.read(4)
    members = _zip_members if kind(head) == "zip" else _tar_members
    most = limits.most(path.stat().st_size)
    entries = {}
    total = 0
    try:
        for name, chunks in members(path, limits):
            if name in entries:
                raise RefusedArchiveError("unsafe_name", f"two members are named {name!r}")
            size, sha256 = 0, hashlib.sha256()
            for chunk in chunks:
                size += len(chunk)
                total += len(chunk)
                sha256.update(chunk)
                if total > most:
                    _too_large(f"unpacks to more than {most} bytes, {_why(most, limits)}")
            entries[name] = Entry(name, size, sha256.hexdigest())
    except _DAMAGE as error:
        raise RefusedArchiveError("unreadable", f"torn, damaged or encrypted: {error}") from None
    return Archive(path, tuple(entries[name] for name in sorted(entries)), limits)


def _safe(name: str) -> str:
    """The member's name made plain. Raises RefusedArchiveError where it could leave its folder."""
    name = name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    parts = re.split(r"[/\\]", name)
    if name.startswith(("/", "\\")) or re.match(r"[A-Za-z]:", name) or ".." in parts or "\x00" in name:
        raise RefusedArchiveError("unsafe_name", f"member {name!r} would be written outside its folder")
    plain = posixpath.normpath(name)
    if plain == ".":
        raise RefusedArchiveError("unsafe_name", f"member {name!r} has no name")
    return plain


def _why(most: int, limits: Limits) -> str:
    if most == limits.total:
        return "all members together (limit `total`)"
    return f"which is {limits.ratio} times its size (limit `ratio`)"


def _too_large(detail: str) -> NoReturn:
    raise RefusedArchiveError("too_large", detail)


def _counted(name: str, read: Callable[[int], bytes], packed: int | None, limits: Limits) -> Iterator[bytes]:
    """The member's real bytes, stopped at the first limit they pass."""
    size = 0
    while chunk := read(CHUNK):
        size += len(chunk)
        if size > limits.member:
            _too_large(f"member {name!r} is more than {limits.member} bytes (limit `member`)")
        if packed is not None and size > limits.ratio_from and size > limits.ratio * max(packed, 1):
            _too_large(f"member {name!r} unpacks to more than {limits.ratio} times its size (limit `ratio`)")
        yield chunk


def _directory_bytes(path: Path) -> int:
    """How long a zip says its list of members is; zipfile reads that much at once, and an object for each member.

    Of several endings, which only a forger writes, the greatest counts.
    """
    with open(path, "rb") as stream:
        stream.seek(max(0, path.stat().st_size - _END_AT_MOST))
        tail = stream.read()
    sizes = [0]
    for sign, format_, skip in ((b"PK\x05\x06", "<I", 12), (b"PK\x06\x06", "<Q", 40)):
        for found in re.finditer(re.escape(sign), tail):
            place = found.start() + skip
            if place + struct.calcsize(format_) <= len(tail):
                (size,) = struct.unpack_from(format_, tail, place)
                sizes.append(size if size != 0xFFFFFFFF else 0)  # the long form says it
    return max(sizes)


def _zip_members(path: Path, limits: Limits) -> Iterator[tuple[str, Iterator[bytes]]]:
    listed = _directory_bytes(path)
    if listed > limits.directory:
        _too_large(f"its list of members is {listed} bytes; at most {limits.directory} are read (limit `directory`)")
    with zipfile.ZipFile(path) as archive:
        found = archive.infolist()
        if len(found) > limits.members:
            _too_large(f"{len(found)} members; at most {limits.members} are read (limit `members`)")
        for info in found:
            mode = info.external_attr >> 16
            if info.filename.endswith("/"):
                _safe(info.filename)
                continue
            if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
                raise RefusedArchiveError("unsafe_name", f"member {info.filename!r} is a link or device, not a file")
            name = _safe(info.filename)
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                why = f"member {name!r} is neither stored nor deflated; pack it again as plain zip"
                raise RefusedArchiveError("unreadable", why)
            # zipfile stops at the declared size; declaring the limit lets it go on to the member's real end.
            real = copy.copy(info)
            real.file_size = limits.member + 1
            with archive.open(real) as stream:
                yield name, _counted(name, stream.read, info.compress_size, limits)


def _open_zip(archive: zipfile.ZipFile, index: dict[str, zipfile.ZipInfo], name: str, size: int) -> BinaryIO:
    real = copy.copy(index[name])
    real.file_size = size
    return cast(BinaryIO, archive.open(real))


class _Bounded(io.RawIOBase):
    """A gzip stream that ends in an error at a limit, so that a header of gigabytes cannot be asked for."""

    def __init__(self, stream: gzip.GzipFile, most: int, limits: Limits) -> None:
        self._stream, self._left, self._most, self._limits = stream, most, most, limits
        self._header: int | None = None

    def expect_header(self, expected: bool) -> None:
        """Whether what is read from here on describes a member, or is one."""
        self._header = self._limits.header if expected else None

    def read(self, size: int = -1) -> bytes:
        chunk = self._stream.read(min(size, self._left + 1) if size >= 0 else self._left + 1)
        self._left -= len(chunk)
        if self._left < 0:
            _too_large(f"unpacks to more than {self._most} bytes, {_why(self._most, self._limits)}")
        if self._header is not None:
            self._header -= len(chunk)
            if self._header < 0:
                _too_large(f"a member is described by more than {self._limits.header} bytes (limit `header`)")
        return chunk


def _tar_members(path: Path, limits: Limits) -> Iterator[tuple[str, Iterator[bytes]]]:
    with gzip.open(path) as unpacked:
        bounded = _Bounded(unpacked, limits.most(path.stat().st_size), limits)
        bounded.expect_header(True)
        with tarfile.open(fileobj=cast(BinaryIO, bounded), mode="r|") as archive:
            for count, info in enumerate(archive, 1):
                if count > limits.members:
                    _too_large(f"more than {limits.members} members (limit `members`)")
                if info.isdir():
                    continue
                name = _safe(info.name)
                stream = archive.extractfile(info) if info.isreg() else None
                if stream is None:
                    raise RefusedArchiveError("unsafe_name", f"member {info.name!r} is a link or device, not a file")
                bounded.expect_header(False)
                yield name, _counted(name, stream.read, None, limits)
                bounded.expect_header(True)
