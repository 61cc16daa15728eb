"""A question that a colleague answered and the asker confirmed: what to do, in the words of whoever answered.

All three have to be there: a question or a described failure, a concrete reply of another person, and the asker's
word for it. Thanks alone count only for a question about how things are; a failure is confirmed by what came of it.
The later word wins: what fails again, is contradicted or taken back is no item. Who found the answer alone and
tells it is its witness.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from lorelake.evidence import cues
from lorelake.evidence.conversations import (
    about,
    asking_sentences,
    asks,
    conversations,
    describes_failure,
    is_bare,
    says,
    spoken,
    tells_of_self,
    without_opening,
    worded,
)
from lorelake.evidence.prose import Sentence
from lorelake.evidence.replies import Reply, exceptions_in, read_reply
from lorelake.evidence.said import matter
from lorelake.evidence.unit import EventRow, Signal, quoted, repository_path

_WHEN_CHARS = 300
_FEWEST_SHARED = 2
_MOST_SHARED = 3
"""More words in common make no sentence a better one to ask by."""

_FEWEST_TOLD = 8
"""A reason of fewer words that names nothing ("because Tom is ill") holds for that day only."""

_MOST_OBJECTIONS = 4
_OBJECTION_CHARS = 300
_ANSWERED = ("worked", "understood")
"""Confirmations of a situation that was told and not put as a question; mere thanks may be for anything."""

_DID_SO = "did_which"
"""Ending of the names of cues by which an asker tells what they did, be it their own idea or what they were told."""

_VAGUE = frozenset(("problem", "issue", "error", "errors", "anyone", "someone", "anybody", "help", "question", "idea"))
_ERROR_LINE = re.compile(
    r"^.*(?:\b\w*(?:Error|Exception)\b.{0,3}:|\b(?:error|fatal|panic|failed to|permission denied)\b.*[:'\"`]"
    r"|报错[:：]).*$",
    re.I | re.M,
)
_ERROR_CHARS = 200
_QUOTED_LINE = re.compile(r"^[ \t]*(?:>|&gt;)[ \t]*(.+)$", re.M)


class _Answer(msgspec.Struct, frozen=True):
    """Positions in the conversation of question, reply and confirmation, and what the reply says."""

    question: int
    reply: int
    confirmed: int
    strength: str
    said: Reply


def extract(events: Sequence[EventRow]) -> list[Signal]:
    """One signal for each answer that its asker confirmed; without an item where a later word takes it back."""
    found = []
    for talk in conversations(events):
        if len(talk) > 1:
            found += [_signal(talk, answer) for answer in _answers(talk)]
    return found


def _answers(talk: Sequence[EventRow]) -> list[_Answer]:
    found: dict[int, _Answer] = {}
    for at, event in enumerate(talk):
        answer = _told_alone(talk, at) or _confirmed(talk, at, confirmation(event))
        if answer is not None:
            found.setdefault(answer.reply, answer)
    return list(found.values())


def confirmation(event: EventRow) -> str | None:
    """How a message confirms what was said before: `worked`, `understood`, `thanked`, or None.

    What failed, what is only going to be tried and what hangs on an "if" confirms nothing. Who thanks and will do it
    that way from now on has understood.
    """
    message = spoken(event.text)
    if any(says("failed_again", one) for one in message):
        return None
    if any(_is_stated("worked", one) and not says("unproven", one) for one in message):
        return "worked"
    if any(says("applied", one) for one in message) and any(_is_stated("thanked", one) for one in message):
        return None if any(says("will_try", one) or says("problem", one) or asks(one) for one in message) else "worked"
    if any(says("will_try", one) or (says("problem", one) and not says("other_matter", one)) for one in message):
        return None
    thanked = any(_is_stated("thanked", one) for one in message)
    adopts = thanked and any(_is_stated("adopts", one) for one in message)
    if adopts or any(_is_stated("understood", one) for one in message):
        return "understood"
    return "thanked" if thanked else None


def _is_stated(family: str, sentence: Sentence) -> bool:
    """Whether a sentence that asks nothing holds a cue, read with its opening: "oh" and "ok" are part of these."""
    return not sentence.is_question and cues.find(family, sentence.own) is not None


def _confirmed(talk: Sequence[EventRow], at: int, strength: str | None) -> _Answer | None:
    """The answer a message confirms: of the concrete replies to its author's question the one it speaks of.

    That is the one with the most words in common with the confirmation, else the nearest.
    """
    if strength is None:
        return None
    asker = talk[at].actor
    subject = _asked(talk[:at], asker) if strength != "thanked" else frozenset[str]()
    replies: list[int] = []
    for position in range(at - 1, -1, -1):
        event = talk[position]
        if event.actor != asker:
            if read_reply(event.text, False, subject, strength) is not None and not _is_withdrawn(talk, position, at):
                replies.append(position)
        elif _stands_between(event):
            break
    found = [(position, _question_before(talk, position, asker, strength)) for position in replies]
    questions = {position: question for position, question in found if question is not None}
    if not questions:
        return None
    spoken_of = about(talk[at])
    reply = max(questions, key=lambda position: (len(spoken_of & about(talk[position])), position))
    best, said = _best_of_run(talk, reply, subject, strength)
    if not _is_enough(talk, questions[reply], strength, said):
        return None
    return _Answer(questions[reply], best, at, strength, said)


def _asked(talk: Sequence[EventRow], asker: str) -> frozenset[str]:
    """What the asker's questions were about."""
    mine = (event for event in talk if event.actor == asker)
    return frozenset().union(*(_subject(one) for event in mine for one in asking_sentences(event)))


