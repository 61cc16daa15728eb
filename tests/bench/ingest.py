"""A folder of transcripts to raw and events, as a night does it before anything is derived from events.

    python tests/bench/ingest.py FOLDER LAKE

Prints seconds and memory as JSON. Started by the figures as a fresh interpreter, so that imports count.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from lorelake.content.redaction import Redactor
from lorelake.events import days, visibility
from lorelake.events.people import directory
from lorelake.formats import registry
from lorelake.lake import Lake, write_bytes
from lorelake.landing import discover
from lorelake.landing.hash_cache import HashCache
from lorelake.raw import intake
from lorelake.settings import Settings, Source, Team

AS_OF = date(2026, 6, 30)
REDACTOR = Redactor(b"a key for the bench, 32 bytes long")


class Took(NamedTuple):
    """Captures read, days touched, and wall-clock seconds of the parts."""

    read: int
    days: int
    plan: float
    events: float


def ingest(folder: Path, lake: Lake) -> Took:
    """Look, decode what is new, put its days in place, close the books, derive the days."""
    began = time.perf_counter()
    settings = Settings(team=Team("bench"), sources=(Source(str(folder)),), folder=str(lake.root))
    hashes = lake.state / "capture_hashes.json"
    cache = HashCache(hashes.read_bytes() if hashes.exists() else None)
    found = discover.captures(settings, cache)
    write_bytes(hashes, cache.dumps())
    plan = intake.plan(lake, AS_OF, found.captures, found.refusals, REDACTOR, registry.by_name)
    for day in plan.days:
        intake.apply_day(lake, day, plan)
    intake.close(lake, plan)
    planned = time.perf_counter()
    rows = days.scan_raw(lake)
    people = directory(settings, days.slack_users(rows), REDACTOR)
    index = rows.select(days.INDEX).collect()
    inputs = days.Inputs(index, people, settings, AS_OF, visibility.narrowed(rows, ("public",)))
    days.derive_days(lake, plan.days, inputs, registry.by_name)
    return Took(plan.read, len(plan.days), planned - began, time.perf_counter() - planned)


def megabytes(who: int) -> float:
    """Peak resident memory of this process, or of the largest that it started."""
    return resource.getrusage(who).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def main(folder: str, home: str) -> None:
    took = ingest(Path(folder).resolve(), Lake(Path(home)))
    spent: dict[str, Any] = {"own_mb": megabytes(resource.RUSAGE_SELF), "child_mb": megabytes(resource.RUSAGE_CHILDREN)}
    json.dump({**took._asdict(), **spent}, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
