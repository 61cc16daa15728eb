"""GitLab merge requests: project exports (`gitlab_export`), REST answers and the bundles of `pull` (`gitlab_rest`).

Both forms of a request end in one unit, `<project number>!<iid>`, with each note, commit and approval once
(`gitlab_records`, `gitlab_notes`). A diff's text, most of what a host sends, is reduced to file paths and ranges of
changed lines (`hunks`, counted in the file after the change). What is marked internal or confidential is refused as
`private` unless the settings include private conversations: it is told to fewer people than the project.

REST does not tell where a note was first written, only where it is now: that is then the place of the version met
first. Nor does it tell who opened a settled thread again.
"""

from __future__ import annotations

from collections.abc import Iterator

from lorelake.formats import gitlab_events, gitlab_export, gitlab_rest
from lorelake.formats.gitlab_export import UNNAMED
from lorelake.formats.gitlab_objects import MergeRequest
from lorelake.formats.gitlab_records import web_of
from lorelake.formats.json_text import outline
from lorelake.formats.record import Capture, Event, Record, Refusal, Unit, UnitFacts

NAME = "gitlab"
SEEN = (
    "project exports (tree/project/*.ndjson) of GitLab.com from 2020, the keys that changed by 2024 are known;"
    " REST v4 as its documentation of 2026 has it"
)


_ONE_FILE = frozenset({"labels", "issues", "milestones", "merge_requests", "snippets", "deploy_keys"})
"""Lists that come early in an export of one file, which states few settings."""
_HOOK = frozenset({"ssh_url_to_repo", "http_url_to_repo", "web_url"})
"""What REST tells of a project and an export does not."""


def sniff(member: str, head: bytes) -> bool:
    """By the keys of the first object; relations of an export other than its requests are found beside them."""
    seen = outline(head)
    settings = "visibility_level" in seen.keys and (
        any(key.startswith("merge_requests_") for key in seen.keys)
        or ("archived" in seen.keys and _ONE_FILE & seen.keys and not _HOOK & seen.keys)
    )
    return (settings and not seen.listed) or gitlab_rest.sniff(seen)


def read(capture: Capture) -> Iterator[Record | Refusal]:
    """One Record or Refusal for each object; an export is told by the names of its parts."""
    if any(gitlab_export.is_part(member.name) for member in capture.members):
        return gitlab_export.read(capture)
    return gitlab_rest.read(capture)


def facts(unit: Unit) -> UnitFacts:
    """The project's address (its path or number where no capture states that) as remote, and the source branch."""
    merged = gitlab_events.merged_of(unit)
    versions = [one.fields for item in merged for one in item.versions if isinstance(one.fields, MergeRequest)]
    pages = {page[0] for page in (web_of(fields.web_url) for fields in versions) if page}
    paths = {fields.project_path for fields in versions if isinstance(fields.project_path, str)}
    native = unit.unit_id.removeprefix(f"{NAME}:").removeprefix("project:").partition("!")[0]
    remote = next(iter(pages), None) or min(paths, default=native)
    if len(pages) > 1 or remote.startswith(UNNAMED):  # two instances whose projects share a number; or none stated
        return UnitFacts(kind="merge_request", branch=None)
    request = gitlab_events.request_of(merged)
    branch = request.source_branch if request and isinstance(request.source_branch, str) else None
    return UnitFacts(kind="merge_request", remote=remote, branch=branch)


def events(unit: Unit) -> list[Event]:
    """What happened in one merge request; see `gitlab_events`."""
    return gitlab_events.events(unit)


def place_of(unit_id: str) -> str | None:
    """The project of a unit, as its id has it: mostly a number."""
    return unit_id.removeprefix(f"{NAME}:").removeprefix("project:").partition("!")[0] or None
