"""A person's turn right after the agent acted, saying that the act is not what they wanted."""

from __future__ import annotations

from collections.abc import Sequence

from lorelake.evidence import cues
from lorelake.evidence.acts import TYPED_KINDS, acts_before, terms, trigger
from lorelake.evidence.prose import Sentence, sentences
from lorelake.evidence.said import advice, is_hedged, matter, signal_item
from lorelake.evidence.unit import EventRow, Signal, describe_act, is_said_by_human, quoted

_CORRECTED_ACTS = 3
_LONGEST_RUN = 3


def extract(events: Sequence[EventRow]) -> list[Signal]:
    """One signal for each run of correcting sentences that speaks of the act just before it."""
    found = []
    for position, event in enumerate(events):
        if event.kind in TYPED_KINDS and is_said_by_human(event):
            acts = acts_before(events, position)
            if acts:
                found += _corrections(events, position, acts)
    return found


def _corrections(events: Sequence[EventRow], position: int, acts: list[EventRow]) -> list[Signal]:
    event = events[position]
    message = sentences(event.text)
    touched = set().union(*(terms(act) for act in acts[:_CORRECTED_ACTS]))
    act = next((a for a in acts if a.kind == "tool_call"), None)
    found = []
    for at, count, cue in _runs(message):
        said = advice(message, at, count)
        shared = sorted(touched & set().union(*(matter(s.own) for s in said.parts)))
        if not shared:
            continue
        seen = {"act": describe_act(act), "cue": cue, "shared": shared[:8]}
        start, end = said.span()
        item, taken = signal_item(events, position, said)
        if item:
            item |= trigger(acts, " ".join(s.own for s in said.parts))
        found.append(quoted("correction", event, start, end, item, seen | taken))
    return found


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
    if is_hedged(message, position):
        return None
    found = cues.find("correction", sentence.own) or (_is_bare_no(sentence) and cues.find("correction", "no,"))
    if not found:
        return None
    if sentence.is_question and found.cue.name not in ("use_instead", "instead_of"):
        return None
    return str(found.cue.name)


def _is_bare_no(sentence: Sentence) -> bool:
    return sentence.own.strip(" .,!;:-—").lower() in ("no", "nope", "nah", "wrong", "不对", "错了")
