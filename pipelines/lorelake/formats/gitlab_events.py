"""From the records of one GitLab merge request to events.

A record exported more than once gives one event, from the version updated last (then first kept last).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from lorelake.formats.bots import is_bot_name
from lorelake.formats.gitlab_objects import COMMIT, Commit, MergeRequest, Native, Note, Words, place, typed
from lorelake.formats.record import Event, Unit, UnitRecord, canonical, in_order, parse_time

GHOST = "ghost"
"""GitLab's own name for the author of what a deleted account wrote."""
_RESOLVABLE = frozenset({"DiffNote", "DiscussionNote"})


class Newest(msgspec.Struct):
    """The newest version of one record; `first` is the version in which its words stood first."""

    fields: Native
    record: UnitRecord
    first: UnitRecord


def events(unit: Unit) -> list[Event]:
    """One event a note and commit; opened, approved, merged and closed from the request itself."""
    newest = _newest(unit)
    notes = [(item, item.fields) for item in newest if isinstance(item.fields, Note)]
    names = {note.author_id: note.author.name for _, note in notes if note.author and note.author.name}
    threads = _first_of_thread(notes)
    request = next((item for item in newest if isinstance(item.fields, MergeRequest)), None)
    found: list[Event] = []
    if request is not None and isinstance(request.fields, MergeRequest):
        found += _request(request, request.fields, names, [note for _, note in notes])
    for item, note in notes:
        found.append(_system_note(item, note) if note.system else _note(item, note, names, threads))
    commits = [(item, item.fields) for item in newest if isinstance(item.fields, Commit)]
    # The export holds the diff of the whole request only; of one commit it is that commit's own.
    files = _files(request.fields) if request is not None and len(commits) == 1 else []
    found += [_commit(item, commit, files) for item, commit in commits]
    return found


def branch(unit: Unit) -> str | None:
    """The source branch."""
    return next((item.fields.source_branch for item in _newest(unit) if isinstance(item.fields, MergeRequest)), None)


def _newest(unit: Unit) -> list[Newest]:
    versions: dict[str, list[tuple[tuple[str, str, str], UnitRecord, Native]]] = defaultdict(list)
    for record in in_order(unit.records):
        try:
            fields = typed(record.type, record.value)
        except (msgspec.ValidationError, KeyError):  # another relation, or a field whose type redaction changed
            continue
        updated = "" if isinstance(fields, Commit) else fields.updated_at or ""
        versions[record.id].append(((updated, record.first_kept, canonical(record.value)), record, fields))
    newest: list[Newest] = []
    for found in versions.values():
        _, record, fields = max(found, key=lambda version: version[0])
        same = [other for _, other, words in found if _words(words) == _words(fields)]
        newest.append(Newest(fields, record, min(same, key=lambda other: (other.first_kept, other.source_uri))))
    return newest


def _words(fields: Native) -> str:
    if isinstance(fields, MergeRequest):
        return "\n\n".join(part for part in (_text(fields.title), _text(fields.description)) if part)
    return _text(fields.note if isinstance(fields, Note) else fields.message)


def _text(words: Words) -> str:
    return words if isinstance(words, str) else ""


def _speaker(number: int | None, name: str | None) -> tuple[str, str]:
    """(alias, actor class). A deleted account is a person."""
    return f"id:{number}" if number else GHOST, "bot" if name and is_bot_name(name) else "human"


def _event(item: Newest, kind: str, speaker: tuple[str, str], part: str = "", **more: Any) -> Event:
    more.setdefault("text", _words(item.fields))
    more["ts"] = more.get("ts") or item.record.ts
    about = {name: value for name, value in more.pop("attributes", {}).items() if value not in (None, [], {})}
    return Event(
        record_id=item.record.id, part=part, actor_alias=speaker[0], actor_class=speaker[1], kind=kind,
        source_uri=item.first.source_uri, first_kept=item.first.first_kept, attributes=about, **more,
    )  # fmt: skip


def _request(
    item: Newest, fields: MergeRequest, names: Mapping[int | None, str | None], notes: list[Note]
) -> Iterator[Event]:
    diff = fields.merge_request_diff
    about = {
        "name": names.get(fields.author_id), "state": fields.state, "draft": fields.draft,
        "base_branch": fields.target_branch, "head": diff.head_commit_sha if diff else None, "files": _files(fields),
    }  # fmt: skip
    author = _speaker(fields.author_id, names.get(fields.author_id))
    yield _event(item, "merge_request_opened", author, "opened", ts=parse_time(fields.created_at), attributes=about)
    for approval in fields.approvals or []:
        moment = parse_time(approval.created_at)
        if moment and approval.user_id:
            speaker = _speaker(approval.user_id, names.get(approval.user_id))
            about = {"state": "APPROVED", "name": names.get(approval.user_id)}
            yield _event(item, "review", speaker, f"approval:{approval.user_id}", ts=moment, text="", attributes=about)
    if fields.state in ("merged", "closed"):
        number, stated = _ending(fields, fields.state, notes)
        moment = parse_time(stated)
        if moment:
            yield _event(
                item, f"merge_request_{fields.state}", _speaker(number, names.get(number)), fields.state,
                ts=moment, text="", attributes={"name": names.get(number)},
            )  # fmt: skip


