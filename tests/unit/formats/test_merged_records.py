from __future__ import annotations

from datetime import UTC, datetime
from itertools import permutations
from typing import Any

import msgspec
from msgspec import UNSET

from lorelake.formats.merged_records import Merged, merge
from lorelake.formats.record import UnitRecord
from lorelake.formats.suggestions import suggested


class Remark(msgspec.Struct):
    text: Any = UNSET
    line: Any = UNSET
    updated: Any = UNSET


def version(id_: str, kept: str, **value: Any) -> UnitRecord:
    return UnitRecord(id_, "remark", datetime(2026, 3, 2, tzinfo=UTC), value, f"{kept}.json:1", f"2026-03-{kept}")


def merged(*versions: UnitRecord, **more: Any) -> list[Merged[Remark]]:
    return merge(versions, lambda _, value: msgspec.convert(value, Remark), lambda fields, _: fields.updated, **more)


def test_each_field_comes_from_the_newest_version_that_states_it() -> None:
    whole = version("a", "02", text="old", line=3, updated="2026-03-02T09:00:00Z")
    edited = version("a", "03", text="new", updated="2026-03-03T09:00:00+00:00")
    poor = version("a", "04", line=None)
    for order in permutations([whole, edited, poor]):
        (item,) = merged(*order)
        assert (item.fields.text, item.fields.line) == ("new", 3), "a version without a time is the oldest"
        assert item.first_with("new", lambda fields: fields.text).first_kept == "2026-03-03"


def test_one_instant_written_two_ways_is_one() -> None:
    """The day it was first kept then decides, not the spelling."""
    first = version("a", "02", text="first", updated="2026-03-02T10:00:00+01:00")
    second = version("a", "03", text="second", updated="2026-03-02T09:00:00.000Z")
    assert [item.fields.text for item in merged(second, first)] == ["second"]


def test_two_names_of_one_thing_keep_the_one_known_first() -> None:
    (item,) = merged(version("z", "02", text="a"), version("b", "03", text="a"), same=lambda _: {"z": "b"})
    assert item.id == "z"


def test_a_record_of_another_shape_is_passed_over() -> None:
    def typed(kind: str, value: Any) -> Remark:
        return {"remark": lambda: msgspec.convert(value, Remark)}[kind]()

    other = UnitRecord("c", "label", datetime(2026, 3, 2, tzinfo=UTC), {}, "x:1", "2026-03-02")
    found = merge([other, version("a", "02", text="kept")], typed, lambda fields, _: fields.updated)
    assert [item.id for item in found] == ["a"]


def test_proposed_lines_are_found_whatever_the_fence() -> None:
    assert suggested("a\r\n```suggestion\r\nx = 1\r\n```\r\n") == ["x = 1"]
    assert suggested("````suggestion:-0+2\n```py\nx\n```\n````") == ["```py\nx\n```"]
    assert suggested("```suggestion\n```") == [""]
    assert suggested("```python\nx\n```\nno `suggestion` here\n```suggestion never closed") == []
