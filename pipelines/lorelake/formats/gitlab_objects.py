"""A project export's merge request, notes and commits as typed structs, and a note's identity."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from lorelake.formats.record import digest

MERGE_REQUEST, NOTE, COMMIT = "merge_request", "note", "commit"

Words = str | dict[str, Any] | None
"""A text field; an object where redaction put a blob's description in its place."""


class Named(msgspec.Struct):
    """A person by display name; e-mail where a commit states it."""

    name: str | None = None
    email: Any = None


class Metrics(msgspec.Struct):
    """When and by whom it was merged or last closed."""

    merged_at: str | None = None
    merged_by_id: int | None = None
    latest_closed_at: str | None = None
    latest_closed_by_id: int | None = None


class DiffFile(msgspec.Struct):
    """One file of the diff, its text reduced to the lines it touched."""

    new_path: str | None = None
    old_path: str | None = None
    hunks: list[list[int]] = []


class Diff(msgspec.Struct):
    """The newest version of the request's diff; older versions are not exported."""

    head_commit_sha: str | None = None
    merge_request_diff_files: list[DiffFile] = []


class Approval(msgspec.Struct):
    """An approval; exports of 2020 have none."""

    user_id: int | None = None
    created_at: str | None = None


class Happening(msgspec.Struct):
    """An entry of the request's own event list: created, merged, closed."""

    action: str | int | None = None
    author_id: int | None = None
    created_at: str | None = None


class MergeRequest(msgspec.Struct):
    """A request without its notes and commits."""

    iid: int
    title: Words = None
    description: Words = None
    state: str | None = None
    draft: bool | None = None
    author_id: int | None = None
    created_at: str | None = None
    updated_at: str | None = None
    source_branch: str | None = None
    target_branch: str | None = None
    metrics: Metrics | None = None
    merge_request_diff: Diff | None = None
    approvals: list[Approval] | None = None
    events: list[Happening] | None = None


class Suggestion(msgspec.Struct):
    """A change a note proposes word for word."""

    applied: bool | None = None


class NoteMetadata(msgspec.Struct):
    """What a system note is about."""

    action: str | None = None


class Note(msgspec.Struct):
    """A comment, a comment on a line of the diff, or a system note."""

    note: Words = None
    author_id: int | None = None
    author: Named | None = None
    created_at: str | None = None
    updated_at: str | None = None
    system: bool | None = None
    type: str | None = None
    discussion_id: str | None = None
    position: Any = None
    original_position: Any = None
    change_position: Any = None
    resolved_at: str | None = None
    resolved_by_id: int | None = None
    suggestions: list[Suggestion] | None = None
    system_note_metadata: NoteMetadata | None = None


class Commit(msgspec.Struct):
    """A commit of the diff. Until about 2021 the author stands in two plain fields, since then in an object."""

    sha: str | None = None
    message: Words = None
    author_name: str | None = None
    author_email: Any = None
    commit_author: Named | None = None


class Place(msgspec.Struct):
    """Where a note was put: `position` as the export writes it."""

    new_path: str | None = None
    old_path: str | None = None
    new_line: int | None = None
    old_line: int | None = None
    head_sha: str | None = None


Native = MergeRequest | Note | Commit
TYPES: dict[str, type[Native]] = {MERGE_REQUEST: MergeRequest, NOTE: Note, COMMIT: Commit}


def typed(kind: str, value: dict[str, Any]) -> Native:
    """The known fields of an object. Raises msgspec.ValidationError naming the field."""
    return msgspec.convert(value, TYPES[kind], strict=False)


def note_id(note: dict[str, Any]) -> str:
    """`note:<id>`; since 2023 exports state none, so the hash of what an edit or a resolution leaves as it is."""
    if note.get("id"):
        return f"note:{note['id']}"
    parts = [str(note.get(key)) for key in ("discussion_id", "author_id", "created_at", "type")]
    if note.get("system"):
        parts.append(str(note.get("note")))
    return f"note:{digest(*parts)[:32]}"


def place(position: Any) -> Place | None:
    """A position, which some exports hold as JSON text; None where there is none or it is unreadable."""
    if isinstance(position, str):
        try:
            position = json.loads(position)
        except ValueError:
            return None
    try:
        return msgspec.convert(position, Place, strict=False) if isinstance(position, dict) else None
    except msgspec.ValidationError:
        return None
