from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from lorelake.release.build import redactor
from lorelake.release.rows import quarantine, quarantine_events

FAKE_KEY = "AKIA" + "QZXWTR7MNP3KJ5LD"


def states(night, settings):
    tables = night.tables()
    after = quarantine(tables["learnings"], tables["learning_evidence"], redactor(settings).values)
    return {row["learning_id"]: (row["state"], row["state_reason"]) for row in after.iter_rows(named=True)}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"title": "  "}, "row_empty_title"),
        ({"do": ""}, "row_empty_do"),
        ({"confidence_high": 1.2}, "row_value_range"),
        ({"confidence": float("nan")}, "row_value_range"),
        ({"confidence_low": 0.8}, "row_interval_order"),
        ({"because": f"export AWS_ACCESS_KEY_ID={FAKE_KEY}"}, "row_secret"),
        ({"applies_to": [f"key {FAKE_KEY}"]}, "row_secret"),
    ],
)
def test_a_faulty_row_is_moved_and_says_why(night, settings, ids, change, code):
    before = states(night, settings)
    night.learning("pnpm").update(change)
    after = states(night, settings)
    assert after.pop(ids("pnpm")) == ("quarantined", code)
    before.pop(ids("pnpm"))
    assert after == before, "no other row may move"


@pytest.mark.parametrize(
    ("change", "moved"),
    [
        ({"quote_verified": False}, True),
        ({"actor_class": "agent"}, True),
        ({"actor_class": "injected"}, True),
        ({"actor_class": "tool"}, False),
    ],
)
def test_an_active_learning_needs_a_verified_quote_of_a_person_or_a_fact(night, settings, ids, change, moved):
    for row in night.rows["learning_evidence"]:
        if row["learning_id"] in (ids("pnpm"), ids("waits")):
            row.update(change)
    after = states(night, settings)
    assert after[ids("pnpm")] == (("quarantined", "row_no_witness") if moved else ("active", "stated"))
    assert after[ids("waits")][0] == "candidate"


def test_a_secret_in_the_quote_behind_it_holds_the_item(night, settings, ids):
    next(r for r in night.rows["learning_evidence"] if r["learning_id"] == ids("pnpm"))["quote"] = (
        f"use {FAKE_KEY} then"
    )
    assert states(night, settings)[ids("pnpm")] == ("quarantined", "row_secret")


def test_retired_rows_keep_their_state(night, settings, ids):
    night.learning("paths_old")["do"] = ""
    assert states(night, settings)[ids("paths_old")][0] == "superseded"


def test_a_move_is_told_in_the_log(night, settings, ids):
    tables = night.tables()
    night.learning("pnpm")["do"] = ""
    after = quarantine(night.tables()["learnings"], tables["learning_evidence"], redactor(settings).values)
    (event,) = quarantine_events(tables["learnings"], after, date(2026, 3, 20)).iter_rows(named=True)
    assert event == {
        "learning_id": ids("pnpm"), "ts": datetime(2026, 3, 20, 23, 59, 59, tzinfo=UTC), "from_state": "active",
        "to_state": "quarantined", "reason": "row_empty_do", "actor": "rule", "evidence": "",
    }  # fmt: skip
