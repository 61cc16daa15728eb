"""What people said to each other in one unit, as conversations in order: a thread, a discussion, a request's comments.

Nothing is guessed across units: a channel that knows no threads has one conversation for each message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from lorelake.evidence import cues
from lorelake.evidence.prose import Sentence, document_sentences
from lorelake.evidence.said import matter
from lorelake.evidence.unit import POSTED_KINDS, EventRow, is_posted_by_program

TALKING_UNITS = frozenset(("thread", "merge_request"))
"""Units in which people talk with people; what a person types to an agent is no word to a colleague."""

_FLAT = "flat"
_NO_NAMES = (
    "I|We|You|It|The|This|That|These|If|In|On|For|To|A|An|And|But|So|Yes|No|Ok|Okay|Please|Sorry|Thanks|Thank|Hi|Hey"
    "|How|What|Why|When|Where|Which|Who|Is|Are|Do|Does|Did|Can|Could|Should|Would|Will|All|Now"
)
_MENTION = rf"(?-i:@[\w.-]+(?: (?!(?:{_NO_NAMES})\b)[A-Z][\w-]+)?)"
_MENTIONED = re.compile(_MENTION)
_ALL = "(?:team|all|folks|everyone|everybody|guys|there)"
_OPENING = re.compile(
    rf"(?:\s|[,.!:*_，。！–—-]|{_MENTION}|:[a-z_+-]+:|大家好|你好|请问(?:一下)?|问一下|各位"
    rf"|\b(?:(?:hi|hey|hello|dear|good (?:morning|evening|afternoon))(?: {_ALL})?|{_ALL}(?=\s*[,!:])"
    r"|question(?=:)|ok|okay|so|sorry|please|cc|yes|yeah|yep|also)\b(?!'))+",
    re.I,
)
"""Greetings, mentions (names are written with capitals) and fillers that a sentence opens with."""

FENCE = re.compile(r"```[^\n`]*\n(.*?)```|```(.*?)```", re.S)
"""A code block, on lines of its own or inside a line; the first or second group is the code."""

_LOGGED = re.compile(
    r"^\s*(?:\[?\d{4}-\d\d-\d\d[T ]\d|\d\d:\d\d:\d\d|at \S+\(|Traceback \(|\{\""
    r"|\S+ \d{4}-\d\d-\d\d[T ]\d|\[?(?:INFO|WARN(?:ING)?|DEBUG|ERROR|FATAL|TRACE)\]?[:\s])"
)
_OTHERS = re.compile(r"\"(?:[^\s\"]+\s+){3,60}[^\s\"]+\"|“(?:[^\s”]+\s+){3,60}[^\s”]+”")
"""Four or more words in quotation marks are somebody else's."""

_GOES_ON = re.compile(r"\n(?=[ \t]*[a-z])")
_LINE = re.compile(r"[^\n]+")
_SELF = re.compile(r"\b(?:i|i'm|my|we|our|trying)\b", re.I)
_FEWEST_WORDS = 6
_FEW_WORDS = 3
_FEW_CHARACTERS = 8
"""In Chinese, where every pair of characters counts as a word."""

_ADDRESS = re.compile(r"https?://\S+")


def conversations(events: Sequence[EventRow]) -> list[list[EventRow]]:
    """The unit's conversations, each in the order of `events`; empty for units of other kinds.

    Only what a person said and did not take away: no bot, no deleted message, no system line. A person's message
    without words (a file, a picture) stays in, as an answer to "can you send the log".
    """
    if not events or events[0].unit_kind not in TALKING_UNITS:
        return []
    found: dict[str, list[EventRow]] = {}
    answered = {event.reply_to for event in events if event.reply_to}
    for event in events:
        is_talk = event.actor_class == "human" and event.on_live_path and event.kind in POSTED_KINDS
        if is_talk and not is_posted_by_program(event):
            found.setdefault(_place(event, answered), []).append(event)
    return list(found.values())


def _place(event: EventRow, answered: set[str]) -> str:
    """Whose conversation an event belongs to. Comments that answer nothing and start no thread are one flat talk."""
    if event.unit_kind == "thread":
        return _FLAT
    if event.reply_to:
        return event.reply_to
    starts = event.kind == "review_comment" or event.event_id in answered or "thread" in event.attributes
    return event.event_id if starts else _FLAT


def without_opening(text: str) -> str:
    """A sentence without the greeting, mention or filler it opens with; the whole where nothing else is there."""
    opening = _OPENING.match(text)
    return text[opening.end() :] if opening and opening.end() < len(text) else text


def says(family: str, sentence: Sentence) -> bool:
    """Whether a cue of a family stands in a sentence, read without its opening."""
    return cues.find(family, without_opening(_ADDRESS.sub(" ", sentence.own))) is not None


def asks(sentence: Sentence) -> bool:
    """Whether a sentence asks something that wants an answer. A line in bold is a heading, also with "what" in it."""
    if sentence.text.startswith("*") and sentence.text.endswith("*"):
        return False
    return (sentence.is_question or says("asking", sentence)) and not says("small_talk", sentence)


def spoken(text: str) -> list[Sentence]:
    """What a person says in a chat message, line by line: no code block, log line, table, or words of another.

    Milder than `prose.sentences`, which is made for statements that bind: here lists, settings and commands are the
    matter itself, and a person who asks pastes half of the question.
    """
    return list(_spoken(text))


def _spoken(text: str) -> Iterator[Sentence]:
    at = 0
    for start, end in (*(match.span() for match in FENCE.finditer(text)), (len(text), len(text))):
        passage = _GOES_ON.sub(" ", text[at:start])
        for line in _LINE.finditer(passage):
            if _LOGGED.match(line[0]):
                continue
            for one in document_sentences(text, at + line.start(), at + line.end()):
                yield msgspec.structs.replace(one, own=_OTHERS.sub(lambda found: " " * len(found[0]), one.own))
        at = end


def is_log(code: str) -> bool:
    """Whether most lines of a code block are a log's, or it is empty."""
    lines = [line for line in code.splitlines() if line.strip()]
    return not lines or 2 * sum(bool(_LOGGED.match(line)) for line in lines) > len(lines)


def asking_sentences(event: EventRow) -> list[Sentence]:
    """The sentences of a message that ask for something or describe what fails."""
    return [one for one in spoken(event.text) if asks(one) or describes_failure(one)]


def describes_failure(sentence: Sentence) -> bool:
    """Whether a sentence of an asker says what fails or is odd."""
    return says("problem", sentence) or says("trouble", sentence)


def tells_of_self(event: EventRow) -> bool:
    """Whether a message tells in several words what its author does or has."""
    return len(event.text.split()) >= _FEWEST_WORDS and bool(_SELF.search(event.text))


def about(event: EventRow) -> set[str]:
    """The words that say what a message is about."""
    return matter(_MENTIONED.sub(" ", " ".join(one.own for one in spoken(event.text))))


def is_bare(sentence: Sentence) -> bool:
    """Whether a sentence names hardly anything, so that it can only be about what was said just before."""
    plain = without_opening(sentence.own).strip()
    return len(matter(plain)) <= _FEW_WORDS or (not plain.isascii() and len(plain) <= _FEW_CHARACTERS)


def worded(text: str) -> str:
    """A sentence on one line, without its opening, in sentence case unless it begins with a name of its own form."""
    plain = " ".join(without_opening(text).split())
    first = plain.split(" ", 1)[0]
    return plain[:1].upper() + plain[1:] if first.isalpha() and first.islower() else plain
