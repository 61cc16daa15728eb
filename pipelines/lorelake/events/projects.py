"""Which project something belongs to: one function, used for what is written and for what is read."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lorelake.settings import Project

UNKNOWN = "unknown"
WORKTREE = re.compile(r"/(?:\.git/)?(?:\.?worktrees|\.claude/worktrees|\.codex/worktrees)/[^/]+")


def canonical_remote(remote: str) -> str:
    """A remote URL as host/owner/name: no scheme, user, port or `.git`, lower case. Empty for an empty one."""
    text = re.sub(r"^[a-z+]+://", "", remote.strip(), flags=re.IGNORECASE)
    text = re.sub(r"^[^@/]+@", "", text)
    text = re.sub(r"^([^/:]+):(?:\d+/)?", r"\1/", text)
    return re.sub(r"\.git/?$", "", text).strip("/").lower()


def checkout(cwds: Sequence[str]) -> str:
    """The folder of a checkout from the working directories recorded in it.

    Each is cut at a worktree marker; of what is left the shortest that prefixes the first one is taken, so a
    `cd` into a subfolder makes no second project. Empty where nothing was recorded.
    """
    cut = []
    for cwd in cwds:
        marker = WORKTREE.search(cwd)
        cut.append((cwd[: marker.start()] if marker else cwd).rstrip("/"))
    if not cut or not cut[0]:
        return ""
    first = cut[0]
    return min((cwd for cwd in cut if cwd and (first == cwd or first.startswith(cwd + "/"))), key=len)


def resolve(remote: str | None, cwds: Sequence[str], hint: str | None, projects: Sequence[Project]) -> tuple[str, bool]:
    """(project id, whether it is an assumption).

    In order: the recorded remote; the recorded checkout, if the settings name its folder; the settings' hint
    for this source (assumed); the recorded checkout as it stands; `unknown`. Never a store folder's name.
    """
    if remote:
        name = canonical_remote(remote)
        for project in projects:
            if name in {canonical_remote(known) for known in project.remotes}:
                return project.id, False
        if name:
            return name, False
    folder = checkout(cwds)
    for project in projects:
        if folder and any(folder == known or folder.endswith("/" + known.strip("/")) for known in project.folders):
            return project.id, False
    if hint:
        return hint, True
    return (folder, False) if folder else (UNKNOWN, False)
