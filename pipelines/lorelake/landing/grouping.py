"""Which files belong together: a Slack export, a GitLab project export. Works on names within a folder or archive."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from posixpath import basename, dirname
from typing import NamedTuple

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\.json")
_CONVERSATIONS = frozenset({"channels.json", "groups.json", "dms.json", "mpims.json"})
_SLACK_INDEX = _CONVERSATIONS | {
    "users.json", "org_users.json", "integration_logs.json", "canvases.json", "huddle_transcripts.json",
    "file_conversations.json", "lists.json",
}  # fmt: skip
_GITLAB_VERSIONS = ("VERSION", "GITLAB_VERSION", "GITLAB_REVISION")


class Group(NamedTuple):
    """Files that are one capture: format name, folder they start in, and their names, sorted."""

    format: str
    root: str
    names: tuple[str, ...]


def groups(names: Iterable[str], format_of: Callable[[str], str | None]) -> list[Group]:
    """The exports among some files, sorted by root.

    Args:
        names: `/`-separated.
        format_of: what one file's content looks like; asked only where names alone do not tell.
    """
    folders: dict[str, list[str]] = defaultdict(list)
    for name in sorted(names):
        folders[dirname(name)].append(name)
    return sorted([*_slack(folders, format_of), *_gitlab(folders)], key=lambda group: (group.root, group.format))


def _slack(folders: Mapping[str, list[str]], format_of: Callable[[str], str | None]) -> Iterator[Group]:
    """A folder with Slack's lists beside folders of day files; or without any day, if its lists are Slack's."""
    conversations: dict[str, list[str]] = defaultdict(list)
    for folder, names in folders.items():
        if folder and any(_DAY.fullmatch(basename(name)) for name in names):
            conversations[dirname(folder)] += names
    for folder, names in folders.items():
        lists = [name for name in names if basename(name) in _SLACK_INDEX]
        told = conversations.get(folder, [])
        if not lists or not (told or any(basename(name) in _CONVERSATIONS for name in lists)):
            continue
        if told or any(format_of(name) == "slack" for name in lists):
            yield Group("slack", folder, tuple(sorted([*lists, *told])))


def _gitlab(folders: Mapping[str, list[str]]) -> Iterator[Group]:
    """`project/merge_requests.ndjson`, mostly below `tree/`, with the version files beside that."""
    for folder, names in folders.items():
        if basename(folder) != "project" or f"{folder}/merge_requests.ndjson" not in names:
            continue
        tree = dirname(folder)
        root = dirname(tree) if basename(tree) == "tree" else tree
        versions = {_join(root, version) for version in _GITLAB_VERSIONS}
        parts = [
            name
            for below, here in folders.items()
            for name in here
            if f"{below}/".startswith(f"{folder}/") or name == _join(tree, "project.json") or name in versions
        ]
        yield Group("gitlab", root, tuple(sorted(parts)))


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
