from __future__ import annotations

import hashlib
import io
import json
import random
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorelake.formats import claude_code
from lorelake.formats.record import (
    Capture,
    Event,
    Member,
    Record,
    Refusal,
    Unit,
    UnitRecord,
    canonical,
    digest,
    in_order,
)

SESSION = "5b0c9a1e-0000-4000-8000-00000000000a"
REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). "
)
STOP = REFUSED + "STOP what you are doing and wait for the user to tell you how to proceed."
SAID = REFUSED + "To tell you how to proceed, the user said:\n"
NOTE = (
    "\n\nNote: The user's next message may contain a correction or preference. Pay close attention — if they explain "
    "what went wrong or how they'd prefer you to work, consider saving that to memory for future sessions."
)


class Transcript:
    """Writes records the way the agent does: one after the other, each naming the one before."""

    def __init__(self, session: str = SESSION, agent: str | None = None) -> None:
        self.base: dict[str, Any] = {"sessionId": session, "cwd": "/home/mara/harbour-api", "gitBranch": "main"}
        self.base["isSidechain"] = agent is not None
        if agent:
            self.base["agentId"] = agent
        self.records: list[dict[str, Any]] = []
        self.last: str | None = None

    def add(self, kind: str, at: int | None = None, parent: str | None = "", **fields: Any) -> str:
        number = len(self.records)
        uuid = f"{self.base.get('agentId', 'main')}-{number:04d}"
        second = number if at is None else at
        self.records.append(
            {
                "type": kind,
                "uuid": uuid,
                "parentUuid": self.last if parent == "" else parent,
                "timestamp": f"2026-03-02T09:{second // 60:02d}:{second % 60:02d}.000Z",
                **self.base,
                **fields,
            }
        )
        self.last = uuid
        return uuid

    def plain(self, kind: str, **fields: Any) -> None:
        """A record outside the tree."""
        self.records.append({"type": kind, **fields})

    def user(self, content: Any, **fields: Any) -> str:
        return self.add("user", message={"role": "user", "content": content}, **fields)

    def assistant(self, *blocks: dict[str, Any], message: str = "", tokens: int = 1, **fields: Any) -> str:
        body = {"id": message or f"msg_{len(self.records)}", "model": "claude-opus-4-6", "content": list(blocks)}
        body["usage"] = {"output_tokens": tokens, "input_tokens": 3}
        return self.add("assistant", message=body, requestId=f"req_{body['id']}", **fields)

    def call(self, name: str, tool_input: dict[str, Any], call_id: str = "toolu_1", **fields: Any) -> str:
        return self.assistant({"type": "tool_use", "id": call_id, "name": name, "input": tool_input}, **fields)

    def result(self, content: Any, call_id: str = "toolu_1", is_error: bool | None = None, **fields: Any) -> str:
        block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
        if is_error is not None:
            block["is_error"] = is_error
        return self.user([block], **fields)

    def bytes(self) -> bytes:
        return b"".join(json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in self.records)

    def events(self) -> list[Event]:
        return events_of(read(self.bytes()))


def capture(data: bytes, name: str = f"{SESSION}.jsonl") -> Capture:
    member = Member(name, len(data), lambda: io.BytesIO(data))
    return Capture(name, (member,), hashlib.sha256(data).hexdigest())


def read(data: bytes, name: str = f"{SESSION}.jsonl") -> list[Record | Refusal]:
    return list(claude_code.read(capture(data, name)))


def kept(items: Iterable[Record | Refusal]) -> list[Record]:
    return [item for item in items if isinstance(item, Record)]


def refused(items: Iterable[Record | Refusal]) -> list[str]:
    return [item.reason for item in items if isinstance(item, Refusal)]


def unit_of(items: Iterable[Record | Refusal], name: str = SESSION) -> Unit:
    """What raw makes of records: one per id and body, those without a time at the unit's earliest."""
    records = [record for record in kept(items) if record.unit == name]
    earliest = min((r.ts for r in records if r.ts), default=datetime(2026, 3, 2, tzinfo=UTC))
    bodies = {(r.id, canonical(r.value)): r for r in records}
    stored = [UnitRecord(r.id, r.type, r.ts or earliest, r.value, "a.jsonl", "2026-03-03") for r in bodies.values()]
    return Unit("claude_code", f"claude_code:{name}", in_order(stored), None, None)


