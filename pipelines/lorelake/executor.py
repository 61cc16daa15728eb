"""Run pure steps, each from input files to an output file, one after the other or in several processes.

A step is a function at the top of a module with one argument; argument and result are pickled. What it writes
depends on its argument alone, so that any number of processes ends in the same bytes.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from lorelake.errors import LorelakeError

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

Task = TypeVar("Task")
Done = TypeVar("Done")


class Executor(Protocol):
    """Runs steps over many tasks; a context manager, which ends what it started."""

    def run(self, step: Callable[[Task], Done], tasks: Sequence[Task]) -> Iterator[tuple[int, Done]]:
        """(position of the task, result) as tasks end. What a step raises is raised here, and ends the rest."""

    def __enter__(self) -> Executor:
        """Itself."""

    def __exit__(self, *failure: object) -> None:
        """Wait for what runs, and drop what waits."""


class Serial:
    """In this process, in order."""

    def run(self, step: Callable[[Task], Done], tasks: Sequence[Task]) -> Iterator[tuple[int, Done]]:
        """See `Executor`."""
        for position, task in enumerate(tasks):
            yield position, step(task)

    def __enter__(self) -> Serial:
        return self

    def __exit__(self, *failure: object) -> None:
        pass


class Processes:
    """In several processes, each fresh: polars and its threads do not survive a fork.

    Tasks are handed out in the order given, so the longest should come first. Tasks that cannot be pickled (a
    member inside an open archive or repository) run in this process meanwhile. Processes stay for the next step.

    Args:
        jobs: how many at once.
    """

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._pool: ProcessPoolExecutor | None = None

    def run(self, step: Callable[[Task], Done], tasks: Sequence[Task]) -> Iterator[tuple[int, Done]]:
        """See `Executor`.

        Raises:
            LorelakeError: a process was killed, most likely for want of memory.
        """
        from concurrent.futures import ProcessPoolExecutor, as_completed
        from concurrent.futures.process import BrokenProcessPool
        from multiprocessing import get_context

        away = {position for position, task in enumerate(tasks) if _travels(step, task)}
        if self._pool is None and len(away) > 1:
            self._pool = ProcessPoolExecutor(self._jobs, get_context("spawn"), _start)
        if self._pool is None:
            yield from Serial().run(step, tasks)
            return
        try:
            with _without_main():
                asked = {self._pool.submit(step, tasks[position]): position for position in sorted(away)}
            for position, task in enumerate(tasks):
                if position not in away:
                    yield position, step(task)
            for future in as_completed(asked):
                yield asked[future], future.result()
        except BrokenProcessPool:
            raise LorelakeError(
                "a process that was to share the work was killed",
                remedy="most likely memory ran out; LORELAKE_JOBS=1 works in one process",
            ) from None

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *failure: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)


def choose(size: int, least: int) -> Executor:
    """Several processes where there is enough to share, else this one.

    Args:
        size: bytes of input.
        least: bytes below which starting processes takes longer than it saves.
    """
    jobs = available()
    return Processes(jobs) if jobs > 1 and size >= least else Serial()


def available() -> int:
    """Processors this process may use; `LORELAKE_JOBS` overrules."""
    asked = os.environ.get("LORELAKE_JOBS", "")
    if asked.isdecimal() and int(asked):
        return int(asked)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _travels(step: Any, task: Any) -> bool:
    try:
        pickle.dumps((step, task))
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
    return True


@contextmanager
def _without_main() -> Iterator[None]:
    """Keep fresh processes from importing the program that runs: no step lies in it, and a script without a guard
    around its calls would run a second time.
    """
    main = sys.modules["__main__"]
    hidden = {name: vars(main)[name] for name in ("__file__", "__spec__") if name in vars(main)}
    try:
        for name in hidden:
            setattr(main, name, None)
        yield
    finally:
        for name, value in hidden.items():
            setattr(main, name, value)


def _start() -> None:
    """In a fresh process: Ctrl-C belongs to the first one, and nobody outlives it."""
    import signal
    import threading

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # One thread of polars each: the processes are the parallelism, and every thread pool costs memory.
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    threading.Thread(target=_watch, daemon=True).start()


def _watch() -> None:
    """End with the first process, even if it was killed: an orphan would wait for work for ever."""
    from multiprocessing import parent_process
    from multiprocessing.connection import wait

    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
