from __future__ import annotations

import base64
import hashlib
import json
import random
from pathlib import Path

import polars as pl
import pytest
from copilot_samples import SESSION, Log, busy, kept, read, refused, rich, texts, unit_of
from hypothesis import given, settings
from hypothesis import strategies as st

from lorelake.content.blobs import strip_blobs
from lorelake.events import ownership
from lorelake.formats import copilot_cli, registry
from lorelake.formats.record import Refusal, canonical

# --- reading -------------------------------------------------------------------------------------------------


def test_a_line_is_known_by_its_own_id_else_by_its_content() -> None:
    log = Log()
    log.said("push")
    log.said("push")
    del log.lines[2]["id"]
    first, second, third = kept(read(log.bytes()))
    assert (first.unit, first.id, first.type) == (SESSION, "5b0c-0", "session.start")
    assert second.id == "5b0c-1"
    assert third.id == hashlib.sha256(canonical(log.lines[2]).encode()).hexdigest()
    # Other keys first, and one line more before them: the same records.
    moved = [{"type": "session.info", "data": {}, "timestamp": "2026-07-05T09:00:00Z"}]
    moved += [dict(reversed(line.items())) for line in log.lines]
    again = {record.id for record in kept(read(b"\n".join(json.dumps(line).encode() for line in moved) + b"\n"))}
    assert {first.id, second.id, third.id} < again


def test_the_session_may_be_named_after_its_lines_or_by_a_hook_alone() -> None:
    log = Log()
    log.said("push")
    log.lines.reverse()
    assert {record.unit for record in kept(read(log.bytes()))} == {SESSION}
    log.lines = [line for line in log.lines if line["type"] != "session.start"]
    assert refused(read(log.bytes())) == ["no_unit"]
    log.add("hook.start", hookType="agentStop", input={"sessionId": SESSION})
    assert [record.unit for record in kept(read(log.bytes()))] == [SESSION, SESSION]


