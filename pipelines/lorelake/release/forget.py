"""What a `forget` writes and what it would touch: ids, content keys and keyed hashes, never a text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from lorelake import served
from lorelake.lake import Lake, read_table
from lorelake.release.build import REVIEW_FOLDER, TABLES_FOLDER
from lorelake.release.publish import list_ids
from lorelake.tables import ALIASES, EXPOSURES, LEARNINGS, TABLES

ITEMS, RECORDS = 500, 1_000
"""What one decision file may name; more make several files."""
SIGNATURES = "signatures.json"
"""In a review folder: content key and similarity signature of each learning of that audience."""
ID_COLUMNS = ("learning_id", "claim_id", "older_id", "newer_id", "canonical_id", "reference")


def decisions(
    items: Sequence[Mapping[str, Any]],
    reason: str,
    *,
    erase: bool = False,
    records: Sequence[str] = (),
    persons: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """The decisions, as many as it takes.

    Args:
        items: each with `learning`, `content_key` and, where the release has one, `signature`.
        records, persons: HMACs, of an erasure.
    """
    parts: dict[int, dict[str, Any]] = defaultdict(dict)
    for number, start in enumerate(range(0, len(items), ITEMS)):
        parts[number]["items"] = [dict(item) for item in items[start : start + ITEMS]]
    for number, start in enumerate(range(0, len(records), RECORDS)):
        parts[number]["records"] = list(records[start : start + RECORDS])
    if persons:
        parts[0]["persons"] = list(persons)
    about = {"decision": "forget", "reason": reason, **({"erase": True} if erase else {})}
    return [{**about, **parts[number]} for number in sorted(parts)]


def signed(lake: Lake, team: str, learnings: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Learnings as a decision names them, with the signature that the served release carries for reviewers."""
    current = lake.current_release()
    known: dict[str, dict[str, Any]] = {}
    for audience in sorted({row["audience"] for row in learnings}):
        folder = lake.releases / str(current) / REVIEW_FOLDER / served.audience_id(team, audience)
        path = folder / SIGNATURES
        known |= msgspec.json.decode(path.read_bytes()) if current and path.exists() else {}
    found = []
    for row in sorted(learnings, key=lambda row: row["learning_id"]):
        item = {"learning": row["learning_id"], "content_key": row["content_key"]}
        signature = known.get(row["learning_id"], {}).get("signature")
        found.append({**item, "signature": signature} if signature else item)
    return found


def ids_of(lake: Lake, learnings: Collection[str]) -> list[str]:
    """Every id under which some learnings are known: their own, and those of their claims."""
    known = read_table(ALIASES, lake.table(ALIASES))
    return sorted({*learnings, *known.filter(pl.col("learning_id").is_in(sorted(learnings)))["reference"]})


def rows_touched(lake: Lake, ids: Sequence[str], units: Collection[str]) -> dict[str, int]:
    """Rows of each table of the lake that name one of the ids, or a unit; tables without any are left out."""
    found: dict[str, int] = {}
    for table in TABLES.values():
        if table.stage in ("release", "raw"):
            continue
        paths = lake.days(table) if table.partitioned else [lake.table(table)]
        files = [path for path in paths if path.exists()]
        tests = [pl.col(name).is_in(ids) for name in ID_COLUMNS if name in table.column_names]
        if "unit_id" in table.column_names and units:
            tests.append(pl.col("unit_id").is_in(sorted(units)))
        if files and tests:
            rows = pl.scan_parquet(files).filter(pl.any_horizontal(tests)).select(pl.len()).collect().item()
            found |= {table.name: int(rows)} if rows else {}
    return found


def releases_with(lake: Lake, ids: Collection[str]) -> list[str]:
    """Releases that know any of the ids."""
    return [name for name in list_ids(lake) if not set(ids).isdisjoint(_known(lake.releases / name))]


def _known(release: Path) -> set[str]:
    path = release / TABLES_FOLDER / "learnings.parquet"
    return set(read_table(LEARNINGS, path)["learning_id"]) if path.exists() else set()


def affected(lake: Lake, learnings: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Who is affected: who said it, and who was shown it."""
    ids = ids_of(lake, [row["learning_id"] for row in learnings])
    shown = read_table(EXPOSURES, lake.table(EXPOSURES))
    seen = {
        person
        for shown_as, person in shown.select("claim_id", "person").iter_rows()
        if shown_as and any(id_.startswith(shown_as) for id_ in ids)
    }
    return {"said it": sorted({row["said_by"] for row in learnings}), "were shown it": sorted(seen)}
