import pytest

from lorelake.evidence.corrections import extract


def correct(unit, words, kind="prompt", **more):
    unit.add("prompt", "add a retry to the client")
    unit.call("c1", path="/src/api/client.py", text='{"old":"send(request)","new":"retry(send, request)"}')
    unit.add(kind, words, **more)
    return extract(unit.events)


@pytest.mark.parametrize(
    "words",
    [
        "no, the retry belongs in the transport",
        "don't edit the client, it is generated",
        "use the backoff helper in the client instead",
        "that's wrong, a request must not be sent twice",
        "not in the client, but in the transport",
        "不要改 client 这个文件",
    ],
)
def test_a_turn_against_the_act_just_done_is_a_correction(unit, words):
    (signal,) = correct(unit, words)
    assert signal.quote == words
    assert signal.item["when"] == "editing `src/api/client.py`"
    assert signal.seen["shared"]


@pytest.mark.parametrize(
    "words",
    [
        "no problem, the client is fine",
        "now add a test for the client",
        "is the client not retried?",
        "don't worry about the client",
        "no, the invoice footer is on page two",  # of another matter
        "maybe don't edit the client, not sure",
    ],
)
def test_other_turns_are_none(unit, words):
    assert correct(unit, words) == []


def test_a_bare_no_is_taken_with_what_follows(unit):
    (signal,) = correct(unit, "No. Put the retry in the transport.")
    assert signal.quote == "No. Put the retry in the transport."


def test_the_first_prompt_corrects_nothing(unit):
    unit.add("prompt", "don't touch the client")
    assert extract(unit.events) == []


def test_a_turn_after_another_persons_turn_corrects_nothing(unit):
    unit.call("c1", path="/src/api/client.py")
    unit.add("prompt", "thanks")
    unit.add("prompt", "don't edit the client")
    assert extract(unit.events) == []


def test_a_queued_prompt_and_a_free_answer_count_and_a_picked_option_does_not(new_unit):
    assert correct(new_unit(), "don't edit the client", kind="queued_prompt")
    assert correct(new_unit(), "don't edit the client", attributes={"answers_question": True, "picked_option": False})
    assert not correct(new_unit(), "don't edit the client", attributes={"picked_option": True})


def test_an_agents_question_in_a_quoted_log_is_not_the_persons_word(unit):
    assert correct(unit, "look at this:\n```\ndon't edit the client\n```") == []
