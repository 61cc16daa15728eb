"""Group events: people, then one shape for everything that happened, then sessions and the ledger."""

from __future__ import annotations

import dagster as dg

from lorelake.events import days as event_days
from lorelake.events import imported_votes as votes_of_others
from lorelake.events import merge_requests
from lorelake.events import people as event_people
from lorelake.lake import frame, read_table, write_table
from lorelake.tables import IMPORTED_VOTES, LEDGER, PEOPLE, SESSION_MERGE_REQUESTS, SESSIONS
from lorelake_assets import raw
from lorelake_assets.partitions import daily_asset
from lorelake_assets.resources import Night, day_inputs, erased, format_of, redactor


@dg.asset(group_name="events", deps=[raw.raw_records], kinds={"python", "parquet"})
def people(night: Night) -> dg.MaterializeResult[None]:
    """Fold the names of the settings and of Slack user lists to people."""
    lake, settings = night.lake, night.settings
    users = event_days.slack_users(event_days.scan_raw(lake))
    rows = event_people.directory(settings, users, redactor(settings), erased(lake, settings))
    write_table(PEOPLE, frame(PEOPLE, rows), lake.table(PEOPLE))
    return dg.MaterializeResult(metadata={"names": len(rows)})


@daily_asset(group_name="events", deps=[raw.raw_records, people], kinds={"python", "parquet"})
def events(night: Night) -> dg.MaterializeResult[None]:
    """Derive the days whose input hash is new; the others are skipped."""
    lake = night.lake
    inputs = day_inputs(lake, night.settings, night.day)
    written = event_days.derive_days(lake, event_days.stale_days(lake, inputs), inputs, format_of)
    return dg.MaterializeResult(metadata={"days": len(written), "events": sum(written.values())})


@dg.asset(group_name="events", deps=[events], kinds={"python", "parquet"})
def sessions(night: Night) -> dg.MaterializeResult[None]:
    """Every unit with its family, from all days."""
    lake = night.lake
    rows = event_days.sessions(lake, day_inputs(lake, night.settings, night.day))
    write_table(SESSIONS, rows, lake.table(SESSIONS))
    return dg.MaterializeResult(metadata={"units": rows.height, "families": rows["family_id"].n_unique()})


@dg.asset(group_name="events", deps=[events, sessions], kinds={"python", "parquet"})
def session_merge_requests(night: Night) -> dg.MaterializeResult[None]:
    """Join sessions to merge requests by link, commit and branch, over all days."""
    lake = night.lake
    rows = merge_requests.of_lake(lake, night.settings.projects)
    write_table(SESSION_MERGE_REQUESTS, frame(SESSION_MERGE_REQUESTS, rows), lake.table(SESSION_MERGE_REQUESTS))
    return dg.MaterializeResult(metadata={"joins": len(rows)})


@dg.asset(group_name="events", deps=[events, sessions, people], kinds={"python", "parquet"})
def imported_votes(night: Night) -> dg.MaterializeResult[None]:
    """What teamai and GitMem counted of their own use. Nothing is decided by it."""
    lake = night.lake
    found = votes_of_others.of_lake(lake)
    write_table(IMPORTED_VOTES, frame(IMPORTED_VOTES, found.rows), lake.table(IMPORTED_VOTES))
    return dg.MaterializeResult(metadata={"totals": len(found.rows), "unread": found.unread})


@dg.asset(group_name="events", name="ledger", deps=[raw.intake, people], kinds={"python", "parquet"})
def ledger_asset(night: Night) -> dg.MaterializeResult[None]:
    """Decode what people decided, and who they were."""
    lake = night.lake
    names = read_table(PEOPLE, lake.table(PEOPLE)).iter_rows(named=True)
    rows = event_days.ledger(lake, names, night.settings, night.day)
    write_table(LEDGER, frame(LEDGER, rows), lake.table(LEDGER))
    applied = sum(1 for row in rows if row["verdict"] == "applies")
    return dg.MaterializeResult(metadata={"decisions": len(rows), "applied": applied})
