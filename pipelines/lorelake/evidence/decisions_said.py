"""A decision a person states, in a chat, a merge request or to an agent: what was chosen, over what, and why."""

from __future__ import annotations

from collections.abc import Sequence

from lorelake.evidence import cues
from lorelake.evidence.acts import TYPED_KINDS, acts_before, trigger
from lorelake.evidence.directions import asks_for_one_answer, is_settled
from lorelake.evidence.later_words import signal_item
from lorelake.evidence.prose import sentences
from lorelake.evidence.said import advice, is_hedged, matter
from lorelake.evidence.unit import EventRow, Signal, is_said_by_human, quoted

_VAGUE = frozenset(
    """
    option options approach first second third latter former one two way idea plan suggestion default
    """.split()  # noqa: SIM905 - a list of words is read more easily as text
)
"""Objects that stand for another: "let's go with option two" says nothing by itself."""


def extract(events: Sequence[EventRow]) -> list[Signal]:
    """One signal for each sentence in which a person settles something with an object of its own."""
    found = []
    for position, event in enumerate(events):
        if is_said_by_human(event):
            found += _decisions(events, position)
    return found


def _decisions(events: Sequence[EventRow], position: int) -> list[Signal]:
    event = events[position]
    message = sentences(event.text)
    typed = event.kind in TYPED_KINDS
    if typed and asks_for_one_answer(message):
        return []
    found = []
    for at, sentence in enumerate(message):
        cue = cues.find("decision", sentence.own)
        if cue is None or sentence.is_question or not is_settled(sentence) or is_hedged(message, at):
            continue
        if not matter(cue.named.get("object", "")) - _VAGUE:
            continue
        said = advice(message, at, kind="decision")
        start, end = said.span()
        item, taken = signal_item(events, position, said)
        if item and typed:
            item |= trigger(acts_before(events, position), sentence.own)
        found.append(quoted("decision", event, start, end, item, {"cue": cue.cue.name, **taken}))
    return found
