"""Faults people reported of tools that read transcripts, with the smallest input and the right result.

Numbers are those of the collected reports; each test takes its input through intake and the days of events.
"""

from __future__ import annotations

import base64
import json
import random
from datetime import UTC, date, datetime, timedelta
from itertools import permutations
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from lorelake.settings import Project, Settings, Team
from lorelake.tables import EVENTS

BEGAN = datetime(2026, 3, 2, 9, tzinfo=UTC)
CHECKOUT = "/home/mara/open source/app"


def line(session: str, number: int, kind: str = "user", **fields: Any) -> dict[str, Any]:
    """A line of a Claude Code transcript."""
    at = fields.pop("at", BEGAN + timedelta(minutes=number))
    stated = at if isinstance(at, str) else at.strftime("%Y-%m-%dT%H:%M:%S.000Z")
    return {
        "type": kind, "uuid": f"{session}-{number:04}", "parentUuid": f"{session}-{number - 1:04}" if number else None,
        "sessionId": session, "timestamp": stated, "cwd": CHECKOUT, "version": "2.1.39", "isSidechain": False,
    } | fields  # fmt: skip


def said(session: str, number: int, text: str, **fields: Any) -> dict[str, Any]:
    return line(session, number, message={"role": "user", "content": text}, **fields)


def piece(number: int, block: dict[str, Any], tokens: int, message: str = "msg_1") -> dict[str, Any]:
    body = {"id": message, "role": "assistant", "content": [block], "usage": {"output_tokens": tokens}}
    return line("s", number, "assistant", message=body, requestId="req_1")


STREAMED = [
    piece(1, {"type": "thinking", "thinking": "The pool is too small."}, 9),
    piece(2, {"type": "text", "text": "I will raise the pool size."}, 9),
    piece(3, {"type": "tool_use", "id": "t1", "name": "Edit", "input": {"file_path": "db.py"}}, 159),
]


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_streamed_lines_of_one_answer_are_one_message(nights, jsonl, order) -> None:
    """faults 1: one message, three blocks, the largest token count; in any order, and when read twice."""
    lake = nights()
    lines = [said("s", 0, "the pool runs dry"), *(STREAMED[place] for place in order)]
    again = piece(4, {"type": "text", "text": "I will raise the pool size."}, 7, message="msg_2")
    for name, content in (("s.jsonl", lines), ("copy/s.jsonl", [*lines, again])):
        lake.night([jsonl(name, content)])
    answers = lake.events("answer")
    about = [json.loads(text) for text in answers["attributes"]]
    assert [one["tokens"]["output_tokens"] for one in about] == [159, 7]
    assert about[0]["blocks"] == ["thinking", "text", "tool_use"]
    assert answers["text"].to_list() == ["I will raise the pool size."] * 2
    assert lake.events("tool_call").height == 1


def test_sub_agent_files_are_children_and_a_journal_is_no_transcript(nights, tmp_path: Path) -> None:
    """faults 3: lines that carry the parent's session id, one folder deeper and two; nothing is skipped unsaid."""
    root = tmp_path / "projects" / "-home-mara-app"
    deeper = root / "p" / "subagents" / "workflow-7"
    deeper.mkdir(parents=True)
    child = {"isSidechain": True, "agentId": "a1f", "sessionId": "p"}
    files = {
        root / "p.jsonl": [said("p", 0, "split the parser"), said("p", 1, "and test it")],
        root / "p" / "subagents" / "agent-a1f.jsonl": [said("x", 0, "find every caller of quartzmark", **child)],
        deeper / "agent-b2e.jsonl": [said("y", 0, "list the tests", **child | {"agentId": "b2e"})],
        deeper / "journal.jsonl": [{"type": "started", "agentId": "b2e", "at": 1}],
    }
    for path, lines in files.items():
        path.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    lake = nights()
    lake.folder(tmp_path / "projects")
    sessions = lake.sessions()
    assert sessions["unit_id"].to_list() == ["claude_code:p", "claude_code:p/a1f", "claude_code:p/b2e"]
    assert set(sessions["family_id"]) == {"claude_code:p"}
    only_there = lake.events().filter(pl.col("text").str.contains("quartzmark"))
    assert only_there.select("unit_id", "actor_class").rows() == [("claude_code:p/a1f", "agent")]
    assert lake.intake()["refused"].sum() == 1
    assert lake.quarantine()["reason"].to_list() == ["not_a_transcript"]