def events_of(items: Iterable[Record | Refusal], name: str = SESSION) -> list[Event]:
    return claude_code.events(unit_of(items, name))


def one(events: Iterable[Event], kind: str) -> Event:
    (event,) = [event for event in events if event.kind == kind]
    return event


def texts(events: Iterable[Event], *kinds: str, live: bool = True) -> list[str]:
    return [event.text for event in events if event.kind in kinds and event.on_live_path is live]


# --- reading -------------------------------------------------------------------------------------------------


def test_a_record_is_known_by_its_uuid_else_by_its_content() -> None:
    session = Transcript()
    session.user("add a health check")
    session.plain(
        "queue-operation",
        operation="enqueue",
        content="and log it",
        sessionId=SESSION,
        timestamp="2026-03-02T09:00:05Z",
    )
    first, second = kept(read(session.bytes()))
    assert (first.id, first.type, first.ts) == ("main-0000", "user", datetime(2026, 3, 2, 9, tzinfo=UTC))
    assert first.value == session.records[0]
    assert second.id == digest(SESSION, canonical(session.records[1]))


def test_records_without_a_session_join_the_one_their_file_states() -> None:
    session = Transcript()
    session.plain("summary", summary="Health checks", leafUuid="elsewhere")
    session.user("add a health check")
    session.plain("file-history-snapshot", messageId="m", snapshot={}, isSnapshotUpdate=False)
    records = kept(read(session.bytes(), "renamed.jsonl"))
    assert {record.unit for record in records} == {SESSION}
    assert [record.ts is None for record in sorted(records, key=lambda record: record.line)] == [True, False, True]


def test_a_file_that_states_no_session_is_refused_line_by_line() -> None:
    line = b'{"type":"summary","summary":"Health checks","leafUuid":"elsewhere"}\n'
    assert refused(read(line * 2)) == ["no_unit", "no_unit"]


@pytest.mark.parametrize("name", ["agent-a1b2c3d.jsonl", f"{SESSION}/subagents/agent-a1b2c3d.jsonl"])
def test_sub_agents_are_units_of_their_own_in_both_layouts(name: str) -> None:
    agent = Transcript(agent="a1b2c3d")
    agent.user("look for callers of load_settings")
    agent.assistant({"type": "text", "text": "Three callers."})
    agent.plain("file-history-snapshot", messageId="m", snapshot={}, isSnapshotUpdate=False)
    items = read(agent.bytes(), name)
    assert {record.unit for record in kept(items)} == {f"{SESSION}/a1b2c3d"}
    unit = unit_of(items, f"{SESSION}/a1b2c3d")
    assert claude_code.facts(unit).parent_unit == SESSION
    task = claude_code.events(unit)[0]
    assert (task.kind, task.actor_class) == ("injected", "agent")


def test_bookkeeping_is_refused_by_name() -> None:
    journal = b'{"type":"started","agentId":"a1","label":"scan"}\n{"type":"result","agentId":"a1","result":"ok"}\n'
    typed = b'{"display":"fix it","pastedContents":{},"timestamp":1767312000000,"project":"/home/mara/x"}\n'
    for data in (journal, typed):
        assert claude_code.sniff("journal.jsonl", data)
        assert refused(read(data)) == ["not_a_transcript"]


def test_seen_is_kept_plus_refused() -> None:
    session = Transcript()
    session.user("add a health check")
    good = session.bytes()
    bad = (
        b'{"sessionId":"s"}\n[1]\n{"type":7,"sessionId":"s"}\n{"type":"user","sessionId":"s","timestamp":"yesterday"}\n'
    )
    items = read(good + bad + good[:-30])
    assert len(kept(items)) == 1
    assert refused(items) == ["wrong_shape", "wrong_shape", "wrong_shape", "bad_time", "incomplete_tail"]


def test_a_time_without_a_zone_is_marked() -> None:
    (record,) = kept(read(b'{"type":"user","uuid":"u","sessionId":"s","timestamp":"2026-03-02T09:00:00"}\n'))
    assert (record.ts, record.ts_assumed) == (datetime(2026, 3, 2, 9, tzinfo=UTC), True)


