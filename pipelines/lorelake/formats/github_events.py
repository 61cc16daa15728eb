"""From the records of one pull request to events.

A record met in several versions gives one event: each field from the newest version that states it, the words from
the newest that has words. "Newest" is the stated update time, then the day it was first kept, then the content.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from lorelake.formats.bots import is_bot
from lorelake.formats.github_objects import (
    Comment,
    Commit,
    GitCommit,
    Link,
    Maybe,
    Native,
    Pull,
    Review,
    Thread,
    TimelineEvent,
    User,
    Words,
    typed,
)  # fmt: skip
from lorelake.formats.patches import changed_lines
from lorelake.formats.record import Event, Unit, UnitRecord, canonical, in_order, parse_time

GHOST = "ghost"
"""GitHub's own name for the author of what a deleted account wrote."""
_SILENT = frozenset({"subscribed", "unsubscribed", "mentioned"})
"""Timeline entries that only say who is notified."""


class Merged(msgspec.Struct):
    """All versions of one record, newest first, and the fields put together from them."""

    kind: str
    fields: Native
    versions: list[UnitRecord]
    words: list[str]
    """The words of each version, in the order of `versions`."""


def events(unit: Unit) -> list[Event]:
    """One event a comment, review, commit and timeline entry; opened, merged and closed from the pull itself."""
    merged = _merge(unit)
    threads = _threads(merged)
    closings = [item.fields for item in merged.values() if isinstance(item.fields, TimelineEvent)]
    found: list[Event] = []
    for item in merged.values():
        fields = item.fields
        if isinstance(fields, Pull):
            found += _pull(item, fields, closings)
        elif isinstance(fields, Comment):
            found.append(_comment(item, fields, threads))
        elif isinstance(fields, Review):
            found += _review(item, fields)
        elif isinstance(fields, Commit):
            found.append(_commit(item, fields))
        elif isinstance(fields, TimelineEvent):
            found += _timeline(item, fields, closings)
        elif isinstance(fields, Link):
            found.append(_link(item, fields))
    return found


def branch(unit: Unit) -> str | None:
    """The source branch, from the newest version that states it."""
    for item in _merge(unit).values():
        if isinstance(item.fields, Pull) and item.fields.head:
            return item.fields.head.ref
    return None


def _merge(unit: Unit) -> dict[str, Merged]:
    versions: dict[str, list[tuple[tuple[str, str, str], UnitRecord, Native]]] = defaultdict(list)
    for record in in_order(unit.records):
        try:
            fields = typed(record.type, record.value)
        except (msgspec.ValidationError, KeyError):  # only a redaction that changed a field's type can do this
            continue
        updated = getattr(fields, "updated_at", UNSET)
        newness = (updated or "", record.first_kept, canonical(record.value))
        versions[record.id].append((newness, record, fields))
    merged: dict[str, Merged] = {}
    for record_id, found in versions.items():
        found.sort(key=lambda version: version[0], reverse=True)
        fields = found[0][2]
        for name in fields.__struct_fields__:
            stated = [getattr(one, name, UNSET) for _, _, one in found]
            setattr(fields, name, next((value for value in stated if value is not UNSET), UNSET))
        records = [record for _, record, _ in found]
        merged[record_id] = Merged(records[0].type, fields, records, [_words(one) for _, _, one in found])
    return merged


def _words(fields: Native) -> str:
    if isinstance(fields, Pull):
        return "\n\n".join(part for part in (_text(fields.title), _text(fields.body)) if part)
    if isinstance(fields, Comment | Review):
        return _text(fields.body)
    if isinstance(fields, Commit):
        inner = fields.commit.message if isinstance(fields.commit, GitCommit) else fields.message
        parts = (_text(inner), _text(fields.message_headline), _text(fields.message_body))
        return "\n\n".join(part for part in parts if part)
    return ""


def _text(words: Words) -> str:
    return words if isinstance(words, str) else ""


def _speaker(user: Maybe[User]) -> tuple[str, str]:
    """(alias, actor class). A deleted account is a person; where no author is stated nobody speaks."""
    if isinstance(user, UnsetType):
        return "", "system"
    if user is None:
        return GHOST, "human"
    alias = user.login or (user.email if isinstance(user.email, str) else None) or user.name or GHOST
    return alias, "bot" if user.is_bot or user.type == "Bot" or is_bot(alias) else "human"


def _event(item: Merged, kind: str, speaker: tuple[str, str], part: str = "", **more: Any) -> Event:
    """An event of the merged record; kept since the first version that already had these words."""
    text = _words(item.fields) if more.get("text") is None else more["text"]
    same = [record for record, words in zip(item.versions, item.words, strict=True) if words == item.words[0]]
    first = min(same, key=lambda record: (record.first_kept, record.source_uri))
    more["text"] = text
    more["ts"] = more.get("ts") or item.versions[0].ts
    more["attributes"] = {
        name: value for name, value in more.get("attributes", {}).items() if value not in (None, UNSET, [], {})
    }
    return Event(
        record_id=first.id, part=part, actor_alias=speaker[0], actor_class=speaker[1], kind=kind,
        source_uri=first.source_uri, first_kept=first.first_kept, **more,
    )  # fmt: skip


def _set(value: Any) -> Any:
    return None if value is UNSET else value


