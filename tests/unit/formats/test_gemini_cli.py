from __future__ import annotations

import base64
import hashlib
import itertools
import json
import random
from pathlib import Path
from typing import Any

import pytest
from gemini_samples import FOLDER, HASH, SESSION, Chat, busy, kept, messages, one, read, refused, rich, texts, unit_of
from hypothesis import given, settings
from hypothesis import strategies as st

from lorelake.content.blobs import strip_blobs
from lorelake.formats import gemini_cli, registry
from lorelake.formats.record import Record, Refusal, canonical

# --- a document, written whole each time -----------------------------------------------------------------------


def test_a_message_is_a_record_and_so_is_the_head() -> None:
    chat = Chat()
    chat.add("user", "push")
    chat.add("gemini", "Pushed.")
    del chat.messages[1]["id"]
    head, first, second = kept(read(chat.document()))
    assert (head.unit, head.id, head.type, head.value) == (SESSION, f"session:{SESSION}", "session", chat.head)
    assert (first.unit, first.id, first.type, first.line) == (SESSION, "m-0", "user", 2)
    assert second.id == hashlib.sha256(canonical(chat.messages[1]).encode()).hexdigest()
    assert [record.id for record in kept(read(json.dumps(json.loads(chat.document())).encode()))] == [
        head.id, first.id, second.id,
    ]  # fmt: skip


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_a_chat_captured_three_times_is_one_session(order: tuple[int, ...]) -> None:
    chat = Chat()
    captures = []
    for number in range(13):
        chat.add("user" if number % 4 == 0 else "gemini", f"said {number}")
        if number in (2, 7, 12):
            # An early capture holds the message without the calls that it had later.
            captures.append(chat.document())
            call = {
                "id": f"c-{number}",
                "name": "read_file",
                "args": {},
                "status": "success",
                "result": [{"text": "x"}],
            }
            chat.messages[2]["toolCalls"] = [*chat.messages[2].get("toolCalls", []), call]
    counts = [len(messages(read(capture))) for capture in captures]
    assert counts == [3, 8, 13]
    items = [item for place in order for item in read(captures[place])] * 2
    assert len({record.id for record in messages(items)}) == 13
    events = gemini_cli.events(unit_of(items))
    assert texts(events, "prompt") + texts(events, "answer") == [
        *(f"said {n}" for n in range(0, 13, 4)), *(f"said {n}" for n in range(13) if n % 4),
    ]  # fmt: skip
    assert [event.call_id for event in events if event.kind == "tool_call"] == ["c-2", "c-7"]
    assert texts(events, "other") == [""]


def test_an_older_capture_that_arrives_a_day_later_takes_nothing_away() -> None:
    chat = Chat()
    chat.call("read_file", {"file_path": "a.py"}, {"output": "x = 1"})
    full = read(chat.document())
    chat.messages[0]["content"] = "Reading, and saying so at greater length than the call would take in the file. " * 9
    del chat.messages[0]["toolCalls"]
    unit = unit_of([*full, *read(chat.document())])
    for record in unit.records:
        record.first_kept = "2026-01-16" if "toolCalls" in record.value else "2026-01-17"
    assert texts(gemini_cli.events(unit), "tool_result") == ["x = 1"]


def test_an_edited_message_counts_once_and_by_its_latest_or_longest_text() -> None:
    chat = Chat()
    chat.add("user", "use pip")
    first = read(chat.document())
    chat.messages[0]["content"] = "use uv"
    later = read(chat.document())
    for items in ([*first, *later], [*later, *first]):
        assert texts(gemini_cli.events(unit_of(items)), "prompt") == ["use pip"], "of one day the longest"
        unit = unit_of(items)
        for record in unit.records:
            record.first_kept = "2026-01-17" if "use uv" in canonical(record.value) else "2026-01-16"
        assert texts(gemini_cli.events(unit), "prompt") == ["use uv"], "else the latest"


@given(st.integers(min_value=0, max_value=5000), st.booleans())
@settings(max_examples=200, deadline=None)
def test_a_document_cut_anywhere_is_one_refusal(place: int, compact: bool) -> None:
    """faults 4: what was cut is refused by name until it is whole; it is never half a session."""
    data = busy().document()
    data = json.dumps(json.loads(data), ensure_ascii=False).encode() if compact else data
    cut = data[: place % len(data)]
    (refusal,) = read(cut)
    assert isinstance(refusal, Refusal)
    assert refusal.reason == ("incomplete_tail" if cut else "empty")
    assert refusal.member.endswith("c40e0000.json")
    assert len(kept(read(data))) == 7


