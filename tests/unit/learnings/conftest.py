"""Signal rows written by hand in a line each."""

import json
from datetime import UTC, datetime, timedelta

import pytest

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def _signal(name, quote, minutes=0, item=None, **more):
    row = {
        "signal_id": name,
        "kind": "instruction",
        "event_id": f"event-{name}",
        "unit_id": "claude_code:s-1",
        "family_id": "fam-1",
        "quote": quote,
        "quote_verified": True,
        "actor": "ana",
        "actor_class": "human",
        "ts": NOON + timedelta(minutes=minutes),
        "project": "shop",
        "audience": "project:shop",
        "payload": json.dumps({"item": {"do": quote, "trust_basis": "stated"} | (item or {}), "seen": {}}),
    }
    return row | more


@pytest.fixture
def signal():
    return _signal


@pytest.fixture
def admitted():
    def rows(*signals):
        return [{"signal_id": s["signal_id"], "admitted": True, "rule": "admitted", "detail": ""} for s in signals]

    return rows
