"""Merges and splits that people decided, applied to the clusters that the words made.

A merge puts all claims of one learning into another of the same audience, whose words go on being served. A split
takes the named claims out; the most senior of them is served from then on. They are applied in the order of the
ledger, so the later one holds, and every night anew, since clusters are. A merge or split whose file is deleted on
the protected ref was never there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import Any, NamedTuple

Row = Mapping[str, Any]

REFUSED: dict[str, str] = {
    "no_such_item": "no item has that id, or several do",
    "same_item": "both are one item already",
    "other_audience": "items of two audiences are never one: words would reach people they were not said to",
    "rejected_item": "one of the two was rejected or forgotten; what is merged with it would go with it",
    "not_in_item": "none of the claims is among those of the item",
    "nothing_left": "no claim would stay in the item",
}
"""Rule codes of merges and splits that do nothing."""

OVERRULED = "moved_again"
"""Rule code of one whose claims a later decision moved."""

_SHORTEST = len("lrn_") + 12


class Decided(NamedTuple):
    """One merge or split with what came of it; `claims` are those it moved."""

    decision_id: str
    claims: tuple[str, ...] = ()
    refused: str | None = None


def regroup(
    learning_of: MutableMapping[str, str],
    ledger: Sequence[Row],
    audience_of: Mapping[str, str],
    seniority: Callable[[str], Any],
    rejected: frozenset[str] = frozenset(),
    former: Mapping[str, str] | None = None,
) -> list[dict[str, Any]]:
    """Change `learning_of` (claim id to learning id) as people decided; rows of `tables.REGROUPINGS`.

    Args:
        learning_of: what the words made; changed in place.
        ledger: rows of `tables.LEDGER`, refused ones included.
        audience_of: claim id to audience.
        seniority: what orders claims: the least is served of those that a split takes out, and of those it leaves.
        rejected: claims that a standing tombstone meets.
        former: id that a claim had once, to the claim.
    """
    applies = [row for row in ledger if row["verdict"] == "applies" and row["decision"] in ("merge", "split")]
    if not applies:
        return []
    named = _Names(learning_of, former or {})
    done: list[Decided] = []
    for row in sorted(applies, key=lambda row: (row["ts"], row["decision_id"])):
        members: dict[str, set[str]] = defaultdict(set)
        for claim, learning in learning_of.items():
            members[learning].add(claim)
        item = named.find(row["claim_id"])
        if row["decision"] == "merge":
            one = _merged(row, item, named.find(row["other_claim_id"]), learning_of, members, audience_of, rejected)
        else:
            one = _split(row, item, [named.find(claim) for claim in row["claims"]], learning_of, members, seniority)
        done.append(one)
    return sorted(_told(done), key=lambda row: str(row["decision_id"]))


class _Names:
    """Claims by their id, by an id they had once, or by a prefix only one claim has."""

    def __init__(self, learning_of: Mapping[str, str], former: Mapping[str, str]) -> None:
        self._known = {**former, **{claim: claim for claim in learning_of}}
        self._begins: dict[str, list[str]] = defaultdict(list)
        for name in self._known:
            self._begins[name[:_SHORTEST]].append(name)

    def find(self, name: str | None) -> str | None:
        if not name or name in self._known:
            return self._known.get(name or "")
        found = {self._known[full] for full in self._begins.get(name[:_SHORTEST], ()) if full.startswith(name)}
        return found.pop() if len(name) >= _SHORTEST and len(found) == 1 else None


def _merged(
    row: Row,
    item: str | None,
    other: str | None,
    learning_of: MutableMapping[str, str],
    members: Mapping[str, set[str]],
    audience_of: Mapping[str, str],
    rejected: frozenset[str],
) -> Decided:
    decision = str(row["decision_id"])
    if item is None or other is None:
        return Decided(decision, refused="no_such_item")
    source, into = learning_of[item], learning_of[other]
    if source == into:
        return Decided(decision, refused="same_item")
    if audience_of[item] != audience_of[other]:
        return Decided(decision, refused="other_audience")
    if rejected & (members[source] | members[into]):
        return Decided(decision, refused="rejected_item")
    moved = members[source]
    learning_of.update(dict.fromkeys(moved, into))
    return Decided(decision, tuple(sorted(moved)))


def _split(
    row: Row,
    item: str | None,
    named: Sequence[str | None],
    learning_of: MutableMapping[str, str],
    members: Mapping[str, set[str]],
    seniority: Callable[[str], Any],
) -> Decided:
    decision = str(row["decision_id"])
    if item is None:
        return Decided(decision, refused="no_such_item")
    own = members[learning_of[item]]
    leaving = {claim for claim in named if claim in own}
    staying = own - leaving
    if not leaving:
        return Decided(decision, refused="not_in_item")
    if not staying:
        return Decided(decision, refused="nothing_left")
    for group in (leaving, staying):
        learning_of.update(dict.fromkeys(group, min(group, key=seniority)))
    return Decided(decision, tuple(sorted(leaving)))


def _told(done: Sequence[Decided]) -> list[dict[str, Any]]:
    """What each came to: one whose every claim a later one moved is overruled by the last that did."""
    moved_by: dict[str, str] = {}
    for one in done:
        moved_by.update(dict.fromkeys(one.claims, one.decision_id))
    rows = []
    for one in done:
        later = {moved_by[claim] for claim in one.claims}
        overruled = bool(one.claims) and one.decision_id not in later
        by = next((other.decision_id for other in reversed(done) if other.decision_id in later), None)
        rows.append(
            {
                "decision_id": one.decision_id,
                "verdict": "refused" if one.refused else "overruled" if overruled else "applies",
                "because": one.refused or (OVERRULED if overruled else None),
                "overruled_by": by if overruled else None,
                "claims": list(one.claims),
            }
        )
    return rows
