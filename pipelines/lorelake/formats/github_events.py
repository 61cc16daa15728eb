"""From the records of one pull request to events.

A record met in several versions gives one event (`merged_records`). A thread's settling and opening again are events
of their own: GitHub tells who settled it and not when, so the time is that of the capture that first told it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import UNSET, UnsetType

from lorelake.formats.bots import is_bot
from lorelake.formats.github_objects import (
    Comment,
    Commit,
    Files,
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
from lorelake.formats.github_projections import same_objects
from lorelake.formats.merged_records import Merged, merge
from lorelake.formats.patches import changed_lines
from lorelake.formats.record import Event, Unit, UnitRecord, parse_time
from lorelake.formats.suggestions import suggested

GHOST = "ghost"
"""GitHub's own name for the author of what a deleted account wrote."""
_SILENT = frozenset({"subscribed", "unsubscribed", "mentioned"})
"""Timeline entries that only say who is notified."""


def events(unit: Unit) -> list[Event]:
    """One event a comment, review, commit and timeline entry; opened, merged and closed from the pull itself."""
    merged = merged_of(unit)
    threads = _threads(merged)
    closings = [item.fields for item in merged if isinstance(item.fields, TimelineEvent)]
    files = [path for item in merged if isinstance(item.fields, Files) for path in _files(item.fields.files)]
    commits = sum(isinstance(item.fields, Commit) for item in merged)
    found: list[Event] = []
    for item in merged:
        fields = item.fields
        if isinstance(fields, Pull):
            found += _pull(item, fields, closings, files or list(_files(fields.files)))
        elif isinstance(fields, Comment):
            found.append(_comment(item, fields, threads))
            if threads.get(item.id, (None, ""))[1] == item.id:
                found += _settled(item, threads[item.id][0])
        elif isinstance(fields, Review):
            found += _review(item, fields)
        elif isinstance(fields, Commit):
            # The host tells the diff of the whole request; of one commit it is that commit's own.
            found.append(_commit(item, fields, files if commits == 1 else []))
        elif isinstance(fields, TimelineEvent):
            found += _timeline(item, fields, closings)
        elif isinstance(fields, Link):
            found.append(_link(item, fields))
    return found


def merged_of(unit: Unit) -> list[Merged[Native]]:
    """Every record of the unit, its versions put together."""
    return merge(unit.records, typed, _updated, same_objects)


def _updated(fields: Native, record: UnitRecord) -> object:
    """A thread has no time of its own: that of its request, else the day on which it was first kept."""
    if isinstance(fields, Thread):
        return _set(fields.request_updated_at) or f"{record.first_kept}T00:00:00Z"
    return getattr(fields, "updated_at", UNSET)


def branch(unit: Unit) -> str | None:
    """The source branch, from the newest version that states it."""
    for item in merged_of(unit):
        if isinstance(item.fields, Pull) and item.fields.head:
            return item.fields.head.ref
    return None


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
    """(alias, actor class). A deleted account is a person; where no author is stated nobody speaks.

    A program's login is written `x[bot]` by REST, `x` with a type by GraphQL and `app/x` by `gh`: one alias for it.
    """
    if isinstance(user, UnsetType):
        return "", "system"
    if user is None:
        return GHOST, "human"
    alias = user.login or (user.email if isinstance(user.email, str) else None) or user.name or GHOST
    machine = user.is_bot or user.type == "Bot" or is_bot(alias)
    if alias.startswith("app/") or (user.type == "Bot" and user.id is None and not alias.endswith("[bot]")):
        alias, machine = f"{alias.removeprefix('app/')}[bot]", True
    return alias, "bot" if machine else "human"


def _event(item: Merged[Native], kind: str, speaker: tuple[str, str], part: str = "", **more: Any) -> Event:
    """An event of the merged record; kept since the first version that already had these words."""
    words = _words(item.fields)
    first = item.first_with(words, _words)
    more.setdefault("text", words)
    more["ts"] = more.get("ts") or item.newest.ts
    more["attributes"] = {
        name: value for name, value in more.get("attributes", {}).items() if value not in (None, UNSET, [], {})
    }
    return Event(
        record_id=item.id, part=part, actor_alias=speaker[0], actor_class=speaker[1], kind=kind,
        source_uri=first.source_uri, first_kept=first.first_kept, **more,
    )  # fmt: skip


