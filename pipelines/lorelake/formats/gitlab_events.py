"""From the records of one GitLab merge request to events, whichever forms it was met in.

A request, note or commit met more than once gives one event. Notes are told apart by `gitlab_notes`, versions are put
together by `merged_records`. People are named by login where any form states it for their number, else `id:<number>`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import UNSET

from lorelake.formats.bots import is_bot, is_bot_name
from lorelake.formats.gitlab_notes import (
    Thread,
    action_of,
    changes_of_state,
    first_place,
    is_resolvable,
    same_notes,
    text_of,
    threads,
)  # fmt: skip
from lorelake.formats.gitlab_objects import (
    Account,
    Commit,
    Diffs,
    MergeRequest,
    Native,
    Note,
    StateEvent,
    place,
    typed,
)  # fmt: skip
from lorelake.formats.merged_records import Merged, merge
from lorelake.formats.record import Event, Unit, parse_time
from lorelake.formats.suggestions import suggested

GHOST = "ghost"
"""GitLab's own name for the author of what a deleted account wrote."""
_ACTIONS: Mapping[str | int | None, str] = {3: "closed", 7: "merged"}
"""Numbers by which exports of one file tell what happened."""


class _Accounts:
    """Login and display name by number, from every form in which the unit states them."""

    def __init__(self, merged: list[Merged[Native]]) -> None:
        logins: dict[int, set[str]] = {}
        names: dict[int, set[str]] = {}
        for account in _accounts(merged):
            if account.id and account.username:
                logins.setdefault(account.id, set()).add(account.username)
            if account.id and account.name:
                names.setdefault(account.id, set()).add(account.name)
        self._logins = {number: min(found) for number, found in logins.items()}
        self._names = {number: min(found) for number, found in names.items()}

    def speaker(self, account: object) -> tuple[str, str]:
        """(alias, actor class). A deleted account is a person."""
        if not isinstance(account, Account) or account.is_deleted:
            return GHOST, "human"
        login = account.username or self._logins.get(account.id or 0)
        name = self.name(account)
        machine = (login and is_bot(login)) or (name and is_bot_name(name))
        return login or (f"id:{account.id}" if account.id else GHOST), "bot" if machine else "human"

    def name(self, account: object) -> str | None:
        """The display name."""
        return (account.name or self._names.get(account.id or 0)) if isinstance(account, Account) else None


def _accounts(merged: list[Merged[Native]]) -> Iterator[Account]:
    for item in merged:
        for version in item.versions:
            fields = version.fields
            for name in ("author", "merged_by", "closed_by", "resolved_by", "user"):
                account = getattr(fields, name, None)
                if isinstance(account, Account) and not isinstance(fields, Commit):
                    yield account
            if isinstance(fields, MergeRequest) and isinstance(fields.approvals, list):
                yield from (approval.user for approval in fields.approvals)


def merged_of(unit: Unit) -> list[Merged[Native]]:
    """Every record of the unit, its versions put together."""
    return merge(unit.records, typed, lambda fields, _: getattr(fields, "updated_at", UNSET), same_notes)


def request_of(merged: list[Merged[Native]]) -> MergeRequest | None:
    """The request itself, where some capture holds more of it than a note."""
    return next((item.fields for item in merged if isinstance(item.fields, MergeRequest)), None)


def events(unit: Unit) -> list[Event]:
    """One event a note, commit, approval and change of state; opened, merged and closed from the request itself."""
    merged = merged_of(unit)
    people = _Accounts(merged)
    notes = [(item, item.fields) for item in merged if isinstance(item.fields, Note)]
    states = [(item, item.fields) for item in merged if isinstance(item.fields, StateEvent)]
    commits = [(item, item.fields) for item in merged if isinstance(item.fields, Commit)]
    files = _files([item.fields for item in merged])
    found: list[Event] = []
    for item in merged:
        if isinstance(item.fields, MergeRequest):
            found += _request(item, item.fields, people, notes, [state for _, state in states], files)
    discussions = threads(notes)
    for item, note in notes:
        if note.system:
            found.append(_system_note(item, note, people))
        else:
            found.append(_note(item, note, people, discussions))
            if discussions.get(_text(note.discussion_id) or "", Thread(item, note)).root is item:
                found += _settled(item, people)
    for item, state in states:
        found += _state(item, state, people)
    # The host tells the diff of the whole request; of one commit it is that commit's own.
    found += [_commit(item, commit, files if len(commits) == 1 else []) for item, commit in commits]
    return found


