"""Signals of one unit as rows of `tables.SIGNALS`: every extractor, and the proof that each quote is there."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from lorelake.content import quotes
from lorelake.errors import ContractError
from lorelake.evidence import (
    answers_accepted,
    authored,
    corrections,
    decisions_said,
    errors_fixed,
    errors_seen,
    friction,
    instructions,
    memory_refuted,
    open_questions,
    proposals,
    rejections,
    retries,
    review_changes,
    review_intent,
    work_said,
)
from lorelake.evidence.unit import EventRow, Signal, event_row
from lorelake.formats.record import canonical, digest

__all__ = ["EXTRACTORS", "EventRow", "Signal", "event_row", "extract", "signal_rows"]


def _decisions(events: Sequence[EventRow]) -> list[Signal]:
    """What people settled, and what they say in a review stands on purpose."""
    return [*decisions_said.extract(events), *review_intent.extract(events)]


EXTRACTORS: dict[str, Callable[[Sequence[EventRow]], list[Signal]]] = {
    "rejection": rejections.extract,
    "correction": corrections.extract,
    "instruction": instructions.extract,
    "error_fixed": errors_fixed.extract,
    "retry_worked": retries.extract,
    "error_seen": errors_seen.extract,
    "friction": friction.extract,
    "review_change": review_changes.extract,
    "decision": _decisions,
    "authored": authored.extract,
    "answer_accepted": answers_accepted.extract,
    "ownership": work_said.ownership,
    "commitment": work_said.commitments,
    "blocker": work_said.blockers,
    "open_question": open_questions.extract,
    "memory_refuted": memory_refuted.extract,
    "proposed": proposals.extract,
}
"""Signal kind to its rule over one unit. All are on; none needs a model. `across.ACROSS` has the others."""


def extract(events: Sequence[EventRow]) -> list[Signal]:
    """All signals of one unit, by kind in the order of EXTRACTORS, then by place."""
    return [signal for rule in EXTRACTORS.values() for signal in rule(events)]


def signal_rows(
    events: Sequence[EventRow], session: Mapping[str, Any], further: Iterable[Signal] = ()
) -> list[dict[str, Any]]:
    """Rows of `tables.SIGNALS` of one unit.

    Args:
        events: the unit's events in any order.
        session: the unit's row of `tables.SESSIONS`; its `family_id` is read.
        further: signals that no rule of `EXTRACTORS` saw: of `across.ACROSS`, of a model's answers.

    Raises:
        ContractError: an extractor's quote is not the text at the place it names.
    """
    ordered = sorted(events, key=lambda event: event.seq)
    by_id = {event.event_id: event for event in ordered}
    rows: dict[str, dict[str, Any]] = {}
    for signal in (*extract(ordered), *further):
        row = _row(signal, by_id, str(session["family_id"]))
        rows.setdefault(row["signal_id"], row)
    return [rows[key] for key in sorted(rows)]


def _row(signal: Signal, by_id: Mapping[str, EventRow], family_id: str) -> dict[str, Any]:
    event = by_id[signal.event_id]
    if event.text[signal.quote_start : signal.quote_end] != signal.quote:
        raise ContractError(f"the quote of a {signal.kind} signal is not in its event", where=event.source_uri)
    sha = hashlib.sha256(signal.quote.encode("utf-8", "surrogatepass")).hexdigest()
    return {
        "signal_id": digest(signal.kind, event.event_id, str(signal.quote_start), str(signal.quote_end))[:32],
        "kind": signal.kind,
        "event_id": event.event_id,
        "unit_id": event.unit_id,
        "family_id": family_id,
        "quote": signal.quote,
        "quote_start": signal.quote_start,
        "quote_end": signal.quote_end,
        "quote_sha256": sha,
        "quote_verified": quotes.verify(event.text, signal.quote_start, signal.quote_end, sha),
        "actor": event.actor,
        "actor_class": event.actor_class,
        "ts": event.ts,
        "day": event.day,
        "project": event.project,
        "audience": event.audience,
        "payload": canonical({"item": signal.item, "seen": signal.seen, "support": _support(signal, by_id)}),
        "source_uri": event.source_uri,
        "first_kept": max(event.first_kept, signal.known_from or event.first_kept),
    }


def _support(signal: Signal, by_id: Mapping[str, EventRow]) -> list[dict[str, Any]]:
    """The further quotes of a signal as its payload holds them: where they stand, and their words."""
    return [
        {"event_id": event_id, "start": start, "end": end, "quote": by_id[event_id].text[start:end]}
        for event_id, start, end in signal.support
    ]
