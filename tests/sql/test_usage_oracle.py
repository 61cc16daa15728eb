"""Use, decay, votes, belief and calibration against the slow oracle, on lakes in which learnings were used."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
from belief_oracle import BeliefOracle
from sql_samples import AS_OF, write
from usage_oracle import FACTS
from usage_samples import UsageWorld

from lorelake.lake import Lake, read_table
from lorelake.settings import Settings, Team
from lorelake.tables import TABLES
from lorelake_assets import dbt

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("usage_oracle")]


class Built:
    """One world with its tables and its oracle."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.world = UsageWorld(seed, 200)
        self.lake = Lake(folder)
        write(self.lake, self.world.rows)
        self.result = dbt.build(self.lake, AS_OF, Settings(team=Team("t")))
        self.oracle = BeliefOracle(self.world.rows)

    def rows(self, name: str) -> list[dict[str, Any]]:
        return read_table(TABLES[name], self.lake.table(TABLES[name])).to_dicts()


@pytest.fixture(scope="module", params=[11])
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    return Built(tmp_path_factory.mktemp("lake"), request.param)


def test_the_world_is_wide_enough(built: Built) -> None:
    """The comparison proves nothing about a word or rule that no sample reaches."""
    usage = built.rows("usage")
    assert {row["verdict"] for row in usage} == {"explicit", "acknowledged", "refuted", "none"}
    assert {row["refuted_by"] for row in usage} == {"person", "agent", None}
    assert {row["outcome"] for row in usage} == {"held", "failed", "unknown"}
    assert {row["outcome_basis"] for row in usage} == {*FACTS, None}
    assert {row["voter_class"] for row in usage} == {"agent", "author", "bot"}
    assert {row["closed"] for row in usage} == {True, False}
    decay = built.rows("decay")
    assert sum(row["pinned"] for row in decay) >= 5
    assert sum(row["disuse"] < 1 for row in decay) >= 10
    assert {True, False} == {row["shown_before"] for row in built.rows("repeat_mistakes")}
    shifts = [row["weak_shift"] for row in built.rows("confidence")]
    assert min(shifts) < -0.001
    assert max(shifts) == 0.05
    methods = Counter(row["method"] for row in built.rows("calibration"))
    assert methods["confidence"] >= 6
    assert methods["teamai_confidence"] >= 4
    assert {row["enough"] for row in built.rows("calibration")} == {True, False}


def test_usage(built: Built) -> None:
    found: dict[str, Any] = defaultdict(dict)
    for row in built.rows("usage"):
        found[row.pop("learning_id")][row.pop("family_id")] = row
    for learning in built.world.learnings:
        wanted = built.oracle.usage(learning)
        assert found[learning].keys() == wanted.keys()
        for family, row in found[learning].items():
            assert row == {name: wanted[family][name] for name in row}, (learning, family)


def test_votes(built: Built) -> None:
    found: dict[str, Any] = defaultdict(dict)
    for row in built.rows("votes"):
        found[row["learning_id"]][row["voter"], row["family_id"]] = (
            row["voter_class"], row["recalled"], row["upvoted"], row["refuted"],
        )  # fmt: skip
        assert row["ts"] == built.oracle.vote_time(row["learning_id"], row["voter"], row["family_id"])
    for learning in built.world.learnings:
        assert found[learning] == built.oracle.votes(learning), learning


def test_decay(built: Built) -> None:
    for row in built.rows("decay"):
        wanted = built.oracle.decay(row.pop("learning_id"))
        for name in ("disuse", "ageing", "decay"):
            assert row.pop(name) == pytest.approx(wanted.pop(name), abs=2e-9), name
        assert row == wanted


def test_confidence(built: Built) -> None:
    for row in built.rows("confidence"):
        learning = row.pop("learning_id")
        trust = built.oracle.trust(learning, built.oracle.tonight(learning))
        wanted = built.oracle.belief(learning, trust, AS_OF)
        assert row.pop("teamai_confidence") == wanted.pop("teamai_confidence")
        for name, value in wanted.items():
            assert row[name] == pytest.approx(
                value, abs=1e-7 if name in ("confidence_low", "confidence_high") else 3e-9
            )
        assert row["confidence"] == pytest.approx(
            row["support"] / (row["support"] + row["against"]) + row["weak_shift"], abs=2e-9
        )


def test_calibration(built: Built) -> None:
    wanted = built.oracle.calibration()
    found = {(row["method"], row["events"], row["bin"]): row for row in built.rows("calibration")}
    assert found.keys() == wanted.keys()
    for key, row in found.items():
        figures = [row[name] for name in ("n", "mean_predicted", "observed", "brier", "log_loss")]
        assert figures == pytest.approx(wanted[key], abs=1e-8), key
        assert row["enough"] == (row["n"] >= 20)


def test_repeat_mistakes(built: Built) -> None:
    found: dict[str, Any] = defaultdict(dict)
    for row in built.rows("repeat_mistakes"):
        told = tuple(row[name] for name in ("audience", "first_ts", "last_ts", "times", "shown_at"))
        found[row["learning_id"]][row["family_id"], row["signature"]] = told
        assert row["shown_before"] == (row["shown_at"] is not None)
    for learning in built.world.learnings:
        assert found[learning] == built.oracle.repeats(learning), learning


def test_no_data_test_finds_anything(built: Built) -> None:
    found = {verdict.name for verdict in built.result.verdicts if not verdict.passed}
    assert found <= {"every_decision_finds_its_item"}
