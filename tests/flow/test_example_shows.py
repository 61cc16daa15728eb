"""The example shows every kind of evidence, and what comes of it: a new user reads here what a night does."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from lorelake.lake import Lake, read_table
from lorelake.tables import LEARNING_EVIDENCE, LEARNINGS, SIGNALS, SUPERSESSION, TOPIC_MERGES
from lorelake.tables.words import SIGNAL_KINDS


@pytest.fixture(scope="module")
def shown(base: Any) -> dict[str, pl.DataFrame]:
    lake = Lake(base.home)
    tables = {table.name: read_table(table, lake.table(table)) for table in (LEARNINGS, SUPERSESSION, TOPIC_MERGES)}
    tables["signals"] = read_table(SIGNALS, lake.days(SIGNALS))
    tables["evidence"] = read_table(LEARNING_EVIDENCE, lake.table(LEARNING_EVIDENCE))
    return tables


def learning(shown: dict[str, pl.DataFrame], words: str) -> dict[str, Any]:
    (row,) = shown["learnings"].filter(pl.col("title").str.starts_with(words)).to_dicts()
    return row


def test_every_kind_of_signal_is_there(shown: dict[str, pl.DataFrame]) -> None:
    assert set(shown["signals"]["kind"]) == set(SIGNAL_KINDS)


def test_a_value_decided_anew_replaces_the_old_one_and_a_record_replaces_a_part(
    shown: dict[str, pl.DataFrame],
) -> None:
    told = {row["older_id"]: row for row in shown["supersession"].to_dicts()}
    pool, documents = learning(shown, "Keep the API's database pool at 20"), learning(shown, "Booking documents live")
    newer = told[pool["learning_id"]]
    assert (newer["reason"], newer["newer_id"]) == (
        "value_changed",
        learning(shown, "Keep the API's database pool at 30")["learning_id"],
    )
    part = told[documents["learning_id"]]
    assert (part["partial"], part["part"]) == (True, "retention period")
    assert (pool["state"], documents["state"]) == ("superseded", "active")


def test_what_a_person_said_is_wrong_waits_again_and_what_an_agent_proposed_waits(
    shown: dict[str, pl.DataFrame],
) -> None:
    refuted, proposed = learning(shown, "Correct a billing run by hand below"), learning(shown, "Restore large dumps")
    assert (refuted["state"], refuted["state_reason"]) == ("candidate", "disputed")
    assert (proposed["state"], proposed["trust"]) == ("candidate", "proposed")


def test_one_error_in_two_agents_is_one_learning_and_one_answer_that_failed_again_is_none(
    shown: dict[str, pl.DataFrame],
) -> None:
    error = learning(shown, "pg_restore: error: unsupported version")
    behind = shown["evidence"].filter(pl.col("learning_id") == error["learning_id"])
    assert {name.split(":")[0] for name in behind["family_id"]} == {"codex", "copilot_cli"}
    assert "NODE_OPTIONS" not in " ".join(shown["evidence"]["quote"])
    assert "NODE_OPTIONS" in " ".join(shown["signals"]["quote"])


def test_tags_that_differ_by_an_ending_are_one_topic(shown: dict[str, pl.DataFrame]) -> None:
    merges = {row["from_path"]: row["to_path"] for row in shown["topic_merges"].to_dicts()}
    assert len({merges[f"topic/{tag}"] for tag in ("db_migration", "db_migrations")}) == 1
