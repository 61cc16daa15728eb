"""Answers, calls and their results, rejections and denials among them."""

from __future__ import annotations

import random
from typing import Any

import pytest
from claude_code_samples import NOTE, SAID, STOP, Transcript, one, streamed, texts


def test_streamed_pieces_are_one_answer_and_its_tokens_count_once() -> None:
    answer = one(streamed().events(), "answer")
    assert answer.text == "I will run them."
    assert answer.attributes["tokens"] == {"output_tokens": 159, "input_tokens": 3}
    assert answer.attributes["blocks"] == ["thinking", "text", "tool_use"]
    assert answer.attributes["model"] == "claude-opus-4-6"


def test_order_and_repetition_of_lines_change_nothing() -> None:
    session = streamed()
    expected = session.events()
    session.records *= 2
    random.Random(7).shuffle(session.records)
    assert session.events() == expected


def test_equal_text_under_another_message_is_another_answer() -> None:
    session = streamed()
    session.assistant({"type": "text", "text": "I will run them."}, message="msg_b")
    assert texts(session.events(), "answer") == ["I will run them."] * 2


def test_a_message_without_words_leaves_its_tokens() -> None:
    session = Transcript()
    session.call("Bash", {"command": "ls"}, tokens=40)
    events = session.events()
    assert one(events, "usage").attributes["tokens"]["output_tokens"] == 40
    assert not texts(events, "answer")


def test_a_message_of_the_client_is_no_answer() -> None:
    session = Transcript()
    session.assistant({"type": "text", "text": "API Error: 529 overloaded"}, isApiErrorMessage=True)
    assert [(event.kind, event.actor_class) for event in session.events()] == [("other", "system")]


@pytest.mark.parametrize(
    ("name", "tool_input", "text", "command", "path"),
    [
        ("Bash", {"command": "make test", "description": "Run"}, "make test", "make test", None),
        ("Read", {"file_path": "a.py"}, '{"file_path":"a.py"}', None, "a.py"),
        ("Grep", {"pattern": "x", "path": "src"}, '{"path":"src","pattern":"x"}', None, "src"),
        ("NotebookEdit", {"notebook_path": "n.ipynb"}, '{"notebook_path":"n.ipynb"}', None, "n.ipynb"),
    ],
)
def test_calls(name: str, tool_input: dict[str, Any], text: str, command: str | None, path: str | None) -> None:
    session = Transcript()
    session.call(name, tool_input)
    call = one(session.events(), "tool_call")
    assert (call.tool, call.call_id, call.actor_class) == (name, "toolu_1", "agent")
    assert (call.text, call.command, call.path) == (text, command, path)


def test_a_long_call_is_cut_and_says_so() -> None:
    session = Transcript()
    session.call("Write", {"file_path": "a.py", "content": "x" * 9000})
    text = one(session.events(), "tool_call").text
    assert len(text) < 4100
    assert text.endswith("[cut: 4000 of 9033 characters]")


@pytest.mark.parametrize(
    ("content", "is_error", "failed", "code"),
    [
        ("12 passed", None, False, None),
        ("Exit code 2\nmake: *** [test] Error 2", True, True, 2),
        ("Exit code 2 is what grep gives", None, False, None),
        ("<tool_use_error>File has not been read yet.</tool_use_error>", True, True, None),
    ],
)
def test_results(content: str, is_error: bool | None, failed: bool, code: int | None) -> None:
    session = Transcript()
    session.call("Bash", {"command": "make test"})
    session.result(content, is_error=is_error, toolUseResult="Error: " + content)
    result = one(session.events(), "tool_result")
    assert (result.text, result.is_error, result.exit_code) == (content, failed, code)
    assert (result.tool, result.call_id, result.actor_class) == ("Bash", "toolu_1", "tool")


@pytest.mark.parametrize("mirror", [{"stdout": "a"}, "Error: a", [{"type": "text", "text": "a"}], None])
def test_the_mirror_of_a_result_may_have_any_shape(mirror: Any) -> None:
    session = Transcript()
    session.call("mcp__tracker__get", {"id": "7"})
    session.result(
        [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}], toolUseResult=mirror
    )
    assert one(session.events(), "tool_result").text == "a\nb"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (SAID + "use the staging key, never the live one", "use the staging key, never the live one"),
        (SAID + "two lines:\n\n  - keep indent", "two lines:\n\n  - keep indent"),
        (SAID + "shouldn't this be in setup.py?" + NOTE, "shouldn't this be in setup.py?"),
        (SAID + "write down what the user said:\nthat", "write down what the user said:\nthat"),
        (STOP, ""),
        (STOP + NOTE, ""),
        ("The user doesn't want to take this action right now. STOP what you are doing and wait.", ""),
        (SAID + "The user wants to clarify these questions.\n    This means they may", ""),
    ],
)
def test_a_rejection_is_the_persons_exact_words(content: str, words: str) -> None:
    session = Transcript()
    session.call("Edit", {"file_path": "pay.py", "old_string": "a", "new_string": "b"})
    session.result(content, is_error=True, toolUseResult="User rejected tool use")
    session.user([{"type": "text", "text": "[Request interrupted by user for tool use]"}])
    events = session.events()
    rejection = one(events, "rejection")
    assert (rejection.text, rejection.actor_class, rejection.call_id, rejection.tool) == (
        words,
        "human",
        "toolu_1",
        "Edit",
    )
    assert one(events, "interrupt").text == ""
    assert not texts(events, "tool_result", "prompt")


def test_a_file_that_quotes_a_rejection_is_none() -> None:
    session = Transcript()
    session.call("Read", {"file_path": "notes.md"})
    session.result(SAID + "never deploy on Friday")
    assert not texts(session.events(), "rejection")


@pytest.mark.parametrize(
    "content",
    [
        "This command requires approval",
        "Claude requested permissions to write to /etc/hosts, but you haven't granted it yet.",
        "Permission to use Bash has been denied.",
        "Permission to use Bash has been auto-denied in dontAsk mode.",
    ],
)
def test_a_denial_is_nobodys_word(content: str) -> None:
    session = Transcript()
    session.call("Bash", {"command": "sudo reboot"})
    session.result(content, is_error=True)
    denial = one(session.events(), "denial")
    assert (denial.actor_class, denial.call_id, denial.text) == ("system", "toolu_1", content)


def test_answers_to_the_agents_questions_are_said_by_a_person() -> None:
    session = Transcript()
    questions = [
        {"question": "Where should it go?", "options": [{"label": "docs/"}, {"label": "build/"}]},
        {"question": "Which format?", "options": [{"label": "SVG"}]},
    ]
    session.call("AskUserQuestion", {"questions": questions})
    sentence = (
        'User has answered your questions: "Where should it go?"="docs/", '
        '"Which format?"="PNG, our wiki shows no SVG". '
    )
    answers = {"Where should it go?": "docs/", "Which format?": "PNG, our wiki shows no SVG"}
    session.result(sentence + "You can now continue.", toolUseResult={"questions": questions, "answers": answers})
    for events in (session.events(), without_mirror(session).events()):
        said = [event for event in events if event.kind == "prompt"]
        assert [(event.text, event.attributes["picked_option"]) for event in said] == [
            ("docs/", True), ("PNG, our wiki shows no SVG", False),
        ]  # fmt: skip
        assert all(event.actor_class == "human" and event.attributes["answers_question"] for event in said)


def without_mirror(session: Transcript) -> Transcript:
    for record in session.records:
        record.pop("toolUseResult", None)
    return session
