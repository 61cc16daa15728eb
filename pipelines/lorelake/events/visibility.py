"""Who may see what was said in Slack today, where that is not what it was when its messages were exported.

A channel that turned private takes its history with it: what was said while it was public stays in raw, and goes
to its members alone, or to nobody where private conversations are not read. A message that was deleted is seen by
nobody, also where the deletion does not say which thread it was in.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import date

import polars as pl

from lorelake.events.derive import units_of
from lorelake.formats import slack
from lorelake.formats.slack_export import DM, PUBLIC

WORKSPACE = f"{slack.NAME}:workspace:"


def narrowed(raw: pl.LazyFrame, include: Collection[str]) -> dict[str, str | None]:
    """Conversations that are not public today, by the beginning of their threads' unit ids.

    Args:
        raw: all raw rows.
        include: the conversation kinds that the settings read.

    Returns:
        `slack:<conversation id>:` to its audience, or to None where it may not be read at all.
    """
    listings = raw.filter(pl.col("unit_id").str.starts_with(WORKSPACE)).collect()
    found: dict[str, str | None] = {}
    for unit in units_of(listings, {}, date.max):
        for conversation, kind in slack.kinds(unit).items():
            if kind != PUBLIC:
                audience = f"{'dm' if kind == DM else 'channel'}:{conversation}"
                found[f"slack:{conversation}:"] = audience if kind in include else None
    return found


def deleted_elsewhere(raw: pl.LazyFrame) -> dict[tuple[str, str], str]:
    """Messages that belong to their deletion, which may lie in another unit than the words.

    A deletion in Slack's API that leaves out the deleted message states a ts and no thread, so it is a unit of its
    own; the thread that has the words must give them up.

    Args:
        raw: all raw rows.

    Returns:
        (source, record_id) -> unit_id of the deletion, as `ownership.owners` gives it.
    """
    gone = raw.filter(pl.col("source") == slack.NAME, pl.col("record_type") == "message_deleted")
    owners = gone.group_by("record_id").agg(pl.col("unit_id").min()).collect()
    return {(slack.NAME, record_id): unit_id for record_id, unit_id in sorted(owners.iter_rows())}
