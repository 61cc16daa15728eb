from __future__ import annotations

from typing import Any

import pytest
from gemini_samples import Chat, one, texts

FILES = "\n--- Content from referenced files ---\nContent from @tide.md:\nnever use pip\n--- End of content ---"


@pytest.mark.parametrize("content", ["use uv, not pip", [{"text": "use uv, not pip"}], {"text": "use uv, not pip"}])
def test_a_prompt_is_text_or_parts(content: Any) -> None:
    chat = Chat()
    chat.add("user", content)
    prompt = one(chat.events(), "prompt")
    assert (prompt.text, prompt.actor_class, prompt.actor_alias) == ("use uv, not pip", "human", "")


@pytest.mark.parametrize(
    "content",
    ["follow @tide.md" + FILES, [{"text": "follow @tide.md"}, *({"text": part} for part in FILES.splitlines(True))]],
)
def test_files_behind_a_prompt_are_nobodys_words(content: Any) -> None:
    chat = Chat()
    chat.add("user", content)
    events = chat.events()
    assert [text.strip() for text in texts(events, "prompt")] == ["follow @tide.md"]
    injected = one(events, "injected")
    assert ("never use pip" in injected.text, injected.actor_class) == (True, "injected")


def test_what_was_shown_is_what_was_typed() -> None:
    chat = Chat()
    chat.add(
        "user", [{"text": "Review the change with the team's list: ..."}], displayContent=[{"text": "/review now"}]
    )
    events = chat.events()
    assert texts(events, "prompt") == ["/review now"]
    assert len(texts(events, "injected")) == 1


@pytest.mark.parametrize(
    "text",
    [
        "<session_context>\nThis is the Gemini CLI.\n</session_context>",
        "This is the Gemini CLI. We are setting up the context for our chat.\nToday's date is ...",
        "<state_snapshot>They use uv</state_snapshot>",
        "System: Potential loop detected. Details: x. Please take a step back",
        "System: Please continue.",
        "Please continue.",
    ],
)
def test_what_the_client_wrote_is_injected(text: str) -> None:
    chat = Chat()
    chat.add("user", text)
    assert one(chat.events(), "injected").actor_class == "injected"
    assert not texts(chat.events(), "prompt")


def test_the_notes_of_a_hook_are_taken_off() -> None:
    chat = Chat()
    chat.add("user", "use uv\n\n<hook_context>never use pip</hook_context>")
    assert texts(chat.events(), "prompt") == ["use uv\n\n"]
    assert texts(chat.events(), "injected") == ["<hook_context>never use pip</hook_context>"]


def test_parts_without_text_say_nothing() -> None:
    chat = Chat()
    chat.add("user", [{"functionResponse": {"name": "read_file", "response": {"output": "x"}}}])
    chat.add("user", [])
    chat.add("moon", "phase")
    assert chat.events() == []


def test_an_answer_and_its_tokens() -> None:
    chat = Chat()
    chat.add("gemini", "Done.", thoughts=[{"subject": "never use pip"}], tokens={"input": 5, "output": 1}, model="m")
    chat.add("gemini", "", tokens={"input": 0, "output": 0})
    events = chat.events()
    answer = one(events, "answer")
    assert (answer.text, answer.actor_class, answer.attributes) == ("Done.", "agent", {"model": "m", "thoughts": 1})
    assert one(events, "usage").attributes == {"tokens": {"input": 5, "output": 1}, "model": "m"}
    assert not any("never use pip" in event.text for event in events), "thoughts are in the record, and no event"


@pytest.mark.parametrize("kind", ["info", "warning", "error"])
def test_what_the_client_says(kind: str) -> None:
    chat = Chat()
    chat.add("user", "go on")
    chat.add(kind, "A new version is there.")
    (said,) = [event for event in chat.events() if event.text == "A new version is there."]
    assert (said.kind, said.actor_class, said.attributes) == ("other", "system", {"event": kind})


def test_a_request_that_was_cancelled_is_an_interrupt_by_the_person() -> None:
    chat = Chat()
    chat.add("info", "Request cancelled.")
    assert one(chat.events(), "interrupt").actor_class == "human"


def test_a_call_and_its_result() -> None:
    chat = Chat()
    chat.call(
        "replace", {"file_path": "tide.py", "old_string": "a"}, {"output": "ok"}, timestamp="2026-01-15T09:00:04Z"
    )
    call, result = (one(chat.events(), kind) for kind in ("tool_call", "tool_result"))
    assert (call.tool, call.path, call.call_id, call.actor_class) == ("replace", "tide.py", "replace-0", "agent")
    assert (result.text, result.is_error, result.call_id, result.tool) == ("ok", False, "replace-0", "replace")
    assert (result.actor_class, str(result.ts.time()), str(call.ts.time())) == ("tool", "09:00:04", "09:00:00.500000")


