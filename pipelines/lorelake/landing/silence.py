"""Whether an agent that used to leave transcripts has fallen silent, or leaves some that are not understood.

An agent that moves its sessions to another store leaves the old folder behind, so a reader that finds the folder
believes that all is well. What tells is that days with sessions stop while the person still works.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from itertools import pairwise
from typing import NamedTuple

import msgspec

QUIET_DAYS = 7
"""Days without a session before an agent can have fallen silent."""
REMEMBERED_DAYS = 60
"""How long a store's days are remembered; one that was silent for longer is no news."""
USUAL_DAYS = 30
"""Days before the last session in which its usual pauses are looked for."""


class Remembered(msgspec.Struct):
    """What earlier runs saw of one store: days with sessions (ISO dates), newest last."""

    days: list[str] = []


class Seen(NamedTuple):
    """One agent's store as it is now.

    `days` have a transcript that was last written then; `strange` counts files of a transcript's kind that no format
    or only a refusing one reads, `strange_days` are theirs; `elsewhere` is the newest day on which anything else in
    the agent's own folder changed.
    """

    agent: str
    format: str
    found: bool
    transcripts: int
    days: frozenset[date]
    strange: int = 0
    strange_newest: date | None = None
    elsewhere: date | None = None


def remember(before: Mapping[str, Remembered], seen: Iterable[Seen], today: date) -> dict[str, Remembered]:
    """What the next run needs to know; equal to `before` where nothing new was seen."""
    after = dict(before)
    for store in seen:
        known = _days(before.get(store.format)) | store.days
        last = max(known, default=today)
        kept = sorted(day for day in known if day > last - timedelta(days=REMEMBERED_DAYS))
        if kept:
            after[store.format] = Remembered([day.isoformat() for day in kept])
    return after


def warnings(before: Mapping[str, Remembered], seen: Sequence[Seen], today: date) -> list[str]:
    """One sentence for each agent that fell silent or is not understood."""
    spoke = {store.format: max(_days(before.get(store.format)) | store.days, default=None) for store in seen}
    told = []
    for store in seen:
        last = spoke[store.format]
        if last and (why := _silent(store, _days(before.get(store.format)) | store.days, last, spoke, today)):
            told.append(
                f"{store.agent} has fallen silent: its last session is of {last}, {(today - last).days} days ago, "
                f"{why}. "
                "It may keep its sessions elsewhere now"
            )
        if store.strange:
            newest = f", the newest of {store.strange_newest}" if store.strange_newest else ""
            told.append(
                f"{store.agent} is read in part only: {store.strange} "
                f"{'file is' if store.strange == 1 else 'files are'} of no known format or version{newest}"
            )
    return told


def _days(remembered: Remembered | None) -> set[date]:
    return {date.fromisoformat(day) for day in remembered.days} if remembered else set()


def _silent(store: Seen, days: set[date], last: date, spoke: Mapping[str, date | None], today: date) -> str | None:
    quiet = (today - last).days
    if quiet > REMEMBERED_DAYS:
        return None
    if not store.found:
        return "and its folder is gone"
    if not store.transcripts:
        return "and its folder holds no transcript any more"
    if quiet < max(QUIET_DAYS, 2 * _usual_pause(days, last)):
        return None
    settled = last + timedelta(days=QUIET_DAYS)
    if store.elsewhere and store.elsewhere >= settled:
        return f"though its own folder changed on {store.elsewhere}"
    if store.strange_newest and store.strange_newest > last:
        return f"though it wrote files of an unknown kind on {store.strange_newest}"
    if any(other and other >= settled for format_name, other in spoke.items() if format_name != store.format):
        return "while other agents were at work"
    return None


def _usual_pause(days: set[date], last: date) -> int:
    """The longest pause between days with sessions, in days, in the weeks before the last one."""
    lately = sorted(day for day in days if day >= last - timedelta(days=USUAL_DAYS))
    return max(((after - before).days for before, after in pairwise(lately)), default=1)
