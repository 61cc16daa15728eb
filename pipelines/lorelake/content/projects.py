"""Which project something belongs to: one function, used for what is written and for what is read."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lorelake.settings import Project

UNKNOWN = "unknown"
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
WORKTREE = re.compile(r"/(?:\.git/)?(?:\.?worktrees|\.claude/worktrees|\.codex/worktrees)/[^/]+")
_HOME = re.compile(r"/(?:home|Users)/[^/]+|/root|[A-Za-z]:/Users/[^/]+")
_TOOLS_OWN = re.compile(rf"(?:{_HOME.pattern})(?:/\.[^/]+)?")
"""A home folder, or a tool's own folder in one: agents keep worktrees of all repositories there, so what lies above
the marker is no checkout."""


def canonical_remote(remote: str) -> str:
    """A remote URL as host/owner/name: no scheme, user, port, query or `.git`, lower case. Empty for an empty one."""
    remote = re.split(r"[?#]", remote.strip())[0]  # what follows may be a key
    text = re.sub(r"^[a-z+]+://", "", remote, flags=re.IGNORECASE)
    scheme = text != remote
    text = re.sub(r"^[^/]+@", "", text)
    # Only an address with a scheme states a port; in `host:1024/name` the number is the owner.
    text = re.sub(r"^([^/:]+):(?:\d+/)?" if scheme else r"^([^/:]+):", r"\1/", text)
    return re.sub(r"\.git/?$", "", text).strip("/").lower()


def checkout(cwds: Sequence[str]) -> str:
    """The folder of a checkout from the working directories recorded in it.

    Each is cut at a worktree marker; of what is left the shortest that prefixes the first one is taken, so a
    `cd` into a subfolder makes no second project. A home folder holds all of a person's projects, so it is taken only
    where the session began in it. Empty where nothing was recorded.
    """
    cut = [_without_worktree(cwd) for cwd in cwds]
    if not cut or not cut[0]:
        return ""
    first = cut[0]
    above = [cwd for cwd in cut if cwd and first.startswith(cwd + "/") and not _HOME.fullmatch(cwd)]
    return min([first, *above], key=len)


def _without_worktree(cwd: str) -> str:
    marker = WORKTREE.search(cwd)
    if marker is None or _TOOLS_OWN.fullmatch(cwd[: marker.start()]):
        return cwd.rstrip("/")
    return cwd[: marker.start()].rstrip("/")


def resolve(remote: str | None, cwds: Sequence[str], hint: str | None, projects: Sequence[Project]) -> tuple[str, bool]:
    """(project id, whether it is an assumption).

    In order: the recorded remote; the recorded checkout, if the settings name its folder; the settings' hint
    for this source (assumed); the recorded checkout as it stands; `unknown`. Never a store folder's name. What holds
    a control character names no project: the audit would hold a release back over an audience of two lines.
    """
    if remote and not _CONTROL.search(remote.strip()):
        name = canonical_remote(remote)
        for project in projects:
            if name in {canonical_remote(known) for known in project.remotes}:
                return project.id, False
        if name:
            return name, False
    folder = checkout(cwds)
    folder = "" if _CONTROL.search(folder) else folder
    for project in projects:
        if folder and any(folder == known or folder.endswith("/" + known.strip("/")) for known in project.folders):
            return project.id, False
    if hint and not _CONTROL.search(hint):
        return hint, True
    return (folder, False) if folder else (UNKNOWN, False)
