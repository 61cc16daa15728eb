"""What a release says about itself, and the content hash that names it."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from lorelake import served
from lorelake.errors import ReleaseError
from lorelake.formats.record import canonical, digest
from lorelake.lake import write_bytes
from lorelake.release.verdict import FileEntry
from lorelake.settings import Collect, Settings
from lorelake.tables import TABLES, Table

if TYPE_CHECKING:
    import polars

HASHED_DIGITS = 9


class Manifest(served.ReleaseHead, frozen=True, kw_only=True):
    """manifest.json. The draft that build writes has no `files`, `checks`, `changes` and `created_at` yet.

    `inputs` holds what the rows were derived from by name (ledger commit, hash of the evidence log, git revision).
    `changes` counts state changes against the release before, as `from>to`. `created_at` informs only.
    """

    lorelake: str
    logic_version: str
    config_sha256: str
    engine: str
    inputs: dict[str, str]
    rows: dict[str, int]
    quarantined: int
    files: dict[str, FileEntry] = msgspec.field(default_factory=dict)
    checks: dict[str, str] = msgspec.field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    changes: dict[str, int] = msgspec.field(default_factory=dict)
    created_at: datetime | None = None


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write manifest.json, whole or not at all."""
    write_bytes(folder / served.MANIFEST, msgspec.json.format(msgspec.json.encode(manifest), indent=2))


def read_manifest(folder: Path) -> Manifest:
    """Read manifest.json.

    Raises:
        ReleaseError: it is missing or damaged.
    """
    path = folder / served.MANIFEST
    try:
        return msgspec.json.decode(path.read_bytes(), type=Manifest)
    except FileNotFoundError:
        raise ReleaseError("no manifest", where=str(path), remedy="build or publish the release again") from None
    except msgspec.DecodeError as error:
        raise ReleaseError(f"the manifest is damaged: {error}", where=str(path)) from None


def release_id(as_of: date, content_hash: str) -> str:
    """As-of day and the first 8 hex of the content hash."""
    return f"{as_of.isoformat()}-{content_hash[:8]}"


def content_hash(frames: Mapping[str, polars.DataFrame], erasures: str = "") -> str:
    """sha256 over the hashed tables' rows, in the order of the contract and of each table's key.

    Rows are hashed as values, so that Parquet's encoding, the order of arrival and columns the contract does not
    know do not matter. Floats count to 9 digits. Takes the rows before private words are left out: a change only a
    private audience can see names a new release too.

    Args:
        erasures: what was erased from the lake. It counts, for an erasure may change only what is not hashed, and the
            release before it must not be taken for the one after.
    """
    total = hashlib.sha256(erasures.encode())
    for table in TABLES.values():
        if table.hashed:
            total.update(f"{table.name} {table_hash(table, frames[table.name])}\n".encode())
    return total.hexdigest()


def table_hash(table: Table, data: polars.DataFrame) -> str:
    """sha256 over one table's rows as values, in order of its key."""
    rows = hashlib.sha256()
    for row in data.select(table.column_names).sort(table.key).iter_rows():
        rows.update(canonical(values_of(row)).encode("utf-8", "surrogatepass") + b"\n")
    return rows.hexdigest()


def values_of(row: Iterable[Any]) -> list[Any]:
    """A row's values as they count: floats to 9 digits, times as text."""
    return [_hashable(value) for value in row]


def _hashable(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, HASHED_DIGITS) + 0.0 if math.isfinite(value) else str(value)
    if isinstance(value, date):  # datetime too; UTC by contract
        return value.isoformat()
    return value


def config_sha256(settings: Settings) -> str:
    """Hash of the settings, without where they lie on this machine and where a person delivers what it collects."""
    alike = msgspec.structs.replace(settings, home="", folder="", collect=Collect())
    return digest(msgspec.json.encode(alike).decode())
