"""What was put before an agent, and what it did with it: shown, opened, cited, confirmed.

Shown and opened are read from answers of memories (`traces`). Cited counts only in an agent's own answer, confirmed
only in a batch that its memory took, and both only of an item that the session family was given before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from lorelake.content import markers
from lorelake.evidence import traces_teamai
from lorelake.evidence.memory_answers import Answered
from lorelake.evidence.recalls import recall_id
from lorelake.evidence.traces import Traces
from lorelake.evidence.unit import EventRow, calls, failed, results
from lorelake.formats.record import digest

_CODE = re.compile(r"^(?:```|~~~).*?(?:^(?:```|~~~)|\Z)|`[^`\n]{1,2000}`|^[ \t]*>.*$", re.MULTILINE | re.DOTALL)


class _Act(msgspec.Struct, frozen=True):
    """One row before it has its session's columns. `path` is where a shown document lies."""

    event: EventRow
    claim: str
    act: str
    surface: str
    rank: int | None = None
    recall_id: str | None = None
    verdict: str | None = None
    evidence: str | None = None
    release_id: str | None = None
    path: str = ""


def exposure_rows(
    sessions: Iterable[Mapping[str, Any]],
    events_of: Mapping[str, Sequence[EventRow]],
    traces_of: Mapping[str, Traces],
) -> list[dict[str, Any]]:
    """Rows of `tables.EXPOSURES`, computed whole: a citation may stand in another file of the family.

    Args:
        sessions: rows of `tables.SESSIONS`.
        events_of: unit id to its events in `seq` order.
        traces_of: unit id to what its transcript shows of memories.
    """
    families: dict[str, list[Mapping[str, Any]]] = {}
    for session in sessions:
        families.setdefault(str(session["family_id"]), []).append(session)
    rows: dict[str, dict[str, Any]] = {}
    for family in families.values():
        units = [(session, str(session["unit_id"])) for session in family]
        given = [
            (session, act)
            for session, unit in units
            for answer in traces_of.get(unit, Traces()).answers
            for act in _given(answer)
        ]
        shown = [act for _, act in given]
        used = [
            (session, act)
            for session, unit in units
            if shown
            for act in _used(events_of.get(unit, ()), traces_of.get(unit, Traces()), shown)
        ]
        for session, act in (*given, *used):
            row = _row(session, act)
            rows.setdefault(row["exposure_id"], row)
    return [rows[key] for key in sorted(rows)]


def _given(answer: Answered) -> Iterator[_Act]:
    asked = recall_id(answer) if answer.verdict else None
    act = "opened" if answer.opened else "shown"
    for rank, item in enumerate(answer.items, start=1):
        yield _Act(
            answer.event,
            item.reference,
            act,
            answer.surface,
            rank=rank,
            recall_id=asked,
            release_id=answer.release_id,
            path=item.path,
        )


def _used(events: Sequence[EventRow], traces: Traces, shown: Sequence[_Act]) -> Iterator[_Act]:
    yield from _opened(events, shown)
    for event in events:
        if event.kind == "answer" and event.actor_class == "agent" and event.on_live_path:
            yield from _cited(event, [act for act in shown if act.event.ts <= event.ts])
    for said in traces.confirmed:
        before = [act for act in shown if act.event.ts <= said.event.ts and _begins(act.claim, said.reference)]
        if before:
            yield _Act(
                said.event,
                before[0].claim,
                "confirmed",
                before[0].surface,
                verdict=said.verdict,
                evidence=said.evidence or None,
            )


def _begins(one: str, other: str) -> bool:
    """Whether one of two ids is the other or its beginning."""
    return one.startswith(other) or other.startswith(one)


def _cited(event: EventRow, shown: Sequence[_Act]) -> Iterator[_Act]:
    if "doc-ids" not in event.text.lower() and "lorelake:" not in event.text:
        return
    own = _CODE.sub(" ", event.text)
    for marker in markers.parse(own):
        if marker.kind == "cited":
            for id_ in marker.ids:
                met = next((act for act in shown if _begins(act.claim, id_)), None)
                if met:
                    yield _Act(event, id_, "cited", met.surface)
    for reference in traces_teamai.cited(own):
        documents = {act.claim for act in shown if traces_teamai.same_document(act.claim, reference)}
        chosen = {reference} & documents or documents
        if len(chosen) == 1:
            yield _Act(event, chosen.pop(), "cited", "teamai")


def _opened(events: Sequence[EventRow], shown: Sequence[_Act]) -> Iterator[_Act]:
    """Documents of an answer that were read after it: teamai tells paths, and asks for them to be opened."""
    by_path: dict[str, _Act] = {}
    for act in shown:
        if act.path:
            by_path.setdefault(act.path, act)
    if not by_path:
        return
    read = {str(result.call_id) for _, result, _ in results(events) if not failed(result)}
    for call_id, call in calls(events).items():
        met = by_path.get(call.path or "")
        if met and call_id in read and met.event.ts <= call.ts:
            yield _Act(call, met.claim, "opened", met.surface)


def _row(session: Mapping[str, Any], act: _Act) -> dict[str, Any]:
    return {
        "exposure_id": digest(act.event.event_id, act.claim, act.act)[:32],
        "claim_id": act.claim,
        "unit_id": act.event.unit_id,
        "family_id": str(session["family_id"]),
        "person": str(session["person"]),
        "act": act.act,
        "surface": act.surface,
        "rank": act.rank,
        "recall_id": act.recall_id,
        "verdict": act.verdict,
        "evidence": act.evidence,
        "release_id": act.release_id,
        "audience": act.event.audience,
        "ts": act.event.ts,
    }
