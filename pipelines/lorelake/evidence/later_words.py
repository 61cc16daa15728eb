"""Whether what a person said still holds at the end of the session, and what was held against it there.

Of words taken back in the same session only the last count, whatever kinds the two are of. Exceptions and
objections that people voice later are counter-arguments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from lorelake.evidence import cues
from lorelake.evidence.prose import Sentence, sentences
from lorelake.evidence.said import Advice, matter
from lorelake.evidence.unit import EventRow, is_said_by_human

_SAME_MATTER = 0.6
_ALSO_SAID_LIGHTLY = "actually"
"""A way to take words back that also opens any next thought: without a word of the same matter it says nothing."""

_MOST_EXCEPTIONS = 3
_SHARED_WORDS = 2
_LONGEST_EXCEPTION = 300
_NUMBER = re.compile(r"\d")
_NAME = re.compile(r"[\w-]*[_./]\w[\w./-]*|[a-z]+[A-Z]\w*|`[^`]+`")
_CHOSEN = re.compile(
    r"\b(?:use|using|go with|going with|pick|choose|keep|take|adopt|prefer|settled on|agreed on|move to|switch to)\s+"
    r"(?:a |an |the |our )?(?P<head>[\w`./+#-]+(?: (?!(?:for|in|as|on|with|to|from|instead|rather|because|and|or)\b)"
    r"[\w`./+#-]+)?)(?: (?:for|in|as|on) (?:a |an |the |our )?(?P<purpose>[^,.;:!?]{3,60}))?"
    r"|(?P<purpose2>[^，。；,.!？]{0,12})(?:用|采用|採用|改用|使用)(?P<head2>[A-Za-z\d_./-]{2,40}|[^，。；,.!？]{1,12})",
    re.I,
)


class _Words(msgspec.Struct, frozen=True):
    """One sentence as the comparison sees it."""

    own: str
    about: set[str]
    rest: set[str]
    numbers: set[str]
    denies: bool
    head: set[str]
    purpose: set[str]
    rejected: set[str]


def _read(own: str) -> _Words:
    about = matter(own)
    chosen = _CHOSEN.search(own)
    head = chosen and (chosen["head"] or chosen["head2"])
    purpose = chosen and (chosen["purpose"] or chosen["purpose2"])
    turned_down = cues.find("rejected", own)
    return _Words(
        own=own,
        about=about,
        rest={word for word in about if not _NUMBER.search(word)},
        numbers=set(re.findall(r"\d+(?:[.:]\d+)*", own)),
        denies=cues.find("negation", own) is not None,
        head=matter(head or ""),
        purpose=matter(purpose or ""),
        rejected=matter(turned_down.named.get("rejected", "")) if turned_down else set(),
    )


def taken_back_by(events: Sequence[EventRow], position: int, sentence: Sentence) -> EventRow | None:
    """The later event of the same speaker that takes a sentence back, or None.

    It does so with a cue and a word of the same matter; in the speaker's very next words with a bare cue or another
    value; by saying nearly the same with the opposite sign or other numbers; by choosing something else for the
    same purpose; or by turning down by name what was chosen.
    """
    earlier = _read(sentence.own)
    speaker = events[position].actor
    following: str | None = None
    for event, other in _later(events, position, sentence.start):
        if event.actor != speaker:
            continue
        if event is not events[position]:
            following = following or event.event_id
        is_next = following is None or event.event_id == following
        if _takes_back(other, earlier, is_next):
            return event
    return None


def _later(events: Sequence[EventRow], position: int, start: int) -> Iterator[tuple[EventRow, Sentence]]:
    """What people said after a sentence, in the same event and in later ones."""
    for event in events[position:]:
        if is_said_by_human(event) or (event.kind == "rejection" and event.on_live_path and event.text.strip()):
            for other in sentences(event.text):
                if event is not events[position] or other.start > start:
                    yield event, other


def _takes_back(other: Sentence, earlier: _Words, is_next: bool) -> bool:
    later = _read(other.own)
    reverses = cues.find("taken_back", other.own)
    if reverses:
        plainly = not reverses.cue.name.endswith(_ALSO_SAID_LIGHTLY) or len(later.about) < 2
        return bool(later.about & earlier.about) or (is_next and plainly)
    if other.is_question or cues.find("hedge", other.own):
        return False
    if is_next and _replaces_value(later, earlier):
        return True
    if not earlier.about or not later.about:
        return False
    return _contradicts(later, earlier) or _chooses_another(later, earlier)


def _replaces_value(later: _Words, earlier: _Words) -> bool:
    """Whether "make that 9090" follows "use port 8080": a value of the same sort in the place of one named before."""
    found = cues.find("replaced", later.own)
    value = found.named.get("object", "") if found else ""
    if _NUMBER.search(value) and not _NAME.search(value):
        return bool(earlier.numbers) and value not in earlier.own
    return bool(_NAME.search(value) and _NAME.search(earlier.own)) and value not in earlier.own


def _contradicts(later: _Words, earlier: _Words) -> bool:
    if later.denies != earlier.denies:
        return _alike(later.about, earlier.about)
    differ = later.numbers and earlier.numbers and later.numbers != earlier.numbers
    return bool(differ) and _alike(later.rest, earlier.rest)


def _alike(one: set[str], other: set[str]) -> bool:
    return bool(one and other) and len(one & other) / len(one | other) >= _SAME_MATTER


def _chooses_another(later: _Words, earlier: _Words) -> bool:
    if earlier.denies or not earlier.head:
        return False
    chosen = earlier.head - earlier.rejected
    if chosen and later.rejected and later.rejected <= chosen:
        return True
    return bool(later.head) and not later.denies and not later.head & chosen and _alike(later.purpose, earlier.purpose)


def exceptions_after(events: Sequence[EventRow], position: int, found: Advice) -> list[str]:
    """What people later held against an advice, or excepted from it, each as `speaker: words` or `thread: words`."""
    about = set().union(*(matter(part.own) for part in found.parts))
    told: list[str] = []
    following: str | None = None
    for event, other in _later(events, position, found.parts[-1].start):
        if other.is_question or cues.find("hedge", other.own):
            continue
        if event is not events[position]:
            following = following or event.event_id
        own = event.actor == events[position].actor
        excepted = cues.find("exception", other.own)
        if not excepted and (own or not cues.find("objection", other.own)):
            continue
        goes_on = excepted is not None and excepted.start == 0 and event.event_id == following
        if len(matter(other.own) & about) >= (1 if goes_on else min(_SHARED_WORDS, len(about))) > 0:
            told.append(f"{'speaker' if own else 'thread'}: {other.text[:_LONGEST_EXCEPTION]}")
    return list(dict.fromkeys(told))[:_MOST_EXCEPTIONS]


def signal_item(events: Sequence[EventRow], position: int, found: Advice) -> tuple[dict[str, Any], dict[str, Any]]:
    """Item and what was seen for an advice: the item is empty where its speaker took it back later."""
    taken = taken_back_by(events, position, found.parts[0])
    if taken is not None:
        return {}, {"taken_back_by": taken.event_id}
    item = found.item()
    against = dict.fromkeys([*item.get("not_when", ()), *exceptions_after(events, position, found)])
    if against:
        item["not_when"] = list(against)[:_MOST_EXCEPTIONS]
    occasion = cues.find("occasion", found.do) if ". " not in found.do else None
    if occasion and found.kind != "anti_pattern":
        item["when"] = occasion.named["occasion"]
    return item, {}
