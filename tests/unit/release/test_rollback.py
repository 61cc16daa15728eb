"""An earlier release may be served again, unless it says what was taken out since."""

from __future__ import annotations

from datetime import date

import pytest

from lorelake.content.normalise import content_key
from lorelake.errors import ReleaseError, SettingsError
from lorelake.lake import frame, write_table
from lorelake.release import history
from lorelake.release.rollback import rollback
from lorelake.tables import TABLES

TEAM = "harbour-team"


@pytest.fixture
def two(published, publish_night, settings, night):
    """(lake, first release, night): a second one is served, in which one item was archived."""
    first = published.current_release()
    night.learning("review")["state"] = "archived"
    publish_night(published, settings, night, date(2026, 3, 21))
    derived(published, night)
    assert published.current_release() != first
    return published, first, night


def derived(lake, night):
    """The tables as the last night left them."""
    for name in ("tombstones", "learnings", "aliases"):
        write_table(TABLES[name], frame(TABLES[name], night.rows[name]), lake.table(TABLES[name]))


def refused(lake, first, match):
    now = lake.current_release()
    with pytest.raises(ReleaseError, match=match):
        rollback(lake, TEAM, first)
    assert lake.current_release() == now
    return True


def test_it_points_back_and_history_says_so(two):
    lake, first, _ = two
    before = len(history.files(lake))
    assert rollback(lake, TEAM, first) == (first, True)
    assert lake.current_release() == first
    assert len(history.files(lake)) == before + 1
    assert rollback(lake, TEAM, first) == (first, False)
    assert len(history.files(lake)) == before + 1


@pytest.mark.parametrize(("state", "reason"), [("rejected", "rejected"), ("forgotten", "forgotten")])
def test_what_was_rejected_or_forgotten_since_holds_it(two, ids, state, reason):
    lake, first, night = two
    night.learning("pnpm").update(state=state, state_reason=reason)
    derived(lake, night)
    assert refused(lake, first, f"serves 1 items that were taken out since: {ids('pnpm')}")


def test_what_waits_because_it_is_near_such_a_one_holds_it(two):
    lake, first, night = two
    night.learning("pnpm").update(state="candidate", state_reason="near_tombstone")
    derived(lake, night)
    assert refused(lake, first, "taken out since")


def test_an_item_with_another_id_but_the_same_words_holds_it(two):
    """By any words it shows, in the audience the tombstone reaches and in no other."""
    lake, first, night = two
    words = "no, we use pnpm here, not npm: harbourmark"
    night.put("tombstones", content_key=content_key(words), reach="project:lantern", decision_id="d", actor="mara")
    derived(lake, night)
    assert rollback(lake, TEAM, first).new
    night.rows["tombstones"][0]["reach"] = "project:harbour"
    derived(lake, night)
    assert refused(lake, first, "taken out since")


def test_an_id_that_a_tombstone_took_holds_it(two, ids):
    """The learning is gone altogether; its id leads to the tombstone."""
    lake, first, night = two
    night.rows["learnings"] = [row for row in night.rows["learnings"] if row["learning_id"] != ids("pnpm")]
    for row in night.rows["aliases"]:
        if row["reference"] == ids("pnpm"):
            row.update(learning_id=None, basis="forgotten")
    derived(lake, night)
    assert refused(lake, first, "taken out since")


def test_a_damaged_or_unknown_release_and_another_team_are_refused(two):
    lake, first, _ = two
    assert refused(lake, "2026-01-01-00000000", "no release")
    path = lake.releases / first / "manifest.json"
    catalog = lake.releases / first / "catalog.duckdb"
    catalog.chmod(0o640)
    with catalog.open("ab") as stream:
        stream.write(b" ")
    assert path.exists()
    assert refused(lake, first, "damaged")
    with pytest.raises(SettingsError):
        rollback(lake, "another-team", first)
