"""Days: the only partitions. As-of is run config, never a partition."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from datetime import date, timedelta
from typing import Any

import dagster as dg

DAYS = dg.DailyPartitionsDefinition(start_date="2000-01-01", timezone="UTC", end_offset=1)
"""From before any source we know to today; a unit's day is the UTC day on which it began."""

SHOWN_DAYS = 366
"""The most days one run shows as partitions."""

RANGE_START = "dagster/asset_partition_range_start"
RANGE_END = "dagster/asset_partition_range_end"


def daily_asset(**arguments: Any) -> Callable[[Callable[..., Any]], dg.AssetsDefinition]:
    """`dagster.asset` over `DAYS`, where one run covers a range of days.

    `backfill_policy` is marked beta in dagster 1.13. A run a day would cost 0.3 s of bookkeeping each, so the
    parameter is used, and its warning is silenced here and nowhere else.
    """

    def decorate(function: Callable[..., Any]) -> dg.AssetsDefinition:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", dg.BetaWarning)
            asset: Callable[..., dg.AssetsDefinition] = dg.asset(
                partitions_def=DAYS, backfill_policy=dg.BackfillPolicy.single_run(), **arguments
            )
            return asset(function)

    return decorate


def range_tags(days: Iterable[date], as_of: date) -> dict[str, str]:
    """Run tags that cover first..last of the days; the as-of day alone where nothing is touched.

    Bodies take their days from the plan, so a day outside the range is worked on all the same; dagster only has
    no partition to show for it. That is the case of days outside `DAYS`, and of days more than `SHOWN_DAYS` before
    the last one: dagster writes events for every day of a range, also for those without data, and eleven years of
    one sparse Slack export cost more than a minute of bookkeeping.
    """
    first, last = DAYS.get_first_partition_key(), DAYS.get_last_partition_key()
    keys = [day.isoformat() for day in days if first and last and first <= day.isoformat() <= last]
    only = min(max(as_of.isoformat(), first or ""), last or "")
    start, end = min(keys, default=only), max(keys, default=only)
    earliest = (date.fromisoformat(end) - timedelta(days=SHOWN_DAYS - 1)).isoformat()
    return {RANGE_START: max(start, earliest), RANGE_END: end}
