from __future__ import annotations

import json
import sqlite3
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opencode_samples import FEEDBACK, SESSION, START, Store, kept, one, read, refused, said, talk, texts, unit_of

from lorelake.formats import opencode, opencode_files, registry
from lorelake.formats.record import Record

# --- reading -------------------------------------------------------------------------------------------------


def test_every_form_of_a_session_gives_the_same_record_ids_and_events() -> None:
    forms = [talk().files("newer"), talk().files("older"), {"opencode.db": talk().bytes()}]
    export = {"info": talk().info, "messages": [
        {"info": message, "parts": [part for part in talk().parts if part["messageID"] == message["id"]]}
        for message in talk().messages
    ]}  # fmt: skip
    forms.append({"ses.json": json.dumps(export).encode()})
    for form in forms:
        items = read(form)
        assert not refused(items)
        assert sorted(record.id for record in kept(items)) == sorted(record.id for record in kept(read(forms[0])))
        assert {record.unit for record in kept(items)} == {SESSION}
        assert said(opencode.events(unit_of(items))) == said(talk().events())


def test_times_are_the_parts_own_or_their_messages() -> None:
    records = {record.id: record for record in kept(read({"opencode.db": talk().bytes()}))}
    assert records["prt_0a1_000"].ts == records["msg_0a1_000"].ts == datetime(2026, 3, 2, 9, 0, 1, tzinfo=UTC)
    assert not any(record.ts_assumed for record in records.values())


def test_ids_may_stand_in_the_names_alone() -> None:
    files = {
        name: json.dumps(
            {k: v for k, v in json.loads(data).items() if k not in ("id", "sessionID", "messageID")}
        ).encode()
        for name, data in talk().files("older").items()
    }
    assert said(opencode.events(unit_of(read(files)))) == said(talk().events())
    for name, data in files.items():
        assert opencode.sniff(f"x/{name}", data) or "session/info" in name


def test_sniffing_goes_by_content() -> None:
    for name, data in talk().files().items():
        assert registry.sniff_member(name.rsplit("/", 1)[-1], data[:8192]) == "opencode"
    assert registry.sniff_member("copy.sqlite", talk().bytes()[:8192]) == "opencode"
    other = sqlite3.connect(":memory:")
    other.execute("CREATE TABLE session (id)")
    assert registry.sniff_member("other.db", other.serialize()[:8192]) is None
    assert registry.sniff_member("opencode.db", other.serialize()[:8192]) == "opencode"
    assert registry.sniff_member("package.json", b'{"name": "x", "version": "1", "type": "module"}') is None


def test_one_bad_record_costs_no_other() -> None:
    files = talk().files()
    names = [name for name in files if "/part/" in name]
    files[names[0]] = b'{"id": "prt_x", "sessionID": "ses_0a1", "messageID": "m", "type": "text", "text": "\\ud800"}'
    files[names[1]] = files[names[1]][:-20]
    files[names[2]] = b'{"type": "text"}'
    files[names[3]] = b"[]"
    reasons = [reason for reason, _ in refused(read(files))]
    assert sorted(reasons) == ["lone_surrogate", "not_json", "wrong_shape"]
    assert len(kept(read(files))) == len(files) - 3


def test_a_bad_row_costs_no_other() -> None:
    store, data = talk(), sqlite3.connect(":memory:")
    data.deserialize(store.bytes())
    data.execute("UPDATE part SET data = '{\"type\":' WHERE id = 'prt_0a1_000'")
    data.execute("UPDATE part SET data = '[]' WHERE id = 'prt_0a1_001'")
    data.execute("UPDATE message SET data = CAST(x'ff' AS TEXT) WHERE id = 'msg_0a1_003'")
    data.execute(
        """UPDATE message SET data = '{"role": "user", "time": {"created": 1e300}}' WHERE id = 'msg_0a1_002'"""
    )
    data.commit()
    items = read({"opencode.db": data.serialize()})
    assert sorted(reason for reason, _ in refused(items)) == ["bad_time", "not_json", "not_utf8", "wrong_shape"]
    assert len(items) == 1 + len(store.messages) + len(store.parts)


def test_lists_beside_a_session_are_told_and_no_transcript() -> None:
    files = talk().files() | {f"storage/todo/{SESSION}.json": b'[{"content": "x"}]'}
    assert [reason for reason, _ in refused(read(files))] == ["not_a_transcript"]


def test_without_its_message_a_part_has_no_session() -> None:
    assert refused(read({"storage/part/msg_1/prt_1.json": b'{"type": "text", "text": "x"}'}))[0][0] == "no_unit"