def test_cut_at_each_byte_of_the_last_200_and_then_whole() -> None:
    data = busy().document()
    for cut in range(len(data) - 200, len(data)):
        assert refused(read(data[:cut])) == ["incomplete_tail"]
    assert refused(read(data)) == []
    assert refused(read(data + b"\n{")) == ["not_json"]


def test_a_pasted_picture_leaves_no_byte() -> None:
    """faults 6: the words of a prompt stay, its picture becomes type, size and hash; the head need not hold it."""
    picture = base64.b64encode(random.Random(1).randbytes(300_000)).decode()
    chat = Chat()
    chat.add("user", [{"inlineData": {"mimeType": "image/png", "data": picture}}, {"text": "why is this red?"}])
    for data in (chat.document(), chat.lines()):
        assert registry.sniff_member("x", data[:8192]) == "gemini_cli"
        items = read(data)
        assert texts(gemini_cli.events(unit_of(items)), "prompt") == ["why is this red?"]
        stored = canonical(strip_blobs(messages(items)[0].value))
        assert (picture[1000:1040] in stored, len(stored) < 1000) == (False, True)


def test_a_bad_message_is_refused_alone() -> None:
    chat = busy()
    good = len(chat.messages)
    chat.messages[1:1] = [
        "words",
        {"id": "x", "content": "no type"},
        {"id": "y", "type": "user", "timestamp": "later"},
        {"id": "z", "type": "user", "content": "\ud800"},
        {"id": "n", "type": "user", "content": float("nan")},
    ]
    data = json.dumps({**chat.head, "messages": chat.messages}).encode()
    items = read(data)
    assert refused(items) == ["wrong_shape", "wrong_shape", "bad_time", "lone_surrogate", "not_json"]
    assert len(messages(items)) == good
    assert [item.line for item in items if isinstance(item, Refusal)] == [3, 4, 5, 6, 7]


def test_a_chat_that_names_no_session_is_refused_message_by_message() -> None:
    chat = busy()
    chat.head["sessionId"] = 7
    assert set(refused(read(chat.document()))) == {"no_unit"}


@pytest.mark.parametrize(
    ("head", "told"),
    [
        ({"version": 2}, "version 2"),
        ({"schemaVersion": "3.1"}, "schemaVersion 3.1"),
        ({"messages": {}, "turns": []}, "turns"),
    ],
)
def test_a_layout_that_is_not_known_is_refused_by_name_and_version(head: dict[str, Any], told: str) -> None:
    """faults 9: a store that moved on is told of, never read as an empty session."""
    document = {**json.loads(busy().document()), **head}
    (refusal,) = read(json.dumps(document, indent=2).encode())
    assert isinstance(refusal, Refusal)
    assert (refusal.reason, told in refusal.detail) == ("unknown_format", True)
    if "messages" not in head:
        lines = [{**document, "messages": None} | head, *document["messages"]]
        del lines[0]["messages"]
        assert refused(read(b"\n".join(json.dumps(line).encode() for line in lines))) == ["unknown_format"]


def test_an_empty_chat_is_a_session_without_events() -> None:
    items = read(Chat().document())
    assert [record.type for record in kept(items)] == ["session"]
    assert gemini_cli.events(unit_of(items)) == []
    assert refused(read(b"")) == ["empty"]
    assert refused(read(b" \n")) == ["empty"]


# --- lines, appended ------------------------------------------------------------------------------------------


def test_lines_give_the_events_of_the_document() -> None:
    """faults 9: the layout before and after a release, the session in both counted once."""
    chat = busy()
    chat.log.append({**chat.log[1], "content": "räume auf: use uv – 潮汐表 🌊"})  # written again as it was
    items = read(chat.lines())
    assert refused(items) == []
    assert len(items) == len(chat.log)
    assert {record.id for record in messages(items)} == {record.id for record in messages(read(chat.document()))}
    expected = chat.events()
    for both in (items, [*items, *read(chat.document())], [*read(chat.document()), *items]):
        assert gemini_cli.events(unit_of(both)) == expected


def test_a_file_named_as_lines_that_holds_one_document_and_the_other_way_round() -> None:
    chat = busy()
    assert len(messages(read(chat.document(), "chats/session-1.jsonl"))) == 6
    assert len(messages(read(json.dumps(json.loads(chat.document())).encode() + b"\n", "chats/session-1.jsonl"))) == 6
    assert len(messages(read(chat.lines(), "chats/session-1.json"))) == 6
    assert [record.type for record in kept(read(Chat().lines()))] == ["session"]


