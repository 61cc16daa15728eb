"""Per-row rules at build: a learning that breaks one is moved to `quarantined`, visibly, before anything is served."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time
from typing import Any

import polars as pl

Redact = Callable[[list[Any]], list[Any]]
"""`content.redaction.Redactor.values`: a text that it changes still holds a secret."""

ROW_RULES = {
    "row_empty_title": "the title is empty",
    "row_empty_do": "it does not say what to do",
    "row_value_range": "a confidence is missing or outside 0 to 1",
    "row_interval_order": "the confidence does not lie inside its interval",
    "row_no_witness": "active without a verified quote of a person or a mechanical fact",
    "row_secret": "a text still holds what the redaction rules recognise",
}
"""Rule code to meaning, in the order in which the first that applies becomes the row's `state_reason`."""

TEXT_COLUMNS = ("title", "when", "do", "because", "rejected", "not_when", "applies_to", "self_check", "tags")
WITNESS_CLASSES = ("human", "tool")
_MAY_BE_SERVED = ("active", "candidate")


def quarantine(learnings: pl.DataFrame, evidence: pl.DataFrame, redact: Redact) -> pl.DataFrame:
    """Learnings with every faulty row that is or may be served set to `quarantined`, its rule as `state_reason`."""
    secret = holding_secrets(learnings, evidence, redact)
    confidences = [pl.col(name) for name in ("confidence", "confidence_low", "confidence_high")]
    broken = {
        "row_empty_title": pl.col("title").str.strip_chars() == "",
        "row_empty_do": pl.col("do").str.strip_chars() == "",
        "row_value_range": ~pl.all_horizontal(c.is_finite() & c.is_between(0, 1) for c in confidences),
        "row_interval_order": ~pl.col("confidence").is_between("confidence_low", "confidence_high"),
        "row_no_witness": (pl.col("state") == "active") & ~pl.col("learning_id").is_in(witnessed(evidence)),
        "row_secret": pl.col("learning_id").is_in(secret),
    }
    first = pl.coalesce(pl.when(broken[code]).then(pl.lit(code)) for code in ROW_RULES)
    code = pl.when(pl.col("state").is_in(_MAY_BE_SERVED)).then(first)
    return learnings.with_columns(
        state_reason=pl.coalesce(code, "state_reason"),
        state=pl.when(code.is_not_null()).then(pl.lit("quarantined")).otherwise("state"),
    )


def witnessed(evidence: pl.DataFrame) -> list[str]:
    """Ids of the learnings with a verified quote behind which a person or a mechanical fact stands."""
    held = evidence.filter(
        pl.col("quote_verified") & pl.col("actor_class").is_in(WITNESS_CLASSES) & (pl.col("quote") != "")
    )
    return sorted(held["learning_id"].unique())


def holding_secrets(learnings: pl.DataFrame, evidence: pl.DataFrame, redact: Redact) -> list[str]:
    """Ids of the learnings with a text, or a quote behind them, that redaction would still change."""
    ids = [*learnings["learning_id"], *evidence["learning_id"]]
    texts: list[Any] = [*learnings.select(TEXT_COLUMNS).rows(), *evidence.select("quote").rows()]
    as_lists = [_plain(row) for row in texts]
    return sorted({id_ for id_, old, new in zip(ids, as_lists, redact(as_lists), strict=True) if old != new})


def _plain(row: Sequence[Any]) -> list[Any]:
    return [list(value) if isinstance(value, list | tuple) else value for value in row]


def quarantine_events(before: pl.DataFrame, after: pl.DataFrame, as_of: date) -> pl.DataFrame:
    """The moves as rows of `learning_events`: by rule, at the end of the as-of day."""
    moved = before.select("learning_id", from_state="state").join(
        after.select("learning_id", "state", "state_reason"), on="learning_id"
    )
    moved = moved.filter((pl.col("state") == "quarantined") & (pl.col("from_state") != "quarantined"))
    return moved.select(
        "learning_id",
        pl.lit(datetime.combine(as_of, time(23, 59, 59), UTC), pl.Datetime("us", "UTC")).alias("ts"),
        "from_state",
        pl.col("state").alias("to_state"),
        pl.col("state_reason").alias("reason"),
        pl.lit("rule").alias("actor"),
        pl.lit("").alias("evidence"),
    )


def quarantine_versions(versions: pl.DataFrame, moves: pl.DataFrame, as_of: date) -> pl.DataFrame:
    """Rows of `learning_versions` with the moves of `quarantine_events` among them: from that instant on, as known on
    the as-of day, the learning is quarantined; what was known before stays as it was."""
    if moves.is_empty():
        return versions
    open_row = pl.col("valid_to").is_null() & pl.col("known_to").is_null()
    moved = open_row & pl.col("learning_id").is_in(moves["learning_id"].implode())
    rows = versions.filter(moved).join(moves.select("learning_id", "ts", "to_state", "reason"), on="learning_id")
    names = versions.columns
    until = rows.with_columns(valid_to="ts").select(names)
    known_before = rows.filter(pl.col("known_from") < as_of).with_columns(
        valid_from="ts", known_to=pl.lit(as_of, pl.Date)
    )
    held = rows.with_columns(
        valid_from="ts", known_from=pl.lit(as_of, pl.Date), state="to_state", state_reason="reason",
        superseded_by=pl.lit(None, pl.String),
    )  # fmt: skip
    return pl.concat([versions.filter(~moved), until, known_before.select(names), held.select(names)])
