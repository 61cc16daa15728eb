"""Contract of stage learnings: what waits for people, and what became of what they decided."""

from __future__ import annotations

from lorelake.tables.shape import Column, Table
from lorelake.tables.words import DECISION_VERDICTS, DECISIONS, REVIEW_REASONS

REGROUPINGS = Table(
    "regroupings",
    "learnings",
    "one merge or split that people decided",
    ("decision_id",),
    (
        Column("decision_id", "str", "the decision"),
        Column("verdict", "str", "what came of it", ("applies", "overruled", "refused")),
        Column("because", "str?", "rule code where it is overruled or refused"),
        Column("overruled_by", "str?", "the later decision that moved the claims again"),
        Column("claims", "list[str]", "the claims it moved"),
    ),
)

DECISION_STATUS = Table(
    "decision_status",
    "learnings",
    "one decision of the ledger and what came of it",
    ("decision_id",),
    (
        Column("decision_id", "str", "the decision"),
        Column("decision", "str", "what was decided", DECISIONS),
        Column("learning_id", "str?", "the learning that holds the item it names; null where there is none"),
        Column("verdict", "str", "what came of it", DECISION_VERDICTS),
        Column("because", "str?", "rule code where it does not apply"),
        Column("overruled_by", "str?", "the decision that holds instead; null where no decision does"),
        Column("self_reviewed", "bool", "whether the only listed reviewer decided on their own proposal"),
    ),
    released=True,
    sql=True,
    hashed=True,
)

REVIEW_QUEUE = Table(
    "review_queue",
    "learnings",
    "one learning that waits for a person",
    ("learning_id", "why"),
    (
        Column("learning_id", "str", "the learning"),
        Column("why", "str", "what waits", REVIEW_REASONS),
        Column("audience", "str", "who may review it"),
        Column("title", "str", "what it says"),
        Column("risks", "list[str]", "why a person must look"),
        Column("reach", "int", "how often it was shown, plus the session families behind it"),
        Column("missing", "list[str]", "fields it lacks"),
        Column("since", "date", "as-of day on which it came to the queue"),
        Column("waiting_days", "int", "days since then"),
    ),
    released=True,
    sql=True,
    hashed=True,
)

APPROVED_TEXTS = Table(
    "approved_texts",
    "learnings",
    "one learning that reads otherwise than a person approved",
    ("learning_id",),
    (
        Column("learning_id", "str", "the learning"),
        Column("decision_id", "str", "the approval"),
        Column("text_sha256", "str", "sha256 of the approved words"),
        Column("title", "str", "what it said"),
        Column("when", "str", "what triggered it"),
        Column("do", "str", "what to do"),
        Column("because", "str?", "why"),
        Column("not_when", "list[str]", "counter-arguments"),
    ),
    released=True,
    sql=True,
    hashed=True,
)
