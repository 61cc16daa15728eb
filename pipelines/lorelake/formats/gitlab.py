"""GitLab project exports: `project.json` and `project/<relation>.ndjson`, a folder (or unpacked archive) a capture.

Only `merge_requests` are understood. One line is one request with everything nested in it; it becomes one Record for
the request and one for each of its notes and commits. A diff's text, most of an export's size, is reduced to file
paths and ranges of changed lines (`hunks`, counted in the file after the change).

Lines of other relations (issues, members, labels …) are kept as records of `project:<id>` and make no events; a line
`null` is how an export writes that there is nothing. What is marked confidential is refused as `private` unless the
settings include private conversations: it is told to fewer people than the project.

An export names people by display name and a number of that instance, so aliases are `id:<number>`; commits carry
e-mails. Requests are `<project path or id>!<iid>`: exports since 2023 state no `id` of a request, and few the path.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from lorelake.formats import gitlab_events
from lorelake.formats.gitlab_objects import COMMIT, MERGE_REQUEST, NOTE, note_id, typed
from lorelake.formats.json_lines import Line, read_lines
from lorelake.formats.json_text import UndecodableError, fault, load, outline, refuse_value
from lorelake.formats.patches import changed_lines
from lorelake.formats.record import (
    Capture,
    Event,
    Member,
    Record,
    Refusal,
    Unit,
    UnitFacts,
    canonical,
    digest,
    parse_time,
    refuse,
)  # fmt: skip

NAME = "gitlab"
SEEN = "project exports (tree/project/*.ndjson) of GitLab.com from 2020; the keys that changed by 2024 are known"

_RELATION = re.compile(r"(?:^|/)project/([a-z_]+)\.ndjson$")
_PROJECT = re.compile(r"(?:^|/)project\.json$")
_REQUESTS = "merge_requests"
_UNNAMED = "export-"


def sniff(member: str, head: bytes) -> bool:
    """By the keys of a merge request line or of `project.json`; other relations are found beside them."""
    keys = outline(head).keys
    return {"iid", "source_branch", "target_branch"} <= keys or (
        "visibility_level" in keys and any(key.startswith("merge_requests_") for key in keys)
    )


def read(capture: Capture) -> Iterator[Record | Refusal]:
    """Records of every relation; one Refusal for each line or nested object that cannot be kept."""
    members = sorted(capture.members, key=lambda member: member.name)
    project = _project_name(members)
    for member in members:
        relation = _RELATION.search(member.name)
        if relation and relation[1] == _REQUESTS:
            yield from _requests(capture, member, project)
        elif relation:
            yield from _others(capture, member, relation[1], project)
        elif _PROJECT.search(member.name):
            yield from _project(member, project)
        else:
            yield refuse(member.name, member.head(), "unknown_format", "no part of a project export that is read")


def _project_name(members: list[Member]) -> str:
    """The project's path if `project.json` states it, else the number its requests aim at.

    An export that has neither is known by its first request, which no later export of the same project changes.
    """
    for member in members:
        if _PROJECT.search(member.name):
            try:
                value = load(member.read())
            except UndecodableError:
                continue
            for key in ("path_with_namespace", "full_path", "id"):
                if isinstance(value, dict) and value.get(key):
                    return str(value[key]).lower()
    first: list[tuple[int, str]] = []
    for member in members:
        relation = _RELATION.search(member.name)
        for line in read_lines(member) if relation and relation[1] == _REQUESTS else ():
            if isinstance(line, Line):
                aim, iid = line.value.get("target_project_id"), line.value.get("iid")
                if isinstance(aim, int):
                    return str(aim)
                if isinstance(iid, int):
                    first.append((iid, str(line.value.get("created_at"))))
    iid, created = min(first, default=(0, ""))
    return f"{_UNNAMED}{digest(str(iid), created)[:12]}"


def _requests(capture: Capture, member: Member, project: str) -> Iterator[Record | Refusal]:
    for line in read_lines(member):
        if isinstance(line, Line):
            yield from _request(capture, member.name, line, project)
        elif not _is_nothing(line):
            yield line


def _is_nothing(refusal: Refusal) -> bool:
    return refusal.reason == "empty" or refusal.head.strip() == "null"


def _request(capture: Capture, member: str, line: Line, project: str) -> Iterator[Record | Refusal]:
    value, number = line.value, line.line
    notes, diff = _items(value.pop("notes", None)), value.get("merge_request_diff")
    commits: list[Any] = []
    if isinstance(diff, dict):
        commits = _items(diff.pop("merge_request_diff_commits", None))
        diff[_FILES] = [_without_patch(file) for file in _items(diff.get(_FILES)) if isinstance(file, dict)]
    iid = value.get("iid")
    unit = f"{project}!{iid}" if isinstance(iid, int) else None
    yield _record(member, number, MERGE_REQUEST, f"merge_request:{iid}", value, unit, value.get("created_at"))
    for note in notes:
        if not isinstance(note, dict):
            yield refuse_value(member, note, "wrong_shape", "a note that is no object", number)
        elif (note.get("confidential") or note.get("internal")) and "private" not in capture.include:
            yield refuse_value(member, note, "private", "an internal note", number, private=True)
        else:
            yield _record(member, number, NOTE, note_id(note), note, unit, note.get("created_at"))
    for commit in commits:
        if not isinstance(commit, dict):
            yield refuse_value(member, commit, "wrong_shape", "a commit that is no object", number)
            continue
        sha = commit.get("sha") or digest(canonical(commit))
        moment = commit.get("committed_date") or commit.get("authored_date")
        yield _record(member, number, COMMIT, f"commit:{sha}", commit, unit, moment)


_FILES = "merge_request_diff_files"


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _without_patch(file: dict[str, Any]) -> dict[str, Any]:
    patch = file.pop("utf8_diff", file.pop("diff", None))
    return {**file, "hunks": changed_lines(patch) if isinstance(patch, str) else []}


def _record(
    member: str, line: int, kind: str, record_id: str, value: dict[str, Any], unit: str | None, stated: Any
) -> Record | Refusal:
    broken = fault(value)
    if broken:
        return refuse_value(member, value, *broken, line)
    try:
        typed(kind, value)
    except msgspec.ValidationError as error:
        return refuse_value(member, value, "wrong_shape", f"{kind}: {error}", line)
    if unit is None:
        return refuse_value(member, value, "no_unit", f"{kind}: its request has no iid", line)
    moment = parse_time(stated)
    if stated is not None and moment is None:
        return refuse_value(member, value, "bad_time", f"{kind}: {str(stated)[:60]!r} is no possible time", line)
    return Record(unit, record_id, kind, moment, value, member, line)


def _others(capture: Capture, member: Member, relation: str, project: str) -> Iterator[Record | Refusal]:
    for line in read_lines(member):
        if isinstance(line, Refusal):
            if not _is_nothing(line):
                yield line
        elif line.value.get("confidential") and "private" not in capture.include:
            yield refuse_value(member.name, line.value, "private", f"{relation}: confidential", line.line, private=True)
        else:
            native = line.value.get("id") or line.value.get("iid") or digest(canonical(line.value))[:32]
            yield Record(
                f"project:{project}", f"{relation}:{native}", relation,
                parse_time(line.value.get("created_at")), line.value, member.name, line.line,
            )  # fmt: skip


def _project(member: Member, project: str) -> Iterator[Record | Refusal]:
    data = member.read()
    try:
        value = load(data)
    except UndecodableError as error:
        yield refuse(member.name, data, error.reason, error.detail)
        return
    broken = fault(value)
    if broken or not isinstance(value, dict):
        reason, detail = broken or ("wrong_shape", "project.json holds no object")
        yield refuse(member.name, data, reason, detail)
        return
    yield Record(f"project:{project}", "project", "project", None, value, member.name, 1)


def facts(unit: Unit) -> UnitFacts:
    """The project's path or number on its instance as remote, and the source branch."""
    native = unit.unit_id.removeprefix(f"{NAME}:").removeprefix("project:").partition("!")[0]
    remote = None if native.startswith(_UNNAMED) else native
    return UnitFacts(kind="merge_request", remote=remote, branch=gitlab_events.branch(unit))


def events(unit: Unit) -> list[Event]:
    """What happened in one merge request; see `gitlab_events`."""
    return gitlab_events.events(unit)
