"""The native objects of a whole GitHub document: lists, pages, bundles, views, searches and GraphQL answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from lorelake.formats.github_objects import kind_of, number_of
from lorelake.formats.github_records import Context, page_of, unit_of
from lorelake.formats.patches import changed_lines

_LISTS = ("comments", "reviews", "latestReviews", "commits", "reviewThreads", "timelineItems")
_BUNDLED = ("events", "issue_comments", "review_comments", "comments", "reviews", "commits")


def natives(document: Any, context: Context) -> Iterator[tuple[Any, Context]]:
    """Every native object of a document, with what surrounds it."""
    if isinstance(document, list):
        if document and all(isinstance(item, dict) and _is_file(item) for item in document):
            document = [without_patches(document)]
        for item in document:
            yield from natives(item, context)
    elif not isinstance(document, dict):
        yield document, context
    elif "json" in document and "cmd" in document:
        yield from _answered(document["json"], str(document["cmd"]), context)
    elif isinstance(document.get("pull"), dict) and "type" in document:
        yield from _bundle(document, context)
    elif isinstance(document.get("items"), list) and "total_count" in document:
        yield from natives(document["items"], context)
    elif isinstance(document.get("data"), dict):
        found = list(_graph(document["data"], context))
        yield from found or [(document, context)]  # an answer without a request is refused, not passed over
    elif document.get("event") == "line-commented" and isinstance(document.get("comments"), list):
        for comment in document["comments"]:
            yield comment, context
    elif kind_of(document) == "pull" and any(isinstance(document.get(key), list | dict) for key in _LISTS):
        yield from _view(document, context)
    else:
        yield document, context


def _bundle(bundle: dict[str, Any], context: Context) -> Iterator[tuple[Any, Context]]:
    """A request with its lists, as `lorelake pull` and github-metadata-backup write it; every list is REST's own."""
    pull = bundle["pull"]
    inside = _inside(pull, [bundle.get(key) for key in _BUNDLED], context)
    yield pull, inside
    for key in _BUNDLED:
        for item in _items(bundle.get(key)):
            yield from natives(item, inside)
    if _items(bundle.get("files")):
        yield without_patches(bundle["files"]), inside
    yield from _threads(_items(bundle.get("review_threads")), pull.get("updated_at"), inside)


def _view(pull: dict[str, Any], context: Context) -> Iterator[tuple[Any, Context]]:
    """A request with lists inside: `gh pr view --json`, or the same in GraphQL as connections with `nodes`."""
    lists: dict[str, list[Any]] = {key: _nodes(pull.get(key)) for key in _LISTS}
    inside = _inside(pull, list(lists.values()), context)
    # A view that lists the comments has them as objects; REST's own pull states their number under that name.
    yield {key: field for key, field in pull.items() if key not in _LISTS or not isinstance(field, list | dict)}, inside
    for key in ("comments", "reviews", "latestReviews"):
        for item in lists[key]:
            yield item, inside
            remarks = _nodes(item.get("comments")) if isinstance(item, dict) else []
            yield from ((_remark(remark, {}), inside) for remark in remarks if "body" in remark)
    for item in (*lists["commits"], *lists["timelineItems"]):
        inner = item.get("commit") if isinstance(item, dict) and item.get("__typename") in _COMMIT_NODES else None
        yield inner if isinstance(inner, dict) else item, inside
    yield from _threads(lists["reviewThreads"], pull.get("updatedAt"), inside)


_COMMIT_NODES = (None, "PullRequestCommit")


def _threads(threads: list[Any], changed: Any, inside: Context) -> Iterator[tuple[Any, Context]]:
    """Each review thread with the ids of its comments, and the comments themselves where their words are told."""
    for thread in threads:
        if not isinstance(thread, dict):
            yield thread, inside
            continue
        comments = [one for one in _nodes(thread.get("comments")) if isinstance(one, dict)]
        ids = [number for number in map(number_of, comments) if number]
        about = {"comments": [], "commentIds": ids} | ({"requestUpdatedAt": changed} if changed else {})
        yield {**thread, **about}, inside
        around = {key: thread[key] for key in ("path", "line", "originalLine") if key in thread}
        yield from ((_remark(comment, around), inside) for comment in comments if "body" in comment)


