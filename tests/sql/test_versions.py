"""Both time axes against a slow oracle that forgets, for each day, whatever the lake had not kept by then."""

from __future__ import annotations

import random
from collections import defaultdict
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sql_oracle import Oracle
from sql_samples import AS_OF, Row, World, write
from time_oracle import KnownBy

from lorelake.lake import Lake, read_table
from lorelake.settings import Revalidate, Settings, Team
from lorelake.tables import LEARNING_VERSIONS, LEARNINGS
from lorelake_assets import dbt

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("sql_versions")]

COMPARED = ("state", "state_reason", "trust", "title", "superseded_by")
DRAWN, POINTS = 60, 12


class Built:
    """One world, its versions by learning, and the oracle of all that is known."""

    def __init__(self, folder: Path) -> None:
        self.world = World(11, learnings=120)
        lake = Lake(folder)
        write(lake, self.world.rows)
        dbt.build(lake, AS_OF, Settings(team=Team("t"), revalidate=Revalidate(fact=60)))
        self.oracle = Oracle(self.world.rows, revalidate={"fact": 60})
        self.learnings = read_table(LEARNINGS, lake.table(LEARNINGS)).to_dicts()
        self.versions: dict[str, list[Row]] = defaultdict(list)
        for row in read_table(LEARNING_VERSIONS, lake.table(LEARNING_VERSIONS)).to_dicts():
            self.versions[row["learning_id"]].append(row)

    def at(self, learning: str, ts: Any, known: Any) -> list[Row]:
        """The rows that hold at an instant, as known on a day."""
        return [
            row for row in self.versions[learning]
            if row["valid_from"] <= ts and (row["valid_to"] is None or ts < row["valid_to"])
            and row["known_from"] <= known and (row["known_to"] is None or known < row["known_to"])
        ]  # fmt: skip


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return Built(tmp_path_factory.mktemp("lake"))


def test_what_was_believed_on_each_day(built: Built) -> None:
    pick = random.Random(5)
    linked = {built.oracle.holds(row["older_id"]) for row in built.world.rows["supersession_candidates"]}
    some = sorted(built.versions, key=lambda name: (name not in linked, -len(built.versions[name]), name))[:DRAWN]
    days = {name: {row["known_from"] for row in built.versions[name]} for name in some}
    met: set[Any] = set()
    for known in sorted(set().union(*days.values())):
        by_then = KnownBy(built.oracle, known)
        for name in some:
            if known not in days[name]:
                continue
            bounds = {row["valid_from"] for row in built.versions[name]}
            instants = {ts + timedelta(seconds=pick.choice([0, -1])) for ts in bounds}
            for ts in pick.sample(sorted(instants), min(POINTS, len(instants))):
                wanted = by_then.believed(name, ts)
                found = [{key: row[key] for key in COMPARED} for row in built.at(name, ts, known)]
                assert found == ([wanted] if wanted else []), (name, ts, known)
                met.add(wanted and wanted["state"])
    assert met >= {None, "candidate", "active", "superseded", "expired", "archived", "rejected"}
    assert max(len(some) for some in days.values()) > 3


def test_late_evidence_changes_the_past_on_one_axis_only(built: Built) -> None:
    """What is learned on a day says something of the time before it; what was known before that day stays as it was."""
    changed = 0
    for rows in built.versions.values():
        for row in rows:
            if row["known_to"] is None:
                continue
            later = built.at(row["learning_id"], row["valid_from"], row["known_to"])
            changed += any(
                other["state"] != row["state"] and row["valid_from"].date() < row["known_to"] for other in later
            )
            before = built.at(row["learning_id"], row["valid_from"], row["known_to"] - timedelta(days=1))
            assert before == [row]
    assert changed > 10


def test_what_is_open_on_both_axes_is_tonight(built: Built) -> None:
    wanted = ("learning_id", "state", "state_reason", "trust", "title", "text_sha256", "superseded_by")
    tonight = {
        row["learning_id"]: {name: row[name] for name in wanted}
        for rows in built.versions.values()
        for row in rows
        if row["valid_to"] is None and row["known_to"] is None
    }
    assert tonight == {row["learning_id"]: {name: row[name] for name in wanted} for row in built.learnings}