def test_a_half_written_last_line_is_read_when_it_is_whole(nights, jsonl) -> None:
    """faults 4: one whole line and half of a second, then all of it; a malformed whole line is counted and passed."""
    first = json.dumps(said("s", 0, "prüfe die Größe")).encode() + b"\n"
    second = json.dumps(said("s", 1, "und die Länge 日本"), ensure_ascii=False).encode() + b"\n"
    lake = nights()
    lake.night([jsonl("s.jsonl", first + second[: len(second) // 2])])
    assert lake.raw().height == 1
    assert lake.quarantine()["reason"].to_list() == ["incomplete_tail"]
    lake.night([jsonl("s.jsonl", first + second)])
    assert lake.raw().height == 2
    assert lake.quarantine().is_empty()
    lake.night([jsonl("s.jsonl", first + b'{"type": "user", oops}\n' + second)])
    assert (lake.raw().height, lake.quarantine()["reason"].to_list()) == (2, ["not_json"])


@pytest.mark.slow
def test_cut_at_each_of_the_last_200_bytes_and_read_again_whole(nights, jsonl) -> None:
    """faults 4: wherever the first night met the end of the file, the second ends with the same rows."""
    data = b"".join(
        json.dumps(said("s", number, f"Schritt {number}: größer 日本 😀"), ensure_ascii=False).encode() + b"\n"
        for number in range(3)
    )
    whole = nights("whole")
    whole.night([jsonl("s.jsonl", data)])
    for cut in range(len(data) - 200, len(data)):
        lake = nights(f"cut-{cut}")
        lake.night([jsonl("s.jsonl", data[:cut])])
        lake.night([jsonl("s.jsonl", data)])
        # The two captures differ in their hash, of which the smaller is remembered; nothing else may.
        assert lake.raw().drop("capture_sha256").equals(whole.raw().drop("capture_sha256"))
        assert lake.events().equals(whole.events())
        assert lake.quarantine().is_empty()


def test_a_large_first_line_hides_no_session_and_its_picture_is_nowhere(nights, jsonl) -> None:
    """faults 6: 300 KB of base64 in the first line; the words are kept, of the bytes type, size and hash."""
    picture = base64.b64encode(random.Random(6).randbytes(225_000)).decode()
    pasted = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": picture}}
    words = {"type": "text", "text": "why is the legend cut off"}
    lake = nights()
    lake.night(
        [jsonl("s.jsonl", [line("s", 0, message={"role": "user", "content": [words, pasted]}), said("s", 1, "look")])]
    )
    assert lake.events("prompt")["text"].to_list() == ["why is the legend cut off", "look"]
    written = b"".join(path.read_bytes() for path in lake.lake.root.rglob("*") if path.is_file())
    bodies = "".join(lake.raw()["body"])
    for start in range(0, len(picture) - 40, 9_973):
        assert picture[start : start + 40] not in bodies
        assert picture[start : start + 40].encode() not in written
    assert '"size":225000' in bodies
    assert "image/png" in bodies


def rollout(session: str, cwd: str, remote: str | None) -> list[dict[str, Any]]:
    git = {"git": {"repository_url": remote, "branch": "main"}} if remote else {}
    at = BEGAN.isoformat()
    prompt = {"type": "user_message", "message": f"hello from {session}"}
    return [
        {"timestamp": at, "type": "session_meta", "payload": {"id": session, "cwd": cwd, **git}},
        {"timestamp": at, "type": "event_msg", "payload": prompt},
    ]


def test_projects_come_from_what_lines_record_never_from_a_folder_name(nights, jsonl) -> None:
    """faults 8: two checkouts share a store folder's name; a worktree and a rename belong to the first."""
    remote = "git@git.example:harbour/app.git"
    store = "-home-mara-open-source-app"
    found = [
        jsonl(f"{store}/1.jsonl", rollout("one", CHECKOUT, remote)),
        jsonl(f"{store}/2.jsonl", rollout("two", "/home/mara/open-source/app", None)),
        jsonl(f"{store}/3.jsonl", rollout("three", f"{CHECKOUT}/.claude/worktrees/fix-login", remote)),
        jsonl(f"{store}/4.jsonl", rollout("four", "/home/mara/renamed/app", "https://git.example/Harbour/app")),
        jsonl(f"{store}/5.jsonl", rollout("five", "", None)),
    ]
    lake = nights()
    lake.night(found)
    projects = dict(lake.sessions().select("unit_id", "project").rows())
    assert projects == {
        "codex:one": "git.example/harbour/app",
        "codex:two": "/home/mara/open-source/app",
        "codex:three": "git.example/harbour/app",
        "codex:four": "git.example/harbour/app",
        "codex:five": "unknown",
    }


def test_a_store_without_remotes_still_tells_checkouts_apart(nights, jsonl) -> None:
    """faults 8, for an agent that records no remote: the checkout tells, or the settings' name for it."""
    named = Project(id="app", folders=("open source/app", "renamed/app"))
    lake = nights(settings=Settings(team=Team("t"), projects=(named,)))
    other, worktree = "/home/mara/open-source/app", f"{CHECKOUT}/.git/worktrees/fix"
    for number, cwd in enumerate((CHECKOUT, other, worktree, "/home/mara/renamed/app")):
        lake.night([jsonl(f"x/{number}.jsonl", [said(f"s{number}", 0, "hello", cwd=cwd)])])
    assert lake.sessions()["project"].to_list() == ["app", other, "app", "app"]


def test_what_no_format_knows_is_refused_by_name(nights, tmp_path: Path) -> None:
    """faults 9: a known layout is read; one with a version nobody has seen is named, not passed over in silence."""
    root = tmp_path / "store"
    root.mkdir()
    (root / "old.jsonl").write_text(json.dumps(said("s", 0, "hello")) + "\n", encoding="utf-8")
    (root / "new.db").write_text(json.dumps({"schemaVersion": 99, "threads": []}), encoding="utf-8")
    lake = nights()
    lake.folder(root)
    assert lake.sessions().height == 1
    assert lake.quarantine().select("source_uri", "reason").rows() == [("store/new.db", "unknown_format")]
    assert lake.intake()["refused"].sum() == 1


def test_days_are_cut_by_one_zone_and_a_late_record_rebuilds_its_own(nights, jsonl) -> None:
    """faults 13: instants are UTC and a unit lies in the day it began; a time without a zone is marked as assumed."""
    evening = [
        said("s", 0, "before local midnight", at="2026-03-08T03:30:00Z"),
        said("s", 1, "after it", at="2026-03-08T00:30:00-04:00"),
        said("s", 2, "no zone", at="2026-03-08T05:00:00"),
        said("s", 3, "the next day", at="2026-03-09T00:10:00Z"),
    ]
    clocks_change = [
        said("t", 0, "spring", at="2026-03-08T06:59:59Z"),
        said("t", 1, "forward", at="2026-03-08T07:00:00Z"),
    ]
    lake = nights()
    lake.night([jsonl("s.jsonl", evening[:2] + evening[3:]), jsonl("t.jsonl", clocks_change)])
    assert [path.parent.name for path in lake.lake.days(EVENTS)] == ["day=2026-03-08"]
    derived = lake.night([jsonl("s.jsonl", evening)])
    assert list(derived) == ["2026-03-08"]
    found = lake.events("prompt").filter(pl.col("unit_id") == "claude_code:s")
    assert found["text"].to_list() == ["before local midnight", "after it", "no zone", "the next day"]
    assert found["ts"].to_list()[1] == datetime(2026, 3, 8, 4, 30, tzinfo=UTC)
    assert set(found["day"]) == {date(2026, 3, 8)}
    assumed = [bool(json.loads(about).get("ts_assumed")) for about in found["attributes"]]
    assert assumed == [False, False, True, False]


def test_nothing_at_all_is_nothing(nights) -> None:
    lake = nights()
    assert lake.night() == {}
    assert lake.raw().is_empty()


def test_one_summary_in_two_sessions_makes_them_no_family(nights, jsonl) -> None:
    """faults 2, the other way: a line that names no session and lies in many files is no sign of a copy."""
    summary = {"type": "summary", "summary": "Fix the pool", "leafUuid": "elsewhere"}
    lake = nights()
    lake.night([jsonl(f"{name}.jsonl", [summary, said(name, 0, f"hello from {name}")]) for name in ("s", "t")])
    assert lake.sessions()["family_id"].to_list() == ["claude_code:s", "claude_code:t"]
