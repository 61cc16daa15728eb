"""What must hold of belief and decay whatever the history, and that belief is better calibrated than teamai's."""

from __future__ import annotations

import math
import random
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from belief_oracle import interval
from belief_samples import History, simulate
from sql_samples import AS_OF, claim_id, days_ago, write

from lorelake.lake import Lake, read_table
from lorelake.settings import Settings, Team
from lorelake.tables import TABLES
from lorelake_assets import dbt

slow = [pytest.mark.slow, pytest.mark.xdist_group("belief")]
PAIRS = 150
ACTS = ((), (), ("cited",), ("applying",), ("n_a",), ("refuted",), ("cited", "refuted"))


class Lives:
    """One lake of simulated and of planted histories, and its tables by learning."""

    def __init__(self, folder: Path) -> None:
        self.history = simulate(1, 250)
        plant_pairs(self.history)
        plant_single_cases(self.history)
        lake = Lake(folder)
        write(lake, self.history.rows)
        self.result = dbt.build(lake, AS_OF, Settings(team=Team("t")))
        self.calibration = read_table(TABLES["calibration"], lake.table(TABLES["calibration"])).to_dicts()
        self.votes = read_table(TABLES["votes"], lake.table(TABLES["votes"])).to_dicts()
        self.by_name: dict[str, dict[str, Any]] = {}
        for name in ("confidence", "decay", "learnings"):
            for row in read_table(TABLES[name], lake.table(TABLES[name])).iter_rows(named=True):
                self.by_name.setdefault(row["learning_id"], {}).update(row)

    def __getitem__(self, name: str) -> dict[str, Any]:
        return self.by_name[claim_id(name)]


def plant_pairs(history: History) -> None:
    """Pairs of one history each; the second has one more showing that was ignored. And one without what agents said."""
    pick = random.Random(5)
    for number in range(PAIRS):
        uses = [(days_ago(pick.uniform(1.5, 120)), pick.choice(ACTS)) for _ in range(pick.randrange(0, 9))]
        kind = pick.choice(["fact", "scar", "pattern"])
        for name, some in (
            (f"pair{number}", uses),
            (f"more{number}", [*uses, (days_ago(pick.uniform(1.5, 120)), ())]),
            (f"mute{number}", [(ts, ()) for ts, _ in uses]),
        ):
            history.learn(name, "stated", days_ago(130), kind=kind)
            for nth, (ts, acts) in enumerate(some):
                history.show(name, f"claude_code:{name}-{nth}", ts, *acts)


def plant_single_cases(history: History) -> None:
    for name in ("alone", "own_sessions", "one_day", "mended", "broken", "left", "agents_against", "pinned", "once"):
        history.learn(name, "stated", days_ago(100))
    for nth in range(5):
        history.show("own_sessions", f"claude_code:own{nth}", days_ago(10 + nth), "cited", who="ada")
        history.show("one_day", f"claude_code:day{nth}", days_ago(10) + timedelta(minutes=nth), "cited", who="ada")
        for name in ("mended", "broken"):
            history.show(name, f"claude_code:{name}{nth}", days_ago(10 + nth), who="ada")
            history.meet(name, f"claude_code:{name}{nth}", days_ago(10 + nth) + timedelta(minutes=5), name == "mended")
        history.show("pinned", f"claude_code:pinned{nth}", days_ago(10 + nth))
    for nth in range(60):
        history.show("agents_against", f"claude_code:against{nth}", days_ago(2 + nth), "refuted")
    history.show("left", "claude_code:left-shown", days_ago(5), "cited", who="zoe")
    history.show("once", "claude_code:once-shown", days_ago(5))
    history.say("pinned", "cho", days_ago(3), True)
    history.rows["ledger"][-1]["decision"] = "pin"


@pytest.fixture(scope="module")
def lives(tmp_path_factory: pytest.TempPathFactory) -> Lives:
    return Lives(tmp_path_factory.mktemp("lake"))


