import json

import pytest

from lorelake.content import quotes
from lorelake.errors import ContractError
from lorelake.evidence import signals
from lorelake.evidence.across import ACROSS
from lorelake.evidence.unit import Signal, event_row
from lorelake.tables import SIGNAL_KINDS, SIGNALS

SESSION = {"unit_id": "claude_code:s-1", "family_id": "fam-1", "person": "ana"}


def test_there_is_one_rule_for_every_kind_of_the_contract():
    assert set(signals.EXTRACTORS) | set(ACROSS) == set(SIGNAL_KINDS)


def test_rows_fit_the_contract_and_their_quotes_are_there(unit):
    unit.add("prompt", "Thanks. Always pin the driver, even in tests.")
    (row,) = signals.signal_rows(unit.events, SESSION)
    assert set(row) == set(SIGNALS.column_names)
    assert row["quote_verified"] is True
    assert row["family_id"] == "fam-1"
    text = unit.events[0].text
    assert quotes.verify(text, row["quote_start"], row["quote_end"], row["quote_sha256"])
    assert set(json.loads(row["payload"])) == {"item", "seen", "support"}


def test_the_order_in_which_events_arrive_shows_nowhere(unit):
    unit.add("prompt", "always pin the driver")
    unit.add("prompt", "we use pnpm, not npm")
    there = signals.signal_rows(unit.events, SESSION)
    assert there == signals.signal_rows(list(reversed(unit.events)), SESSION)


def test_a_quote_that_is_not_at_its_place_is_our_fault_and_loud(unit, monkeypatch):
    event = unit.add("prompt", "hello there")
    wrong = Signal(
        kind="instruction", event_id=event.event_id, quote="nope", quote_start=0, quote_end=4, item={}, seen={}
    )
    monkeypatch.setattr(signals, "EXTRACTORS", {"instruction": lambda events: [wrong]})
    with pytest.raises(ContractError, match="quote"):
        signals.signal_rows(unit.events, SESSION)


def test_a_table_row_becomes_an_event_with_decoded_attributes(unit):
    event = unit.add("prompt", "hi")
    row = {name: getattr(event, name) for name in event.__struct_fields__} | {"attributes": '{"a":1}'}
    assert event_row(row).attributes == {"a": 1}