def _stands_between(event: EventRow) -> bool:
    """Whether the asker asked on, or said that it failed, after the reply: a later thank-you is for something else."""
    message = spoken(event.text)
    return any(says("failed_again", one) or asks(one) for one in message)


def _question_before(talk: Sequence[EventRow], reply: int, asker: str, strength: str = "") -> int | None:
    """The asker's nearest message before a reply that asks or tells of a failure; a request is none.

    Who begins a thread with their own situation, and says in the end that it works or is clear, has asked as well.
    """
    mine = [at for at in range(reply - 1, -1, -1) if talk[at].actor == asker]
    nearest = next((at for at in mine if any(_is_question(one) for one in asking_sentences(talk[at]))), None)
    told = nearest is None and strength in _ANSWERED and 0 in mine and not asking_sentences(talk[0])
    return 0 if told and tells_of_self(talk[0]) else nearest


def _is_question(sentence: Sentence) -> bool:
    return not says("asks_back", sentence) and not says("errand", sentence)


def _best_of_run(talk: Sequence[EventRow], reply: int, asked: frozenset[str], strength: str) -> tuple[int, Reply]:
    """Of one person's replies in a row the one that says most; the later of equal ones."""
    found: list[tuple[int, int, Reply]] = []
    for at in range(reply, -1, -1):
        if talk[at].actor != talk[reply].actor:
            break
        said = read_reply(talk[at].text, False, asked, strength)
        if said is not None:
            found.append((said.weight, at, said))
    _, best, said = max(found, key=lambda one: one[:2])
    return best, said


def _is_enough(talk: Sequence[EventRow], question: int, strength: str, said: Reply) -> bool:
    """Whether the confirmation is strong enough: thanks confirm an explanation that says something, never a repair."""
    if strength == "worked":
        return True
    if not said.named and len(said.do.split()) < _FEWEST_TOLD and said.do.isascii():
        return False
    if strength == "understood":
        return True
    plain = [one for one in asking_sentences(talk[question]) if not says("problem", one)]
    return any(len(_subject(one)) >= _FEWEST_SHARED for one in plain) and (said.named or said.causal or said.stepwise)


