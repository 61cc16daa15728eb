"""Contract of stage release: what each publish changed, and the ids it answers to."""

from __future__ import annotations

from lorelake.tables.shape import Column, Table
from lorelake.tables.words import STATES

HISTORY = Table(
    "history",
    "release",
    "one change of state that a publish brought",
    ("sequence", "learning_id"),
    (
        Column("sequence", "int", "number of the publish, from 1"),
        Column("release_id", "str", "release that was published"),
        Column("published_at", "ts", "wall clock of the publish; never an input of a derived row"),
        Column("learning_id", "str", "the learning; empty for the publish itself"),
        Column("from_state", "str?", "state in the release before", STATES),
        Column("to_state", "str?", "state in this release; null where it is gone", STATES),
    ),
)

SERVED_IDS = Table(
    "served_ids",
    "release",
    "one id that a release answered to, in the file of the publish that first had it",
    ("claim_id",),
    (
        Column("sequence", "int", "number of that publish, from 1"),
        Column("release_id", "str", "release that was published"),
        Column("claim_id", "str", "the id: `lrn_` and 32 hex"),
        Column("content_key", "str", "content key of the claim it was made for"),
        Column("audience", "str", "audience it was made under"),
    ),
)
