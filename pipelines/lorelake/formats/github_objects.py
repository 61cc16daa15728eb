"""GitHub's JSON objects as typed structs, told apart by their keys.

Two dialects are met: REST (snake_case, `user`, numeric ids) and `gh --json` or GraphQL (camelCase, `author`, node
ids). Both are read into the same structs. A node id carries the numeric id, so that one review fetched both ways is
one record: checked on every object of the sample data that states both.
"""

from __future__ import annotations

import base64
import re
from typing import Any, TypeVar, Union

import msgspec
from msgspec import UNSET, UnsetType

T = TypeVar("T")
Maybe = Union[T, UnsetType, None]  # noqa: UP007  (`T | …` is no alias to mypy)
"""A field that may be stated, stated to be none, or (UNSET) not stated by this projection."""
Words = str | dict[str, Any] | UnsetType | None
"""A text field. An object where redaction put a blob's description in its place; UNSET where not stated."""


class User(msgspec.Struct):
    """`user`, `author` or `actor`; a commit's author has name and e-mail instead of a login."""

    login: str | None = None
    id: Any = None
    type: str | None = None
    is_bot: bool | None = None
    name: str | None = None
    email: Any = None


class Head(msgspec.Struct):
    """One end of a pull request."""

    ref: str | None = None
    sha: str | None = None


class Pull(msgspec.Struct):
    """A pull request: REST object, issue object with `pull_request`, or any projection by `gh pr view`."""

    number: int
    title: Words = UNSET
    body: Words = UNSET
    state: Maybe[str] = UNSET
    user: Maybe[User] = UNSET
    created_at: Maybe[str] = UNSET
    updated_at: Maybe[str] = UNSET
    merged_at: Maybe[str] = UNSET
    closed_at: Maybe[str] = UNSET
    merged_by: Maybe[User] = UNSET
    closed_by: Maybe[User] = UNSET
    merge_commit_sha: Maybe[str] = UNSET
    draft: Maybe[bool] = UNSET
    head: Maybe[Head] = UNSET
    base: Maybe[Head] = UNSET
    author_association: Maybe[str] = UNSET
    reactions: Any = UNSET
    files: Any = UNSET


class Comment(msgspec.Struct):
    """A comment of the conversation, or on a line of the diff."""

    body: Words = UNSET
    user: Maybe[User] = UNSET
    created_at: Maybe[str] = UNSET
    updated_at: Maybe[str] = UNSET
    path: Maybe[str] = UNSET
    line: Maybe[int] = UNSET
    position: Maybe[int] = UNSET
    outdated: Maybe[bool] = UNSET
    original_line: Maybe[int] = UNSET
    original_start_line: Maybe[int] = UNSET
    commit_id: Maybe[str] = UNSET
    original_commit_id: Maybe[str] = UNSET
    in_reply_to_id: Maybe[int | str] = UNSET
    pull_request_review_id: Maybe[int | str] = UNSET
    side: Maybe[str] = UNSET
    subject_type: Maybe[str] = UNSET
    author_association: Maybe[str] = UNSET
    performed_via_github_app: Maybe[dict[str, Any]] = UNSET
    reactions: Any = UNSET
    minimized_reason: Maybe[str] = UNSET


class Review(msgspec.Struct):
    """A verdict with words, or without."""

    state: str
    body: Words = UNSET
    user: Maybe[User] = UNSET
    submitted_at: Maybe[str] = UNSET
    updated_at: Maybe[str] = UNSET
    commit_id: Maybe[str] = UNSET
    author_association: Maybe[str] = UNSET


class GitCommit(msgspec.Struct):
    """The `commit` object inside a REST commit; the whole of a timeline's `committed`."""

    message: Words = UNSET
    author: User | None = None


class Commit(msgspec.Struct):
    """A commit of the request."""

    commit: Maybe[GitCommit] = UNSET
    message: Words = UNSET
    message_headline: Words = UNSET
    message_body: Words = UNSET
    user: Maybe[User] = UNSET
    authors: Maybe[list[User]] = UNSET
    files: Any = UNSET


class TimelineEvent(msgspec.Struct):
    """Anything else the timeline shows: merged, closed, renamed, labeled, head_ref_force_pushed …"""

    event: str
    actor: Maybe[User] = UNSET
    created_at: Maybe[str] = UNSET
    commit_id: Maybe[str] = UNSET
    before_commit: Maybe[str] = UNSET
    rename: Any = UNSET


class Thread(msgspec.Struct):
    """A review thread of GraphQL: the only place that tells whether it is resolved, and by whom, but not when.

    `request_updated_at` is when its request last changed before this was told, which puts two versions in order.
    """

    is_resolved: Maybe[bool] = UNSET
    is_outdated: Maybe[bool] = UNSET
    resolved_by: Maybe[User] = UNSET
    comment_ids: list[str] | UnsetType = UNSET
    request_updated_at: Maybe[str] = UNSET


class Files(msgspec.Struct):
    """The files of the whole request, each with the ranges of lines it changed."""

    files: Any = UNSET


class Link(msgspec.Struct):
    """A transcript's `pr-link` record: which session opened which request."""

    pr_url: Maybe[str] = UNSET
    session_id: Maybe[str] = UNSET


