from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorelake.formats import codex
from lorelake.formats.record import Capture, Event, Member, Record, Refusal, Unit, UnitRecord, canonical, in_order

SESSION = "019c0000-0000-7000-8000-00000000000a"
REMOTE = "https://forge.example/team/harbour-api.git"


class Rollout:
    """Writes lines the way the agent does."""

    def __init__(self, session: str = SESSION, **meta: Any) -> None:
        self.lines: list[dict[str, Any]] = []
        git = {"repository_url": REMOTE, "branch": "main", "commit_hash": "0" * 40}
        self.add("session_meta", {"id": session, "cwd": "/home/mara/harbour-api", "git": git, **meta})

    def add(self, kind: str, payload: dict[str, Any]) -> None:
        second = len(self.lines)
        ts = f"2026-03-02T09:{second // 60:02d}:{second % 60:02d}.000Z"
        self.lines.append({"timestamp": ts, "type": kind, "payload": payload})

    def said(self, text: str) -> None:
        """A prompt, recorded twice."""
        self.item("message", role="user", content=[{"type": "input_text", "text": text}])
        self.event("user_message", message=text, images=[])

    def item(self, kind: str, **fields: Any) -> None:
        self.add("response_item", {"type": kind, **fields})

    def event(self, kind: str, **fields: Any) -> None:
        self.add("event_msg", {"type": kind, **fields})

    def call(self, command: Any, output: Any, call_id: str = "call_1", name: str = "exec_command") -> None:
        self.item("function_call", name=name, arguments=json.dumps(command), call_id=call_id)
        self.item("function_call_output", call_id=call_id, output=output)

    def bytes(self) -> bytes:
        return b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in self.lines)

    def events(self, session: str = SESSION) -> list[Event]:
        return codex.events(unit_of(read(self.bytes()), session))


def read(data: bytes) -> list[Record | Refusal]:
    member = Member("rollout.jsonl", len(data), lambda: io.BytesIO(data))
    return list(codex.read(Capture("rollout.jsonl", (member,), hashlib.sha256(data).hexdigest())))


def kept(items: Iterable[Record | Refusal]) -> list[Record]:
    return [item for item in items if isinstance(item, Record)]


def refused(items: Iterable[Record | Refusal]) -> list[str]:
    return [item.reason for item in items if isinstance(item, Refusal)]


def unit_of(items: Iterable[Record | Refusal], session: str = SESSION) -> Unit:
    earliest = datetime(2026, 3, 2, tzinfo=UTC)
    records = {(r.id, canonical(r.value)): r for r in kept(items) if r.unit == session}.values()
    stored = [UnitRecord(r.id, r.type, r.ts or earliest, r.value, "a.jsonl", "2026-03-03") for r in records]
    return Unit("codex", f"codex:{session}", in_order(stored), None, None)


def one(events: Iterable[Event], kind: str) -> Event:
    (event,) = [event for event in events if event.kind == kind]
    return event


def texts(events: Iterable[Event], kind: str) -> list[str]:
    return [event.text for event in events if event.kind == kind]


# --- reading -------------------------------------------------------------------------------------------------


def test_a_record_is_known_by_session_payload_and_occurrence() -> None:
    rollout = Rollout()
    rollout.said("push")
    rollout.said("push")
    records = kept(read(rollout.bytes()))
    assert len({record.id for record in records}) == 5
    assert all(record.id.startswith(f"{SESSION}:") for record in records)
    # The same lines behind one more, or under other times, are the same records.
    moved = Rollout()
    moved.lines = [*rollout.lines[:1], {"timestamp": "x", "type": "event_msg", "payload": {"type": "new"}}]
    moved.lines += [{**line, "timestamp": "2027-01-01T00:00:00Z"} for line in rollout.lines[1:]]
    moved.lines[1]["timestamp"] = "2026-03-02T09:00:00Z"
    again = {record.id for record in kept(read(moved.bytes()))}
    assert {record.id for record in records} < again
    assert len(again) == 6


