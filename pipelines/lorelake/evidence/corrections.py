"""A person's turn right after the agent acted, saying that the act is not what they wanted.

Four marks, the surest first: words of correction that speak of the act; any direction after a call that was refused
without words, or typed while the agent worked and speaking of the act; and words whose point the agent then
conceded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lorelake.evidence import asked_why, cues, memory_refuted
from lorelake.evidence.acts import (
    ANYWHERE,
    TYPED_KINDS,
    acts_before,
    changed_course,
    conceded,
    refusal_before,
    terms,
    trigger,
)
from lorelake.evidence.directions import asks_for_one_answer, direction, is_settled, is_task, standing
from lorelake.evidence.later_words import signal_item
from lorelake.evidence.prose import Sentence, sentences
from lorelake.evidence.said import Advice, advice, is_hedged, matter, points_back
from lorelake.evidence.unit import EventRow, Signal, applies_to, changes_files, describe_act, is_said_by_human, quoted

_CORRECTED_ACTS = 3
_LONGEST_RUN = 3
_FEWEST_WORDS_OF_MATTER = 3
_STEM = 6
"""Letters by which two forms of a word are told as one: "author" and "authored"."""

_ALSO_AS_QUESTION = ("use_instead", "instead_of", "why_instead")


def extract(events: Sequence[EventRow]) -> list[Signal]:
    """One signal for each run of correcting sentences; else one where the message redirects the agent.

    A message that names a learning and says that it is wrong corrects memory, not the act: `memory_refuted` has it.
    """
    refuted = {signal.event_id for signal in memory_refuted.extract(events) if signal.seen["how"] != "act"}
    found = []
    for position, event in enumerate(events):
        if event.kind in TYPED_KINDS and event.event_id not in refuted and is_said_by_human(event):
            acts = acts_before(events, position)
            message = sentences(event.text) if acts else []
            if message and not asks_for_one_answer(message):
                corrected = _corrections(events, position, message, acts)
                corrected = corrected or _asked_why(events, position, message, acts)
                found += corrected or _redirected(events, position, message, acts)
    return found


def _corrections(
    events: Sequence[EventRow], position: int, message: list[Sentence], acts: list[EventRow]
) -> list[Signal]:
    runs = _runs(message)
    if not runs:
        return []
    touched = _touched(acts)
    after_refusal, refused = refusal_before(events, position)
    found = []
    for at, count, cue in runs:
        said = advice(message, at, count)
        shared = _shared(touched, set().union(*(matter(s.own) for s in said.parts)))
        if shared or after_refusal:
            seen = {"act": _last_call(acts), "cue": cue, "shared": shared[:8]}
            place = trigger(acts, " ".join(s.own for s in said.parts)) or _at(refused)
            found.append(_signal(events, position, said, seen, place))
    return found


def _asked_why(
    events: Sequence[EventRow], position: int, message: list[Sentence], acts: list[EventRow]
) -> list[Signal]:
    """What a person stated right after asking why the agent did what it did; none where they only asked."""
    for at in range(len(message)):
        stated = asked_why.counter_fact(message, at)
        if stated is None or len(matter(stated[0])) < _FEWEST_WORDS_OF_MATTER:
            continue
        parts = tuple(message[at : at + stated[2]])
        shared = _shared(_touched(acts), set().union(*(matter(s.own) for s in parts)))
        if shared:
            said = Advice(parts, stated[0], None, stated[1], "fact")
            seen = {"act": _last_call(acts), "cue": "asked_why", "shared": shared[:8]}
            place = trigger(acts, " ".join(s.own for s in parts))
            return [_signal(events, position, said, seen, place)]
    return []


def _redirected(
    events: Sequence[EventRow], position: int, message: list[Sentence], acts: list[EventRow]
) -> list[Signal]:
    """The direction of a message after a wordless refusal, typed while the agent worked, or conceded; else none."""
    after_refusal, refused = refusal_before(events, position)
    at, cue = direction(message, after_refusal and changed_course(events, position, refused))
    if at is not None and not _is_only_a_task(message[at]):
        shared = _shared(_touched(acts), matter(message[at].own))
        said = advice(message, at)
        seen: dict[str, Any] = {"act": _last_call(acts), "cue": cue, "shared": shared[:8]}
        if after_refusal:
            return [_signal(events, position, said, seen | {"after": "a refusal without words"}, _at(refused))]
        if events[position].kind == "queued_prompt" and shared:
            place = trigger(acts, message[at].own)
            return [_signal(events, position, said, seen | {"after": "typed while the agent worked"}, place)]
    return _conceded(events, position, message, acts)


def _conceded(events: Sequence[EventRow], position: int, message: list[Sentence], acts: list[EventRow]) -> list[Signal]:
    """What a person held against the agent's words or act, where the agent said that they were right."""
    if not conceded(events, position):
        return []
    for at, sentence in enumerate(message):
        asked = sentence.is_question and not cues.find("suggesting_question", sentence.own)
        if asked or is_hedged(message, at) or is_task(sentence.own):
            continue
        if len(matter(sentence.own)) >= _FEWEST_WORDS_OF_MATTER:
            directs = direction([sentence], changed=True)[1]
            said = advice(message, at, kind=None if directs and not directs.startswith("reason") else "fact")
            seen = {"act": _last_call(acts), "cue": directs, "after": "the agent said that they are right"}
            return [_signal(events, position, said, seen, trigger(acts, sentence.own) or _latest_edit(acts))]
    return []


