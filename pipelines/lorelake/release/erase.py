"""What an erasure does beyond raw: old releases, derived tables, history, and what Dagster remembers of runs.

The order keeps a kill harmless, and everything may be done again:

    write the erasure down       from now on raw keeps out what it names
    raw, books, quarantine       rewritten; what is derived from them is deleted
    a whole night                builds and publishes a release of what is left; landing is rewritten in it
    the other releases           deleted right after CURRENT is replaced
    history and run storage      rewritten
    write down that it ended
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import polars as pl
import pyarrow.parquet as parquet

from lorelake.content import erasure_log
from lorelake.content.erasure import Erased
from lorelake.errors import LakeBusyError, ReleaseError
from lorelake.lake import Lake, read_table, write_table
from lorelake.release import history
from lorelake.release.build import TABLES_FOLDER, remove_tree
from lorelake.release.manifest import read_manifest
from lorelake.tables import ALIASES, HISTORY, LEARNINGS, SERVED_IDS

DERIVED = ("events", "evidence", "learnings", "outcomes", "staging", "scratch")
"""Folders of the lake that the next night makes again, all of them from raw, ledger and history."""
KEPT_STATE = ("team", "redaction_rules")
"""Files of the lake's state that hold nothing of any record. The rest is made again."""

_EMPTYING = {
    "event_logs": "DELETE FROM event_logs",
    "asset_keys": "DELETE FROM asset_keys",
    "asset_event_tags": "DELETE FROM asset_event_tags",
    "asset_check_executions": "DELETE FROM asset_check_executions",
    "runs": "DELETE FROM runs",
    "run_tags": "DELETE FROM run_tags",
    "job_ticks": "DELETE FROM job_ticks",
    "bulk_actions": "DELETE FROM bulk_actions",
    "snapshots": "DELETE FROM snapshots",
    "pending_steps": "DELETE FROM pending_steps",
}
"""Tables of Dagster's storage that tell of runs. Schedules, heartbeats and versions of the schema stay."""
_PER_RUN = 36
"""Length of a run's id, which names its own database."""


def erased_since(lake: Lake, release: str) -> bool:
    """Whether something was erased that this release may still hold. Such a release is served by nobody."""
    digest = erasure_log.digest(lake)
    return bool(digest) and read_manifest(lake.releases / release).inputs.get("erasures") != digest


def remove_outdated(lake: Lake) -> list[str]:
    """Delete every release, and candidate, that was built before the newest erasure, once one is served that was not.

    Returns:
        Their names. Nothing is deleted while the served release is itself outdated.
    """
    current = lake.current_release()
    if not erasure_log.digest(lake) or current is None or not (lake.releases / current).is_dir():
        return []
    if erased_since(lake, current):
        return []
    gone = [path for path in sorted(lake.releases.iterdir()) if path.name != current and _is_outdated(lake, path)]
    for path in gone:
        remove_tree(path)
    return [path.name for path in gone]


def _is_outdated(lake: Lake, path: Path) -> bool:
    try:
        return erased_since(lake, path.name)
    except ReleaseError:  # no manifest, or a damaged one: nobody can tell what it holds
        return True


def remove_derived(lake: Lake) -> None:
    """Delete what a night derives, and the caches that name files or hash what lies in them."""
    for name in DERIVED:
        shutil.rmtree(lake.root / name, ignore_errors=True)
    for path in lake.state.iterdir() if lake.state.is_dir() else ():
        if path.name not in KEPT_STATE and not path.name.startswith("manifest-"):
            path.unlink()


def rewrite_history(lake: Lake, kept_out: Erased) -> int:
    """Drop what history says of learnings that the served release does not know any more. Returns the rows dropped.

    Raises:
        ReleaseError: nothing is served, or it was built before the erasure.
    """
    current = lake.current_release()
    if current is None or erased_since(lake, current):
        raise ReleaseError("no release is served yet that was built after the erasure", where=str(lake.root))
    tables = lake.releases / current / TABLES_FOLDER
    known = set(read_table(LEARNINGS, tables / "learnings.parquet")["learning_id"])
    known |= set(read_table(ALIASES, tables / "aliases.parquet")["reference"])
    dropped = 0
    for path in sorted(lake.history.rglob("*.parquet")):
        table = SERVED_IDS if path.parent.name == SERVED_IDS.name else HISTORY
        if table is HISTORY and path.parent != lake.history:
            dropped += _rewrite_other(path, known, kept_out)
            continue
        rows = history.read(path) if table is HISTORY else read_table(table, path)
        id_ = "claim_id" if table is SERVED_IDS else "learning_id"
        rest = rows.filter(pl.col(id_).is_in(["", *known]))
        if rest.height < rows.height:
            dropped += rows.height - rest.height
            write_table(table, rest, path)
    return dropped


def _rewrite_other(path: Path, known: set[str], kept_out: Erased) -> int:
    """A table of history that is no publish's: rows of ids that are gone go, and names out of every text."""
    rows = pl.read_parquet(path)
    ids = [name for name in ("learning_id", "claim_id") if name in rows.columns]
    rest = rows.filter(*(pl.col(name).is_null() | pl.col(name).is_in(["", *known]) for name in ids))
    texts = [name for name, kind in rest.schema.items() if kind == pl.String and name not in ids]
    rest = rest.with_columns(
        pl.Series(name, [text and kept_out.text(text) for text in rest[name]], dtype=pl.String) for name in texts
    )
    if not rest.equals(rows):
        schema = parquet.read_schema(path)
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        parquet.write_table(rest.to_arrow().cast(schema), temporary, compression="zstd", store_schema=False)
        os.replace(temporary, path)
    return rows.height - rest.height


def run_storage(environment: Callable[[str], str | None] = os.environ.get) -> Path | None:
    """Dagster's own folder, where there is one. Runs in process leave none."""
    home = environment("DAGSTER_HOME")
    return Path(home) if home and Path(home).is_dir() else None


def rewrite_run_storage(home: Path) -> list[str]:
    """Delete what Dagster remembers of past runs: events, logs, ticks. Schedules stay as they are.

    Returns:
        Names of what was rewritten or deleted, below `home`.

    Raises:
        LakeBusyError: a Dagster process holds a database.
    """
    done = []
    for path in sorted(home.rglob("*.db")):
        if len(path.stem) == _PER_RUN and path.parent.name == "runs":
            for file in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm", "-journal"))):
                file.unlink(missing_ok=True)
        else:
            _empty(path)
        done.append(path.relative_to(home).as_posix())
    for path in sorted(home.glob("storage/*")):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
        done.append(path.relative_to(home).as_posix())
    return done


def _empty(path: Path) -> None:
    try:
        with closing(sqlite3.connect(path, timeout=5, isolation_level=None)) as db:
            db.execute("PRAGMA secure_delete=ON")
            here = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            for name in sorted(here & _EMPTYING.keys()):
                db.execute(_EMPTYING[name])
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            db.execute("VACUUM")
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.OperationalError as error:
        raise LakeBusyError(
            f"Dagster's storage is in use: {error}", where=str(path), remedy="stop Dagster, then go on with --apply"
        ) from None