def _remark(comment: dict[str, Any], around: dict[str, Any]) -> dict[str, Any]:
    """A comment on a line, marked as one: GraphQL gives the words alone, and the place with the thread."""
    return {"diffHunk": None, **around, **comment}


def _is_file(value: dict[str, Any]) -> bool:
    return "filename" in value and "status" in value


def without_patches(files: list[Any]) -> dict[str, Any]:
    """The files of a request or commit as one object, each patch, most of a capture's size, reduced to its lines."""
    kept = []
    for file in files:
        patch = file.get("patch") if isinstance(file, dict) else None
        rest = {key: field for key, field in file.items() if key != "patch"} if isinstance(file, dict) else file
        kept.append({**rest, "hunks": changed_lines(patch)} if isinstance(patch, str) else rest)
    return {"files": kept}


def _inside(pull: dict[str, Any], lists: list[Any], context: Context) -> Context:
    unit = unit_of("pull", pull, context) or _unit_in(lists)
    if unit is None:
        return context
    repository, _, number = unit.rpartition("#")
    return Context(repository, int(number))


def _unit_in(lists: list[Any]) -> str | None:
    """A view without its own address is named by the address of one of its comments."""
    for items in lists:
        for item in _items(items):
            unit = unit_of("comment", item, Context()) if isinstance(item, dict) else None
            if unit:
                return unit
    return None


_ENDPOINT = re.compile(
    r"\brepos/([\w.-]+/[\w.-]+)/(pulls|issues)/(\d+)(?:/(comments|reviews|commits|timeline|events))?"
)
_ENDPOINT_KINDS = {
    ("pulls", "comments"): "review_comment", ("issues", "comments"): "comment", ("pulls", "reviews"): "review",
    ("pulls", "commits"): "commit", ("issues", "timeline"): "timeline", ("issues", "events"): "timeline",
}  # fmt: skip


_VIEW = re.compile(r"\bgh pr view\b")


def _answered(answer: Any, command: str, context: Context) -> Iterator[tuple[Any, Context]]:
    """What a `gh` command answered. A view tells the fields that were asked for, and its number is asked for seldom."""
    inside = _from_command(command, context)
    if isinstance(answer, dict) and inside.number and _VIEW.search(command):
        answer = {"number": inside.number, **answer}
    yield from natives(answer, inside)


def _from_command(command: str, context: Context) -> Context:
    """The request that a `gh` command asks for, and of `gh api` what sort of objects it answers with."""
    endpoint = _ENDPOINT.search(command)
    if endpoint:
        return Context(endpoint[1].lower(), int(endpoint[3]), _ENDPOINT_KINDS.get((endpoint[2], endpoint[4])))
    page = re.search(r"\bgh pr view ['\"]?(https?://\S+?/pull/\d+)", command)
    named = page_of(page[1]) if page else None
    if named:
        return Context(*named)
    repository = re.search(r"(?:--repo|-R)[ =]['\"]?(?:https?://github\.com/)?([\w.-]+/[\w.-]+)", command)
    number = re.search(r"\bgh pr view (\d+)\b", command)
    return Context(
        repository[1].lower() if repository else context.repository, int(number[1]) if number else context.number
    )


def _graph(node: Any, context: Context) -> Iterator[tuple[Any, Context]]:
    """Pull requests anywhere in a GraphQL answer, with their comments, reviews, commits and review threads."""
    for child in node.values() if isinstance(node, dict) else node:
        if isinstance(child, dict) and kind_of(child) == "pull":
            yield from natives(child, context)
        elif isinstance(child, dict | list):
            yield from _graph(child, context)


def _nodes(connection: Any) -> list[Any]:
    """The items of a plain list as they are; the objects of a connection, by `nodes` or by `edges`."""
    if isinstance(connection, list):
        return connection
    if not isinstance(connection, dict):
        return []
    edges = [edge.get("node") for edge in _items(connection.get("edges")) if isinstance(edge, dict)]
    return [item for item in _items(connection.get("nodes")) or edges if isinstance(item, dict)]


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
