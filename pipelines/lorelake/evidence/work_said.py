"""What people say about work among themselves: who will do what, who owns what, what is stuck and on what.

These are observations, never items. Each tells in `seen` who, what, by when and since when, and which later event of
the same conversation shows that it is over; threads and entities are made of them. A word to an agent is none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from lorelake.evidence import cues
from lorelake.evidence.conversations import conversations, is_bare, says, spoken, without_opening
from lorelake.evidence.due import due_day, due_words, is_deadline
from lorelake.evidence.prose import Sentence
from lorelake.evidence.said import is_hedged, matter
from lorelake.evidence.unit import EventRow, Signal, quoted

_FIRST_PERSON = frozenset(("i", "we", "我", "我们"))
_NOBODY = frozenset(
    (
        "it", "this", "that", "there", "which", "who", "what", "everyone", "everybody", "nobody", "someone", "somebody",
        "anyone", "they", "he", "she", "you", "please", "谁",
    )
)  # fmt: skip
_PRONOUNS = frozenset(("i", "we", "this", "it", "us", "me", "work"))
"""What is stuck may be named by the words around it only; a pronoun names nothing."""

_GOES_ON = re.compile(r"\s*,?\s+(?:and|but|so)\s+(?:i|we|he|she|they|will|have|has|can|would|please)\b.*", re.I | re.S)
"""Where what is owned ends and the next thing about it begins: "I own the export and will mend it"."""

_IF = ("if", "unless", "whether", "in case", "如果", "要是")

_Read = Callable[[Sequence[EventRow], int, Sentence, dict[str, str]], "dict[str, Any] | None"]
"""Conversation, position, sentence and the words its cue named to what is seen, or None where it says nothing."""


def commitments(events: Sequence[EventRow]) -> list[Signal]:
    """One signal for each sentence in which a person says what they will do.

    `seen`: `person` (whose word it is), `as` ("i" or "we"), `object`, `due` (ISO day or null), `due_words`,
    `resolved_by` (the event that says it is done, or null).
    """
    return _each(events, "commitment", "commitment", _commitment)


def ownership(events: Sequence[EventRow]) -> list[Signal]:
    """One signal for each sentence that says who owns, takes over or is handed what.

    `seen`: `person` (the speaker's id where they speak of themselves, else null), `named` (the owner as written),
    `said_by`, `object`, `since` (the ISO day it names as a beginning, else the day it was said: "by Monday" tells when
    something ends), `since_words`, `resolved_by` (null).
    """
    return _each(events, "ownership", "handover", _ownership)


def blockers(events: Sequence[EventRow]) -> list[Signal]:
    """One signal for each sentence that says what is stuck.

    `seen`: `person` (who says so), `object` (what is stuck, or null where a pronoun is all that names it), `on` (what
    it waits for), `since` (ISO day it was said),
    `resolved_by` (the event that says it goes on, or null).
    """
    return _each(events, "blocker", "blocker", _blocker)


def _each(events: Sequence[EventRow], kind: str, family: str, read: _Read) -> list[Signal]:
    found = []
    for talk in conversations(events):
        for at, event in enumerate(talk):
            message = spoken(event.text)
            for position, sentence in enumerate(message):
                if _is_plain(message, position):
                    cue = cues.find(family, without_opening(sentence.own)) or cues.find(family, sentence.own)
                    seen = read(talk, at, sentence, cue.named) if cue else None
                    if seen is not None:
                        found.append(quoted(kind, event, sentence.start, sentence.end, {}, seen))
    return found


def _is_plain(message: Sequence[Sentence], position: int) -> bool:
    """Whether a sentence states something: no question, no condition, no doubt."""
    sentence = message[position]
    opening = without_opening(sentence.own).lower().lstrip()
    return not sentence.is_question and not opening.startswith(_IF) and not is_hedged(message, position)


def _commitment(talk: Sequence[EventRow], at: int, sentence: Sentence, named: dict[str, str]) -> dict[str, Any] | None:
    what = named.get("object", "")
    if says("decision", sentence) or says("unproven", sentence) or not matter(what):
        return None
    event = talk[at]
    due = due_day(sentence.own, event.ts.date())
    return {
        "person": event.actor,
        "as": "we" if named.get("who", "").lower() == "we" or without_opening(sentence.own).startswith("我们") else "i",
        "object": what.rstrip(" .!。！"),
        "due": due.isoformat() if due else None,
        "due_words": due_words(sentence.own),
        "resolved_by": _resolved_by(talk, at, matter(what)),
    }


def _ownership(talk: Sequence[EventRow], at: int, sentence: Sentence, named: dict[str, str]) -> dict[str, Any] | None:
    what, who = _GOES_ON.sub("", named.get("object", "")), named.get("named", "")
    speaks_of_self = named.get("self", "").lower() in _FIRST_PERSON
    if not matter(what) or not (speaks_of_self or _is_name(who)):
        return None
    event = talk[at]
    words = due_words(sentence.own)
    since = None if is_deadline(words) else due_day(sentence.own, event.ts.date())
    return {
        "person": event.actor if speaks_of_self else None,
        "named": named["self"] if speaks_of_self else who,
        "said_by": event.actor,
        "object": what.replace(words or "\0", " ").strip(" ,.!。！"),
        "since": (since or event.ts.date()).isoformat(),
        "since_words": words,
        "resolved_by": None,
    }


def _is_name(who: str) -> bool:
    """A mention, a name with a capital, a team, or a Chinese name; no pronoun."""
    if who.lower().split(" ", 1)[0] in _NOBODY or not who:
        return False
    return who.startswith("@") or who[0].isupper() or who.lower().endswith("team") or not who.isascii()


def _blocker(talk: Sequence[EventRow], at: int, sentence: Sentence, named: dict[str, str]) -> dict[str, Any] | None:
    on = named.get("on", "")
    if not matter(on):
        return None
    event = talk[at]
    stuck = named.get("object", "").strip()
    return {
        "person": event.actor,
        "object": stuck if stuck and stuck.lower() not in _PRONOUNS else None,
        "on": on.rstrip(" .!。！"),
        "since": event.ts.date().isoformat(),
        "resolved_by": _resolved_by(talk, at, matter(sentence.own)),
    }


def _resolved_by(talk: Sequence[EventRow], at: int, subject: set[str]) -> str | None:
    """The later event that says it is done: the speaker's own in any words, another person's in words of the matter."""
    for event in talk[at + 1 :]:
        for one in spoken(event.text):
            if one.is_question or not says("resolved", one) or says("failed_again", one) or says("unproven", one):
                continue
            theirs = matter(one.own)
            bare = event.actor == talk[at].actor and is_bare(one)
            if bare or theirs & subject:
                return event.event_id
    return None
