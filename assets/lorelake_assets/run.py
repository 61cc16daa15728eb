"""The one job of a night, in this process, and what its failure means."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any

from lorelake.errors import AuditError, LorelakeError
from lorelake.lake import Lake
from lorelake.release.verdict import read_verdict
from lorelake_assets.partitions import range_tags
from lorelake_assets.prepare import Work
from lorelake_assets.resources import Night

STOPPED = "DagsterExecutionInterruptedError"


def run(night: Night, work: Work) -> None:
    """Run the job in process over the days of the work; steps show on standard error if it is a terminal.

    Raises:
        LorelakeError: a step failed; the served release is as it was.
        KeyboardInterrupt: somebody stopped it; the same holds.
    """
    bound = Night(
        settings_path=night.settings_path,
        home=night.home,
        as_of=night.as_of,
        allow_shrink=night.allow_shrink,
        inputs_sha256=work.inputs_sha256,
    )
    execute(bound, work.days, night.lake)


def execute(night: Night, days: Iterable[date], serving: Lake, only: Sequence[str] | None = None) -> None:
    """Run the job, or a part of it, in process.

    Args:
        night: bound; its lake is written.
        days: shown as the run's partitions.
        serving: the lake whose served release an error names.
        only: names of the assets to run; None for all.

    Raises:
        LorelakeError: a step failed.
        KeyboardInterrupt: somebody stopped it.
    """
    os.environ.setdefault("DAGSTER_DISABLE_TELEMETRY", "yes")
    from dagster import AssetKey

    from lorelake_assets.definitions import build_defs

    job = build_defs(night).resolve_job_def("nightly")
    result = job.execute_in_process(
        run_config={"loggers": {"terminal": {}}},
        tags=range_tags(days, night.day),
        raise_on_error=False,
        asset_selection=None if only is None else [AssetKey(name) for name in only],
    )
    if not result.success:
        if interrupted(result.all_events):
            raise KeyboardInterrupt
        raise why_failed(result.all_events, serving)


def interrupted(events: Sequence[Any]) -> bool:
    """Whether it was Ctrl-C: dagster tells of a cancelled run, or of a step that failed by it."""
    return any(
        event.event_type_value == "PIPELINE_CANCELED"
        or getattr(getattr(event.event_specific_data, "error", None), "cls_name", "") == STOPPED
        for event in events
    )


def why_failed(events: Sequence[Any], lake: Lake) -> LorelakeError:
    """The first failure of a run as one error in its own words, with what is served meanwhile."""
    served = lake.current_release()
    remedy = f"release {served} goes on serving" if served else "nothing is served yet"
    for event in events:
        if event.event_type_value == "ASSET_CHECK_EVALUATION" and not event.asset_check_evaluation_data.passed:
            verdict = read_verdict(lake.candidate)
            held = [f"{f.code}: {f.message}" for f in verdict.findings if f.severity == "error"] if verdict else []
            held += [
                f"{name}: {result}" for name, result in (verdict.checks if verdict else {}).items() if result != "pass"
            ]
            return AuditError("the audit holds the release back\n    " + "\n    ".join(held), remedy=remedy)
        if event.event_type_value == "STEP_FAILURE":
            cause = event.step_failure_data.error
            while cause.cause:
                cause = cause.cause
            words = re.sub(r"^(lorelake\.errors\.)?\w+Error: ", "", cause.message.strip())
            return LorelakeError(words, where=f"step {event.step_key}", remedy=remedy)
    return LorelakeError("the run failed before its first step", remedy=remedy)