def _commanded(events: Sequence[EventRow], position: int, said: Advice) -> dict[str, Any]:
    """The command that an "it" or "them" stands for: the agent's last act, if it shares a word with what was said."""
    last = next((act for act in acts_before(events, position) if act.kind == "tool_call"), None)
    if last is None or not last.command:
        return {}
    return _at(last) if _shared(terms(last) - ANYWHERE, matter(" ".join(s.own for s in said.parts))) else {}


def _latest_edit(acts: Sequence[EventRow]) -> dict[str, Any]:
    return _at(next((act for act in acts if changes_files(act)), None))


def _at(act: EventRow | None) -> dict[str, Any]:
    return {"when": describe_act(act), "applies_to": applies_to(act)} if act else {}


def _is_only_a_task(sentence: Sentence) -> bool:
    if not is_settled(sentence):
        return True
    return is_task(sentence.own) and standing(sentence) is None and not cues.find("general", sentence.own)


def _signal(
    events: Sequence[EventRow], position: int, said: Advice, seen: dict[str, Any], place: dict[str, Any]
) -> Signal:
    start, end = said.span()
    item, taken = signal_item(events, position, said)
    if points_back(said.do) and not place:
        place = _commanded(events, position, said)
    if points_back(said.do) and not place and not said.because:
        item, taken = {}, taken | {"points_back": True}
    return quoted("correction", events[position], start, end, item | place if item else {}, seen | taken)


def _shared(touched: set[str], about: set[str]) -> list[str]:
    """The words of a person that are also in the agent's acts, whatever their ending."""
    stems = {word[:_STEM] for word in touched if len(word) >= _STEM}
    return sorted(word for word in about if word in touched or (len(word) >= _STEM and word[:_STEM] in stems))


def _touched(acts: Sequence[EventRow]) -> set[str]:
    return set().union(*(terms(act) for act in acts[:_CORRECTED_ACTS])) - ANYWHERE


def _last_call(acts: Sequence[EventRow]) -> str:
    return describe_act(next((act for act in acts if act.kind == "tool_call"), None))


def _runs(message: list[Sentence]) -> list[tuple[int, int, str]]:
    """First position, length and cue of each run of correcting sentences, a bare "no." taken with what follows it."""
    runs: list[tuple[int, int, str]] = []
    position = 0
    while position < len(message):
        cue = _correcting(message, position)
        if cue is None:
            position += 1
            continue
        count = 1
        while position + count < len(message) and _goes_on(message, position, count):
            count += 1
        runs.append((position, count, cue))
        position += count
    return runs


def _goes_on(message: list[Sentence], position: int, count: int) -> bool:
    if count == _LONGEST_RUN:
        return False
    return bool(_correcting(message, position + count)) or (count == 1 and _is_bare_no(message[position]))


def _correcting(message: list[Sentence], position: int) -> str | None:
    sentence = message[position]
    if _is_bare_no(sentence):
        return None if is_hedged(message, position) else "bare_no"
    found = cues.find("correction", sentence.own)
    if not found or (sentence.is_question and found.cue.name not in _ALSO_AS_QUESTION):
        return None
    return None if is_hedged(message, position) else str(found.cue.name)


def _is_bare_no(sentence: Sentence) -> bool:
    return cues.find("bare_no", sentence.own) is not None