def test_a_message_that_grew_counts_once_with_all_it_has() -> None:
    chat = Chat()
    chat.add("gemini", "Reading.")
    grown = {"id": "c", "name": "read_file", "args": {"file_path": "a.py"}, "status": "executing"}
    for call in (grown, grown | {"status": "success", "result": [{"text": "x = 1"}]}):
        chat.log.append({**chat.log[1], "toolCalls": [call]})
    chat.log.append({**chat.log[-1], "tokens": {"input": 3, "output": 1}})
    items = read(chat.lines())
    for order in (items, items[::-1]):
        events = gemini_cli.events(unit_of(order))
        assert [event.kind for event in events if event.kind != "other"] == [
            "answer", "tool_call", "tool_result", "usage",
        ]  # fmt: skip


def test_messages_taken_back_are_off_the_live_path() -> None:
    chat = Chat()
    for text in ("one", "use pip", "and again"):
        chat.add("user", text)
    chat.log.append({"$rewindTo": "m-1"})
    chat.add("user", "use uv")
    live = {event.text: event.on_live_path for event in gemini_cli.events(unit_of(read(chat.lines()))) if event.text}
    assert live == {"one": True, "use pip": False, "and again": False, "use uv": True}
    chat.log.insert(3, {"$rewindTo": ""})  # to nothing that is there: everything so far is gone
    live = {event.text: event.on_live_path for event in gemini_cli.events(unit_of(read(chat.lines()))) if event.text}
    assert live == {"one": False, "use pip": False, "and again": False, "use uv": True}


def test_a_history_put_in_place_is_a_compaction_and_repeats_nothing() -> None:
    chat = Chat()
    chat.add("user", "use uv")
    summary = {"id": "s", "type": "user", "content": [{"text": "<state_snapshot>They use uv</state_snapshot>"}]}
    chat.log.append({"$set": {"messages": [chat.messages[0], summary], "lastUpdated": "2026-01-15T09:00:09Z"}})
    events = gemini_cli.events(unit_of(read(chat.lines())))
    assert texts(events, "prompt") == ["use uv"]
    assert one(events, "compaction").actor_class == "injected"


def test_bad_lines_cost_one_line_each() -> None:
    chat = busy()
    bad = b'{"id":"x"}\n{"id":"y","type":"user","timestamp":"later"}\nnot json\n{"id":"z","ty'
    items = read(chat.lines() + bad)
    assert refused(items) == ["wrong_shape", "bad_time", "not_json", "incomplete_tail"]
    assert len(messages(items)) == 6
    chat.log = chat.log[1:]
    assert set(refused(read(chat.lines()))) == {"no_unit"}


def test_sniffing_goes_by_content() -> None:
    chat = busy()
    turned = json.dumps(json.loads(chat.document()), sort_keys=True, indent=1).encode()
    for data in (chat.document(), chat.lines(), turned, b"\xef\xbb\xbf" + chat.document()):
        assert registry.sniff_member("anything.txt", data[:8192]) == "gemini_cli"
    assert not gemini_cli.sniff("session-1.json", b'{"sessionId":"s","uuid":"u","projectHash":"p"}\n')
    assert not gemini_cli.sniff("session-1.json", b'{"messages": [], "channel": "C1"}')
    assert not gemini_cli.sniff("session-1.json", b'{"$set": {"name": "x"}}\n')


def test_the_list_of_typed_prompts_is_no_transcript() -> None:
    log = [{"sessionId": SESSION, "messageId": 0, "type": "user", "message": "use uv", "timestamp": "2026-01-15T09:00"}]
    data = json.dumps(log, indent=2).encode()
    assert registry.sniff_member("logs.json", data) == "gemini_cli"
    assert refused(read(data)) == ["not_a_transcript"]


# --- facts ----------------------------------------------------------------------------------------------------


def test_a_chat_says_nothing_of_its_folder_but_the_hash() -> None:
    chat = busy()
    facts = gemini_cli.facts(unit_of(read(chat.document())))
    assert (facts.kind, facts.agent, facts.remote, facts.cwds, facts.parent_unit) == (
        "session", "gemini_cli", None, (), None,
    )  # fmt: skip
    assert one([e for e in chat.events() if e.part == "session"], "other").attributes == {"project_hash": HASH}


