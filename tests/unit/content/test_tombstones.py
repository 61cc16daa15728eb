from datetime import UTC, datetime

from lorelake.content.tombstones import by_key, standing

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def decision(name, day, **more):
    row = {"decision_id": name, "decision": "reject", "claim_id": "lrn_a", "content_key": "k1", "verdict": "applies"}
    return row | {"ts": NOON.replace(day=day)} | more


def ids(ledger):
    return [row["decision_id"] for row in standing(ledger)]


def test_rejections_and_forgettings_that_apply_stand_in_order_of_time():
    ledger = [decision("b", 4, decision="forget"), decision("a", 3), decision("c", 2, decision="retire")]
    assert ids(ledger) == ["a", "b"]
    assert by_key(ledger) == {"k1": [(NOON.replace(day=3), "a"), (NOON.replace(day=4), "b")]}


def test_a_refused_decision_and_one_without_a_key_do_not_stand():
    assert ids([decision("a", 3, verdict="refused"), decision("b", 3, content_key=None)]) == []


def test_a_later_restore_of_the_key_or_the_item_lifts_it_and_an_earlier_one_does_not():
    later = decision("r", 5, decision="restore", content_key=None)
    assert ids([decision("a", 3), later]) == []
    assert ids([decision("a", 3), later | {"ts": NOON.replace(day=2)}]) == ["a"]
    assert ids([decision("a", 3), later | {"claim_id": "lrn_other", "content_key": "k2"}]) == ["a"]
    assert ids([decision("a", 3), later | {"claim_id": "lrn_other", "content_key": "k1"}]) == []
