"""Contract of stage outcomes: what analysts open first. SQL only."""

from __future__ import annotations

from lorelake.tables.shape import Column, Table
from lorelake.tables.words import SIGNAL_KINDS

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

GATE_FUNNEL = Table(
    "gate_funnel",
    "outcomes",
    "source x signal kind x step",
    ("source", "signal_kind", "step"),
    (
        Column("source", "str", "format family"),
        Column("signal_kind", "str", "which rule saw the signals", SIGNAL_KINDS),
        Column("step", "str", "`signals`, then each gate's rule code in the order of the gates, then what came of it"),
        Column("position", "int", "order of the step, from 1"),
        Column("is_refusal", "bool", "true: `rows` counts what this rule refused; false: what there is"),
        Column("rows", "int", "how many"),
    ),
    released=True,
    sql=True,
    hashed=False,
)

SAMPLES = Table(
    "samples",
    "outcomes",
    "one learning drawn into one week's sample",
    ("sample", "learning_id"),
    (
        Column("sample", "str", "ISO week it was drawn for, as 2026-W12"),
        Column("learning_id", "str", "the learning"),
        Column("signal_kind", "str", "which rule saw the words that are served", SIGNAL_KINDS),
        Column("seat", "int", "place in the sample, from 1; the order to judge in"),
        Column("drawn_on", "date", "as-of day on which it was drawn; its seat never changes after that"),
        Column(
            "ruling",
            "str",
            "junk: a person rejected it or had it forgotten; kept: a person approved, edited, restored or endorsed "
            "it; open: nobody ruled yet",
            ("junk", "kept", "open"),
        ),
    ),
    released=True,
    sql=True,
    hashed=False,
)

JUNK_RATE = Table(
    "junk_rate",
    "outcomes",
    "sample x signal kind",
    ("sample", "signal_kind"),
    (
        Column("sample", "str", "ISO week of the sample"),
        Column("signal_kind", "str", "which rule saw the served words; `all` over all kinds"),
        Column("drawn", "int", "learnings in the sample"),
        Column("judged", "int", "those a person ruled on"),
        Column("junk", "int", "those of them that were rejected or forgotten"),
        Column("rate", "float?", "junk / judged; null where nobody judged"),
        Column("rate_low", "float?", "lower end of the 95 % interval (Wilson)"),
        Column("rate_high", "float?", "upper end of the 95 % interval (Wilson)"),
    ),
    released=True,
    sql=True,
    hashed=False,
)
