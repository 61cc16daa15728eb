"""A refused tool call with the person's words: the densest source of lessons there is.

The words become an item only if they carry a direction or a reason. A direction put as a question counts only if
the agent changed course afterwards; a plain question ("what does X look like?") teaches nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from lorelake.evidence import cues
from lorelake.evidence.prose import Sentence, sentences
from lorelake.evidence.said import advice, is_hedged, reason_in, signal_item
from lorelake.evidence.unit import EventRow, Signal, applies_to, calls, describe_act, quoted

_LONGEST_QUOTE = 600
_SPACE = re.compile(r"\s+")


def extract(events: Sequence[EventRow]) -> list[Signal]:
    """One signal for each refusal with words, whether or not it teaches something."""
    by_id = calls(events)
    found = []
    for position, event in enumerate(events):
        if event.kind == "rejection" and event.actor_class == "human" and event.on_live_path:
            message = sentences(event.text)
            if message:
                refused = by_id.get(event.call_id or "")
                found.append(_signal(events, position, message, refused))
    return found


def _signal(events: Sequence[EventRow], position: int, message: list[Sentence], refused: EventRow | None) -> Signal:
    event = events[position]
    changed = changed_course(events, position, refused)
    seen: dict[str, Any] = {"refused": describe_act(refused), "course_changed": changed}
    at, cue = _direction(message, changed)
    item: dict[str, Any] = {}
    if at is not None:
        seen["cue"] = cue
        said = advice(message, at)
        item, taken = signal_item(events, position, said)
        seen |= taken
        if item:
            item |= {"when": describe_act(refused), "applies_to": applies_to(refused)}
            reasons = (reason_in(s.own) for s in message)
            item["because"] = item.get("because") or next((reason for reason in reasons if reason), None)
    start, end = message[0].start, message[-1].end
    if end - start > _LONGEST_QUOTE:
        chosen = message[at or 0]
        start, end = chosen.start, chosen.end
    return quoted("rejection", event, start, end, item, seen)


def _direction(message: list[Sentence], changed: bool) -> tuple[int | None, str]:
    """Position and cue of the sentence that carries the direction, else the reason; (None, "") without either."""
    for names in (("instruction", "decision", "directive", "correction"), ("suggesting_question",), ("reason",)):
        for position, sentence in enumerate(message):
            if is_hedged(message, position):
                continue
            for name in names:
                cue = cues.find(name, sentence.own)
                if cue and _counts(name, cue.cue.name, sentence, changed):
                    return position, f"{name}.{cue.cue.name}"
    return None, ""


def _counts(family: str, cue: str, sentence: Sentence, changed: bool) -> bool:
    if family == "reason":
        return not sentence.is_question
    if sentence.is_question:
        return changed and (family == "suggesting_question" or cue in ("instead", "lets"))
    return True


def changed_course(events: Sequence[EventRow], position: int, refused: EventRow | None) -> bool:
    """Whether the agent's next call is another act than the refused one, or its next words concede the point.

    The same tool on the same path with other arguments is another act: a refused edit is most often followed by
    a better edit of the same file.
    """
    for event in events[position + 1 :]:
        if not event.on_live_path:
            continue
        if event.kind == "answer" and event.actor_class == "agent" and cues.find("concession", event.text[:200]):
            return True
        if event.kind == "tool_call":
            return refused is None or _act(event) != _act(refused)
    return False


def _act(call: EventRow) -> tuple[str | None, str | None, str | None, str]:
    command = _SPACE.sub(" ", call.command).strip() if call.command else None
    return call.tool, call.path, command, _SPACE.sub(" ", call.text)
