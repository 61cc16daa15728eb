"""Which sentence of a message directs, and whether it directs beyond the task of the moment."""

from __future__ import annotations

from collections.abc import Sequence

from lorelake.evidence import cues
from lorelake.evidence.prose import Sentence, clauses
from lorelake.evidence.said import is_hedged, points_back

_BY_WEIGHT = (("instruction", "practice", "decision", "directive", "correction"), ("suggesting_question",), ("reason",))
_ALSO_AS_QUESTION = ("instead", "lets", "use_instead", "instead_of")
_OF_ANY_SUBJECT = "it_should"
_PLURAL = "plural"
_OF_CONVENTION = ("convention", "do_not", "zh_directive")
"""Orders that a plural makes general: "use UTC in tables" is a rule, "move it into helpers" is work."""


def direction(message: Sequence[Sentence], changed: bool) -> tuple[int | None, str]:
    """Position and cue of the sentence that carries the direction, else the reason; (None, "") without either.

    Args:
        message: the sentences said against an act.
        changed: whether the agent then changed course; a direction put as a question counts only if it did.
    """
    for names in _BY_WEIGHT:
        for position, sentence in enumerate(message):
            for name in names:
                cue = cues.find(name, sentence.own)
                if cue and _counts(name, cue.cue.name, sentence, changed):
                    if is_hedged(message, position):
                        break
                    return position, f"{name}.{cue.cue.name}"
    return None, ""


def _counts(family: str, cue: str, sentence: Sentence, changed: bool) -> bool:
    if family == "reason":
        return not sentence.is_question
    if sentence.is_question:
        return changed and (family == "suggesting_question" or cue in _ALSO_AS_QUESTION)
    return changed or family != "suggesting_question"


def standing(sentence: Sentence, names_file: bool = False) -> str | None:
    """By which cues a sentence says how things are to be, or None: a direction that holds beyond this task.

    Said of "it" or "this", only the conversation knows of what; unless the message names the file.
    """
    practice = cues.find("practice", sentence.own)
    if practice is not None:
        return practice.cue.name
    parts = clauses(sentence.own)
    for part in parts:
        told = _general_order(part, parts)
        if told and (names_file or not points_back(part)):
            return told
    return None


def _general_order(part: str, parts: Sequence[str]) -> str | None:
    """The cues of an order that is given for many occasions, or with its reason, which stands in any of the parts.

    A piece of work is a rule only where it says how often it is to be done.
    """
    task = cues.find("task", part)
    if task is not None:
        often = cues.find("frequency", part)
        return f"{task.cue.name}+{often.cue.name}" if often else None
    told = cues.find("directive", part)
    if told is None or told.cue.name.endswith(_OF_ANY_SUBJECT):
        return None
    reason = cues.find("reason", part)
    if (reason is None or reason.start > 0) and any(cues.find("reason", other) for other in parts):
        return f"{told.cue.name}+reason"
    general = cues.find("frequency", part) or cues.find("general", part)
    if general is None:
        return None
    if general.cue.name.endswith(_PLURAL) and not told.cue.name.endswith(_OF_CONVENTION):
        return None
    return f"{told.cue.name}+{general.cue.name}"


def is_task(sentence: str) -> bool:
    """Whether a sentence only gives the next piece of work, or speaks of this one change."""
    return cues.find("task", sentence) is not None or is_for_now(sentence)


def is_for_now(sentence: str) -> bool:
    """Whether a sentence limits itself to this change, session or answer."""
    return cues.find("this_time", sentence) is not None


def is_settled(sentence: Sentence) -> bool:
    """Whether a sentence is no mere thought, and names what it speaks of rather than a number in some list."""
    if cues.find("hypothetical", sentence.own):
        return False
    return not cues.find("listed", sentence.own) or any(map(_stands_alone, clauses(sentence.own)))


def _stands_alone(part: str) -> bool:
    """Whether a clause is a rule by itself, beside one that points at a list."""
    rule = cues.find("instruction", part) or cues.find("practice", part)
    return rule is not None and not cues.find("listed", part)


def asks_for_one_answer(message: Sequence[Sentence]) -> bool:
    """Whether a message prescribes the form of one answer; what it says holds for that answer alone."""
    return any(cues.find("one_answer", sentence.own) for sentence in message)
