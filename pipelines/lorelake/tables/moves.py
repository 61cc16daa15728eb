"""The states of a learning: what puts it into each, and from where that may happen. The one table of allowed moves.

`models/tests/every_move_is_one_that_the_rules_know.sql` holds every row of `learning_events` against it, a test shows
that each move is met, and docs/time.md prints it.
"""

from __future__ import annotations

from typing import NamedTuple

_ALL = (
    None, "candidate", "active", "superseded", "refuted", "expired", "archived", "rejected", "forgotten",
)  # fmt: skip
_ONCE_SAID = _ALL[1:]
_RUN_OUT = ("candidate", "active", "superseded", "rejected", "forgotten")


class Reason(NamedTuple):
    """What a reason of a state means, the state it leads to, and the states it may follow."""

    state: str
    meaning: str
    after: tuple[str | None, ...]
    """None: the first entry of its log."""


REASONS: dict[str, Reason] = {
    "forgotten": Reason("forgotten", "a person had its words forgotten", tuple(s for s in _ALL if s != "forgotten")),
    "rejected": Reason("rejected", "a person rejected its words", tuple(s for s in _ALL if s != "rejected")),
    "retired": Reason("archived", "a person retired it", _ALL),
    "document_deleted": Reason(
        "archived",
        "every document it comes from was deleted after its last words; an item that a person approved is archived by "
        "a person's deletion alone, a machine's asks for a look",
        _ONCE_SAID,
    ),
    "message_deleted": Reason(
        "archived", "every message it was drawn from was deleted, and nothing else stands behind it", _ONCE_SAID
    ),
    "superseded": Reason("superseded", "an applied link replaces it", tuple(s for s in _ALL if s != "superseded")),
    "refuted_by_people": Reason(
        "refuted",
        "nobody reviewed it, two people or more are against it since it was last restored, and more than stand for it",
        _ALL,
    ),
    "reverted": Reason(
        "refuted",
        "nobody reviewed or said it, and of the merge requests that show it more were reverted than stand",
        _ONCE_SAID,
    ),
    "disputed": Reason(
        "candidate", "nobody reviewed it, and more people are against it than endorse it: it waits for a ruling", _ALL
    ),
    "near_tombstone": Reason("candidate", "close to what a person rejected, in other words; not approved", _ALL),
    "approved": Reason("active", "a person approved these words", _ALL),
    "reviewed_at_source": Reason("active", "merged by a listed person other than its author", _ALL),
    "corroborated": Reason(
        "active", "two people in two sessions, or three families of a mechanical fact, say it", _ALL
    ),
    "stated": Reason("active", "a person said it", _ALL),
    "waits_for_review": Reason("candidate", "people said it, and `review.require` holds it back", _ALL),
    "mechanical": Reason("candidate", "one session or merge request shows it", _ALL),
    "proposed": Reason("candidate", "an agent or a model proposed it", _ALL),
    "revalidate_by": Reason(
        "expired",
        "the day by which somebody had to support it has passed: a decision's, else so many days of its kind after the "
        "last evidence, approval, edit, endorsement or restoration",
        (*_RUN_OUT, "expired"),
    ),
    "silent": Reason("expired", "a candidate of which nothing was heard or decided for 90 days", _RUN_OUT),
}
"""Reason to rule, in the order in which the first that holds counts; the last two look at what comes out of the others.
`quarantined` is set where a release is built, and its reasons are `lorelake.release.rows.ROW_RULES`."""


MOVES: dict[str | None, tuple[str, ...]] = {
    before: tuple(dict.fromkeys(reason.state for reason in REASONS.values() if before in reason.after))
    for before in _ALL
}
"""State, or None before the first, to the states that may follow it."""


def allowed() -> list[str]:
    """Every allowed move as `from>to:reason`; nothing before `>` is the first entry of a log."""
    return [f"{before or ''}>{reason.state}:{code}" for code, reason in REASONS.items() for before in reason.after]
