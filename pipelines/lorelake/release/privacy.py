"""What leaves the analysts' tables before they are written: private audiences', forgotten and secret words.

Rows stay, so that every count is true and every join holds; their text, link and name columns are emptied. Private are
channels, direct messages and persons, and any audience that is neither the team nor a project. What is served to a
private audience itself lies in its own index folder, whole. Where a row cannot be traced to an audience (a decision
on an item the lake does not know, an admission whose signal was not given) its words are left out as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from lorelake import served
from lorelake.content.gist_signature import PAIR_ENTRY
from lorelake.tables import TABLES

WITHHELD = "withheld"
"""The actor of what only a private audience may know."""

_TEXT: dict[str, tuple[str, ...]] = {
    "learnings": (
        "title", "when", "do", "because", "rejected", "not_when", "applies_to", "self_check", "tags", "risks",
        "said_by", "replaced_parts",
    ),
    "learning_evidence": ("quote", "source_uri", "actor"),
    "learning_events": ("actor", "evidence"),
    "learning_versions": ("title",),
    "retirement_samples": ("quote", "newer_quote", "said", "actor", "evidence"),
    "review_queue": ("title", "risks"),
    "approved_texts": ("title", "when", "do", "because", "not_when"),
    "repeat_mistakes": ("signature",),
    "supersession": ("actor", "evidence", "quote", "older_quote", "newer_quote", "part", "features"),
    "ledger": ("new_text", "reason", "source_uri", "reach", "experiment"),
    "admissions": ("detail",),
    "sessions": ("branch",),
    "imported_votes": ("item_id", "also", "unit_id"),
    "recalls": ("query", "searched"),
    "exposures": ("evidence",),
    "topics": ("path", "label"),
    "topic_members": ("found_in",),
    "topic_merges": ("from_path", "to_path", "evidence"),
}  # fmt: skip
"""Per table, the columns that carry words, links or names."""

_IN_PLACE = {
    ("supersession", "features"): "{}",
    ("supersession", "actor"): WITHHELD,
    ("learning_events", "actor"): WITHHELD,
    ("retirement_samples", "actor"): WITHHELD,
}
"""What stands instead of the words where empty is no value: of a JSON object, and of who said or did it."""


def without_private_words(frames: Mapping[str, pl.DataFrame], signals: pl.DataFrame | None) -> dict[str, pl.DataFrame]:
    """The frames as they are written to `tables/`. `signals` says which audience an admission belongs to."""
    hidden = hidden_learnings(frames["learnings"])
    evidence = frames["learning_evidence"]
    shown = frames["learnings"].filter(~pl.col("learning_id").is_in(hidden))["learning_id"]
    shown_claims = evidence.filter(pl.col("learning_id").is_in(shown.implode()))["claim_id"].append(shown).unique()
    behind_hidden = set(evidence.filter(pl.col("learning_id").is_in(hidden))["signal_id"])
    audience_of = signals.select("signal_id", "audience").iter_rows() if signals is not None else ()
    shown_signals = [s for s, audience in audience_of if served.is_shared(audience) and s not in behind_hidden]
    by_audience = [name for name in ("sessions", "imported_votes", "recalls", "exposures") if name in frames]
    audiences = {audience for name in by_audience for audience in frames[name]["audience"].unique()}
    private = sorted(audience for audience in audiences if not served.is_shared(audience))
    by_learning = pl.col("learning_id").is_in(hidden)
    where = {
        "learnings": by_learning,
        "learning_evidence": by_learning,
        "learning_events": by_learning,
        "learning_versions": by_learning,
        "retirement_samples": by_learning | pl.col("newer_id").is_in(hidden).fill_null(False),
        "review_queue": by_learning,
        "approved_texts": by_learning,
        "supersession": pl.col("older_id").is_in(hidden) | pl.col("newer_id").is_in(hidden),
        "ledger": ~pl.col("claim_id").is_in(shown_claims.implode()).fill_null(False),
        "admissions": ~pl.col("signal_id").is_in(shown_signals),
        **dict.fromkeys(by_audience, pl.col("audience").is_in(private)),
        "repeat_mistakes": by_learning | _of_private_audience(),
        **_of_topics(frames, hidden),
    }
    return {name: _emptied(name, data, where[name]) if name in where else data for name, data in frames.items()}


def without_open_signatures(frames: Mapping[str, pl.DataFrame], team: str) -> dict[str, pl.DataFrame]:
    """The frames with nothing in `ledger` and `tombstones` that tells of words or of a private audience's name.

    Entries of 16 hex are word pairs hashed without a key, on which words could be tried: they stay in the ledger. A
    tombstone that reaches a private audience names it by the opaque id that its folder has.
    """
    keyed = pl.col("signature").list.eval(pl.element().filter(pl.element().str.len_chars() != PAIR_ENTRY))
    reaches = frames["tombstones"]["reach"].unique().to_list()
    opaque = {reach: served.audience_id(team, reach) for reach in reaches if not served.is_shared(reach)}
    return {
        **frames,
        "ledger": frames["ledger"].with_columns(keyed),
        "tombstones": frames["tombstones"].with_columns(keyed, pl.col("reach").replace(opaque)),
    }


def _of_private_audience() -> pl.Expr:
    """Rows whose `audience` is neither the team nor a project, as `served.is_shared` tells them apart."""
    audience = pl.col("audience")
    return ~((audience == served.TEAM_AUDIENCE) | audience.str.starts_with(served.PROJECT_PREFIX))


def _of_topics(frames: Mapping[str, pl.DataFrame], hidden: Sequence[str]) -> dict[str, pl.Expr]:
    """A topic's words are shown where a shown learning lies at it or below. A merge may quote any learning's tag."""
    members = frames["topic_members"]
    above = dict(frames["topics"].select("topic_id", "parent_id").iter_rows())
    shown: set[str | None] = set()
    for topic in members.filter(~pl.col("learning_id").is_in(hidden))["topic_id"].unique():
        while topic is not None and topic not in shown:
            shown.add(topic)
            topic = above.get(topic)
    topics = sorted(topic for topic in shown if topic)
    beside_hidden = members.filter(pl.col("learning_id").is_in(hidden))["topic_id"].unique()
    return {
        "topics": ~pl.col("topic_id").is_in(topics),
        "topic_members": pl.col("learning_id").is_in(hidden),
        "topic_merges": ~pl.col("to_id").is_in(topics) | pl.col("to_id").is_in(beside_hidden.implode()),
    }


def hidden_learnings(learnings: pl.DataFrame) -> list[str]:
    """Ids of the learnings whose words may not lie in the tables."""
    columns = learnings.select("learning_id", "state", "state_reason", "audience")
    return [
        learning_id
        for learning_id, state, reason, audience in columns.iter_rows()
        if withheld(state, reason) or not served.is_shared(audience)
    ]


def withheld(state: str, reason: str) -> bool:
    """Whether a learning's words may stand nowhere in a release: forgotten, taken back at their source, or a secret."""
    return state == "forgotten" or reason in ("row_secret", "message_deleted")


def _emptied(name: str, data: pl.DataFrame, where: pl.Expr) -> pl.DataFrame:
    table = TABLES[name]
    empty = {"str": pl.lit(""), "str?": pl.lit(None, pl.String), "list[str]": pl.lit([], pl.List(pl.String))}
    kinds = {column.name: column.type for column in table.columns}
    instead = {
        column: pl.lit(_IN_PLACE[name, column]) if (name, column) in _IN_PLACE else empty[kinds[column]]
        for column in _TEXT[name]
    }
    return data.with_columns(
        pl.when(where).then(value).otherwise(pl.col(column)).alias(column) for column, value in instead.items()
    )
