"""GitLab's merge requests, notes and commits as typed structs, whichever form they come in.

Two dialects are met. A project export names people by number (`author_id`) beside a display name and writes `note`,
`sha` and `merge_request_diff`; REST nests accounts (`author.username`) and writes `body`, `id` and `diff_refs`. Both
are read into the same structs. A field that a form does not have is UNSET, which is not the same as null.
"""

from __future__ import annotations

import json
from typing import Any, TypeVar, Union

import msgspec
from msgspec import UNSET, UnsetType

from lorelake.formats.record import digest

T = TypeVar("T")
Maybe = Union[T, UnsetType, None]  # noqa: UP007  (`T | …` is no alias to mypy)
"""A field that may be stated, stated to be none, or (UNSET) not stated by this form."""
Words = str | dict[str, Any] | UnsetType | None
"""A text field. An object where redaction put a blob's description in its place; UNSET where not stated."""

MERGE_REQUEST, NOTE, COMMIT, STATE_EVENT, DIFFS = "merge_request", "note", "commit", "state_event", "diffs"


class Account(msgspec.Struct):
    """A person or program: number and display name in an export, username as well in REST, e-mail in a commit."""

    id: int | None = None
    username: str | None = None
    name: str | None = None
    email: Any = None

    @property
    def is_deleted(self) -> bool:
        """The account that stands for those that were deleted; it has a number of its own on every instance."""
        return self.username == "ghost" or (self.username is None and self.name == "Ghost User")


class DiffFile(msgspec.Struct):
    """One file of a diff, its text reduced to the lines it touched."""

    new_path: str | None = None
    old_path: str | None = None
    hunks: list[list[int]] = []


class Approval(msgspec.Struct):
    """Who approves it now; exports tell when, of REST only newer hosts."""

    user: Account
    at: str | None = None


class Happening(msgspec.Struct):
    """An entry of the export's own event list: created, merged, closed."""

    action: str | int | None = None
    author_id: int | None = None
    created_at: str | None = None


class MergeRequest(msgspec.Struct):
    """A request without its notes and commits. REST's answer about approvals is one that states little else."""

    iid: Maybe[int] = UNSET
    title: Words = UNSET
    description: Words = UNSET
    state: Maybe[str] = UNSET
    draft: Maybe[bool] = UNSET
    author: Maybe[Account] = UNSET
    created_at: Maybe[str] = UNSET
    updated_at: Maybe[str] = UNSET
    source_branch: Maybe[str] = UNSET
    target_branch: Maybe[str] = UNSET
    merged_at: Maybe[str] = UNSET
    merged_by: Maybe[Account] = UNSET
    closed_at: Maybe[str] = UNSET
    closed_by: Maybe[Account] = UNSET
    merge_commit_sha: Maybe[str] = UNSET
    head: Maybe[str] = UNSET
    files: Maybe[list[DiffFile]] = UNSET
    approvals: Maybe[list[Approval]] = UNSET
    happenings: Maybe[list[Happening]] = UNSET
    web_url: Maybe[str] = UNSET
    project_path: Maybe[str] = UNSET
    award_emoji: Any = UNSET


class Suggestion(msgspec.Struct):
    """A change a note proposes word for word."""

    applied: bool | None = None
    to_content: Any = None


class Note(msgspec.Struct):
    """A comment, a comment on a line of the diff, or a system note."""

    id: Maybe[int] = UNSET
    text: Words = UNSET
    author: Maybe[Account] = UNSET
    created_at: Maybe[str] = UNSET
    updated_at: Maybe[str] = UNSET
    system: Maybe[bool] = UNSET
    type: Maybe[str] = UNSET
    discussion_id: Maybe[str] = UNSET
    position: Any = UNSET
    original_position: Any = UNSET
    change_position: Any = UNSET
    resolvable: Maybe[bool] = UNSET
    resolved: Maybe[bool] = UNSET
    resolved_at: Maybe[str] = UNSET
    resolved_by: Maybe[Account] = UNSET
    suggestions: Maybe[list[Suggestion]] = UNSET
    action: Maybe[str] = UNSET
    award_emoji: Any = UNSET


class Commit(msgspec.Struct):
    """A commit of the request. Until about 2021 an export's author stands in two plain fields, then in an object."""

    message: Words = UNSET
    author: Maybe[Account] = UNSET
    files: Maybe[list[DiffFile]] = UNSET


class StateEvent(msgspec.Struct):
    """REST: who closed, reopened or merged it, and when."""

    state: Maybe[str] = UNSET
    user: Maybe[Account] = UNSET
    created_at: Maybe[str] = UNSET


class Diffs(msgspec.Struct):
    """REST: the files of the whole request, as they were when it was asked."""

    files: list[DiffFile] = []


