"""The contract: every table's name, stage, grain, key and columns, with their meaning.

The Parquet files, the dbt models, the suites in `expectations/` and `docs/tables.md` are all held against
this package by `tests/contract`. A table or column is declared here once something writes it and something
reads it. One module per stage; importing loads nothing heavy (`arrow_schema` and `polars_schema` import on call).

Column types are written as `str int float bool ts date` or `list[str]`; a trailing `?` allows null.
`ts` is UTC with microseconds.
"""

from __future__ import annotations

from lorelake.tables.events import (
    EVENTS,
    IMPORTED_VOTES,
    LEDGER,
    PEOPLE,
    SESSION_MERGE_REQUESTS,
    SESSIONS,
    UNITS,
)
from lorelake.tables.evidence import (
    ADMISSIONS,
    EXPOSURES,
    SIGNALS,
)
from lorelake.tables.learnings import (
    CLAIMS,
    CONFIDENCE,
    LEARNING_EVENTS,
    LEARNING_EVIDENCE,
    LEARNINGS,
    REVIEW_QUEUE,
    SUPERSESSION,
    SUPERSESSION_CANDIDATES,
    TOMBSTONES,
    VOTES,
)
from lorelake.tables.outcomes import (
    FUNNEL,
    REFUSALS,
    SOURCE_HEALTH,
)
from lorelake.tables.raw import (
    INTAKE,
    QUARANTINE,
    RAW_RECORDS,
)
from lorelake.tables.release import (
    HISTORY,
)
from lorelake.tables.shape import Column, Table
from lorelake.tables.words import (
    ACTOR_CLASSES,
    DECISIONS,
    EVENT_KINDS,
    ITEM_KINDS,
    SEVERITIES,
    SIGNAL_KINDS,
    SOURCES,
    STAGES,
    STATES,
    TRUSTS,
    UNIT_KINDS,
)

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        RAW_RECORDS,
        QUARANTINE,
        INTAKE,
        PEOPLE,
        UNITS,
        SESSIONS,
        EVENTS,
        SESSION_MERGE_REQUESTS,
        IMPORTED_VOTES,
        LEDGER,
        SIGNALS,
        ADMISSIONS,
        EXPOSURES,
        CLAIMS,
        SUPERSESSION_CANDIDATES,
        LEARNINGS,
        LEARNING_EVIDENCE,
        LEARNING_EVENTS,
        VOTES,
        CONFIDENCE,
        SUPERSESSION,
        TOMBSTONES,
        REVIEW_QUEUE,
        FUNNEL,
        REFUSALS,
        SOURCE_HEALTH,
        HISTORY,
    )
}
"""Every table by name, in the order of the flow."""

__all__ = [
    "ACTOR_CLASSES",
    "ADMISSIONS",
    "CLAIMS",
    "CONFIDENCE",
    "DECISIONS",
    "EVENTS",
    "EVENT_KINDS",
    "EXPOSURES",
    "FUNNEL",
    "HISTORY",
    "IMPORTED_VOTES",
    "INTAKE",
    "ITEM_KINDS",
    "LEARNINGS",
    "LEARNING_EVENTS",
    "LEARNING_EVIDENCE",
    "LEDGER",
    "PEOPLE",
    "QUARANTINE",
    "RAW_RECORDS",
    "REFUSALS",
    "REVIEW_QUEUE",
    "SESSIONS",
    "SESSION_MERGE_REQUESTS",
    "SEVERITIES",
    "SIGNALS",
    "SIGNAL_KINDS",
    "SOURCES",
    "SOURCE_HEALTH",
    "STAGES",
    "STATES",
    "SUPERSESSION",
    "SUPERSESSION_CANDIDATES",
    "TABLES",
    "TOMBSTONES",
    "TRUSTS",
    "UNITS",
    "UNIT_KINDS",
    "VOTES",
    "Column",
    "Table",
]
