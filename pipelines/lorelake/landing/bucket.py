"""Buckets as sources and as places to deliver to: `s3://bucket/prefix`, through Arrow's file systems.

A source that is a bucket is mirrored into the lake's landing folder, changed objects only, and read there like any
folder. What vanishes from the bucket stays in the mirror, since an absence deletes nothing; only an object that its
sender's `withdrawn.json` names goes.

Options of the URL are Arrow's (`region`, `endpoint_override`, `scheme`, ...). Keys come from the environment or the
profile, as for any S3 client, and never stand in a URL.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from lorelake.errors import LorelakeError, SettingsError, UsageError
from lorelake.formats.record import Refusal, digest
from lorelake.lake import sync_folder, write_bytes
from lorelake.landing.hints import is_note

SETTLED_NS = 2_000_000_000
"""An object younger than this when it was listed is fetched again next time: stores tell time in whole seconds, so a
second write of the same size in the same second would look unchanged."""

_URL = re.compile(r"s3://", re.IGNORECASE)
_INDEX = ".mirror.json"


class Object(msgspec.Struct, frozen=True):
    """One object: its name below the prefix, size in bytes and time of its last change in ns since 1970."""

    name: str
    size: int
    mtime_ns: int


class Bucket:
    """A prefix of a bucket.

    Args:
        url: `s3://bucket/prefix?options`.

    Raises:
        SettingsError: not such a URL, or one that holds a key.
        UsageError: pyarrow is not installed.
    """

    def __init__(self, url: str) -> None:
        split = urlsplit(url)
        if not is_url(url) or not split.netloc:
            raise SettingsError("not a bucket", where=shown(url), remedy="write s3://bucket/prefix")
        if "@" in split.netloc:
            raise SettingsError(
                "a key stands in the address of the bucket",
                where=shown(url),
                remedy="take it out; keys come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or ~/.aws",
            )
        try:
            from pyarrow import fs
        except ModuleNotFoundError:
            raise UsageError(
                "buckets need pyarrow, which is not installed", remedy="pip install 'lorelake[pipeline]'"
            ) from None
        self.url = url
        self._fs = fs
        with self._told():
            self._system, path = fs.FileSystem.from_uri(url)
        self._root = path.rstrip("/")

    def objects(self, below: str = "") -> list[Object]:
        """Every object below the prefix or a folder of it, by name. Raises LorelakeError: it cannot be listed."""
        with self._told():
            start = f"{self._root}/{below}".rstrip("/")
            selector = self._fs.FileSelector(start, allow_not_found=True, recursive=True)
            infos = self._system.get_file_info(selector)
        files = [info for info in infos if info.type == self._fs.FileType.File]
        found = [Object(info.path[len(self._root) + 1 :], info.size, info.mtime_ns or 0) for info in files]
        return sorted(found, key=lambda item: item.name)

    def read(self, name: str) -> bytes | None:
        """An object's bytes, or None where there is none."""
        try:
            with self._told(), self._system.open_input_stream(self._path(name)) as stream:
                return bytes(stream.read())
        except FileNotFoundError:
            return None

    def fetch(self, name: str, target: Path) -> None:
        """Write an object to a file, whole or not at all.

        Raises:
            FileNotFoundError: it is gone.
            OSError, LorelakeError: it cannot be read or the file not be written.
        """
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        aside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
        try:
            with (
                self._told(),
                self._system.open_input_stream(self._path(name)) as stream,
                os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as handle,
            ):
                shutil.copyfileobj(stream, handle, 1 << 20)
                handle.flush()
                os.fsync(handle.fileno())
            os.replace(aside, target)
        finally:
            aside.unlink(missing_ok=True)
        sync_folder(target.parent)

    def write(self, name: str, data: bytes) -> None:
        """Put an object; a store shows it whole or not at all."""
        with self._told(), self._system.open_output_stream(self._path(name)) as stream:
            stream.write(data)

    def delete(self, name: str) -> bool:
        """Delete an object; False where there is none."""
        try:
            with self._told():
                self._system.delete_file(self._path(name))
        except FileNotFoundError:
            return False
        return True

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Arrow's errors as ours. A missing object, and what this machine's own disk says, keep their errors."""
        try:
            yield
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and error.errno:
                raise
            raise LorelakeError(
                f"the bucket answers: {' '.join(str(error).split())[:300]}",
                where=shown(self.url),
                remedy="check address, region, keys and network; nothing half written stays there",
            ) from None


def is_url(place: str) -> bool:
    """Whether a place of the settings is a bucket and no path."""
    return _URL.match(place) is not None


def shown(url: str) -> str:
    """A bucket's address as it may be printed: without options and without a key that stands in it."""
    split = urlsplit(url)
    return f"{split.scheme}://{split.netloc.rpartition('@')[2]}{split.path}".rstrip("/")


