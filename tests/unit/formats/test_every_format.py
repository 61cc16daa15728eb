"""What holds for every format, on whatever captures of it are at hand: the samples, and real files where they lie."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from io import BytesIO
from pathlib import Path

import pytest

from lorelake.formats import history, registry
from lorelake.formats.record import Capture, Member, Record, Refusal, Unit, UnitRecord, canonical, in_order
from lorelake.landing import discover
from lorelake.settings import Settings, Source, Team

ROOT = Path(__file__).resolve().parents[3]
PLACES = (ROOT / "tests" / "samples" / "team", ROOT.parent / "shared" / "data")
UNDATED = datetime(2030, 1, 1, tzinfo=UTC)
EACH, LARGEST = 2, 80_000
"""Captures of each format and place, and their size in bytes: many enough for shapes, few enough to cut 200 times."""

WHOLE_TEXTS = ("documents", "decisions", "specstory", "aider")
"""Formats of which a cut file is still a file: the cut text is a version of its own, beside the whole one."""

Kept = frozenset[tuple[str, str, str, str]]
"""What raw keeps of a capture and must not depend on how it came: unit, record, time and content."""

every_format = pytest.mark.parametrize("name", registry.FORMATS)


@cache
def found() -> dict[str, list[Capture]]:
    by_format: dict[str, list[Capture]] = defaultdict(list)
    for place in PLACES:
        if not place.is_dir():
            continue
        here: dict[str, list[Capture]] = defaultdict(list)
        settings = Settings(team=Team("t"), sources=(Source(str(place)),), folder=str(ROOT / "tests"))
        for name, capture in discover.captures(settings).captures:
            if sum(member.size for member in capture.members) <= LARGEST:
                here[name].append(holding(capture, {member.name: member.read() for member in capture.members}))
        for name, some in here.items():
            by_format[name] += sorted(some, key=lambda one: -sum(member.size for member in one.members))[:EACH]
    return by_format


def captures(name: str) -> list[Capture]:
    some = found()[name]
    if not some:
        pytest.skip(f"no capture of {name} in the samples, nor in ../shared/data")
    return some


def holding(capture: Capture, contents: dict[str, bytes]) -> Capture:
    members = tuple(Member(name, len(data), lambda data=data: BytesIO(data)) for name, data in contents.items())
    return Capture(capture.name, members, capture.sha256, include=("public",), ref=capture.ref)


def contents_of(capture: Capture) -> dict[str, bytes]:
    return {member.name: member.read() for member in capture.members}


def records(name: str, capture: Capture) -> list[Record]:
    items = list(registry.by_name(name).read(capture))
    assert all(isinstance(item, Record | Refusal) for item in items)
    assert items
    return [item for item in items if isinstance(item, Record)]


def kept(some: list[Record]) -> Kept:
    return frozenset((one.unit, one.id, str(one.ts), canonical(one.value)) for one in some)


def units(name: str, *some: list[Record]) -> Iterator[Unit]:
    """Units of several captures together, equal versions of a record once."""
    versions: dict[str, dict[tuple[str, str], UnitRecord]] = defaultdict(dict)
    for one in (record for group in some for record in group):
        uri = f"{one.member}:{one.line}"
        stored = UnitRecord(one.id, one.type, one.ts or UNDATED, one.value, uri, "2030-01-01", one.ts_assumed)
        versions[one.unit].setdefault((one.id, canonical(one.value)), stored)
    for unit, stored in sorted(versions.items()):
        yield Unit(name, f"{name}:{unit}", in_order(stored.values()), None, None)


@every_format
def test_units_state_their_kind_and_each_event_is_one(name: str) -> None:
    format_ = registry.by_name(name)
    for capture in captures(name):
        for unit in units(name, records(name, capture)):
            assert format_.facts(unit).kind
            events = [(event.record_id, event.part) for event in format_.events(unit)]
            assert len(set(events)) == len(events)
            assert {record_id for record_id, _ in events} <= {record.id for record in unit.records}
            assert [(event.record_id, event.part) for event in format_.events(unit)] == events


@every_format
def test_the_order_of_members_and_lines_says_nothing(name: str) -> None:
    pick = random.Random(7)
    for capture in captures(name):
        contents = contents_of(capture)
        if all(member.endswith(".jsonl") for member in contents):
            for member, data in contents.items():
                lines = [line for line in data.split(b"\n") if line]
                pick.shuffle(lines)
                contents[member] = b"".join(line + b"\n" for line in lines)
        members = list(contents)
        pick.shuffle(members)
        shuffled = holding(capture, {member: contents[member] for member in members})
        assert kept(records(name, shuffled)) == kept(records(name, capture))


@every_format
def test_twice_in_one_capture_is_once(name: str) -> None:
    for capture in captures(name):
        once = records(name, capture)
        assert kept([*records(name, capture), *once]) == kept(once)
        alone = [[(e.record_id, e.part, e.text) for e in registry.by_name(name).events(u)] for u in units(name, once)]
        both = [
            [(e.record_id, e.part, e.text) for e in registry.by_name(name).events(u)] for u in units(name, once, once)
        ]
        assert alone == both


@pytest.mark.slow
@every_format
def test_cut_at_each_of_the_last_200_bytes_then_whole(name: str) -> None:
    """faults 4: a torn capture never stops the run, and what it lost comes with the whole one, once."""
    format_ = registry.by_name(name)
    for capture in captures(name):
        contents = contents_of(capture)
        theirs = [member for member in contents if member != history.MEMBER]  # that one is written by landing
        last = max(theirs, key=lambda member: (len(contents[member]), member))
        whole = records(name, capture)
        size = len(contents[last])
        for cut in range(max(0, size - 200), size):
            torn = records(name, holding(capture, contents | {last: contents[last][:cut]}))
            if name not in WHOLE_TEXTS:
                assert kept(torn) <= kept(whole), f"{capture.name} cut at {cut} of {size}"
            if cut % 20 == 0:
                for unit in units(name, torn, whole):
                    format_.facts(unit)
                    format_.events(unit)


def test_every_format_has_tests_of_its_own() -> None:
    folder = Path(__file__).parent
    without = [
        name
        for name in registry.FORMATS
        if not (folder / f"test_{name}.py").exists() and not list(folder.glob(f"test_{name}_*.py"))
    ]
    assert without == []
