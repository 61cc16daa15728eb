"""Contract of stage evidence: signals, the verdicts of the gates, exposures."""

from __future__ import annotations

from lorelake.tables.shape import Column, Table
from lorelake.tables.words import ACTOR_CLASSES, SIGNAL_KINDS

SIGNALS = Table(
    "signals",
    "evidence",
    "one observation with its quote",
    ("signal_id",),
    (
        Column("signal_id", "str", "32 hex of sha256(kind, event, quote position)"),
        Column("kind", "str", "which rule saw it", SIGNAL_KINDS),
        Column("event_id", "str", "event the quote stands in"),
        Column("unit_id", "str", "unit of that event"),
        Column("family_id", "str", "session family, counted once"),
        Column("quote", "str", "verbatim words of the event's text"),
        Column("quote_start", "int", "character offset in the event's text"),
        Column("quote_end", "int", "end offset, exclusive"),
        Column("quote_sha256", "str", "sha256 of the quote"),
        Column("quote_verified", "bool", "the words were found again at that place in the stored record"),
        Column("actor", "str", "whose words, or the tool whose result it is"),
        Column("actor_class", "str", "class of the witness", ACTOR_CLASSES),
        Column("ts", "ts", "when it was said or happened"),
        Column("day", "date", "UTC day the unit began"),
        Column("project", "str", "project id, or `unknown`"),
        Column("audience", "str", "narrowest audience of its source"),
        Column("payload", "str", "JSON object: the item's fields this signal supports, and what its rule saw"),
        Column("source_uri", "str", "where the record lies"),
        Column("first_kept", "date", "as-of day on which the lake first kept the witness"),
    ),
    partitioned=True,
)

ADMISSIONS = Table(
    "admissions",
    "evidence",
    "one verdict of the gates on one signal",
    ("signal_id",),
    (
        Column("signal_id", "str", "the signal"),
        Column("admitted", "bool", "true: it becomes a claim"),
        Column("rule", "str", "code of the first gate that refused it, or `admitted`"),
        Column("detail", "str", "what the gate saw"),
    ),
    released=True,
)

EXPOSURES = Table(
    "exposures",
    "evidence",
    "one learning handed to, or cited in, one session at one time",
    ("exposure_id",),
    (
        Column("exposure_id", "str", "32 hex of sha256(event, learning as shown, act)"),
        Column("claim_id", "str", "id as shown; resolves through aliases"),
        Column("unit_id", "str", "session"),
        Column("family_id", "str", "session family"),
        Column("person", "str", "whose session"),
        Column("act", "str", "what happened to it", ("shown", "cited")),
        Column("release_id", "str?", "release it was shown from; null for a citation"),
        Column("ts", "ts", "when"),
    ),
    released=True,
    hashed=True,
)