def test_sniffing_goes_by_content() -> None:
    session = Transcript()
    session.user([{"type": "image", "source": {"data": "A" * 300_000}}, {"type": "text", "text": "why is it red?"}])
    assert claude_code.sniff("x.txt", session.bytes()[:8192])
    assert not claude_code.sniff(
        "s.jsonl", b'{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"x"}}\n'
    )
    assert not claude_code.sniff(
        "events.jsonl", b'{"type":"user.message","id":"1","parentId":null,"data":{"content":"x"}}\n'
    )


def test_facts_tell_folders_and_branch() -> None:
    session = Transcript()
    session.user("one")
    session.base.update(cwd="/home/mara/harbour-api/.worktrees/2", gitBranch="HEAD")
    session.user("two")
    facts = claude_code.facts(unit_of(read(session.bytes())))
    assert facts.cwds == ("/home/mara/harbour-api", "/home/mara/harbour-api/.worktrees/2")
    assert (facts.kind, facts.branch, facts.agent, facts.remote, facts.parent_unit) == (
        "session", "main", "claude_code", None, None,
    )  # fmt: skip


# --- answers and calls ---------------------------------------------------------------------------------------


def streamed() -> Transcript:
    session = Transcript()
    session.user("run the tests")
    session.assistant({"type": "thinking", "thinking": "make test, then"}, message="msg_a", tokens=9)
    session.assistant({"type": "text", "text": "I will run them."}, message="msg_a", tokens=9)
    call = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "make test"}}
    session.assistant(call, message="msg_a", tokens=159)
    return session


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


# --- results -------------------------------------------------------------------------------------------------


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
    sentence = 'User has answered your questions: "Where should it go?"="docs/", "Which format?"="PNG, our wiki shows no SVG". '  # noqa: E501
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


# --- whose words ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", ["use uv, not pip", [{"type": "text", "text": "use uv, not pip"}]])
def test_a_prompt_is_a_string_or_blocks(content: Any) -> None:
    session = Transcript()
    session.user(content)
    prompt = one(session.events(), "prompt")
    assert (prompt.text, prompt.actor_class, prompt.actor_alias) == ("use uv, not pip", "human", "")


@pytest.mark.parametrize(
    ("content", "fields"),
    [
        ("<command-name>/clear</command-name>\n<command-message>clear</command-message>", {}),
        ("<local-command-stdout>Bye!</local-command-stdout>", {}),
        ("Caveat: The messages below were generated by the user while running local commands.", {}),
        ("<bash-input>ls</bash-input>", {}),
        ("<task-notification>\n<task-id>b1</task-id></task-notification>", {}),
        ("<system-reminder>Be brief.</system-reminder>", {}),
        ("<ide_diagnostics>line 3: unused import</ide_diagnostics>", {}),
        ("<mcp-resource-update server='docs'>changed</mcp-resource-update>", {}),
        ("Base directory for this skill: /home/mara/.claude/skills/review", {"isMeta": True}),
        ("Always deploy from main.", {"isMeta": True}),
        ("Monitor event", {"origin": {"kind": "task-notification"}}),
        ("Implement the following plan:\n\nnever touch main", {"planContent": "never touch main"}),
    ],
)
def test_what_the_client_wrote_is_injected(content: str, fields: dict[str, Any]) -> None:
    session = Transcript()
    session.user(content, **fields)
    assert [(event.kind, event.actor_class) for event in session.events()] == [("injected", "injected")]


def test_what_a_person_tells_the_agent_to_remember_is_a_prompt() -> None:
    session = Transcript()
    session.user("<user-memory-input>never push to main</user-memory-input>")
    assert texts(session.events(), "prompt") == ["never push to main"]


def test_a_reminder_inside_a_prompt_is_taken_apart() -> None:
    session = Transcript()
    session.user("never use mocks here\n<system-reminder>\nBe brief.\n</system-reminder>", origin={"kind": "human"})
    events = session.events()
    assert texts(events, "prompt") == ["never use mocks here\n"]
    assert texts(events, "injected") == ["<system-reminder>\nBe brief.\n</system-reminder>"]


def test_a_compaction_summary_is_never_a_prompt() -> None:
    session = Transcript()
    leaf = session.user("we use tabs here")
    session.add(
        "system", parent=None, logicalParentUuid=leaf, subtype="compact_boundary", content="Conversation compacted"
    )
    session.user("This session is being continued from a previous conversation. The user said: always rebase.")
    session.user("The user said: always rebase.", isCompactSummary=True, isVisibleInTranscriptOnly=True)
    events = session.events()
    assert texts(events, "prompt") == ["we use tabs here"]
    assert [event.actor_class for event in events if event.kind == "compaction"] == ["system", "injected", "injected"]


