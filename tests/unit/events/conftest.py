"""Nights without an orchestrator: intake, books and days of events, over real formats."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from lorelake.content.redaction import Redactor
from lorelake.events import copies, visibility
from lorelake.events import days as event_days
from lorelake.formats import registry
from lorelake.formats.record import Capture, Member, Refusal
from lorelake.lake import Lake, read_table
from lorelake.landing import discover
from lorelake.raw import intake
from lorelake.settings import Settings, Source, Team
from lorelake.tables import EVENTS, INTAKE, QUARANTINE, RAW_RECORDS

AS_OF = date(2026, 3, 20)


class Nights:
    """A lake and the nights that make it; a night sees everything that lay there before, and what is new."""

    def __init__(self, root: Path, settings: Settings) -> None:
        self.lake, self.settings = Lake(root), settings
        self.redactor = Redactor(b"a key for tests, nothing more 32")
        self._there: list[tuple[str, Capture]] = []

    def night(
        self,
        captures: Iterable[tuple[str, Capture]] = (),
        refused: Sequence[tuple[str, str, Refusal]] = (),
        as_of: date = AS_OF,
    ) -> dict[str, int]:
        """One night; a capture of a known name replaces it. Gives the days derived and their events."""
        new = list(captures)
        names = {capture.name for _, capture in new}
        self._there = [pair for pair in self._there if pair[1].name not in names] + new
        plan = intake.plan(self.lake, as_of, self._there, refused, self.redactor, registry.by_name)
        intake.save(self.lake, plan)
        plan = intake.load(self.lake)
        for day in plan.days:
            intake.apply_day(self.lake, day, plan)
        intake.close(self.lake, plan)
        inputs = self.inputs(as_of)
        return event_days.derive_days(self.lake, event_days.stale_days(self.lake, inputs), inputs, registry.by_name)

    def folder(self, root: Path, as_of: date = AS_OF) -> dict[str, int]:
        """One night over everything that lies in a folder, as a configured source."""
        found = discover.captures(
            Settings(team=Team("t"), sources=(Source(str(root)),), slack=self.settings.slack, folder=str(root.parent))
        )
        self._there = []
        return self.night(found.captures, found.refusals, as_of)

    def inputs(self, as_of: date = AS_OF) -> event_days.Inputs:
        raw = event_days.scan_raw(self.lake)
        index = raw.select(event_days.INDEX).collect()
        narrowed = visibility.narrowed(raw, self.settings.slack.include)
        return event_days.Inputs(index, [], self.settings, as_of, narrowed, copies.owned_elsewhere(raw))

    def events(self, *kinds: str) -> pl.DataFrame:
        found = read_table(EVENTS, self.lake.days(EVENTS)).sort("ts", "event_id")
        return found.filter(pl.col("kind").is_in(kinds)) if kinds else found

    def sessions(self) -> pl.DataFrame:
        return event_days.sessions(self.lake, self.inputs()).sort("unit_id")

    def raw(self) -> pl.DataFrame:
        return read_table(RAW_RECORDS, self.lake.days(RAW_RECORDS)).sort(list(RAW_RECORDS.key))

    def intake(self) -> pl.DataFrame:
        return read_table(INTAKE, self.lake.table(INTAKE))

    def quarantine(self) -> pl.DataFrame:
        return read_table(QUARANTINE, self.lake.table(QUARANTINE))


@pytest.fixture
def nights(tmp_path: Path) -> Callable[..., Nights]:
    """A lake by name in this test's folder, with settings if given."""

    def make(name: str = "lake", settings: Settings | None = None) -> Nights:
        return Nights(tmp_path / name, settings or Settings(team=Team("t")))

    return make


@pytest.fixture
def jsonl() -> Callable[..., tuple[str, Capture]]:
    """A file of JSON lines as the capture that discovery makes of it."""

    def make(name: str, lines: Sequence[dict[str, Any]] | bytes) -> tuple[str, Capture]:
        data = lines if isinstance(lines, bytes) else b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        member = Member(name, len(data), lambda: BytesIO(data))
        format_name = registry.sniff_member(name, member.head())
        assert format_name, name
        return format_name, Capture(name, (member,), hashlib.sha256(data).hexdigest())

    return make
