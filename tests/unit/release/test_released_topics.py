"""Topics in a release: whose words stand where, and that nothing hangs loose."""

from __future__ import annotations

from datetime import date
from typing import Any

import polars as pl
import pytest

from lorelake.release.audit_tables import check_tables
from lorelake.release.build import build_candidate
from lorelake.release.privacy import without_private_words


@pytest.fixture
def filed(night):
    """Topics of the team, of a project, of a channel, and of one forgotten item."""
    night.file_under("paths", "topic/shell/quoting")
    night.file_under("gone", "topic/forgetmark")
    night.file_under("gone", "topic/shell")
    night.file_under("pnpm", "topic/packages")
    night.file_under("secret_plan", "topic/ochremark")
    night.put(
        "topic_merges", from_id="f" * 32, to_id=topic_of(night, "topic/ochremark"), audience="channel:C0PRIVATE",
        kind="topic", from_path="topic/ochremarks", to_path="topic/ochremark", rule="shared_words",
        evidence="ochremark",
    )  # fmt: skip
    night.put(
        "topic_merges", from_id="e" * 32, to_id=topic_of(night, "topic/packages"), audience="project:harbour",
        kind="topic", from_path="topic/package", to_path="topic/packages", rule="shared_words", evidence="package",
    )  # fmt: skip
    return night


def topic_of(night, path):
    return next(row["topic_id"] for row in night.rows["topics"] if row["path"] == path)


def told(night) -> dict[str, str]:
    """What the analysts' tables of topics say, as text, and how many rows they have."""
    frames = night.tables()
    shown = without_private_words(frames, frames["signals"])
    for name in ("topics", "topic_members", "topic_merges"):
        assert shown[name].height == frames[name].height
    return {name: str(shown[name].rows()) for name in ("topics", "topic_members", "topic_merges")}


def test_private_and_forgotten_topics_keep_their_rows_and_lose_their_words(filed):
    for text in told(filed).values():
        assert "ochremark" not in text
        assert "forgetmark" not in text


def test_a_topic_is_shown_where_one_shown_item_lies_at_it_or_below(filed):
    found = told(filed)
    assert "topic/shell'" in found["topics"]
    assert "topic/shell/quoting" in found["topics"]
    assert "topic/packages" in found["topics"]
    assert "topic/package'" in found["topic_merges"]


def test_a_merge_beside_a_hidden_item_may_be_its_words(filed):
    """The tag that was merged may be the hidden one's."""
    filed.put(
        "topic_merges", from_id="d" * 32, to_id=topic_of(filed, "topic/shell"), audience="team", kind="topic",
        from_path="topic/forgetmarks_shell", to_path="topic/shell", rule="shared_words", evidence="shell",
    )  # fmt: skip
    assert "forgetmarks_shell" not in told(filed)["topic_merges"]


def test_an_index_holds_its_own_topics_with_something_served_and_no_other(filed, lake, settings):
    import sqlite3

    from lorelake import served

    build_candidate(lake, settings, date(2026, 3, 20), filed.tables(), {"night": "0"})
    found: dict[str, set[Any]] = {}
    for audience in ("team", "project:harbour", "channel:C0PRIVATE"):
        path = lake.candidate / "index" / served.audience_id(settings.team.id, audience) / "lexical.db"
        with sqlite3.connect(path) as db:
            found[audience] = {row[0] for row in db.execute("SELECT path FROM topics")}
    assert found == {
        "team": {"topic/shell", "topic/shell/quoting"}, "project:harbour": {"topic/packages"},
        "channel:C0PRIVATE": {"topic/ochremark"},
    }  # fmt: skip


def codes(night, **replaced) -> set[str]:
    frames = without_private_words(night.tables(), night.tables()["signals"])
    return {finding.code for finding in check_tables({**frames, **replaced}, {}, True)}


def test_topics_that_hang_together_pass(filed):
    assert "topic_orphan" not in codes(filed)


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("topics", "parent_id"),
        ("topic_members", "learning_id"),
        ("topic_members", "topic_id"),
        ("topic_merges", "to_id"),
    ],
)
def test_what_hangs_on_nothing_blocks(filed, table, column):
    broken = filed.tables()[table].with_columns(pl.lit("0" * 32).alias(column)).unique(maintain_order=True)
    assert "topic_orphan" in codes(filed, **{table: broken})


def test_an_empty_topic_blocks(filed):
    members = filed.tables()["topic_members"]
    assert "topic_orphan" in codes(
        filed, topic_members=members.filter(pl.col("topic_id") != topic_of(filed, "topic/packages"))
    )
