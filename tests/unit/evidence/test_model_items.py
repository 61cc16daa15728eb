import json

import pytest

from lorelake.evidence.model_input import MOST_CHARS, question
from lorelake.evidence.model_items import proposals

RULE = "we keep feature flags in the database, never in environment variables"


def answer(*items):
    base = {
        "statement": 1, "quote": RULE, "title": "Feature flags live in the database", "when": "adding a feature flag",
        "do": "Keep the flag in the database.", "because": None, "rejected": "environment variables", "not_when": [],
        "kind": "pattern",
    }  # fmt: skip
    return json.dumps({"items": [base | item for item in items]})


@pytest.fixture
def talk(unit):
    unit.call("c1", tool="Edit", text="FLAGS = os.environ", path="shop/flags.py")
    unit.add("prompt", f"Hold on, {RULE}.")
    unit.add("answer", "You're right, the database it is. I always use the newest library.")
    unit.add("prompt", "ok")
    return unit


def test_the_question_numbers_what_people_said_and_tells_what_the_agent_did(talk):
    asked = question(talk.events)
    assert asked.statements == (talk.events[1].event_id, talk.events[3].event_id)
    assert "    agent: editing `shop/flags.py`\n[1] ana (prompt): Hold on" in asked.text
    assert "[2] ana (prompt): ok" in asked.text


def test_what_was_pasted_rewound_or_injected_is_not_shown(unit):
    unit.add("prompt", "please look at this for me\n```\nnever trust the cache\n```")
    unit.add("prompt", "use the old parser for all of it", on_live_path=False)
    unit.add("injected", "always answer in French, says the boot file")
    text = question(unit.events).text
    assert "look at this" in text
    assert not any(word in text for word in ("cache", "parser", "French"))


def test_a_long_unit_keeps_what_was_said_last_and_says_that_it_is_cut(unit):
    for number in range(60):
        unit.add("prompt", f"sentence number {number} of a very long afternoon " + "and on " * 150)
    asked = question(unit.events)
    assert len(asked.text) < MOST_CHARS * 1.1
    assert asked.text.startswith("(what was said before this is left out)")
    assert "sentence number 59" in asked.text


def test_nothing_said_is_nothing_to_ask(unit):
    unit.add("prompt", "ok")
    unit.add("answer", "I shall always use the newest library for this")
    assert question(unit.events) is None


def test_the_same_words_are_the_same_question_and_other_words_are_not(talk, new_unit):
    key = question(talk.events).key("m")
    assert key == question(talk.events).key("m")
    assert key != question(talk.events).key("another model")
    talk.add("prompt", "and write a test for the flags")
    assert key != question(talk.events).key("m")


def test_an_item_whose_quote_stands_is_a_proposal_with_that_witness(talk):
    found = proposals(talk.events, answer({}), "m")
    (signal,) = found.signals
    assert (found.missing, found.unusable) == (0, 0)
    assert (signal.kind, signal.event_id, signal.quote) == ("proposed", talk.events[1].event_id, RULE)
    assert signal.item["trust_basis"] == "proposed"
    assert signal.seen == {"by": "m", "statement": 1}


@pytest.mark.parametrize(
    "quote",
    [
        "we keep feature flags in Redis, never in environment variables",
        "we keep feature flags in the database, always in environment variables",
        "I always use the newest library",  # an agent said it
        "flags",  # too short to be anybody's statement
        "",
    ],
)
def test_a_quote_that_nobody_said_drops_its_item_and_is_counted(talk, quote):
    found = proposals(talk.events, answer({"quote": quote}, {}), "m")
    assert len(found.signals) == 1
    assert found.missing == 1


def test_a_quote_is_found_under_another_number_and_over_another_line(talk):
    found = proposals(talk.events, answer({"statement": 2, "quote": RULE.replace(" the ", "\n the ")}), "m")
    assert found.signals[0].quote == RULE
    assert proposals(talk.events, answer({"statement": -7}), "m").signals[0].event_id == talk.events[1].event_id


def test_no_pasted_text_comes_in_between_the_words_of_a_quote(unit):
    unit.add("prompt", "always close the pool\n```\nsecret log line\n```\nbefore the process ends")
    made = answer({"quote": "always close the pool before the process ends"})
    assert proposals(unit.events, made, "m").missing == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I am sorry, I cannot do that.",
        "{",
        '{"items": 3}',
        '[{"quote": "x"}]',
        "\ud800",
    ],
)
def test_what_is_not_the_json_that_was_asked_for_is_said_so(talk, text):
    with pytest.raises(ValueError, match="not the JSON"):
        proposals(talk.events, text, "m")


def test_a_fence_around_the_answer_is_taken_off(talk):
    assert len(proposals(talk.events, f"```json\n{answer({})}\n```\n", "m").signals) == 1


def test_a_model_cannot_make_a_scar_nor_more_items_than_a_session_may_have(talk):
    found = proposals(talk.events, answer({"kind": "scar"}, *[{}] * 20), "m")
    assert found.unusable == 15
    assert len(found.signals) == 6
    assert found.signals[0].item["kind"] == "pattern"
    assert proposals(talk.events, answer({"kind": "nonsense"}), "m").signals[0].item["kind"] == "pattern"


def test_a_models_exceptions_name_their_source(talk):
    (signal,) = proposals(talk.events, answer({"not_when": ["in the tests", " "]}), "m").signals
    assert signal.item["not_when"] == ["model: in the tests"]


def test_one_item_of_another_shape_or_without_advice_does_not_spoil_the_others(talk):
    good = json.loads(answer({}))["items"][0]
    made = json.dumps({"items": [good, {"quote": "x"}, good | {"statement": "one"}, good | {"do": " "}, 7]})
    found = proposals(talk.events, made, "m")
    assert (len(found.signals), found.missing, found.unusable) == (1, 0, 4)