# --- captures in any order -----------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(order=st.permutations(range(4)), twice=st.booleans())
def test_captures_in_any_order_or_twice_give_the_same(order: list[int], twice: bool) -> None:
    running = talk()
    state = running.parts[1]["state"]
    running.parts[1]["state"] = {
        "status": "running",
        "input": state["input"],
        "time": {"start": state["time"]["start"]},
    }
    forms = [running.files("older"), running.files(), talk().files(), {"opencode.db": talk().bytes()}]
    items = [item for number in order for item in read(forms[number])] * (2 if twice else 1)
    assert said(opencode.events(unit_of(items))) == said(talk().events())


def test_cut_anywhere_and_completed_a_file_counts_right() -> None:
    """faults 4: a half-written file is read again when it is whole."""
    whole = talk().files()
    last = list(whole)[-1]
    for end in range(max(0, len(whole[last]) - 200), len(whole[last])):
        torn = read(whole | {last: whole[last][:end]})
        assert (len(kept(torn)), len(refused(torn))) == (len(whole) - 1, 1)
        assert said(opencode.events(unit_of(torn + read(whole)))) == said(talk().events())


def test_a_picture_in_a_file_hides_nothing() -> None:
    """faults 6: a session whose first record is large is there."""
    store = (
        Store()
        .said("what is on it?")
        .part("file", mime="image/png", url="data:image/png;base64," + "iVBORw0KGgo" * 30_000)
    )
    assert texts(store.events(), "prompt") == ["what is on it?"]
    for files in (store.files(), {"opencode.db": store.bytes()}):
        assert len(kept(read(files))) == 4


# --- whose words ---------------------------------------------------------------------------------------------


def test_only_what_a_person_typed_is_theirs() -> None:
    store = Store().said("use uv, not pip").part("text", text="Called the Read tool", synthetic=True)
    store.part("text", text="not sent", ignored=True).part("subtask", prompt="look", description="d", agent="a")
    store.said("<system-reminder>stay in plan mode</system-reminder>")
    events = store.events()
    assert [(event.text, event.actor_alias) for event in events if event.kind == "prompt"] == [("use uv, not pip", "")]
    assert len(texts(events, "injected")) == 4


@pytest.mark.parametrize("drop", [False, True])
def test_the_prompts_of_a_sub_agent_or_unknown_session_are_nobodys(drop: bool) -> None:
    store = Store(parentID="ses_parent").said("always scan the whole tree")
    items = [item for item in read(store.files()) if not (drop and isinstance(item, Record) and item.type == "session")]
    events = opencode.events(unit_of(items))
    assert not texts(events, "prompt")
    assert one(events, "injected").actor_class == "agent"
    assert opencode.facts(unit_of(items)).parent_unit == (None if drop else "ses_parent")


def test_a_refused_call_is_a_rejection_with_the_persons_words() -> None:
    store = (
        Store()
        .message("assistant")
        .tool("bash", {"command": "make deploy"}, "error", error=FEEDBACK + "use staging\nalways")
    )
    store.tool(
        "edit", {"filePath": "/r/a.py"}, "error", error="The user rejected permission to use this specific tool call."
    )
    store.tool(
        "bash", {"command": "rm"}, "error", error="The user has specified a rule which prevents you from using this"
    )
    store.tool("bash", {"command": "ls"}, "error", error="Tool execution aborted")
    events = store.events()
    assert texts(events, "rejection") == ["use staging\nalways", ""]
    assert {event.actor_class for event in events if event.kind == "rejection"} == {"human"}
    assert one(events, "denial").actor_class == "system"
    assert (one(events, "tool_result").is_error, one(events, "tool_result").text) == (True, "Tool execution aborted")


def test_answers_to_the_agents_questions_are_a_persons() -> None:
    asked = {
        "questions": [{"question": "Which?", "options": [{"label": "staging"}]}, {"question": "Why?", "options": []}]
    }
    store = (
        Store()
        .message("assistant")
        .tool("question", asked, output="User has answered", metadata={"answers": [["staging"], ["it is safe"]]})
    )
    prompts = [event for event in store.events() if event.kind == "prompt"]
    assert [(event.text, event.attributes["picked_option"]) for event in prompts] == [
        ("staging", True),
        ("it is safe", False),
    ]


def test_an_abort_is_an_interrupt_and_other_errors_are_told() -> None:
    store = Store().message("assistant", error={"name": "MessageAbortedError", "data": {"message": "aborted"}})
    store.message("assistant", error={"name": "APIError", "data": {"message": "overloaded", "statusCode": 529}})
    events = store.events()
    assert one(events, "interrupt").actor_class == "human"
    assert (one(events, "other").text, one(events, "other").attributes) == ("overloaded", {"error": "APIError"})


