"""Real sessions, where they lie beside the checkout: what an item is drawn from, a person said there."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.unit.events.conftest import Nights

from lorelake.evidence import days as evidence_days
from lorelake.evidence.gates import admit
from lorelake.lake import frame, read_table, write_table
from lorelake.settings import Settings, Team
from lorelake.tables import LEDGER, SESSIONS, SIGNALS

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
AGENTS = ("claude-code", "codex", "copilot-cli", "gemini-cli", "opencode", "specstory", "aider")
SPOKEN = ("rejection", "correction", "instruction", "decision", "memory_refuted")

LOGGED = re.compile(
    r"^\s*(?:\d{4}-\d\d-\d\d[T ]\d\d:|\[?(?:INFO|WARN|ERROR|DEBUG)\]?[ :]|Traceback |\s+at \S+\(|\+\+\+ |@@ )", re.M
)
"""How a log, a trace or a diff looks. Read apart from our rules."""

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data is not here")


@pytest.fixture(scope="module")
def judged(tmp_path_factory) -> tuple[pl.DataFrame, dict[str, dict[str, Any]]]:
    """Admitted signals of people's words, and the events by id."""
    lake = Nights(tmp_path_factory.mktemp("words"), Settings(team=Team("t")))
    lake.night([pair for folder in AGENTS if (DATA / folder).is_dir() for pair in _captures(DATA / folder)])
    units = lake.sessions()
    write_table(SESSIONS, units, lake.lake.table(SESSIONS))
    evidence_days.derive_days(lake.lake, units)
    signals = read_table(SIGNALS, lake.lake.days(SIGNALS))
    context = evidence_days.gate_context(lake.lake, units, frame(LEDGER, []), signals)
    admitted = {row["signal_id"] for row in admit(signals.to_dicts(), context) if row["admitted"]}
    kept = signals.filter(pl.col("signal_id").is_in(admitted), pl.col("kind").is_in(SPOKEN))
    return kept, {row["event_id"]: row for row in lake.events().iter_rows(named=True)}


def _captures(folder: Path) -> list[Any]:
    from lorelake.landing import discover
    from lorelake.settings import Source

    return discover.captures(Settings(team=Team("t"), sources=(Source(str(folder)),), folder=str(DATA))).captures


def test_each_item_of_peoples_words_is_a_live_turn_of_a_person(judged) -> None:
    kept, events = judged
    assert kept.height >= 10
    for row in kept.iter_rows(named=True):
        event = events[row["event_id"]]
        assert (event["actor_class"], event["on_live_path"]) == ("human", True), event["source_uri"]
        assert event["kind"] not in ("injected", "compaction", "tool_result"), event["source_uri"]
        assert json.loads(event["attributes"] or "{}").get("picked_option") is not True
        assert event["text"][row["quote_start"] : row["quote_end"]] == row["quote"]


def test_no_item_stands_word_for_word_in_what_that_session_was_given_before(judged) -> None:
    kept, events = judged
    given: dict[str, list[dict[str, Any]]] = {}
    for event in events.values():
        if event["kind"] in ("injected", "compaction") and event["text"].strip():
            given.setdefault(event["unit_id"], []).append(event)
    for row in kept.iter_rows(named=True):
        words = " ".join(row["quote"].split())
        for text in given.get(row["unit_id"], ()):
            if text["ts"] < row["ts"] and len(words) > 40:
                assert words not in " ".join(text["text"].split()), row["source_uri"]


def test_no_item_is_a_line_of_a_log_a_trace_or_a_diff(judged) -> None:
    kept, _ = judged
    assert not [row["source_uri"] for row in kept.iter_rows(named=True) if LOGGED.search(row["quote"])]