class Place(msgspec.Struct):
    """Where a note was put: `position` of either form."""

    new_path: str | None = None
    old_path: str | None = None
    new_line: int | None = None
    old_line: int | None = None
    head_sha: str | None = None


Native = MergeRequest | Note | Commit | StateEvent | Diffs
TYPES: dict[str, type[Native]] = {
    MERGE_REQUEST: MergeRequest, NOTE: Note, COMMIT: Commit, STATE_EVENT: StateEvent, DIFFS: Diffs,
}  # fmt: skip


def typed(kind: str, value: dict[str, Any]) -> Native:
    """The known fields of an object. Raises msgspec.ValidationError naming the field, KeyError for another kind."""
    struct = TYPES[kind]
    fields = dict(value)
    if kind == MERGE_REQUEST:
        fields = _request(fields)
    elif kind == NOTE:
        fields = _note(fields)
    elif kind == COMMIT:
        fields = _commit(fields)
    stated = {name: field for name, field in fields.items() if field is not UNSET}
    return msgspec.convert(stated, struct, strict=False)


def _account(value: dict[str, Any], name: str, number: str) -> Any:
    """An account from REST's object, or from the export's number with the object that holds the display name."""
    stated, numbered = value.get(name, UNSET), value.get(number, UNSET)
    if isinstance(stated, dict):
        return stated if "id" in stated or numbered is UNSET else {**stated, "id": numbered}
    if numbered is UNSET:
        return stated
    return None if numbered is None else {"id": numbered}


def _request(value: dict[str, Any]) -> dict[str, Any]:
    metrics, diff, refs = (_object(value, name) for name in ("metrics", "merge_request_diff", "diff_refs"))
    found = {name: value[name] for name in MergeRequest.__struct_fields__ if name in value}
    found["author"] = _account(value, "author", "author_id")
    found["draft"] = value.get("draft", value.get("work_in_progress", UNSET))
    found["merged_at"] = value.get("merged_at", metrics.get("merged_at", UNSET))
    found["closed_at"] = value.get("closed_at", metrics.get("latest_closed_at", UNSET))
    found["merged_by"] = _account({"by": value.get("merge_user") or value.get("merged_by", UNSET), **metrics}, "by",
                                  "merged_by_id")  # fmt: skip
    found["closed_by"] = _account({"by": value.get("closed_by", UNSET), **metrics}, "by", "latest_closed_by_id")
    found["head"] = value.get("sha") or refs.get("head_sha") or diff.get("head_commit_sha", UNSET)
    found["files"] = value.get("changes", diff.get("merge_request_diff_files", UNSET))
    found["happenings"] = value.get("events", UNSET)
    found["approvals"] = UNSET
    if isinstance(value.get("approved_by"), list):
        found["approvals"] = [
            {"user": one.get("user"), "at": one.get("approved_at")} for one in value["approved_by"] if _is_object(one)
        ]
    elif isinstance(value.get("approvals"), list):
        found["approvals"] = [
            {"user": {"id": one.get("user_id")}, "at": one.get("created_at")}
            for one in value["approvals"]
            if _is_object(one)
        ]
    return found


def _note(value: dict[str, Any]) -> dict[str, Any]:
    found = {name: value[name] for name in Note.__struct_fields__ if name in value}
    found["text"] = value.get("note", value.get("body", UNSET))
    found["author"] = _account(value, "author", "author_id")
    found["resolved_by"] = _account(value, "resolved_by", "resolved_by_id")
    if "resolved" not in value and "resolved_at" in value:
        found["resolved"] = value["resolved_at"] is not None
    if found.get("resolved") is False:  # else an older version's time and person would show through
        found["resolved_at"] = found["resolved_by"] = None
    metadata = _object(value, "system_note_metadata")
    found["action"] = metadata.get("action", UNSET)
    return found


def _commit(value: dict[str, Any]) -> dict[str, Any]:
    named = value.get("commit_author")
    author = {"name": value.get("author_name"), "email": value.get("author_email")}
    found = {name: value[name] for name in ("message", "files") if name in value}
    return {**found, "author": named if _is_object(named) else author}


def _object(value: dict[str, Any], name: str) -> dict[str, Any]:
    inner = value.get(name)
    return inner if isinstance(inner, dict) else {}


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def note_id(note: dict[str, Any]) -> str:
    """`note:<id>`; exports since 2023 state none: then the hash of what an edit, a reply or a resolution leaves alone.

    `type` is no part of it: a plain comment becomes a `DiscussionNote` with the first reply to it.
    """
    if note.get("id"):
        return f"note:{note['id']}"
    author = note.get("author_id") or _object(note, "author").get("id")
    parts = [str(part) for part in (note.get("discussion_id"), author, note.get("created_at"))]
    if note.get("system"):
        parts.append(str(note.get("note", note.get("body"))))
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
