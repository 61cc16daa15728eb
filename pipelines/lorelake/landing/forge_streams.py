"""Reading what changed at a forge, oldest change first, so that nothing slips by between two pages.

A stream is read by key, not by page number: each page is asked for by the time the last one ended with, and what is
updated meanwhile moves behind us and shifts nothing. Where one time fills more than a page, its pages are turned, and
turned again until nothing new appears. Bounds are inclusive, and a second is taken off for a host that means them
exclusively.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import msgspec

from lorelake.formats.record import parse_time
from lorelake.landing.forge_client import Answer, Client, RequestError, total

_EDGE = timedelta(seconds=1)
_FIRST = datetime.min.replace(tzinfo=UTC)
_PASSES = 5
"""How often the pages of one time are turned; a list that still moves then is left to the next run."""


class Entry(NamedTuple):
    """One line of a stream: which request, what of it changed (a comment's id, or the request itself), and when."""

    number: int
    native: int | None
    time: datetime


class Stream(msgspec.Struct, frozen=True):
    """A list of the forge sorted by update time, oldest first.

    `since` names the parameter that takes the earliest time. `entry` reads one item, gives None for what belongs to
    no merge request, and raises KeyError, TypeError or ValueError for what is no item.
    """

    name: str
    path: str
    parameters: Mapping[str, Any]
    since: str
    entry: Callable[[dict[str, Any]], Entry | None]


def told(moment: datetime) -> str:
    """In the one form both forges take; GitLab refuses `+00:00`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds" if moment.microsecond else "seconds")[:-6] + "Z"


def earlier(moment: datetime, by: timedelta) -> datetime:
    """A time less a duration; hosts that know none state the year 1, and nothing lies before that."""
    return moment - by if moment - _FIRST > by else _FIRST


def read_stream(client: Client, stream: Stream, start: datetime | None) -> Iterator[list[Entry]]:
    """The entries of a stream from a time on, in portions, each line once unless it changes meanwhile.

    Raises:
        RequestError: a page never came or made no sense, the list would not hold still, or it ended before it held as
            many lines as the host said at first.
    """
    seen: set[Entry] = set()
    stated, floor, more = 0, start, True
    while more:
        portion = _portion(client, stream, floor)
        yield [entry for entry in portion.entries if entry not in seen]
        stated = stated or portion.stated
        seen.update(portion.entries)
        more = portion.more and portion.end is not None
        floor = earlier(portion.end, _EDGE) if portion.end else floor
    lines = len({(entry.number, entry.native) for entry in seen})
    if lines < stated:
        told_short = f"GET {stream.path}: the host says {stated}, its list has {lines}"
        raise RequestError("malformed", client.scrub(told_short))


class _Portion(NamedTuple):
    entries: list[Entry]
    end: datetime | None
    more: bool
    stated: int


def _portion(client: Client, stream: Stream, floor: datetime | None) -> _Portion:
    """What follows a time: one page, or as many as begin and end with it; its last time; and whether there is more.

    One page is one moment of the host. Several are not, so they are turned again until they bring nothing new.
    """
    since = {} if floor is None else {stream.since: told(floor)}
    found: dict[Entry, None] = {}
    for _ in range(_PASSES):
        known, turned, end, more, stated = len(found), 0, None, False, 0
        for answer, after in client.pages(stream.path, {**stream.parameters, **since}):
            turned, more = turned + 1, after
            stated = stated or total(answer) or 0
            times, entries = _entries(client, stream, answer)
            found.update(dict.fromkeys(entries))
            end = max(times, default=end)
            if end and (floor is None or earlier(end, _EDGE) > floor):
                break
        if turned == 1 or len(found) == known:
            return _Portion(sorted(found, key=lambda entry: entry.time), end, more, stated)
    raise RequestError("malformed", client.scrub(f"GET {stream.path}: the list does not hold still"))


def _entries(client: Client, stream: Stream, answer: Answer) -> tuple[list[datetime], list[Entry]]:
    times, entries = [], []
    for item in answer.data:
        moment = parse_time(item.get("updated_at"))
        try:
            entry = stream.entry(item)
        except (KeyError, TypeError, ValueError):
            moment = None
        if moment is None:
            raise RequestError("malformed", client.scrub(f"GET {stream.path}: an item without number or update time"))
        times.append(moment)
        if entry is not None:
            entries.append(entry)
    return times, entries


def update_time(item: Mapping[str, Any]) -> datetime:
    """When an object changed last, by its host. Raises ValueError."""
    moment = parse_time(item.get("updated_at"))
    if moment is None:
        raise ValueError("no update time")
    return moment
