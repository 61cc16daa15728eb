"""Reading Claude Code transcripts: identity, refusals, order, cuts, and real files."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from claude_code_samples import SESSION, Transcript, events_of, kept, read, refused, streamed, texts, unit_of
from hypothesis import given, settings
from hypothesis import strategies as st

from lorelake.formats import claude_code
from lorelake.formats.record import (
    Record,
    Refusal,
    canonical,
    digest,
)


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
