"""What memories answered in a unit, whoever's they are. One home for what counts as an answer of a memory.

A marker, banner or hit line counts only in the paired result of a call that asked that memory and nothing else, and
names only ids that its release knows. Anywhere else (a person's text, a file that was read, another program's output,
a sub-agent's summary, the text of an item) it is text, whoever wrote it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import msgspec

from lorelake.evidence import traces_gitmem, traces_lorelake, traces_teamai
from lorelake.evidence.known_ids import KnownIds
from lorelake.evidence.memory_answers import Answered, paired
from lorelake.evidence.memory_calls import holds_memory
from lorelake.evidence.traces_gitmem import Confirmed
from lorelake.evidence.unit import EventRow, results

_READERS = {"teamai": traces_teamai.answers, "gitmem": traces_gitmem.answers}


class Traces(msgspec.Struct, frozen=True):
    """What a unit's transcript shows of memories, in the order of its events."""

    answers: tuple[Answered, ...] = ()
    confirmed: tuple[Confirmed, ...] = ()


def traces(events: Sequence[EventRow], known: KnownIds | None = None) -> Traces:
    """The answers of memories in one unit, and what the agent confirmed of their items.

    Args:
        events: the unit's events in `seq` order.
        known: what the releases of this lake answered to; default: nothing was published, nothing can be checked.
    """
    known = known or KnownIds()
    answers: list[Answered] = []
    confirmed: list[Confirmed] = []
    for call, asked, result in paired(events):
        surfaces = {question.surface for question in asked}
        if len(surfaces) > 1:
            continue
        (surface,) = surfaces
        if surface in _READERS:
            if len(asked) == 1:
                answers += _READERS[surface](asked, result)
        else:
            answers += (
                kept for answer in traces_lorelake.answers(asked, result) if (kept := _with_known_ids(answer, known))
            )
        if surface == "gitmem":
            confirmed += traces_gitmem.confirmed(asked, call, result)
    return Traces(tuple(answers), tuple(confirmed))


def _with_known_ids(answer: Answered, known: KnownIds) -> Answered | None:
    if answer.release_id is None:
        return answer
    if not known.is_release(answer.release_id):
        return None
    items = tuple(item for item in answer.items if known.knows(answer.release_id, item.reference))
    return msgspec.structs.replace(answer, items=items) if items or answer.verdict else None


def of_units(
    events_of: Mapping[str, Sequence[EventRow]], units: Iterable[str], known: KnownIds | None = None
) -> dict[str, Traces]:
    """Unit id to its traces."""
    return {unit: traces(events_of[unit], known) for unit in units if unit in events_of}


def memory_texts(events: Sequence[EventRow]) -> list[tuple[datetime, str]]:
    """What memories gave a unit, and when. The self-echo gate compares with it: a line that prints more counts too."""
    return [(result.ts, result.text) for _, result, call in results(events) if call is not None and holds_memory(call)]