def parts(url: str) -> tuple[str, ...]:
    """Bucket and folders of a URL."""
    split = urlsplit(url)
    return (split.netloc.rpartition("@")[2], *(part for part in split.path.split("/") if part))


def home(landing: Path) -> Path:
    """Where mirrors lie in a landing folder."""
    return landing / "buckets"


def mirror_folder(landing: Path, url: str) -> Path:
    """The folder of one bucket's mirror; its options (a new endpoint, say) make no other one."""
    name = "-".join(re.sub(r"[^\w.]+", "-", part) for part in parts(url)[-2:])
    return home(landing) / f"{name[:80]}-{hashlib.sha256(shown(url).encode()).hexdigest()[:8]}"


def mirror(url: str, folder: Path, name: str) -> list[Refusal]:
    """Bring what changed in a bucket into its mirror. What was mirrored before stays readable whatever goes wrong.

    Args:
        name: what captures of this source start with.

    Returns:
        One refusal for each object that could not be had, or one for the bucket.

    Raises:
        SettingsError: not the URL of a bucket, or one that holds a key.
        UsageError: pyarrow is not installed.
    """
    source = Bucket(url)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    index = folder.with_name(folder.name + _INDEX)
    known = _index(index)
    began = time.time_ns()
    refusals: list[Refusal] = []
    try:
        found = source.objects()
    except LorelakeError as error:
        return [_refusal(name, "unreadable", f"{error.what}; what was read before stays")]
    fresh: dict[str, Object] = {}
    for item in found:
        if not _safe(item.name):
            refusals.append(_refusal(f"{name}/{item.name!r}", "unsafe_name", "would be written outside its folder"))
            continue
        target = folder / item.name
        if known.get(item.name) != item or not target.is_file():
            try:
                source.fetch(item.name, target)
            except FileNotFoundError:
                continue  # deleted since it was listed
            except (OSError, LorelakeError) as error:
                why = error.what if isinstance(error, LorelakeError) else error.strerror or str(error)
                refusals.append(_refusal(f"{name}/{item.name}", "unreadable", why))
                continue
        if began - item.mtime_ns > SETTLED_NS:
            fresh[item.name] = item
    if fresh != known:
        write_bytes(index, msgspec.json.encode(list(fresh.values())), mode=0o600)
    _withdraw(folder, {item.name for item in found})
    return refusals


def _index(path: Path) -> dict[str, Object]:
    try:
        return {item.name: item for item in msgspec.json.decode(path.read_bytes(), type=list[Object])}
    except (FileNotFoundError, msgspec.DecodeError, msgspec.ValidationError):
        return {}


def _safe(name: str) -> bool:
    """Whether an object's name is a plain path below the folder."""
    steps = name.split("/")
    return bool(name) and not any(step in ("", ".", "..") or "\x00" in step or len(step) > 200 for step in steps)


def _refusal(name: str, reason: str, why: str) -> Refusal:
    return Refusal(reason, why, name, sha256=digest(name, reason))


class _Withdrawal(msgspec.Struct):
    ids: list[str] = []


class _Withdrawn(msgspec.Struct):
    withdrawals: list[_Withdrawal] = []


def _withdraw(folder: Path, there: set[str]) -> None:
    """Delete what a sender withdrew and has deleted from the bucket; a sender names what lies in its own folder."""
    for record in sorted(folder.rglob("withdrawn.json")):
        data = record.read_bytes()
        if not is_note(data):
            continue
        with suppress(msgspec.DecodeError, msgspec.ValidationError):
            for withdrawal in msgspec.json.decode(data, type=_Withdrawn).withdrawals:
                for withdrawn in filter(_safe, withdrawal.ids):
                    _forget(folder, record.parent / withdrawn, there)


def _forget(folder: Path, withdrawn: Path, there: set[str]) -> None:
    for path in sorted(withdrawn.rglob("*")):
        if path.is_file() and path.relative_to(folder).as_posix() not in there:
            path.unlink()