def _pull(item: Merged, fields: Pull, closings: list[TimelineEvent]) -> Iterator[Event]:
    speaker = _speaker(fields.user)
    about: dict[str, Any] = {
        "state": fields.state, "draft": fields.draft, "author_association": fields.author_association,
        "base_branch": fields.base.ref if fields.base else None, "head": fields.head.sha if fields.head else None,
    }  # fmt: skip
    opened = parse_time(_set(fields.created_at))
    if opened is None:  # a view that says it exists, not when it was opened
        yield _event(item, "merge_request_link", speaker, "opened", attributes=about)
        return
    yield _event(item, "merge_request_opened", speaker, "opened", ts=opened, attributes=about)
    merged, closed = parse_time(_set(fields.merged_at)), parse_time(_set(fields.closed_at))
    if merged:
        by = fields.merged_by or _who(closings, "merged")
        yield _event(item, "merge_request_merged", _speaker(by or UNSET), "merged", ts=merged, text="")
    elif closed and not any(entry.event == "closed" for entry in closings):
        yield _event(item, "merge_request_closed", _speaker(fields.closed_by or UNSET), "closed", ts=closed, text="")


def _who(closings: list[TimelineEvent], event: str) -> Maybe[User]:
    return next((entry.actor for entry in closings if entry.event == event), UNSET)


def _timeline(item: Merged, fields: TimelineEvent, closings: list[TimelineEvent]) -> Iterator[Event]:
    """`merged` is told by the pull; a `closed` at the moment of a merge is part of it."""
    if fields.event in _SILENT or fields.event == "merged":
        return
    about = {"action": fields.event, "rename": fields.rename, "commit": fields.commit_id}
    if fields.event != "closed":
        actor = _speaker(fields.actor)[0]
        yield _event(item, "system_note", (actor, "system"), text="", attributes=about)
    elif not any(entry.event == "merged" and entry.created_at == fields.created_at for entry in closings):
        yield _event(item, "merge_request_closed", _speaker(fields.actor), text="", attributes=about)


def _comment(item: Merged, fields: Comment, threads: dict[str, Thread]) -> Event:
    speaker = _speaker(fields.user)
    app = fields.performed_via_github_app
    slug = str(app["slug"]) if isinstance(app, dict) and app.get("slug") else None
    if slug and is_bot(slug):
        speaker = (speaker[0], "bot")
    thread = threads.get(item.versions[0].id)
    about: dict[str, Any] = {
        "author_association": fields.author_association, "via_app": slug, "reactions": _reactions(fields.reactions),
    }  # fmt: skip
    if item.kind != "review_comment":
        return _event(item, "comment", speaker, attributes=about)
    answered = _set(fields.in_reply_to_id)
    outdated = _outdated(fields)
    about |= {
        "outdated": outdated if thread is None or isinstance(thread.is_outdated, UnsetType) else thread.is_outdated,
        "suggestion": "```suggestion" in _text(fields.body),
        "side": fields.side, "start_line": fields.original_start_line,
        "line_now": fields.line, "revision_now": fields.commit_id,
        "review": f"review:{fields.pull_request_review_id}" if _set(fields.pull_request_review_id) else None,
    }  # fmt: skip
    if thread is not None:
        about["resolved"] = _set(thread.is_resolved)
        about["resolved_by"] = thread.resolved_by.login if isinstance(thread.resolved_by, User) else None
    return _event(
        item, "review_comment", speaker, attributes=about, path=_set(fields.path),
        line=_set(fields.original_line) or _set(fields.line),
        revision=_set(fields.original_commit_id) or _set(fields.commit_id),
        reply_to=f"review_comment:{answered}" if answered else None,
    )  # fmt: skip


def _outdated(fields: Comment) -> bool | None:
    """Whether the commented line is gone: REST then states no `line`, older copies no `position`. None: not stated."""
    if fields.subject_type == "file":
        return None
    place = fields.line if fields.line is not UNSET else fields.position
    return None if place is UNSET else place is None


def _threads(merged: dict[str, Merged]) -> dict[str, Thread]:
    """Review comment to the thread it stands in, where GraphQL told."""
    return {
        f"review_comment:{number}": item.fields
        for item in merged.values()
        if isinstance(item.fields, Thread) and not isinstance(item.fields.comment_ids, UnsetType)
        for number in item.fields.comment_ids
    }


def _reactions(stated: Any) -> dict[str, int]:
    if not isinstance(stated, dict):
        return {}
    counted: Callable[[Any], bool] = lambda n: isinstance(n, int) and not isinstance(n, bool) and n > 0  # noqa: E731
    return {name: count for name, count in sorted(stated.items()) if counted(count) and name != "total_count"}


def _review(item: Merged, fields: Review) -> Iterator[Event]:
    """A pending review is not said yet."""
    if fields.state.upper() == "PENDING":
        return
    about = {"state": fields.state.upper(), "author_association": fields.author_association}
    yield _event(item, "review", _speaker(fields.user), attributes=about, revision=_set(fields.commit_id))


def _commit(item: Merged, fields: Commit) -> Event:
    inner = fields.commit.author if isinstance(fields.commit, GitCommit) else None
    listed = fields.authors[0] if isinstance(fields.authors, list) and fields.authors else None
    about = {"files": [{"path": path, "hunks": hunks} for path, hunks in _files(fields.files)]}
    revision = item.versions[0].id.removeprefix("commit:")
    return _event(
        item, "commit", _speaker(_set(fields.user) or listed or inner or UNSET), revision=revision, attributes=about
    )


def _files(stated: Any) -> Iterator[tuple[str, list[list[int]]]]:
    for file in stated if isinstance(stated, list) else ():
        if isinstance(file, dict) and isinstance(file.get("filename") or file.get("path"), str):
            patch = file.get("patch")
            yield file.get("filename") or file["path"], changed_lines(patch) if isinstance(patch, str) else []


def _link(item: Merged, fields: Link) -> Event:
    return _event(
        item, "merge_request_link", ("", "system"), text=_set(fields.pr_url) or "",
        attributes={"session_id": fields.session_id},
    )  # fmt: skip
