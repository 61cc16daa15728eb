"""A refused tool call with the person's words: the densest source of lessons there is.

The words become an item only if they carry a direction or a reason. A direction put as a question counts only if
the agent changed course afterwards; a plain question ("what does X look like?") teaches nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lorelake.evidence import cues
from lorelake.evidence.acts import changed_course
from lorelake.evidence.directions import direction
from lorelake.evidence.later_words import signal_item
from lorelake.evidence.prose import Sentence, sentences
from lorelake.evidence.said import advice, reason_in
from lorelake.evidence.unit import EventRow, Signal, applies_to, calls, describe_act, quoted

_LONGEST_QUOTE = 600


def extract(events: Sequence[EventRow]) -> list[Signal]:
    """One signal for each refusal with words, whether or not it teaches something."""
    by_id = calls(events)
    found = []
    for position, event in enumerate(events):
        if event.kind == "rejection" and event.actor_class == "human" and event.on_live_path:
            refused = by_id.get(event.call_id or "")
            message = sentences(event.text)
            if message:
                found.append(_signal(events, position, message, refused))
            elif any(character.isalnum() for character in event.text):
                found.append(_pasted(event, refused))
    return found


def _pasted(event: EventRow, refused: EventRow | None) -> Signal:
    """A refusal whose words are all somebody else's: seen, and no item."""
    start = len(event.text) - len(event.text.lstrip())
    end = min(len(event.text.rstrip()), start + _LONGEST_QUOTE)
    return quoted("rejection", event, start, end, {}, {"refused": describe_act(refused), "pasted": True})


def _signal(events: Sequence[EventRow], position: int, message: list[Sentence], refused: EventRow | None) -> Signal:
    event = events[position]
    changed = changed_course(events, position, refused)
    seen: dict[str, Any] = {"refused": describe_act(refused), "course_changed": changed}
    at, cue = direction(message, changed)
    item: dict[str, Any] = {}
    start, end = message[0].start, message[-1].end
    if at is not None:
        seen["cue"] = cue
        said = advice(message, at)
        item, taken = signal_item(events, position, said)
        seen |= taken
        if item and cues.find("bare_no", said.do):
            item = {}
        if item:
            item |= {"when": describe_act(refused), "applies_to": applies_to(refused)}
            reasons = (reason_in(s.own) for s in message)
            because = item.get("because") or next((reason for reason in reasons if reason), None)
            if because and because not in item["do"]:
                item["because"] = because
        if end - start > _LONGEST_QUOTE:
            start, end = said.span()
    return quoted("rejection", event, start, min(end, start + _LONGEST_QUOTE), item, seen)
