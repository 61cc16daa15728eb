"""A person says that what memory told an agent is wrong: by its id or title, in its own words, or as what was shown.

The words must speak against it in the same sentence as they name it, or in the one right beside. Only what a memory
gave in this very unit before can be meant. `seen.plain` tells whether a person can be held to it: stated, not asked,
not doubted. Where the agent only acted on it and was corrected, that is said of the act, and is not plain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from lorelake.content.normalise import shingles, words
from lorelake.evidence import cues
from lorelake.evidence.acts import TYPED_KINDS, acts_before, terms
from lorelake.evidence.later_words import signal_item
from lorelake.evidence.memory_answers import Given
from lorelake.evidence.memory_calls import may_ask
from lorelake.evidence.prose import LONGEST_TYPED, Sentence, sentences
from lorelake.evidence.said import advice, is_hedged, matter
from lorelake.evidence.traces import traces
from lorelake.evidence.unit import EventRow, Signal, is_said_by_human, quoted

_FEWEST_TITLE_WORDS = 3
_SHORTEST_TITLE = 12
_FEWEST_SHINGLES = 2
_SHARED_WITH_ACT = 3
_SHARED_WITH_WORDS = 3
_TURNS_MEANT = 2
"""For how many turns of a person "the memory" means the one item that was shown."""

_DIRECTING = ("correction", "instruction", "decision", "directive")
_IDS = re.compile(r"\blrn_[0-9a-f]{8,32}\b|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{8}\b")


class _Shown(msgspec.Struct):
    """An item as a person may speak of it. `turns` counts the person's turns since it was shown."""

    item: Given
    title: str
    shingles: set[str]
    matter: set[str]
    alone: bool
    turns: int = 0


def extract(events: Sequence[EventRow]) -> list[Signal]:
    """One signal for each item a message speaks against, quoting the sentence that does."""
    if not any(event.kind == "tool_call" and may_ask(event) for event in events):
        return []
    answers: dict[str, list[tuple[Given, bool]]] = {}
    for answer in traces(events).answers:
        listed = answers.setdefault(answer.event.event_id, [])
        listed += [(item, len(answer.items) == 1) for item in answer.items]
    shown: dict[str, _Shown] = {}
    found: list[Signal] = []
    for position, event in enumerate(events):
        for item, alone in answers.get(event.event_id, ()):
            shown[item.reference] = _shown(item, alone)
        if shown and _is_spoken(event):
            found += _against(events, position, list(shown.values()))
            for one in shown.values():
                one.turns += 1
    return found


def _is_spoken(event: EventRow) -> bool:
    if event.kind == "rejection":
        return event.on_live_path and bool(event.text.strip())
    return event.kind in TYPED_KINDS and is_said_by_human(event)


def _shown(item: Given, alone: bool) -> _Shown:
    text = item.text or item.title
    return _Shown(item, " ".join(words(item.title)), shingles(text), matter(text), alone)


def _against(events: Sequence[EventRow], position: int, shown: Sequence[_Shown]) -> Iterator[Signal]:
    event = events[position]
    message = sentences(event.text)
    met: set[str] = set()
    for at, sentence in enumerate(message):
        cue = cues.find("against_memory", sentence.own)
        if not cue:
            continue
        for one, how in _meant(event, message, at, shown):
            if one.item.reference not in met:
                met.add(one.item.reference)
                plain = not sentence.is_question and not is_hedged(message, at)
                yield _signal(events, position, message, at, one, {"cue": cue.cue.name, "how": how, "plain": plain})
    if not met:
        yield from _against_the_act(events, position, message, shown)


def _meant(event: EventRow, message: Sequence[Sentence], at: int, shown: Sequence[_Shown]) -> list[tuple[_Shown, str]]:
    """The items that are spoken of, by the surest way: by id or title near by, in their own words, as "the memory"."""
    near = event.text[message[max(at - 1, 0)].start : message[min(at + 1, len(message) - 1)].end]
    ids = {id_.lower() for id_ in _IDS.findall(near)}
    if meant := [one for one in shown if _is_named(one, ids, near)]:
        return [(one, "id") for one in meant]
    spoken = f" {' '.join(words(near))} "
    if meant := [one for one in shown if _is_title(one.title) and f" {one.title} " in spoken]:
        return [(one, "title") for one in meant]
    said = shingles(event.text[:LONGEST_TYPED])
    if meant := [one for one in shown if len(said & one.shingles) >= _FEWEST_SHINGLES]:
        return [(one, "quote") for one in meant]
    latest = [one for one in shown if one.turns == min(other.turns for other in shown)]
    alone = len(latest) == 1 and latest[0].alone and latest[0].turns < _TURNS_MEANT
    return [(latest[0], "memory")] if alone and cues.find("memory_named", message[at].own) else []


def _is_named(one: _Shown, ids: set[str], text: str) -> bool:
    system, _, name = one.item.reference.rpartition(":")
    if system == "teamai":
        return re.search(rf"(?<![\w/-]){re.escape(name)}(?![\w-])", text) is not None and len(name) >= _SHORTEST_TITLE
    return any(name.startswith(id_) or id_.startswith(name) for id_ in ids)


def _is_title(title: str) -> bool:
    return len(title.split()) >= _FEWEST_TITLE_WORDS and len(title) >= _SHORTEST_TITLE


def _against_the_act(
    events: Sequence[EventRow], position: int, message: Sequence[Sentence], shown: Sequence[_Shown]
) -> Iterator[Signal]:
    """A correction of an act that did as an item says, in words about the same matter."""
    acts = acts_before(events, position)
    done = set().union(*(terms(act) for act in acts)) if acts else set()
    for at, sentence in enumerate(message):
        if sentence.is_question or not cues.find("correction", sentence.own):
            continue
        about = matter(sentence.own)
        for one in shown:
            if len(done & one.matter) >= _SHARED_WITH_ACT and len(about & one.matter) >= _SHARED_WITH_WORDS:
                yield _signal(events, position, message, at, one, {"cue": "correction", "how": "act", "plain": False})
                return


def _signal(
    events: Sequence[EventRow],
    position: int,
    message: Sequence[Sentence],
    at: int,
    one: _Shown,
    seen: dict[str, Any],
) -> Signal:
    """The quote is the sentence; the item what the person says to do instead, if anything."""
    told = seen | {"claim": one.item.reference, "title": one.item.title}
    if seen["how"] != "act":
        # What says that it is wrong tells less than what says what to do instead.
        for place in (at + 1, at):
            if place < len(message) and any(cues.find(name, message[place].own) for name in _DIRECTING):
                said = advice(message, place)
                item, taken = signal_item(events, position, said)
                start, end = said.span()
                return quoted(
                    "memory_refuted", events[position], min(start, message[at].start), end, item, told | taken
                )
    return quoted("memory_refuted", events[position], message[at].start, message[at].end, {}, told)
