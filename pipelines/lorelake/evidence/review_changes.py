"""A review comment that led to a change: on lines later changed, applied, acknowledged by its reader, or resolved.

The words are the reviewer's; that they were followed is the mechanical part. A bot's comment counts only where a
person approved it in words, and then that person's reply is the witness.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from lorelake.evidence import cues
from lorelake.evidence.prose import Sentence, sentences
from lorelake.evidence.said import advice
from lorelake.evidence.unit import EventRow, Signal, quoted, repository_path

NEAR_LINES = 10
_MOST_SENTENCES = 3
_REASON_SENTENCES = 2
_FEWEST_DONE = 4
_FURTHEST_REQUEST = 6
_MOST_OBJECTIONS = 4
_OBJECTION_CHARS = 300
_TEACHES_NOTHING = ("nit", "praise", "accepted", "declined")
_LABEL = re.compile(
    r"[*_`\s]*(?:(?:low|medium|high|critical) severity|severity: \w+|suggestion|issue|warning)[*_`\s.:]*", re.I
)


_DONE = re.compile(
    r"^(?:(?:good|great|nice) (?:catch|point|call|idea)|valid|reconsidered|agreed|makes sense|done|fixed|addressed"
    r"|changed|updated|applied)\W*(?:(?:and |also )?(?:fixed|addressed|done|changed|updated|applied)\W*)?"
    r"(?:in [0-9a-f]{7,40})?[\s.,:;–—-]*",
    re.I,
)
"""The part of a reply that only says that it was done, and where."""


def extract(events: Sequence[EventRow]) -> list[Signal]:
    """One signal for each review thread whose first comment was followed."""
    author = next((e.actor for e in events if e.kind == "merge_request_opened"), None)
    threads: dict[str, list[EventRow]] = {}
    for event in events:
        if event.kind == "review_comment" and event.on_live_path:
            threads.setdefault(event.reply_to or event.event_id, []).append(event)
    found = []
    for root_id, thread in threads.items():
        root = next((e for e in thread if e.event_id == root_id), None)
        if root is not None:
            signal = _signal(events, root, [e for e in thread if e is not root], author)
            if signal:
                found.append(signal)
    return found


def _signal(events: Sequence[EventRow], root: EventRow, replies: list[EventRow], author: str | None) -> Signal | None:
    by_bot = root.actor_class != "human"
    lesson = _lesson(root.text)
    if not lesson or (not by_bot and root.actor == author):
        return None
    approval = _approval(replies, root)
    ground = _ground(events, root, approval)
    if ground is None or (by_bot and approval is None):
        return None
    item: dict[str, Any] = {
        "not_when": _objections(replies),
        "witness": root.text[lesson[0].start : lesson[-1].end],
        **_words(lesson, by_bot, approval),
    }
    path = repository_path(root)
    if path:
        item |= {"when": f"changing `{path}`", "applies_to": [path]}
    seen = {"ground": ground, "comment": root.event_id, "comment_by": root.actor_class}
    if by_bot and approval is not None:
        event, said = approval
        start, end = said.start, said.end
    else:
        event, start, end = root, lesson[0].start, lesson[-1].end
    return quoted("review_change", event, start, end, item, seen)


def _lesson(text: str) -> list[Sentence]:
    """The first sentences of a comment that says something; empty for questions, praise and nits."""
    message = [s for s in sentences(text) if not _LABEL.fullmatch(s.text) and not s.text.startswith("#")]
    if not message or any(cues.find(family, message[0].own) for family in _TEACHES_NOTHING):
        return []
    if all(s.is_question for s in message):
        return []
    stated = [s for s in message if not s.is_question and not cues.find("praise", s.own)]
    asked = next((n for n, s in enumerate(stated) if cues.find("request", s.own)), 0)
    return stated[: max(_MOST_SENTENCES, asked + 1)][:_FURTHEST_REQUEST]


def _words(lesson: list[Sentence], by_bot: bool, approval: tuple[EventRow, Sentence] | None) -> dict[str, str]:
    """What to do, why and of what kind, in the reviewer's words: what asks for it, then what is left of the comment.

    What the author replied is evidence that it was followed, never what to do; only where a bot found a fault and
    asked for nothing do the words of the person who mended it say more. A person's "always", "never" or "we use" is
    that person's word; anything else is only a comment that led to a change.
    """
    mechanical = {"kind": "pattern", "trust_basis": "mechanical"}
    first = next((n for n, s in enumerate(lesson) if cues.find("request", s.own)), None)
    if first is None:
        done = _DONE.sub("", approval[1].text) if by_bot and approval else ""
        if len(done.split()) >= _FEWEST_DONE:
            return {"do": done, "because": lesson[0].text, **mechanical}
        return {"do": " ".join(s.text for s in lesson), **mechanical}
    last = first
    while last + 1 < len(lesson) and last - first < 1 and cues.find("request", lesson[last + 1].own):
        last += 1
    said = advice(lesson, first, last - first + 1)
    about = lesson[last + 1 :] if said.parts[-1] is lesson[last] else []
    told = said.because or " ".join(s.text for s in (about or lesson[:first])[:_REASON_SENTENCES])
    standing = not by_bot and any(cues.find("instruction", s.own) for s in lesson[first : last + 1])
    basis = "stated" if standing else "mechanical"
    return {"do": said.do, "kind": said.kind, "trust_basis": basis} | ({"because": told} if told else {})


def _approval(replies: Sequence[EventRow], root: EventRow) -> tuple[EventRow, Sentence] | None:
    """The last word of a person on a comment of another, where it accepts; None where it declines or says neither."""
    verdict: tuple[EventRow, Sentence] | None = None
    for reply in replies:
        if reply.actor_class != "human" or reply.actor == root.actor:
            continue
        message = sentences(reply.text)
        if not message:
            continue
        if cues.find("accepted", message[0].own):
            verdict = reply, message[0]
        elif cues.find("declined", message[0].own):
            verdict = None
    return verdict


def _declined(replies: Sequence[EventRow], root: EventRow) -> bool:
    firsts = [sentences(r.text)[:1] for r in replies if r.actor_class == "human" and r.actor != root.actor]
    return any(cues.find("declined", first[0].own) for first in firsts if first)


def _ground(events: Sequence[EventRow], root: EventRow, approval: tuple[EventRow, Sentence] | None) -> str | None:
    """Why the comment counts as followed, or None."""
    if approval is not None:
        return "acknowledged"
    replies = [e for e in events if e.reply_to == root.event_id]
    if _declined(replies, root):
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
    """Whether a later commit of the request changed lines within `NEAR_LINES` of the comment's, in the same file."""
    if root.path is None or root.line is None:
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


def _objections(replies: Sequence[EventRow]) -> list[str]:
    """What people held against the comment, each as `thread: words`."""
    found: list[str] = []
    for reply in replies:
        if reply.actor_class != "human":
            continue
        for sentence in sentences(reply.text):
            words = f"thread: {sentence.text[:_OBJECTION_CHARS]}"
            if cues.find("objection", sentence.own) and not sentence.is_question and words not in found:
                found.append(words)
    return found[:_MOST_OBJECTIONS]
