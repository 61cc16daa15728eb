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


def after_refusal(unit, words, then="other"):
    unit.add("prompt", "add a retry to the client")
    unit.call("c1", path="/src/api/client.py", text='{"new":"retry"}')
    unit.add("rejection", "", call_id="c1", is_error=True)
    unit.add("interrupt")
    unit.add("prompt", words)
    unit.call("c2", path="/src/api/client.py", text='{"new":"retry"}' if then == "same" else '{"new":"other"}')
    return [signal for signal in extract(unit.events) if signal.item]


@pytest.mark.parametrize(
    "words",
    [
        "could we just list every case by name",
        "let's raise the number everywhere to 3",
        "fix the fixture, the code is right",
        "that must go through the queue",
        "用队列，不要用线程",
    ],
)
def test_words_after_a_refusal_without_words_are_what_was_held_against_it(new_unit, words):
    (signal,) = after_refusal(new_unit(), words)
    assert signal.item["when"] == "editing `src/api/client.py`"


@pytest.mark.parametrize(
    "words", ["push", "the list is in my home folder", "let's fix the tests first", "what does it do?", "not like that"]
)
def test_a_task_a_fact_or_a_question_after_such_a_refusal_is_none(unit, words):
    assert after_refusal(unit, words) == []


def test_a_question_after_such_a_refusal_counts_only_if_the_agent_changed_course(new_unit):
    words = "could we just list every case by name"
    assert after_refusal(new_unit(), words, then="other")
    assert not after_refusal(new_unit(), words, then="same")


def test_an_order_typed_while_the_agent_works_counts_if_it_is_about_the_act(new_unit):
    (signal,) = correct(new_unit(), "put the retry in the transport", kind="queued_prompt")
    assert signal.seen["after"] == "typed while the agent worked"
    assert not correct(new_unit(), "put the invoice footer on page two", kind="queued_prompt")
    assert not correct(new_unit(), "put the retry in the transport", kind="prompt")


@pytest.mark.parametrize(
    ("words", "answer", "kept"),
    [
        ("the schema tool writes that client", "You're right, it is generated.", True),
        ("the schema tool writes that client", "Great idea!", False),
        ("the schema tool writes that client", "I will look at it.", False),
        ("isn't the client shared by all workers?", "My mistake, it is shared.", True),
        ("what is the client shared by?", "You're right, let me look.", False),
        ("are you sure?", "You're right, it is not.", False),
        ("add a dark mode to the page", "You're right, I should have.", False),
        ("客户端由 schema 工具生成，不是手写", "抱歉，我看错了", True),
    ],
)
def test_a_point_that_the_agent_concedes_is_a_correction(unit, words, answer, kept):
    unit.add("prompt", "clean up")
    unit.call("c1", path="/src/api/client.py", text='{"new":"x"}')
    unit.add("prompt", words)
    unit.add("answer", answer)
    signals = [signal for signal in extract(unit.events) if signal.item]
    assert bool(signals) is kept
    assert all(signal.item["applies_to"] == ["src/api/client.py"] for signal in signals)


def test_a_conceded_fact_is_a_fact_and_no_order(unit):
    unit.call("c1", path="/src/api/client.py", text='{"new":"x"}')
    unit.add("prompt", "the workflows lie one folder up")
    unit.add("answer", "My mistake, I looked in the wrong folder.")
    assert [signal.item["kind"] for signal in extract(unit.events)] == ["fact"]


def test_words_that_only_point_at_what_nobody_can_see_are_no_item(unit):
    unit.call("c1", tool="Bash", command="send --request")
    unit.add("prompt", "no, not that request for it")
    assert all(signal.item == {} for signal in extract(unit.events))


def test_asking_why_one_thing_was_done_instead_of_another_asks_for_the_other(unit):
    (signal,) = correct(unit, "why are you using a retry loop in the client instead of the transport queue?")
    assert signal.item["do"] == "use the transport queue instead of a retry loop in the client"
    assert signal.item["rejected"] == "a retry loop in the client"


@pytest.mark.parametrize(
    ("words", "do", "rejected"),
    [
        ("why are you repeating requests by hand? We have a queue for retries already.",
         "We have a queue for retries already", "repeating requests by hand"),
        ("why are you sending the request twice, the gateway already repeats it",
         "the gateway already repeats it", "sending the request twice"),
        ("why did you retry it in the client? The gateway already repeats requests.",
         "The gateway already repeats requests", None),
    ],
)  # fmt: skip
def test_what_is_stated_right_after_asking_why_is_a_fact_held_against_the_act(unit, words, do, rejected):
    (signal,) = correct(unit, words)
    assert (signal.item["do"], signal.item["kind"], signal.item.get("rejected")) == (do, "fact", rejected)


@pytest.mark.parametrize(
    "words",
    [
        "why are you sending the request twice?",
        "why are you sending the request twice, please explain",
        "why are you sending the request twice? Fix the client.",
        "why is the invoice footer on page two? It has a table already.",  # of another matter
        "why not retry in the client? It is simple.",
    ],
)
def test_asking_why_alone_corrects_nothing(unit, words):
    assert correct(unit, words) == []


def test_a_word_in_another_form_is_of_the_same_matter(unit):
    unit.add("prompt", "commit it")
    unit.call("c1", command="git commit -m x --trailer Assisted-Robotically-By:bot")
    unit.add("prompt", "dont add robotic trailers, continue")
    assert [signal.item["do"] for signal in extract(unit.events) if signal.item]


def test_them_is_the_command_the_agent_just_ran(unit):
    unit.add("prompt", "check it")
    unit.call("c1", command="bun check in-background")
    unit.add("prompt", "no, don't run them in the background")
    (signal,) = extract(unit.events)
    assert signal.item["when"].startswith("running `bun check")
