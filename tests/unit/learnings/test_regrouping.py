from __future__ import annotations

from typing import Any

import pytest

from lorelake.learnings.regrouping import OVERRULED, REFUSED, regroup

A, B, C, D = (f"lrn_{letter * 32}" for letter in "abcd")


def decided(name: str, decision: str, item: str, at: int, **more: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        "decision_id": name, "decision": decision, "claim_id": item, "other_claim_id": None, "claims": [],
        "verdict": "applies", "ts": at,
    }  # fmt: skip
    return row | more


def apply(
    *rows: dict[str, Any], clusters: dict[str, str] | None = None, audience: dict[str, str] | None = None, **more: Any
) -> tuple[dict[str, str], dict[str, tuple[str, str | None, str | None]]]:
    learning_of = dict(clusters or {A: A, B: A, C: C, D: C})
    audiences = dict.fromkeys(learning_of, "team") | (audience or {})
    made = regroup(learning_of, rows, audiences, lambda claim: claim, **more)
    return learning_of, {row["decision_id"]: (row["verdict"], row["because"], row["overruled_by"]) for row in made}


def test_a_merge_moves_every_claim_and_the_other_goes_on_being_served() -> None:
    learning_of, made = apply(decided("m", "merge", B, 1, other_claim_id=D))
    assert learning_of == {A: C, B: C, C: C, D: C}
    assert made == {"m": ("applies", None, None)}


def test_a_split_takes_out_the_named_and_each_side_serves_its_most_senior() -> None:
    learning_of, made = apply(decided("s", "split", C, 1, claims=[C[:20]]))
    assert learning_of == {A: A, B: A, C: C, D: D}
    assert made == {"s": ("applies", None, None)}
    learning_of, _ = apply(decided("s", "split", A, 1, claims=[A, B]), clusters={A: A, B: A, C: A, D: A})
    assert learning_of == {A: A, B: A, C: C, D: C}


@pytest.mark.parametrize(
    ("row", "code", "more"),
    [
        (decided("x", "merge", "lrn_" + "e" * 32, 1, other_claim_id=C), "no_such_item", {}),
        (decided("x", "merge", A[:8], 1, other_claim_id=C), "no_such_item", {}),
        (decided("x", "merge", A, 1, other_claim_id=B), "same_item", {}),
        (decided("x", "merge", A, 1, other_claim_id=C), "other_audience", {"audience": {C: "dm:1", D: "dm:1"}}),
        (decided("x", "merge", A, 1, other_claim_id=C), "rejected_item", {"rejected": frozenset([D])}),
        (decided("x", "merge", A, 1, other_claim_id=C), "rejected_item", {"rejected": frozenset([B])}),
        (decided("x", "split", A, 1, claims=[C]), "not_in_item", {}),
        (decided("x", "split", A, 1, claims=[A, B]), "nothing_left", {}),
        (decided("x", "split", "lrn_" + "e" * 32, 1, claims=[A]), "no_such_item", {}),
    ],
)
def test_what_may_not_be_does_nothing_and_says_why(row: dict[str, Any], code: str, more: dict[str, Any]) -> None:
    learning_of, made = apply(row, **more)
    assert learning_of == {A: A, B: A, C: C, D: C}
    assert made == {"x": ("refused", code, None)}
    assert code in REFUSED


def test_of_a_merge_and_a_split_the_later_holds_whatever_the_order_they_are_read_in() -> None:
    merge, split = decided("m", "merge", A, 1, other_claim_id=C), decided("s", "split", C, 2, claims=[A, B])
    for rows in ([merge, split], [split, merge]):
        learning_of, made = apply(*rows)
        assert learning_of == {A: A, B: A, C: C, D: C}
        assert made == {"m": ("overruled", OVERRULED, "s"), "s": ("applies", None, None)}


def test_a_refused_decision_and_one_of_another_kind_move_nothing() -> None:
    rows = [decided("m", "merge", A, 1, other_claim_id=C, verdict="refused"), decided("r", "retire", A, 1)]
    assert apply(*rows) == ({A: A, B: A, C: C, D: C}, {})


def test_an_id_that_a_claim_had_once_names_it() -> None:
    old = "lrn_" + "0" * 32
    learning_of, _ = apply(decided("m", "merge", old, 1, other_claim_id=C), former={old: A})
    assert learning_of[A] == C