def test_echoes_and_unknown_types_give_no_events_and_are_kept() -> None:
    session = Transcript()
    message = {"type": "user", "message": {"role": "user", "content": "always use uv"}}
    session.add("progress", data={"type": "agent_progress", "message": message})
    session.add("thinking-mode", level="deep")
    assert len(kept(read(session.bytes()))) == 2
    assert session.events() == []


def test_a_known_type_of_an_unknown_shape_shows() -> None:
    session = Transcript()
    session.add("user", message={"id": 7, "content": "x"})
    event = one(session.events(), "other")
    assert event.attributes == {"unread": "user"}


def test_a_picture_after_redaction_and_a_mark_do_no_harm() -> None:
    session = Transcript()
    blob = {"blob": {"type": "image/png", "size": 1, "sha256": "0"}}
    session.user(
        [{"type": "image", "source": blob}, blob, {"type": "text", "text": "why red? [redacted:token:0a1b2c3d]"}]
    )
    assert texts(session.events(), "prompt") == ["why red? [redacted:token:0a1b2c3d]"]


def test_hook_output_is_injected_and_keeps_its_text() -> None:
    session = Transcript()
    hook = {"type": "hook_additional_context", "hookName": "SessionStart", "content": ["Team memory: use uv."]}
    session.add("attachment", attachment=hook)
    event = one(session.events(), "injected")
    assert (event.text, event.attributes["hook"]) == ("Team memory: use uv.", "SessionStart")


def test_a_merge_request_link() -> None:
    session = Transcript()
    url = "https://forge.example/team/harbour-api/pull/12"
    session.plain(
        "pr-link",
        sessionId=SESSION,
        prNumber=12,
        prUrl=url,
        prRepository="team/harbour-api",
        timestamp="2026-03-02T09:00:00Z",
    )
    link = one(session.events(), "merge_request_link")
    assert link.attributes == {"number": 12, "url": url, "repository": "team/harbour-api"}


# --- the queue -----------------------------------------------------------------------------------------------


def queued(*steps: dict[str, Any], prompt: str | None = None, attachment: str | None = None) -> list[Event]:
    session = Transcript()
    session.user("run the tests")
    for number, step in enumerate(steps):
        session.plain("queue-operation", sessionId=SESSION, timestamp=f"2026-03-02T09:10:{number:02d}Z", **step)
    if prompt:
        session.user(prompt, at=1000)
    if attachment:
        session.add(
            "attachment", at=1001, attachment={"type": "queued_command", "prompt": attachment, "commandMode": "prompt"}
        )
    return session.events()


TYPED = {"operation": "enqueue", "content": "also pin the version"}


def test_a_dequeued_prompt_is_said_once() -> None:
    events = queued(TYPED, {"operation": "dequeue"}, prompt="also pin the version")
    assert texts(events, "prompt", "queued_prompt") == ["run the tests", "also pin the version"]
    assert one(events, "queued_prompt").attributes == {"dequeued": True}


def test_two_prompts_that_leave_the_queue_at_once_are_two_steps() -> None:
    session = Transcript()
    session.user("run the tests")
    for content in ("pin the version", "and the docs"):
        session.plain("queue-operation", operation="enqueue", content=content, sessionId=SESSION,
                      timestamp="2026-03-02T09:10:00Z")  # fmt: skip
    for _ in range(2):
        session.plain("queue-operation", operation="dequeue", sessionId=SESSION, timestamp="2026-03-02T09:11:00.500Z")
    session.user("pin the version\nand the docs", at=1000)
    assert not any(event.on_live_path for event in session.events() if event.kind == "queued_prompt")


def test_a_dequeued_prompt_whose_record_is_lost_is_still_said() -> None:
    assert texts(queued(TYPED, {"operation": "dequeue"}), "queued_prompt") == ["also pin the version"]


