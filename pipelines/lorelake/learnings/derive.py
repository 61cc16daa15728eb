"""The Python part of the learnings stage: claims, their tombstones and clusters, and what may replace what.

Computed whole each night, from small tables; trust, states and verdicts follow in SQL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from lorelake.content.tombstones import standing, witness_of
from lorelake.learnings import claims as claiming
from lorelake.learnings import clusters, regrouping, supersession, tombstones
from lorelake.learnings.bulk import without_collector

Row = Mapping[str, Any]
Rows = list[dict[str, Any]]


class Derived(NamedTuple):
    """Rows of `tables.CLAIMS`, `tables.SUPERSESSION_CANDIDATES` and `tables.REGROUPINGS`."""

    claims: Rows
    candidates: Rows
    regroupings: Rows


@without_collector()
def learnings(
    signals: Sequence[Row],
    admissions: Sequence[Row],
    ledger: Sequence[Row],
    documents: Sequence[Row],
    key: bytes = b"",
) -> Derived:
    """Every row of the stage that Python makes; no order of input matters.

    Args:
        signals: rows of `tables.SIGNALS`.
        admissions: rows of `tables.ADMISSIONS`.
        ledger: rows of `tables.LEDGER`, refused ones included.
        documents: rows of `tables.EVENTS` of documents, deletions may be among them; `attributes` as JSON or decoded.
        key: the team's key, under which signatures are made.
    """
    by_id = {row["signal_id"]: row for row in signals}
    rows = claiming.claims(signals, admissions)
    witness = {row["signal_id"]: witness_of(by_id[row["signal_id"]]) for row in rows}
    tombstones.mark(rows, witness, by_id, standing(ledger), key)
    moved = _assign_clusters(rows, by_id, witness, ledger)
    return Derived(rows, supersession.candidates(rows, signals, ledger, documents), moved)


def _assign_clusters(rows: Rows, signals: Mapping[str, Row], witness: Mapping[str, str], ledger: Sequence[Row]) -> Rows:
    members = [clusters.member(signals[row["signal_id"]], row, witness[row["signal_id"]]) for row in rows]
    # What was taken out is no copy of what was not, and takes nothing with it that reads nearly the same.
    buried = frozenset(row["claim_id"] for row in rows if row["tombstone_match"] == "exact")
    learning_of = dict(clusters.clusters([one for one in members if one.claim_id not in buried]))
    learning_of |= clusters.clusters([one for one in members if one.claim_id in buried])
    of_claim: dict[str, list[clusters.Member]] = {}
    for one in members:
        of_claim.setdefault(one.claim_id, []).append(one)
    moved = regrouping.regroup(
        learning_of,
        ledger,
        {claim: group[0].audience for claim, group in of_claim.items()},
        lambda claim: min(clusters.seniority(one) for one in of_claim[claim]),
        buried,
        {name: row["claim_id"] for row in rows for name in row["former_ids"]},
    )
    served = {clusters.canonical_signal(of_claim[learning]) for learning in set(learning_of.values())}
    for row in rows:
        row["learning_id"] = learning_of[row["claim_id"]]
        row["is_canonical"] = row["claim_id"] == row["learning_id"] and row["signal_id"] in served
    return moved
