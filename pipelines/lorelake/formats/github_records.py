"""Which merge request a GitHub object belongs to, its record id and its time; and the objects of a whole document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgspec

from lorelake.formats.github_objects import kind_of, number_of, snake
from lorelake.formats.record import canonical, digest, parse_time

_PULL_PATH = r"^https?://(?:api\.)?([^/]+)/(?:api/v3/)?(?:repos/)?([^/\s]+)/([^/\s]+)/"
_PULL_URL = re.compile(_PULL_PATH + r"(?:pulls?|issues)/(\d+)(?![\w])")
_ISSUE_PAGE = re.compile(r"^https?://(?!api\.)[^/]+/(?!repos/|api/)[^/\s]+/[^/\s]+/issues/\d+")
_REPOSITORY_URL = re.compile(_PULL_PATH)
_TIMES = {
    "pull": ("created_at",), "comment": ("created_at",), "review_comment": ("created_at",),
    "review": ("submitted_at",), "timeline": ("created_at",), "pr_link": ("timestamp",), "review_thread": (),
    "commit": ("committed_date", "authored_date"),
}  # fmt: skip


class Context(msgspec.Struct, frozen=True):
    """What surrounds an object and may name its request: a bundle's pull, a command line, or the folder."""

    repository: str | None = None
    number: int | None = None


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
    number = value.get("prNumber") or (value.get("number") if kind == "pull" else None) or context.number
    if repository and isinstance(number, int):
        return f"{repository}#{number}"
    return None


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


def natives(document: Any, context: Context) -> Iterator[tuple[Any, Context]]:
    """Every native object of a document, with what surrounds it: lists, pages, bundles, views and GraphQL answers."""
    if isinstance(document, list):
        for item in document:
            yield from natives(item, context)
    elif not isinstance(document, dict):
        yield document, context
    elif "json" in document and "cmd" in document:
        yield from natives(document["json"], _from_command(str(document["cmd"]), context))
    elif isinstance(document.get("pull"), dict) and "type" in document:
        yield from _nested(document["pull"], {key: document.get(key) for key in ("events", "comments")}, context)
    elif isinstance(document.get("data"), dict):
        yield from _graph(document["data"], context)
    elif kind_of(document) == "pull" and any(isinstance(document.get(key), list) for key in _VIEW_LISTS):
        outer = {key: field for key, field in document.items() if key not in _VIEW_LISTS}
        yield from _nested(outer, {key: document.get(key) for key in _VIEW_LISTS}, context)
    else:
        yield document, context


_VIEW_LISTS = ("comments", "reviews", "commits")


def _nested(pull: dict[str, Any], lists: dict[str, Any], context: Context) -> Iterator[tuple[Any, Context]]:
    unit = unit_of("pull", pull, context) or _unit_in(lists)
    inside = context
    if unit:
        repository, _, number = unit.rpartition("#")
        inside = Context(repository, int(number))
    yield pull, inside
    for items in lists.values():
        for item in items if isinstance(items, list) else ():
            yield item, inside


def _unit_in(lists: dict[str, Any]) -> str | None:
    """A view without its own address is named by the address of one of its comments."""
    for items in lists.values():
        for item in items if isinstance(items, list) else ():
            unit = unit_of("comment", item, Context()) if isinstance(item, dict) else None
            if unit:
                return unit
    return None


def _from_command(command: str, context: Context) -> Context:
    repository = re.search(r"(?:--repo|-R)[ =]['\"]?(?:https?://github\.com/)?([\w.-]+/[\w.-]+)", command)
    number = re.search(r"\bgh pr view (\d+)\b", command)
    return Context(
        repository[1].lower() if repository else context.repository, int(number[1]) if number else context.number
    )


def _graph(node: dict[str, Any], context: Context) -> Iterator[tuple[Any, Context]]:
    """Pull requests anywhere in a GraphQL answer, with their comments, reviews, commits and review threads."""
    for key, child in node.items():
        if key in ("repository", "viewer", "organization", "node") and isinstance(child, dict):
            yield from _graph(child, context)
        elif key in ("pullRequest", "pullRequests") and isinstance(child, dict):
            for pull in _nodes(child) if key == "pullRequests" else [child]:
                yield from _graph_pull(pull, context)


def _graph_pull(pull: dict[str, Any], context: Context) -> Iterator[tuple[Any, Context]]:
    lists: dict[str, Any] = {key: _nodes(pull.get(key)) for key in _VIEW_LISTS}
    lists["commits"] = [item.get("commit", item) for item in lists["commits"]]
    threads = _nodes(pull.get("reviewThreads"))
    lists["threads"] = [
        {**thread, "comments": [], "commentIds": [number_of(comment) for comment in _nodes(thread.get("comments"))]}
        for thread in threads
    ]
    lists["thread_comments"] = [
        {"diffHunk": None, **{key: thread[key] for key in ("path", "line", "originalLine") if key in thread}, **comment}
        for thread in threads
        for comment in _nodes(thread.get("comments"))
    ]
    outer = {key: field for key, field in pull.items() if key not in (*_VIEW_LISTS, "reviewThreads")}
    yield from _nested(outer, lists, context)


def _nodes(connection: Any) -> list[dict[str, Any]]:
    items = connection.get("nodes") if isinstance(connection, dict) else connection
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