def test_a_summary_is_no_answer() -> None:
    store = (
        Store()
        .message("user")
        .part("compaction", auto=True)
        .message("assistant", summary=True)
        .part("text", text="The goal was")
    )
    events = store.events()
    assert texts(events, "compaction") == ["", "The goal was"]
    assert not texts(events, "answer")


# --- what was taken back -------------------------------------------------------------------------------------


def test_what_was_taken_back_is_off_the_live_path_and_stays_so_when_the_store_forgets_it() -> None:
    store = talk()
    store.info |= {"revert": {"messageID": store.messages[3]["id"]}, "time": {"created": START, "updated": store.clock}}
    live = {event.text: event.on_live_path for event in store.events() if event.kind == "prompt"}
    assert list(live.values()) == [True, False]
    later = talk()
    later.info["time"] = {"created": START, "updated": store.clock + 5000}
    del later.messages[3], later.parts[-1]
    later.clock += 3000
    later.messages.append({**talk().messages[3], "id": "msg_0a1_009", "time": {"created": later.clock}})
    later.parts.append(
        {**talk().parts[-1], "id": "prt_0a1_090", "messageID": "msg_0a1_009", "text": "use another bucket"}
    )
    events = opencode.events(unit_of(read(store.files()) + read(later.files())))
    told = {event.text: event.on_live_path for event in events if event.kind == "prompt"}
    assert told == {
        "why does the nightly export fail? – größer": True, "use the staging bucket, never production": False,
        "use another bucket": True,
    }  # fmt: skip


def test_a_message_taken_back_from_a_part_on_keeps_its_beginning() -> None:
    store = Store().said("go").message("assistant").part("text", text="first").part("text", text="second").said("then")
    store.info |= {"revert": {"messageID": store.messages[1]["id"], "partID": store.parts[2]["id"]}}
    assert [event.on_live_path for event in store.events()] == [True, True, False, False]


# --- facts and calls -----------------------------------------------------------------------------------------


def test_facts() -> None:
    for files in (talk().files(), {"opencode.db": talk().bytes()}):
        facts = opencode.facts(unit_of(read(files)))
        assert (facts.kind, facts.agent, facts.remote, facts.parent_unit) == ("session", "opencode", None, None)
        assert facts.cwds == ("/home/mara/harbour-api/web", "/home/mara/harbour-api")


def test_calls_results_and_tokens() -> None:
    events = talk().events()
    call, result, usage = one(events, "tool_call"), one(events, "tool_result"), one(events, "usage")
    assert (call.tool, call.command, call.call_id) == ("bash", "make export", result.call_id)
    assert (result.is_error, result.exit_code, result.text, result.actor_class) == (True, 2, "no such bucket\n", "tool")
    assert result.ts > call.ts
    assert usage.attributes == {
        "tokens": {"input": 10, "output": 2, "cache": {"read": 1}}, "cost": 0.01, "model": "claude-opus-4-6",
    }  # fmt: skip
    patch = "*** Begin Patch\n*** Update File: src/a.py\n*** Add File: src/b.py\n*** End Patch"
    store = (
        Store()
        .message("assistant")
        .tool("apply_patch", {"patchText": patch})
        .tool("read", {"filePath": "/r/x.py"}, "running")
    )
    paths = [(event.path, event.attributes) for event in store.events() if event.kind == "tool_call"]
    assert paths == [("src/a.py", {"paths": ["src/a.py", "src/b.py"]}), ("/r/x.py", {})]


def test_tokens_of_a_message_without_steps_are_counted_once() -> None:
    store = Store().message("assistant", tokens={"input": 3, "output": 4}).part("text", text="x")
    assert one(store.events(), "usage").attributes["tokens"] == {"input": 3, "output": 4}


def test_records_of_an_unknown_shape_are_kept_and_shown() -> None:
    store = Store().message("user").part("hologram", text=3).part("tool", tool="x", state="later")
    store.messages.append({"id": "msg_x", "sessionID": SESSION, "role": "user", "time": "soon"})
    items = read(store.files())
    assert len(kept(items)) + len(refused(items)) == 5
    assert {event.attributes.get("unread") for event in opencode.events(unit_of(items))} == {"part", "message"}


def test_names_of_files_give_their_session() -> None:
    names = [*talk().files(), "storage/part/msg_lost/prt_1.json", "storage/project/p1.json", "src/message/a/b.json"]
    assert list(opencode_files.sessions(names)) == [("storage", SESSION)]
    assert len(opencode_files.sessions(names)["storage", SESSION]) == len(talk().files())
