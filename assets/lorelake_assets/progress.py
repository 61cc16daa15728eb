"""What a person sees while a run goes on: one line a step, on a terminal only."""

from __future__ import annotations

import logging
import sys
import time
from typing import Any

import dagster as dg
from rich.console import Console

from lorelake.evidence.model_ask import Asked

ANSWERS_A_LINE = 10


class _Steps(logging.Handler):
    """Turns dagster's step events into lines; quiet where standard error is no terminal."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console
        self._began: dict[str, float] = {}
        self._status = console.status("")

    def emit(self, record: logging.LogRecord) -> None:
        event: Any = getattr(record, "dagster_event", None)
        kind, step = getattr(event, "event_type_value", ""), getattr(event, "step_key", "") or ""
        if kind == "STEP_START":
            self._began[step] = time.monotonic()
            self._status.update(f"{step} …")
            self._status.start()
        elif kind in {"STEP_SUCCESS", "STEP_FAILURE"}:
            self._status.stop()
            took = time.monotonic() - self._began.get(step, time.monotonic())
            mark = "[green]✓[/]" if kind == "STEP_SUCCESS" else "[red]✗[/]"
            self._console.print(f"  {mark} {step:<28}{took:6.1f} s", highlight=False)


def answers_on_terminal(asked: Asked) -> None:
    """A line every few answers of a model, which may take minutes each."""
    if sys.stderr.isatty() and (asked.answered + asked.failed) % ANSWERS_A_LINE == 0:
        failed = f", {asked.failed} without an answer" if asked.failed else ""
        sys.stderr.write(f"\r\x1b[2K  asked a model: {asked.answered} answered{failed}\n")


@dg.logger
def terminal(init_context: dg.InitLoggerContext) -> logging.Logger:
    """Dagster logger that shows steps on a terminal."""
    logger = logging.Logger("lorelake.progress", logging.DEBUG)
    console = Console(stderr=True)
    if console.is_terminal:
        logger.addHandler(_Steps(console))
    else:
        logger.addHandler(logging.NullHandler())
    return logger
