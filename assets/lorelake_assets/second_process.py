"""A second process for the two libraries that take seconds to import: dbt, and Great Expectations.

It imports them while the first process finds files and derives the days, so that a night on two cores waits for
neither. Without `running()` (a run that dagster's daemon launched, a test) work is simply done in place. The child
ends with the first, whatever it was doing: a killed night leaves no process behind that writes on without a lock.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

HEAVY = ("dbt.cli.main", "dbt.adapters.duckdb", "great_expectations")
"""What the second process imports before it is asked."""

NEXT = "lancedb"
"""What the first process imports while it would wait for the second: building the indexes comes next."""

_connection: Connection | None = None


@contextmanager
def running() -> Iterator[None]:
    """Start the process for the length of one night."""
    global _connection
    context = multiprocessing.get_context("spawn")  # lance and polars must not be forked
    ours, theirs = context.Pipe()
    child = context.Process(target=_serve, args=(theirs,), name="lorelake second process", daemon=True)
    with _quiet_tracker():
        child.start()
    theirs.close()
    _connection = ours
    try:
        yield
    finally:
        _connection = None
        ours.close()
        child.kill()  # it works only when asked, so nothing is lost; taking its libraries down would cost seconds
        child.join()


@contextmanager
def _quiet_tracker() -> Iterator[None]:
    """Let Python's resource tracker, which starts now, clean up the killed child's semaphores without a warning."""
    before = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = "ignore:resource_tracker:UserWarning"
    try:
        resource_tracker.ensure_running()
        yield
    finally:
        os.environ.pop("PYTHONWARNINGS")
        if before is not None:
            os.environ["PYTHONWARNINGS"] = before


def start(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> Callable[[], R]:
    """Have the second process do something; the returned function waits for the result.

    One piece of work at a time. What the function raises is raised by the wait; a process that died is a
    ConnectionError.
    """
    connection = _connection
    if connection is None:
        return lambda: function(*args, **kwargs)
    connection.send((function, args, kwargs))

    def wait() -> R:
        try:
            succeeded, outcome = connection.recv()
        except (EOFError, OSError) as error:
            raise ConnectionError(f"the second process ended while it ran {function.__name__}") from error
        if not succeeded:
            raise outcome
        result: R = outcome
        return result

    return wait


def call(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """The function's result, from the second process if one is running."""
    wait = start(function, *args, **kwargs)
    if _connection is not None:
        import_module(NEXT)
    return wait()


def _serve(connection: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the first process, which then kills this one
    threading.Thread(target=_end_with_parent, name="end with the first process", daemon=True).start()
    imported = iter(HEAVY)
    while True:
        # Work comes first; what is left to import is imported while nothing waits.
        if not connection.poll(0):
            module = next(imported, None)
            if module is not None:
                _import(module)
                continue
        try:
            function, args, kwargs = connection.recv()
        except (EOFError, OSError):
            return
        try:
            answer: tuple[bool, Any] = True, function(*args, **kwargs)
        except Exception as error:
            answer = False, error
        connection.send(answer)


def _end_with_parent() -> None:
    """End at once when the first process is gone: its lock is gone too, and the next night may have begun."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _import(module: str) -> None:
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
    import_module(module)
