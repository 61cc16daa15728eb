"""Which merge request a GitHub object belongs to, its record id and its time."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

import msgspec

from lorelake.formats.github_objects import number_of, snake
from lorelake.formats.record import canonical, digest, parse_time

_PULL_PATH = r"^https?://(?:api\.)?([^/]+)/(?:api/v3/)?(?:repos/)?([^/\s]+)/([^/\s]+)/"
_PULL_URL = re.compile(_PULL_PATH + r"(?:pulls?|issues)/(\d+)(?![\w])")
_ISSUE_PAGE = re.compile(r"^https?://(?!api\.)[^/]+/(?!repos/|api/)[^/\s]+/[^/\s]+/issues/\d+")
_REPOSITORY_URL = re.compile(_PULL_PATH)
_TIMES = {
    "pull": ("created_at",), "comment": ("created_at",), "review_comment": ("created_at",),
    "review": ("submitted_at",), "timeline": ("created_at",), "pr_link": ("timestamp",), "review_thread": (),
    "commit": ("committed_date", "authored_date"), "files": (),
}  # fmt: skip


class Context(msgspec.Struct, frozen=True):
    """What surrounds an object and may name its request: a bundle's pull, a command line, or the folder."""

    repository: str | None = None
    number: int | None = None
    kind: str | None = None
    """What sort of objects a command asked for: a projection may leave out the keys that tell."""


def unit_of(kind: str, value: dict[str, Any], context: Context) -> str | None:
    """`owner/repo#12` (with the host in front where it is not github.com), or None where nothing names it.

    Lower case: GitHub's names are the same in any case. A comment on an issue names no merge request.
    """
    page = value.get("html_url")
    if isinstance(page, str) and _ISSUE_PAGE.match(page) and "pull_request" not in value:
        return None
    names = ["html_url", "pull_request_url", "issue_url", "prUrl"]
    if kind in ("pull", "comment", "review_comment"):
        names.append("url")
    for name in names:
        found = _PULL_URL.match(value[name]) if isinstance(value.get(name), str) else None
        if found:
            return f"{_repository(found)}#{found[4]}"
    repository = context.repository or _stated_repository(kind, value)
    if kind == "pull":
        repository = _listed_with(value) or repository
    number = value.get("prNumber") or (value.get("number") if kind == "pull" else None) or context.number
    if repository and isinstance(number, int) and not isinstance(number, bool):
        return f"{repository}#{number}"
    return None


def page_of(url: str) -> tuple[str, int] | None:
    """(repository as in a unit's id, number) of a request's address."""
    found = _PULL_URL.match(url)
    return (_repository(found), int(found[4])) if found else None


def _listed_with(value: dict[str, Any]) -> str | None:
    """The repository that `gh search prs` and GraphQL name beside a request."""
    stated = value.get("repository")
    if isinstance(stated, dict):
        stated = stated.get("nameWithOwner") or stated.get("full_name")
    return stated.lower() if isinstance(stated, str) and stated.count("/") == 1 else None


def _stated_repository(kind: str, value: dict[str, Any]) -> str | None:
    if isinstance(value.get("prRepository"), str):
        return str(value["prRepository"]).lower()
    url = value.get("url") if kind in ("commit", "timeline") else None
    found = _REPOSITORY_URL.match(url) if isinstance(url, str) else None
    return _repository(found) if found else None


def _repository(found: re.Match[str]) -> str:
    host, owner, name = found[1].lower(), found[2].lower(), found[3].lower()
    return f"{owner}/{name}" if host == "github.com" else f"{host}/{owner}/{name}"


def id_of(kind: str, value: dict[str, Any]) -> str:
    """The record id: kind and native id, else the hash of the canonical content."""
    if kind == "pull":
        return f"pull:{value['number']}"
    if kind == "commit":
        return f"commit:{value.get('sha') or value.get('oid') or digest(canonical(value))}"
    if kind == "files":
        return "files"
    number = number_of(value) if kind not in ("pr_link", "review_thread") else value.get("id")
    return f"{kind}:{number or digest(canonical(value))[:32]}"


def time_of(kind: str, value: dict[str, Any]) -> tuple[datetime | None, str | None]:
    """When it happened, and the stated text where that is no possible time. (None, None): no time is stated."""
    fields = {snake(name): field for name, field in value.items()}
    names = _TIMES[kind]
    if kind == "commit":
        inner = value.get("commit") if isinstance(value.get("commit"), dict) else value
        for who in ("committer", "author"):
            person = inner.get(who) if isinstance(inner, dict) else None
            if isinstance(person, dict) and person.get("date"):
                fields, names = {"date": person["date"]}, ("date",)
                break
    for name in names:
        stated = fields.get(name)
        if stated is not None:
            moment = parse_time(stated)
            return moment, None if moment else str(stated)[:60]
    return None, None
