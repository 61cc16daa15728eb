"""A decision a person states, in a chat, a merge request or to an agent: what was chosen, over what, and why."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lorelake.evidence import cues
from lorelake.evidence.acts import TYPED_KINDS, acts_before, trigger
from lorelake.evidence.prose import sentences
from lorelake.evidence.said import advice, is_hedged, matter, signal_item
from lorelake.evidence.unit import EventRow, Signal, is_said_by_human, quoted

_VAGUE = frozenset(
    (
        "option",
        "options",
        "approach",
        "first",
        "second",
        "third",
        "latter",
        "former",
        "one",
        "two",
        "way",
        "idea",
        "plan",
    )
)
"""Objects that stand for another: "let's go with option two" says nothing by itself."""

_NOT_YET = re.compile(
    r"\b(?:not|never|hasn't|haven't|yet to|if|unless|whether|once|until) (?:\w+ ){0,3}(?:decided|agreed)\b", re.I
)


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
    found = []
    for at, sentence in enumerate(message):
        cue = cues.find("decision", sentence.own)
        if cue is None or sentence.is_question or _NOT_YET.search(sentence.own) or is_hedged(message, at):
            continue
        if not matter(cue.named.get("object", "")) - _VAGUE:
            continue
        said = advice(message, at, kind="decision")
        start, end = said.span()
        item, taken = signal_item(events, position, said)
        if item and event.kind in TYPED_KINDS:
            item |= trigger(acts_before(events, position), sentence.own)
        found.append(quoted("decision", event, start, end, item, {"cue": cue.cue.name, **taken}))
    return found
