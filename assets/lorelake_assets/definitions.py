"""The code location: every asset, check, job and schedule. Importing it reads no settings and touches no lake."""

from __future__ import annotations

import dagster as dg

from lorelake_assets import events, evidence, learnings, raw, release
from lorelake_assets.progress import terminal
from lorelake_assets.resources import Night
from lorelake_assets.schedule import nightly_schedule

ASSETS = [
    raw.raw_records,
    raw.intake,
    events.people,
    events.events,
    events.sessions,
    events.session_merge_requests,
    events.imported_votes,
    events.ledger_asset,
    evidence.model_answers,
    evidence.signals,
    evidence.admissions,
    evidence.signature_mapping,
    evidence.exposures,
    learnings.claims,
    learnings.trust,
    learnings.topics,
    release.candidate,
    release.published,
]


def build_defs(night: Night | None = None) -> dg.Definitions:
    """All definitions.

    Args:
        night: a bound resource, for runs and tests in process; without it a run must configure one.
    """
    return dg.Definitions(
        assets=ASSETS,
        asset_checks=[release.audit],
        jobs=[
            dg.define_asset_job(
                "nightly", selection=dg.AssetSelection.assets(*ASSETS), executor_def=dg.in_process_executor
            )
        ],
        schedules=[nightly_schedule],
        resources={"night": night or Night.configure_at_launch()},
        loggers={"terminal": terminal},
    )


defs = build_defs()