Native = Pull | Comment | Review | Commit | TimelineEvent | Thread | Files | Link
TYPES: dict[str, type[Native]] = {
    "pull": Pull, "comment": Comment, "review_comment": Comment, "review": Review, "commit": Commit,
    "timeline": TimelineEvent, "review_thread": Thread, "files": Files, "pr_link": Link,
}  # fmt: skip

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_RENAMED = {
    "author": "user",
    "is_draft": "draft",
    "reply_to": "in_reply_to_id",
    "original_commit": "original_commit_id",
    "merge_commit": "merge_commit_sha",
    "after_commit": "commit_id",
    "pull_request_review": "pull_request_review_id",
    "reaction_groups": "reactions",
}
_PEOPLE = ("user", "merged_by", "closed_by", "resolved_by", "actor")
_NUMBERS = ("in_reply_to_id", "pull_request_review_id")
_SHAS = ("original_commit_id", "merge_commit_sha", "commit_id", "before_commit")
_GRAPH_EVENT = re.compile(r"(\w+)Event")
_EVENT_NAMES = {"renamed_title": "renamed", "cross_referenced": "cross-referenced"}
"""GraphQL's names of timeline entries, where taking `Event` away does not give REST's."""


def kind_of(value: dict[str, Any]) -> str | None:
    """Which of `TYPES` an object is; None for none."""
    keys = value.keys()
    if _GRAPH_EVENT.fullmatch(str(value.get("__typename"))):
        return "timeline"
    if "event" in keys and ("actor" in keys or "node_id" in keys or "created_at" in keys):
        known = {"commented": "comment", "reviewed": "review", "committed": "commit"}
        return known.get(str(value["event"]), "timeline")
    if keys == {"files"}:
        return "files"
    if "prNumber" in keys and ("prUrl" in keys or "prRepository" in keys):
        return "pr_link"
    if "isResolved" in keys and "comments" in keys:
        return "review_thread"
    if "diff_hunk" in keys or "diffHunk" in keys or ("path" in keys and "pull_request_url" in keys):
        return "review_comment"
    if "state" in keys and {"submitted_at", "submittedAt"} & keys:
        return "review"
    if ("sha" in keys and "commit" in keys) or ("oid" in keys and {"messageHeadline", "message"} & keys):
        return "commit"
    if "number" in keys:
        return "pull"
    if "state" in keys and "pull_request_url" in keys:
        return "review"
    if "body" in keys and ("issue_url" in keys or "createdAt" in keys):
        return "comment"
    return None


def typed(kind: str, value: dict[str, Any]) -> Native:
    """The object's known fields, whichever dialect it is in. Raises msgspec.ValidationError naming the field."""
    fields = {snake(name): field for name, field in value.items()}
    for old, new in _RENAMED.items():
        if old in fields and new not in fields:
            fields[new] = fields[old]
    for name in _PEOPLE:
        fields[name] = _person(fields[name]) if name in fields else UNSET
    for name in _NUMBERS:
        if isinstance(fields.get(name), dict):
            fields[name] = number_of(fields[name])
    if kind in ("review", "review_comment", "timeline") and isinstance(fields.get("commit"), dict):
        fields.setdefault("commit_id", fields["commit"])
    for name in _SHAS:
        if isinstance(fields.get(name), dict):
            fields[name] = fields[name].get("oid")
    _own_shape(kind, value, fields)
    stated = {name: field for name, field in fields.items() if field is not UNSET}
    return msgspec.convert(stated, TYPES[kind], strict=False)


def _own_shape(kind: str, value: dict[str, Any], fields: dict[str, Any]) -> None:
    """What only one kind of object writes in a way of its own."""
    if kind == "pull":
        for end in ("head", "base"):
            if f"{end}_ref_name" in fields:
                fields[end] = {"ref": fields[f"{end}_ref_name"], "sha": fields.get(f"{end}_ref_oid")}
    elif kind == "timeline" and "event" not in fields:
        named = _GRAPH_EVENT.fullmatch(str(value.get("__typename")))
        plain = snake(named[1]) if named else ""
        fields["event"] = _EVENT_NAMES.get(plain, plain)
    elif kind == "commit" and isinstance(value.get("commit"), dict):
        # GitHub could match the e-mail to an account only where `author` holds a login; null is no deleted user.
        fields["user"] = fields["user"] or UNSET


def snake(name: str) -> str:
    """`createdAt` as `created_at`."""
    return _CAMEL.sub("_", name).lower()


def _person(value: Any) -> Any:
    """An account; a projection by jq leaves its login alone, GraphQL tells programs by type and leaves out `[bot]`."""
    if isinstance(value, str):
        return {"login": value}
    if isinstance(value, dict) and "__typename" in value:
        return {"type": value["__typename"], **value}
    return value


def number_of(value: dict[str, Any]) -> str | None:
    """The numeric id as text, from `id`, `databaseId` or inside a node id; else the node id as it stands."""
    for name in ("databaseId", "fullDatabaseId", "id", "node_id"):
        stated = value.get(name)
        if isinstance(stated, int) and not isinstance(stated, bool):
            return str(stated)
        if isinstance(stated, str) and stated:
            return stated if stated.isdigit() else _number_in(stated)
    return None


def _number_in(node: str) -> str:
    """`PRR_kwDO…` is msgpack [0, repository, …, id]; the older form is `012:PullRequest123`; both in base 64."""
    prefix, _, rest = node.partition("_")
    text = rest if rest and prefix.isupper() else node
    try:
        raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        older = re.search(rb":[A-Za-z]+(\d+)$", raw)
        parts = [int(older[1])] if older else msgspec.msgpack.decode(raw)
    except (ValueError, msgspec.DecodeError):
        return node
    return str(parts[-1]) if isinstance(parts, list) and parts and isinstance(parts[-1], int) else node
