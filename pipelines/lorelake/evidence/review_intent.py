"""What a person says stands on purpose, in a review: a design kept as it is, or the way the team always does it.

Such an answer refuses a change and gives the rule behind it. The rule is what a reader keeps; the change asked for is
the option turned down.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from lorelake.evidence import cues
from lorelake.evidence.machine_text import is_machine_text
from lorelake.evidence.prose import Sentence, sentences
from lorelake.evidence.review_lessons import asks, gives_reason, is_long, lesson
from lorelake.evidence.review_threads import Thread, substance, threads, verdict
from lorelake.evidence.said import is_hedged, reason_in
from lorelake.evidence.unit import EventRow, Signal, quoted, repository_path

_MOST_SENTENCES = 3
_OF_THE_TIME = re.compile(
    r"\b(?:for now|for the moment|current use case|in a follow-?up|later|will revisit|tracked)\b|目前|暂时|以后", re.I
)
"""What was put off was not settled."""


def extract(events: Sequence[EventRow]) -> list[Signal]:
    """One signal for each answer in a review that states an intent with its reason, or a convention."""
    found = []
    for thread in threads(events):
        stands = verdict(thread)
        for answer in thread.replies:
            is_overruled = stands.accepted is not None and stands.accepted.seq > answer.seq
            if answer.actor_class != "human" or is_overruled or is_machine_text(answer.text):
                continue
            signal = _signal(thread, answer)
            if signal is not None:
                found.append(signal)
    return found


def _signal(thread: Thread, answer: EventRow) -> Signal | None:
    message = sentences(answer.text)
    at = next((n for n, s in enumerate(message) if not s.is_question and cues.find("intent", s.own)), None)
    if at is None or is_hedged(message, at) or any(_OF_THE_TIME.search(s.own) for s in message):
        return None
    chosen = _chosen(message, at)
    if not chosen:
        return None
    item: dict[str, Any] = {**_words(answer, message[at], chosen), "trust_basis": "stated", "kind": "decision"}
    path = repository_path(answer)
    item |= {"when": f"changing `{path}`", "applies_to": [path]} if path else {}
    asked = _asked(thread, answer)
    item |= {"rejected": " ".join(asked.text.split())} if asked else {}
    seen = {"comment": thread.root.event_id if thread.root else "", "answers_review": True}
    signal = quoted("decision", answer, chosen[0].start, chosen[-1].end, item, seen)
    signal.support = ((thread.root.event_id, asked.start, asked.end),) if thread.root and asked else ()
    return signal


def _chosen(message: Sequence[Sentence], at: int) -> list[Sentence]:
    """The sentence that states the intent and what explains it; empty where nothing does.

    "This is intentional." alone says nothing: what follows it is meant.
    """
    stated = message[at]
    after = [s for s in message[at + 1 : at + _MOST_SENTENCES] if not s.is_question]
    if not is_long(stated):
        return after if any(is_long(s) for s in after) else []
    before = [message[at - 1]] if at and not after and _explains(message[at - 1]) else []
    return [*before, stated, *after] if before or after or gives_reason(stated.own) else _alone(stated)


def _explains(sentence: Sentence) -> bool:
    """Whether a sentence says something of its own, not only that the comment is right or wrong."""
    said = any(cues.find(family, sentence.own) for family in ("accepted", "declined", "moot"))
    return is_long(sentence) and not sentence.is_question and not said


def _alone(stated: Sentence) -> list[Sentence]:
    """A convention needs no reason beside it; a bare intent does."""
    found = cues.find("intent", stated.own)
    return [stated] if found and found.cue.name.endswith("as_established") else []


def _words(answer: EventRow, stated: Sentence, chosen: Sequence[Sentence]) -> dict[str, str]:
    first = stated if stated in chosen else chosen[0]
    cut = max(substance(answer.text) - first.start, 0)
    opening = first.text[cut:] if cut < len(first.text) else first.text
    found = cues.find("intent", stated.own)
    as_established = found.named.get("as") if found else None
    do = as_established if as_established and stated is first else " ".join(opening.split())
    because = reason_in(first.own) or " ".join(" ".join(s.text.split()) for s in chosen if s is not first)
    return {"do": do} | ({"because": because} if because else {})


def _asked(thread: Thread, answer: EventRow) -> Sentence | None:
    """The first request of the comment, where it was captured."""
    root = thread.root
    if root is None or root.actor == answer.actor:
        return None
    said = lesson(root.text, root.actor_class != "human" or is_machine_text(root.text))
    return next((s for s in said if asks(s)), None)
