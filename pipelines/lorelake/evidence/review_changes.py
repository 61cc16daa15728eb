"""A review comment that led to a change: on lines later changed, applied, acknowledged by its reader, or resolved.

The words are the reviewer's; that they were followed is the mechanical part. A program's comment counts only where a
person approved it in words, and then that person's answer is the witness; so is an answer to a comment that nobody
captured. Most comments are about one change and nothing else: they are signals without an item.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from lorelake.content.similarity import jaccard
from lorelake.evidence import cues
from lorelake.evidence.machine_text import is_machine_text
from lorelake.evidence.prose import Sentence, sentences
from lorelake.evidence.review_answers import done_in, is_told_with_reason, told
from lorelake.evidence.review_lessons import ALTERNATIVE, asks, is_durable, lesson, words
from lorelake.evidence.review_threads import Thread, Verdict, threads, verdict
from lorelake.evidence.said import is_hedged, matter
from lorelake.evidence.unit import EventRow, Signal, quoted, repository_path

NEAR_LINES = 10
SAME_COMMENT = 0.8
_FEWEST_DONE = 4
_MOST_OBJECTIONS = 4
_OBJECTION_CHARS = 300
_EXCEPTS = re.compile(r"\W*(?:but|however|unless|except|in practice|不过|但|除非)", re.I)


def extract(events: Sequence[EventRow]) -> list[Signal]:
    """One signal for each review thread whose first comment was followed; the same comment again is no second item."""
    author = next((e.actor for e in events if e.kind == "merge_request_opened"), None)
    found: list[Signal] = []
    for thread in threads(events):
        signal = _unseen(thread) if thread.root is None else _signal(events, thread, thread.root, author)
        if signal is not None:
            found.append(_once(signal, found))
    return found


def _once(signal: Signal, before: Sequence[Signal]) -> Signal:
    """The signal, without its item where an earlier comment of the request said nearly the same."""
    witness = str(signal.item.get("witness") or "")
    for other in before:
        theirs = str(other.item.get("witness") or "")
        if witness and theirs and jaccard(witness, theirs) >= SAME_COMMENT:
            signal.item, signal.seen = {}, signal.seen | {"same_as": other.event_id}
            break
    return signal


def _unseen(thread: Thread) -> Signal | None:
    """A comment that was not captured, of which only the answer tells that it was followed, and how."""
    stands = verdict(thread)
    if stands.accepted is None or stands.sentence is None:
        return None
    answer = stands.accepted
    seen = {"ground": "acknowledged", "comment": "", "comment_by": "unknown"}
    done = done_in(answer)
    if not done:
        return quoted("review_change", answer, stands.sentence.start, stands.sentence.end, {}, seen)
    start, end = done[0].start, done[-1].end
    if not is_told_with_reason(done):
        return quoted("review_change", answer, start, end, {}, seen)
    item = {
        **told(done),
        "kind": "pattern",
        "trust_basis": "mechanical",
        "not_when": _objections(thread, stands),
        "witness": answer.text[start:end],
        **_place(answer),
    }
    return quoted("review_change", answer, start, end, item, seen)


def _signal(events: Sequence[EventRow], thread: Thread, root: EventRow, author: str | None) -> Signal | None:
    by_machine = root.actor_class != "human" or is_machine_text(root.text)
    stands = verdict(thread)
    ground = _ground(events, root, stands)
    if ground is None or (root.actor == author if not by_machine else stands.accepted is None):
        return None
    said = lesson(root.text, by_machine)
    followed = _followed(_sure(said) if stands.accepted is not None else said, stands) or said
    item = _item(root, followed, stands, by_machine) if followed else {}
    item |= {"not_when": _objections(thread, stands)} if item else {}
    seen = {"ground": ground, "comment": root.event_id, "comment_by": "bot" if by_machine else root.actor_class}
    if by_machine and stands.accepted is not None and stands.sentence is not None:
        signal = quoted("review_change", stands.accepted, stands.sentence.start, stands.sentence.end, item, seen)
        signal.support = ((root.event_id, followed[0].start, followed[-1].end),) if item else ()
        return signal
    parts = followed or sentences(root.text)[:1]
    if not parts or cues.find("praise", parts[0].own):
        return None
    return quoted("review_change", root, parts[0].start, parts[-1].end, item, seen)


def _item(root: EventRow, said: Sequence[Sentence], stands: Verdict, by_machine: bool) -> dict[str, Any]:
    """The item of a followed comment; empty where it was about that change only, or its writer doubted it."""
    if not is_durable(said) or (not by_machine and any(is_hedged(said, n) for n in range(len(said)))):
        return {}
    found: dict[str, Any] = {"witness": root.text[said[0].start : said[-1].end], **_place(root)}
    asked = any(asks(s) for s in said)
    done = done_in(stands.accepted) if by_machine and stands.accepted is not None and not asked else []
    if done and len(done[0].text.split()) >= _FEWEST_DONE:
        # A program found the fault and asked for nothing: the words of the person who mended it say more.
        fault = {"because": said[0].text, "kind": "pattern", "trust_basis": "mechanical"}
        return found | {"do": told(done)["do"]} | fault
    return found | words(said, by_machine)


def _sure(said: Sequence[Sentence]) -> list[Sentence]:
    """What its writer did not doubt; the rest of a comment whose reader said yes stands all the same."""
    return [s for n, s in enumerate(said) if not is_hedged(said, n)]


def _followed(said: Sequence[Sentence], stands: Verdict) -> list[Sentence]:
    """The sentences of a comment without those that its answer left out, and without the remedy it did not take."""
    if stands.accepted is None:
        return [s for s in said if not ALTERNATIVE.match(s.own)]
    taken = matter(" ".join(s.text for s in done_in(stands.accepted) if not cues.find("declined", s.own)))
    left = matter(" ".join(s.text for _, s in stands.refused))
    asked = [s for s in said if asks(s)]
    other = next((s for s in said if ALTERNATIVE.match(s.own)), None)
    first = next((s for s in asked if s is not other), None)
    if other is not None and first is not None:
        dropped = first if len(matter(other.own) & taken) > len(matter(first.own) & taken) else other
        said = [s for s in said if s is not dropped]
    return [s for s in said if s not in asked or len(matter(s.own) & left) <= len(matter(s.own) & taken)]


def _place(event: EventRow) -> dict[str, Any]:
    path = repository_path(event)
    return {"when": f"changing `{path}`", "applies_to": [path]} if path else {}


def _ground(events: Sequence[EventRow], root: EventRow, stands: Verdict) -> str | None:
    """Why the comment counts as followed, or None."""
    if stands.accepted is not None:
        return "acknowledged"
    if stands.refused or stands.moot:
        return None
    if _suggestion_applied(root):
        return "suggestion_applied"
    if _changed_nearby(events, root):
        return "lines_changed"
    if root.attributes.get("resolved") is True:
        return "resolved"
    return None


def _suggestion_applied(root: EventRow) -> bool:
    if root.attributes.get("suggestion_applied") is True:
        return True
    stated = root.attributes.get("suggestions")
    return isinstance(stated, list) and any(isinstance(s, dict) and s.get("applied") is True for s in stated)


def _changed_nearby(events: Sequence[EventRow], root: EventRow) -> bool:
    """Whether a later commit of the request changed lines near the comment's, or the host says that they changed.

    Near is within `NEAR_LINES`, in the same file.
    """
    if root.path is None:
        return False
    if root.attributes.get("outdated") is True:
        return True
    if root.line is None:
        return False
    for commit in events:
        if commit.kind != "commit" or commit.seq <= root.seq or commit.revision == root.revision:
            continue
        for first, last in _ranges(commit, root.path):
            if first - NEAR_LINES <= root.line <= last + NEAR_LINES:
                return True
    return False


def _ranges(commit: EventRow, path: str) -> list[tuple[int, int]]:
    """The line ranges a commit states for a path: `attributes.files = [{path, hunks: [[first, last], …]}, …]`."""
    files = commit.attributes.get("files")
    hunks = [f.get("hunks") for f in files if isinstance(f, dict) and f.get("path") == path] if files else []
    return [(int(first), int(last)) for ranges in hunks for first, last in ranges or ()]


def _objections(thread: Thread, stands: Verdict) -> list[str]:
    """What people held against the comment, or left out of it, each as `thread: words`.

    An answer that says what was done objects only where it opens a sentence with "but", "unless" and the like.
    """
    found: list[str] = []
    for reply in thread.replies:
        if reply.actor_class != "human" or is_machine_text(reply.text):
            continue
        for sentence in sentences(reply.text):
            left_out = any(event is reply and s == sentence for event, s in stands.refused)
            against = bool(cues.find("objection", sentence.own)) and not sentence.is_question
            if reply is stands.accepted:
                against = against and bool(_EXCEPTS.match(sentence.own))
            words_held = f"thread: {sentence.text[:_OBJECTION_CHARS]}"
            if (left_out or against) and words_held not in found:
                found.append(words_held)
    return found[:_MOST_OBJECTIONS]
