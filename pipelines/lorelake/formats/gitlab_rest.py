"""GitLab's REST answers, a JSON file a capture: single requests, lists, and the bundles that `lorelake pull` lands.

What is met: merge requests (with `changes`), notes, discussions, commits, diffs, approvals and state events, as lists
or alone, one document or several in a row (`glab api --paginate`); and one bundle a request, {type, merge_request,
discussions, commits, diffs, …}. A discussion's notes are records of their own that state its id, as an export's do.

Notes state their request and, on newer hosts, their project. Commits, diffs and state events state neither: they
count only inside a bundle.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from lorelake.formats import gitlab_export
from lorelake.formats.gitlab_objects import COMMIT, DIFFS, MERGE_REQUEST, NOTE, STATE_EVENT, note_id
from lorelake.formats.gitlab_records import (
    Context,
    commit_time,
    is_internal,
    items,
    record,
    unit_of,
    without_patch,
)  # fmt: skip
from lorelake.formats.json_documents import documents
from lorelake.formats.json_text import Outline, refuse_value
from lorelake.formats.record import Capture, Record, Refusal

_SIGNS: tuple[frozenset[str], ...] = tuple(
    frozenset(keys.split())
    for keys in (
        "iid source_branch target_branch", "iid merge_status title", "approved_by iid", "approved_by user_has_approved",
        "noteable_type body author", "individual_note notes", "short_id authored_date", "short_id parent_ids",
        "resource_type resource_id state", "old_path new_path diff", "type merge_request",
    )
)  # fmt: skip
_FOLDER = re.compile(r"(?:^|/)merge_requests/(\d+)(?:/|\.json$)")


def sniff(seen: Outline) -> bool:
    """By the keys of the first object."""
    return any(sign <= seen.keys for sign in _SIGNS)


def read(capture: Capture) -> Iterator[Record | Refusal]:
    """One Record or Refusal for each object; what is left of a file that breaks off is one Refusal."""
    for member in capture.members:
        folder = _FOLDER.search(f"{capture.name}/{member.name}")
        context = Context(iid=int(folder[1]) if folder else None, private="private" in capture.include)
        position = 0
        for document in documents(member):
            if isinstance(document, Refusal):
                yield document
                continue
            for found in _natives(member.name, document.value, context, position):
                position += 1
                yield found


def _natives(member: str, value: Any, context: Context, start: int) -> Iterator[Record | Refusal]:
    """The records of a document. Positions count what was met, from `start`."""
    number = start
    for kind, found, around in _walk(value, context):
        number += 1
        if kind == "export":
            yield from gitlab_export.request(member, number, found, around)
        else:
            yield _record(member, number, kind, found, around)


def _walk(value: Any, context: Context) -> Iterator[tuple[str | None, Any, Context]]:
    """(kind, object, what surrounds it) of each object; kind None for one that is nothing of ours."""
    if isinstance(value, list):
        diffs = [one for one in value if isinstance(one, dict) and _is_diff(one)]
        for item in value:
            if not (isinstance(item, dict) and _is_diff(item)):
                yield from _walk(item, context)
        if diffs:
            yield DIFFS, {"files": diffs}, context
    elif not isinstance(value, dict):
        yield None, value, context
    elif isinstance(value.get("merge_request"), dict):
        yield from _bundle(value, context)
    elif isinstance(value.get("notes"), list) and "individual_note" in value:
        for note in value["notes"]:
            yield NOTE, {**note, "discussion_id": value.get("id")} if isinstance(note, dict) else note, context
    elif isinstance(value.get("notes"), list) or "merge_request_diff" in value:
        yield "export", value, context
    else:
        yield _kind_of(value), value, context


def _bundle(bundle: dict[str, Any], context: Context) -> Iterator[tuple[str | None, Any, Context]]:
    request = bundle["merge_request"]
    inside = _inside(request, context)
    yield MERGE_REQUEST, request, inside
    if isinstance(bundle.get("approvals"), dict):
        yield MERGE_REQUEST, bundle["approvals"], inside
    diffs = [one for one in items(bundle.get("commit_diffs")) if isinstance(one, dict)]
    touched = {one["id"]: one.get("diffs") for one in diffs if isinstance(one.get("id"), str)}
    for discussion in [*items(bundle.get("discussions")), *items(bundle.get("notes"))]:
        yield from _walk(discussion, inside)
    for commit in items(bundle.get("commits")):
        sha = commit.get("id") if isinstance(commit, dict) else None
        own = {"files": items(touched[sha])} if isinstance(sha, str) and sha in touched else {}
        yield COMMIT, {**commit, **own} if isinstance(commit, dict) else commit, inside
    for state in items(bundle.get("resource_state_events")):
        yield STATE_EVENT, state, inside
    if items(bundle.get("diffs")):
        yield DIFFS, {"files": bundle["diffs"]}, inside


def _inside(request: dict[str, Any], context: Context) -> Context:
    unit = unit_of(request, context)
    if unit is None:
        return context
    project, _, iid = unit.rpartition("!")
    return Context(project, int(iid), context.private)


def _is_diff(value: dict[str, Any]) -> bool:
    return "new_path" in value and "diff" in value


def _kind_of(value: dict[str, Any]) -> str | None:
    keys = value.keys()
    if "body" in keys and keys & {"noteable_type", "noteable_iid", "system", "resolvable"}:
        return NOTE
    if "short_id" in keys or ("parent_ids" in keys and "message" in keys):
        return COMMIT
    if "resource_type" in keys and "state" in keys:
        return STATE_EVENT
    if "approved_by" in keys or ("iid" in keys and keys & {"source_branch", "target_branch", "merge_status"}):
        return MERGE_REQUEST
    return None


def _record(member: str, position: int, kind: str | None, value: Any, context: Context) -> Record | Refusal:
    if kind is None or not isinstance(value, dict):
        return refuse_value(member, value, "wrong_shape", "no merge request, note, commit or state event", position)
    elsewhere = value.get("noteable_type") or value.get("resource_type")
    if elsewhere not in (None, "MergeRequest"):
        return refuse_value(member, value, "no_unit", f"{kind}: it belongs to {elsewhere}, no request", position)
    if kind == NOTE and is_internal(value, context):
        return refuse_value(member, value, "private", "an internal note", position, private=True)
    unit = unit_of(value, context)
    stated = value.get("created_at")
    if kind == COMMIT:
        record_id, stated = f"commit:{value.get('id')}", commit_time(value)
    elif kind == STATE_EVENT:
        record_id = f"{STATE_EVENT}:{value.get('id')}"
    elif kind == NOTE:
        record_id = note_id(value)
    else:
        record_id = f"{kind}:{unit.rpartition('!')[2] if unit else ''}"
    for name in ("changes", "files"):
        if isinstance(value.get(name), list):
            value = {**value, name: [without_patch(one) if isinstance(one, dict) else one for one in value[name]]}
    return record(member, position, kind, record_id, value, unit, stated)
