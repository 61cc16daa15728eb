"""The gates where a signal just passes and just does not, kind by kind and sign by sign."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from lorelake.content.normalise import content_key
from lorelake.evidence.gates import Context, admit

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
SOUND = "keep one clock for the scheduler and the sweeper"
RED = "the build on main is red right now"


def signal(number=0, quote=SOUND, kind="instruction", item=None, start=0, **more):
    row = {
        "signal_id": f"sig{number:03d}", "kind": kind, "event_id": "ev", "unit_id": "claude_code:s-1",
        "family_id": "fam-1", "quote": quote, "quote_start": start, "quote_end": start + len(quote),
        "quote_verified": True, "actor_class": "human", "ts": NOON + timedelta(minutes=number),
        "audience": "project:shop",
        "payload": json.dumps({"item": {"do": quote} if item is None else item, "seen": {}}),
    }  # fmt: skip
    return row | more


def verdicts(*rows, **context):
    return [row["rule"] for row in admit(rows, Context(**context))]


@pytest.mark.parametrize(
    "kind", ["rejection", "correction", "instruction", "decision", "answer_accepted", "memory_refuted", "proposed"]
)
def test_what_is_said_in_passing_must_not_be_passing(kind) -> None:
    assert verdicts(signal(quote=RED, kind=kind, item={"do": RED, "trust_basis": "proposed"})) == ["volatile_fact"]


@pytest.mark.parametrize("kind", ["authored", "review_repeated", "review_change", "revert"])
def test_a_document_and_a_review_are_written_to_last(kind) -> None:
    assert verdicts(signal(quote=RED, kind=kind)) == ["admitted"]


@pytest.mark.parametrize("kind", ["error_fixed", "retry_worked"])
def test_output_of_a_tool_need_be_no_prose_and_is_its_own_witness(kind) -> None:
    assert verdicts(signal(quote="use this one " + "=" * 11, kind=kind, actor_class="tool")) == ["admitted"]


@pytest.mark.parametrize("kind", ["authored", "proposed"])
@pytest.mark.parametrize("item", [{"do": SOUND}, {"do": SOUND, "trust_basis": "proposed"}])
def test_what_a_machine_handed_in_may_be_proposed_whether_it_says_so_or_not(kind, item) -> None:
    assert verdicts(signal(kind=kind, actor_class="agent", item=item)) == ["admitted"]


def test_exactly_half_of_the_signs_are_enough() -> None:
    assert verdicts(signal(quote="use this one " + "=" * 10)) == ["admitted"]


def test_three_words_beside_what_was_redacted_are_enough() -> None:
    mark = "[redacted:email:0a1b2c3d]"
    assert verdicts(signal(quote=f"{mark} write to nobody")) == ["admitted"]
    assert verdicts(signal(quote=f"{mark} write nobody")) == ["only_redacted"]


def test_what_memory_printed_in_the_very_instant_is_an_echo() -> None:
    assert verdicts(signal(), memory={"fam-1": [(NOON, SOUND)]}) == ["self_echo"]


def test_a_text_given_in_the_very_instant_is_no_echo() -> None:
    assert verdicts(signal(), injected={"fam-1": [(NOON, SOUND)]}) == ["admitted"]


def test_a_field_of_the_item_that_is_null_gives_no_orders() -> None:
    assert verdicts(signal(item={"do": SOUND, "when": None, "title": None, "because": None})) == ["admitted"]


def test_a_payload_without_item_or_context_is_refused_and_does_not_stop_the_rest() -> None:
    bare = [signal(1, payload=json.dumps(payload)) for payload in ({}, {"item": None, "seen": None})]
    assert [verdicts(row) for row in bare] == [["no_item"], ["no_item"]]


def test_advice_that_only_repeats_the_passing_fact_does_not_stand_without_it() -> None:
    assert verdicts(signal(quote=RED, item={"do": RED})) == ["volatile_fact"]
    lasting = "when the build on main is red right now, do not merge"
    assert verdicts(signal(quote=lasting, item={"do": "do not merge into a red build"})) == ["admitted"]


WHOLE = f"No, not like that. {SOUND}"


@pytest.mark.parametrize(
    ("inner_start", "outer_start", "told_whole"),
    [
        (len(WHOLE) - len(SOUND), 0, True),  # ends where the longer one ends
        (0, 0, True),  # begins where it begins
        (5, 0, True),  # lies within
        (20, 0, False),  # overhangs its end by one sign
        (0, 1, False),  # begins one sign before it
        (90, 0, False),  # stands apart, behind
        (0, 90, False),  # stands apart, before
    ],
)
def test_only_a_quote_that_lies_within_a_longer_one_is_part_of_it(inner_start, outer_start, told_whole) -> None:
    inner = signal(1, start=inner_start)
    outer = signal(2, WHOLE, kind="correction", start=outer_start)
    assert verdicts(inner, outer) == ["duplicate_in_session" if told_whole else "admitted", "admitted"]


def test_of_two_quotes_of_one_place_neither_is_part_of_the_other() -> None:
    other = "hold one clock for the sweeper and the scheduler"
    assert len(other) == len(SOUND)
    assert verdicts(signal(1), signal(2, other, kind="correction")) == ["admitted", "admitted"]


def test_the_cap_counts_each_family_apart() -> None:
    lines = [f"never share the {what} between two shops" for what in ("queue", "key", "log", "cache")]
    rows = [signal(n, line, event_id=f"ev{n}") for n, line in enumerate(lines)]
    assert verdicts(*rows) == ["admitted"] * 3 + ["session_cap"]
    assert verdicts(*rows[:3], signal(3, lines[3], event_id="ev3", family_id="fam-2")) == ["admitted"] * 4
    assert verdicts(*rows, unit_kinds={"claude_code:s-1": "merge_request"}) == ["admitted"] * 4


def test_a_mechanical_kind_in_an_agents_words_has_no_witness() -> None:
    assert verdicts(signal(kind="error_fixed", actor_class="agent")) == ["no_witness"]


def test_what_was_said_in_the_very_instant_of_a_rejection_stays_to_be_shown_as_rejected() -> None:
    decision = {
        "decision_id": "d1", "decision": "reject", "claim_id": "lrn_a", "content_key": content_key(SOUND),
        "ts": NOON, "verdict": "applies",
    }  # fmt: skip
    assert verdicts(signal(), ledger=[decision]) == ["admitted"]
    assert verdicts(signal(ts=NOON + timedelta(microseconds=1)), ledger=[decision]) == ["tombstone"]
