"""The same review comment on several merge requests, by several reviewers: a convention of the team.

Computed whole over all merge requests of one audience. Two comments are the same when their words are, or nearly
(`content.similarity`). Here a question or a nit counts too: that several people keep asking for it is what makes it a
convention, not how it is put.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

import msgspec
import polars as pl

from lorelake.content.normalise import normalise
from lorelake.content.similarity import word_bigrams
from lorelake.evidence import cues
from lorelake.evidence.machine_text import is_machine_text
from lorelake.evidence.prose import Sentence, sentences
from lorelake.evidence.review_lessons import asks
from lorelake.evidence.review_threads import answers_unseen
from lorelake.evidence.said import kind_of, reason_in
from lorelake.evidence.unit import EventRow, Signal, quoted

WANTED = (pl.col("unit_kind") == "merge_request") & (
    (pl.col("kind") == "merge_request_opened")
    | (pl.col("kind").is_in(["review_comment", "comment"]) & (pl.col("actor_class") == "human"))
)
FEWEST_REQUESTS = 3
FEWEST_REVIEWERS = 2
SAME_COMMENT = 0.8
_FEWEST_WORDS = 4
_FEWEST_CHARACTERS = 8
_MOST_SENTENCES = 4
_NO_CONVENTION = ("praise", "accepted", "declined", "moot", "chore")
_ADDRESSED = re.compile(
    r"@[\w.-]+[,:]?\s*|^\W*(?:nit|nitpick|minor|suggestion|小问题|小建议)\s*(?:\([^)]*\))?\s*[:：,-]\s*", re.I
)


class _Comment(msgspec.Struct, frozen=True):
    """One reviewer's comment: its event, its sentences, and its words without whom it is addressed to."""

    event: EventRow
    said: tuple[Sentence, ...]
    text: str

    @property
    def order(self) -> tuple[Any, str]:
        return self.event.ts, self.event.event_id


def extract(units: Mapping[str, Sequence[EventRow]]) -> dict[str, list[Signal]]:
    """One signal for each comment made on enough merge requests by enough reviewers, quoted where it stood first."""
    by_audience: dict[str, list[_Comment]] = {}
    for events in units.values():
        author = next((e.actor for e in events if e.kind == "merge_request_opened"), None)
        for comment in _comments(events, author):
            by_audience.setdefault(comment.event.audience, []).append(comment)
    found: dict[str, list[Signal]] = {}
    for _, comments in sorted(by_audience.items()):
        for group in _groups(sorted(comments, key=lambda c: c.order)):
            known_from = _known_from(group)
            if known_from is not None:
                found.setdefault(group[0].event.unit_id, []).append(_signal(group, known_from))
    return found


def _comments(events: Sequence[EventRow], author: str | None) -> Iterable[_Comment]:
    """What other people than the author began a thread with, as far as it asks for or states something."""
    for event in events:
        if event.kind == "merge_request_opened" or event.actor_class != "human" or not event.on_live_path:
            continue
        if event.reply_to or event.actor == author or answers_unseen(event) or is_machine_text(event.text):
            continue
        said = tuple(sentences(event.text))
        text = _ADDRESSED.sub("", " ".join(s.own for s in said)).strip()
        if not said or len(said) > _MOST_SENTENCES or not _is_long(text):
            continue
        if not any(cues.find(family, said[0].own) for family in _NO_CONVENTION):
            yield _Comment(event, said, text)


def _is_long(text: str) -> bool:
    return len(text.split()) >= _FEWEST_WORDS or (not text.isascii() and len(text) >= _FEWEST_CHARACTERS)


def _groups(comments: Sequence[_Comment]) -> list[list[_Comment]]:
    """Comments that say the same as the earliest of their group, each in one group, earliest first."""
    same: dict[str, list[_Comment]] = {}
    for comment in comments:
        same.setdefault(normalise(comment.text), []).append(comment)
    texts = list(same)
    alike = _pairs([frozenset(word_bigrams(text)) for text in texts])
    taken: set[int] = set()
    groups = []
    for first in range(len(texts)):
        if first not in taken:
            members = [
                first,
                *(other for other in sorted(alike.get(first, ())) if other > first and other not in taken),
            ]
            taken.update(members)
            groups.append(sorted((c for member in members for c in same[texts[member]]), key=lambda c: c.order))
    return groups


def _pairs(words: Sequence[frozenset[str]]) -> dict[int, set[int]]:
    """Which texts are at least `SAME_COMMENT` alike, by their bigrams.

    Two such texts share one of the rarest bigrams of each (prefix filter, Chaudhuri 2006), so only those that do are
    compared.
    """
    common = Counter(bigram for found in words for bigram in found)
    holders: dict[str, list[int]] = {}
    for place, found in enumerate(words):
        rarest = sorted(found, key=lambda bigram: (common[bigram], bigram))
        for bigram in rarest[: len(rarest) - math.ceil(SAME_COMMENT * len(rarest)) + 1]:
            holders.setdefault(bigram, []).append(place)
    alike: dict[int, set[int]] = {}
    for places in holders.values():
        for at, one in enumerate(places):
            for other in places[at + 1 :]:
                shared = len(words[one] & words[other])
                if shared >= SAME_COMMENT * (len(words[one]) + len(words[other]) - shared):
                    alike.setdefault(one, set()).add(other)
                    alike.setdefault(other, set()).add(one)
    return alike


def _known_from(group: Sequence[_Comment]) -> date | None:
    """The as-of day on which enough of the group was known, or None where it never was enough."""
    for day in sorted({comment.event.first_kept for comment in group}):
        if _is_enough([comment for comment in group if comment.event.first_kept <= day]):
            return day
    return None


def _is_enough(group: Sequence[_Comment]) -> bool:
    return len({c.event.unit_id for c in group}) >= FEWEST_REQUESTS and _reviewers(group) >= FEWEST_REVIEWERS


def _reviewers(group: Sequence[_Comment]) -> int:
    """How many people made the comment. Accounts nobody named are apart only where one forge tells them apart."""
    known = {c.event.actor for c in group if not c.event.actor.startswith("unknown:")}
    by_source: dict[str, set[str]] = {}
    for comment in group:
        by_source.setdefault(comment.event.source, set()).add(comment.event.actor)
    return max(len(known), *(len(actors) for actors in by_source.values()))


def _signal(group: Sequence[_Comment], known_from: date) -> Signal:
    first = group[0]
    event, start, end = first.event, first.said[0].start, first.said[-1].end
    asked = next((s for s in first.said if asks(s) or s.is_question), first.said[0])
    do = _ADDRESSED.sub("", " ".join(asked.text.split())).strip()
    because = reason_in(asked.own) or " ".join(
        " ".join(s.text.split()) for s in first.said if s is not asked and not s.is_question
    )
    paths = sorted({c.event.path for c in group if c.event.path})
    item: dict[str, Any] = {
        "do": do, "kind": kind_of(do), "trust_basis": "stated",
        "applies_to": paths if len(paths) == 1 else [],
    }  # fmt: skip
    item |= {"because": because} if because else {}
    item |= {"when": f"changing `{paths[0]}`"} if len(paths) == 1 else {}
    seen = {
        "merge_requests": len({c.event.unit_id for c in group}),
        "reviewers": _reviewers(group),
        "comments": len(group),
    }
    signal = quoted("review_repeated", event, start, end, item, seen)
    signal.known_from = known_from
    return signal
