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
    RECALLS,
    SIGNALS,
    SIGNATURE_MAPPING,
)
from lorelake.tables.learnings import (
    ALIASES,
    CLAIMS,
    CONFIDENCE,
    LEARNING_EVENTS,
    LEARNING_EVIDENCE,
    LEARNINGS,
    REVIEW_QUEUE,
    SUPERSESSION,
    SUPERSESSION_CANDIDATES,
    TOMBSTONES,
    TOPIC_MEMBERS,
    TOPIC_MERGES,
    TOPICS,
    VOTES,
)
from lorelake.tables.outcomes import (
    FUNNEL,
    GATE_FUNNEL,
    JUNK_RATE,
    REFUSALS,
    SAMPLES,
    SOURCE_HEALTH,
)
from lorelake.tables.raw import (
    INTAKE,
    MODEL_ANSWERS,
    QUARANTINE,
    RAW_RECORDS,
)
from lorelake.tables.release import (
    HISTORY,
    SERVED_IDS,
)
from lorelake.tables.shape import Column, Table
from lorelake.tables.words import (
    ACTOR_CLASSES,
    DECISIONS,
    EVENT_KINDS,
    ITEM_KINDS,
    RECALL_VERDICTS,
    SEVERITIES,
    SIGNAL_KINDS,
    SOURCES,
    STAGES,
    STATES,
    SURFACES,
    TAGGERS,
    TOPIC_KINDS,
    TRUSTS,
    UNIT_KINDS,
)

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        RAW_RECORDS,
        QUARANTINE,
        INTAKE,
        MODEL_ANSWERS,
        PEOPLE,
        UNITS,
        SESSIONS,
        EVENTS,
        SESSION_MERGE_REQUESTS,
        IMPORTED_VOTES,
        LEDGER,
        SIGNALS,
        ADMISSIONS,
        RECALLS,
        SIGNATURE_MAPPING,
        EXPOSURES,
        CLAIMS,
        SUPERSESSION_CANDIDATES,
        LEARNINGS,
        ALIASES,
        LEARNING_EVIDENCE,
        LEARNING_EVENTS,
        VOTES,
        CONFIDENCE,
        SUPERSESSION,
        TOMBSTONES,
        REVIEW_QUEUE,
        TOPICS,
        TOPIC_MEMBERS,
        TOPIC_MERGES,
        FUNNEL,
        GATE_FUNNEL,
        REFUSALS,
        SOURCE_HEALTH,
        SAMPLES,
        JUNK_RATE,
        HISTORY,
        SERVED_IDS,
    )
}
"""Every table by name, in the order of the flow."""

__all__ = [
    "ACTOR_CLASSES",
    "ADMISSIONS",
    "ALIASES",
    "CLAIMS",
    "CONFIDENCE",
    "DECISIONS",
    "EVENTS",
    "EVENT_KINDS",
    "EXPOSURES",
    "FUNNEL",
    "GATE_FUNNEL",
    "HISTORY",
    "IMPORTED_VOTES",
    "INTAKE",
    "ITEM_KINDS",
    "JUNK_RATE",
    "LEARNINGS",
    "LEARNING_EVENTS",
    "LEARNING_EVIDENCE",
    "LEDGER",
    "MODEL_ANSWERS",
    "PEOPLE",
    "QUARANTINE",
    "RAW_RECORDS",
    "RECALLS",
    "RECALL_VERDICTS",
    "REFUSALS",
    "REVIEW_QUEUE",
    "SAMPLES",
    "SERVED_IDS",
    "SESSIONS",
    "SESSION_MERGE_REQUESTS",
    "SEVERITIES",
    "SIGNALS",
    "SIGNAL_KINDS",
    "SIGNATURE_MAPPING",
    "SOURCES",
    "SOURCE_HEALTH",
    "STAGES",
    "STATES",
    "SUPERSESSION",
    "SUPERSESSION_CANDIDATES",
    "SURFACES",
    "TABLES",
    "TAGGERS",
    "TOMBSTONES",
    "TOPICS",
    "TOPIC_KINDS",
    "TOPIC_MEMBERS",
    "TOPIC_MERGES",
    "TRUSTS",
    "UNITS",
    "UNIT_KINDS",
    "VOTES",
    "Column",
    "Table",
]