def test_the_session_may_be_named_after_its_lines() -> None:
    rollout = Rollout()
    rollout.said("push")
    rollout.lines.reverse()
    assert {record.unit for record in kept(read(rollout.bytes()))} == {SESSION}


def test_without_a_session_each_line_is_refused() -> None:
    rollout = Rollout()
    rollout.said("push")
    del rollout.lines[0]
    assert refused(read(rollout.bytes())) == ["no_unit", "no_unit"]


def test_seen_is_kept_plus_refused() -> None:
    bad = b'{"type":"event_msg"}\n{"timestamp":"later","type":"event_msg","payload":{}}\nnot json\n{"timestamp":'
    items = read(Rollout().bytes() + bad)
    assert len(kept(items)) == 1
    assert refused(items) == ["wrong_shape", "bad_time", "not_json", "incomplete_tail"]


def test_sniffing_goes_by_content() -> None:
    rollout = Rollout(base_instructions={"text": "x" * 20_000})
    assert codex.sniff("anything.txt", rollout.bytes()[:8192])
    assert codex.sniff("anything.txt", b'{"timestamp":"t","type":"event_msg","payload":{}}\n')
    assert not codex.sniff("rollout-1.jsonl", b'{"type":"user","uuid":"u","sessionId":"s","message":{}}\n')


def test_facts() -> None:
    rollout = Rollout()
    rollout.add("turn_context", {"cwd": "/home/mara/harbour-web", "model": "gpt-5.5"})
    facts = codex.facts(unit_of(read(rollout.bytes())))
    assert (facts.kind, facts.agent, facts.remote, facts.branch) == ("session", "codex", REMOTE, "main")
    assert facts.cwds == ("/home/mara/harbour-api", "/home/mara/harbour-web")
    assert facts.parent_unit is None


@pytest.mark.parametrize(
    "meta",
    [
        {"forked_from_id": "parent"},
        {"parent_thread_id": "parent"},
        {"source": {"subagent": {"thread_spawn": {"parent_thread_id": "parent", "depth": 1}}}},
    ],
)
def test_the_parent_of_a_fork_or_sub_agent(meta: dict[str, Any]) -> None:
    assert codex.facts(unit_of(read(Rollout(**meta).bytes()))).parent_unit == "parent"


def test_a_fork_that_copies_its_parents_lines_is_one_session_with_the_parents_payload_ids() -> None:
    parent = Rollout("parent")
    parent.said("never edit generated files")
    fork = Rollout(forked_from_id="parent")
    fork.lines += [{**line, "timestamp": "2026-04-01T00:00:00Z"} for line in parent.lines]
    fork.said("go on")
    for lines in (fork.lines, fork.lines[::-1]):
        fork.lines = lines
        records = kept(read(fork.bytes()))
        assert {record.unit for record in records} == {SESSION}
        own = {record.id.partition(":")[2] for record in kept(read(parent.bytes()))}
        assert own < {record.id.partition(":")[2] for record in records}


# --- whose words ---------------------------------------------------------------------------------------------


def test_a_prompt_recorded_twice_is_said_once() -> None:
    rollout = Rollout()
    rollout.said("use uv, not pip")
    prompt = one(rollout.events(), "prompt")
    assert (prompt.text, prompt.actor_class, prompt.actor_alias) == ("use uv, not pip", "human", "")
    assert not texts(rollout.events(), "injected")


def test_without_user_messages_the_response_items_are_the_prompts() -> None:
    rollout = Rollout()
    rollout.item(
        "message", role="user", content=[{"type": "input_text", "text": "# AGENTS.md instructions for /x\n\nUse tabs."}]
    )
    rollout.item("message", role="user", content=[{"type": "input_text", "text": "use uv, not pip"}])
    assert texts(rollout.events(), "prompt") == ["use uv, not pip"]
    assert len(texts(rollout.events(), "injected")) == 1


