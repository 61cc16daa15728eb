"""The one table of states and moves against the SQL that decides, and against the rows its unit test states."""

from __future__ import annotations

import re

import pytest
import yaml

from lorelake.tables import STATES
from lorelake.tables.moves import MOVES, REASONS, allowed
from lorelake_assets.dbt import models_dir

MACROS = (models_dir() / "macros/states.sql").read_text(encoding="utf-8")
TESTS = yaml.safe_load((models_dir() / "layers/learnings/learnings_unit_tests.yml").read_text(encoding="utf-8"))
(STANDING,) = (
    test["expect"]["rows"]
    for test in TESTS["unit_tests"]
    if test["name"] == "trust_and_state_follow_the_first_rule_that_holds"
)


@pytest.mark.parametrize("code", REASONS)
def test_every_reason_is_reached_by_a_row_of_the_unit_test_and_leads_to_its_state(code: str) -> None:
    states = {row["state"] for row in STANDING if row["state_reason"] == code}
    assert states == {REASONS[code].state}


def test_sql_knows_no_reason_that_does_not_stand_in_the_table() -> None:
    body = MACROS[MACROS.index("macro standing_reason") :]
    named = set(re.findall(r"then '(\w+)'", body[: body.index("macro state_for")]))
    by_trust = {"corroborated", "stated", "mechanical", "proposed"}
    by_tombstone = {"rejected", "forgotten"}
    assert named | by_trust | by_tombstone == set(REASONS)


@pytest.mark.parametrize("code", REASONS)
def test_state_for_names_the_state_of_the_table(code: str) -> None:
    body = MACROS[MACROS.index("macro state_for") :]
    if REASONS[code].state in ("rejected", "forgotten", "superseded"):
        assert code == REASONS[code].state, "these three reasons name their states"
    branch = re.search(rf"in \(([^)]*'{code}'[^)]*)\) then (\S+)", body)
    found = branch[2].strip("'") if branch else "candidate"
    assert found in (REASONS[code].state, "{{"), "{{ reason }} itself"


def test_every_state_a_rule_enters_has_its_row_of_moves() -> None:
    entered = {reason.state for reason in REASONS.values()}
    assert entered == set(STATES) - {"quarantined"}
    assert set(MOVES) == {None, *entered}
    assert all(set(after) <= entered for after in MOVES.values())


def test_what_has_one_way_in_is_not_entered_from_itself_and_nothing_begins_by_running_out() -> None:
    for state in MOVES:
        if state is not None and [reason.state for reason in REASONS.values()].count(state) == 1:
            assert state not in MOVES[state]
    assert "expired" not in MOVES[None]
    assert ">expired:silent" not in allowed()
    assert "active>rejected:rejected" in allowed()
    assert len(allowed()) == len(set(allowed()))
