"""GitLab project exports: `project.json` and `project/<relation>.ndjson`, a folder (or unpacked archive) a capture.

Until GitLab 13 the whole export was one `project.json` with the relations as lists in it; it is read as their lines.
Only `merge_requests` are understood. One line is one request with everything nested in it; it becomes one Record for
the request and one for each of its notes and commits. Lines of other relations (issues, members, labels …) are kept
as records of `project:<id>` and make no events; a line `null` is how an export writes that there is nothing. What is
marked confidential is refused as `private` unless the settings include private conversations.

An export names people by display name and a number of that instance; commits carry e-mails. It seldom states its own
project: then the number its requests aim at is the project.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from lorelake.formats.gitlab_objects import COMMIT, MERGE_REQUEST, NOTE, note_id
from lorelake.formats.gitlab_records import Context, commit_time, is_internal, items, record, without_patch
from lorelake.formats.json_lines import Line, read_lines
from lorelake.formats.json_text import UndecodableError, fault, load, refuse_value
from lorelake.formats.record import Capture, Member, Record, Refusal, canonical, digest, parse_time, refuse

UNNAMED = "export-"
"""How a project is called of which an export says nothing at all."""

_RELATION = re.compile(r"(?:^|/)project/([a-z_]+)\.ndjson$")
_PROJECT = re.compile(r"(?:^|/)project\.json$")
_REQUESTS = "merge_requests"
_FILES = "merge_request_diff_files"
_EARLIER = {"st_commits": "merge_request_diff_commits", "utf8_st_diffs": _FILES}
"""How exports of GitLab 8 and 9 call parts of a request's diff."""


def is_part(name: str) -> bool:
    """Whether a member is called as the parts of an export are."""
    return bool(_RELATION.search(name) or _PROJECT.search(name))


def read(capture: Capture) -> Iterator[Record | Refusal]:
    """Records of every relation; one Refusal for each line or nested object that cannot be kept."""
    members = sorted(capture.members, key=lambda member: member.name)
    number, path = _project_names(members)
    context = Context(number, private="private" in capture.include)
    for member in members:
        relation = _RELATION.search(member.name)
        if relation and relation[1] == _REQUESTS:
            yield from _requests(member, context, path)
        elif relation:
            yield from _others(member, relation[1], context)
        elif _PROJECT.search(member.name):
            yield from _project(member, context, path)
        else:
            yield refuse(member.name, member.head(), "unknown_format", "no part of a project export that is read")


def _project_names(members: list[Member]) -> tuple[str, str | None]:
    """(key, path): the number its requests aim at or that `project.json` states, else the path; and the path.

    An export that has none of them is known by its first request, which no later export of the same project changes.
    """
    number, path = _stated_names(members)
    first: list[tuple[int, str]] = []
    for value in _request_values(members):
        aim, iid = value.get("target_project_id"), value.get("iid")
        if isinstance(aim, int):
            return str(aim), path
        if isinstance(iid, int):
            first.append((iid, str(value.get("created_at"))))
    if number or path:
        return number or str(path), path
    iid, created = min(first, default=(0, ""))
    return f"{UNNAMED}{digest(str(iid), created)[:12]}", None


def _request_values(members: list[Member]) -> Iterator[dict[str, Any]]:
    for member in members:
        relation = _RELATION.search(member.name)
        if relation and relation[1] == _REQUESTS:
            yield from (line.value for line in read_lines(member) if isinstance(line, Line))
    for project in _projects(members):
        yield from (one for one in items(project.get(_REQUESTS)) if isinstance(one, dict))


def _projects(members: list[Member]) -> Iterator[dict[str, Any]]:
    for member in members:
        if _PROJECT.search(member.name):
            try:
                value = load(member.read())
            except UndecodableError:
                continue
            if isinstance(value, dict):
                yield value


def _stated_names(members: list[Member]) -> tuple[str | None, str | None]:
    for value in _projects(members):
        path = value.get("path_with_namespace") or value.get("full_path")
        number = value.get("id")
        return (
            str(number) if isinstance(number, int) else None,
            path.lower() if isinstance(path, str) and path else None,
        )
    return None, None


def _requests(member: Member, context: Context, path: str | None) -> Iterator[Record | Refusal]:
    for line in read_lines(member):
        if isinstance(line, Line):
            yield from request(member.name, line.line, line.value, context, path)
        elif not _is_nothing(line):
            yield line