def _set(value: Any) -> Any:
    return None if value is UNSET else value


def _pull(
    item: Merged[Native], fields: Pull, closings: list[TimelineEvent], files: list[tuple[str, list[list[int]]]]
) -> Iterator[Event]:
    speaker = _speaker(fields.user)
    about: dict[str, Any] = {
        "state": fields.state, "draft": fields.draft, "author_association": fields.author_association,
        "base_branch": fields.base.ref if fields.base else None, "head": fields.head.sha if fields.head else None,
        "files": _listed(files), "reactions": _reactions(fields.reactions),
    }  # fmt: skip
    opened = parse_time(_set(fields.created_at))
    if opened is None:  # a view that says it exists, not when it was opened
        yield _event(item, "merge_request_link", speaker, "opened", attributes=about)
        return
    yield _event(item, "merge_request_opened", speaker, "opened", ts=opened, attributes=about)
    merged, closed = parse_time(_set(fields.merged_at)), parse_time(_set(fields.closed_at))
    if merged:
        by, sha = fields.merged_by or _who(closings, "merged"), _set(fields.merge_commit_sha)
        yield _event(
            item, "merge_request_merged", _speaker(by or UNSET), "merged", ts=merged, text="", revision=sha
        )  # fmt: skip
    elif closed and not any(entry.event == "closed" for entry in closings):
        yield _event(item, "merge_request_closed", _speaker(fields.closed_by or UNSET), "closed", ts=closed, text="")


def _who(closings: list[TimelineEvent], event: str) -> Maybe[User]:
    return next((entry.actor for entry in closings if entry.event == event), UNSET)


def _timeline(item: Merged[Native], fields: TimelineEvent, closings: list[TimelineEvent]) -> Iterator[Event]:
    """`merged` is told by the pull; a `closed` at the moment of a merge is part of it."""
    if fields.event in _SILENT or fields.event == "merged":
        return
    about = {
        "action": fields.event,
        "rename": fields.rename,
        "commit": fields.commit_id,
        "before": fields.before_commit,
    }
    if fields.event != "closed":
        actor = _speaker(fields.actor)[0]
        yield _event(item, "system_note", (actor, "system"), text="", attributes=about)
    elif not any(entry.event == "merged" and entry.created_at == fields.created_at for entry in closings):
        yield _event(item, "merge_request_closed", _speaker(fields.actor), text="", attributes=about)


def _comment(item: Merged[Native], fields: Comment, threads: dict[str, tuple[Merged[Native], str]]) -> Event:
    speaker = _speaker(fields.user)
    app = fields.performed_via_github_app
    slug = str(app["slug"]) if isinstance(app, dict) and app.get("slug") else None
    if slug and is_bot(slug):
        speaker = (speaker[0], "bot")
    about: dict[str, Any] = {
        "author_association": fields.author_association, "via_app": slug, "reactions": _reactions(fields.reactions),
        "hidden_as": fields.minimized_reason or None,
    }  # fmt: skip
    if item.kind != "review_comment":
        return _event(item, "comment", speaker, attributes=about)
    answered = _set(fields.in_reply_to_id)
    thread = next((threads[one][0].fields for one in (item.id, f"review_comment:{answered}") if one in threads), None)
    proposed = suggested(_text(fields.body))
    about |= {
        "outdated": _outdated(fields), "suggestion": bool(proposed),
        "suggestions": [{"text": text} for text in proposed],
        "side": fields.side, "start_line": fields.original_start_line,
        "line_now": fields.line, "revision_now": fields.commit_id,
        "review": f"review:{fields.pull_request_review_id}" if _set(fields.pull_request_review_id) else None,
    }  # fmt: skip
    if isinstance(thread, Thread):
        about["outdated"] = about["outdated"] if isinstance(thread.is_outdated, UnsetType) else thread.is_outdated
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
    if isinstance(fields.outdated, bool):
        return fields.outdated
    place = fields.line if fields.line is not UNSET else fields.position
    return None if place is UNSET else place is None


