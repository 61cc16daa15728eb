"""Real merge requests, where they lie beside the checkout: what led to a change is seen, and little of it is kept."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.unit.events.conftest import Nights

from lorelake.evidence import review_changes, review_intent
from lorelake.evidence.unit import EventRow, Signal, units_in
from lorelake.settings import Settings, Team

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
FORGES = ("github", "gitlab")
SMALLEST_SHARE = 0.9
LARGEST_ITEM_SHARE = 0.5

RESOLVED = re.compile(r"\bin `?(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b|^done\b|^good catch", re.I)
"""An answer that names a commit, or says done: the comment was resolved with a change. Read apart from our rules."""

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data is not here")


@pytest.fixture(scope="module")
def requests(tmp_path_factory) -> dict[str, list[EventRow]]:
    found: dict[str, list[EventRow]] = {}
    for forge in FORGES:
        lake = Nights(tmp_path_factory.mktemp(forge), Settings(team=Team("t")))
        lake.folder(DATA / forge)
        found |= dict(units_in(lake.events()))
    return found


def _signals(requests: dict[str, list[EventRow]]) -> list[Signal]:
    return [signal for events in requests.values() for signal in review_changes.extract(events)]


def _resolved(requests: dict[str, list[EventRow]]) -> list[set[str]]:
    """The answers that resolved a comment with a change, those to one comment together."""
    threads: dict[str, set[str]] = {}
    for event in (e for events in requests.values() for e in events):
        answers = event.reply_to or event.attributes.get("answers_unseen")
        if event.kind == "review_comment" and event.actor_class == "human" and answers and RESOLVED.search(event.text):
            threads.setdefault(f"{event.unit_id} {answers}", set()).add(event.event_id)
    return list(threads.values())


@needs_data
def test_nine_in_ten_resolved_comments_become_signals(requests) -> None:
    quoted = {signal.event_id for signal in _signals(requests)}
    resolved = _resolved(requests)
    assert len(resolved) >= 50
    seen = sum(bool(answers & quoted) for answers in resolved)
    assert seen / len(resolved) >= SMALLEST_SHARE, f"{seen} of {len(resolved)}"


@needs_data
def test_most_of_them_are_about_their_change_only(requests) -> None:
    found = _signals(requests)
    items = [signal for signal in found if signal.item]
    assert 0 < len(items) <= LARGEST_ITEM_SHARE * len(found)
    told = [str(signal.item.get("do")) for signal in items]
    assert len(told) == len(set(told))


@needs_data
def test_no_witness_is_a_program_and_every_quote_is_a_persons(requests) -> None:
    by_id = {event.event_id: event for events in requests.values() for event in events}
    intents = [signal for events in requests.values() for signal in review_intent.extract(events)]
    assert intents
    for signal in (*_signals(requests), *intents):
        event = by_id[signal.event_id]
        assert event.actor_class == "human"
        assert event.text[signal.quote_start : signal.quote_end] == signal.quote