@pytest.mark.parametrize(
    ("step", "attachment", "fate"),
    [
        ({"operation": "remove"}, None, "absorbed"),
        ({"operation": "remove", "content": "also pin the version", "reason": "absorbed_mid_turn"}, None, "absorbed"),
        ({"operation": "remove"}, "also pin the version", "absorbed"),
        ({"operation": "remove"}, "something else", "withdrawn"),
        ({"operation": "remove", "reason": "cancelled"}, None, "withdrawn"),
        ({"operation": "popAll"}, None, "withdrawn"),
    ],
)
def test_what_became_of_a_queued_prompt(step: dict[str, Any], attachment: str | None, fate: str) -> None:
    (event,) = [event for event in queued(TYPED, step, attachment=attachment) if event.text == TYPED["content"]]
    assert (event.kind, event.actor_class, event.attributes) == ("queued_prompt", "human", {fate: True})
    assert event.on_live_path is (fate == "absorbed")


def test_the_named_prompt_is_the_one_taken() -> None:
    other = {"operation": "enqueue", "content": "and the docs"}
    events = queued(TYPED, other, {"operation": "popAll", "content": "and the docs"})
    assert texts(events, "queued_prompt") == ["also pin the version"]


def test_an_attachment_alone_is_the_prompt() -> None:
    assert texts(queued(attachment="also pin the version"), "queued_prompt") == ["also pin the version"]


@pytest.mark.parametrize("content", ["/model", "<task-notification>done</task-notification>"])
def test_queued_commands_and_notices_are_injected(content: str) -> None:
    assert not texts(queued({"operation": "enqueue", "content": content}), "queued_prompt")


# --- rewinds -------------------------------------------------------------------------------------------------


def test_a_rewound_prompt_and_all_that_came_of_it_are_off_the_live_path() -> None:
    session = Transcript()
    session.user("add a cache")
    answer = session.assistant({"type": "text", "text": "Where?"})
    session.user("in Redis")
    session.call("Bash", {"command": "redis-cli ping"})
    session.result("PONG")
    session.user("in memory, we run no Redis", parent=answer)
    session.assistant({"type": "text", "text": "Done."})
    events = session.events()
    assert texts(events, "prompt") == ["add a cache", "in memory, we run no Redis"]
    assert texts(events, "prompt", "tool_call", "tool_result", live=False) == ["in Redis", "redis-cli ping", "PONG"]


def test_a_rewind_behind_progress_records_and_to_the_first_prompt() -> None:
    session = Transcript()
    start = session.add("progress", data={"type": "hook_progress"})
    session.add("progress", data={"type": "hook_progress"})
    session.user("add a cache")
    session.assistant({"type": "text", "text": "Where?"})
    session.user("add a cache in memory", parent=start)
    assert texts(session.events(), "prompt") == ["add a cache in memory"]


def test_parallel_results_and_streamed_pieces_are_no_rewinds() -> None:
    session = Transcript()
    session.user("read both")
    one_call = session.call("Read", {"file_path": "a.py"}, "toolu_a", message="msg_a")
    session.call("Read", {"file_path": "b.py"}, "toolu_b", message="msg_a")
    session.result("b", "toolu_b")
    main = session.last
    session.result("a", "toolu_a", parent=one_call)
    session.assistant({"type": "text", "text": "Read."}, parent=main)
    session.user("now fix a.py")
    assert all(event.on_live_path for event in session.events())


def test_a_lost_parent_makes_nothing_dead() -> None:
    session = Transcript()
    session.user("add a cache")
    session.assistant({"type": "text", "text": "Where?"})
    session.user("in memory", parent="a-line-that-was-refused")
    session.assistant({"type": "text", "text": "Done."})
    assert all(event.on_live_path for event in session.events())


def test_two_terminals_on_one_session_are_no_rewind() -> None:
    session = Transcript()
    session.user("add a cache")
    answer = session.assistant({"type": "text", "text": "Where?"})
    session.user("in memory", parent=answer, at=10)
    session.assistant({"type": "text", "text": "Done."}, at=40)
    session.user("meanwhile, write docs", parent=answer, at=20)
    assert all(event.on_live_path for event in session.events())


def test_a_loop_of_parents_ends() -> None:
    session = Transcript()
    session.user("one", parent="main-0001")
    session.user("two", parent="main-0000")
    assert len(session.events()) == 2


