"""Where every table and file lies, and how a file is written so that a kill leaves old or new, never half.

The only module that knows paths inside `LORELAKE_HOME`. Local folders only for now; object stores come with
the lake's move past one machine.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from lorelake.errors import ContractError, LakeBusyError, LorelakeError
from lorelake.tables import Table

if TYPE_CHECKING:
    import polars

CURRENT = "CURRENT"


class Lake:
    """The folders of one lake.

    Args:
        root: `LORELAKE_HOME`; created by the first write.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def table(self, table: Table, day: date | None = None, source: str | None = None) -> Path:
        """The Parquet file of a whole table, or of one day (raw: of one source and day)."""
        folder = "quarantine" if table.name == "quarantine" else table.stage
        if not table.partitioned:
            return self.root / folder / f"{table.name}.parquet"
        if day is None:
            raise ContractError(f"{table.name} lies in daily files; no day was given")
        parts = [folder, source] if source else [folder, table.name]
        return self.root.joinpath(*parts, f"day={day.isoformat()}", f"{table.name}.parquet")

    def days(self, table: Table) -> list[Path]:
        """Every daily file of a partitioned table, in order of path."""
        return sorted((self.root / table.stage).glob(f"*/day=*/{table.name}.parquet"))

    def scratch(self, name: str) -> Path:
        """A folder for one run's working files; emptied first."""
        path = self.root / "scratch" / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        return path

    @property
    def landing(self) -> Path:
        """What `collect`, `pull` and `import` brought here, as it came; not redacted, so its writers make it 0700."""
        return self.root / "landing"

    @property
    def state(self) -> Path:
        """Small files that remember what was done (hashes of days, the newest intake)."""
        return self.root / "state"

    @property
    def history(self) -> Path:
        """What every publish changed; append-only."""
        return self.root / "history"

    def served_ids(self) -> list[Path]:
        """The files of `served_ids`, one for each publish, in their order.

        One of a publish that was killed before it was in history is left out: nobody was served its ids.
        """
        recorded = [path.name for path in sorted(self.history.glob("[0-9]*-*.parquet"))]
        return [path for name in recorded if (path := self.history / "served_ids" / name).exists()]

    @property
    def releases(self) -> Path:
        """Published releases, one folder each."""
        return self.root / "releases"

    @property
    def candidate(self) -> Path:
        """The release being built; renamed to its id by publish."""
        return self.releases / ".candidate"

    @property
    def current(self) -> Path:
        """The file that names the served release."""
        return self.root / CURRENT

    def current_release(self) -> str | None:
        """The served release id, or None before the first publish."""
        try:
            return self.current.read_text(encoding="utf-8").strip() or None
        except FileNotFoundError:
            return None

    def team(self) -> str | None:
        """Id of the team the lake belongs to; None before the first night."""
        try:
            return self.team_file.read_text(encoding="utf-8").strip()
        except (FileNotFoundError, NotADirectoryError):
            return None

    @property
    def team_file(self) -> Path:
        """The file that says whose lake this is."""
        return self.state / "team"

    def damaged(self) -> list[Path]:
        """Parquet files outside releases that cannot be opened. Reads every footer: for after a failure, not before."""
        import pyarrow.parquet as parquet

        bad = []
        for path in sorted(self.root.rglob("*.parquet")):
            if path.is_relative_to(self.releases) or path.is_relative_to(self.root / "scratch"):
                continue
            try:
                parquet.read_metadata(path)
            except (OSError, ValueError):
                bad.append(path)
        return bad

    def sweep(self) -> None:
        """Remove half-written files of killed processes; publish sees to the candidate.

        A pull or import may be writing into the landing folder meanwhile: what a living process writes stays.
        """
        folders = [path for path in self.root.iterdir() if path.is_dir() and path != self.releases]
        for path in [*self.root.glob(".*.tmp"), *(found for folder in folders for found in folder.rglob(".*.tmp"))]:
            if not _is_being_written(path):
                path.unlink(missing_ok=True)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the lake against other writers. The lock dies with the process, so a dead run holds nothing.

        Raises:
            LakeBusyError: another process holds it.
        """
        self.root.mkdir(parents=True, exist_ok=True, mode=0o750)
        with open(self.root / ".writer", "w", encoding="utf-8") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise LakeBusyError(
                    "another run is writing this lake", where=str(self.root), remedy="wait for it to end"
                ) from None
            yield

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Keep writers out while files are read that must fit together. Writes nothing, not even a lock file.

        Raises:
            LakeBusyError: a run is writing.
        """
        if not (self.root / ".writer").exists():  # nobody ever wrote here
            yield
            return
        with open(self.root / ".writer", "rb") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                raise LakeBusyError(
                    "a run is writing this lake", where=str(self.root), remedy="wait for it to end"
                ) from None
            yield


def write_bytes(path: Path, data: bytes, mode: int = 0o640) -> None:
    """Write a whole file: temporary neighbour, fsync, rename, fsync of the folder."""
    _write_whole(path, lambda handle: handle.write(data), mode)