class TestOfOneLake:
    """All on one lake, because a run of the models is what costs."""

    pytestmark = slow

    def test_one_more_showing_that_is_ignored_never_protects(self, lives: Lives) -> None:
        lower = 0
        for number in range(PAIRS):
            less, more = lives[f"pair{number}"], lives[f"more{number}"]
            assert more["decay"] <= less["decay"], number
            assert more["confidence"] == less["confidence"], "a showing says nothing about truth"
            lower += more["decay"] < less["decay"]
        assert lower > PAIRS / 4

    def test_what_agents_say_moves_the_mean_within_the_bound_and_nothing_else(self, lives: Lives) -> None:
        up = down = 0
        for number in range(PAIRS):
            said, mute = lives[f"pair{number}"], lives[f"mute{number}"]
            assert abs(said["confidence"] - mute["confidence"]) <= 0.05 + 1e-9
            for column in ("state", "state_reason", "trust", "confidence_low", "confidence_high", "support", "against"):
                assert said[column] == mute[column], (number, column)
            up, down = up + (said["confidence"] > mute["confidence"]), down + (said["confidence"] < mute["confidence"])
        assert min(up, down) > PAIRS / 20
        many = lives["agents_against"]
        assert many["weak_shift"] == -0.05
        assert (many["state"], many["confidence_low"]) == ("active", lives["alone"]["confidence_low"])

    def test_a_team_of_one_sees_belief_rise_as_well_as_fall(self, lives: Lives) -> None:
        alone = lives["alone"]["confidence"]
        assert alone == pytest.approx(2 / 3, abs=1e-9)
        assert lives["own_sessions"]["confidence"] > lives["one_day"]["confidence"] > alone
        assert lives["mended"]["confidence"] > alone + 0.05
        assert lives["broken"]["confidence"] < alone - 0.05
        upvotes = [row for row in lives.votes if row["learning_id"] == claim_id("one_day") and row["upvoted"]]
        assert [row["voter_class"] for row in upvotes] == ["author"]

    def test_one_showing_costs_nothing_and_a_pin_holds(self, lives: Lives) -> None:
        assert (lives["once"]["surfaced"], lives["once"]["disuse"]) == (1, 1.0)
        assert lives["once"]["decay"] == lives["alone"]["decay"]
        assert (lives["pinned"]["disuse"], lives["pinned"]["decay"]) == (pytest.approx(0.2), 1.0)

    def test_the_vote_of_somebody_who_left_stays(self, lives: Lives) -> None:
        (vote,) = [row for row in lives.votes if row["learning_id"] == claim_id("left")]
        assert (vote["voter"], vote["voter_class"], vote["upvoted"]) == ("zoe", "agent", True)

    def test_belief_is_better_calibrated_than_teamais_formula(self, lives: Lives) -> None:
        """Against the truth itself, and against what came after in the records."""
        ours, theirs = against_truth(lives)
        assert ours[0] < theirs[0] - 0.02, "Brier"
        assert ours[1] < theirs[1] - 0.1, "log loss"
        rows = {row["method"]: row for row in lives.calibration if (row["events"], row["bin"]) == ("both", "all")}
        assert rows["confidence"]["n"] == rows["teamai_confidence"]["n"] > 200
        for score in ("brier", "log_loss"):
            assert rows["confidence"][score] < rows["teamai_confidence"][score]


def against_truth(lives: Lives) -> tuple[list[float], list[float]]:
    """(Brier, log loss) expected of ours and of teamai's figure, over learnings that have both."""
    figures: list[list[tuple[float, float]]] = [[], []]
    for learning, share in lives.history.truth.items():
        row = lives.by_name[learning]
        if row["teamai_confidence"] is None:
            continue
        for place, name in enumerate(("confidence", "teamai_confidence")):
            chance = min(0.99, max(0.01, row[name]))
            loss = -share * math.log(chance) - (1 - share) * math.log(1 - chance)
            figures[place].append(((chance - share) ** 2 + share * (1 - share), loss))
    ours, theirs = ([sum(column) / len(some) for column in zip(*some, strict=True)] for some in figures)
    return ours, theirs


def beta_quantile(a: float, b: float, p: float) -> float:
    """By summing the density over a fine grid."""
    steps = 20_000
    density = [
        math.exp((a - 1) * math.log(x) + (b - 1) * math.log(1 - x)) for x in ((k + 0.5) / steps for k in range(steps))
    ]
    wanted, so_far = p * sum(density), 0.0
    for place, mass in enumerate(density):
        so_far += mass
        if so_far >= wanted:
            return (place + 1) / steps
    return 1.0


@pytest.mark.parametrize(("a", "b"), [(1, 1), (2, 1), (4, 1), (1.5, 1), (60, 1), (3, 2), (1, 5), (40, 25), (2, 30)])
def test_the_interval_is_near_that_of_the_distribution(a: float, b: float) -> None:
    low, high = interval(a, b)
    assert low == pytest.approx(beta_quantile(a, b, 0.025), abs=0.025)
    assert high == pytest.approx(beta_quantile(a, b, 0.975), abs=0.025)
