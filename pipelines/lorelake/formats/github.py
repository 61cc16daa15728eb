"""GitHub pull requests: REST objects, `gh` output, GraphQL answers and the bundles of `pull`, a JSON file a capture.

What is met: lists of review comments, issue comments, reviews, commits, timeline events and pulls, searches; one pull;
a view by `gh pr view --json` in any projection, alone or as a transcript's {cmd, json}, where `gh api` too names its
request; lists one after another (`gh api --paginate`) or an object a line (`--jq '.[]'`); `pr-link` records; bundles
{type, pull, reviews, commits, events, …}. Objects nested in a view, a bundle or an answer are records of their own,
with the same ids they have in a list of their own.

Of names only the number in `pulls/<n>/` or `issues/<n>/` is used, and only for commits and timeline events, which
state their repository and not their request.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from lorelake.formats import github_events
from lorelake.formats.github_documents import natives, without_patches
from lorelake.formats.github_objects import kind_of, typed
from lorelake.formats.github_records import Context, id_of, time_of, unit_of
from lorelake.formats.json_documents import documents
from lorelake.formats.json_text import Outline, fault, outline, refuse_value
from lorelake.formats.record import Capture, Event, Record, Refusal, Unit, UnitFacts

NAME = "github"
SEEN = "REST v3 of 2026, `gh pr view --json` of 2026 and github-metadata-backup bundles of 2023"

_FOLDER = re.compile(r"(?:^|/)(?:pulls?|issues)/(\d+)(?:/|\.json$)")
_PAGES = re.compile(rb"^\s*\[(?=\s*\[)")
"""`gh api --slurp` puts the lists of all pages in one."""
_SIGNS: tuple[frozenset[str], ...] = tuple(
    frozenset(keys.split())
    for keys in (
        "pull_request_url id", "pull_request_url body", "issue_url body user", "issue_url html_url id",
        "number head base", "number diff_url", "number pull_request", "number headRefName", "number baseRefName",
        "number headRefOid", "number reviewDecision", "number reviews", "number mergedAt", "headRefName title",
        "baseRefName author", "sha commit parents", "sha commit author", "event node_id actor", "event node_id sha",
        "type pull", "type issue events",
    )
)  # fmt: skip


def sniff(member: str, head: bytes) -> bool:
    """By the keys of the first object. A `pr-link` on the first of several lines is a transcript's."""
    seen = outline(_PAGES.sub(b"", head))
    if not seen.keys:
        return False
    return any(sign <= seen.keys for sign in _SIGNS) or (not seen.lines and _by_words(seen, head))


def _by_words(seen: Outline, head: bytes) -> bool:
    keys = seen.keys
    if "cmd" in keys and "json" in keys:
        return b"gh pr " in head or b"gh api " in head
    if "prNumber" in keys and "prUrl" in keys:
        return seen.listed
    if "data" in keys:
        return b'"pullRequest' in head or b"/pull/" in head
    if "total_count" in keys:
        return "items" in keys and b"/pull/" in head
    return "number" in keys and ("url" in keys or "title" in keys) and b"/pull/" in head


def read(capture: Capture) -> Iterator[Record | Refusal]:
    """One Record or Refusal for each object; what is left of a file that breaks off is one Refusal."""
    for member in capture.members:
        folder = _FOLDER.search(f"{capture.name}/{member.name}") or _FOLDER.search(capture.name)
        context = Context(number=int(folder[1]) if folder else None)
        position = 0
        for document in documents(member):
            if isinstance(document, Refusal):
                yield document
                continue
            for value, around in natives(document.value, context):
                position += 1
                yield _record(member.name, value, around, position)


def _record(member: str, value: Any, context: Context, position: int) -> Record | Refusal:
    kind = (kind_of(value) or context.kind) if isinstance(value, dict) else None
    if kind is None:
        return refuse_value(member, value, "wrong_shape", "no pull request, comment, review or commit", position)
    broken = fault(value)
    if broken:
        return refuse_value(member, value, *broken, position)
    try:
        typed(kind, value)
    except msgspec.ValidationError as error:
        return refuse_value(member, value, "wrong_shape", f"{kind}: {error}", position)
    if kind == "commit" and isinstance(value.get("files"), list):
        value = {**value, **without_patches(value["files"])}
    unit = unit_of(kind, value, context)
    if unit is None:
        return refuse_value(member, value, "no_unit", f"{kind}: names no pull request of a repository", position)
    moment, wrong = time_of(kind, value)
    if wrong:
        return refuse_value(member, value, "bad_time", f"{kind}: {wrong!r} is no possible time", position)
    return Record(unit, id_of(kind, value), kind, moment, value, member, position)


def facts(unit: Unit) -> UnitFacts:
    """The repository's address, and the source branch where some version states it."""
    native = unit.unit_id.removeprefix(f"{NAME}:").rpartition("#")[0]
    address = f"https://{native}" if native.count("/") == 2 else f"https://github.com/{native}"
    return UnitFacts(kind="merge_request", remote=address, branch=github_events.branch(unit))


def events(unit: Unit) -> list[Event]:
    """What happened in one pull request; see `github_events`."""
    return github_events.events(unit)


def place_of(unit_id: str) -> str | None:
    """The repository of a unit, as its id has it."""
    return unit_id.removeprefix(f"{NAME}:").rpartition("#")[0] or None
