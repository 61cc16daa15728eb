"""Tables of a published release, for the commands that show them as they are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lorelake.errors import ReleaseError
from lorelake.lake import read_table
from lorelake.recall.reader import find_home, release_folder
from lorelake.tables import Table

if TYPE_CHECKING:
    import polars


def find_release(home: Path | None, release_id: str | None = None) -> Path:
    """The folder of a release with tables; by default of the one that is served.

    Raises:
        UnreachableError: there is none.
        ReleaseError: this copy holds the indexes alone.
    """
    folder = release_folder(home or find_home(), release_id)
    if not (folder / "tables").is_dir():
        raise ReleaseError(
            "this copy of the release has no tables, only what agents read",
            where=str(folder),
            remedy="run it where the lake is, or on a copy for analysts",
        )
    return folder


def table_of(folder: Path, table: Table) -> polars.DataFrame:
    """One table of a release.

    Raises:
        ReleaseError: the release is older than the table.
    """
    path = folder / "tables" / f"{table.name}.parquet"
    if not path.exists():
        raise ReleaseError(
            f"this release has no table `{table.name}`",
            where=str(folder),
            remedy="it was published by an older lorelake; the next `lorelake nightly` publishes it",
        )
    return read_table(table, path)
