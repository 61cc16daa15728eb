"""How well belief is calibrated on simulated histories with known truth, beside teamai's formula.

`.venv/bin/pytest tests/bench/test_calibration.py -s` prints the figures of docs/confidence.md.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from belief_samples import History, simulate
from sql_samples import AS_OF, write

from lorelake.lake import Lake, read_table
from lorelake.settings import Settings, Team
from lorelake.tables import TABLES
from lorelake_assets import dbt

LEARNINGS = 600
METHODS = ("confidence", "teamai_confidence")


def told(history: History, folder: Path) -> dict[str, list[dict[str, object]]]:
    """The tables of belief of one simulated lake."""
    lake = Lake(folder)
    write(lake, history.rows)
    dbt.build(lake, AS_OF, Settings(team=Team("t")))
    return {
        name: read_table(TABLES[name], lake.table(TABLES[name])).to_dicts() for name in ("calibration", "confidence")
    }


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_belief_against_truth_and_against_what_came_after(seed: int, tmp_path: Path) -> None:
    history = simulate(seed, LEARNINGS)
    tables = told(history, tmp_path)
    inside = with_both = 0
    distance = dict.fromkeys(METHODS, 0.0)
    for row in tables["confidence"]:
        share = history.truth[str(row["learning_id"])]
        inside += row["confidence_low"] <= share <= row["confidence_high"]
        if row["teamai_confidence"] is not None:
            with_both += 1
            for method in METHODS:
                distance[method] += (row[method] - share) ** 2
    lines = [f"seed {seed}: {LEARNINGS} learnings; truth inside the 95 % interval of {inside / LEARNINGS:.1%}"]
    for method in METHODS:
        lines.append(f"  {method:18} root mean squared distance from truth {(distance[method] / with_both) ** 0.5:.3f}")
    for row in sorted(tables["calibration"], key=lambda row: (row["events"], row["method"], row["bin"])):
        if row["events"] == "both":
            lines.append(
                f"  {row['method']:18} {row['bin']:8} n {row['n']:4}  predicted {row['mean_predicted']:.2f}  "
                f"held {row['observed']:.2f}  Brier {row['brier']:.3f}  log loss {row['log_loss']:.3f}"
            )
    sys.stdout.write("\n" + "\n".join(lines) + "\n")
    assert distance["confidence"] < distance["teamai_confidence"]
