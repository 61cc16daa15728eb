"""What a person holds against the agent by asking why: "why are we using A instead of B", "why do you …? We have …".

Such a question wants no answer. With two options in it, the one after "instead of" is the one wanted; with a
statement behind it, the statement is what the agent did not know.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lorelake.evidence import cues
from lorelake.evidence.prose import Sentence, clauses

_WHY = re.compile(
    r"\bwhy (?:the \w+ )?(?:are|r|is|do|does|did|would) (?:we|you|u|it|this|that|they|the \w+)\s+(?!not\b)"
    r"(?:(?:still|even|now|always|just|\w+ly)\s+)?(?P<act>\S[^?]{3,200})",
    re.I,
)
_TWO = re.compile(r"^(?P<done>.{3,160}?),? (?:instead of|rather than) (?P<wanted>[^,.;:!?]{2,120})", re.I)
_USING = re.compile(r"^(?:use|using)\s+", re.I)
_DOING = re.compile(r"^\w{2,}ing\b(?!.*\b(?:it|this|that|them|these|those)\b)", re.I)
_FACT = re.compile(r"(?<=\S)\s*,\s*(?=\S)|\s+[-–—]+\s+")


def turned_round(sentence: str) -> tuple[str, str] | None:
    """(what is wanted, what was done) of a question why one thing was done instead of another, else None."""
    for clause in clauses(sentence):
        why = _WHY.search(clause)
        two = _TWO.match(why["act"]) if why else None
        if two:
            done = _USING.sub("", two["done"])
            return f"use {_USING.sub('', two['wanted']).strip()} instead of {done}", done
    return None


def counter_fact(message: Sequence[Sentence], position: int) -> tuple[str, str | None, int] | None:
    """What a person states right after asking why: (statement, what was done, number of sentences), else None.

    The statement stands behind a comma in the question, or is the next sentence.
    """
    own = message[position].own
    why = _WHY.search(own)
    if why is None or not cues.find("asks_why", own):
        return None
    if not message[position].is_question:
        parts = _FACT.split(why["act"], maxsplit=1)
        stated = parts[1].strip() if len(parts) > 1 else ""
        return (stated, _done(parts[0]), 1) if _states(stated) else None
    after = message[position + 1] if position + 1 < len(message) else None
    if after is None or after.is_question or cues.find("hedge", after.own) or not _states(after.own):
        return None
    return after.text.rstrip(" ."), _done(why["act"]), 2


def _states(words: str) -> bool:
    return cues.find("counter", words) is not None and not cues.find("task", words)


def _done(act: str) -> str | None:
    """What was done, where it is named rather than pointed at."""
    return act.strip(" ,.?") if _DOING.match(act) else None