def _told_alone(talk: Sequence[EventRow], at: int) -> _Answer | None:
    """An asker's own "found it: …" after their question, where it is concrete."""
    event = talk[at]
    told = [one for one in spoken(event.text) if _is_stated("self_found", one) and not says("unproven", one)]
    if not told or not _is_own_story(talk, at, told[0]):
        return None
    question = _question_before(talk, at, event.actor)
    passage = event.text[told[0].start :]
    said = read_reply(passage, own_story=True)
    if question is None or said is None or not (said.named or said.causal or said.stepwise):
        return None
    earlier = [i for i in range(question + 1, at) if talk[i].actor != event.actor and read_reply(talk[i].text)]
    if any(len(about(talk[i]) & matter(passage)) >= _FEWEST_SHARED for i in earlier):
        return None  # it is the colleague's answer that turned out right
    start = told[0].start
    moved = msgspec.structs.replace(said, start=min(start, said.start + start), end=said.end + start)
    return _Answer(question, at, at, "self_found", moved)


def _is_own_story(talk: Sequence[EventRow], at: int, told: Sentence) -> bool:
    """Whether "I set it to UTC and that solved it" is the asker's own idea: nobody gave a concrete answer before."""
    found = cues.find("self_found", told.own)
    if found is None or not found.cue.name.endswith(_DID_SO):
        return True
    asker = talk[at].actor
    return not any(event.actor != asker and read_reply(event.text) is not None for event in talk[:at])


def _signal(talk: Sequence[EventRow], answer: _Answer) -> Signal:
    question, reply, said = talk[answer.question], talk[answer.reply], answer.said
    seen: dict[str, Any] = {
        "question": question.event_id,
        "asked_by": question.actor,
        "confirmed_by": talk[answer.confirmed].event_id,
        "confirmation": answer.strength,
    }
    taken = _taken_back_by(talk, answer)
    if taken is not None:
        return quoted("answer_accepted", reply, said.start, said.end, {}, seen | {"taken_back_by": taken.event_id})
    when, place = _situation(talk, answer)
    item: dict[str, Any] = {
        "title": said.telling,
        "when": when,
        "do": said.do,
        "kind": "procedure" if said.stepwise else "fact",
        "trust_basis": "stated",
        "not_when": [*exceptions_in(reply.text[said.end :])[:1], *_objections(talk, answer)],
        "witness": said.witness,
    }
    path = repository_path(question) or repository_path(reply)
    if said.because:
        item["because"] = said.because
    if path:
        item["applies_to"] = [path]
    signal = quoted("answer_accepted", reply, said.start, said.end, item, seen)
    signal.support = (place,)
    return signal


def _situation(talk: Sequence[EventRow], answer: _Answer) -> tuple[str, tuple[str, int, int]]:
    """When it helps, in the asker's words, and their place: the error shown, else what fails, else the question."""
    run = _question_run(talk, answer.question)
    shown = next(((event, found) for event in run if (found := _ERROR_LINE.search(event.text))), None)
    if shown is not None and len(shown[1][0]) <= _ERROR_CHARS:
        return shown[1][0].strip(" `>\t"), (shown[0].event_id, *shown[1].span())
    message = [(event, one) for event in run for one in spoken(event.text)]
    sentences = [one for _, one in message]
    told = [pair for at, pair in enumerate(message) if _is_told(sentences, at)] or message
    answered = matter(f"{answer.said.do} {answer.said.because or ''}")
    asked = max(told, key=lambda pair: min(_MOST_SHARED, len(_subject(pair[1]) & answered)))
    failing = next((pair for pair in told if describes_failure(pair[1])), asked)
    event, one = failing if len(failing[1].text) <= _ERROR_CHARS else asked
    return worded(one.text)[:_WHEN_CHARS], (event.event_id, one.start, one.end)


def _is_told(message: Sequence[Sentence], at: int) -> bool:
    """Whether a sentence says what is asked: it asks or describes a failure, or a bare "is that right?" follows it."""
    one = message[at]
    if len(_subject(one)) < _FEWEST_SHARED:
        return False
    if asks(one) or describes_failure(one):
        return True
    return at + 1 < len(message) and asks(message[at + 1]) and len(_subject(message[at + 1])) < _FEWEST_SHARED


