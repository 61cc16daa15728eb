"""GitHub pull requests: REST objects, `gh --json` output, GraphQL answers and backup bundles, one JSON file a capture.

What is met: lists of review comments, issue comments, reviews, commits, timeline events and pulls; one pull; a view by
`gh pr view --json` in any projection, alone or as a transcript's {cmd, json}; `pr-link` records; bundles {type, pull,
events, comments}. Objects nested in a view, a bundle or an answer are records of their own, with the same ids they
have in a list of their own.

Of names only the number in `pulls/<n>/` or `issues/<n>/` is used, and only for commits and timeline events, which
state their repository and not their request.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from lorelake.formats import github_events
from lorelake.formats.github_objects import kind_of, typed
from lorelake.formats.github_records import Context, id_of, natives, time_of, unit_of
from lorelake.formats.json_text import Outline, UndecodableError, fault, load, outline, refuse_value
from lorelake.formats.record import Capture, Event, Record, Refusal, Unit, UnitFacts, refuse

NAME = "github"
SEEN = "REST v3 of 2026, `gh pr view --json` of 2026 and github-metadata-backup bundles of 2023"

_FOLDER = re.compile(r"(?:^|/)(?:pulls?|issues)/(\d+)(?:/|\.json$)")
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
    """By the keys of the first object; a file of JSON lines is never one of ours."""
    seen = outline(head)
    if seen.lines or not seen.keys:
        return False
    return any(sign <= seen.keys for sign in _SIGNS) or _by_words(seen, head)


def _by_words(seen: Outline, head: bytes) -> bool:
    keys = seen.keys
    if "cmd" in keys and "json" in keys:
        return b"gh pr " in head or b"gh api " in head
    if "prNumber" in keys and "prUrl" in keys:
        return seen.listed
    if "data" in keys:
        return b'"pullRequest' in head
    return "number" in keys and ("url" in keys or "title" in keys) and b"/pull/" in head


def read(capture: Capture) -> Iterator[Record | Refusal]:
    """One Record or Refusal for each object; a file that is no JSON is one Refusal."""
    for member in capture.members:
        data = member.read()
        try:
            document = load(data)
        except UndecodableError as error:
            yield refuse(member.name, data, error.reason, error.detail)
            continue
        folder = _FOLDER.search(f"{capture.name}/{member.name}") or _FOLDER.search(capture.name)
        context = Context(number=int(folder[1]) if folder else None)
        for position, (value, around) in enumerate(natives(document, context), 1):
            yield _record(member.name, value, around, position)


def _record(member: str, value: Any, context: Context, position: int) -> Record | Refusal:
    kind = kind_of(value) if isinstance(value, dict) else None
    if kind is None:
        return refuse_value(member, value, "wrong_shape", "no pull request, comment, review or commit", position)
    broken = fault(value)
    if broken:
        return refuse_value(member, value, *broken, position)
    try:
        typed(kind, value)
    except msgspec.ValidationError as error:
        return refuse_value(member, value, "wrong_shape", f"{kind}: {error}", position)
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