@given(st.randoms(use_true_random=False))
@settings(max_examples=20, deadline=None)
def test_two_sessions_put_into_one_file_are_told_apart_by_their_chains(rng: random.Random) -> None:
    one_log, other = Log(), Log("9e0c0000-0000-4000-8000-00000000000b")
    for number in range(5):
        one_log.said(f"one {number}")
        other.said(f"other {number}")
    stray = {"type": "session.info", "data": {}, "id": "x", "parentId": "nobody", "timestamp": "2026-07-05T09:00:00Z"}
    lines = [*one_log.lines, *other.lines, stray]
    rng.shuffle(lines)
    items = read(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    assert {record.id[:4]: record.unit[:4] for record in kept(items)} == {"5b0c": "5b0c", "9e0c": "9e0c"}
    assert (len(kept(items)), refused(items)) == (12, ["no_unit"])


def test_seen_is_kept_plus_refused() -> None:
    bad = b'{"data":{}}\n{"type":"x","id":3}\n{"type":"x","timestamp":"later"}\nnot json\n{"type":"user.mess'
    items = read(Log().bytes() + bad)
    assert len(kept(items)) == 1
    assert refused(items) == ["wrong_shape", "wrong_shape", "bad_time", "not_json", "incomplete_tail"]
    assert refused(read(b"")) == ["empty"]


def test_an_unknown_event_schema_is_refused_by_name_and_version() -> None:
    """faults 9: a version mark that is not known is told, never read as an empty session."""
    log = Log()
    log.said("push")
    log.lines[0]["data"] |= {"version": 2, "copilotVersion": "2.1.0"}
    (refusal,) = read(log.bytes())
    assert isinstance(refusal, Refusal)
    assert (refusal.reason, refusal.member) == ("unknown_format", "events.jsonl")
    assert "Copilot CLI 2.1.0, event schema 2" in refusal.detail
    del log.lines[0]["data"]["version"]
    assert len(kept(read(log.bytes()))) == 2


def test_a_large_first_prompt_costs_nothing() -> None:
    """faults 6: a session whose early line is far longer than the head is found and read whole."""
    log = Log()
    log.lines = []
    log.add("system.message", role="system", content="x" * 300_000)
    log.lines[0]["parentId"] = "gone"
    log.said("use the tide tables of the port")
    log.add("hook.start", hookType="agentStop", input={"sessionId": SESSION})
    assert registry.sniff_member("a.txt", log.bytes()[:8192]) == "copilot_cli"
    assert texts(log.events(), "prompt") == ["use the tide tables of the port"]


def test_a_pasted_picture_leaves_no_byte() -> None:
    """faults 6: the words of a prompt stay, its picture becomes type, size and hash."""
    picture = base64.b64encode(random.Random(1).randbytes(300_000)).decode()
    log = Log()
    log.said("why is this red?", attachments=[{"type": "blob", "data": picture, "mimeType": "image/png"}])
    stored = canonical(strip_blobs(kept(read(log.bytes()))[1].value))
    assert ("why is this red?" in stored, picture[1000:1040] in stored, len(stored) < 2000) == (True, False, True)


def test_sniffing_goes_by_content() -> None:
    log = Log()
    assert registry.sniff_member("anything.txt", log.bytes()[:8192]) == "copilot_cli"
    assert copilot_cli.sniff("x", b'{"type":"session.start","data":{"sessionId":"s"},"id":"1","timestamp":"t"}\n')
    for other in (
        b'{"type":"user","uuid":"u","sessionId":"s","message":{}}\n',
        b'{"timestamp":"t","type":"event_msg","payload":{}}\n',
        b'{"type":"user.message","data":"text","id":"1","parentId":null}\n',
        b'{"type":"order.created","data":{},"id":"1","parentId":null}\n',
    ):
        assert not copilot_cli.sniff("events.jsonl", other)


def test_facts() -> None:
    log = Log()
    log.add("session.context_changed", cwd="/home/mara/harbour-web", branch="main")
    log.add("session.resume", context={"cwd": "/home/mara/harbour-api/tools", "branch": "late"}, eventCount=2)
    facts = copilot_cli.facts(unit_of(read(log.bytes())))
    assert (facts.kind, facts.agent, facts.parent_unit) == ("session", "copilot_cli", None)
    assert (facts.remote, facts.branch) == ("github.com/harbour/harbour-api", "late")
    assert facts.cwds == ("/home/mara/harbour-api/tools", "/home/mara/harbour-api", "/home/mara/harbour-web")
    child = Log(detachedFromSpawningParentSessionId="parent")
    child.lines[0]["data"]["context"] = {"cwd": "/x", "repository": "team/app"}
    facts = copilot_cli.facts(unit_of(read(child.bytes())))
    assert (facts.remote, facts.parent_unit) == ("github.com/team/app", "parent")
    child.lines[0]["data"]["context"] = {"repository": "org/project/app", "hostType": "ado"}
    assert copilot_cli.facts(unit_of(read(child.bytes()))).remote is None


def test_a_session_that_copied_another_owns_only_what_is_its_own() -> None:
    parent, fork = Log(), Log("9e0c0000-0000-4000-8000-00000000000b")
    parent.said("never push to main")
    fork.lines += parent.lines[1:]
    fork.said("go on")
    records = [*kept(read(parent.bytes())), *kept(read(fork.bytes()))]
    index = pl.DataFrame(
        [("copilot_cli", record.id, record.unit, record.ts) for record in records],
        schema=["source", "record_id", "unit_id", "ts"],
        orient="row",
    )
    assert ownership.owners(index) == {("copilot_cli", "5b0c-1"): SESSION}


# --- properties ----------------------------------------------------------------------------------------------


@given(st.randoms(use_true_random=False))
@settings(max_examples=25, deadline=None)
def test_any_order_and_twice_give_the_same_events(rng: random.Random) -> None:
    data = busy().bytes()
    expected = busy().events()
    lines = data.splitlines(keepends=True) * 2
    rng.shuffle(lines)
    assert copilot_cli.events(unit_of(read(b"".join(lines)))) == expected


def test_cut_at_any_byte_of_the_last_200_and_then_whole() -> None:
    """faults 4: a half-written last line is refused until it is whole, and never lost."""
    data = busy().bytes()
    lines = len(data.splitlines())
    whole = {record.id for record in kept(read(data))}
    for cut in range(len(data) - 200, len(data)):
        items = read(data[:cut])
        told = (len(kept(items)), refused(items))
        assert told in ((lines, []), (lines - 1, ["incomplete_tail"]))
        assert {record.id for record in kept(items)} | {record.id for record in kept(read(data))} == whole


NASTY = (None, True, -1, 1e300, "", [], {}, [[]], {"a": None}, [None], "2026-13-45T99:99:99Z", "\x00")


@given(st.randoms(use_true_random=False))
@settings(max_examples=300, deadline=None)
def test_fields_of_any_shape_stop_nothing(rng: random.Random) -> None:
    log = rich()
    line = rng.choice(log.lines)
    place = rng.choice([line, line["data"], *(v for v in line["data"].values() if isinstance(v, dict))])
    if place:
        place[rng.choice(list(place))] = rng.choice(NASTY)
    items = read(log.bytes())
    assert len(items) in (len(log.lines), 1)  # the mark of the version may be what was hit
    unit = unit_of(items)
    copilot_cli.facts(unit)
    events = copilot_cli.events(unit)
    assert len({(event.record_id, event.part) for event in events}) == len(events)


# --- real files ----------------------------------------------------------------------------------------------


def real_files() -> list[bytes]:
    folder = Path(__file__).resolve().parents[4] / "shared" / "data" / "copilot-cli"
    if not folder.is_dir():
        pytest.skip("../shared/data is not here")
    return [path.read_bytes() for path in sorted(folder.rglob("events.jsonl"))]


def test_real_sessions() -> None:
    prompts = answers = injected = 0
    for data in real_files():
        items = read(data)
        assert refused(items) == []
        assert len(kept(items)) == len(data.splitlines())
        (session,) = {record.unit for record in kept(items)}
        unit = unit_of(items, session)
        assert copilot_cli.facts(unit).remote == "github.com/EntityProcess/agentv"
        events = copilot_cli.events(unit)
        assert len(texts(events, "usage")) == 1
        prompts += len(texts(events, "prompt"))
        answers += len(texts(events, "answer"))
        injected += len(texts(events, "injected"))
    assert (prompts, answers, injected) == (5, 2, 5)


def test_damaged_real_files_lose_no_good_line() -> None:
    rng = random.Random(7)
    for data in real_files():
        clean = {record.line for record in kept(read(data))}
        for _ in range(60):
            changed = bytearray(data)
            hit = set()
            for _ in range(rng.randint(1, 4)):
                at = rng.randrange(data.index(b"\n") + 1, len(data))  # the first line names the session
                if changed[at] != 0x0A:
                    hit.add(data[:at].count(b"\n") + 1)
                    changed[at] = rng.choice([b for b in range(256) if b != 0x0A])
            items = read(bytes(changed))
            assert clean - {record.line for record in kept(items)} <= hit
            for session in {record.unit for record in kept(items)}:
                copilot_cli.events(unit_of(items, session))
