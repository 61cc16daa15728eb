"""What `collect` delivers: redacted records, only what is new, whole files or none."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lorelake.errors import LorelakeError, SettingsError
from lorelake.formats import registry
from lorelake.landing import collect, collect_run, collect_state, consent, delivery
from lorelake.landing.redacted import redacted

APP = "github.com/tidewater/harbour-api"
ORIGIN = "git@github.com:tidewater/harbour-api.git"
NOW_OR_LATER = datetime(2026, 3, 21, tzinfo=UTC)
SECRET = "ghp_" + "m4Qv8Zr2Lk6Tn0Xw3Yb7Hd1Jf5Pc9Sg2Va4R"


def records(data: bytes) -> list[Any]:
    return [json.loads(line) for line in data.splitlines()]


def only(delivered: dict[str, bytes]) -> bytes:
    assert len(delivered) == 1
    return next(iter(delivered.values()))


@pytest.fixture
def api(machine: Any) -> str:
    return machine.checkout("api", ORIGIN)


def test_a_session_is_delivered_as_redacted_records_with_a_note_beside(machine: Any, api: str) -> None:
    machine.claude("5d0c77aa-0001", api, "use make test", f"token {SECRET}, mail ann@tidewater.example")
    machine.enable(APP)
    machine.collect()
    (name,) = machine.delivered()
    first, second = records(machine.delivered()[name])
    assert first["message"]["content"] == "use make test"
    assert SECRET not in second["message"]["content"]
    assert "[redacted:email:" in second["message"]["content"]
    assert list(first)[:3] == ["type", "uuid", "parentUuid"], "what a format sniffs stays at the head of a line"
    assert name.startswith("transcripts/0a1b2c3d/claude_code/")
    assert name.endswith("/5d0c77aa-0001.jsonl")
    note = machine.notes()[name + ".collect.json"]
    assert note == {
        "lorelake": "collect", "agent": "Claude Code", "branch": "main", "format": "claude_code", "machine": "0a1b2c3d",
        "person": "ann@tidewater.example", "project": APP, "projects": [APP], "remote": APP,
        "source": note["source"], "tool": note["tool"],
    }  # fmt: skip


def test_a_name_that_is_no_id_is_not_delivered(machine: Any, api: str) -> None:
    machine.claude("planning the merger with Quay", api, "one")
    machine.enable(APP)
    machine.collect()
    assert [name.rpartition("/")[2] for name in machine.delivered()] == ["transcript.jsonl"]


def test_a_second_run_with_nothing_new_writes_nothing(machine: Any, api: str, count: Any) -> None:
    machine.claude("s1", api, "one")
    machine.claude("s2", str(machine.home / "src" / "other"), "two")
    machine.enable(APP)
    machine.collect()

    def stamps() -> dict[str, int]:
        return {str(path): path.stat().st_mtime_ns for path in machine.root.rglob("*")}

    before = stamps()
    assert count(machine.collect().report) == {"unchanged": 1, "not_enabled": 1}
    assert stamps() == before


def test_a_file_that_was_touched_but_holds_the_same_is_not_delivered_again(machine: Any, api: str, count: Any) -> None:
    path = machine.claude("s1", api, "one")
    machine.enable(APP)
    machine.collect()
    name = machine.landing / next(iter(machine.delivered()))
    before = name.stat().st_mtime_ns
    machine.aged(path, 0.5)
    assert count(machine.collect().report) == {"unchanged": 1}
    assert name.stat().st_mtime_ns == before


def test_a_grown_session_replaces_its_file(machine: Any, api: str, count: Any) -> None:
    path = machine.claude("s1", api, "one")
    machine.enable(APP)
    machine.collect()
    path.write_text(path.read_text() + machine.line("s1", 1, api, "two"))
    assert count(machine.collect().report) == {"delivered": 1}
    assert [value["message"]["content"] for value in records(only(machine.delivered()))] == ["one", "two"]


@pytest.mark.parametrize("texts", [["one"], ["one", "changed"], ["new"]], ids=["cut", "rewritten", "replaced"])
def test_what_a_session_held_before_it_was_cut_or_rewritten_stays(machine: Any, api: str, texts: list[str]) -> None:
    machine.claude("s1", api, "one", "two", "three")
    machine.enable(APP)
    machine.collect()
    before = machine.delivered()
    machine.claude("s1", api, *texts, days_ago=0.5)
    machine.collect()
    after = machine.delivered()
    assert len(after) == 2
    assert {name: after[name] for name in before} == before
    assert sorted(name.rpartition("/")[2] for name in after) == ["transcript.1.jsonl", "transcript.jsonl"]


def test_a_torn_last_line_is_left_for_the_next_run(machine: Any, api: str) -> None:
    path = machine.claude("s1", api, "one")
    second = machine.line("s1", 1, api, "two")
    path.write_text(path.read_text() + second[:40])
    machine.enable(APP)
    outcome = machine.collect()
    assert not outcome.report.left_out
    assert len(records(only(machine.delivered()))) == 1
    path.write_text(path.read_text() + second[40:50])
    assert not machine.collect().report.delivered, "nothing whole is new"
    path.write_text(path.read_text() + second[50:])
    machine.collect()
    assert len(records(only(machine.delivered()))) == 2


def test_lines_that_cannot_be_decoded_stay_behind_and_are_counted(machine: Any, api: str) -> None:
    path = machine.claude("s1", api, "one")
    bad = b'{"type": "user", password=' + SECRET.encode() + b"}\n" + b'{"type": "user", "x": "\xff"}\n'
    path.write_bytes(path.read_bytes() + bad + machine.line("s1", 1, api, "two").encode())
    machine.enable(APP)
    outcome = machine.collect()
    assert outcome.report.left_out == {"not_json": 1, "not_utf8": 1}
    assert len(records(only(machine.delivered()))) == 2
    assert next(iter(machine.notes().values()))["left_out"] == {"not_json": 1, "not_utf8": 1}


def test_pictures_are_left_out_since_they_cannot_be_redacted(machine: Any, api: str) -> None:
    path = machine.claude("s1", api, "one")
    picture = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo" + "A" * 90},
    }
    line = machine.line("s1", 1, api, "x", message={"role": "user", "content": [picture]})
    path.write_text(path.read_text() + line)
    machine.enable(APP)
    machine.collect()
    sent = only(machine.delivered())
    assert b"iVBORw0KGgo" not in sent
    assert b"image/png" in sent


def test_marks_that_stood_in_a_session_are_not_taken_for_ours(machine: Any, api: str) -> None:
    machine.claude("s1", api, "she is [redacted:email:0123abcd]")
    machine.enable(APP)
    machine.collect()
    assert b"[quoted:email:0123abcd]" in only(machine.delivered())


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.json", json.dumps({"messages": [{"text": f"key {SECRET}"}]}, indent=2).encode()),
        ("a.md", f"# A session\n\nkey {SECRET}\n".encode()),
    ],
)
def test_a_document_is_redacted_as_a_whole(machine: Any, name: str, data: bytes) -> None:
    redactor = consent.Secret(machine.personal()).redactor
    made = redacted(name, data, redactor)
    assert made.lines == 1
    assert SECRET.encode() not in made.data
    assert b"[redacted:" in made.data
    assert redacted(name, data[:-3] + b"\xff", redactor).left_out == {"not_utf8": 1}


def test_a_document_that_is_being_rewritten_is_not_taken_for_lines(machine: Any) -> None:
    data = json.dumps({"messages": [{"a": {}}, {"text": "b"}]}, indent=2).encode()[:-6]
    made = redacted("a.json", data, consent.Secret(machine.personal()).redactor)
    assert (made.data, made.left_out) == (b"", {"not_json": 1})


def test_lines_whose_first_is_longer_than_the_head_are_lines(machine: Any) -> None:
    data = (json.dumps({"text": "long " * 4000}) + "\n").encode() + b'{"text": "b"}\n'
    made = redacted("a.jsonl", data, consent.Secret(machine.personal()).redactor)
    assert (made.lines, made.is_lines) == (2, True)


def test_a_database_is_never_delivered(machine: Any) -> None:
    made = redacted("a.db", b"SQLite format 3\0" + b"\0" * 100, consent.Secret(machine.personal()).redactor)
    assert made.data == b""
    assert made.left_out


def test_what_was_delivered_is_read_as_the_same_session(machine: Any, api: str) -> None:
    """The lake's own reader finds every record under the id it has on the person's machine."""
    machine.claude("5d0c77aa-0001", api, "one", f"two {SECRET}")
    machine.enable(APP)
    machine.collect()
    (name,) = machine.delivered()
    assert registry.sniff_member(name, machine.delivered()[name]) == "claude_code"


def test_new_rules_or_another_key_deliver_again_under_the_same_name(
    machine: Any, api: str, count: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.claude("s1", api, "one")
    machine.enable(APP)
    machine.collect()
    before = machine.delivered()
    monkeypatch.setattr(consent, "RULES_VERSION", "newer")
    assert count(machine.collect().report) == {"delivered": 1}
    assert machine.delivered() == before


def test_a_team_key_that_is_gone_is_told_and_never_made_anew(machine: Any, api: str) -> None:
    key = machine.root / "team" / "team.key"
    personal = consent.Personal(str(machine.landing), "ann", "0a1b2c3d", str(key))
    with pytest.raises(SettingsError, match="not there any more"):
        collect_run.run(machine.folders, personal, machine.stores(), NOW_OR_LATER)
    assert not key.exists()


def test_lost_state_delivers_again_and_ends_in_the_same_files(machine: Any, api: str, count: Any) -> None:
    machine.claude("s1", api, "one")
    machine.enable(APP)
    machine.collect()
    before = machine.files(machine.landing)
    (machine.folders.state / "state.json").write_bytes(b'{"files": {"dam')
    assert count(machine.collect().report) == {"delivered": 1}
    assert machine.files(machine.landing) == before


def test_of_what_is_gone_only_what_was_delivered_is_remembered(machine: Any, api: str, count: Any) -> None:
    kept = machine.claude("s1", api, "one", "two")
    other = machine.claude("s2", str(machine.home / "src" / "other"), "three")
    machine.enable(APP)
    machine.collect()
    assert len(collect_state.load(machine.folders.state).files) == 2
    before = machine.delivered()
    kept.unlink()
    other.unlink()
    machine.collect()
    assert len(collect_state.load(machine.folders.state).files) == 1
    machine.claude("s1", api, "one")
    machine.collect()
    assert before.items() <= machine.delivered().items(), "what came back shorter overwrites nothing"


def test_a_session_too_large_to_hold_is_left_and_counted(
    machine: Any, api: str, count: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.claude("s1", api, "one")
    machine.claude("s2", api, "two" * 1000)
    machine.enable(APP)
    monkeypatch.setattr(collect, "LARGEST", 1000)
    outcome = machine.collect()
    assert count(outcome.report) == {"delivered": 1}
    assert outcome.report.too_large == 1


def test_a_session_that_vanishes_while_it_is_read_stops_nothing(
    machine: Any, api: str, count: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = machine.claude("s1", api, "one", days_ago=2)
    machine.claude("s2", api, "two")
    machine.enable(APP)
    whole = Path.read_bytes

    def read_bytes(path: Path) -> bytes:
        if path == gone:
            path.unlink()
        return whole(path)

    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    assert count(machine.collect().report) == {"delivered": 1, "vanished": 1}


def test_a_session_that_may_not_be_read_stops_nothing(
    machine: Any, api: str, count: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = machine.claude("s1", api, "one", days_ago=2)
    machine.claude("s2", api, "two")
    machine.enable(APP)
    whole = Path.read_bytes

    def read_bytes(path: Path) -> bytes:
        if path == closed:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return whole(path)

    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    assert count(machine.collect().report) == {"delivered": 1, "unreadable": 1}


@pytest.mark.parametrize("code", [errno.EROFS, errno.ENOSPC])
def test_a_place_that_refuses_is_an_error_and_leaves_nothing_half(
    machine: Any, api: str, code: int, monkeypatch: pytest.MonkeyPatch, count: Any
) -> None:
    machine.claude("s1", api, "one")
    machine.enable(APP)
    real = os.fsync

    def fsync(handle: int) -> None:
        if str(machine.landing) in os.readlink(f"/proc/self/fd/{handle}"):
            raise OSError(code, os.strerror(code))
        real(handle)

    if not Path("/proc/self/fd").exists():
        pytest.skip("needs /proc")
    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(OSError, match=os.strerror(code)):
        machine.collect()
    assert machine.files(machine.landing) == {}
    monkeypatch.setattr(os, "fsync", real)
    assert count(machine.collect().report) == {"delivered": 1}


def test_what_was_delivered_before_a_failure_is_remembered(
    machine: Any, api: str, count: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        machine.claude(f"s{number}", api, "one", days_ago=9 - number)
    machine.enable(APP)
    real, calls = delivery.deliver, []

    def deliver(*given: Any) -> None:
        calls.append(given)
        if len(calls) == 3:
            raise LorelakeError("the bucket answers: no")
        real(*given)

    monkeypatch.setattr(collect, "deliver", deliver)
    with pytest.raises(LorelakeError):
        machine.collect()
    assert count(machine.collect().report) == {"delivered": 1, "unchanged": 2}


def _killed(machine: Any, after: int) -> None:
    real, done = delivery.Folder.write, []

    def write(place: delivery.Folder, name: str, data: bytes) -> None:
        real(place, name, data)
        done.append(name)
        if len(done) == after:
            os._exit(9)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delivery.Folder, "write", write)
        machine.collect()


@pytest.mark.parametrize(("after", "whole"), [(4, 2), (5, 2)], ids=["between files", "between a note and its file"])
def test_a_killed_run_is_completed_by_the_next(machine: Any, api: str, count: Any, after: int, whole: int) -> None:
    for number in range(4):
        machine.claude(f"s{number}", api, f"text {number}", days_ago=9 - number)
    machine.enable(APP)
    child = multiprocessing.get_context("fork").Process(target=_killed, args=(machine, after))
    child.start()
    child.join()
    assert child.exitcode == 9
    assert len(machine.delivered()) == whole
    machine.collect()
    assert len(machine.delivered()) == len(machine.notes()) == 4
    assert count(machine.collect().report) == {"unchanged": 4}


def test_two_runs_at_once_do_not_clash(machine: Any, api: str, count: Any) -> None:
    machine.claude("s1", api, "one")
    machine.enable(APP)
    with collect_state.locked(machine.folders.state) as free:
        assert free
        assert machine.collect().busy
        assert machine.delivered() == {}
    assert count(machine.collect().report) == {"delivered": 1}


def test_a_run_that_has_no_time_left_says_what_it_leaves(machine: Any, api: str, count: Any) -> None:
    machine.claude("s1", api, "one")
    machine.enable(APP)
    assert count(machine.collect(within=0).report) == {"left_for_next": 1}
    assert count(machine.collect(within=3600).report) == {"delivered": 1}


def test_a_shared_place_decides_who_may_read_what_is_delivered(machine: Any, api: str) -> None:
    machine.landing.mkdir()
    machine.landing.chmod(0o750)
    machine.claude("s1", api, "one")
    machine.enable(APP)
    machine.collect()
    found = list(machine.landing.rglob("*"))
    assert {path.stat().st_mode & 0o777 for path in found if path.is_dir()} == {0o750}
    assert {path.stat().st_mode & 0o777 for path in found if path.is_file()} == {0o640}


def test_links_out_of_a_store_are_not_followed(machine: Any, api: str, count: Any) -> None:
    outside = machine.root / "outside.jsonl"
    outside.write_text(machine.line("s9", 0, api, "not in the store"))
    machine.claude("s1", api, "one")
    (machine.home / ".claude" / "projects" / "p" / "link.jsonl").symlink_to(outside)
    machine.enable(APP)
    assert count(machine.collect().report) == {"delivered": 1}


CHANGES = st.lists(
    st.tuples(st.sampled_from(["append", "cut", "rewrite", "same", "tear"]), st.integers(0, 3)), max_size=8
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=CHANGES)
def test_every_record_that_was_there_at_a_run_is_delivered_whatever_became_of_it(
    machine: Any, changes: list[tuple[str, int]]
) -> None:
    """Append, cut, rewrite and tear a session between runs: nothing seen is lost, no secret is sent."""
    folder = str(machine.home / "src" / "plain")
    lines = [machine.line("s1", 0, folder, f"first {SECRET}")]
    path = machine.claude("s1", folder, "x")
    path.write_text("".join(lines))
    machine.enable(folder)
    seen = set()
    for number, (change, place) in enumerate([("same", 0), *changes], 1):
        if change == "append":
            lines = [*lines, machine.line("s1", number, folder, f"text {number} {SECRET}")]
        elif change == "cut":
            lines = lines[: place + 1]
        elif change == "rewrite":
            lines = [machine.line("s1", 40 + number, folder, "rewritten"), *lines[place:]]
        torn = '{"type": "user", "uuid": "to' if change == "tear" else ""
        path.write_text("".join(lines) + torn)
        machine.aged(path, 10 - number)
        machine.collect()
        seen |= {json.loads(line)["uuid"] for line in lines}
        sent = {value["uuid"] for data in machine.delivered().values() for value in records(data)}
        assert seen <= sent
    assert not any(SECRET.encode() in data for data in machine.written().values())
    assert collect_run.run(machine.folders, machine.personal(), machine.stores(), NOW_OR_LATER).report.unchanged == 1
    for name in list(machine.delivered()):
        (machine.landing / name).unlink()
    (machine.folders.state / "state.json").unlink()
