"""The files that a pull keeps for one project: a JSON object a request, and what it remembers, in one folder."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from lorelake.errors import LakeBusyError
from lorelake.lake import write_bytes

STATE_FILE = "pull.json"
_FILE_MODE, _FOLDER_MODE = 0o600, 0o700


class State(msgspec.Struct):
    """pull.json of a project's folder: the bookmark of each stream, how far any run has stored requests, and which
    requests are to be fetched again whatever their file holds."""

    lorelake: str = "pull"
    bookmarks: dict[str, str] = {}
    reached: str | None = None
    incomplete: list[int] = []


def folder_of(into: Path, forge: str, host: str, project: str) -> Path:
    """Where a project's files lie: `<into>/<forge>/<host>/<path>`, in lower case as forges take names in any case."""
    return into.joinpath(forge, host.replace(":", "_").lower(), *project.lower().split("/"))


def dumped(document: Mapping[str, Any]) -> str:
    """One part a line in the given order, which lets the first bytes tell what it is; names within parts sorted."""
    parts = (
        f"{json.dumps(name)}:{json.dumps(part, sort_keys=True, separators=(',', ':'))}"
        for name, part in document.items()
    )
    return "{" + ",\n".join(parts) + "}\n"


def read_request(path: Path) -> dict[str, Any] | None:
    """A stored request; None where there is none, or what is there is damaged."""
    try:
        document = json.loads(path.read_bytes())
        kind = document.pop("type")
        whole = isinstance(document[kind], dict) and all(map(_is_part, document.values()))
    except (FileNotFoundError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    return {"type": kind, **document} if whole else None


def _is_part(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and all(isinstance(item, dict) for item in value))


def same(new: dict[str, Any], old: dict[str, Any], passing: tuple[str, ...]) -> bool:
    """Whether two answers about a request differ in nothing but passing fields."""

    def lasting(document: dict[str, Any]) -> dict[str, Any]:
        main = document["type"]
        return {**document, main: _without(document[main], passing)}

    return lasting(new) == lasting(old)


def _without(main: dict[str, Any], passing: tuple[str, ...]) -> dict[str, Any]:
    """An object without some fields; `head.repo` stands for a field within a field."""
    kept = {name: value for name, value in main.items() if name not in passing}
    for outer, _, inner in (name.partition(".") for name in passing):
        if inner and isinstance(kept.get(outer), dict):
            kept[outer] = {name: value for name, value in kept[outer].items() if name != inner}
    return kept


def poorer(new: dict[str, Any], old: dict[str, Any]) -> bool:
    """Whether some list of a request has become shorter."""
    return any(len(part) < len(old.get(name) or ()) for name, part in new.items() if isinstance(part, list))


def read_state(folder: Path) -> State:
    """What an earlier pull remembered; nothing where the file is missing or damaged, so that all is read again."""
    try:
        return msgspec.json.decode((folder / STATE_FILE).read_bytes(), type=State)
    except (FileNotFoundError, NotADirectoryError, msgspec.DecodeError):
        return State()


def make_folder(folder: Path) -> None:
    """Make what is missing of a path, each folder with mode 0700."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(mode=_FOLDER_MODE, exist_ok=True)


@contextmanager
def held(folder: Path, dry_run: bool) -> Iterator[None]:
    """Hold a folder against another pull, which could put an older answer over a newer one."""
    if dry_run:
        yield
        return
    make_folder(folder)
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise LakeBusyError("another pull is writing here", where=str(folder), remedy="wait for it to end") from None
    finally:
        os.close(handle)


def write_request(path: Path, data: bytes) -> None:
    """Replace a request's file, whole or not at all."""
    write_bytes(path, data, _FILE_MODE)


def write_state(folder: Path, state: State) -> None:
    """Remember; nothing is written where nothing changed."""
    data = json.dumps(msgspec.to_builtins(state), indent=1).encode("ascii") + b"\n"
    path = folder / STATE_FILE
    if not path.exists() or path.read_bytes() != data:
        write_bytes(path, data, _FILE_MODE)
