"""Which claim may replace another, why, and with which words on both sides.

Candidates only; whether a link applies is decided in SQL. Likeness of topic is never a reason: somebody says so
(`explicit`), a document has a next version (`same_document`), or two statements about one subject differ in a value
(`value_changed`), in what they choose (`decision_reversed`), or hardly at all (`duplicate`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from lorelake.learnings import supersession_alike as alike
from lorelake.learnings import supersession_documents as documents_said
from lorelake.learnings.supersession_rows import DECIDED, Link, Witness, rows


def candidates(
    claims: Sequence[Mapping[str, Any]],
    signals: Sequence[Mapping[str, Any]],
    ledger: Iterable[Mapping[str, Any]],
    documents: Iterable[Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """Rows of `tables.SUPERSESSION_CANDIDATES`, one for each pair and reason; no order of input matters.

    Args:
        claims: rows of `tables.CLAIMS`.
        signals: rows of `tables.SIGNALS`, those behind the claims among them.
        ledger: rows of `tables.LEDGER`.
        documents: rows of `tables.EVENTS` of documents.
    """
    by_id = {row["signal_id"]: row for row in signals}
    said = [*_decided(ledger), *documents_said.links(claims, signals, documents)]
    linked = {frozenset((link.older_id, link.newer_id)) for link in said}
    likened = [
        link
        for link in alike.links(alike.statements(claims, by_id))
        if frozenset((link.older_id, link.newer_id)) not in linked
    ]
    return rows([*said, *likened], _witnesses(claims, by_id))


def _decided(ledger: Iterable[Mapping[str, Any]]) -> Iterator[Link]:
    for row in ledger:
        if row["decision"] == "supersede" and row["verdict"] == "applies" and row["other_claim_id"]:
            yield Link(
                older_id=row["claim_id"], newer_id=row["other_claim_id"], reason="explicit",
                evidence=row["decision_id"], actor=row["actor"], ts=row["ts"], weight=DECIDED,
            )  # fmt: skip


def _witnesses(claims: Iterable[Mapping[str, Any]], signals: Mapping[str, Mapping[str, Any]]) -> dict[str, Witness]:
    """Per claim the signal whose words are served, else the one with the lowest id."""
    found: dict[str, Witness] = {}
    for row in sorted(claims, key=lambda row: (row["claim_id"], not row["is_canonical"], row["signal_id"])):
        quote = signals[row["signal_id"]]["quote"] if row["signal_id"] in signals else ""
        found.setdefault(row["claim_id"], Witness(row["signal_id"], quote))
    return found