def test_a_later_capture_with_other_masks_wins() -> None:
    session = Transcript()
    session.user("the key is REDACTED")
    unit = unit_of(read(session.bytes()))
    newer = UnitRecord(
        "main-0000", "user", unit.records[0].ts, json.loads(json.dumps(unit.records[0].value)), "b", "2026-03-09"
    )
    newer.value["message"]["content"] = "the REDACTED is REDACTED"
    for records in ([*unit.records, newer], [newer, *unit.records]):
        assert texts(claude_code.events(Unit("claude_code", unit.unit_id, records, None, None)), "prompt") == [
            "the REDACTED is REDACTED"
        ]


# --- any order, any cut --------------------------------------------------------------------------------------


def long_session() -> Transcript:
    session = streamed()
    session.result("Exit code 1\nFAILED tests/test_größe.py", is_error=True)
    session.assistant({"type": "text", "text": "Ich sehe: 日本語 fehlt."})
    session.plain(
        "queue-operation",
        operation="enqueue",
        content="und pinne 版本",
        sessionId=SESSION,
        timestamp="2026-03-02T09:01:00Z",
    )
    session.plain("summary", summary="Tests", leafUuid="main-0002")
    session.user("prüfe nochmal 😀")
    return session


def test_cut_at_every_byte_of_the_end() -> None:
    data = long_session().bytes()
    before = {record.id for record in kept(read(data[: len(data) - 200]))}
    for cut in range(len(data) - 200, len(data) + 1):
        items = read(data[:cut])
        assert before <= {record.id for record in kept(items)}
        assert refused(items) in ([], ["incomplete_tail"])
        events_of(items)


@given(st.permutations(long_session().records))
@settings(max_examples=40, deadline=None)
def test_any_order_of_lines_gives_the_same_events(records: list[dict[str, Any]]) -> None:
    session = Transcript()
    session.records = records
    assert session.events() == long_session().events()


shapes = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "text", "id", "content", "input"]), inner)
    ),
    max_leaves=6,
)


kinds = st.sampled_from(["user", "assistant", "system", "attachment", "queue-operation", "pr-link", "new"])
names = st.sampled_from(["message", "content", "attachment", "operation", "toolUseResult", "origin", "uuid"])


@given(kinds, st.dictionaries(names, shapes))
@settings(deadline=None)
def test_no_shape_of_a_record_stops_a_unit(kind: str, fields: dict[str, Any]) -> None:
    session = Transcript()
    session.user("keep me")
    session.plain(kind, sessionId=SESSION, timestamp="2026-03-02T09:30:00Z", **fields)
    items = read(session.bytes())
    assert len(items) == 2
    assert "keep me" in texts(events_of(items), "prompt")


# --- real transcripts ----------------------------------------------------------------------------------------

DATA = Path(__file__).resolve().parents[4] / "shared" / "data" / "claude-code"


def read_folder(folder: str) -> list[Record | Refusal]:
    if not DATA.is_dir():
        pytest.skip("../shared/data is not here")
    return [item for path in sorted((DATA / folder).rglob("*.jsonl")) for item in read(path.read_bytes(), path.name)]


def test_real_files_with_malformed_lines() -> None:
    items = read_folder("m-claude")
    assert refused(items).count("not_json") == 8
    assert refused(items).count("no_unit") == 1
    assert (len(items), len(kept(items))) == (255, 246)
    assert len({record.unit for record in kept(items) if "/" in record.unit}) == 2


def test_real_rejections_come_with_their_exact_words() -> None:
    items = read_folder("entireio-cli")
    assert refused(items) == []
    units = sorted({record.unit for record in kept(items)})
    rejections = [e for unit in units for e in events_of(items, unit) if e.kind == "rejection" and e.text]
    assert sorted(event.text[:24] for event in rejections) == [
        "branch and PR. but also ",
        "i'll take it from here.",
        "if we're going to do tha",
        "really?   Can't we provi",
        "the other branch just go",
    ]
    stored = "\n".join(json.dumps(record.value, ensure_ascii=False) for record in kept(items))
    assert all(f'the user said:\\n{event.text}"' in stored for event in rejections)
    assert all(event.on_live_path for event in rejections)


def test_real_captures_that_overlap_merge_by_record() -> None:
    appended = read_folder("entireio-cli-snapshots/append-only")
    assert (len(kept(appended)), len({record.id for record in kept(appended)})) == (68, 40)