def _write_whole(path: Path, write: Callable[[BinaryIO], object], mode: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as handle:
            os.chmod(temporary, mode)
            write(handle)
            handle.flush()
            os.fsync(handle.fileno())
        os.replace(temporary, path)
    except Exception:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


HALF_WRITTEN = re.compile(r"\..+\.(\d+)\.tmp")
"""Names that `write_bytes` gives a file until it is whole, with its process; a killed writer may leave one."""


def _is_being_written(path: Path) -> bool:
    """Whether the process that a half-written file names is alive, and not this one."""
    named = HALF_WRITTEN.fullmatch(path.name)
    writer = int(named[1]) if named else 0
    if not 0 < writer < 2**31 or writer == os.getpid():
        return False
    try:
        os.kill(writer, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def sync_folder(folder: Path) -> None:
    """Make renames inside a folder durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def frame(table: Table, rows: Sequence[Mapping[str, Any]]) -> polars.DataFrame:
    """Rows as a frame in the table's schema, sorted by its key.

    Raises:
        ContractError: a column too many, a null where none may be, or a doubled key.
    """
    import polars as pl

    if rows and set(rows[0]) != set(table.column_names):
        wrong = set(rows[0]) ^ set(table.column_names)
        raise ContractError(f"{table.name}: columns differ from the contract: {', '.join(sorted(wrong))}")
    return checked(table, pl.DataFrame(list(rows), schema=table.polars_schema(), orient="row"))


def checked(table: Table, data: polars.DataFrame) -> polars.DataFrame:
    """The frame in contract order, sorted by key, after checking nulls and the key. Raises ContractError."""
    import polars as pl

    missing = [name for name in table.column_names if name not in data.columns]
    if missing:
        raise ContractError(f"{table.name}: columns are missing: {', '.join(missing)}")
    data = data.select([pl.col(name).cast(kind) for name, kind in table.polars_schema().items()])
    for column in table.columns:
        if not column.nullable and data[column.name].null_count():
            raise ContractError(f"{table.name}.{column.name}: null where the contract allows none")
    data = data.sort(list(table.key), maintain_order=True)
    if data.select(list(table.key)).is_duplicated().any():
        raise ContractError(f"{table.name}: more than one row for a key of {', '.join(table.key)}")
    return data


def write_table(table: Table, data: polars.DataFrame, path: Path) -> None:
    """Write one Parquet file of a table, whole or not at all. Raises ContractError where it does not fit."""
    write_table_pieces(table, iter([data]), path)


def write_table_pieces(table: Table, pieces: Iterator[polars.DataFrame], path: Path) -> int:
    """Write one Parquet file of a table piece by piece, whole or not at all. Returns its rows.

    Args:
        pieces: each a row group, of which one at a time is held; every key of a piece comes before those of the next.

    Raises:
        ContractError: a piece does not fit the table, or there is none.
    """
    import pyarrow.parquet as parquet

    schema, rows = table.arrow_schema(), 0

    def write(handle: BinaryIO) -> None:
        nonlocal rows
        with parquet.ParquetWriter(
            handle, schema, compression="zstd", compression_level=3, store_schema=False
        ) as writer:
            for piece in pieces:
                rows += piece.height
                writer.write_table(checked(table, piece).to_arrow().cast(schema))

    _write_whole(path, write, 0o640)
    return rows


def place(source: Path, path: Path) -> None:
    """Put a whole, synced file of the same file system at its place, at once. The source stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    temporary.unlink(missing_ok=True)
    try:
        os.link(source, temporary)
    except OSError:  # a file system without hard links
        write_bytes(path, source.read_bytes())
        return
    os.replace(temporary, path)
    temporary.unlink(missing_ok=True)  # replacing a name of the same file by another does nothing
    sync_folder(path.parent)


def read_table(table: Table, paths: Path | Sequence[Path]) -> polars.DataFrame:
    """One or more Parquet files of a table as one frame; an empty frame in its schema where none exists.

    Raises:
        LorelakeError: naming the file that is damaged.
    """
    import polars as pl

    found = [path for path in ([paths] if isinstance(paths, Path) else paths) if path.exists()]
    if not found:
        return pl.DataFrame(schema=table.polars_schema())
    frames = []
    for path in found:
        try:
            frames.append(pl.read_parquet(path))
        except pl.exceptions.PolarsError as error:
            raise damaged([path]) from error
    return pl.concat(frames)


def damaged(paths: Sequence[Path]) -> LorelakeError:
    """The error that names files of the lake which are no Parquet any more, and the way back."""
    more = f" (and {len(paths) - 1} more)" if len(paths) > 1 else ""
    return LorelakeError(
        f"this file of the lake is damaged{more}",
        where=str(paths[0]),
        remedy="put it back from a copy of the lake; without one delete it, and raw/intake.parquet too if it lies in "
        "raw/ or quarantine/: the next night reads again what the sources still have",
    )
