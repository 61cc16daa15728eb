from __future__ import annotations

from typing import Any

import pytest
from copilot_samples import SESSION, Log, kept, one, read, texts, unit_of

from lorelake.formats import copilot_cli
from lorelake.formats.record import canonical

# --- whose words ---------------------------------------------------------------------------------------------


def test_a_prompt_is_what_was_typed_and_never_what_the_client_made_of_it() -> None:
    log = Log()
    log.said("never push to main")
    events = log.events()
    prompt = one(events, "prompt")
    assert (prompt.text, prompt.actor_class, prompt.actor_alias) == ("never push to main", "human", "")
    assert not any("system_reminder" in event.text for event in events)


@pytest.mark.parametrize(
    ("text", "data", "actor_class"),
    [
        ("<system_reminder>\nuse the todo list\n</system_reminder>", {}, "injected"),
        ("<skill-context name='pdf'>\nRead the form.</skill-context>", {"source": "skill-pdf"}, "injected"),
        ("Continue with the objective.", {"isAutopilotContinuation": True}, "injected"),
        ("Check the tide tables.", {"source": "schedule-1"}, "injected"),
        ("Look through the whole tree.", {"source": "agent-7"}, "agent"),
        ("Look through the whole tree.", {"agentId": "agent-7"}, "agent"),
        ("Look through the whole tree.", {"parentToolCallId": "call_9"}, "agent"),
    ],
)
def test_what_no_person_typed_is_injected(text: str, data: dict[str, Any], actor_class: str) -> None:
    log = Log()
    log.said(text, **data)
    injected = one(log.events(), "injected")
    assert (injected.text, injected.actor_class) == (text, actor_class)
    assert not texts(log.events(), "prompt")


def test_reminders_left_in_the_content_are_taken_off() -> None:
    log = Log()
    log.said("<current_datetime>now</current_datetime>\nuse uv, not pip\n<system_reminder>todos</system_reminder>")
    events = log.events()
    assert texts(events, "prompt") == ["use uv, not pip\n"]
    assert len(texts(events, "injected")) == 2


@pytest.mark.parametrize(("delivery", "kind"), [("idle", "prompt"), ("steering", "queued_prompt"), (None, "prompt")])
def test_words_typed_while_the_agent_worked(delivery: str | None, kind: str) -> None:
    log = Log()
    log.said("stop, use uv", delivery=delivery)
    assert one(log.events(), kind).actor_class == "human"


def test_hooks_and_unknown_types_are_kept_and_are_no_events() -> None:
    log = Log()
    log.add("hook.start", hookType="userPromptSubmitted", input={"prompt": "never push", "sessionId": SESSION})
    log.add("hook.end", success=True)
    log.add("session.moon_phase_changed", phase="new")
    assert len(kept(read(log.bytes()))) == 4
    assert log.events() == []


@pytest.mark.parametrize(
    ("kind", "data", "event_kind", "actor_class"),
    [
        ("system.message", {"role": "system", "content": "You are"}, "injected", "injected"),
        ("skill.invoked", {"name": "pdf", "content": "Read"}, "injected", "injected"),
        ("session.error", {"errorType": "quota", "message": "no more"}, "other", "system"),
        ("session.compaction_complete", {"success": True, "summaryContent": "they"}, "compaction", "injected"),
    ],
)
def test_what_the_client_says(kind: str, data: dict[str, Any], event_kind: str, actor_class: str) -> None:
    log = Log()
    log.add(kind, **data)
    assert one(log.events(), event_kind).actor_class == actor_class


@pytest.mark.parametrize(
    ("reason", "actor_class"), [("user_initiated", "human"), ("autopilot_credit_limit", "system"), (None, "system")]
)
def test_an_interrupt_is_the_persons_who_stopped_it(reason: str | None, actor_class: str) -> None:
    log = Log()
    log.add("abort", reason=reason)
    interrupt = one(log.events(), "interrupt")
    assert (interrupt.actor_class, interrupt.attributes) == (actor_class, {"reason": reason})


