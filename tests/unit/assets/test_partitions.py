"""A run's partition range covers the touched days, within what dagster can show at a bearable cost."""

from __future__ import annotations

from datetime import date, timedelta

from lorelake_assets.partitions import RANGE_END, RANGE_START, SHOWN_DAYS, range_tags

AS_OF = date(2026, 3, 20)


def test_first_to_last_touched_day() -> None:
    tags = range_tags([date(2026, 3, 4), date(2026, 3, 2), date(2026, 3, 9)], AS_OF)
    assert (tags[RANGE_START], tags[RANGE_END]) == ("2026-03-02", "2026-03-09")


def test_nothing_touched_is_the_as_of_day() -> None:
    tags = range_tags([], AS_OF)
    assert tags[RANGE_START] == tags[RANGE_END] == "2026-03-20"


def test_days_far_back_are_not_shown() -> None:
    tags = range_tags([date(2015, 6, 5), AS_OF], AS_OF)
    assert tags[RANGE_START] == (AS_OF - timedelta(days=SHOWN_DAYS - 1)).isoformat()
    assert tags[RANGE_END] == "2026-03-20"


def test_impossible_days_make_no_partition() -> None:
    tags = range_tags([date(1970, 1, 1), date(2999, 1, 1)], AS_OF)
    assert tags[RANGE_START] == tags[RANGE_END] == "2026-03-20"