@pytest.mark.parametrize("stated", ["2026-01-15T08:00:00Z", "9999-12-31T23:59:59Z", "soon", None, 7])
def test_the_time_of_a_result_is_only_believed_where_it_can_be(stated: Any) -> None:
    chat = Chat()
    chat.call("read_file", {}, {"output": "ok"}, timestamp=stated)
    assert str(one(chat.events(), "tool_result").ts) == "2026-01-15 09:00:00.500000+00:00"


SHELL = "Command: make\nDirectory: (root)\nOutput: {}\nError: (none)\nExit Code: {}\nSignal: 0"


@pytest.mark.parametrize(
    ("tool", "response", "status", "failed", "code"),
    [
        ("run_shell_command", {"output": SHELL.format("ok", 0)}, "success", False, 0),
        ("run_shell_command", {"output": SHELL.format("Exit Code: 0\nno rule", 2)}, "success", True, 2),
        ("run_shell_command", {"output": SHELL.format("killed", "(none)")}, "success", False, None),
        ("read_file", {"output": "its log:\nExit Code: 1"}, "success", False, None),
        ("read_file", {"error": "File not found"}, "error", True, None),
        ("read_file", {"output": "x"}, None, None, None),
        ("mcp_tide", {"rows": [1, 2]}, "success", False, None),
    ],
)
def test_results(tool: str, response: Any, status: str | None, failed: bool | None, code: int | None) -> None:
    chat = Chat()
    chat.call(tool, {"command": "make"}, response, status)
    result = one(chat.events(), "tool_result")
    assert (result.is_error, result.exit_code) == (failed, code)
    assert result.text == next((response[name] for name in ("output", "error") if name in response), '{"rows":[1,2]}')


def test_a_call_that_has_not_ended_has_no_result() -> None:
    chat = Chat()
    chat.call("run_shell_command", {"command": "make"}, None, "executing")
    assert one(chat.events(), "tool_call").command == "make"
    assert not texts(chat.events(), "tool_result")


def test_what_was_shown_stands_in_for_a_result() -> None:
    chat = Chat()
    chat.call("read_file", {}, None, "success", resultDisplay="shown")
    assert texts(chat.events(), "tool_result") == ["shown"]


def test_a_cancelled_call_is_a_rejection_by_the_person() -> None:
    chat = Chat()
    reason = "[Operation Cancelled] Reason: User did not allow tool call"
    chat.call("run_shell_command", {"command": "rm -rf build"}, {"error": reason}, "cancelled")
    rejection = one(chat.events(), "rejection")
    assert (rejection.text, rejection.actor_class, rejection.call_id) == ("", "human", "run_shell_command-0")
    assert (rejection.is_error, rejection.attributes) == (True, {"reason": "User did not allow tool call"})


def test_a_call_that_a_policy_forbids_is_a_denial() -> None:
    chat = Chat()
    chat.call("run_shell_command", {"command": "x"}, {"error": "Tool execution denied by policy."}, "error")
    assert one(chat.events(), "denial").actor_class == "system"


def test_words_to_a_plan_are_a_rejection() -> None:
    chat = Chat()
    text = "Plan rejected. User feedback: use uv\nand not pip\n\nThe plan is stored at: /x\nRevise the plan."
    chat.call("exit_plan_mode", {"plan_path": "p.md"}, {"output": text})
    rejection = one(chat.events(), "rejection")
    assert (rejection.text, rejection.actor_class) == ("use uv\nand not pip", "human")


def test_answers_to_the_agents_questions() -> None:
    asked = [{"question": "Which?", "options": [{"label": "pip"}, {"label": "poetry"}]}, {"question": "Why?"}]
    chat = Chat()
    chat.call("ask_user", {"questions": asked}, {"output": '{"answers":{"0":"pip","1":"it is fast","9999999":"x"}}'})
    first, second, third = [event for event in chat.events() if event.kind == "prompt"]
    assert (first.text, first.attributes["picked_option"], first.actor_class) == ("pip", True, "human")
    assert (second.text, second.attributes["question"], second.attributes["picked_option"]) == (
        "it is fast", "Why?", False,
    )  # fmt: skip
    assert third.attributes["question"] is None


@pytest.mark.parametrize(
    "output", ['{"answers":{"0":"\\ud800"}}', "[1]", "no json", '{"answers":[1]}', '{"answers":{"0":1}}']
)
def test_an_answer_that_cannot_be_read_is_the_result_alone(output: str) -> None:
    chat = Chat()
    chat.call("ask_user", {"questions": []}, {"output": output})
    assert texts(chat.events(), "tool_result") == [output]
    assert not texts(chat.events(), "prompt")
