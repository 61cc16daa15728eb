"""Steps in one process or several: the same results, and failures that say what to do."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lorelake import executor, settings
from lorelake.errors import LorelakeError, SettingsError

MEANWHILE = """
import os
from functools import partial
from lorelake import executor
print("main runs", os.getpid(), flush=True)
runner = executor.Processes(2)
with runner:
    for _, result in runner.run(os.path.basename, ["/a/b", "/c/d", "/e/f"]):
        print("done", result, flush=True)
    {then}
"""


def test_results_carry_the_position_of_their_task(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a", "b", "c")]
    for size, path in enumerate(paths):
        path.write_bytes(b"x" * size)
    with executor.Serial() as serial, executor.Processes(2) as processes:
        one = dict(serial.run(os.path.getsize, paths))
        assert one == dict(processes.run(os.path.getsize, paths)) == {0: 0, 1: 1, 2: 2}
        assert dict(processes.run(os.path.basename, paths)) == {0: "a", 1: "b", 2: "c"}


def test_a_task_that_cannot_leave_this_process_runs_in_it() -> None:
    def here(task: object) -> int:
        return os.getpid()

    with executor.Processes(2) as processes:
        assert dict(processes.run(here, [1, 2])) == {0: os.getpid(), 1: os.getpid()}
        inside = open(os.devnull, "rb")  # noqa: SIM115  (an open file cannot be pickled)
        with inside:
            kinds = dict(processes.run(type, [b"x", inside, "y"]))
    assert kinds == {0: bytes, 1: type(inside), 2: str}


def test_an_error_of_ours_comes_back_whole(tmp_path: Path) -> None:
    path = tmp_path / "lorelake.toml"
    with executor.Processes(2) as processes, pytest.raises(SettingsError) as caught:
        list(processes.run(settings.load, [path, path]))
    with pytest.raises(SettingsError) as here:
        settings.load(path)
    assert (str(caught.value), caught.value.remedy) == (str(here.value), here.value.remedy)


def test_a_killed_process_is_named_with_a_remedy() -> None:
    with executor.Processes(2) as processes, pytest.raises(LorelakeError) as caught:
        list(processes.run(signal.raise_signal, [signal.SIGKILL, signal.SIGKILL]))
    assert "LORELAKE_JOBS=1" in str(caught.value)


def test_a_script_without_a_guard_does_not_run_twice(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(MEANWHILE.format(then="pass"))
    out = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True).stdout
    assert out.count("main runs") == 1
    assert sorted(out.split("\n")[1:4]) == ["done b", "done d", "done f"]


def test_nobody_outlives_the_first_process(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(MEANWHILE.format(then="print(*runner._pool._processes, flush=True); import time; time.sleep(60)"))
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout is not None
        lines = [first.stdout.readline() for _ in range(5)]
        first.kill()
    children = [int(pid) for pid in lines[-1].split()]
    assert children
    end = time.monotonic() + 30
    while (left := [pid for pid in children if _lives(pid)]) and time.monotonic() < end:
        os.sched_yield()
    assert left == []


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.parametrize(
    ("jobs", "size", "kind"),
    [("2", 100, executor.Processes), ("2", 99, executor.Serial), ("1", 100, executor.Serial)],
)
def test_processes_are_for_much_work_and_more_than_one_processor(
    monkeypatch: pytest.MonkeyPatch, jobs: str, size: int, kind: type[object]
) -> None:
    monkeypatch.setenv("LORELAKE_JOBS", jobs)
    assert isinstance(executor.choose(size, 100), kind)


def test_a_setting_that_is_no_number_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LORELAKE_JOBS", "many")
    assert executor.available() >= 1