def _event(item: Merged[Native], kind: str, speaker: tuple[str, str], part: str = "", **more: Any) -> Event:
    words = _words(item.fields)
    more.setdefault("text", words)
    more["ts"] = more.get("ts") or item.newest.ts
    about = {name: value for name, value in more.pop("attributes", {}).items() if value not in (None, UNSET, [], {})}
    first = item.first_with(words, _words)
    return Event(
        record_id=item.id, part=part, actor_alias=speaker[0], actor_class=speaker[1], kind=kind,
        source_uri=first.source_uri, first_kept=first.first_kept, attributes=about, **more,
    )  # fmt: skip


def _words(fields: Native) -> str:
    if isinstance(fields, MergeRequest):
        return "\n\n".join(part for part in (text_of(fields.title), text_of(fields.description)) if part)
    if isinstance(fields, Note):
        return text_of(fields.text)
    return text_of(fields.message) if isinstance(fields, Commit) else ""


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _request(
    item: Merged[Native],
    fields: MergeRequest,
    people: _Accounts,
    notes: list[tuple[Merged[Native], Note]],
    states: list[StateEvent],
    files: list[dict[str, Any]],
) -> Iterator[Event]:
    about = {
        "name": people.name(fields.author), "state": fields.state, "draft": fields.draft,
        "base_branch": fields.target_branch, "head": fields.head, "files": files,
        "reactions": _reactions(fields.award_emoji),
    }  # fmt: skip
    opened = parse_time(fields.created_at)
    if opened:
        author = people.speaker(fields.author)
        yield _event(item, "merge_request_opened", author, "opened", ts=opened, attributes=about)
    yield from _approvals(item, fields, people, [note for _, note in notes])
    for ended, (by, stated) in _endings(fields, [note for _, note in notes], states).items():
        moment = parse_time(stated)
        if moment:
            account = by if isinstance(by, Account) else None
            yield _event(
                item, f"merge_request_{ended}", people.speaker(account), ended, ts=moment, text="",
                revision=_text(fields.merge_commit_sha) if ended == "merged" else None,
                attributes={"name": people.name(account)},
            )  # fmt: skip


def _approvals(item: Merged[Native], fields: MergeRequest, people: _Accounts, notes: list[Note]) -> Iterator[Event]:
    """One review for each who approves it now. Hosts that do not tell when say so in a system note."""
    said = {
        note.author.id: note.created_at
        for note in notes
        if note.system and action_of(note) == "approved" and isinstance(note.author, Account)
    }
    for approval in fields.approvals if isinstance(fields.approvals, list) else []:
        if not approval.user.id:
            continue
        stated = parse_time(approval.at) or parse_time(said.get(approval.user.id))
        about = {"state": "APPROVED", "name": people.name(approval.user), "ts_assumed": None if stated else True}
        moment = stated or parse_time(fields.updated_at) or item.newest.ts
        speaker, part = people.speaker(approval.user), f"approval:{approval.user.id}"
        yield _event(item, "review", speaker, part, ts=moment, text="", attributes=about)


def _endings(fields: MergeRequest, notes: list[Note], states: list[StateEvent]) -> dict[str, tuple[object, object]]:
    """Who merged or closed it and when: from the request, REST's events, the export's events, else a system note.

    Each `closed` that REST's events tell is an event of its own, see `_state`; this is the last one where none does.
    """
    ended = _text(fields.state)
    if ended == "merged" and _text(fields.merged_at):
        return {"merged": (fields.merged_by, fields.merged_at)}
    if (
        ended is None
        or ended not in ("merged", "closed")
        or (ended == "closed" and any(state.state == "closed" for state in states))
    ):
        return {}
    if ended == "closed" and _text(fields.closed_at):
        return {"closed": (fields.closed_by, fields.closed_at)}
    for state in reversed(states):
        if state.state == ended:
            return {ended: (state.user, state.created_at)}
    for happening in reversed(fields.happenings if isinstance(fields.happenings, list) else []):
        if _ACTIONS.get(happening.action, happening.action) == ended:
            return {ended: (Account(happening.author_id), happening.created_at)}
    for note in reversed(notes):
        if note.system and action_of(note) == ended:
            return {ended: (note.author, note.created_at)}
    return {}


def _state(item: Merged[Native], state: StateEvent, people: _Accounts) -> Iterator[Event]:
    """`merged` is told by the request."""
    speaker, name = people.speaker(state.user), people.name(state.user)
    if state.state == "closed":
        yield _event(item, "merge_request_closed", speaker, text="", attributes={"name": name})
    elif isinstance(state.state, str) and state.state != "merged":
        yield _event(item, "system_note", (speaker[0], "system"), attributes={"action": state.state, "name": name})