@pytest.mark.parametrize(
    ("role", "text"),
    [
        ("user", "# AGENTS.md instructions for /home/mara/harbour-api\n\n<INSTRUCTIONS>\nUse tabs."),
        ("user", "<environment_context>\n<cwd>/x</cwd></environment_context>"),
        ("user", "<turn_aborted>\nThe user interrupted.</turn_aborted>"),
        ("user", "<skill>\n<name>review</name></skill>"),
        ("user", "a form not met before"),
        ("developer", "<permissions instructions>\nnever</permissions instructions>"),
    ],
)
def test_what_the_client_wrote_is_injected(role: str, text: str) -> None:
    rollout = Rollout()
    rollout.said("use uv, not pip")
    rollout.item("message", role=role, content=[{"type": "input_text", "text": text}])
    events = rollout.events()
    assert texts(events, "prompt") == ["use uv, not pip"]
    injected = one(events, "injected")
    assert (injected.text, injected.actor_class) == (text, "injected")


@pytest.mark.parametrize("mark", ["user_instructions", "mcp_instructions", "user_action", "hook_prompt"])
def test_what_the_client_wrote_is_known_by_its_mark_where_no_prompts_are_recorded(mark: str) -> None:
    rollout = Rollout()
    for text in (f"<{mark}>\nUse the index.\n</{mark}>", "use uv, not pip"):
        rollout.item("message", role="user", content=[{"type": "input_text", "text": text}])
    assert texts(rollout.events(), "prompt") == ["use uv, not pip"]


def test_what_an_editor_puts_before_the_words_is_taken_off() -> None:
    rollout = Rollout()
    rollout.said("# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nrename it\n")
    events = rollout.events()
    assert texts(events, "prompt") == ["rename it\n"]
    assert len(texts(events, "injected")) == 1


def test_the_prompts_of_a_sub_agent_are_the_agents() -> None:
    rollout = Rollout(source={"subagent": {"thread_spawn": {"parent_thread_id": "parent"}}})
    rollout.said("always scan the whole tree")
    events = rollout.events()
    assert not texts(events, "prompt")
    assert {event.actor_class for event in events} == {"agent"}


def test_an_answer_recorded_twice_is_said_once() -> None:
    rollout = Rollout()
    rollout.event("agent_message", message="Done.")
    rollout.item("message", role="assistant", content=[{"type": "output_text", "text": "Done."}], phase="final")
    rollout.event("agent_message", message="Only shown.")
    assert texts(rollout.events(), "answer") == ["Done.", "Only shown."]


def test_a_compaction_repeats_nothing() -> None:
    rollout = Rollout()
    rollout.said("use uv, not pip")
    old = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "never use pip"}]}
    rollout.add("compacted", {"message": "", "replacement_history": [old]})
    rollout.event("context_compacted")
    events = rollout.events()
    assert texts(events, "prompt") == ["use uv, not pip"]
    compaction = one(events, "compaction")
    assert (compaction.text, compaction.actor_class) == ("", "injected")
    assert all("never use pip" not in event.text for event in events)


@pytest.mark.parametrize(("reason", "actor_class"), [("interrupted", "human"), ("budget_limited", "system")])
def test_interrupts(reason: str, actor_class: str) -> None:
    rollout = Rollout()
    rollout.event("turn_aborted", reason=reason)
    interrupt = one(rollout.events(), "interrupt")
    assert (interrupt.actor_class, interrupt.attributes) == (actor_class, {"reason": reason})


# --- calls and results ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        ({"cmd": "make test", "workdir": "/x"}, "make test"),
        ({"command": ["bash", "-lc", "make test && true"]}, "make test && true"),
        ({"command": ["git", "status"]}, "git status"),
        ({"command": "make test"}, "make test"),
        ({"session_id": 7, "chars": ""}, None),
    ],
)
def test_commands(arguments: dict[str, Any], command: str | None) -> None:
    rollout = Rollout()
    rollout.call(arguments, "x")
    call = one(rollout.events(), "tool_call")
    assert (call.command, call.tool, call.call_id, call.actor_class) == (command, "exec_command", "call_1", "agent")
    assert call.text == (command or '{"chars":"","session_id":7}')


