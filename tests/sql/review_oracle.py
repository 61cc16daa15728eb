"""Who may not decide on what they proposed, and what became of each decision: slow, and not as the models do it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sql_samples import text_hash

if TYPE_CHECKING:
    from sql_oracle import Oracle

Row = Mapping[str, Any]
TAKES_AWAY = ("reject", "forget", "retire")
GIVES = ("approve", "edit", "endorse", "supersede", "pin", "merge", "split")


def is_own(row: Row, decided: Sequence[Row], members: Mapping[str, Any], rows: Mapping[str, Sequence[Row]]) -> bool:
    """Whether a decision lends weight to what only its actor proposed, or brings back what another took away."""
    if row["decision"] not in ("approve", "pin", "restore") or row["learning"] is None:
        return False
    worked = {session["unit_id"]: session["person"] for session in rows["sessions"]}
    proposers = set()
    for _, signal in members[row["learning"]]:
        if signal["ts"] <= row["ts"]:
            said = signal["actor_class"] == "human"
            proposers.add(signal["actor"] if said else worked.get(signal["unit_id"], signal["actor"]))
    if proposers != {row["actor"]}:
        return False
    if row["decision"] != "restore":
        return True
    before = [other for other in decided if other["learning"] == row["learning"] and other["ts"] < row["ts"]]
    return any(other["decision"] in TAKES_AWAY and other["actor"] != row["actor"] for other in before)


def several_review(people: Iterable[Row]) -> bool:
    """Whether somebody else could have decided."""
    return len({row["person_id"] for row in people if row["is_reviewer"] and row["kind"] == "human"}) > 1


def overruled(oracle: Oracle, row: Row) -> str | None:
    """The rule by which another decision, or the text of tonight, holds instead; None where the decision holds."""
    kind, learning = row["decision"], row["learning"]
    about = [other for other in oracle.decisions if _is_same(other, row)]
    later = [other for other in about if other["ts"] > row["ts"]]
    if kind in TAKES_AWAY and any(other["decision"] == "restore" and _meets(row, other) for other in later):
        return "restored"
    if kind == "restore" and any(other["decision"] in TAKES_AWAY and _meets(other, row) for other in later):
        return "taken_away"
    if learning is None:
        return None
    now = oracle.tonight(learning)
    if kind in GIVES and (
        oracle.tombstones(learning, now) & {"rejected", "forgotten"} or _is_retired(oracle, learning)
    ):
        return "taken_away"
    if kind == "approve" and not _holds(oracle, row, now):
        return "text_changed"
    named = [other for other in oracle.decisions if other["learning"] == learning]
    after = named[named.index(row) + 1 :]
    if kind == "edit" and row["new_text"]:
        fields = set(json.loads(row["new_text"]))
        newer = [
            set(json.loads(o["new_text"])) for o in after if o["decision"] in ("edit", "approve") and o["new_text"]
        ]
        return "edited_again" if fields and fields <= set().union(*newer) else None
    votes = [other for other in after if other["decision"] in ("endorse", "dispute") and other["actor"] == row["actor"]]
    return "said_otherwise" if kind in ("endorse", "dispute") and votes else None


def _is_same(other: Row, row: Row) -> bool:
    item = row["learning"] is not None and other["learning"] == row["learning"]
    return bool(item or (row["key"] is not None and other["key"] == row["key"]))


def _meets(removal: Row, restore: Row) -> bool:
    item = removal["learning"] is not None and removal["learning"] == restore["learning"]
    by_key = removal["decision"] != "retire" and removal["key"] is not None and removal["key"] == restore["key"]
    return bool(item or by_key)


def _is_retired(oracle: Oracle, learning: str) -> bool:
    named = [row for row in oracle.decisions if row["learning"] == learning]
    retired = [row["ts"] for row in named if row["decision"] == "retire"]
    restored = [row["ts"] for row in named if row["decision"] == "restore"]
    return bool(retired) and (not restored or max(retired) >= max(restored))


def _holds(oracle: Oracle, row: Row, now: datetime) -> bool:
    versions = oracle.versions(row["learning"], now)
    text, brought_by = versions[-1]
    if row["decided_on_sha256"] == text_hash(text):
        return True
    return row["decision_id"] == brought_by and row["decided_on_sha256"] == text_hash(versions[-2][0])
