import pytest

from lorelake.evidence.open_questions import extract

ASK = "How do I raise the upload limit of the importer?"


@pytest.fixture
def talk(new_unit):
    def build(*messages):
        unit = new_unit("slack:C1:1", "thread")
        for who, text in messages:
            unit.add("message", text, actor=who)
        return unit.events

    return build


def test_a_question_nobody_answered_is_open(talk):
    (signal,) = extract(talk(("ana", "Hi. " + ASK), ("ben", "let me check")))
    assert signal.item == {}
    assert signal.quote == ASK
    assert signal.seen == {"person": "ana", "object": ASK, "since": "2026-03-02", "replies": 1, "resolved_by": None}


@pytest.mark.parametrize(
    ("who", "later", "answered"),
    [
        ("ben", "Set `max_upload_mb` to 64.", True),
        ("ben", "The importer has no such limit.", True),
        ("ana", "found the solution: it is in the proxy", True),
        ("ana", "never mind, works now", True),
        ("ben", "let me check", False),
        ("ben", "which importer do you mean?", False),
        ("ben", "could you share the logs", False),
        ("ben", "thanks for asking the team", False),
        ("ana", "anybody?", False),
        ("ben", "我看一下", False),
        ("ben", "把上限改成64", True),
    ],
)
def test_what_answers_a_question_and_what_does_not(talk, who, later, answered):
    events = talk(("ana", ASK), (who, later))
    found = next(signal for signal in extract(events) if signal.event_id == events[0].event_id)
    assert (found.seen["resolved_by"] == events[1].event_id) is answered


@pytest.mark.parametrize(
    "words", ["How are you?", "Is anyone there?", "ok?", "We ship on Friday.", "> How do I raise it?", "在吗？"]
)
def test_small_talk_statements_and_quotations_ask_nothing(talk, words):
    assert extract(talk(("ana", words))) == []


def test_a_request_is_answered_by_a_file_without_words(talk):
    events = talk(("ana", "Could you share the logs of the importer?"), ("ben", ""))
    (signal,) = extract(events)
    assert signal.seen["resolved_by"] == events[1].event_id


def test_a_question_is_not_answered_by_a_file_without_words(talk):
    (signal,) = extract(talk(("ana", ASK), ("ben", "")))
    assert signal.seen["resolved_by"] is None


def test_a_bot_answers_nothing(new_unit):
    unit = new_unit("slack:C1:1", "thread")
    unit.add("message", ASK, actor="ana")
    unit.add("message", "Set `max_upload_mb` to 64.", actor="helper", actor_class="bot")
    assert extract(unit.events)[0].seen["resolved_by"] is None


def test_a_question_to_an_agent_is_none(unit):
    unit.add("prompt", ASK)
    assert extract(unit.events) == []
