"""Contract of stage learnings, over time: what was believed when, what changed it, and what replaced what."""

from __future__ import annotations

from lorelake.tables.shape import Column, Table
from lorelake.tables.words import STATES, SUPERSESSION_REASONS, TRUSTS

LEARNING_VERSIONS = Table(
    "learning_versions",
    "learnings",
    "what was believed of one learning over one stretch of both time axes",
    ("learning_id", "valid_from", "known_from"),
    (
        Column("learning_id", "str", "the learning"),
        Column("valid_from", "ts", "since when it held, by the times of evidence and decisions"),
        Column("valid_to", "ts?", "until before when; null: it still does"),
        Column("known_from", "date", "as-of day from which on the lake had kept what says so"),
        Column("known_to", "date?", "as-of day on which it kept what says otherwise; null: nothing does"),
        Column("state", "str", "where it stood", STATES),
        Column("state_reason", "str", "what put it there"),
        Column("trust", "str", "what its history proved", TRUSTS),
        Column("title", "str", "what it said"),
        Column("text_sha256", "str", "its words, as an approval is bound to them"),
        Column("superseded_by", "str?", "learning that stood at the end of its chain"),
    ),
    released=True,
    sql=True,
    hashed=True,
)

LEARNING_EVENTS = Table(
    "learning_events",
    "learnings",
    "one change of state of one learning",
    ("learning_id", "ts", "to_state", "reason"),
    (
        Column("learning_id", "str", "the learning"),
        Column("ts", "ts", "when it took effect"),
        Column("from_state", "str?", "state before; null for the first", STATES),
        Column("to_state", "str", "state after", STATES),
        Column("reason", "str", "what put it there"),
        Column("actor", "str", "person, or `rule` where a rule did it; `withheld` in a release, of a private learning"),
        Column("evidence", "str", "signal, decision or document behind it"),
    ),
    released=True,
    sql=True,
    hashed=True,
)

SUPERSESSION = Table(
    "supersession",
    "learnings",
    "older -> newer",
    ("older_id", "newer_id", "reason"),
    (
        Column("older_id", "str", "learning that is replaced"),
        Column("newer_id", "str", "learning that replaces it"),
        Column("reason", "str", "on what ground", SUPERSESSION_REASONS),
        Column(
            "status",
            "str",
            "applied: the older one is not served; in_part: it is, with the replaced part named; proposed: waits for a "
            "person; undone: a person brought the older one back",
            ("applied", "in_part", "proposed", "undone"),
        ),
        Column("partial", "bool", "true: a part is replaced, the rest still holds"),
        Column("part", "str?", "the replaced part in the source's words, where it names one"),
        Column("ambiguous", "bool", "true: the name fits several records; `features` lists them"),
        Column("features", "str", "JSON object: what matched, and how alike the two are"),
        Column("quote", "str?", "the words that say so; null where the two sides' words are all there is"),
        Column("older_evidence", "str?", "signal behind the older one"),
        Column("older_quote", "str?", "its verbatim words"),
        Column("newer_evidence", "str?", "signal behind the newer one"),
        Column("newer_quote", "str?", "its verbatim words"),
        Column("actor", "str", "who said so; `withheld` in a release, where either side is private"),
        Column("evidence", "str", "decision, document version or signal that says so"),
        Column("ts", "ts", "when it was said"),
    ),
    released=True,
    sql=True,
    hashed=True,
)

RETIREMENT_SAMPLES = Table(
    "retirement_samples",
    "learnings",
    "one retirement drawn for people to look at",
    ("kind", "seat"),
    (
        Column("kind", "str", "what was drawn from", ("superseded", "in_part", "expired", "refuted", "archived")),
        Column("seat", "int", "place in the draw of its kind, from 1"),
        Column("learning_id", "str", "learning that was retired, or of which a part was"),
        Column("reason", "str", "what retired it: the ground of the link, or the reason of its state"),
        Column("newer_id", "str?", "learning that replaced it"),
        Column("quote", "str?", "verbatim words behind the retired one"),
        Column("newer_quote", "str?", "verbatim words behind what replaced it"),
        Column("said", "str?", "the words that say that it is replaced"),
        Column("actor", "str", "who retired it; `withheld` in a release, where either side is private"),
        Column("evidence", "str", "signal, decision or document behind it"),
        Column("ts", "ts", "when it took effect"),
        Column("drawn_from", "int", "retirements of its kind there are tonight"),
    ),
    released=True,
    sql=True,
    hashed=True,
)
