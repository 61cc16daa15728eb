"""Several versions of one record put together: each field from the newest version that states it.

A request is met in lists, views, exports and pulls that each state a part. "Newest" is the stated update time, then
the day a version was first kept, then its content, so that the order in which captures were read decides nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import UNSET

from lorelake.formats.record import UnitRecord, canonical, parse_time

Fields = TypeVar("Fields", bound=msgspec.Struct)


class Version(msgspec.Struct, Generic[Fields]):
    """One stored version: its record, and the fields that this version states."""

    record: UnitRecord
    fields: Fields
    newness: tuple[str, str, str]


class Merged(msgspec.Struct, Generic[Fields]):
    """All versions of one record, newest first, and the fields put together from them.

    `id` is that of the version kept first: where two forms of a source name one thing differently, what was known
    under one name keeps it.
    """

    id: str
    kind: str
    fields: Fields
    versions: list[Version[Fields]]

    @property
    def newest(self) -> UnitRecord:
        """The record of the newest version."""
        return self.versions[0].record

    def first_with(self, words: str, words_of: Callable[[Any], str]) -> UnitRecord:
        """The record in which these words stood first; the newest where none states them as a whole."""
        same = [one.record for one in self.versions if words_of(one.fields) == words]
        return min(same or [self.newest], key=lambda record: (record.first_kept, record.source_uri))


def merge(
    records: Iterable[UnitRecord],
    typed: Callable[[str, Any], Fields],
    updated: Callable[[Fields, UnitRecord], object],
    same: Callable[[list[Version[Fields]]], Mapping[str, str]] | None = None,
) -> list[Merged[Fields]]:
    """One `Merged` a record id, in order of the newest version's time, then id.

    Args:
        typed: the fields of a record, from its type and value. Raises msgspec.ValidationError or KeyError for a
            record that is none of the format's, or whose field's type redaction changed; it is passed over.
        updated: the stated time of a version's last change, of its fields and record; a version without is the oldest.
        same: record ids that name the same thing as another, to that other.
    """
    versions: list[Version[Fields]] = []
    for record in records:
        try:
            fields = typed(record.type, record.value)
        except (msgspec.ValidationError, KeyError):
            continue
        versions.append(
            Version(record, fields, (_instant(updated(fields, record)), record.first_kept, canonical(record.value)))
        )
    alias = same(versions) if same else {}
    by_id: dict[str, list[Version[Fields]]] = defaultdict(list)
    for version in versions:
        by_id[alias.get(version.record.id, version.record.id)].append(version)
    merged = [_together(found) for found in by_id.values()]
    return sorted(merged, key=lambda item: (item.newest.ts, item.id))


def _together(found: list[Version[Fields]]) -> Merged[Fields]:
    found.sort(key=lambda version: (version.newness, version.record.id), reverse=True)
    newest = found[0].fields
    stated = {
        name: next(
            (value for value in (getattr(one.fields, name, UNSET) for one in found) if value is not UNSET), UNSET
        )
        for name in newest.__struct_fields__
    }
    first = min(found, key=lambda version: (version.record.first_kept, version.record.id)).record
    return Merged(first.id, found[0].record.type, type(newest)(**stated), found)


def _instant(stated: object) -> str:
    """A time as text that sorts: two forms of a source write one instant differently."""
    moment = parse_time(stated)
    return moment.isoformat(timespec="microseconds") if moment else ""
