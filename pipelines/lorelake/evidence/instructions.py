"""What a person says shall hold from now on: always, never, we use X and not Y, remember, make sure.

Also a direction of general scope ("don't run the job if only the docs changed") given to an agent, and what a person
answers in their own words to an agent's question.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lorelake.evidence import cues, review_changes
from lorelake.evidence.acts import TYPED_KINDS, acts_before, mentioned_path, named_path, trigger
from lorelake.evidence.conversations import asks
from lorelake.evidence.directions import asks_for_one_answer, direction, is_for_now, is_settled, is_task, standing
from lorelake.evidence.later_words import signal_item
from lorelake.evidence.prose import Sentence, sentences
from lorelake.evidence.said import advice, is_hedged, matter
from lorelake.evidence.unit import EventRow, Signal, describe_act, is_said_by_human, quoted, repository_path

_FEWEST_ANSWERING_WORDS = 5
_FEWEST_WORDS_OF_MATTER = 3
_QUESTION_CHARS = 160
_ADVICE = ("make_sure", "use_x_not_y", "do_not_allow", "zh_make_sure", "zh_do_not_allow")
"""Cues of an order that may be meant for one person as well; "always", "never" and "we don't" are for all."""

_REVIEW_KINDS = frozenset({"review", "review_comment", "comment"})
"""There a plain statement of how things are to be is a rule; in a chat "users should …" is more often talk."""


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
    typed = event.kind in TYPED_KINDS
    if typed and asks_for_one_answer(message):
        return []
    if typed and event.attributes.get("answers_question") is True:
        return _answer(events, position, message)
    mentioned = mentioned_path(event) if typed else None
    found = []
    for at, sentence in enumerate(message):
        cue = _instructing(sentence, event.kind, names_file=mentioned is not None)
        if cue is None or is_hedged(message, at) or (cue in _ADVICE and _answers(events, position)):
            continue
        said = advice(message, at)
        start, end = said.span()
        item, taken = signal_item(events, position, said)
        if item:
            item |= _place(events, position, sentence, mentioned)
        found.append(quoted("instruction", event, start, end, item, {"cue": cue, **taken}))
    return found


def _answers(events: Sequence[EventRow], position: int) -> bool:
    """Whether a chat message follows a question of somebody else: "make sure you restart it" is then told to them."""
    event = events[position]
    if event.kind != "message":
        return False
    return any(e.actor != event.actor and any(asks(s) for s in sentences(e.text)) for e in events[:position])


def _instructing(sentence: Sentence, kind: str, names_file: bool) -> str | None:
    """The cue by which a sentence shall hold from now on, or None."""
    if sentence.is_question:
        return None
    cue = _cue(sentence, kind, names_file)
    return None if cue is None or not is_settled(sentence) or is_for_now(sentence.own) else cue


def _cue(sentence: Sentence, kind: str, names_file: bool) -> str | None:
    found = cues.find("instruction", sentence.own)
    if found is not None:
        return found.cue.name
    if kind in TYPED_KINDS:
        return standing(sentence, names_file)
    stated = cues.find("practice", sentence.own) if kind in _REVIEW_KINDS else None
    return stated.cue.name if stated else None


def _place(events: Sequence[EventRow], position: int, sentence: Sentence, mentioned: str | None) -> dict[str, Any]:
    event = events[position]
    path = repository_path(event)
    if path:
        return {"when": describe_act(event), "applies_to": [path]}
    found = trigger(acts_before(events, position), sentence.own) if event.kind in TYPED_KINDS and not mentioned else {}
    named = mentioned or named_path(sentence.own)
    if named and not found.get("applies_to"):
        return {"when": f"working on `{named}`", "applies_to": [named]}
    return found


def _answer(events: Sequence[EventRow], position: int, message: list[Sentence]) -> list[Signal]:
    """The answer in a person's own words: a direction, a reason, or a statement that says something by itself."""
    event = events[position]
    if not message or any(cues.find("undecided", sentence.own) for sentence in message):
        return []
    at, cue = direction(message, changed=True)
    if at is None:
        at, cue = next(((n, "answer") for n in range(len(message)) if _says_something(message, n)), (None, ""))
    if at is None or not is_settled(message[at]) or is_task(message[at].own):
        return []
    said = advice(message, at)
    start, end = said.span()
    item, taken = signal_item(events, position, said)
    question = " ".join(str(event.attributes.get("question") or "").split())
    if item and question:
        item["when"] = f"asked: {question[:_QUESTION_CHARS]}"
    return [quoted("instruction", event, start, end, item, {"cue": cue, "question": question, **taken})]


def _says_something(message: Sequence[Sentence], position: int) -> bool:
    sentence = message[position]
    if sentence.is_question or is_hedged(message, position):
        return False
    long_enough = len(sentence.own.split()) >= _FEWEST_ANSWERING_WORDS or not sentence.own.isascii()
    return long_enough and len(matter(sentence.own)) >= _FEWEST_WORDS_OF_MATTER
