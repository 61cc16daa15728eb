"""Contract of stage evidence: signals, the verdicts of the gates, exposures."""

from __future__ import annotations

from lorelake.tables.shape import Column, Table
from lorelake.tables.words import ACTOR_CLASSES, RECALL_VERDICTS, SIGNAL_KINDS, SURFACES

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

RECALLS = Table(
    "recalls",
    "evidence",
    "one question that a memory was asked in a session",
    ("recall_id",),
    (
        Column("recall_id", "str", "32 hex of sha256(result event, place of the answer in it)"),
        Column("surface", "str", "how it was asked: lorelake's commands or MCP server, teamai, GitMem", SURFACES),
        Column("query", "str", "what was asked, redacted; empty where that cannot be told"),
        Column("verdict", "str?", "what the memory said of its answer; null where it judges nothing", RECALL_VERDICTS),
        Column("score", "float?", "of the best match, on that memory's own scale"),
        Column("threshold", "float?", "what the score had to reach"),
        Column("returned", "int?", "items in the answer"),
        Column("total", "int?", "items that matched; only lorelake tells"),
        Column("truncated", "bool?", "whether more matched than the answer holds; null where nobody tells"),
        Column("searched", "list[str]", "audiences looked through; only lorelake tells"),
        Column("release_id", "str?", "lorelake's release that answered"),
        Column("unit_id", "str", "session"),
        Column("family_id", "str", "session family"),
        Column("person", "str", "whose session"),
        Column("project", "str", "project of the session, or `unknown`"),
        Column("audience", "str", "narrowest audience of the session"),
        Column("ts", "ts", "when it was answered"),
    ),
    released=True,
    hashed=True,
)

SIGNATURE_MAPPING = Table(
    "signature_mapping",
    "evidence",
    "one error signature under a former algorithm and the one it has now",
    ("former_key", "key"),
    (
        Column("former_key", "str", "key under the former algorithm, `sig-` and its number first"),
        Column("key", "str", "key of the same output under the algorithm in use"),
        Column("algorithm", "str", "the algorithm in use"),
        Column("families", "int", "session families in which both were read from one output"),
    ),
    released=True,
)

EXPOSURES = Table(
    "exposures",
    "evidence",
    "one learning put before, or used by, an agent in one session at one time",
    ("exposure_id",),
    (
        Column("exposure_id", "str", "32 hex of sha256(event, learning as shown, act)"),
        Column("claim_id", "str", "reference as shown: `lrn_…`, `teamai:<document id>`, `gitmem:<hex>`; see aliases"),
        Column("unit_id", "str", "session"),
        Column("family_id", "str", "session family"),
        Column("person", "str", "whose session"),
        Column("act", "str", "what happened to it", ("shown", "opened", "cited", "confirmed")),
        Column("surface", "str", "where it came from: lorelake's commands or MCP server, teamai, GitMem", SURFACES),
        Column("rank", "int?", "place in the answer, from 1; null for what was cited or confirmed"),
        Column("recall_id", "str?", "the question that it answered, a row of `recalls`"),
        Column("verdict", "str?", "of a confirmation: what the agent said of it", ("applying", "n_a", "refuted")),
        Column("evidence", "str?", "of a confirmation: the agent's words for it"),
        Column("release_id", "str?", "lorelake's release it was shown from"),
        Column("audience", "str", "narrowest audience of the session"),
        Column("ts", "ts", "when"),
    ),
    released=True,
    hashed=True,
)
