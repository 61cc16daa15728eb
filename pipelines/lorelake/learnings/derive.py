"""The Python part of the learnings stage: claims with their clusters and tombstones, and supersession candidates.

Computed whole each night, from small tables; trust, states and verdicts follow in SQL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lorelake.content.tombstones import standing
from lorelake.learnings import claims as claiming
from lorelake.learnings import clusters, supersession, tombstones

Row = Mapping[str, Any]


def learnings(
    signals: Sequence[Row],
    admissions: Sequence[Row],
    ledger: Sequence[Row],
    documents: Sequence[Row],
    key: bytes = b"",
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """(rows of `tables.CLAIMS`, rows of `tables.SUPERSESSION_CANDIDATES`); no order of input matters.

    Args:
        signals: rows of `tables.SIGNALS`.
        admissions: rows of `tables.ADMISSIONS`.
        ledger: rows of `tables.LEDGER`, refused ones included.
        documents: rows of `tables.EVENTS` of documents, deletions may be among them; `attributes` as JSON or decoded.
        key: the team's key, if the signatures in the ledger were made under it.
    """
    by_id = {row["signal_id"]: row for row in signals}
    rows = claiming.claims(signals, admissions)
    witness = {row["signal_id"]: claiming.witness_of(by_id[row["signal_id"]]) for row in rows}
    _assign_clusters(rows, by_id, witness)
    decisions = standing(ledger)
    for row in rows:
        met = tombstones.match(row, witness[row["signal_id"]], decisions, key)
        row["tombstone"], row["tombstone_match"] = met or (None, None)
    return rows, supersession.candidates(rows, signals, ledger, documents)


def _assign_clusters(rows: list[dict[str, Any]], signals: Mapping[str, Row], witness: Mapping[str, str]) -> None:
    members = [clusters.member(signals[row["signal_id"]], row, witness[row["signal_id"]]) for row in rows]
    learning_of = clusters.clusters(members)
    of_claim: dict[str, list[clusters.Member]] = {}
    for one in members:
        of_claim.setdefault(one.claim_id, []).append(one)
    served = {clusters.canonical_signal(of_claim[learning]) for learning in set(learning_of.values())}
    for row in rows:
        row["learning_id"] = learning_of[row["claim_id"]]
        row["is_canonical"] = row["claim_id"] == row["learning_id"] and row["signal_id"] in served
