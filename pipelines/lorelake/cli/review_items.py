"""What the served release gives a reviewer: the queue, and every item that a decision may name.

Only what lies in the folders that this person may read; that a folder is closed to them is told, not what is in it.
"""

from __future__ import annotations

import difflib
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from lorelake import served
from lorelake.errors import LorelakeError, UsageError
from lorelake.recall.reader import SHORTEST_PREFIX, release_folder
from lorelake.served import Reviewed

SIGNATURES = "signatures.json"
"""In an audience's folder: learning id to `content_key` and `signature`, as the team's key makes it."""
SHOWN_ID = len("lrn_") + 12
_SUGGESTED = 3


class Age(NamedTuple):
    """How long a queue waits: items, and days of the oldest and of the one in the middle."""

    items: int
    oldest: int
    median: int


class Shelf:
    """The review folders of one release, read from disk at each question.

    Args:
        root: the lake, or a synced copy.

    Raises:
        UnreachableError: no release is served there.
        LorelakeError: the release was built without items to review.
    """

    def __init__(self, root: Path) -> None:
        self.release = release_folder(root, None)
        self.closed = 0
        self._folders: list[Path] = []
        folder = self.release / served.REVIEW_FOLDER
        for own in sorted(folder.iterdir()) if folder.is_dir() else ():
            try:
                with open(own / served.REVIEW_ITEMS, "rb"):
                    self._folders.append(own)
            except PermissionError:
                self.closed += 1
            except FileNotFoundError:
                continue
        if not self._folders:
            why = "you may read none of its review folders" if self.closed else "it holds nothing to review"
            raise LorelakeError(why, where=str(folder), remedy="run `lorelake nightly` with this version")

    def queue(self) -> list[Reviewed]:
        """What waits: the most risks first, then the widest reach, then the longest wait."""
        found = [self._read(line) for line in self._lines() if b'"why":[]' not in line]
        waiting = [one for one in found if one.why]
        return sorted(waiting, key=lambda one: (-len(one.risks), -one.reach, -(one.waiting_days or 0), _id(one)))

    def find(self, name: str) -> Reviewed:
        """The item of an id or a claim of it, or of a prefix that only one has.

        Raises:
            UsageError: too short, several, or none; near ones are named.
        """
        wanted = name.strip().lower()
        if not wanted.startswith("lrn_") or len(wanted) < SHORTEST_PREFIX:
            raise UsageError(f"`{name}` is no id", remedy=self._near(name))
        found = {_id(one): one for one in self._holding(wanted)}
        if len(found) > 1:
            several = ", ".join(sorted(found)[:_SUGGESTED])
            raise UsageError(f"`{name}` fits {len(found)} items", remedy=f"give more of one: {several}")
        if not found:
            raise UsageError(f"no item has the id `{name}`", remedy=self._near(name))
        return next(iter(found.values()))

    def claim(self, item: Reviewed, name: str) -> str:
        """A claim of an item by its id or prefix. Raises UsageError."""
        found = [claim for claim in item.claims if claim.startswith(name.strip().lower())]
        if len(found) != 1:
            raise UsageError(f"`{name}` is no claim of {_id(item)}", remedy=f"its claims: {', '.join(item.claims)}")
        return found[0]

    def signature(self, item: Reviewed) -> Sequence[str]:
        """The similarity signature of an item, as the release carries it; empty where it does not."""
        for folder in self._folders:
            path = folder / SIGNATURES
            known: dict[str, Any] = msgspec.json.decode(path.read_bytes()) if path.exists() else {}
            if _id(item) in known:
                return [str(entry) for entry in known[_id(item)].get("signature", ())]
        return ()

    def _holding(self, wanted: str) -> Iterator[Reviewed]:
        for line in self._lines():
            if wanted.encode() in line:
                one = self._read(line)
                if _id(one).startswith(wanted) or any(claim.startswith(wanted) for claim in one.claims):
                    yield one

    def _near(self, name: str) -> str:
        """What may have been meant: ids alike, or titles in which the words stand."""
        titles = {_id(one): one.item.title for one in map(self._read, self._lines())}
        words = name.lower().removeprefix("lrn_").split()
        by_id = difflib.get_close_matches(name[:SHOWN_ID], [key[:SHOWN_ID] for key in titles], _SUGGESTED, 0.7)
        found = [key for key in titles if key[:SHOWN_ID] in by_id]
        found += [key for key, title in titles.items() if words and all(word in title.lower() for word in words)]
        if not found:
            return "`lorelake review` lists what waits, `lorelake recall` finds items by words"
        near = dict.fromkeys(found[:_SUGGESTED])
        return "near it: " + "; ".join(f"{key[:SHOWN_ID]} ({titles[key]})" for key in near)

    def _lines(self) -> Iterator[bytes]:
        for folder in self._folders:
            with open(folder / served.REVIEW_ITEMS, "rb") as file:
                yield from (line for line in file if line.strip())

    def _read(self, line: bytes) -> Reviewed:
        return msgspec.json.decode(line, type=Reviewed)


def age(queue: Sequence[Reviewed]) -> Age:
    """How long a queue waits; all zero where nothing does."""
    days = [one.waiting_days or 0 for one in queue]
    return Age(len(days), max(days), int(statistics.median(days))) if days else Age(0, 0, 0)


def is_low_risk(one: Reviewed) -> bool:
    """Whether it waits for nothing but a first look: no risk, no dispute, nothing rejected near it."""
    return one.why == ("candidate",) and not one.risks and not one.near


def _id(one: Reviewed) -> str:
    return one.item.learning_id
