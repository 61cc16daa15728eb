"""Content hashes that need not be computed again while a file's size and time stay the same."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import msgspec

from lorelake.landing.archive import LIMITS, Archive, Entry, Limits, check


class _Seen(msgspec.Struct, frozen=True):
    size: int
    mtime_ns: int
    sha256: str
    entries: tuple[Entry, ...] | None = None
    limits: Limits | None = None


class HashCache:
    """sha256 of files, and what archives hold. The caller keeps `dumps()` between runs; without it all is read.

    Args:
        data: what `dumps` gave; damaged bytes count as none.
        limits: what an archive may hold; one that was checked with others is checked again.
    """

    def __init__(self, data: bytes | None = None, limits: Limits = LIMITS) -> None:
        self._limits = limits
        self._asked: dict[str, _Seen] = {}
        try:
            self._known = msgspec.json.decode(data or b"{}", type=dict[str, _Seen])
        except msgspec.DecodeError:
            self._known = {}

    def file(self, path: Path) -> str:
        """sha256 of a file's bytes. Raises OSError."""
        return self._seen(path).sha256

    def archive(self, path: Path) -> Archive:
        """A checked archive. Raises OSError, or RefusedArchiveError; a refused one is read again each time."""
        seen = self._seen(path)
        if seen.entries is None or seen.limits != self._limits:
            entries = check(path, self._limits).entries
            seen = self._asked[_key(path)] = msgspec.structs.replace(seen, entries=entries, limits=self._limits)
        return Archive(path, seen.entries or (), self._limits)

    def dumps(self) -> bytes:
        """Everything asked for since this object was made; files that are gone drop out."""
        return msgspec.json.encode(self._asked, order="sorted")

    def _seen(self, path: Path) -> _Seen:
        key = _key(path)
        if key in self._asked:
            return self._asked[key]
        status = path.stat()
        known = self._known.get(key)
        if known is None or (known.size, known.mtime_ns) != (status.st_size, status.st_mtime_ns):
            with open(path, "rb") as stream:
                known = _Seen(status.st_size, status.st_mtime_ns, hashlib.file_digest(stream, "sha256").hexdigest())
        self._asked[key] = known
        return known


def _key(path: Path) -> str:
    """What stands for a path: names may tell of people, and may be bytes that are no text."""
    return hashlib.sha256(os.fsencode(path)).hexdigest()
