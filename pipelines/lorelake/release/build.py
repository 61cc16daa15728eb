"""Write one candidate release from the night's tables: tables, catalog, indexes, review queues, draft manifest."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Mapping
from datetime import date
from pathlib import Path

import duckdb
import polars as pl

from lorelake import __version__, served
from lorelake.content import erasure_log
from lorelake.content.redaction import Redactor
from lorelake.errors import ContractError, SettingsError
from lorelake.lake import Lake, checked, write_bytes, write_table
from lorelake.release import history, index
from lorelake.release.manifest import Manifest, config_sha256, content_hash, release_id, write_manifest
from lorelake.release.privacy import without_open_signatures, without_private_words
from lorelake.release.reviewing import write_reviews
from lorelake.release.rows import ROW_RULES, quarantine, quarantine_events, quarantine_versions
from lorelake.release.signatures import write_signatures
from lorelake.settings import LOGIC_VERSION, Settings
from lorelake.tables import TABLES, macros

CATALOG = "catalog.duckdb"
REVIEW_FOLDER = served.REVIEW_FOLDER
QUEUE = served.REVIEW_QUEUE
TABLES_FOLDER = "tables"
ENGINE = "lexical"


def build_candidate(
    lake: Lake,
    settings: Settings,
    as_of: date,
    tables: Mapping[str, pl.DataFrame],
    inputs: Mapping[str, str],
    key: bytes = b"",
) -> Path:
    """Write `lake.candidate` fresh; what an earlier run left there is removed. The caller holds `lake.writing()`.

    Args:
        lake: where; must be this team's.
        settings: team id, redaction policy.
        as_of: the as-of day.
        tables: every table with `released=True` by name, but for what history tells; `signals` too, to tell which
            admissions are private, and `claims`, to tell which items are near what was rejected.
        inputs: names and hashes of what the rows were derived from; copied into the manifest.
        key: the team's key, under which reviewers get signatures; none are written without it.

    Returns:
        The candidate's folder. Its manifest is a draft until publish completes it.

    Raises:
        ContractError: a released table is missing or does not fit.
        SettingsError: the lake belongs to another team.
    """
    check_team(lake, settings.team.id)
    frames = _released(tables)
    before = frames["learnings"]
    frames["learnings"] = quarantine(before, frames["learning_evidence"], redactor(settings).values)
    moves = quarantine_events(before, frames["learnings"], as_of)
    frames["learning_events"] = checked(TABLES["learning_events"], pl.concat([frames["learning_events"], moves]))
    versions = quarantine_versions(frames["learning_versions"], moves, as_of)
    frames["learning_versions"] = checked(TABLES["learning_versions"], versions)
    frames |= history.with_candidate(lake, as_of, frames["learnings"])

    folder = lake.candidate
    remove_tree(folder)
    folder.mkdir(parents=True)
    shown = without_open_signatures(without_private_words(frames, tables.get("signals")), settings.team.id)
    _write_tables(folder, shown)
    active = _write_indexes(folder, settings.team.id, frames)
    write_reviews(folder / REVIEW_FOLDER, settings.team.id, frames, tables.get("claims"))
    if key and "claims" in tables and "signals" in tables:
        given = frames["learnings"], tables["claims"], tables["signals"]
        write_signatures(folder / REVIEW_FOLDER, settings.team.id, *given, key)
    erasures = erasure_log.digest(lake)
    hashed = content_hash(frames, erasures)
    write_manifest(
        folder,
        Manifest(
            release_id=release_id(as_of, hashed),
            team=settings.team.id,
            as_of=as_of,
            content_hash=hashed,
            active=active,
            lorelake=__version__,
            logic_version=LOGIC_VERSION,
            config_sha256=config_sha256(settings),
            engine=ENGINE,
            inputs=dict(sorted({**inputs, **({"erasures": erasures} if erasures else {})}.items())),
            rows={name: len(data) for name, data in frames.items()},
            quarantined=frames["learnings"].filter(pl.col("state_reason").is_in(list(ROW_RULES))).height,
        ),
    )
    return folder


def check_team(lake: Lake, team: str) -> None:
    """Refuse another team's settings; a lake that has no team yet takes this one.

    Raises:
        SettingsError: the lake belongs to another team.
    """
    owner = lake.team()
    if owner is None:
        write_bytes(lake.team_file, f"{team}\n".encode())
    elif owner != team:
        raise SettingsError(
            f"this lake belongs to team `{owner}`, the settings say `{team}`",
            where=str(lake.root),
            remedy="set LORELAKE_HOME (or `home`) to this team's own lake",
        )


def redactor(settings: Settings) -> Redactor:
    """A redactor that only tells whether a text holds a secret; its marks are never stored, so its key is no secret."""
    return Redactor(b"audit", emails=settings.redaction.emails, phones=settings.redaction.phones)


def remove_tree(folder: Path) -> None:
    """Remove a folder that may have been made read-only."""
    if not folder.exists():
        return
    for path, folders, _ in os.walk(folder):
        os.chmod(path, stat.S_IRWXU)
        for name in folders:
            os.chmod(Path(path) / name, stat.S_IRWXU)
    shutil.rmtree(folder)


def _released(tables: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    wanted = [table for table in TABLES.values() if table.released and table.stage != "release"]
    missing = [table.name for table in wanted if table.name not in tables]
    if missing:
        raise ContractError(f"tables are missing from the release: {', '.join(missing)}")
    return {table.name: checked(table, tables[table.name]) for table in wanted}


def _write_tables(folder: Path, frames: Mapping[str, pl.DataFrame]) -> None:
    for name, data in frames.items():
        write_table(TABLES[name], data, folder / TABLES_FOLDER / f"{name}.parquet")
    # Views keep relative paths, so that a release can be moved; readers set file_search_path to its folder.
    with duckdb.connect(folder / CATALOG, config={"file_search_path": str(folder.resolve())}) as db:
        db.begin()
        for name in frames:
            table = TABLES[name]
            db.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet('{TABLES_FOLDER}/{name}.parquet')")  # noqa: S608
            meaning = f"{table.grain}; key {', '.join(table.key)}"
            db.execute(f"COMMENT ON VIEW {name} IS '{_sql(meaning)}'")
            for column in table.columns:
                db.execute(f"COMMENT ON COLUMN {name}.\"{column.name}\" IS '{_sql(column.meaning)}'")
        for statement in macros.statements(set(frames)):
            db.execute(statement)
        db.commit()


def _sql(text: str) -> str:
    return text.replace("'", "''")


def _write_indexes(folder: Path, team: str, frames: Mapping[str, pl.DataFrame]) -> dict[str, int]:
    learnings, evidence = frames["learnings"], frames["learning_evidence"]
    named = frames["aliases"].select("reference", "learning_id", "basis", "audience").rows()
    active: dict[str, int] = {}
    for audience, items in index.items_by_audience(learnings, evidence, frames["decay"]).items():
        ids = {item.learning_id for item in items}
        others = learnings.filter((pl.col("audience") == audience) & (pl.col("state") != "active"))
        own = ids | set(others["learning_id"])
        retired = [
            (learning, state, newer if newer in own else None)
            for learning, state, newer in others.select("learning_id", "state", "superseded_by").iter_rows()
        ]
        aliases = {id_: learning for id_, learning, *_ in named if learning in own and id_ != learning}
        retired += [(id_, basis, None) for id_, learning, basis, of in named if learning is None and of == audience]
        name = served.audience_id(team, audience)
        own_topics = frames["topics"].filter(pl.col("audience") == audience)
        filing = index.filing_of(ids, own_topics, frames["topic_members"])
        index.write_audience(folder / served.INDEX_FOLDER / name, items, aliases, retired, filing)
        active[name] = len(items)
    return dict(sorted(active.items()))
