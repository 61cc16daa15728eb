"""`kill -9` at any point, then run again: the same end state, and nothing of the killed run is left."""

from __future__ import annotations

import importlib.util
import select
import signal
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("flow")]

SCRIPT = Path(__file__).with_name("killed_night.py")


def points() -> list[str]:
    spec = importlib.util.spec_from_file_location("killed_night", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return list(module.POINTS)


def files(home: Path) -> set[str]:
    """Every file of a lake, but for Lance's, whose names are drawn at random, and dbt's scratch."""
    paths = (path.relative_to(home) for path in home.rglob("*") if path.is_file())
    return {path.as_posix() for path in paths if path.parts[0] != "scratch" and "learnings.lance" not in path.parts}


def test_killed_in_every_stage_one_after_the_other(
    base, fresh, night, start, environment, told, tables, without_suites
) -> None:
    """Ten nights are killed on one lake, each further on than the last; the eleventh ends as if nothing had been."""
    halves = 0
    for point in points():
        with start(
            [str(SCRIPT), point, str(fresh.settings)], environment({"POLARS_MAX_THREADS": "4"}), fresh.folder
        ) as process:
            _, err = process.communicate(timeout=120)
        assert process.returncode == -signal.SIGKILL, f"{point}: {process.returncode} {err}"
        assert not (fresh.home / "CURRENT").exists(), point
        halves += len(list(fresh.home.rglob(".*.tmp")))
    assert halves >= 7, "a night killed halfway leaves half a file"
    assert len(list((fresh.home / "releases").iterdir())) == 1

    said = night(fresh)
    assert said.code == 0, said.err
    assert f"release {base.release} published" in said.out
    assert told(fresh.served) == told(base.served)
    assert tables(fresh.home) == tables(base.home)
    assert files(fresh.home) == files(base.home)


def test_the_second_process_goes_with_the_first(start, environment, tmp_path) -> None:
    """It would write tables of a lake that it no longer holds."""
    with start([str(SCRIPT), "second_process"], environment(), tmp_path) as process:
        assert process.stdout.readline() == "working\n"
        process.kill()
        assert process.wait(timeout=60) == -signal.SIGKILL
        # Whoever inherited standard output keeps it open: it ends when the last process of that night is gone.
        gone, _, _ = select.select([process.stdout], [], [], 10)
        assert gone, "a process of the killed night still lives"
        assert process.stdout.read() == ""
