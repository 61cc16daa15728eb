"""Which files belong together: a Slack or GitLab export, GitMem's store. Works on names within a folder or archive."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from posixpath import basename, dirname
from typing import NamedTuple

from lorelake.formats import gitmem, opencode_files

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\.json")
_CONVERSATIONS = frozenset({"channels.json", "groups.json", "dms.json", "mpims.json", "conversations.json"})
_SLACK_INDEX = _CONVERSATIONS | {
    "users.json", "org_users.json", "integration_logs.json", "canvases.json", "huddle_transcripts.json",
    "file_conversations.json", "lists.json",
}  # fmt: skip
_GITLAB_VERSIONS = ("VERSION", "GITLAB_VERSION", "GITLAB_REVISION")


class Group(NamedTuple):
    """Files that are one capture: format name, folder they start in, and their names, sorted.

    `name` is what the capture is called where several start in one folder.
    """

    format: str
    root: str
    names: tuple[str, ...]
    name: str = ""


def groups(names: Iterable[str], format_of: Callable[[str], str | None]) -> list[Group]:
    """The exports among some files, sorted by root.

    Args:
        names: `/`-separated.
        format_of: what one file's content looks like; asked only where names alone do not tell.
    """
    folders: dict[str, list[str]] = defaultdict(list)
    for name in sorted(names):
        folders[dirname(name)].append(name)
    found = [*_slack(folders, format_of), *_gitlab(folders)]
    found += [*_gitmem(folders, format_of), *_opencode(folders, format_of)]
    return sorted(found, key=lambda group: (group.root, group.format, group.name))


def _slack(folders: Mapping[str, list[str]], format_of: Callable[[str], str | None]) -> Iterator[Group]:
    """A folder with Slack's lists beside folders of day files; or without any day, if its lists are Slack's.

    Or pages of Slack's API in folders below `messages` and `threads`, with or without lists beside those.
    """
    conversations: dict[str, list[str]] = defaultdict(list)
    for folder, names in folders.items():
        if folder and any(_DAY.fullmatch(basename(name)) for name in names):
            conversations[dirname(folder)] += names
    pages = _slack_pages(folders, format_of)
    for folder in sorted({*folders, *pages}):
        lists = [name for name in folders.get(folder, ()) if basename(name) in _SLACK_INDEX]
        told = conversations.get(folder, [])
        if folder in pages:
            yield Group("slack", folder, tuple(sorted({*lists, *told, *pages[folder]})))
            continue
        if not lists or not (told or any(basename(name) in _CONVERSATIONS for name in lists)):
            continue
        if told or any(format_of(name) == "slack" for name in lists):
            yield Group("slack", folder, tuple(sorted([*lists, *told])))


def _slack_pages(folders: Mapping[str, list[str]], format_of: Callable[[str], str | None]) -> dict[str, list[str]]:
    """Folders that hold pages of Slack's API, each with those, the files of its users and the names beside them."""
    pages: dict[str, list[str]] = defaultdict(list)
    for folder, names in folders.items():
        above = dirname(folder)
        if basename(above) in ("messages", "threads"):
            pages[dirname(above)] += [name for name in names if name.endswith(".json")]
    slack = {root: found for root, found in pages.items() if any(format_of(name) == "slack" for name in found)}
    for root, found in slack.items():
        found += [name for name in folders.get(_join(root, "users"), ()) if name.endswith(".json")]
        found += [name for name in folders.get(root, ()) if basename(name) == "names.json"]
    return slack


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


def _gitmem(folders: Mapping[str, list[str]], format_of: Callable[[str], str | None]) -> Iterator[Group]:
    """GitMem's store: a `.gitmem` folder, or one whose collections look like that, with what GitMem keeps beside."""
    for folder, names in folders.items():
        read = [name for name in names if basename(name) in gitmem.FILES]
        if not read or not (basename(folder) == ".gitmem" or any(format_of(name) == "gitmem" for name in read)):
            continue
        sessions = [here for below, here in folders.items() if dirname(below) == _join(folder, "sessions")]
        kept = [name for here in (names, *sessions) for name in here if basename(name) in gitmem.OWN_FILES]
        yield Group("gitmem", folder, tuple(sorted([*read, *kept])))


def _opencode(folders: Mapping[str, list[str]], format_of: Callable[[str], str | None]) -> Iterator[Group]:
    """OpenCode's store with what SQLite keeps beside it while it is open; and each session of its older files."""
    for folder, names in folders.items():
        here = set(names)
        for name in names:
            beside = [name + ending for ending in opencode_files.SIDECARS if name + ending in here]
            if beside and format_of(name) == "opencode":
                yield Group("opencode", folder, (name, *beside), name)
    for (root, session), files in opencode_files.sessions(name for names in folders.values() for name in names).items():
        if any(format_of(name) == "opencode" for name in files):
            yield Group("opencode", root, tuple(files), _join(root, session))


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
