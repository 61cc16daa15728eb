"""A GitLab object as a Record: which request it belongs to, its id and time, and what of it is not kept.

Requests are `<project number>!<iid>`, which is all that a project export and REST both tell; the path stands in only
where no number is stated. Numbers are an instance's own: requests of two instances whose projects share a number
would meet in one unit. `gitlab.facts` then names no project, so what was said stays with nobody.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from lorelake.formats.gitlab_objects import typed
from lorelake.formats.json_text import fault, refuse_value
from lorelake.formats.patches import changed_lines
from lorelake.formats.record import Record, Refusal, parse_time

_WEB = re.compile(r"^https?://([^/\s]+)/(.+?)(?:/-)?/merge_requests/(\d+)(?!\w)")


class Context(msgspec.Struct, frozen=True):
    """What surrounds an object and may name its request: a bundle's request, an export's line, or the folder."""

    project: str | None = None
    iid: int | None = None
    private: bool = False
    """Whether the settings include what is told to fewer people than the project."""


def unit_of(value: dict[str, Any], context: Context) -> str | None:
    """`77!4`, or `gitlab.example/group/name!4` where only an address is stated; None where nothing names it."""
    web = web_of(value.get("web_url"))
    number = value.get("noteable_iid") or value.get("iid") or context.iid
    project = value.get("target_project_id") or value.get("project_id") or context.project or (web and web[0])
    if isinstance(number, int) and isinstance(project, int | str) and not isinstance(number, bool):
        return f"{project}!{number}"
    return None


def web_of(url: object) -> tuple[str, int] | None:
    """(`host/group/name` in lower case, iid) of a request's page."""
    found = _WEB.match(url) if isinstance(url, str) else None
    return (f"{found[1]}/{found[2]}".lower(), int(found[3])) if found else None


def record(
    member: str, position: int, kind: str, record_id: str, value: dict[str, Any], unit: str | None, stated: Any
) -> Record | Refusal:
    """The Record, or why it cannot be kept.

    Args:
        position: line, or which object of the document it is, from 1.
        stated: its time as the source writes it, or None.
    """
    broken = fault(value)
    if broken:
        return refuse_value(member, value, *broken, position)
    try:
        typed(kind, value)
    except msgspec.ValidationError as error:
        return refuse_value(member, value, "wrong_shape", f"{kind}: {error}", position)
    if unit is None:
        return refuse_value(member, value, "no_unit", f"{kind}: nothing names its project and request", position)
    moment = parse_time(stated)
    if stated is not None and moment is None:
        return refuse_value(member, value, "bad_time", f"{kind}: {str(stated)[:60]!r} is no possible time", position)
    return Record(unit, record_id, kind, moment, value, member, position)


def is_internal(note: dict[str, Any], context: Context) -> bool:
    """Whether a note is told to fewer people than the project, and the settings do not ask for such."""
    return bool(note.get("confidential") or note.get("internal")) and not context.private


def commit_time(commit: dict[str, Any]) -> Any:
    """When a commit was made, as stated."""
    return commit.get("committed_date") or commit.get("authored_date")


def without_patch(file: dict[str, Any]) -> dict[str, Any]:
    """A file of a diff with the ranges of changed lines in the place of the diff's text, most of a capture's size."""
    rest = {name: field for name, field in file.items() if name not in ("utf8_diff", "diff")}
    patch = file.get("utf8_diff", file.get("diff"))
    return {**rest, "hunks": changed_lines(patch) if isinstance(patch, str) else file.get("hunks", [])}


def items(value: Any) -> list[Any]:
    """The list, or an empty one where there is none."""
    return value if isinstance(value, list) else []
