"""What a person's sentence advises: what to do, why, what was turned down, and whether it still holds.

Shared by the rules that read people's words. Everything here keeps the words of the source.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from lorelake.content.normalise import words
from lorelake.evidence import cues
from lorelake.evidence.prose import Sentence, clauses, sentences
from lorelake.evidence.unit import EventRow, is_said_by_human

_DO_FAMILIES = ("instruction", "decision", "directive", "correction", "suggesting_question")
_NEGATION = re.compile(r"\b(?:don'?t|do not|never|avoid|stop|not|no longer|without)\b|不要|不用|别|永远不", re.I)
_FORBIDS = re.compile(
    r"^\W*(?:(?:and|but|also|please|so|no|ok|we|you|always)[,]? )*(?:don'?t|do not|never|avoid|stop(?= \w+ing\b)"
    r"|no need|shouldn'?t|should not|must not|mustn'?t)\b|^(?:不要|别|永远不|绝对不|千万别)",
    re.I,
)
_PREFERS = re.compile(r"\bi(?:'d| would)? (?:prefer|like|rather)\b|\b(?:for|to) me\b|\bmy (?:taste|preference)\b", re.I)
_OCCASION = re.compile(
    r"(?:^|\s)((?:when(?:ever)?|if|before|after)\s(?:\S+\s+){1,9}?\S+?)(?=[,;:.!]*$|[,;:.!]\s)", re.I
)
_SHORT_WORDS = 6
_SAME_MATTER = 0.6
_REASON_CLAUSE = re.compile(r"^(?:because|since|so that|otherwise|因为|由于|否则)", re.I)
_REASON_WORD = re.compile(r"^(?:(?:because of|because|since)\s+|因为|由于)", re.I)
"""What may be taken off a reason: without "so that" or "otherwise" the rest says something else."""

STOP_WORDS = frozenset(
    """
    a about above actually after again all also always am an and any are as at be been before being both but by can cant
    could did didnt do does doing don done dont down each ever few for forget from further get go going got had has have
    having he her here hers him his how i if in instead into is isnt it its just let lets ll make me mind more most my
    need never nevermind no nor not now of off ok okay on once one only or other our out over own please put rather re
    really right s same say scratch see she should so some still such sure t than that the their them then there these
    they thing things this those through to too under until up us use used using ve very want was way we well were what
    when where which while who why will with would yes yet you your
    """.split()  # noqa: SIM905 - a list of words is read more easily as text
)
"""Words that say nothing of the matter; used only to compare what two texts are about."""


class Advice(msgspec.Struct, frozen=True):
    """Consecutive sentences of one message that belong to one lesson."""

    parts: tuple[Sentence, ...]
    do: str
    because: str | None
    rejected: str | None
    kind: str
    exception: str | None = None

    def span(self) -> tuple[int, int]:
        """Start and end of the quote in the event's text."""
        return self.parts[0].start, self.parts[-1].end

    def item(self) -> dict[str, Any]:
        """The item fields these words support."""
        found: dict[str, Any] = {"do": self.do, "kind": self.kind, "trust_basis": "stated"}
        if self.because:
            found["because"] = self.because
        if self.rejected:
            found["rejected"] = self.rejected
        if self.exception:
            found["not_when"] = [f"speaker: {self.exception}"]
        return found


def matter(text: str) -> set[str]:
    """The words that say what a text is about."""
    return {word for word in words(text) if word not in STOP_WORDS and (len(word) > 2 or not word.isascii())}


def kind_of(do: str) -> str:
    """`anti_pattern` where the words forbid, `preference` where the speaker speaks for themselves, else `pattern`."""
    if _FORBIDS.search(do):
        return "anti_pattern"
    return "preference" if _PREFERS.search(do) else "pattern"


