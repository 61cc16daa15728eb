"""The table of allowed moves against some thousand lives into which everything is crowded that can happen to one."""

from __future__ import annotations

from pathlib import Path

import pytest
from move_samples import Lives
from sql_samples import AS_OF, write

from lorelake.lake import Lake, read_table
from lorelake.settings import Revalidate, Settings, Team
from lorelake.tables import LEARNING_EVENTS
from lorelake.tables.moves import REASONS, allowed
from lorelake_assets import dbt

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("sql_moves")]

TOO_RARE = 20
"""Moves that need three things at one instant, as a merge at the moment a third of its requests is reverted."""


def test_what_is_allowed_is_met_and_nothing_else(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    write(lake, Lives(1, 2500).rows)
    result = dbt.build(lake, AS_OF, Settings(team=Team("t"), revalidate=Revalidate(fact=60)))
    assert {verdict.name for verdict in result.verdicts if verdict.holds_release} == set()
    log = read_table(LEARNING_EVENTS, lake.table(LEARNING_EVENTS)).to_dicts()
    met = {f"{row['from_state'] or ''}>{row['to_state']}:{row['reason']}" for row in log}
    assert met <= set(allowed())
    assert len(set(allowed()) - met) <= TOO_RARE
    assert {row["reason"] for row in log} == set(REASONS)
    assert all(row["actor"] and (row["evidence"] or row["actor"] == "rule") for row in log)