def test_a_prompt_that_another_took_the_place_of_is_off_the_live_path() -> None:
    log = Log()
    log.add("assistant.message", content="Ready.")
    turn = log.lines[-1]["id"]
    log.said("use pip")
    log.add("assistant.message", content="Installed with pip.")
    log.said("use uv")
    log.lines[-1]["parentId"] = turn  # an older capture still holds what the rewind cut off
    live = {event.text: event.on_live_path for event in log.events()}
    assert live == {"Ready.": True, "use pip": False, "Installed with pip.": False, "use uv": True}


# --- calls, refusals, usage ----------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [{"command": "make test"}, '{"command": "make test"}'])
def test_a_call_announced_and_started_is_one_event(arguments: Any) -> None:
    log = Log()
    log.call("bash", arguments)
    call = one(log.events(), "tool_call")
    assert (call.tool, call.call_id, call.command, call.text) == ("bash", "call_1", "make test", "make test")
    del log.lines[-1]  # a call that was refused never starts
    assert one(log.events(), "tool_call").command == "make test"


def test_calls_name_their_file() -> None:
    log = Log()
    log.call("edit", {"path": "/home/mara/harbour-api/tide.py", "old_str": "a", "new_str": "b"}, "call_1")
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** Add File: b.py\n+z\n*** End Patch\n"
    log.call("apply_patch", patch, "call_2")
    edit, applied = [event for event in log.events() if event.kind == "tool_call"]
    assert (edit.path, applied.path, applied.text) == ("/home/mara/harbour-api/tide.py", "a.py", patch)
    assert applied.attributes == {"paths": ["a.py", "b.py"]}


@pytest.mark.parametrize(
    ("tool", "result", "failed", "code"),
    [
        ("bash", {"result": {"content": "ok\n<shellId: 0 completed with exit code 0>"}}, False, 0),
        ("bash", {"result": {"content": "no rule\n<shellId: 0 completed with exit code 2>"}}, True, 2),
        ("bash", {"result": {"content": "no rule\n<exited with exit code 1>"}}, True, 1),
        ("bash", {"result": {"content": "no rule\nCommand completed with exit code 127."}}, True, 127),
        ("bash", {"result": {"content": "bad", "contents": [{"type": "shell_exit", "exitCode": 3}]}}, True, 3),
        ("bash", {"result": {"content": "Process completed with exit code 1\nand on it goes"}}, False, None),
        ("view", {"result": {"content": "its log:\nProcess completed with exit code 1"}}, False, None),
        ("bash", {"success": False, "result": None, "error": {"message": "no such shell", "code": "x"}}, True, None),
        ("view", {"success": False, "error": {"message": "Permission denied: /etc/shadow"}}, True, None),
        ("bash", {"success": None, "result": {"content": "?"}}, None, None),
        ("bash", {"result": "plain\n<shellId: 1 completed with exit code 4>"}, True, 4),
    ],
)
def test_exit_codes_stand_in_the_text_alone(
    tool: str, result: dict[str, Any], failed: bool | None, code: int | None
) -> None:
    log = Log()
    log.call(tool, {"command": "make"})
    log.result("", **result)
    event = one(log.events(), "tool_result")
    assert (event.is_error, event.exit_code, event.tool, event.actor_class) == (failed, code, tool, "tool")


def test_a_refusal_with_the_persons_words_is_one_rejection() -> None:
    log = Log()
    log.call("bash", {"command": "git push"})
    log.refused("denied-interactively-by-user", feedback="never push, open a pull request")
    message = "The user rejected this tool call. User feedback: never push, open a pull request"
    log.result("", success=False, result=None, error={"message": message, "code": "denied"})
    rejection = one(log.events(), "rejection")
    assert (rejection.text, rejection.actor_class) == ("never push, open a pull request", "human")
    assert (rejection.call_id, rejection.tool, rejection.is_error) == ("call_1", "bash", True)
    assert not texts(log.events(), "tool_result")
    # Without the permission's lines, and with the words in the result alone: the same.
    for gone in ("permission.completed", "permission.requested"):
        log.lines = [line for line in log.lines if line["type"] != gone]
        assert one(log.events(), "rejection").text == "never push, open a pull request"


