"""What a person says shall hold from now on: always, never, we use X and not Y, remember, make sure."""

from __future__ import annotations

from collections.abc import Sequence

from lorelake.evidence import cues, review_changes
from lorelake.evidence.acts import TYPED_KINDS, acts_before, trigger
from lorelake.evidence.prose import sentences
from lorelake.evidence.said import advice, is_hedged, signal_item
from lorelake.evidence.unit import EventRow, Signal, describe_act, is_said_by_human, quoted, repository_path


def extract(events: Sequence[EventRow]) -> list[Signal]:
    """One signal for each instructing sentence of a person, with a reason given right after it.

    A review comment that was followed says it already, with what became of it.
    """
    followed = {signal.seen["comment"] for signal in review_changes.extract(events)}
    found = []
    for position, event in enumerate(events):
        if is_said_by_human(event) and event.event_id not in followed:
            found += _instructions(events, position)
    return found


def _instructions(events: Sequence[EventRow], position: int) -> list[Signal]:
    event = events[position]
    message = sentences(event.text)
    found = []
    for at, sentence in enumerate(message):
        cue = cues.find("instruction", sentence.own)
        if cue is None or sentence.is_question or is_hedged(message, at):
            continue
        said = advice(message, at)
        start, end = said.span()
        item, taken = signal_item(events, position, said)
        path = repository_path(event)
        if item and path:
            item |= {"when": describe_act(event), "applies_to": [path]}
        elif item and event.kind in TYPED_KINDS:
            item |= trigger(acts_before(events, position), sentence.own)
        found.append(quoted("instruction", event, start, end, item, {"cue": cue.cue.name, **taken}))
    return found
