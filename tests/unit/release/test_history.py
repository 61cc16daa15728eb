"""What was served on a day: kept by history as hashes, told by a release's tables and macros."""

from __future__ import annotations

from datetime import UTC, date, datetime

import polars as pl
import pytest

from lorelake.cli.sql import connect, query
from lorelake.lake import Lake, write_table
from lorelake.release import history
from lorelake.release.build import build_candidate
from lorelake.release.publish import publish
from lorelake.release.rows import quarantine_versions
from lorelake.release.verdict import store_verdict
from lorelake.tables import LEARNING_VERSIONS, LEARNINGS

TEAM = "harbour-team"


def days(day: int) -> datetime:
    return datetime(2026, 3, day, 2, tzinfo=UTC)


def version(night, learning, title, sha, **values):
    known = {"valid_from": days(1), "known_from": date(2026, 3, 1), "state": "active", "trust": "stated"}
    night.put("learning_versions", **known | {"learning_id": learning, "title": title, "text_sha256": sha} | values)


@pytest.fixture(scope="module")
def three_nights(tmp_path_factory, settings, make_night, learning_of):
    """`pnpm` is reworded on the second night and gone on the third; `paths` is served on all of them."""
    lake = Lake(tmp_path_factory.mktemp("history") / "lake")
    pnpm = learning_of("pnpm")
    for day, words in ((20, "a" * 64), (21, "b" * 64), (22, None)):
        night = make_night()
        night.learning("pnpm").update({"text_sha256": words} if words else {"state": "expired"})
        version(night, pnpm, "old title", "a" * 64)
        version(night, pnpm, "new title", "b" * 64, valid_from=days(20), known_from=date(2026, 3, 21))
        build_candidate(lake, settings, date(2026, 3, day), night.tables(), {})
        store_verdict(lake.candidate, [])
        publish(lake, TEAM, days(day + 1))
    return lake


def test_history_keeps_which_words_were_served_and_never_the_words(three_nights, learning_of):
    publishes, servings = history.servings(three_nights)
    assert [row["served_from"] for row in publishes] == [days(21), days(22), days(23)]
    assert [row["served_to"] for row in publishes] == [days(22), days(23), None]
    mine = [row for row in servings if row["learning_id"] == learning_of("pnpm")]
    assert [(row["text_sha256"], row["from_sequence"], row["to_sequence"]) for row in mine] == [
        ("a" * 64, 1, 2), ("b" * 64, 2, 3),
    ]  # fmt: skip
    (other,) = [row for row in servings if row["learning_id"] == learning_of("paths")]
    assert (other["from_sequence"], other["to_sequence"]) == (1, None)
    rows = pl.concat([history.read(path) for path in history.files(three_nights)])
    assert set(rows.filter(pl.col("to_state") != "active")["text_sha256"]) == {None}
    assert "title" not in rows.columns


def test_a_change_of_words_alone_is_no_change_of_state(three_nights):
    told = [switch.told for _, switch in sorted(history.switches(three_nights).items())]
    assert told[1] == ""
    assert "-1 active" in told[2]


def test_an_analyst_asks_what_was_served_on_a_day(three_nights, learning_of):
    pnpm = learning_of("pnpm")
    with connect(three_nights.releases / three_nights.current_release()) as db:

        def told(day: str) -> list[tuple[object, ...]]:
            rows = query(db, f"from served('{day}')")[1]
            return [(release, title) for release, _, learning, _, title in rows if learning == pnpm]

        first, second, third = sorted(path.name for path in three_nights.releases.iterdir())
        assert told("2026-03-20") == []
        assert told("2026-03-21") == [(first, "old title")]
        assert told("2026-03-22") == [(second, "new title")]
        assert told("2026-03-23") == []
        # The release in hand has no name while it is made: it is the one without.
        assert query(db, "select distinct release_id from served('2026-03-23')")[1] == [(None,)]
        assert third == three_nights.current_release()


def test_an_analyst_asks_what_was_believed(three_nights, learning_of):
    pnpm = learning_of("pnpm")
    with connect(three_nights.releases / three_nights.current_release()) as db:

        def told(valid: str, known: str) -> list[object]:
            names, rows = query(db, f"from as_of('{valid}', date '{known}')")
            found = [dict(zip(names, row, strict=True)) for row in rows]
            return sorted(row["title"] for row in found if row["learning_id"] == pnpm)

        assert told("2026-02-28", "2026-03-22") == []
        assert told("2026-03-01", "2026-02-28") == []
        assert told("2026-03-10", "2026-03-20") == ["old title"]
        assert told("2026-03-20", "2026-03-20") == ["old title"]
        assert told("2026-03-20", "2026-03-21") == ["new title", "old title"]


def test_history_from_before_words_were_kept_is_read(three_nights, tmp_path):
    lake = Lake(tmp_path)
    for path in history.files(three_nights):
        (lake.history).mkdir(exist_ok=True)
        pl.read_parquet(path).drop("text_sha256").write_parquet(lake.history / path.name)
    publishes, servings = history.servings(lake)
    assert len(publishes) == 3
    assert {row["text_sha256"] for row in servings} == {""}


def test_a_quarantined_learning_was_believed_until_it_was_looked_at(tmp_path, learning_of):
    row = {
        "learning_id": learning_of("pnpm"), "valid_from": days(1), "valid_to": None, "known_from": date(2026, 3, 2),
        "known_to": None, "state": "active", "state_reason": "stated", "trust": "stated", "title": "t",
        "text_sha256": "a", "superseded_by": None,
    }  # fmt: skip
    versions = pl.DataFrame([row, {**row, "learning_id": "other"}], schema=LEARNING_VERSIONS.polars_schema())
    moves = pl.DataFrame(
        {"learning_id": [row["learning_id"]], "ts": [days(20)], "to_state": ["quarantined"], "reason": ["row_secret"]}
    ).with_columns(pl.col("ts").cast(pl.Datetime("us", "UTC")))
    found = quarantine_versions(versions, moves, date(2026, 3, 20)).filter(pl.col("learning_id") == row["learning_id"])
    write_table(LEARNING_VERSIONS, found, tmp_path / "versions.parquet")
    columns = ("valid_from", "valid_to", "known_from", "known_to", "state")
    assert sorted(found.select(columns).rows(), key=str) == [
        (days(1), days(20), date(2026, 3, 2), None, "active"),
        (days(20), None, date(2026, 3, 2), date(2026, 3, 20), "active"),
        (days(20), None, date(2026, 3, 20), None, "quarantined"),
    ]
    assert LEARNINGS.key == ("learning_id",)
