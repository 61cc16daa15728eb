"""What a teamai store holds beside its learnings: vote totals, the list of projects, lists of removed resources.

Facts of teamai-cli 0.25. Vote totals are a tool's count of its own turns: they are kept, and are never votes or
exposures of ours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any

from lorelake.formats.record import parse_time
from lorelake.formats.strict_yaml import load

LEARNINGS_BRANCH = "teamai-learnings"
"""Where contributed learnings go, pushed without review; their old place is the default branch."""

REPORTS_BRANCH = "teamai-reports"
PROJECTS_PATHS = ("manifest/projects.yaml", ".teamai/manifest/projects.yaml")
PATHS = ("votes/*.yaml", ".teamai/votes/*.yaml", *PROJECTS_PATHS, ".removed", "*/.removed")
"""Git pathspecs of the files read here."""

_VOTES = re.compile(r"(?:^|/)votes/[^/]+\.ya?ml\Z")
_PROJECTS = re.compile(r"(?:^|/)manifest/projects\.ya?ml\Z")
_REMOVED = re.compile(r"(?:^|/)(?:skills|rules|agents|mcp)/\.removed\Z")
_ID = re.compile(r"[A-Za-z0-9._-]+")
_CI_COMMIT = re.compile(r"\[teamai\] CI extract\b")
_ARCHIVE = "_archive"


def kind(path: str) -> str | None:
    """`votes`, `projects` or `removed` where a path is one of teamai's own files, else None."""
    for name, pattern in (("votes", _VOTES), ("projects", _PROJECTS), ("removed", _REMOVED)):
        if pattern.search(path):
            return name
    return None


def sniff(member: str, head: bytes) -> bool:
    """By path and, for YAML, by the key it must have."""
    found = kind(member)
    if found is None or b"\x00" in head:
        return False
    return found == "removed" or re.search(rf"^{found}:".encode(), head, re.MULTILINE) is not None


def parse(path: str, text: str) -> dict[str, Any]:
    """One such file as JSON-able values, as it is written.

    Raises:
        YamlError: not plain YAML.
        ValueError: YAML of another shape.
    """
    found = kind(path)
    if found == "removed":
        return {"removed": sorted({line.strip() for line in text.splitlines() if line.strip()})}
    value = load(text)
    wanted: type = dict if found == "votes" else list
    if not isinstance(value, dict) or not isinstance(value.get(str(found)), wanted):
        raise ValueError(f"`{found}:` is not a {'mapping' if wanted is dict else 'list'}")
    return value


def namespace_projects(text: str) -> dict[str, str] | None:
    """Namespace to the project that lists it; None where there is no valid list of projects.

    A namespace that two projects list is its own project: its text must not reach further than either.
    """
    try:
        projects = parse(PROJECTS_PATHS[0], text)["projects"] if text else None
    except ValueError:
        return None
    if projects is None:
        return None
    owners: dict[str, set[str]] = {}
    for project in projects:
        name = project.get("id") if isinstance(project, Mapping) else None
        resources = project.get("resources") if isinstance(project, Mapping) else None
        listed = resources.get("learnings") if isinstance(resources, Mapping) else None
        for namespace in listed if isinstance(listed, list) else ():
            if isinstance(name, str) and _ID.fullmatch(name):
                owners.setdefault(str(namespace), set()).add(name)
    return {namespace: min(ids) if len(ids) == 1 else namespace for namespace, ids in owners.items()}


def live_path(path: str) -> str | None:
    """The path an archived learning had before teamai moved it to `learnings/_archive/`; None for any other path."""
    parts = PurePosixPath(path).parts
    if len(parts) < 3 or parts[-2] != _ARCHIVE or parts[-3] != "learnings":
        return None
    return "/".join((*parts[:-2], parts[-1]))


def shared_path(path: str) -> str:
    """The path by which a learning is one on both branches: in a business repository `.teamai/` stands before one."""
    return path.removeprefix(".teamai/") if path.startswith(".teamai/learnings/") else path


def is_extracted(message: str) -> bool:
    """Whether a commit is one in which teamai's CI wrote what a model drew from a merge request."""
    return _CI_COMMIT.match(message) is not None


def votes(value: Mapping[str, Any]) -> dict[str, Any]:
    """The totals of one member's votes file: `votes`, and the ids in `apart`, `unread` and the count `unsynced`.

    teamai counts a recall of a namespaced learning under `<namespace>/<name>` and its upvote under `<name>`. The two
    are one where the bare id was never recalled itself and one namespaced id only has that name; else they stay
    apart and are told of. Deltas that were not synced yet are in nobody's total and are left out.
    """
    stated = value.get("votes")
    entries: dict[str, dict[str, Any]] = {}
    unread: list[str] = []
    for name, entry in sorted(stated.items()) if isinstance(stated, Mapping) else ():
        total = _total(entry, value.get("version"))
        if total is None:
            unread.append(name)
        else:
            entries[name] = total
    apart = []
    for bare in [name for name in entries if "/" not in name]:
        namespaced = [name for name in entries if name.endswith(f"/{bare}")]
        if not namespaced:
            continue
        if len(namespaced) > 1 or entries[bare]["recalled"]:
            apart.append(bare)
            continue
        entries[namespaced[0]] = _sum(entries[namespaced[0]], entries.pop(bare)) | {"also": bare}
    deltas = value.get("deltas")
    return {
        "votes": [{"document_id": name, **entries[name]} for name in sorted(entries)],
        "apart": apart,
        "unread": unread,
        "unsynced": len(deltas) if isinstance(deltas, Mapping) else 0,
    }


def _total(entry: Any, version: Any) -> dict[str, Any] | None:
    if not isinstance(entry, Mapping):
        return None
    if version is None:
        recalled, upvoted, last, cited = 1, 0, entry.get("at"), None
        if last is None:
            return None
    else:
        recalled, upvoted = entry.get("recalled_count", 0), entry.get("upvoted_count", 0)
        last, cited = entry.get("last_recalled_at"), entry.get("last_upvoted_at")
    if not all(type(count) is int and count >= 0 for count in (recalled, upvoted)):
        return None
    return {
        "recalled": recalled,
        "upvoted": upvoted,
        "last_recalled_at": _time(last) if recalled else None,
        "last_upvoted_at": _time(cited) if upvoted else None,
    }


def _sum(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    summed: dict[str, Any] = {name: one[name] + other[name] for name in ("recalled", "upvoted")}
    for name in ("last_recalled_at", "last_upvoted_at"):
        summed[name] = max((found for found in (one[name], other[name]) if found), default=None)
    return summed


def _time(stated: Any) -> str | None:
    """An instant as ISO text in UTC; a date or a time without a zone is taken as UTC."""
    exact = parse_time(stated)
    if exact is None:
        try:
            exact = datetime.fromisoformat(str(stated)).replace(tzinfo=UTC)
        except ValueError:
            return None
    return exact.isoformat()