def test_a_refusal_without_a_result_is_told_by_the_permission() -> None:
    log = Log()
    log.call("bash", {"command": "git push"})
    log.refused("denied-interactively-by-user")
    rejection = one(log.events(), "rejection")
    assert (rejection.text, rejection.actor_class, rejection.call_id) == ("", "human", "call_1")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("denied-by-rules", "Denied by the rules of this repository"),
        (
            "denied-no-approval-rule-and-could-not-request-from-user",
            "Permission denied and could not request permission from user",
        ),
    ],
)
def test_a_refusal_by_rule_is_nobodys_word(kind: str, text: str) -> None:
    log = Log()
    log.call("bash", {"command": "git push"})
    log.refused(kind)
    assert one(log.events(), "denial").actor_class == "system"
    log.result("", success=False, result=None, error={"message": text, "code": "denied"})
    denial = one(log.events(), "denial")
    assert (denial.text, denial.actor_class, denial.call_id) == (text, "system", "call_1")
    assert not texts(log.events(), "rejection")


@pytest.mark.parametrize("kind", ["approved", "approved-for-session", "cancelled"])
def test_what_was_not_refused_gives_its_result(kind: str) -> None:
    log = Log()
    log.call("bash", {"command": "git push"})
    log.refused(kind)
    log.result("The user rejected this tool call. User feedback: a log of another day")
    assert len(texts(log.events(), "tool_result")) == 1
    assert not texts(log.events(), "rejection")


@pytest.mark.parametrize(
    ("result", "words", "picked"),
    [("User responded: neither, use uv", "neither, use uv", False), ("User selected: pip", "pip", True)],
)
def test_answers_to_the_agents_questions(result: str, words: str, picked: bool) -> None:
    log = Log()
    log.call("ask_user", {"question": "Which one?", "choices": ["pip", "poetry"]})
    log.result(result)
    answer = one(log.events(), "prompt")
    assert (answer.text, answer.actor_class) == (words, "human")
    assert answer.attributes == {"answers_question": True, "question": "Which one?", "picked_option": picked}


def test_a_command_the_person_ran_is_no_act_of_the_agent() -> None:
    log = Log()
    log.add("tool.user_requested", toolCallId="u1", toolName="bash", arguments={"command": "ls"})
    log.add("tool.execution_start", toolCallId="u1", toolName="bash", arguments={"command": "ls"})
    log.result("tide.py", "u1", isUserRequested=True)
    assert {event.kind for event in log.events()} == {"injected"}
    assert texts(log.events(), "injected") == ["ls", "tide.py"]


def test_the_end_of_a_session_tells_its_tokens_over_all_models() -> None:
    usage = {"inputTokens": 10, "outputTokens": 2}
    log = Log()
    metrics = {"b": {"usage": usage}, "a": {"usage": usage | {"inputTokens": None}}, "c": None}
    log.add("session.shutdown", shutdownType="routine", modelMetrics=metrics, sessionStartTime=7, codeChanges={})
    event = one(log.events(), "usage")
    assert event.attributes["tokens"] == {"inputTokens": 10, "outputTokens": 4}
    assert (event.attributes["models"], event.attributes["since"]) == (["a", "b", "c"], 7)


def test_a_record_masked_anew_counts_once() -> None:
    log = Log()
    log.said("the key is tide-1")
    first = read(log.bytes())
    log.lines[1]["data"]["content"] = "the key is [masked]"
    unit = unit_of([*first, *read(log.bytes())])
    for record in unit.records:
        record.first_kept = "2026-07-07" if "[masked]" in canonical(record.value) else "2026-07-06"
    assert texts(copilot_cli.events(unit), "prompt") == ["the key is [masked]"]


DEEP = '{"a":' * 400 + "1" + "}" * 400


@pytest.mark.parametrize(
    ("arguments", "text"),
    [('{"command": "cut', '{"command": "cut'), (DEEP, DEEP), ("", ""), ([], "[]"), (7, "7"), (None, "{}")],
)
def test_arguments_of_any_shape_are_kept_as_text(arguments: Any, text: str) -> None:
    log = Log()
    log.call("bash", arguments)
    assert one(log.events(), "tool_call").text == text
