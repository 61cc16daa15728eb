"""Copied history counts once, for the session it was first said in, in whatever order files arrive."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import permutations

import polars as pl

from lorelake.events.ownership import families, links, owners

START = datetime(2026, 3, 2, 9, tzinfo=UTC)


def index(*rows: tuple[str, str, int]) -> pl.DataFrame:
    """(unit, record, minute) as the raw index."""
    return pl.DataFrame(
        [
            {
                "source": "claude_code",
                "unit_id": f"claude_code:{unit}",
                "record_id": record,
                "ts": START + timedelta(minutes=minute),
                "unit_day": START.date(),
            }
            for unit, record, minute in rows
        ],
        schema_overrides={"ts": pl.Datetime("us", "UTC")},
    )


PARENT = [("parent", "a", 0), ("parent", "b", 1)]
RESUME = [("resume", "a", 0), ("resume", "b", 1), ("resume", "c", 60)]


def test_a_resume_owns_only_what_it_added() -> None:
    assert owners(index(*PARENT, *RESUME)) == {
        ("claude_code", "a"): "claude_code:parent",
        ("claude_code", "b"): "claude_code:parent",
    }


def test_any_order_of_rows_gives_the_same_owners() -> None:
    expected = owners(index(*PARENT, *RESUME))
    for order in permutations([*PARENT, *RESUME]):
        assert owners(index(*order)) == expected


def test_a_parent_that_went_on_longer_still_owns_its_beginning() -> None:
    went_on = [*PARENT, ("parent", "p", 5)]
    assert owners(index(*went_on, *RESUME))[("claude_code", "a")] == "claude_code:parent"


def test_sources_that_do_not_copy_share_nothing() -> None:
    rows = index(*PARENT, *RESUME).with_columns(pl.lit("slack").alias("source"))
    assert owners(rows) == {}


def test_a_family_is_closed_over_links_and_names_a_parent_that_never_came() -> None:
    rows = index(*PARENT, *RESUME)
    joined = [*links(rows, owners(rows)), ("claude_code:resume/agent-1", "claude_code:resume"), ("x", "never-arrived")]
    family = families(["claude_code:parent", "claude_code:resume", "claude_code:resume/agent-1", "x", "alone"], joined)
    assert family["claude_code:parent"] == family["claude_code:resume"] == family["claude_code:resume/agent-1"]
    assert family["x"] == "never-arrived"
    assert family["alone"] == "alone"
