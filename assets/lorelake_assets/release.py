"""Group release: build aside, judge exactly what would be served, then switch at once."""

from __future__ import annotations

import dagster as dg

from lorelake.release import publish
from lorelake.release.audit import invariants
from lorelake.release.build import build_candidate
from lorelake.release.verdict import store_verdict
from lorelake_assets import checks, dbt, events, evidence, learnings, prepare, second_process
from lorelake_assets.resources import Night, team_key


@dg.asset(
    group_name="release",
    deps=[
        events.session_merge_requests,
        events.imported_votes,
        "recalls",
        evidence.signature_mapping,
        *(table.name for table in (*learnings.FILING, *dbt.OUTPUTS)),
    ],
    kinds={"python", "lancedb", "sqlite"},
)
def candidate(night: Night) -> dg.MaterializeResult[None]:
    """Write the candidate: tables, catalog, and one index per audience."""
    lake = night.lake
    inputs = {"night": night.inputs_sha256, **prepare.told_apart(lake)}
    tables = checks.read_tables(lake)
    folder = build_candidate(lake, night.settings, night.day, tables, inputs, team_key(night.settings))
    return dg.MaterializeResult(metadata={"folder": folder.name})


@dg.asset_check(asset=candidate, blocking=True)
def audit(night: Night) -> dg.AssetCheckResult:
    """Suites, dbt tests and invariants on the candidate's own files; the verdict is stored beside them."""
    lake, settings = night.lake, night.settings
    served = lake.current_release()
    suites = second_process.start(checks.judge_suites, lake)
    findings = invariants(
        lake.candidate, lake.releases / served if served else None, settings, allow_shrink=night.allow_shrink
    )
    verdict = store_verdict(lake.candidate, findings, {**suites(), **dbt.judge_tests(lake)})
    failed = [name for name, result in verdict.checks.items() if result != "pass"]
    return dg.AssetCheckResult(
        passed=verdict.status == "pass",
        metadata={"findings": [f"{f.severity} {f.code}: {f.message}" for f in verdict.findings], "failed": failed},
    )


@dg.asset(group_name="release", deps=[candidate], kinds={"python"})
def published(night: Night) -> dg.MaterializeResult[None]:
    """Publish what has a stored pass for exactly these files; anything else is refused, in whatever run."""
    done = publish.publish(night.lake, night.settings.team.id)
    return dg.MaterializeResult(metadata={"release": done.release_id, "new": done.new})
