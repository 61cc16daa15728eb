"""What lies in a source folder, in an order that does not depend on the file system."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from lorelake.formats.record import Refusal, digest
from lorelake.lake import HALF_WRITTEN
from lorelake.landing.repository import is_repository


class Tree(NamedTuple):
    """Files and repositories, each as (name, path), sorted by name; and what is neither."""

    files: list[tuple[str, Path]]
    repositories: list[tuple[str, Path]]
    refusals: list[Refusal]


def walk(root: Path, name: str, left_out: frozenset[Path] = frozenset(), checkout: bool = False) -> Tree:
    """Everything below a file or folder.

    Links are followed to files within the source only: what they name elsewhere was not offered. A linked
    folder is refused, since within the source it is read where it lies.

    Args:
        root: resolved path.
        name: what names start with instead of the path.
        left_out: resolved paths that are none of the material (the lake, the settings, the key).
        checkout: root is a repository whose checkout is wanted, not its history.
    """
    tree = Tree([], [], [])
    if root.is_file():
        tree.files.append((name, root))
    elif not root.is_dir():
        why = "not a file or folder" if root.exists() else "nothing is there; check `path` in [[sources]]"
        tree.refusals.append(not_read(name, "not_a_file", why))
    elif not checkout and is_repository(root):
        tree.repositories.append((name, root))
    else:
        _folder(root, name, root, left_out, tree)
    tree.files.sort()
    tree.repositories.sort()
    tree.refusals.sort(key=lambda refusal: refusal.member)
    return tree


def not_read(name: str, reason: str, detail: str) -> Refusal:
    """A Refusal of something whose bytes were not read."""
    return Refusal(reason, detail, name, sha256=digest(name, reason))


def _folder(folder: Path, name: str, root: Path, left_out: frozenset[Path], tree: Tree) -> None:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        tree.refusals.append(not_read(name, "unreadable", error.strerror or "the folder cannot be listed"))
        return
    for entry in entries:
        path, below = Path(entry.path), f"{name}/{_shown(entry.name)}"
        if path in left_out or entry.name == ".git" or HALF_WRITTEN.fullmatch(entry.name):
            continue
        if entry.is_symlink():
            _link(path, below, root, left_out, tree)
        elif entry.is_dir():
            if is_repository(path):
                tree.repositories.append((below, path))
            else:
                _folder(path, below, root, left_out, tree)
        elif entry.is_file():
            tree.files.append((below, path))
        else:
            tree.refusals.append(not_read(below, "not_a_file", "a pipe, socket or device"))


def _link(path: Path, name: str, root: Path, left_out: frozenset[Path], tree: Tree) -> None:
    target = Path(os.path.realpath(path))
    if not target.exists():
        tree.refusals.append(not_read(name, "not_a_file", "a broken link"))
    elif not target.is_relative_to(root):
        tree.refusals.append(not_read(name, "not_a_file", "a link that leads out of the source"))
    elif not target.is_file():
        tree.refusals.append(not_read(name, "not_a_file", "a link to a folder, which is read where it lies"))
    elif target not in left_out and ".git" not in target.parts[len(root.parts) :]:
        tree.files.append((name, target))


def _shown(name: str) -> str:
    """A file name as text, whatever bytes it has."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")