def _subject(sentence: Sentence) -> set[str]:
    """What a question is about, without the words every question holds."""
    return matter(without_opening(sentence.own)) - _VAGUE


def _question_run(talk: Sequence[EventRow], question: int) -> list[EventRow]:
    """The question with what its asker wrote right before and after it; who is only called in does not part them."""
    asker = talk[question].actor
    found = [talk[question]]
    for step in (-1, 1):
        at = question + step
        while 0 <= at < len(talk) and (talk[at].actor == asker or not about(talk[at])):
            if talk[at].actor == asker:
                found.insert(0 if step < 0 else len(found), talk[at])
            at += step
    return found


def _taken_back_by(talk: Sequence[EventRow], answer: _Answer) -> EventRow | None:
    """The later message that takes the answer back: it failed again, is wrong, or its author withdraws it."""
    asker, answerer = talk[answer.question].actor, talk[answer.reply].actor
    subject = about(talk[answer.question]) | matter(answer.said.do)
    for at in range(answer.reply + 1, len(talk)):
        event = talk[at]
        after = at > answer.confirmed
        if event.actor == asker and after and _failed(event, subject):
            return event
        if _is_wrong(talk, at, answer.reply) or (event.actor == answerer and _withdraws(event, subject)):
            return event
    return None


def _failed(event: EventRow, subject: set[str]) -> bool:
    for one in spoken(event.text):
        theirs = matter(one.own)
        if says("failed_again", one) and (is_bare(one) or theirs & subject):
            return True
        if says("recurs", one) and theirs & subject and not any(says(good, one) for good in ("worked", "other_matter")):
            return True
        if (
            says("problem", one)
            and not asks(one)
            and not says("other_matter", one)
            and len(theirs & subject) >= _FEWEST_SHARED
        ):
            return True
    return False


def _is_withdrawn(talk: Sequence[EventRow], reply: int, until: int) -> bool:
    """Whether a reply was taken back or contradicted before a later message."""
    subject = about(talk[reply])
    own = (talk[at] for at in range(reply + 1, until) if talk[at].actor == talk[reply].actor)
    return any(_withdraws(event, subject) for event in own) or any(
        _is_wrong(talk, at, reply) for at in range(reply + 1, until)
    )


def _withdraws(event: EventRow, subject: set[str]) -> bool:
    """Whether the answerer takes the answer back, in bare words or in words of the same matter."""
    for one in spoken(event.text):
        theirs = matter(one.own)
        taken_back = says("withdrawn", one) or says("contradicted", one)
        if taken_back and (is_bare(one) or theirs & subject):
            return True
    return False


def _is_wrong(talk: Sequence[EventRow], at: int, reply: int) -> bool:
    """Whether a message calls the reply wrong. One that quotes somebody is about what it quotes."""
    event = talk[at]
    if not any(says("contradicted", one) and not one.is_question for one in spoken(event.text)):
        return False
    quotes = [" ".join(found[1].split()) for found in _QUOTED_LINE.finditer(event.text)]
    if quotes:
        return any(quote in " ".join(talk[reply].text.split()) for quote in quotes)
    others = (i for i in range(at - 1, -1, -1) if talk[i].actor != event.actor and read_reply(talk[i].text))
    return next(others, None) == reply


def _objections(talk: Sequence[EventRow], answer: _Answer) -> list[str]:
    """What others held against the answer, each as `thread: words`."""
    found: list[str] = []
    subject = about(talk[answer.question]) | matter(answer.said.do)
    for event in talk[answer.reply + 1 :]:
        if event.actor == talk[answer.reply].actor:
            continue
        for one in spoken(event.text):
            words = f"thread: {one.text[:_OBJECTION_CHARS]}"
            held = cues.find("objection", one.own) and not one.is_question and not says("other_matter", one)
            if held and words not in found and matter(one.own) & subject:
                found.append(words)
    return found[:_MOST_OBJECTIONS]
