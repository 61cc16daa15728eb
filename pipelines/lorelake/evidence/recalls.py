"""One row for each question a memory was asked, answered or not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lorelake.evidence.memory_answers import Answered
from lorelake.evidence.traces import Traces
from lorelake.formats.record import digest


def recall_rows(sessions: Iterable[Mapping[str, Any]], traces_of: Mapping[str, Traces]) -> list[dict[str, Any]]:
    """Rows of `tables.RECALLS` by id.

    Args:
        sessions: rows of `tables.SESSIONS`.
        traces_of: unit id to what its transcript shows of memories.
    """
    rows = [
        _row(session, answer)
        for session in sessions
        for answer in traces_of.get(str(session["unit_id"]), Traces()).answers
        if answer.verdict is not None
    ]
    return sorted(rows, key=lambda row: str(row["recall_id"]))


def recall_id(answer: Answered) -> str:
    """The id of the row that an answer gives."""
    return digest("recall", answer.event.event_id, str(answer.number))[:32]


def _row(session: Mapping[str, Any], answer: Answered) -> dict[str, Any]:
    verdict = answer.verdict
    if verdict is None:
        raise ValueError("an answer without a verdict is no recall")
    total, returned = verdict.total, verdict.returned
    return {
        "recall_id": recall_id(answer),
        "surface": answer.surface,
        "query": answer.query or "",
        "verdict": verdict.verdict or None,
        "score": verdict.score,
        "threshold": verdict.threshold,
        "returned": returned,
        "total": total,
        "truncated": None if total is None or returned is None else returned < total,
        "searched": list(verdict.audiences),
        "release_id": answer.release_id,
        "unit_id": answer.event.unit_id,
        "family_id": str(session["family_id"]),
        "person": str(session["person"]),
        "project": str(session["project"]),
        "audience": answer.event.audience,
        "ts": answer.event.ts,
    }
