"""Contract of stage outcomes: what analysts open first. SQL only."""

from __future__ import annotations

from lorelake.tables.shape import Column, Table

FUNNEL = Table(
    "funnel",
    "outcomes",
    "source x step",
    ("source", "step"),
    (
        Column("source", "str", "format family"),
        Column(
            "step",
            "str",
            "stage of the narrowing",
            ("seen", "kept", "events", "signals", "admitted", "learnings", "active"),
        ),
        Column("position", "int", "order of the step, from 1"),
        Column("rows", "int", "how many came so far"),
    ),
    released=True,
    sql=True,
    hashed=False,
)

REFUSALS = Table(
    "refusals",
    "outcomes",
    "source x stage x rule",
    ("source", "stage", "rule"),
    (
        Column("source", "str", "format family"),
        Column("stage", "str", "where it was refused", ("raw", "evidence", "events")),
        Column("rule", "str", "rule code"),
        Column("rows", "int", "how many"),
    ),
    released=True,
    sql=True,
    hashed=False,
)

SOURCE_HEALTH = Table(
    "source_health",
    "outcomes",
    "source",
    ("source",),
    (
        Column("source", "str", "format family"),
        Column("captures", "int", "files, exports and repositories looked at"),
        Column("seen", "int", "records met"),
        Column("refused", "int", "records refused"),
        Column("last_event", "ts?", "latest event at the as-of day; null where nothing was kept"),
        Column("silent_days", "int?", "whole days from the latest event to the as-of day"),
        Column("usual_gap_days", "int?", "longest pause between days with events in the four weeks before the latest"),
        Column("status", "str", "whether it can be relied on tonight", ("fine", "degraded", "silent", "failed")),
        Column("why", "str", "what makes it so, in words; empty where it is fine"),
    ),
    released=True,
    sql=True,
    hashed=False,
)
