"""What lies in OpenCode's folder as captures: a store with its log, and each session of the older files."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from lorelake.formats import opencode
from lorelake.formats.record import Record
from lorelake.landing import discover
from lorelake.landing.agent_stores import stores
from lorelake.settings import Settings, Source, Team

SCHEMA = """
CREATE TABLE `session` (`id` text PRIMARY KEY, `parent_id` text, `directory` text, `time_created` integer);
CREATE TABLE `message` (`id` text PRIMARY KEY, `session_id` text NOT NULL, `data` text NOT NULL);
CREATE TABLE `part` (`id` text PRIMARY KEY, `message_id` text, `session_id` text NOT NULL, `data` text NOT NULL);
"""


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`share/opencode` with files of two sessions and a store that is open, its last row only in the log."""
    monkeypatch.delenv("LORELAKE_HOME", raising=False)
    folder = tmp_path / "share" / "opencode"
    for number in (1, 2):
        session, message = f"ses_{number}", f"msg_{number}"
        about = {"id": session, "title": "t", "version": "1", "directory": "/r", "time": {"created": 1_772_442_000_000}}
        said = {"id": message, "sessionID": session, "role": "user", "time": {"created": 1_772_442_000_000}}
        part = {"id": f"prt_{number}", "sessionID": session, "messageID": message, "type": "text", "text": "go"}
        for name, value in (
            (f"session/p/{session}", about), (f"message/{session}/{message}", said),
            (f"part/{message}/prt_{number}", part), (f"todo/{session}", []),
            ("project/p", {"id": "p", "worktree": "/r", "time": {}}),
        ):  # fmt: skip
            path = folder / "storage" / f"{name}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(value))
    return folder


def found(folder: Path) -> discover.Discovery:
    settings = Settings(team=Team("t"), sources=(Source(str(folder)),), folder=str(folder.parent.parent))
    return discover.captures(settings)


def test_each_session_of_the_older_files_is_one_capture(store: Path) -> None:
    there = found(store)
    assert [(name, capture.name, len(capture.members)) for name, capture in there.captures] == [
        ("opencode", "opencode/storage/ses_1", 4), ("opencode", "opencode/storage/ses_2", 4),
    ]  # fmt: skip
    assert [(name, refusal.reason) for _, name, refusal in there.refusals] == [
        ("opencode/storage/project/p.json", "unknown_format")
    ]
    items = list(opencode.read(there.captures[0][1]))
    assert sorted(item.id if isinstance(item, Record) else item.reason for item in items) == [
        "msg_1", "not_a_transcript", "prt_1", "ses_1",
    ]  # fmt: skip


def test_a_change_in_one_session_changes_one_capture(store: Path) -> None:
    before = {capture.name: capture.sha256 for _, capture in found(store).captures}
    (store / "storage" / "message" / "ses_2" / "msg_9.json").write_text(
        '{"id": "msg_9", "sessionID": "ses_2", "role": "user", "time": {"created": 1}}'
    )
    after = {capture.name: capture.sha256 for _, capture in found(store).captures}
    assert [name for name in after if after[name] != before[name]] == ["opencode/storage/ses_2"]


def test_a_store_with_its_log_is_one_capture_and_is_not_touched(store: Path) -> None:
    path = store / "opencode.db"
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.executescript(SCHEMA)
    writer.execute("INSERT INTO session VALUES ('ses_9', NULL, '/r', 1772442000000)")
    writer.commit()
    before = {file.name: file.read_bytes() for file in store.glob("opencode.db*")}
    assert len(before) == 3
    captures = {capture.name: capture for name, capture in found(store).captures if name == "opencode"}
    assert set(captures) == {"opencode/opencode.db", "opencode/storage/ses_1", "opencode/storage/ses_2"}
    capture = captures["opencode/opencode.db"]
    assert [member.name for member in capture.members] == ["opencode.db", "opencode.db-wal", "opencode.db-shm"]
    assert [(item.unit, item.member) for item in opencode.read(capture) if isinstance(item, Record)] == [
        ("ses_9", "opencode/opencode.db")
    ]
    assert {file.name: file.read_bytes() for file in store.glob("opencode.db*")} == before
    writer.close()
    assert {capture.name for _, capture in found(store).captures} == set(captures)


def test_another_program_s_store_stays_unknown(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    writer = sqlite3.connect(folder / "app.db")
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("CREATE TABLE session (id)")
    assert not found(folder).captures
    assert {refusal.reason for _, _, refusal in found(folder).refusals} == {"unknown_format"}
    writer.close()


def test_the_store_is_found_where_the_agent_keeps_it(store: Path) -> None:
    (told,) = [
        one for one in stores({"HOME": "/nowhere", "XDG_DATA_HOME": str(store.parent)}) if one.format == "opencode"
    ]
    assert (told.path, told.found, told.files) == (store, True, 6)
    (told,) = [one for one in stores({"HOME": "/home/ann"}) if one.format == "opencode"]
    assert told.path == Path("/home/ann/.local/share/opencode")
