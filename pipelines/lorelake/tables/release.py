"""Contract of stage release: what each publish changed, what was served when, and the ids a release answers to."""

from __future__ import annotations

from lorelake.tables.shape import Column, Table
from lorelake.tables.words import STATES

HISTORY = Table(
    "history",
    "release",
    "one change of state or of served words that a publish brought",
    ("sequence", "learning_id"),
    (
        Column("sequence", "int", "number of the publish, from 1"),
        Column("release_id", "str", "release that was published"),
        Column("published_at", "ts", "wall clock of the publish; never an input of a derived row"),
        Column("learning_id", "str", "the learning; empty for the publish itself"),
        Column("from_state", "str?", "state in the release before", STATES),
        Column("to_state", "str?", "state in this release; null where it is gone", STATES),
        Column("text_sha256", "str?", "its words as this release serves them; null where it serves none"),
    ),
)

PUBLISHES = Table(
    "publishes",
    "release",
    "one publish before this release, and this release itself",
    ("sequence",),
    (
        Column("sequence", "int", "number of the publish, from 1"),
        Column("release_id", "str?", "release that was published; null for this one, which has no name yet"),
        Column(
            "served_from", "ts", "when it was published; of this release, which cannot know, the end of its as-of day"
        ),
        Column("served_to", "ts?", "when the next one was; null for this release"),
    ),
    released=True,
)

SERVINGS = Table(
    "servings",
    "release",
    "one learning served in the same words by releases in a row",
    ("learning_id", "from_sequence"),
    (
        Column("learning_id", "str", "the learning"),
        Column("text_sha256", "str", "the words it was served with; `learning_versions` has their title"),
        Column("from_sequence", "int", "publish from which on it was served so"),
        Column("to_sequence", "int?", "publish that served it otherwise or not at all; null: this release still does"),
    ),
    released=True,
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
