"""Group raw: what arrived, redacted and kept by day; then the books are closed."""

from __future__ import annotations

import dagster as dg

from lorelake.landing import erased as landing_erased
from lorelake.raw import intake as intake_stage
from lorelake_assets.partitions import daily_asset
from lorelake_assets.resources import Night, erased, format_of


@daily_asset(group_name="raw", kinds={"python", "parquet"})
def raw_records(night: Night) -> dg.MaterializeResult[None]:
    """Rewrite the days the intake plan touches; all others stay as they are."""
    lake = night.lake
    plan = intake_stage.load(lake)
    rows = {day.isoformat(): intake_stage.apply_day(lake, day, plan) for day in plan.days}
    return dg.MaterializeResult(metadata={"days": len(rows), "rows": sum(rows.values()), "captures": plan.read})


@dg.asset(group_name="raw", deps=[raw_records], kinds={"python", "parquet"})
def intake(night: Night) -> dg.MaterializeResult[None]:
    """Write quarantine and the intake books, after every day is on disk; then landing need not hold what was erased."""
    lake = night.lake
    plan = intake_stage.load(lake)
    intake_stage.close(lake, plan)
    landing_erased.clean(lake, night.settings, erased(lake, night.settings), format_of)
    totals = {name: int(plan.intake[name].sum()) for name in ("seen", "kept", "refused")}
    return dg.MaterializeResult(metadata={"captures": plan.intake.height, **totals})
