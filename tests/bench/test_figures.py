"""Figures as ratios to something measured in the same run, so that they mean the same on any machine.

Never part of `make test`; `make bench` prints them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "tests" / "samples" / "team"
HEAVY = "import dagster, dbt.cli.main, dbt.adapters.duckdb, great_expectations, lancedb, polars"
LORELAKE = "from lorelake.cli import main; main()"
QUESTION = "terraform plan fails with a state lock"


def say(what: str, value: str) -> None:
    sys.stderr.write(f"\n  {what:<58} {value}")


def child(home: Path, code: str, *arguments: str) -> Callable[[], None]:
    """A fresh interpreter that runs some code, in the folder of a lake."""

    def run() -> None:
        subprocess.run(
            [sys.executable, "-c", code, *arguments], cwd=home, check=True, capture_output=True,
            env={**os.environ, "LORELAKE_HOME": str(home / "lake")},
        )  # fmt: skip

    return run


def seconds(work: Callable[[], None], times: int = 1) -> float:
    """Wall-clock seconds of the quickest of some runs: what disturbs a run only ever makes it longer."""
    took = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        took.append(time.perf_counter() - began)
    return min(took)


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    """A folder with the lake of the example."""
    return tmp_path_factory.mktemp("bench")


@pytest.fixture(scope="module")
def first_night(home) -> float:
    """Seconds of the first night, which makes the lake that the other figures are of."""
    return seconds(child(home, LORELAKE, "nightly", "--settings", str(SAMPLE / "lorelake.toml")))


def test_a_night(home, first_night):
    """Run time of the example's night, first and again, against importing its libraries once in one process."""
    imports = seconds(child(home, HEAVY), times=2)
    again = seconds(child(home, LORELAKE, "nightly", "--settings", str(SAMPLE / "lorelake.toml")), times=2)
    say("first night of the example / importing its libraries", f"{first_night / imports:.2f}")
    say("the same night again / importing its libraries", f"{again / imports:.2f}")
    assert again < first_night


@pytest.mark.usefixtures("first_night")
def test_recall(home):
    """One-shot recall against starting Python for nothing."""
    nothing = seconds(child(home, "pass"), times=9)
    for command in ("recall", "check"):
        asked = seconds(child(home, LORELAKE, command, QUESTION, "--project", "harbour-api"), times=9)
        say(f"one-shot {command} / `python -c pass`", f"{asked / nothing:.1f}")


@pytest.mark.usefixtures("first_night")
def test_dbt(home):
    """CPU of dbt's part of a night, run and data tests, against the CPU of importing dbt."""
    code = """if True:
        import sys
        from pathlib import Path
        from time import process_time

        import polars
        from lorelake import settings
        from lorelake.lake import Lake
        from lorelake_assets.dbt import build

        loaded = settings.load(Path(sys.argv[1]))
        began = process_time()
        import dbt.cli.main, dbt.adapters.duckdb
        imported = process_time()
        build(Lake(Path("lake")), loaded.nightly.as_of, loaded)
        print((process_time() - imported) / (imported - began), process_time() - began)
        """
    done = subprocess.run(
        [sys.executable, "-c", code, str(SAMPLE / "lorelake.toml")],
        cwd=home,
        check=True,
        capture_output=True,
        text=True,
    )
    ratio, total = done.stdout.split()
    say("dbt run and tests / importing dbt (CPU)", f"{float(ratio):.2f}")
    say("dbt with its import, CPU-seconds on this machine", f"{float(total):.1f}")


def test_redaction():
    """Megabytes of decoded transcript text per CPU-second, secrets among them."""
    from lorelake.content.redaction import Redactor

    line = {
        "type": "user",
        "message": {"content": "the deploy broke again, mail ann@team.example; see src/billing/invoices.py:42 " * 4},
        "env": {"AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "path": "/srv/app/releases/41"},
    }
    values = [{**line, "uuid": f"{number:08x}-0000-4000-8000-000000000000"} for number in range(20_000)]
    size = sum(len(repr(value)) for value in values) / 1e6
    redactor = Redactor(b"a key for the bench, 32 bytes long")
    redactor.values(values[:100])
    began = time.process_time()
    redactor.values(values)
    say("redaction, MB per CPU-second on this machine", f"{size / (time.process_time() - began):.1f}")
