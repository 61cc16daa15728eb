"""What `collect` remembers between runs, and the lock that keeps two of them apart.

Nothing of it is text: files, projects and contents stand as HMACs under the machine's key, so that a state file that is
read by somebody else names no project its owner did not enable.
"""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal, TextIO

import msgspec

from lorelake.lake import write_bytes
from lorelake.landing.silence import Remembered


class Sent(msgspec.Struct, frozen=True):
    """What was delivered of one file.

    `under` stands for the key, rules, policy and place it was delivered under; `source` and `digest` for the bytes of
    the file and of what was made of them; `size` counts the latter.
    """

    under: str
    source: str
    digest: str
    size: int
    generation: int = 0


class Entry(msgspec.Struct, omit_defaults=True):
    """What is known of one file of a store.

    `kind`: a transcript; a `database` of many; `strange`, of a transcript's kind and read by no format; `other`, the
    agent's own affair. `project` stands for the one it names, and is empty where it names none. `agreed` stands for
    the projects that were enabled and the version that looked, `done` for everything under which it was last dealt
    with to the end; `held` says that it was held back then.
    """

    size: int
    mtime_ns: int
    agreed: str
    kind: Literal["transcript", "database", "strange", "other"] = "transcript"
    project: str = ""
    done: str = ""
    held: bool = False
    sent: Sent | None = None


class State(msgspec.Struct):
    """Everything that is remembered. `dry_runs` stand for a project and a place of which somebody saw a dry run."""

    files: dict[str, Entry] = {}
    stores: dict[str, Remembered] = {}
    dry_runs: list[str] = []


def load(folder: Path) -> State:
    """What earlier runs wrote down. Damaged or missing state is none: everything is looked at again."""
    try:
        return msgspec.json.decode((folder / "state.json").read_bytes(), type=State)
    except (FileNotFoundError, msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError):
        return State()


def save(folder: Path, state: State) -> None:
    """Write the state, if it differs from what lies there."""
    data = msgspec.json.encode(state, order="sorted")
    path = folder / "state.json"
    with suppress(FileNotFoundError):
        if path.read_bytes() == data:
            return
    write_bytes(path, data, mode=0o600)


@contextmanager
def locked(folder: Path, wait: float = 0) -> Iterator[bool]:
    """Whether this process may collect; False while another one does. The lock dies with the process.

    Args:
        wait: seconds to wait for the other one.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    until = time.monotonic() + wait
    with open(folder / "lock", "a", encoding="utf-8") as handle:
        while not (held := _try(handle)) and time.monotonic() < until:
            time.sleep(0.1)
        yield held


def _try(handle: TextIO) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
