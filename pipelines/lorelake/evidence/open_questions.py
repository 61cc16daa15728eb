"""What one person asked others, and whether it was answered by the end of the unit. An observation, never an item."""

from __future__ import annotations

from collections.abc import Sequence

from lorelake.evidence.answers_accepted import confirmation
from lorelake.evidence.conversations import asks, conversations, says, spoken, without_opening
from lorelake.evidence.prose import Sentence
from lorelake.evidence.replies import read_reply
from lorelake.evidence.said import matter
from lorelake.evidence.unit import EventRow, Signal, quoted

_FEWEST_WORDS = 2


def extract(events: Sequence[EventRow]) -> list[Signal]:
    """One signal for each message that asks something: its first sentence that does.

    `seen`: `person` (who asks), `object` (the question), `since` (ISO day it was asked), `replies` (messages of others
    after it; 0 also in a channel that knows no threads, where nobody can tell), `resolved_by` (the event that answers
    it, or null).
    """
    found = []
    for talk in conversations(events):
        for at, event in enumerate(talk):
            asked = next(
                (one for one in spoken(event.text) if asks(one) and len(matter(one.own)) >= _FEWEST_WORDS), None
            )
            if asked is None:
                continue
            seen = {
                "person": event.actor,
                "object": asked.text,
                "since": event.ts.date().isoformat(),
                "replies": sum(other.actor != event.actor for other in talk[at + 1 :]),
                "resolved_by": _resolved_by(talk, at, wants_material=says("asks_back", asked)),
            }
            found.append(quoted("open_question", event, asked.start, asked.end, {}, seen))
    return found


def _tells(sentence: Sentence) -> bool:
    if sentence.is_question or any(says(family, sentence) for family in ("promise", "asks_back", "thanked")):
        return False
    return len(matter(without_opening(sentence.own))) >= _FEWEST_WORDS


def _resolved_by(talk: Sequence[EventRow], at: int, wants_material: bool) -> str | None:
    """The event that answers: a concrete reply, any word back to a request, or the asker's own "found it".

    "Let me check" and a question back answer nothing.
    """
    asker = talk[at].actor
    for event in talk[at + 1 :]:
        message = spoken(event.text)
        if event.actor == asker:
            if confirmation(event) or any(says("self_found", one) for one in message):
                return event.event_id
            continue
        if read_reply(event.text) is not None or (wants_material and not any(says("promise", one) for one in message)):
            return event.event_id
        if any(_tells(one) for one in message):
            return event.event_id
    return None
