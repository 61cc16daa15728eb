"""A night that kills itself, with the signal that cannot be caught, at one named point.

    python killed_night.py POINT SETTINGS

It ends by SIGKILL at the point, and with exit code 3 where the point was never reached. With `second_process` as the
point it waits to be killed, while the second process is at work and has said so.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

BEFORE, HALFWAY = "before", "halfway"
"""Instead of the call; or in the call, when its first file is written and not yet renamed."""

POINTS: dict[str, tuple[str, str, int, str]] = {
    "second day of raw": ("lorelake.raw.intake", "apply_day", 2, HALFWAY),
    "books not closed": ("lorelake.raw.intake", "close", 1, BEFORE),
    "third day of events": ("lorelake.events.days", "_derive_day", 3, HALFWAY),
    "second day of signals": ("lorelake.evidence.days", "write_table", 2, HALFWAY),
    "second table of learnings": ("lorelake_assets.learnings", "write_table", 2, HALFWAY),
    "second table out of dbt": ("lorelake.lake", "write_table", 2, HALFWAY),
    "second index of the candidate": ("lorelake.release.index", "write_audience", 2, HALFWAY),
    "verdict of the audit": ("lorelake_assets.release", "store_verdict", 1, HALFWAY),
    "candidate not renamed": ("lorelake.release.publish", "_complete", 1, HALFWAY),
    "renamed, CURRENT not written": ("lorelake.release.history", "append", 1, BEFORE),
}
"""Point -> module, function, at which of its calls, and when."""

AFTER_SQL = list(POINTS)[-3:]
"""Points before which dbt need not run again: its tables lie there whole since the point before them."""


def die(*_: object, **__: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def dying(function: Callable[..., Any], at: int, when: str) -> Callable[..., Any]:
    calls = 0

    def called(*arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == at and when == BEFORE:
            die()
        if calls == at:
            os.replace = die  # type: ignore[assignment]
        return function(*arguments, **named)

    return called


def work_for_long() -> None:
    sys.stdout.write("working\n")
    sys.stdout.flush()
    time.sleep(600)


def wait_for_the_second() -> None:
    from lorelake_assets import second_process

    with second_process.running():
        second_process.start(work_for_long)()


def night(point: str, settings: str) -> None:
    from lorelake.cli import run
    from lorelake_assets import checks, dbt, second_process

    checks.judge_suites = lambda lake: {}
    second_process.running = nullcontext
    if point in AFTER_SQL:
        dbt.build = lambda *_: dbt.DbtResult({table.name: 0 for table in dbt.OUTPUTS}, ())
        dbt.remember = lambda *_: None
    name, function, at, when = POINTS[point]
    module = importlib.import_module(name)
    setattr(module, function, dying(getattr(module, function), at, when))
    run(["nightly", "--settings", settings])


if __name__ == "__main__":
    if sys.argv[1] == "second_process":
        wait_for_the_second()
    else:
        night(sys.argv[1], sys.argv[2])
    sys.exit(3)