def test_arguments_that_are_no_json_are_kept_as_text() -> None:
    rollout = Rollout()
    rollout.item("function_call", name="exec_command", arguments='{"cmd": "cut', call_id="call_1")
    assert one(rollout.events(), "tool_call").text == '{"cmd": "cut'


HEADER = "Chunk ID: a1\nWall time: 0.1 seconds\n"


@pytest.mark.parametrize(
    ("output", "failed", "code"),
    [
        (HEADER + "Process exited with code 0\nOutput:\nok\n", False, 0),
        (HEADER + "Process exited with code 2\nOutput:\nno rule\n", True, 2),
        (HEADER + "Process running with session ID 7\nOutput:\nProcess exited with code 1\n", None, None),
        (HEADER + "Process exited with code 0\nOutput:\nProcess exited with code 1\n", False, 0),
        ("Exit code: 1\nWall time: 0 seconds\nOutput:\nbad\n", True, 1),
        ('{"output":"bad\\n","metadata":{"exit_code":1,"duration_seconds":0.1}}', True, 1),
        ("Plan updated", None, None),
        ([{"type": "input_text", "text": "a picture"}], None, None),
        ({"content": "Process exited with code 3\nOutput:\n", "success": False}, True, 3),
    ],
)
def test_results(output: Any, failed: bool | None, code: int | None) -> None:
    rollout = Rollout()
    rollout.call({"cmd": "make"}, output)
    result = one(rollout.events(), "tool_result")
    assert (result.is_error, result.exit_code, result.call_id, result.tool) == (failed, code, "call_1", "exec_command")
    assert result.actor_class == "tool"


def test_a_wrapped_output_is_what_was_printed() -> None:
    rollout = Rollout()
    rollout.call({"command": ["make"]}, '{"output":"bad\\n","metadata":{"exit_code":1}}', name="shell")
    assert one(rollout.events(), "tool_result").text == "bad\n"


def test_a_refused_command_is_a_rejection_without_words() -> None:
    rollout = Rollout()
    rollout.call({"cmd": "rm -rf build"}, "exec_command failed: rejected by user")
    rejection = one(rollout.events(), "rejection")
    assert (rejection.text, rejection.actor_class, rejection.call_id) == ("", "human", "call_1")


def test_a_patch_names_its_files_and_its_end_tells_failure() -> None:
    patch = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x\n+y\n*** Add File: src/b.py\n+z\n*** End Patch\n"
    rollout = Rollout()
    rollout.item("custom_tool_call", name="apply_patch", input=patch, call_id="call_1", status="completed")
    rollout.event("patch_apply_end", call_id="call_1", success=False, changes={})
    rollout.item("custom_tool_call_output", call_id="call_1", output="verification failed")
    events = rollout.events()
    call = one(events, "tool_call")
    assert (call.tool, call.path, call.text, call.attributes) == (
        "apply_patch", "src/a.py", patch, {"paths": ["src/a.py", "src/b.py"]},
    )  # fmt: skip
    result = one(events, "tool_result")
    assert (result.is_error, result.tool) == (True, "apply_patch")


def test_tokens_are_cumulative_and_the_last_count_of_a_turn_stands() -> None:
    rollout = Rollout()
    rollout.add("turn_context", {"model": "gpt-5.5"})
    for turn in (1, 2):
        rollout.event("task_started", turn_id=str(turn))
        for count in (10, 20):
            rollout.event("token_count", info={"total_token_usage": {"total_tokens": turn * 100 + count}})
        rollout.event("token_count", info=None)
    usage = [event.attributes for event in rollout.events() if event.kind == "usage"]
    assert [item["tokens"]["total_tokens"] for item in usage] == [120, 220]
    assert all(item["cumulative"] and item["model"] == "gpt-5.5" for item in usage)


