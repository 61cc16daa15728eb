"""Figures of extraction: megabytes of raw transcript per CPU-second of one process, reading the events apart.

Two inputs, as in `test_ingest`: generated transcripts, in which nothing much happens, and real ones under new ids where
their collection lies beside the checkout. A third holds what is dear to read: long failing outputs, long prompts, and
lines made to make a regular expression go back and forth.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import ingest as night
import polars as pl
import pytest
import transcripts
from transcripts import START

from lorelake.content.signatures import error_signature
from lorelake.evidence.days import units_in
from lorelake.evidence.signals import EXTRACTORS, signal_rows
from lorelake.evidence.unit import EventRow
from lorelake.lake import Lake
from lorelake.tables import EVENTS

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
REAL = sorted((DATA / "claude-code").rglob("*.jsonl")) if DATA.exists() else []
KINDS = ["generated", *(["real"] if REAL else [])]
MEGABYTES = 40
WANTED = 40.0

Units = Sequence[tuple[str, list[EventRow]]]


def say(what: str, value: str) -> None:
    sys.stderr.write(f"\n  {what:<72} {value}")


def units(kind: str, folder: Path) -> tuple[float, Units]:
    """Raw megabytes, and the events of every unit as a night would read them."""
    write: Callable[..., list[Path]] = transcripts.generate if kind == "generated" else transcripts.multiply
    paths = write(folder / "in", MEGABYTES) if kind == "generated" else write(REAL, folder / "in", MEGABYTES)
    lake = Lake(folder / "lake")
    night.ingest(folder / "in", lake)
    found = list(units_in(pl.concat([pl.read_parquet(path) for path in lake.days(EVENTS)])))
    return sum(path.stat().st_size for path in paths) / 1e6, found


def quickest(work: Callable[[], Any], times: int = 3) -> float:
    """CPU seconds of the quickest of some runs."""
    took = []
    for _ in range(times):
        error_signature.cache_clear()
        began = time.process_time()
        work()
        took.append(time.process_time() - began)
    return min(took)


def extract_all(found: Units) -> int:
    return sum(len(signal_rows(events, {"family_id": unit})) for unit, events in found)


@pytest.mark.parametrize("kind", KINDS)
def test_megabytes_of_transcript_per_second(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LORELAKE_JOBS", "1")
    size, found = units(kind, tmp_path)
    speed = size / quickest(lambda: extract_all(found))
    say(f"{kind}: extraction, MB of transcript per CPU-second (>= {WANTED:.0f})", f"{speed:.0f}")
    for name, rule in EXTRACTORS.items():
        took = quickest(lambda rule=rule: [rule(events) for _, events in found], 1)
        say(f"{kind}:   {name}, CPU-seconds for {size:.0f} MB", f"{took:.3f}")
    assert speed >= WANTED


def _event(seq: int, kind: str, text: str, **more: Any) -> EventRow:
    values = {
        "event_id": f"e{seq}", "unit_id": "claude_code:dear", "unit_kind": "session", "source": "claude_code",
        "seq": seq, "ts": START + timedelta(seconds=seq), "day": START.date(), "actor": "mara",
        "actor_class": {"prompt": "human", "tool_call": "agent", "tool_result": "tool"}[kind], "kind": kind,
        "text": text, "text_sha256": "", "on_live_path": True, "project": "p", "audience": "team",
        "source_uri": f"s:{seq}", "first_kept": START.date(),
    }  # fmt: skip
    return EventRow(**{**values, **more})


DEAR = {
    "blank lines": "\n" * 60_000,
    "one long word": "a" * 60_000,
    "stack lines": "    at total (src/cart.js:10:5)\n" * 2_000,
    "dots and colons": "a.b:c." * 10_000,
    "spaces": (" " * 300 + "at a\n") * 200,
    "quotes": "'\"`" * 20_000,
    "brackets": "[ERROR] (((((" * 5_000,
    "failing tests": "--- FAIL: TestTotal (0.00s)\n    cart_test.go:12: got 4, want 3\n" * 1_000,
    "lint": "src/cart/total.ts:12:5 - error TS2322: no\n" * 1_500,
    "log": "2026-02-03T10:11:12Z level=error msg=\"cannot reach the till\" attempt=3 error: refused\n" * 700,
    "minified": "function(a){return a.b.c(d,'e')};" * 2_000,
    "paths": "/home/mara/src/" * 4_000,
    "numbers": "1234567 " * 8_000,
}  # fmt: skip
"""Texts of about 60 kB, none of which may take long."""


def _dear(text: str) -> Iterator[EventRow]:
    for at in range(0, 20, 4):
        yield _event(at, "prompt", text)
        yield _event(at + 1, "tool_call", "make test", call_id=f"c{at}", tool="Bash", command="make test 2>&1 | tail")
        yield _event(at + 2, "tool_result", text, call_id=f"c{at}", tool="Bash", is_error=at % 8 == 0)
        yield _event(at + 3, "tool_call", text[:4000], call_id=f"d{at}", tool="Bash", command=text[:4000])


@pytest.mark.parametrize("name", DEAR)
def test_what_is_dear_to_read(name: str) -> None:
    events = list(_dear(DEAR[name]))
    size = sum(len(event.text) for event in events) / 1e6
    speed = size / max(quickest(lambda: extract_all([("dear", events)]), 1), 1e-6)
    say(f"{name}: MB of text per CPU-second", f"{speed:.1f}")
    assert speed >= 1
