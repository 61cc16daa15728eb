"""Real files, where they lie beside the checkout: captures of one session merge, and the books close."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import polars as pl
import pytest

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
SNAPSHOTS = DATA / "claude-code" / "entireio-cli-snapshots"

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data is not here")


@needs_data
@pytest.mark.parametrize(("folder", "records"), [("append-only", 40), ("rewritten", 51)])
def test_captures_of_one_session_merge_to_one_in_any_order(nights, jsonl, folder: str, records: int) -> None:
    """One was captured twice as it grew, the other as two deltas that share no record."""
    paths = sorted((SNAPSHOTS / folder).rglob("*.jsonl"))
    captures = [jsonl(f"{number}.jsonl", path.read_bytes()) for number, path in enumerate(paths)]
    assert len(captures) == 2
    states = []
    for number, order in enumerate(permutations(captures)):
        lake = nights(f"apart-{number}")
        for capture in order:
            lake.night([capture])
        states.append((lake.raw(), lake.events(), lake.sessions()))
    together = nights("together")
    together.night(captures)
    states.append((together.raw(), together.events(), together.sessions()))
    for raw, events, sessions in states:
        assert sessions.height == 1
        assert raw.height == records
        assert raw["record_id"].n_unique() == records
        assert raw.equals(states[0][0])
        assert events.equals(states[0][1])
        assert sessions.equals(states[0][2])


@needs_data
@pytest.mark.slow
def test_all_of_it_is_read_with_closed_books(nights) -> None:
    lake = nights()
    lake.folder(DATA)
    books = lake.intake()
    assert books.filter(pl.col("seen") != pl.col("kept") + pl.col("refused")).is_empty()
    files = sum(1 for path in DATA.rglob("*") if path.is_file())
    grouped = sum(1 for name in ("slack", "gitlab") for path in (DATA / name).rglob("*") if path.is_file())
    single = books.filter(~pl.col("source").is_in(["slack", "gitlab"])).height
    assert single == files - grouped
    reasons = dict(lake.quarantine().group_by("source", "reason").len().select("reason", "len").rows())
    assert set(reasons) <= {"not_json", "no_unit", "private", "wrong_shape"}
    held = dict(books.group_by("source").agg(pl.col("kept").sum()).rows())
    versions = dict(lake.raw().group_by("source").len().rows())
    assert all(versions[source] <= kept for source, kept in held.items() if kept)
    before = lake.events()
    assert lake.folder(DATA) == {}
    assert lake.events().equals(before)
