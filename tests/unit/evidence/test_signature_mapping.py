import json

from lorelake.evidence.signature_mapping import mapping_rows

NEW, OTHER, OLD = (f"sig-{n}:{letter * 32}" for n, letter in ((2, "a"), (2, "b"), (1, "c")))


def seen(family, signature, former, kind="error_seen"):
    payload = json.dumps({"item": {}, "seen": {"signature": signature, "former": former}})
    return {"kind": kind, "family_id": family, "payload": payload}


def test_a_pair_is_one_row_with_the_families_that_saw_it():
    rows = mapping_rows(
        [seen("f1", NEW, {"sig-1": OLD}), seen("f1", NEW, {"sig-1": OLD}), seen("f2", NEW, {"sig-1": OLD})]
    )
    assert rows == [{"former_key": OLD, "key": NEW, "algorithm": "sig-2", "families": 2}]


def test_a_former_key_that_is_two_errors_now_has_two_rows_in_whatever_order():
    signals = [seen("f1", OTHER, {"sig-1": OLD}), seen("f2", NEW, {"sig-1": OLD})]
    assert [row["key"] for row in mapping_rows(signals)] == [NEW, OTHER]
    assert mapping_rows(signals) == mapping_rows(signals[::-1])


def test_what_had_no_key_before_and_what_is_no_error_seen_has_no_row():
    assert mapping_rows([seen("f1", NEW, {}), seen("f1", NEW, {"sig-1": OLD}, kind="error_fixed")]) == []