def _files(natives: list[Native]) -> list[dict[str, Any]]:
    """The files of the whole request: from the request itself, else from REST's list of them."""
    found: list[Any] = []
    for fields in natives:
        files = fields.files if isinstance(fields, MergeRequest | Diffs) else None
        found = files if isinstance(files, list) and (not found or isinstance(fields, MergeRequest)) else found
    return [{"path": file.new_path or file.old_path, "hunks": file.hunks} for file in found]


def _system_note(item: Merged[Native], note: Note, people: _Accounts) -> Event:
    about = {"action": action_of(note), "name": people.name(note.author), "thread": note.discussion_id}
    return _event(item, "system_note", (people.speaker(note.author)[0], "system"), attributes=about)


def _settled(item: Merged[Native], people: _Accounts) -> Iterator[Event]:
    """A thread's settling and opening again, each at its time: a `system_note` that answers its first note."""
    for number, (settled, stated, who) in enumerate(changes_of_state(item)):
        action = "thread_resolved" if settled else "thread_reopened"
        alias = people.speaker(who)[0] if who else ""
        moment = parse_time(stated)
        about = {"action": action, "name": people.name(who), "ts_assumed": None if moment else True}
        began = item.newest.ts
        yield _event(
            item, "system_note", (alias, "system"), f"{action}:{number}", ts=max(moment or began, began),
            text="", attributes=about, reply_to=item.id,
        )  # fmt: skip


def _note(item: Merged[Native], note: Note, people: _Accounts, discussions: Mapping[str, Thread]) -> Event:
    """A reply stands where its thread began, and is settled when that is."""
    thread = discussions.get(_text(note.discussion_id) or "", Thread(item, note))
    root = thread.note
    settled = note if note.resolved else root
    about: dict[str, Any] = {
        "name": people.name(note.author), "thread": note.discussion_id, "reactions": _reactions(note.award_emoji),
    }  # fmt: skip
    if is_resolvable(root) or is_resolvable(note):
        about |= {"resolved": settled.resolved is True, "resolved_at": settled.resolved_at}
    if isinstance(settled.resolved_by, Account):
        about["resolved_by"] = people.speaker(settled.resolved_by)[0]
        about["resolved_by_name"] = people.name(settled.resolved_by)
    reply_to = thread.root.id if thread.root is not item else None
    speaker = people.speaker(note.author)
    about |= _suggestions(note)
    at, placed = (item, note) if first_place(item, note) else (thread.root, root)
    written, now = first_place(at, placed), place(placed.position)
    if written is None:
        return _event(item, "comment", speaker, attributes=about, reply_to=reply_to)
    moved = place(placed.change_position) is not None
    about |= {
        "outdated": moved or thread.is_outdated or (now is None and placed.position is not UNSET),
        "side": "LEFT" if written.new_line is None and written.old_line is not None else "RIGHT",
        "line_now": (now.new_line or now.old_line) if now else None,
        "revision_now": now.head_sha if now else None,
    }  # fmt: skip
    return _event(
        item, "review_comment", speaker, attributes=about, reply_to=reply_to, revision=written.head_sha,
        path=written.new_path or written.old_path, line=written.new_line or written.old_line,
    )  # fmt: skip


def _suggestions(note: Note) -> dict[str, Any]:
    """What the note proposes word for word; whether it was applied is told in the order of the blocks."""
    blocks = suggested(text_of(note.text))
    stated = note.suggestions if isinstance(note.suggestions, list) else []
    if not blocks and not stated:
        return {}
    texts = blocks if len(blocks) >= len(stated) else [text_of(one.to_content) for one in stated]
    applied = [one.applied for one in stated]
    found = [
        {"text": text} | ({} if number >= len(applied) or applied[number] is None else {"applied": applied[number]})
        for number, text in enumerate(texts)
    ]
    return {"suggestion": True, "suggestions": found, "suggestion_applied": any(applied) if stated else None}


def _reactions(stated: Any) -> dict[str, int]:
    names = [one.get("name") for one in stated if isinstance(one, dict)] if isinstance(stated, list) else []
    return dict(sorted(Counter(name for name in names if isinstance(name, str)).items()))


def _commit(item: Merged[Native], commit: Commit, files: list[dict[str, Any]]) -> Event:
    """`id` in REST is the sha, so both forms name it alike."""
    author = commit.author if isinstance(commit.author, Account) else Account()
    alias = author.email if isinstance(author.email, str) and author.email else author.name or GHOST
    own = _files([Diffs(commit.files)]) if isinstance(commit.files, list) else files
    return _event(
        item, "commit", (alias, "bot" if author.name and is_bot_name(author.name) else "human"),
        revision=item.id.removeprefix("commit:"), attributes={"name": author.name, "files": own},
    )  # fmt: skip
