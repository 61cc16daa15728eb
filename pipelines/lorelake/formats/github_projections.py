"""Objects whose number a projection left out: `--jq '.[] | {user, body}'`, `latestReviews` of `gh`.

Their record id is the hash of what is left, so one comment met whole and in a projection has two. It is one where
author and time fit and the words are the same. Edited words are told by author and time alone, but not on lines of
the diff: all remarks of one review are made in the same second.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from msgspec import UNSET

from lorelake.formats.github_objects import Comment, Native, Review, User
from lorelake.formats.merged_records import Version
from lorelake.formats.record import parse_time

_NUMBERED = ("review", "comment", "review_comment")


def same_objects(versions: list[Version[Native]]) -> dict[str, str]:
    """The record ids of objects without a number, to the record id of the same object with one."""
    named: dict[str, list[Version[Native]]] = defaultdict(list)
    nameless: dict[str, Version[Native]] = {}
    for version in versions:
        kind, _, native = version.record.id.partition(":")
        if kind not in _NUMBERED:
            continue
        if native.isdigit():
            named[kind].append(version)
        elif version.record.id not in nameless:
            nameless[version.record.id] = version
    found = {}
    for record_id, version in nameless.items():
        kind = record_id.partition(":")[0]
        others = [nameless[other] for other in sorted(nameless) if other < record_id and other.startswith(f"{kind}:")]
        fitting = _fitting(version, named[kind]) or _fitting(version, others)
        if len(fitting) == 1:
            found[record_id] = fitting.pop()
    return {record_id: found.get(other, other) for record_id, other in found.items()}


def _fitting(version: Version[Native], others: Iterable[Version[Native]]) -> set[str]:
    author, moment, words = _marks(version.fields)
    on_line = version.record.type == "review_comment"
    same, near = set(), set()
    for other in others:
        theirs = _marks(other.fields)
        if _agree(author, theirs[0]) and _agree(moment, theirs[1]):
            if words == theirs[2] and words:
                same.add(other.record.id)
            elif author and moment and theirs[:2] == (author, moment) and not on_line:
                near.add(other.record.id)
    return same or near


def _marks(fields: Any) -> tuple[str | None, object, object]:
    """(login, time, words), each None where not stated."""
    if not isinstance(fields, Comment | Review):
        return None, None, None
    login = fields.user.login if isinstance(fields.user, User) else None
    stated = fields.created_at if isinstance(fields, Comment) else fields.submitted_at
    plain = login.lower().removesuffix("[bot]").removeprefix("app/") if login else None
    return plain, parse_time(stated), fields.body if fields.body is not UNSET else None


def _agree(left: object, right: object) -> bool:
    return left is None or right is None or left == right
