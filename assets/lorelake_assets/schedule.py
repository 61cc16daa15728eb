"""When the job runs by itself: nightly, after the last UTC day is complete."""

from __future__ import annotations

import os
from pathlib import Path

import dagster as dg

from lorelake.settings import FILE_NAME, load

SETTINGS_VARIABLE = "LORELAKE_SETTINGS"


@dg.schedule(job_name="nightly", cron_schedule="15 2 * * *", execution_timezone="UTC")
def nightly_schedule() -> dg.RunRequest:
    """Plan the intake, then ask for one run over the touched days, as of the last complete UTC day."""
    from lorelake_assets import prepare
    from lorelake_assets.partitions import range_tags
    from lorelake_assets.resources import Night

    path = Path(os.environ.get(SETTINGS_VARIABLE, FILE_NAME)).resolve()
    night = Night(settings_path=str(path), as_of=prepare.default_as_of(load(path)).isoformat())
    with night.lake.writing():
        work = prepare.prepare(night)
    return dg.RunRequest(
        run_key=f"{night.as_of}-{work.inputs_sha256[:12]}",
        run_config={"resources": {"night": {"config": {"settings_path": night.settings_path, "as_of": night.as_of}}}},
        tags=range_tags(work.days, night.day),
    )