def test_the_folder_is_known_where_its_hash_proves_it() -> None:
    chat = busy()
    chat.call("read_file", {"absolute_path": f"{FOLDER}/src/tide.py"}, {"output": "x"})
    assert gemini_cli.facts(unit_of(read(chat.document()))).cwds == (FOLDER,)
    chat.head["directories"] = ["/home/mara/harbour-web"]
    assert gemini_cli.facts(unit_of(read(chat.document()))).cwds == (FOLDER, "/home/mara/harbour-web")
    other = Chat()
    other.call("read_file", {"absolute_path": "/home/mara/other/src/tide.py"}, {"output": "x"})
    assert gemini_cli.facts(unit_of(read(other.document()))).cwds == ()


def test_a_sub_agent_belongs_to_the_session_whose_folder_it_lies_in() -> None:
    chat = Chat("sub-1", kind="subagent", directories=[FOLDER])
    chat.add("user", "scan the whole tree")
    unit = unit_of(read(chat.lines()), "sub-1", uri=f"tmp/h/chats/{SESSION}/sub-1.jsonl:1")
    facts = gemini_cli.facts(unit)
    assert (facts.parent_unit, facts.cwds) == (SESSION, (FOLDER,))
    assert one(gemini_cli.events(unit), "injected").actor_class == "agent"
    moved = unit_of(read(chat.lines()), "sub-1", uri="inbox/sub-1.jsonl:1")
    assert gemini_cli.facts(moved).parent_unit is None


# --- properties -----------------------------------------------------------------------------------------------

NASTY = (None, True, -1, 1e300, "", [], {}, [[]], {"a": None}, [None], "2026-13-45T99:99:99Z", "9999-12-31T23:59:59Z")


def _places(value: Any) -> list[Any]:
    below = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    return [value, *(place for child in below for place in _places(child))] if below else []


@given(st.randoms(use_true_random=False), st.booleans())
@settings(max_examples=300, deadline=None)
def test_fields_of_any_shape_stop_nothing(rng: random.Random, as_lines: bool) -> None:
    chat = rich()
    place = rng.choice(_places(chat.log if as_lines else {"head": chat.head, "messages": chat.messages}))
    key = rng.choice(list(place) if isinstance(place, dict) else range(len(place)))
    place[key] = rng.choice(NASTY)
    items = read(chat.lines() if as_lines else chat.document()) if isinstance(chat.head, dict) else []
    assert all(isinstance(item, Record | Refusal) for item in items)
    for session in {record.unit for record in kept(items)}:
        unit = unit_of(items, session)
        gemini_cli.facts(unit)
        events = gemini_cli.events(unit)
        assert len({(event.record_id, event.part) for event in events}) == len(events)


@given(st.randoms(use_true_random=False))
@settings(max_examples=25, deadline=None)
def test_captures_in_any_order_and_twice_give_the_same_events(rng: random.Random) -> None:
    chat = busy()
    expected = chat.events()
    captures = [json.dumps({**chat.head, "messages": chat.messages[:n]}).encode() for n in range(7)] * 2
    captures.append(chat.lines())
    rng.shuffle(captures)
    assert gemini_cli.events(unit_of([item for data in captures for item in read(data)])) == expected


# --- real files -----------------------------------------------------------------------------------------------


def real_files() -> dict[str, bytes]:
    folder = Path(__file__).resolve().parents[4] / "shared" / "data" / "gemini-cli"
    if not folder.is_dir():
        pytest.skip("../shared/data is not here")
    return {path.name: path.read_bytes() for path in sorted(folder.rglob("*.json"))}


def test_real_chats() -> None:
    files = real_files()
    items = {name: read(data) for name, data in files.items()}
    assert [len(messages(found)) for found in items.values()] == [6, 8, 13, 3]
    assert not any(refused(found) for found in items.values())
    sessions = {record.unit for found in items.values() for record in kept(found)}
    assert len(sessions) == 2
    together = [item for found in items.values() for item in found]
    prompts, calls, results = 0, 0, 0
    for session in sessions:
        orders = (together, together[::-1])
        events, again = (gemini_cli.events(unit_of(order, session)) for order in orders)
        assert events == again
        prompts += len(texts(events, "prompt"))
        calls += len(texts(events, "tool_call"))
        results += sum(event.exit_code == 0 for event in events)
    assert (prompts, calls, results) == (3, 11, 6)


def test_damaged_real_files_never_stop_a_run() -> None:
    rng = random.Random(7)
    for data in real_files().values():
        for _ in range(60):
            changed = bytearray(data)
            for _ in range(rng.randint(1, 3)):
                changed[rng.randrange(len(data))] = rng.randrange(256)
            items = read(bytes(changed))
            assert items
            for session in {record.unit for record in kept(items)}:
                gemini_cli.facts(unit_of(items, session))
                gemini_cli.events(unit_of(items, session))
