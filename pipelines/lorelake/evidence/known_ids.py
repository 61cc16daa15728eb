"""Which ids a release answered to: a marker that names another id, or a release that never was, is text."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping


class KnownIds:
    """The ids of every release this lake published.

    Releases from before the first recorded one (a lake whose history was lost, transcripts older than the lake)
    cannot be looked up: their ids are taken as they are, and resolve or not. So is everything where nothing was
    published yet. A release id of that time or later that was never published is nobody's.

    Args:
        ids: (sequence of the publish that first recorded it, id as `lrn_` and 32 hex).
        publishes: release id to the sequence of its first publish.
    """

    def __init__(self, ids: Iterable[tuple[int, str]] = (), publishes: Mapping[str, int] | None = None) -> None:
        self._publishes = dict(publishes or {})
        self._first_day = min((release[:10] for release in self._publishes), default="")
        self._ids = sorted((id_, sequence) for sequence, id_ in ids)

    def is_release(self, release_id: str) -> bool:
        """Whether there may have been a release of that id."""
        return release_id in self._publishes or self._is_older(release_id)

    def knows(self, release_id: str, id_: str) -> bool:
        """Whether a release answered to an id or to a prefix of one."""
        published = self._publishes.get(release_id)
        if published is None:
            return self._is_older(release_id)
        position = bisect_left(self._ids, (id_, 0))
        while position < len(self._ids) and self._ids[position][0].startswith(id_):
            if self._ids[position][1] <= published:
                return True
            position += 1
        return False

    def _is_older(self, release_id: str) -> bool:
        return not self._publishes or release_id[:10] < self._first_day