def _threads(merged: list[Merged[Native]]) -> dict[str, tuple[Merged[Native], str]]:
    """Review comment to the thread it stands in, where GraphQL told, and that thread's first comment."""
    found: dict[str, tuple[Merged[Native], str]] = {}
    for item in merged:
        if isinstance(item.fields, Thread) and not isinstance(item.fields.comment_ids, UnsetType):
            ids = [f"review_comment:{number}" for number in item.fields.comment_ids]
            found |= {one: (item, first) for first in ids[:1] for one in ids}
    return found


def _settled(root: Merged[Native], thread: Merged[Native]) -> Iterator[Event]:
    """A thread's settling and opening again, as two versions of it tell: a `system_note` that answers its root.

    The time is the last change of the request that the capture told, else the day on which the lake first kept it.
    """
    settled = False
    for number, version in enumerate(reversed(thread.versions)):
        told = version.fields
        if not isinstance(told, Thread) or not isinstance(told.is_resolved, bool) or told.is_resolved is settled:
            continue
        settled = told.is_resolved
        action = "thread_resolved" if settled else "thread_reopened"
        who = told.resolved_by if settled and isinstance(told.resolved_by, User) else UNSET
        seen = parse_time(_updated(told, version.record))
        yield _event(
            root, "system_note", (_speaker(who)[0], "system"), f"{action}:{number}",
            ts=max(seen or root.newest.ts, root.newest.ts), text="", reply_to=root.id,
            attributes={"action": action, "ts_assumed": True},
        )  # fmt: skip


_NAMES = {"thumbs_up": "+1", "thumbs_down": "-1"}


def _reactions(stated: Any) -> dict[str, int]:
    """REST's counts by name, or GraphQL's groups."""
    if isinstance(stated, list):
        groups = [one for one in stated if isinstance(one, dict) and isinstance(one.get("content"), str)]
        stated = {
            _NAMES.get(one["content"].lower(), one["content"].lower()): _count(one.get("users") or one.get("reactors"))
            for one in groups
        }
    if not isinstance(stated, dict):
        return {}
    counted: Callable[[Any], bool] = lambda n: isinstance(n, int) and not isinstance(n, bool) and n > 0  # noqa: E731
    return {name: count for name, count in sorted(stated.items()) if counted(count) and name != "total_count"}


def _count(connection: Any) -> Any:
    return connection.get("totalCount") if isinstance(connection, dict) else None


def _review(item: Merged[Native], fields: Review) -> Iterator[Event]:
    """A pending review is not said yet."""
    if fields.state.upper() == "PENDING":
        return
    about = {"state": fields.state.upper(), "author_association": fields.author_association}
    yield _event(item, "review", _speaker(fields.user), attributes=about, revision=_set(fields.commit_id))


def _commit(item: Merged[Native], fields: Commit, whole: list[tuple[str, list[list[int]]]]) -> Event:
    inner = fields.commit.author if isinstance(fields.commit, GitCommit) else None
    listed = fields.authors[0] if isinstance(fields.authors, list) and fields.authors else None
    about = {"files": _listed(list(_files(fields.files)) or whole)}
    revision = item.id.removeprefix("commit:")
    return _event(
        item, "commit", _speaker(_set(fields.user) or listed or inner or UNSET), revision=revision, attributes=about
    )


def _listed(files: list[tuple[str, list[list[int]]]]) -> list[dict[str, Any]]:
    return [{"path": path, "hunks": hunks} for path, hunks in files]


def _files(stated: Any) -> Iterator[tuple[str, list[list[int]]]]:
    """Path and changed lines of each file that REST (with its patch) or a view (without) lists."""
    for file in stated if isinstance(stated, list) else ():
        name = (file.get("filename") or file.get("path")) if isinstance(file, dict) else None
        if isinstance(name, str):
            patch = file.get("patch")
            yield name, changed_lines(patch) if isinstance(patch, str) else _ranges(file.get("hunks"))


def _ranges(stated: Any) -> list[list[int]]:
    return stated if isinstance(stated, list) else []


def _link(item: Merged[Native], fields: Link) -> Event:
    return _event(
        item, "merge_request_link", ("", "system"), text=_set(fields.pr_url) or "",
        attributes={"session_id": fields.session_id},
    )  # fmt: skip
