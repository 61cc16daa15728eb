"""What the whole derivation after evidence costs, at 10,000 and at 100,000 claims with ten exposures each.

Every step is the night's own asset in a fresh interpreter, so that its imports and its memory count and are its own.
`.venv/bin/pytest tests/bench/test_derivation.py -s` prints the figures; a small run alone takes half a minute.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import derive
import pytest

SMALL, LARGE = 10_000, 100_000
GIB = 1024.0
SECONDS, MEMORY = 60, 4 * GIB
SHOWN = 12
"""Slowest models and tests that are printed."""


def say(what: str, value: str) -> None:
    sys.stderr.write(f"\n  {what:<58} {value}")


def call(*arguments: str) -> str:
    script = Path(derive.__file__)
    done = subprocess.run([sys.executable, str(script), *arguments], check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout


def measured(folder: Path, claims: int) -> dict[str, dict[str, Any]]:
    """Step to what it took, in the order of the night; prints it."""
    call("generate", str(folder), str(claims))
    took: dict[str, dict[str, Any]] = {}
    for step in derive.STEPS:
        one = took[step] = json.loads(call(step, str(folder)))
        told = f"{one['wall']:.1f} s, {one['cpu']:.1f} CPU-s, {one['mb'] / GIB:.2f} GiB"
        say(f"{claims:,} claims, {step}", told)
        for command, seconds in one["models"].items():
            say(f"  dbt {command}: all", f"{seconds.pop('= all'):.2f} s")
            for name in sorted(seconds, key=lambda name: -seconds[name])[:SHOWN]:
                say(f"    {name}", f"{seconds[name]:.2f} s")
    say(f"{claims:,} claims, all steps", f"{total(took, 'wall'):.1f} s, {total(took, 'cpu'):.1f} CPU-s")
    return took


def total(took: dict[str, dict[str, Any]], what: str) -> float:
    """Over all steps. Imports and dbt's data tests are in it: a night has them too."""
    return sum(float(one[what]) for one in took.values())


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    return measured(tmp_path_factory.mktemp("small"), SMALL)


def test_ten_thousand_claims(small: dict[str, dict[str, Any]]) -> None:
    rows = {name: count for one in small.values() for name, count in one["rows"].items()}
    assert rows["claims"] == SMALL
    assert min(rows[name] for name in ("votes", "usage", "learning_versions", "topics", "supersession")) > 100
    assert max(one["mb"] for one in small.values()) < MEMORY


def test_a_hundred_thousand_claims(small: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    large = measured(tmp_path, LARGE)
    for step, one in large.items():
        say(f"{step}: CPU seconds grew, where claims grew tenfold", f"{one['cpu'] / small[step]['cpu']:.1f}")
    assert max(one["mb"] for one in large.values()) <= MEMORY
    assert total(large, "wall") <= SECONDS
    assert total(large, "cpu") <= 10 * total(small, "cpu")
