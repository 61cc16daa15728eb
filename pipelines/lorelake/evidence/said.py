"""What a person's sentence advises: what to do, why, what was turned down, and when it does not hold.

Shared by the rules that read people's words. Everything here keeps the words of the source.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from lorelake.content.normalise import words
from lorelake.evidence import asked_why, cues
from lorelake.evidence.prose import Sentence, clauses

DIRECTING = ("instruction", "practice", "decision", "directive", "correction", "suggesting_question")
"""Families whose cue makes a clause a direction, the surest first."""

_FAULTS = ("that_is_wrong", "you_are_wrong", "too")
"""Endings of the names of corrections that say what is wrong, not what to do."""

_SHORT_WORDS = 6
_SHORT_SIGNS = 12
_OF_ITS_PART = "maybe"
"""Ending of the names of hedges that doubt only their own part of a sentence."""
_PART = re.compile(r"[,;:，；：—–]\s*|\s-\s|\s(?=(?:and|but|then)\s)", re.I)
_OPENING_NO = re.compile(
    r"^\W*(?:(?:no|nope|nah|yes|yeah|yup|ok|okay)\s*[,.!;:–—-]+|(?:umm*|hmm+|uh)\b[\s,.!;:–—-]+)\s*(?=\S)"
    r"|^\W*no\s+(?=(?:it|this|that|these|those|they|we|you|i|the|don'?t|do not|never|let'?s|please|just)\b)"
    r"|^(?:不对|不對|不是|不|错了|錯了)[，,。]\s*",
    re.I,
)
"""A "no" without a mark after it belongs to what follows ("no tabs in tables"), unless a whole statement does."""

_END_MARKS = (".", "!", "?", "。", "！", "？")
_POINTING = re.compile(
    r"^\W*(?:\w+(?:'\w+)?\s+){0,4}?(?:(?:it|them)\b(?=$|[.,;:!?]|\s(?:to|in|into|on|for|when|if|at|as|with|by|from|and|only|is"
    r"|instead|once|until)\b)|(?:this|that|these|those)\b(?! (?:repo|repository|project|codebase|team|monorepo)\b))"
    r"|^.{0,8}(?:它|这个|這個|这里|這裡|那个|那個)(?!(?:项目|項目|專案|仓库|倉庫))",
    re.I,
)

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
    if cues.find("forbids", do):
        return "anti_pattern"
    return "preference" if cues.find("prefers", do) else "pattern"


def points_back(clause: str) -> bool:
    """Whether what is to be done is done to an "it" or "this" that only the conversation knows."""
    return bool(_POINTING.match(clause))


def is_hedged(message: Sequence[Sentence], position: int) -> bool:
    """Whether the speaker doubts the core of a sentence.

    "Not sure" doubts the whole sentence it stands in, or a short one beside it; "maybe" only its own part of the
    sentence: in "always pin the driver, and maybe add a test" the first part stands.
    """
    sentence = message[position]
    doubt = cues.find("hedge", sentence.own)
    if doubt and (_doubts_all(doubt) or _doubts_core(sentence.own)):
        return True
    near = [message[i].own for i in (position - 1, position + 1) if 0 <= i < len(message)]
    return any(_is_short(own) and (found := cues.find("hedge", own)) and _doubts_all(found) for own in near)


def _doubts_all(doubt: cues.Found) -> bool:
    return not doubt.cue.name.endswith(_OF_ITS_PART)


def _doubts_core(own: str) -> bool:
    """Whether a "maybe" stands in the part that directs; where no part directs by itself, in any."""
    core = [part for part in _PART.split(own) if any(cues.find(family, part) for family in DIRECTING)]
    return any(cues.find("hedge", part) for part in core) if core else True


def _is_short(own: str) -> bool:
    return len(own.split()) <= _SHORT_WORDS if own.isascii() else len(own.strip()) <= _SHORT_SIGNS


def reason_in(sentence: str) -> str | None:
    """The clause of a sentence that gives a reason, without its reason word where it stands without, or None."""
    for part in clauses(sentence):
        found = cues.find("reason", part)
        if found:
            return _OPENING_NO.sub("", found.named.get("because", "")).strip(" .,;，。") or None
    return None


def advice(message: Sequence[Sentence], position: int, count: int = 1, kind: str | None = None) -> Advice:
    """The advice of `count` sentences from `position`, with what belongs to it in the sentences right after.

    That is a reason ("Because …"), what to do instead of what is forbidden ("Use Z."), and an exception.
    """
    parts = list(message[position : position + count])
    turned = asked_why.turned_round(parts[0].own) if count == 1 else None
    if turned:
        return Advice(tuple(parts), turned[0], reason_in(parts[0].own), turned[1], kind or "pattern")
    asked = [s for s in parts if not _complains(s)] or parts
    told = [_directive_part(s) for s in asked]
    faults = [_OPENING_NO.sub("", s.text).strip(" .!") for s in parts if s not in asked]
    because = next((found for found in [*(reason_in(s.own) for s in parts), *faults] if found), None)
    after = position + count
    if because is None and after < len(message) and _gives_only_a_reason(message[after]):
        because = reason_in(message[after].own)
        parts.append(message[after])
        after += 1
    if after < len(message) and cues.find("forbids", told[-1]) and _says_what_instead(message[after]):
        told.append(_directive_part(message[after]))
        because = because or reason_in(message[after].own)
        parts.append(message[after])
        after += 1
    do = " ".join(_ended(part, last=part is told[-1]) for part in told if part)
    if because and (because in do or do in because):
        because = None if do in because else because
    rejected = next((r.named["rejected"] for r in (cues.find("rejected", s.own) for s in parts) if r and r.named), None)
    excepted = after < len(message) and not message[after].is_question and cues.find("exception", message[after].own)
    return Advice(tuple(parts), do, because, rejected, kind or kind_of(do), message[after].text if excepted else None)


def _complains(sentence: Sentence) -> bool:
    """Whether a sentence only says what is wrong: a reason for what another says, no direction by itself."""
    found = cues.find("correction", sentence.own)
    if found is None or not found.cue.name.endswith(_FAULTS):
        return False
    return not any(cues.find(family, sentence.own) for family in ("instruction", "practice", "decision", "directive"))


def _gives_only_a_reason(sentence: Sentence) -> bool:
    if sentence.is_question or cues.find("hedge", sentence.own) or not cues.find("reason", sentence.own):
        return False
    return not any(cues.find(family, sentence.own) for family in ("instruction", "decision"))


def _says_what_instead(sentence: Sentence) -> bool:
    if sentence.is_question or cues.find("hedge", sentence.own) or cues.find("forbids", sentence.own):
        return False
    found = cues.find("directive", sentence.own) or cues.find("correction", sentence.own)
    return bool(found) and not _is_of_the_moment(sentence.own)


def _ended(part: str, last: bool) -> str:
    if last or part.endswith(_END_MARKS):
        return part
    return f"{part}." if part[-1:].isascii() else f"{part}。"


def _directive_part(sentence: Sentence) -> str:
    """The clauses of a sentence that advise, each as a sentence; what is no reason where none does by itself."""
    parts = [_OPENING_NO.sub("", part) for part in clauses(sentence.text)]
    plain = [part for part in parts if not _is_reason(part)]
    told = [part for part in plain if any(cues.find(family, part) for family in DIRECTING)]
    told = [part for part in told if not _is_of_the_moment(part)] or told
    if told:
        return " ".join(_ended(part, last=part is told[-1]) for part in told)
    return next(iter(plain or parts), sentence.text)


def _is_of_the_moment(part: str) -> bool:
    return any(cues.find(family, part) for family in ("listed", "task", "this_time"))


def _is_reason(part: str) -> bool:
    found = cues.find("reason", part)
    return found is not None and found.start == 0
