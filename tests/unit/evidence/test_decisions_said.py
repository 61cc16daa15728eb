import pytest

from lorelake.evidence.decisions_said import extract


def said(unit, words, **more):
    unit.add("message", words, **more)
    return extract(unit.events)


@pytest.mark.parametrize(
    ("words", "rejected", "because"),
    [
        ("We decided to keep the old endpoint for a year.", None, None),
        ("ok, let's go with Postgres instead of Kafka because we run it already", "Kafka", "we run it already"),
        ("we will use the new signer for all builds", None, None),
        ("We're dropping the nightly mirror since nobody reads it", "the nightly mirror", "nobody reads it"),
        ("After the call we agreed on UTC for all columns", None, None),
        ("我们决定采用消息队列", None, None),
    ],
)
def test_a_settled_matter_with_an_object_is_a_decision(unit, words, rejected, because):
    (signal,) = said(unit, words)
    assert signal.item["kind"] == "decision"
    assert signal.item.get("rejected") == rejected
    assert signal.item.get("because") == because


@pytest.mark.parametrize(
    "words",
    [
        "have we decided on a name?",
        "we have not decided to split it yet",
        "let's go with that",
        "ok going with option 2",
        "maybe we will use the new signer",
        "let's use the queue?",
        "let's make both a constant",
        "every Tuesday we drop a poll here",
    ],
)
def test_open_vague_and_hedged_ones_are_none(unit, words):
    assert said(unit, words) == []


def test_a_decision_taken_back_in_the_next_words_is_no_item(unit):
    unit.add("prompt", "let's use one logger a package")
    unit.add("prompt", "scratch that")
    assert [signal.item for signal in extract(unit.events)] == [{}]


def test_an_agents_decision_is_none(unit):
    assert said(unit, "we decided to keep the old endpoint", actor_class="agent") == []