@pytest.mark.parametrize(("turns", "left"), [(1, ["use npm", "now push"]), (2, ["now push"]), (9, ["now push"])])
def test_turns_that_were_rolled_back_are_not_on_the_live_path(turns: int, left: list[str]) -> None:
    rollout = Rollout()
    for words in ("use npm", "no, use pnpm"):
        rollout.said(words)
        rollout.call({"cmd": "make"}, HEADER + "Process exited with code 0\nOutput:\n", call_id=words)
    rollout.event("thread_rolled_back", num_turns=turns)
    rollout.said("now push")
    events = rollout.events()
    assert [event.text for event in events if event.kind == "prompt" and event.on_live_path] == left
    assert [event.on_live_path for event in events if event.kind == "tool_call"] == [turns == 1, False]


# --- any order, any cut --------------------------------------------------------------------------------------


def long_rollout() -> Rollout:
    rollout = Rollout()
    rollout.add("turn_context", {"model": "gpt-5.5", "cwd": "/home/mara/harbour-api"})
    rollout.said("prüfe die Größe")
    rollout.item("message", role="assistant", content=[{"type": "output_text", "text": "Ich prüfe."}])
    rollout.call({"cmd": "make test"}, HEADER + "Process exited with code 1\nOutput:\n日本語\n")
    rollout.event("token_count", info={"total_token_usage": {"total_tokens": 7}})
    rollout.said("nochmal 😀")
    return rollout


def test_cut_at_every_byte_of_the_end() -> None:
    data = long_rollout().bytes()
    before = {record.id for record in kept(read(data[: len(data) - 200]))}
    for cut in range(len(data) - 200, len(data) + 1):
        items = read(data[:cut])
        assert before <= {record.id for record in kept(items)}
        assert refused(items) in ([], ["incomplete_tail"])
        codex.events(unit_of(items))


@given(st.permutations(long_rollout().lines))
@settings(max_examples=40, deadline=None)
def test_any_order_of_lines_gives_the_same_events(lines: list[dict[str, Any]]) -> None:
    rollout = Rollout()
    rollout.lines = lines
    assert rollout.events() == long_rollout().events()


shapes = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "text", "content"]), inner),
    max_leaves=6,
)
types = st.sampled_from(["user_message", "message", "function_call", "function_call_output", "token_count", "new"])
names = st.sampled_from(
    ["message", "content", "role", "arguments", "output", "info", "call_id", "model", "git", "source"]
)
lines = st.sampled_from(["response_item", "event_msg", "turn_context", "compacted", "session_meta", "new"])


@given(lines, types, st.dictionaries(names, shapes))
@settings(deadline=None)
def test_no_shape_of_a_record_stops_a_unit(line: str, kind: str, fields: dict[str, Any]) -> None:
    rollout = Rollout()
    rollout.said("keep me")
    rollout.add(line, {"type": kind, **fields})
    items = read(rollout.bytes())
    assert len(kept(items)) == 4
    unit = unit_of(items)
    assert "keep me" in texts(codex.events(unit), "prompt")
    assert codex.facts(unit).remote == REMOTE


# --- real rollouts -------------------------------------------------------------------------------------------


def test_real_rollouts() -> None:
    folder = Path(__file__).resolve().parents[4] / "shared" / "data" / "codex"
    if not folder.is_dir():
        pytest.skip("../shared/data is not here")
    prompts = results = 0
    for path in sorted(folder.rglob("*.jsonl")):
        data = path.read_bytes()
        items = read(data)
        assert refused(items) == []
        assert len(kept(items)) == len(data.splitlines())
        (session,) = {record.unit for record in kept(items)}
        events = codex.events(unit_of(items, session))
        prompts += len(texts(events, "prompt"))
        results += sum(event.exit_code is not None for event in events)
        assert len(texts(events, "tool_call")) >= len(texts(events, "tool_result"))
    assert prompts == 10
    assert results > 150