def _is_nothing(refusal: Refusal) -> bool:
    return refusal.reason == "empty" or refusal.head.strip() == "null"


def request(
    member: str, line: int, value: dict[str, Any], context: Context, path: str | None = None
) -> Iterator[Record | Refusal]:
    """The records of one request as an export writes it, with notes and commits inside.

    Args:
        path: the project's path where the export states it; kept with the request as `project_path`.
    """
    value = {**value, **({"project_path": path} if path else {})}
    notes, diff = items(value.pop("notes", None)), value.get("merge_request_diff")
    commits: list[Any] = []
    if isinstance(diff, dict):
        diff = {_EARLIER.get(name, name): field for name, field in diff.items() if field or name not in _EARLIER}
        commits = items(diff.get("merge_request_diff_commits"))
        files = [without_patch(file) for file in items(diff.get(_FILES)) if isinstance(file, dict)]
        rest = {name: field for name, field in diff.items() if name != "merge_request_diff_commits"}
        value["merge_request_diff"] = {**rest, _FILES: files}
    iid, project = value.get("iid"), context.project or value.get("target_project_id")
    unit = f"{project}!{iid}" if isinstance(iid, int) and project else None
    yield record(member, line, MERGE_REQUEST, f"merge_request:{iid}", value, unit, value.get("created_at"))
    for note in notes:
        if not isinstance(note, dict):
            yield refuse_value(member, note, "wrong_shape", "a note that is no object", line)
        elif is_internal(note, context):
            yield refuse_value(member, note, "private", "an internal note", line, private=True)
        else:
            yield record(member, line, NOTE, note_id(note), note, unit, note.get("created_at"))
    for commit in commits:
        if not isinstance(commit, dict):
            yield refuse_value(member, commit, "wrong_shape", "a commit that is no object", line)
            continue
        sha = commit.get("sha") or commit.get("id") or _own_id(commit)
        yield record(member, line, COMMIT, f"commit:{sha}", commit, unit, commit_time(commit))


def _own_id(value: dict[str, Any]) -> str:
    """The hash of the content; of what cannot be written as JSON, which is refused later, any one."""
    return "" if fault(value) else digest(canonical(value))[:32]


def _others(member: Member, relation: str, context: Context) -> Iterator[Record | Refusal]:
    for line in read_lines(member):
        if isinstance(line, Line):
            yield _other(member.name, line.line, relation, line.value, context)
        elif not _is_nothing(line):
            yield line


def _other(member: str, line: int, relation: str, value: dict[str, Any], context: Context) -> Record | Refusal:
    if value.get("confidential") and not context.private:
        return refuse_value(member, value, "private", f"{relation}: confidential", line, private=True)
    native = value.get("id") or value.get("iid") or _own_id(value)
    moment = parse_time(value.get("created_at"))
    return Record(f"project:{context.project}", f"{relation}:{native}", relation, moment, value, member, line)


def _project(member: Member, context: Context, path: str | None) -> Iterator[Record | Refusal]:
    """The settings, and of an export in one file the objects of its lists, numbered in the order of the file."""
    data = member.read()
    try:
        value = load(data)
    except UndecodableError as error:
        yield refuse(member.name, data, error.reason, error.detail)
        return
    lists = {name: field for name, field in value.items() if _is_relation(field)} if isinstance(value, dict) else {}
    rest = {name: field for name, field in value.items() if name not in lists} if lists else value
    broken = fault(rest)
    if broken or not isinstance(rest, dict):
        reason, detail = broken or ("wrong_shape", "project.json holds no object")
        yield refuse(member.name, data, reason, detail)
        return
    yield Record(f"project:{context.project}", "project", "project", None, rest, member.name, 1)
    position = 1
    for relation, values in lists.items():
        for one in values:
            position += 1
            if not isinstance(one, dict):
                yield refuse_value(member.name, one, "wrong_shape", f"{relation}: no object", position)
            elif relation == _REQUESTS:
                yield from request(member.name, position, one, context, path)
            elif broken := fault(one):
                yield refuse_value(member.name, one, *broken, position)
            else:
                yield _other(member.name, position, relation, one, context)


def _is_relation(field: Any) -> bool:
    return isinstance(field, list) and any(isinstance(one, dict) for one in field)
