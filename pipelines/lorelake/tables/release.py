"""Contract of stage release: what each publish changed."""

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
