"""Review threads of one merge request, and what people answered in them: done, refused, moot, or half of each."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from lorelake.evidence import cues
from lorelake.evidence.machine_text import is_machine_text
from lorelake.evidence.prose import Sentence, sentences
from lorelake.evidence.unit import EventRow

_KINDS = frozenset(("review_comment", "comment"))
COMMIT = r"[`\[(]{0,2}(?=[0-9a-f]*\d)[0-9a-f]{7,40}[`\])]{0,2}(?:\(\S{1,200}\))?"
_IN_COMMIT = re.compile(
    rf"\b(?:in|by|with|as of|at|via|由|在)[: ]{{0,2}}(?:commit |提交 ?)?{COMMIT}|^[^\w]*{COMMIT}[.!]?$", re.I
)
_WHERE = rf"(?:(?:in|by|with|在) (?:commit )?{COMMIT}(?: (?:and|&) {COMMIT})?)"
_DONE = re.compile(
    r"^\W*(?:(?:good|great|nice) (?:catch|point|call|idea|spot|find)|valid(?: point)?|reconsidered|agreed|makes sense"
    r"|thanks|you'?re right|yes|ah|oh|right|done|(?:already |now |has been |was )*(?:fixed|addressed)|resolved"
    rf"|(?:already |now )?(?:changed|updated|applied)(?=[^\w`]+{_WHERE}|[^\w`]*$|[^\w`\s])"
    r"|同意|好的|确实|有道理|已(?:经)?(?:修复|修改|处理|更新|改))"
    rf"(?=[^\w`]|$)[\s.,;:!–—-]*(?:and |also )?{_WHERE}?[\s.,;:!–—-]*",
    re.I,
)
"""The part of a reply that only says that it was done, and where."""

_MOST_OPENINGS = 3
_LONGEST_INTERJECTION = 6


class Thread(msgspec.Struct, frozen=True):
    """A comment and its answers; `root` is None where the lake holds answers to a comment nobody captured."""

    root: EventRow | None
    replies: tuple[EventRow, ...]


class Verdict(msgspec.Struct, frozen=True):
    """What the answers of people come to.

    Attributes:
        accepted: the last answer that accepts, None where a later one refuses.
        sentence: the sentence of it that does.
        refused: answers and sentences that refuse, or leave out a part of what was accepted.
        moot: the comment no longer has an object.
    """

    accepted: EventRow | None = None
    sentence: Sentence | None = None
    refused: tuple[tuple[EventRow, Sentence], ...] = ()
    moot: bool = False


def threads(events: Sequence[EventRow]) -> list[Thread]:
    """The threads of a merge request in the order of their first event.

    An answer whose comment was not captured is known by its words ("Fixed in <commit>"); several of them at one place
    of one commit belong to one thread.
    """
    said = [e for e in events if e.kind in _KINDS and e.on_live_path]
    here = {e.event_id for e in said}
    roots: dict[str, EventRow] = {}
    replies: dict[str, list[EventRow]] = {}
    for event in said:
        if event.reply_to in here:
            replies.setdefault(str(event.reply_to), []).append(event)
        elif answers_unseen(event):
            replies.setdefault(_unseen_thread(event), []).append(event)
        else:
            roots[event.event_id] = event
    found = [Thread(root, tuple(replies.pop(key, ()))) for key, root in roots.items()]
    found += [Thread(None, tuple(answers)) for answers in replies.values()]
    return sorted(found, key=lambda thread: (thread.root or thread.replies[0]).seq)


def _unseen_thread(event: EventRow) -> str:
    if stated := event.attributes.get("answers_unseen"):
        return str(stated)
    place = f"{event.path}\n{event.line}\n{event.attributes.get('start_line')}\n{event.revision}"
    return place if event.path else event.event_id


def answers_unseen(event: EventRow) -> bool:
    """Whether an event that answers nothing we hold is an answer, as the source states or by its words."""
    if event.attributes.get("answers_unseen"):
        return True
    if event.actor_class != "human" or is_machine_text(event.text):
        return False
    message = sentences(event.text)
    if not message:
        return False
    return _stand(message[0]) in ("accepted", "declined", "moot") and (
        event.kind == "review_comment" or names_commit(message[0])
    )


def names_commit(sentence: Sentence) -> bool:
    """Whether the sentence says in which commit something was done."""
    return bool(_IN_COMMIT.search(sentence.text))


def substance(text: str) -> int:
    """Where a reply begins to say what was done: after "Good catch. Fixed in <commit> —"."""
    at = 0
    for _ in range(_MOST_OPENINGS):
        match = _DONE.match(text[at:])
        if match is None or not match[0]:
            break
        at += match.end()
    return at


def verdict(thread: Thread) -> Verdict:
    """The last word of people other than the commenter, read sentence by sentence."""
    found = Verdict()
    for reply in thread.replies:
        if reply.actor_class != "human" or is_machine_text(reply.text):
            continue
        if thread.root is not None and reply.actor == thread.root.actor:
            continue
        found = _after(found, reply, sentences(reply.text))
    return found


def _after(found: Verdict, reply: EventRow, message: Sequence[Sentence]) -> Verdict:
    """The verdict once one more answer was read."""
    stands = [(sentence, _stand(sentence)) for sentence in message]
    yes = next((s for s, stand in stands if stand == "accepted"), None)
    no = tuple((reply, s) for s, stand in stands if stand == "declined")
    first = next((stand for sentence, stand in stands if stand or not _is_interjection(sentence)), "")
    if first == "moot":
        return Verdict(moot=True)
    if yes is not None and (first == "accepted" or no or names_commit(yes)):
        return Verdict(reply, yes, no)
    if first == "declined":
        return Verdict(None, None, no)
    return found


def _is_interjection(sentence: Sentence) -> bool:
    """Whether a sentence is a few words before the answer itself: "Ah, thank you!"."""
    return len(sentence.own.split()) <= _LONGEST_INTERJECTION and not sentence.is_question


def _stand(sentence: Sentence) -> str:
    """What one sentence says of a comment: accepted, declined, moot, or nothing."""
    return next((name for name in ("moot", "declined", "accepted") if cues.find(name, sentence.own)), "")
