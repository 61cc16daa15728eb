"""A merge request or commit that takes another back, with the reason somebody gave for it.

What was reverted is mostly another merge request, so this is computed over all of them. Without a stated reason a
revert stays an observation; one that was itself reverted later teaches nothing any more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
import polars as pl

from lorelake.evidence import cues
from lorelake.evidence.machine_text import is_machine_text
from lorelake.evidence.prose import Sentence, document_sentences, sentences
from lorelake.evidence.unit import EventRow, Signal, changed_paths, quoted

WANTED = (pl.col("unit_kind") == "merge_request") & (
    pl.col("kind").is_in(["merge_request_opened", "merge_request_merged", "commit"])
    | (
        pl.col("kind").is_in(["comment", "review_comment", "review"])
        & pl.col("text").str.contains("(?i)rever|回滚|撤销")
    )
)
_OPENS = re.compile(
    r"""^\s*(?:
        revert(?:s|ed|ing)?\s*[:(]?\s*["“'「](?P<quoted>.{1,300}?)["”'」](?=[\s)]*(?:$|[(#!.,;:—–-]))
      | revert(?:\([^)\n]{1,40}\))?!?:\s*(?P<conventional>\S.{0,300})
      | (?:revert(?:s|ed|ing)?|roll(?:s|ed|ing)?[ ]back|back(?:s|ed|ing)?[ ]out)\s+(?P<plain>(?!to\b)\S.{0,300})
      | (?:回滚|撤销|还原)\s*[:：]?\s*["“「]?(?P<zh>\S.{0,300}?)["”」]?
    )\s*$""",
    re.I | re.X,
)
"""The first line of a reverting request or commit, and what it names."""

_STATES = re.compile(
    r"\b(?:this )?reverts? (?:merge request |pull request |pr |mr |commits? )?"
    r"(?P<what>[`(\[]?(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b|(?:[\w./-]{1,100})?[#!]\d{1,9}\b|https?://\S{1,300})",
    re.I,
)
"""What hosts and Git write into the body: `This reverts commit …`, `Reverts owner/name#12`, `merge request g/p!3`."""

_NUMBER = re.compile(r"(?:[#!]|/(?:pull|merge_requests)/)(\d{1,9})\b")
_SHA = re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b")
_TRAILER = re.compile(
    r"^[^\w\[]*(?:[A-Z][\w-]{1,40}-by:|\(cherry picked|co-authored|signed-off|change-id:|fix(?:es)? #|close[sd]? #|#"
    r"|(?:- )?\[[ x]\]|(?:this )?reverts? |see merge request|issue:|refs?:)",
    re.I,
)
_BECAUSE = re.compile(r"[\s,;:(—–-]+((?:because|since|due to|as it|as this|until|which)\b.*\w{3}.*)$", re.I)
_ONLY_BROKE = re.compile(
    r"\W*(?:(?:it|this|that|i|we|which|because it|since it)\s+)?(?:\w+\s+){0,2}?br(?:oke|eaks?|oken|eaking)\s+"
    r"(?:the\s+)?(?:ci|master|main|trunk|(?:nightly\s+)?builds?|tests?|everything|it|this|more than it \w+)\W*$",
    re.I,
)
"""That a build broke is why it was taken back at once, not what was wrong with it."""

_REVERTS = re.compile(
    r"\b(?:revert(?:ed|ing|s)?|roll(?:ed|ing)? (?:it |this )?back|back(?:ed|ing) out)\b|回滚|撤销", re.I
)
_SAID = ("comment", "review_comment", "review")
_FEWEST_WORDS = 4
_FEWEST_CHARACTERS = 6
_MOST_SENTENCES = 3


class _Revert(msgspec.Struct, frozen=True):
    """One event that reverts something: what it calls it, and the marks that identify it."""

    event: EventRow
    title: str
    numbers: frozenset[str]
    shas: frozenset[str]


def extract(units: Mapping[str, Sequence[EventRow]]) -> dict[str, list[Signal]]:
    """One signal for each thing a merge request takes back, with the unit its reason stands in, else its own."""
    found: dict[str, list[Signal]] = {}
    reverts = {unit_id: _reverts(events) for unit_id, events in sorted(units.items())}
    undone = _undone(reverts)
    for unit_id, some in reverts.items():
        for revert in some:
            target = _target(revert, units)
            quoted_in, signal = _signal(revert, [*units[unit_id], *units.get(target or "", ())], target)
            if _named(revert.title) or undone.get(_key(revert), revert.event.ts) > revert.event.ts:
                signal.item, signal.seen = {}, signal.seen | {"undone": True}
            found.setdefault(quoted_in, []).append(signal)
    return found


def _reverts(events: Sequence[EventRow]) -> list[_Revert]:
    """The reverts of one request: its own title first, then commits of it that take back something else."""
    found: list[_Revert] = []
    told = sorted(events, key=lambda e: (e.kind != "merge_request_opened", e.seq))
    for event in told:
        revert = _revert(event) if event.kind in ("merge_request_opened", "commit") and event.on_live_path else None
        if revert is not None and not any(_is_same(revert, other) for other in found):
            found.append(revert)
    return found


def _is_same(one: _Revert, other: _Revert) -> bool:
    return one.title.lower() == other.title.lower() or bool(one.numbers & other.numbers or one.shas & other.shas)


def _revert(event: EventRow) -> _Revert | None:
    first, _, body = event.text.partition("\n")
    opens = _OPENS.match(first)
    stated = [match["what"] for match in _STATES.finditer(body)]
    if opens is None and not stated:
        return None
    title = _named(first) or first.strip(" \"'`.")
    marks = [*stated, *([title] if opens else [])]
    numbers = {number[1] for mark in marks for number in _NUMBER.finditer(mark)}
    shas = {sha[0] for mark in stated for sha in _SHA.finditer(mark)}
    return _Revert(event, title, frozenset(numbers), frozenset(shas))


def _named(first_line: str) -> str:
    """What the first line of a reverting text names; empty where it reverts nothing."""
    opens = _OPENS.match(first_line)
    words = next((words for words in (opens.groupdict().values() if opens else ()) if words), "")
    return _BECAUSE.sub("", words).strip(" \"'`.")


def _key(revert: _Revert) -> tuple[str, str]:
    return revert.event.audience, revert.title.lower()


def _undone(reverts: Mapping[str, Iterable[_Revert]]) -> dict[tuple[str, str], datetime]:
    """What was brought in again by a revert of its revert (`Revert "Revert "x""`), and when last."""
    found: dict[tuple[str, str], datetime] = {}
    for revert in (one for some in reverts.values() for one in some):
        if again := _named(revert.title):
            key = revert.event.audience, again.lower()
            found[key] = max(revert.event.ts, found.get(key, revert.event.ts))
    return found


def _target(revert: _Revert, units: Mapping[str, Sequence[EventRow]]) -> str | None:
    """The merge request that was reverted, by number, commit or title, of the same repository and audience."""
    own = revert.event
    repository = re.split(r"[#!](?=\d+$)", own.unit_id)[0]
    for number in sorted(revert.numbers):
        for sign in "#!":
            if (unit := f"{repository}{sign}{number}") in units and unit != own.unit_id:
                return unit
    for unit_id, events in sorted(units.items()):
        if unit_id == own.unit_id or not unit_id.startswith(repository) or events[0].audience != own.audience:
            continue
        if any(_is_of(revert, event) for event in events if event.ts <= own.ts):
            return unit_id
    return None


def _is_of(revert: _Revert, event: EventRow) -> bool:
    if event.kind == "merge_request_opened":
        return event.text.partition("\n")[0].strip().lower() == revert.title.lower()
    return any((event.revision or "").startswith(sha) for sha in revert.shas)


def _signal(revert: _Revert, events: Sequence[EventRow], target: str | None) -> tuple[str, Signal]:
    """The unit the signal quotes, and the signal. `events` are those of the reverting and of the reverted request."""
    seen = {"reverted": target or "", "reverted_title": revert.title, "revert": revert.event.event_id}
    reason = _reason(revert.event) or next(_reasons_said(events), None)
    if reason is None:
        end = len(revert.event.text.partition("\n")[0])
        return revert.event.unit_id, quoted("revert", revert.event, 0, end, {}, seen)
    event, said = reason
    signal = quoted("revert", event, said[0].start, said[-1].end, _item(revert, event, said), seen)
    signal.known_from = max(event.first_kept, revert.event.first_kept)
    return event.unit_id, signal


def _item(revert: _Revert, event: EventRow, said: Sequence[Sentence]) -> dict[str, Any]:
    words = [" ".join(s.text.split()) for s in said]
    asked = next(
        (n for n, s in enumerate(said) if cues.find("request", s.own) or cues.find("instruction", s.own)), None
    )
    because = " ".join(word for n, word in enumerate(words) if n != asked)
    paths = changed_paths(revert.event)
    item: dict[str, Any] = {
        "title": f"{revert.title} was reverted: {words[0]}",
        "do": words[asked] if asked is not None else f"Do not bring back “{revert.title}” as it was",
        "rejected": revert.title,
        "kind": "anti_pattern",
        "trust_basis": "proposed" if is_machine_text(event.text) else "stated",
        "applies_to": paths,
    }
    item |= {"because": because} if because else {}
    return item | ({"when": f"changing `{paths[0]}`"} if len(paths) == 1 else {})


def _reason(event: EventRow) -> tuple[EventRow, list[Sentence]] | None:
    """The reason a reverting text gives: a clause of its first line or of "This reverts …", else what its body says."""
    first = len(event.text.partition("\n")[0])
    clause = _BECAUSE.search(event.text, 0, first)
    said = document_sentences(event.text, first, len(event.text))
    for sentence in said if clause is None else ():
        if _STATES.search(sentence.own):
            clause = clause or _BECAUSE.search(event.text, sentence.start, sentence.end)
    if clause is not None:
        start, end = clause.span(1)
        if _ONLY_BROKE.match(event.text[start:end]):
            return None
        return event, [Sentence(start, end, event.text[start:end], event.text[start:end])]
    said = [s for s in said if _states(s)]
    why = next((n for n, s in enumerate(said) if _gives_reason(s)), None)
    return (event, said[why : why + _MOST_SENTENCES]) if why is not None else None


def _gives_reason(sentence: Sentence) -> bool:
    return bool(cues.find("revert_reason", sentence.own)) and not _ONLY_BROKE.match(sentence.own)


def _states(sentence: Sentence) -> bool:
    own = sentence.own.strip()
    long = len(own.split()) >= _FEWEST_WORDS or (not own.isascii() and len(own) >= _FEWEST_CHARACTERS)
    return long and not sentence.is_question and not own.startswith("#") and not _TRAILER.match(sentence.text)


def _reasons_said(events: Sequence[EventRow]) -> Iterator[tuple[EventRow, list[Sentence]]]:
    """Comments of people on the reverting or the reverted request that say that, and why, it is taken back."""
    for event in sorted(events, key=lambda e: (e.ts, e.event_id)):
        if event.kind not in _SAID or event.actor_class != "human" or is_machine_text(event.text):
            continue
        message = sentences(event.text)
        at = next((n for n, s in enumerate(message) if _REVERTS.search(s.own) and not s.is_question), None)
        said = [s for s in message[at : at + 2] if not s.is_question] if at is not None else []
        if any(cues.find("revert_reason", _REVERTS.sub(" ", s.own)) and not _ONLY_BROKE.match(s.own) for s in said):
            yield event, said
