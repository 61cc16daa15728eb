"""What the gates saw of a signal: in their order, beside the stored verdict, and never in place of it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from lorelake.content.normalise import content_key
from lorelake.evidence.gate_readings import readings
from lorelake.evidence.gates import RULES, Context

GATES = [rule for rule in RULES if rule != "admitted"]
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
WORDS = "keep the retry loop out of the request handler"


def signal(quote=WORDS, **more):
    row = {
        "signal_id": "s1", "kind": "correction", "unit_id": "codex:a", "family_id": "f1", "audience": "project:shop",
        "quote": quote, "quote_verified": True, "actor": "mara", "actor_class": "human", "ts": NOON,
        "payload": json.dumps({"item": {"do": quote}, "seen": {}}),
    }  # fmt: skip
    return row | more


def verdict(rule="admitted", detail=""):
    return {"signal_id": "s1", "admitted": rule == "admitted", "rule": rule, "detail": detail}


def saw(row, context=None, beside=()):
    return {reading.rule: reading.saw for reading in readings(verdict(), row, context, beside)}


def test_an_admitted_signal_passed_every_gate_in_order():
    found = readings(verdict(), signal())
    assert [reading.rule for reading in found] == GATES
    assert {reading.outcome for reading in found} == {"passed"}


@pytest.mark.parametrize("rule", GATES)
def test_a_refused_one_passed_what_stands_before_and_was_not_asked_further(rule):
    found = readings(verdict(rule, "what it saw"), signal())
    place = GATES.index(rule)
    assert [reading.outcome for reading in found] == ["passed"] * place + ["refused"] + ["not asked"] * (
        len(GATES) - place - 1
    )
    assert found[place].saw == "what it saw"


def test_a_rule_of_an_older_lorelake_is_told_after_all_gates():
    found = readings(verdict("gone_rule", "seen then"), signal())
    assert [reading.rule for reading in found] == [*GATES, "gone_rule"]
    assert found[-1].outcome == "refused"


def test_without_the_signal_the_verdict_alone_is_told():
    found = readings(verdict())
    assert [reading.rule for reading in found] == GATES
    assert {reading.saw for reading in found} == {""}


def test_measures_are_those_of_the_words():
    found = saw(signal())
    assert found["too_short"] == "9 words"
    assert found["not_prose"] == "1.00 letters"
    assert found["only_redacted"] == "nothing redacted in it"
    assert found["no_item"] == "has do"
    assert found["no_witness"] == "quote found again; said by human mara"
    assert (
        saw(signal("mail [redacted:email:0a1b2c3d] about it"))["only_redacted"]
        == "redacted in 1 place, with words beside"
    )


def test_an_echo_is_measured_against_what_that_session_was_given_before():
    half = "keep the retry loop out of something else altogether"
    assert (
        saw(signal(), Context(memory={"f1": [(NOON - timedelta(minutes=1), half)]}))["self_echo"]
        == "0.40 of its shingles in what memory gave that session"
    )
    assert saw(signal(), Context(memory={"f2": [(NOON, WORDS)]}))["self_echo"] == "memory gave that session nothing"
    known = saw(signal(), Context(known={"team": [half], "project:other": [WORDS]}))["known_text_echo"]
    assert known == "0.40 of its shingles in rule files and texts given to it"
    later = Context(injected={"f1": [(NOON + timedelta(minutes=1), WORDS)]})
    assert saw(signal(), later)["known_text_echo"] == "no rule file to compare with"


def test_what_lies_beside_it_in_its_session_is_counted():
    beside = [signal(signal_id="s2"), signal("another thing entirely, said then", signal_id="s3")]
    found = saw(signal(), Context(unit_kinds={"codex:a": "session"}), beside)
    assert found["duplicate_in_session"] == "1 more with its words, which came after it"
    assert found["session_cap"] == "one of 3 admitted from its session"
    assert (
        saw(signal(), Context(unit_kinds={"codex:a": "merge_request"}))["session_cap"] == "a merge request has no cap"
    )
    assert saw(signal())["duplicate_in_session"] == "first with its words in its session"


def test_a_later_decision_on_its_words_is_told():
    decision = {
        "decision_id": "d1", "decision": "reject", "claim_id": "lrn_1", "content_key": content_key(WORDS), "ts": NOON,
        "verdict": "applies", "signature": [], "other_claim_id": None, "actor": "jonas", "reason": "",
    }  # fmt: skip
    assert saw(signal(), Context(ledger=[decision]))["tombstone"] == "decision d1 came after it"
    assert saw(signal("something else that nobody decided on"), Context(ledger=[decision]))["tombstone"] == (
        "no decision on its words"
    )
