"""Zip and tar.gz archives, read within limits and never unpacked under their own names.

What an archive says about its sizes is its sender's claim, so every member is read through once and the real
bytes are counted. An archive that breaks a rule is refused whole: half an export would look like all of it.
"""

from __future__ import annotations

import copy
import gzip
import hashlib
import io
import posixpath
import re
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, NoReturn, cast

import msgspec

CHUNK = 1024 * 1024
_MIB, _GIB = 1024**2, 1024**3


class Limits(msgspec.Struct, frozen=True):
    """What an archive may hold; sizes in bytes of what comes out. `ratio` counts for members above `ratio_from`."""

    members: int = 100_000
    total: int = 4 * _GIB
    member: int = 512 * _MIB
    ratio: int = 200
    ratio_from: int = _MIB


LIMITS = Limits()


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
    """

    def __init__(self, path: Path, entries: tuple[Entry, ...]) -> None:
        self.path, self.entries = path, entries
        self._sizes = {entry.name: entry.size for entry in entries}

    def open(self, name: str) -> BinaryIO:
        """A fresh stream of one member.

        Raises:
            KeyError: no such member.
            OSError: the file changed since it was checked.
        """
        size = self._sizes[name]
        if kind(self._head) != "zip":
            folder, numbers = self._unpacked
            return open(Path(folder.name) / str(numbers[name]), "rb")
        try:
            return _open_zip(*self._zip, name, size)
        except (zipfile.BadZipFile, KeyError, NotImplementedError) as error:
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
        for number, (name, chunks) in enumerate(_tar_members(self.path, LIMITS)):
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
                if total > limits.total:
                    _too_large(f"all members together are more than {limits.total} bytes (limit `total`)")
            entries[name] = Entry(name, size, sha256.hexdigest())
    except (zipfile.BadZipFile, zlib.error, tarfile.TarError, gzip.BadGzipFile, EOFError) as error:
        raise RefusedArchiveError("unreadable", f"torn or damaged: {error}") from None
    except (RuntimeError, NotImplementedError) as error:
        raise RefusedArchiveError("unreadable", str(error)) from None
    return Archive(path, tuple(entries[name] for name in sorted(entries)))


def _safe(name: str) -> str:
    """The member's name made plain. Raises RefusedArchiveError where it could leave its folder."""
    parts = re.split(r"[/\\]", name)
    if name.startswith(("/", "\\")) or re.match(r"[A-Za-z]:", name) or ".." in parts or "\x00" in name:
        raise RefusedArchiveError("unsafe_name", f"member {name!r} would be written outside its folder")
    plain = posixpath.normpath(name)
    if plain == ".":
        raise RefusedArchiveError("unsafe_name", f"member {name!r} has no name")
    return plain


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


def _zip_members(path: Path, limits: Limits) -> Iterator[tuple[str, Iterator[bytes]]]:
    with zipfile.ZipFile(path) as archive:
        found = archive.infolist()
        if len(found) > limits.members:
            _too_large(f"{len(found)} members; at most {limits.members} are read (limit `members`)")
        for info in found:
            mode = info.external_attr >> 16
            if info.is_dir():
                _safe(info.filename)
                continue
            if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
                raise RefusedArchiveError("unsafe_name", f"member {info.filename!r} is a link or device, not a file")
            name = _safe(info.filename)
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
    """A gzip stream that ends in an error at the limit, so that a header of gigabytes cannot be asked for."""

    def __init__(self, stream: gzip.GzipFile, most: int, limits: Limits) -> None:
        self._stream, self._left, self._limits = stream, most, limits

    def read(self, size: int = -1) -> bytes:
        chunk = self._stream.read(min(size, self._left + 1) if size >= 0 else self._left + 1)
        self._left -= len(chunk)
        if self._left < 0:
            _too_large(f"unpacks to more than {self._limits.ratio} times its size, or {self._limits.total} bytes")
        return chunk


def _tar_members(path: Path, limits: Limits) -> Iterator[tuple[str, Iterator[bytes]]]:
    most = min(limits.total, max(limits.ratio_from, limits.ratio * path.stat().st_size))
    with gzip.open(path) as unpacked:
        bounded = cast(BinaryIO, _Bounded(unpacked, most, limits))
        with tarfile.open(fileobj=bounded, mode="r|") as archive:
            for count, info in enumerate(archive, 1):
                if count > limits.members:
                    _too_large(f"more than {limits.members} members (limit `members`)")
                if info.isdir():
                    continue
                name = _safe(info.name)
                stream = archive.extractfile(info) if info.isreg() else None
                if stream is None:
                    raise RefusedArchiveError("unsafe_name", f"member {info.name!r} is a link or device, not a file")
                yield name, _counted(name, stream.read, None, limits)