def _ending(fields: MergeRequest, state: str, notes: list[Note]) -> tuple[int | None, str | None]:
    """Who ended it and when: from the metrics, else the request's event list, else the system note that says so."""
    metrics = fields.metrics
    if metrics and state == "merged" and metrics.merged_at:
        return metrics.merged_by_id, metrics.merged_at
    if metrics and state == "closed" and metrics.latest_closed_at:
        return metrics.latest_closed_by_id, metrics.latest_closed_at
    for happening in reversed(fields.events or []):
        if happening.action == state:
            return happening.author_id, happening.created_at
    for note in reversed(notes):
        if note.system and note.system_note_metadata and note.system_note_metadata.action == state:
            return note.author_id, note.created_at
    return None, None


def _files(fields: Native) -> list[dict[str, Any]]:
    diff = fields.merge_request_diff if isinstance(fields, MergeRequest) else None
    files = diff.merge_request_diff_files if diff else []
    return [{"path": file.new_path or file.old_path, "hunks": file.hunks} for file in files]


def _first_of_thread(notes: list[tuple[Newest, Note]]) -> dict[str, tuple[str, Note]]:
    """Discussion to the note it began with and that note's record id."""
    first: dict[str, tuple[str, Note]] = {}
    for item, note in sorted(notes, key=lambda pair: (pair[0].record.ts, pair[0].record.id)):
        if note.discussion_id:
            first.setdefault(note.discussion_id, (item.record.id, note))
    return first


def _system_note(item: Newest, note: Note) -> Event:
    action = note.system_note_metadata.action if note.system_note_metadata else None
    name = note.author.name if note.author else None
    alias, _ = _speaker(note.author_id, name)
    return _event(item, "system_note", (alias, "system"), attributes={"action": action, "name": name})


def _note(
    item: Newest, note: Note, names: Mapping[int | None, str | None], threads: dict[str, tuple[str, Note]]
) -> Event:
    """A reply stands where its thread began, and is settled when that is."""
    name = note.author.name if note.author else None
    speaker = _speaker(note.author_id, name)
    root_id, root = threads.get(note.discussion_id or "", (item.record.id, note))
    settled = note if note.resolved_at else root
    about: dict[str, Any] = {"name": name, "thread": note.discussion_id}
    if root.type in _RESOLVABLE or note.type in _RESOLVABLE:
        about |= {"resolved": settled.resolved_at is not None, "resolved_at": settled.resolved_at}
    if settled.resolved_by_id:
        about |= {"resolved_by": f"id:{settled.resolved_by_id}", "resolved_by_name": names.get(settled.resolved_by_id)}
    reply_to = root_id if root_id != item.record.id else None
    placed = note if place(note.original_position) or place(note.position) else root
    written, now = place(placed.original_position) or place(placed.position), place(placed.position)
    if written is None:
        return _event(item, "comment", speaker, attributes=about, reply_to=reply_to)
    suggestions = note.suggestions or []
    about |= {
        "outdated": place(placed.change_position) is not None or now is None,
        "suggestion": bool(suggestions) or "```suggestion" in _text(note.note),
        "suggestion_applied": any(suggestion.applied for suggestion in suggestions) if suggestions else None,
        "side": "LEFT" if written.new_line is None and written.old_line is not None else "RIGHT",
        "line_now": (now.new_line or now.old_line) if now else None,
        "revision_now": now.head_sha if now else None,
    }  # fmt: skip
    return _event(
        item, "review_comment", speaker, attributes=about, reply_to=reply_to, revision=written.head_sha,
        path=written.new_path or written.old_path, line=written.new_line or written.old_line,
    )  # fmt: skip


def _commit(item: Newest, commit: Commit, files: list[dict[str, Any]]) -> Event:
    author = commit.commit_author
    name = commit.author_name or (author.name if author else None)
    email = commit.author_email or (author.email if author else None)
    alias = email if isinstance(email, str) and email else name or GHOST
    return _event(
        item, COMMIT, (alias, "bot" if name and is_bot_name(name) else "human"),
        revision=item.record.id.removeprefix("commit:"), attributes={"name": name, "files": files},
    )  # fmt: skip