def is_hedged(message: Sequence[Sentence], position: int) -> bool:
    """Whether the speaker doubts the sentence: in it, or in a short sentence right before or after it."""
    if cues.find("hedge", message[position].own):
        return True
    near = [message[i] for i in (position - 1, position + 1) if 0 <= i < len(message)]
    return any(len(s.own.split()) <= _SHORT_WORDS and cues.find("hedge", s.own) for s in near)


def reason_in(sentence: str) -> str | None:
    """The clause of a sentence that gives a reason, without its reason word where it stands without, or None."""
    for part in clauses(sentence):
        found = cues.find("reason", part)
        if found:
            return _REASON_WORD.sub("", found.named.get("because", "")).strip(" .,;，。") or None
    return None


def advice(message: Sequence[Sentence], position: int, count: int = 1, kind: str | None = None) -> Advice:
    """The advice of `count` sentences from `position`, with a reason from them or the sentence right after."""
    parts = list(message[position : position + count])
    because = next((found for found in (reason_in(s.own) for s in parts) if found), None)
    after = position + count
    if because is None and after < len(message) and _gives_only_a_reason(message[after]):
        because = reason_in(message[after].own)
        parts.append(message[after])
    rejected = next((r.named["rejected"] for r in (cues.find("rejected", s.own) for s in parts) if r and r.named), None)
    do = " ".join(filter(None, (_directive_part(s) for s in parts[:count])))
    last = position + len(parts)
    excepted = last < len(message) and not message[last].is_question and cues.find("exception", message[last].own)
    return Advice(tuple(parts), do, because, rejected, kind or kind_of(do), message[last].text if excepted else None)


def _gives_only_a_reason(sentence: Sentence) -> bool:
    return bool(cues.find("reason", sentence.own)) and not sentence.is_question and not cues.find("hedge", sentence.own)


def _directive_part(sentence: Sentence) -> str:
    """The clauses of a sentence that advise; the whole sentence where none does by itself."""
    parts = [part for part in clauses(sentence.text) if not _REASON_CLAUSE.match(part)]
    if len(parts) < 2:
        return parts[0] if parts else sentence.text
    return next((part for family in _DO_FAMILIES for part in parts if cues.find(family, part)), parts[0])


def taken_back_by(events: Sequence[EventRow], position: int, sentence: Sentence) -> EventRow | None:
    """The later event of the same speaker that takes a sentence back, or None.

    It does so with a cue and a word of the same matter, with a bare cue in the speaker's very next words, or by
    saying nearly the same with the opposite sign.
    """
    speaker = events[position].actor
    about = matter(sentence.own)
    denies = bool(_NEGATION.search(sentence.own))
    first = True
    for later in range(position, len(events)):
        event = events[later]
        if event.actor != speaker or not (is_said_by_human(event) or _is_refusal(event)):
            continue
        for other in sentences(event.text):
            if later == position and other.start <= sentence.start:
                continue
            if _takes_back(other, about, denies, first):
                return event
        first = first and later == position
    return None


def _is_refusal(event: EventRow) -> bool:
    return event.kind == "rejection" and event.on_live_path and bool(event.text.strip())


def _takes_back(other: Sentence, about: set[str], denies: bool, is_next: bool) -> bool:
    theirs = matter(other.own)
    if cues.find("taken_back", other.own):
        return bool(theirs & about) or (is_next and len(theirs) < 2)
    if other.is_question or not about or not theirs:
        return False
    alike = len(theirs & about) / len(theirs | about)
    return alike >= _SAME_MATTER and bool(_NEGATION.search(other.own)) != denies


def signal_item(events: Sequence[EventRow], position: int, found: Advice) -> tuple[dict[str, Any], dict[str, Any]]:
    """Item and what was seen for an advice: the item is empty where its speaker took it back later."""
    taken = next((e for s in found.parts[:1] if (e := taken_back_by(events, position, s))), None)
    if taken is not None:
        return {}, {"taken_back_by": taken.event_id}
    item = found.item()
    occasion = _OCCASION.search(found.do)
    if occasion and found.kind != "anti_pattern":
        item["when"] = occasion[1].strip()
    return item, {}
