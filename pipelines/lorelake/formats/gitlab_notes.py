"""Which records are one note, which notes are one thread, and where a thread stands.

A project export since 2023 states no note ids, a plain REST list states no discussions. What all forms state is who
wrote a note and the millisecond in which it was written, so a note without id is the note with id of that author and
instant. Where several share both (a review imported from another host), discussion and words decide; a note that
still fits two is left on its own, seen twice rather than lost.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import msgspec

from lorelake.formats.gitlab_objects import Account, Native, Note, Place, Words, place
from lorelake.formats.merged_records import Merged, Version
from lorelake.formats.record import parse_time

_RESOLVABLE = frozenset({"DiffNote", "DiscussionNote", "LegacyDiffNote"})

_ACTIONS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (action, re.compile(pattern))
    for action, pattern in (
        ("approved", r"approved this merge request"), ("unapproved", r"unapproved this merge request"),
        ("merged", r"merged\b"), ("closed", r"closed\b"), ("opened", r"reopened\b"),
        ("commit", r"added \d+ commits?\b"),
        ("outdated", r"changed (?:this|these) lines? in\b"), ("discussion", r"resolved all threads"),
        ("reviewer", r"(?:requested|removed) review\b"), ("assignee", r"(?:assigned|unassigned)\b"),
        ("cross_reference", r"mentioned in\b"), ("title", r"changed title\b"),
        ("draft", r"(?:un)?marked (?:this merge request )?as (?:a )?\*\*"),
    )
)  # fmt: skip
"""The export's word for what a system note is about, found in the sentence that REST gives alone."""


class Thread(msgspec.Struct):
    """A discussion: its first note, and what its system notes say."""

    root: Merged[Native]
    note: Note
    is_outdated: bool = False


def text_of(words: Words) -> str:
    """The words of a text field; none where redaction left a blob's description."""
    return words if isinstance(words, str) else ""


def action_of(note: Note) -> str | None:
    """What a system note is about: stated by exports, told by its first words in REST."""
    if isinstance(note.action, str):
        return note.action
    words = text_of(note.text)
    return next((action for action, pattern in _ACTIONS if pattern.match(words)), None)


def same_notes(versions: list[Version[Any]]) -> dict[str, str]:
    """The record ids of notes without id, to the record id of the same note with one."""
    groups: dict[tuple[object, ...], dict[str, list[Note]]] = defaultdict(lambda: defaultdict(list))
    for version in versions:
        note = version.fields
        moment = parse_time(note.created_at) if isinstance(note, Note) else None
        if moment is not None:
            system = text_of(note.text) if note.system else None
            key = (_number(note.author), moment.replace(microsecond=moment.microsecond // 1000 * 1000), system)
            groups[key][version.record.id].append(note)
    found: dict[str, str] = {}
    for notes in groups.values():
        named = {record: forms for record, forms in notes.items() if any(isinstance(n.id, int) for n in forms)}
        found |= _paired({record: forms for record, forms in notes.items() if record not in named}, named)
    return found


def _paired(nameless: Mapping[str, list[Note]], named: Mapping[str, list[Note]]) -> dict[str, str]:
    fitting: dict[str, list[str]] = {}
    for record, forms in nameless.items():
        able = [other for other, theirs in named.items() if _may_be_one(forms, theirs)]
        if len(able) > 1 or len(nameless) > 1:
            able = [other for other in able if _discussions(forms) & _discussions(named[other])] or [
                other for other in able if _texts(forms) & _texts(named[other])
            ]
        fitting[record] = able
    taken = [able[0] for able in fitting.values() if len(able) == 1]
    return {record: able[0] for record, able in fitting.items() if len(able) == 1 and taken.count(able[0]) == 1}


def _may_be_one(left: list[Note], right: list[Note]) -> bool:
    ours, theirs = _discussions(left), _discussions(right)
    return not ours or not theirs or bool(ours & theirs)


def _discussions(notes: list[Note]) -> set[str]:
    return {note.discussion_id for note in notes if isinstance(note.discussion_id, str)}


def _texts(notes: list[Note]) -> set[str]:
    return {text_of(note.text) for note in notes}


def _number(author: object) -> int | None:
    return author.id if isinstance(author, Account) and not author.is_deleted else None


def threads(notes: list[tuple[Merged[Native], Note]]) -> dict[str, Thread]:
    """Discussion to its thread. The first note people wrote is its root; notes come in order of time."""
    found: dict[str, Thread] = {}
    outdated: set[str] = set()
    for item, note in notes:
        if not isinstance(note.discussion_id, str):
            continue
        if not note.system:
            found.setdefault(note.discussion_id, Thread(item, note))
        elif action_of(note) == "outdated":
            outdated.add(note.discussion_id)
    for discussion in outdated & found.keys():
        found[discussion].is_outdated = True
    return found


def is_resolvable(note: Note) -> bool:
    """Whether it can be settled: REST says so, exports by the kind of note."""
    return bool(note.resolvable) if isinstance(note.resolvable, bool) else note.type in _RESOLVABLE


def first_place(item: Merged[Native], note: Note) -> Place | None:
    """Where a note was written. REST tells only where it is now: then the place of the version met first."""
    stated = place(note.original_position)
    if stated is not None:
        return stated
    places = [place(one.fields.position) for one in item.versions if isinstance(one.fields, Note)]
    return next((one for one in reversed(places) if one is not None), None)


def changes_of_state(item: Merged[Native]) -> list[tuple[bool, str | None, Account | None]]:
    """Every time a note's thread was settled or opened again, as (settled, stated time, who), oldest first.

    A thread that was opened again keeps no trace of its own; two versions of its note tell, and the later one's update
    time is when.
    """
    found: list[tuple[bool, str | None, Account | None]] = []
    settled, last = False, ""
    for version in reversed(item.versions):
        note = version.fields
        if not isinstance(note, Note) or not isinstance(note.resolved, bool):
            continue
        when = note.resolved_at if isinstance(note.resolved_at, str) else None
        if note.resolved and (not settled or (when and last and parse_time(when) != parse_time(last))):
            found.append((True, when, note.resolved_by if isinstance(note.resolved_by, Account) else None))
            last = when or ""
        elif settled and not note.resolved:
            found.append((False, note.updated_at if isinstance(note.updated_at, str) else None, None))
        settled = note.resolved
    return found
