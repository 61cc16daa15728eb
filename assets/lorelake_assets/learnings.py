"""Groups learnings and outcomes: claims and clusters in Python, then every SQL table in one dbt run.

The outcomes are SQL only and come out of the same run: a second one would cost more in starting than in queries.
"""

from __future__ import annotations

from collections.abc import Iterator

import dagster as dg

from lorelake.evidence.days import document_events
from lorelake.lake import frame, read_table, write_table
from lorelake.learnings.derive import learnings
from lorelake.learnings.topic_people import present_in
from lorelake.learnings.topics import names_somebody
from lorelake.learnings.topics import topics as file_learnings
from lorelake.tables import (
    ADMISSIONS,
    CLAIMS,
    LEARNING_EVIDENCE,
    LEARNINGS,
    LEDGER,
    PEOPLE,
    REGROUPINGS,
    SIGNALS,
    SUPERSESSION_CANDIDATES,
    TOPIC_MEMBERS,
    TOPIC_MERGES,
    TOPICS,
)
from lorelake_assets import dbt, events, evidence, raw, second_process
from lorelake_assets.resources import Night, team_key

PYTHON = (CLAIMS, SUPERSESSION_CANDIDATES, REGROUPINGS)
FILING = (TOPICS, TOPIC_MEMBERS, TOPIC_MERGES)


@dg.multi_asset(
    specs=[
        dg.AssetSpec(table.name, deps=[evidence.admissions], group_name="learnings", kinds={"python", "parquet"})
        for table in PYTHON
    ]
)
def claims(night: Night) -> Iterator[dg.MaterializeResult[None]]:
    """Word the admitted signals as items, cluster them, and find what may replace what."""
    lake = night.lake
    derived = learnings(
        read_table(SIGNALS, lake.days(SIGNALS)).to_dicts(),
        read_table(ADMISSIONS, lake.table(ADMISSIONS)).to_dicts(),
        read_table(LEDGER, lake.table(LEDGER)).to_dicts(),
        document_events(lake),
        team_key(night.settings),
    )
    for table, rows in zip(PYTHON, derived, strict=True):
        write_table(table, frame(table, rows), lake.table(table))
        yield dg.MaterializeResult(asset_key=table.name, metadata={"rows": len(rows)})


@dg.multi_asset(
    specs=[
        dg.AssetSpec(
            table.name,
            deps=[
                *(t.name for t in PYTHON),
                "exposures",
                events.ledger_asset,
                events.session_merge_requests,
                events.imported_votes,
                raw.intake,
            ],
            group_name=table.stage,
            kinds={"dbt", "duckdb"},
        )
        for table in dbt.OUTPUTS
    ]
)
def trust(night: Night) -> Iterator[dg.MaterializeResult[None]]:
    """Build every SQL table in one dbt run, on a DuckDB file made for this run."""
    result = second_process.call(dbt.build, night.lake, night.day, night.settings)
    dbt.remember(night.lake, result)
    for name, rows in result.rows.items():
        yield dg.MaterializeResult(asset_key=name, metadata={"rows": rows})


@dg.multi_asset(
    specs=[
        dg.AssetSpec(
            table.name, deps=["learnings", "learning_evidence"], group_name="learnings", kinds={"python", "parquet"}
        )
        for table in FILING
    ]
)
def topics(night: Night) -> Iterator[dg.MaterializeResult[None]]:
    """File every learning under its topics, as it stands after what people edited."""
    lake = night.lake
    rows = read_table(LEARNINGS, lake.table(LEARNINGS)).to_dicts()
    evidence = read_table(LEARNING_EVIDENCE, lake.table(LEARNING_EVIDENCE)).to_dicts()
    seen = read_table(SIGNALS, lake.days(SIGNALS)).iter_rows(named=True)
    signals = {row["signal_id"]: row for row in seen}
    by_id = {row["learning_id"]: row for row in rows}
    behind = [(by_id[row["learning_id"]], signals[row["signal_id"]]) for row in evidence]
    units = [signal["unit_id"] for learning, signal in behind if names_somebody(learning, signal)]
    present = present_in(lake, units, read_table(PEOPLE, lake.table(PEOPLE)).to_dicts())
    found = file_learnings(rows, evidence, signals, present)
    for table, made in zip(FILING, (found.topics, found.members, found.merges), strict=True):
        write_table(table, frame(table, made), lake.table(table))
        counts = {"rows": len(made), "without_topic": len(found.without), "tags_cut": found.tags_cut}
        yield dg.MaterializeResult(asset_key=table.name, metadata=counts)
