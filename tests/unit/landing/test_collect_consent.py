"""Nothing leaves a machine before its person enabled that project, and nothing of any other project ever does."""

from __future__ import annotations

import builtins
import hashlib
import json
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from lorelake.errors import LorelakeError, SettingsError
from lorelake.landing import collect_run, consent, sessions

NOW = datetime(2026, 3, 20, 12, tzinfo=UTC)
APP = "github.com/tidewater/harbour-api"
ORIGIN = "git@github.com:tidewater/harbour-api.git"
SECRET = "AKIA" + "Q4XW7ZJ2M5RT3YPL"
OTHER_WORD = "walrusmarmalade"


def test_nothing_is_written_or_sent_before_a_project_is_enabled(machine: Any, count: Any) -> None:
    machine.claude("s1", machine.checkout("api", ORIGIN), "use make test here")
    outcome = machine.collect()
    assert count(outcome.report) == {"not_enabled": 1}
    assert not machine.landing.exists()


def test_enabling_needs_a_dry_run_that_was_seen(machine: Any) -> None:
    machine.claude("s1", machine.checkout("api", ORIGIN), "use make test here")
    found = collect_run.look(None, machine.stores())
    with pytest.raises(LorelakeError, match="seen yet") as refused:
        collect_run.enable(machine.folders, machine.personal(), APP, found, NOW)
    assert f"dry-run {APP}" in (refused.value.remedy or "")
    collect_run.dry_run(machine.folders, machine.personal(), APP, found)
    assert not machine.landing.exists()
    assert collect_run.enable(machine.folders, machine.personal(), APP, found, NOW).consent(APP)


def test_a_dry_run_counts_for_its_own_place_and_project_alone(machine: Any) -> None:
    machine.claude("s1", machine.checkout("api", ORIGIN), "use make test here")
    found = collect_run.look(None, machine.stores())
    collect_run.dry_run(machine.folders, machine.personal(), APP, found)
    elsewhere = machine.personal(deliver_to="s3://elsewhere/landing")
    assert collect_run.saw_dry_run(machine.folders, machine.personal(), APP)
    assert not collect_run.saw_dry_run(machine.folders, elsewhere, APP)
    assert not collect_run.saw_dry_run(machine.folders, machine.personal(), "github.com/tidewater/quay")


def test_a_dry_run_writes_to_the_folder_for_reading_exactly_what_a_run_delivers(machine: Any) -> None:
    machine.claude("s1", machine.checkout("api", ORIGIN), "use make test here", f"the key is {SECRET}")
    found = collect_run.look(None, machine.stores())
    collect_run.dry_run(machine.folders, machine.personal(), APP, found, machine.root / "peek")
    machine.enable(APP)
    machine.collect()
    assert machine.files(machine.root / "peek") == machine.files(machine.landing) != {}


def test_a_dry_run_shows_what_was_held_back_for_want_of_that_project_alone(machine: Any, count: Any) -> None:
    api, quay = machine.checkout("api", ORIGIN), machine.checkout("quay", "git@github.com:tidewater/quay.git")
    machine.claude("s1", api, "one")
    path = machine.claude("s2", api, "two")
    path.write_text(path.read_text() + machine.line("s2", 7, quay, OTHER_WORD))
    for collected in (False, True):
        machine.enable(APP)
        if collected:
            assert count(machine.collect().report) == {"delivered": 1, "held": 1}
        found = collect_run.look(machine.personal(), machine.stores())
        report = collect_run.dry_run(machine.folders, machine.personal(), "github.com/tidewater/quay", found)
        assert count(report) == {"delivered": 1}


def test_a_project_is_enabled_by_recorded_remote_or_recorded_folder(machine: Any, count: Any) -> None:
    plain = str(machine.home / "src" / "notes")
    machine.claude("by-remote-of-the-folder", machine.checkout("api", ORIGIN), "one")
    machine.codex("0a-0b", "/srv/elsewhere", "https://token@github.com/Tidewater/harbour-api", "two")
    machine.claude("by-folder", plain, "three")
    machine.claude("another", machine.checkout("quay", "git@github.com:tidewater/quay.git"), "four")
    machine.claude("states-nothing", None, "five")
    machine.enable(APP, plain)
    outcome = machine.collect()
    assert count(outcome.report) == {"delivered": 3, "not_enabled": 1, "no_project": 1}
    assert outcome.report.delivered == {"Claude Code": 2, "Codex": 1}
    assert {note["project"] for note in machine.notes().values()} == {APP, plain}


def test_no_word_of_another_project_or_of_a_secret_is_in_anything_collect_writes(machine: Any) -> None:
    """Every file is searched: what was delivered, the notes, the state, the configuration and the key."""
    api = machine.checkout("api", ORIGIN)
    other = machine.checkout(f"{OTHER_WORD}-plans", f"git@github.com:tidewater/{OTHER_WORD}.git")
    text = machine.line("s1", 9, api, "and this line is torn in two by a secret " + SECRET)
    path = machine.claude("s1", api, f"export AWS_KEY={SECRET}", "mail ann.byte@tidewater.example", "all is well")
    path.write_text(path.read_text() + text.replace('"uuid"', "'uuid") + text[:-20])
    machine.aged(path, 1)
    machine.claude("s2", other, f"{OTHER_WORD} {SECRET}", folder=OTHER_WORD)
    machine.claude("s3", None, f"{OTHER_WORD} belongs nowhere", folder=OTHER_WORD)
    machine.codex("0c-0d", other, f"git@github.com:tidewater/{OTHER_WORD}.git", OTHER_WORD)
    machine.enable(APP)
    outcome = machine.collect()
    assert outcome.report.delivered.total() == 1
    written = machine.written()
    assert any(b"all is well" in data for data in written.values()), "the search below must be able to find words"
    for name, data in written.items():
        for word in (OTHER_WORD, SECRET, "ann.byte"):
            assert word.encode() not in data, name
            assert word not in name


def test_sessions_of_other_projects_are_read_no_further_than_their_project(
    machine: Any, count: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = machine.checkout("quay", "git@github.com:tidewater/quay.git")
    machine.claude("s1", machine.checkout("api", ORIGIN), "one")
    long = machine.claude("s2", other, *["a long story " * 200] * 50)
    assert long.stat().st_size > 100_000
    machine.enable(APP)
    reads: list[int] = []

    class Counting:
        def __init__(self, path: Any) -> None:
            self.path = path

        def __enter__(self) -> Counting:
            self.stream = builtins.open(self.path, "rb")
            return self

        def __exit__(self, *_: object) -> None:
            self.stream.close()

        def read(self, size: int = -1) -> bytes:
            data: bytes = self.stream.read(size)
            reads.append(len(data))
            return data

    def counting(path: Any, mode: str) -> Any:
        return Counting(path) if str(path) == str(long) else builtins.open(path, mode)

    monkeypatch.setattr(sessions, "open", counting, raising=False)
    whole = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: pytest.fail("read whole") if path == long else whole(path))
    assert count(machine.collect().report) == {"delivered": 1, "not_enabled": 1}
    assert 0 < sum(reads) <= sessions.STEPS[0] + 8192


def test_a_session_whose_first_line_is_too_long_to_look_at_is_counted_as_without_a_project(
    machine: Any, count: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = machine.checkout("api", ORIGIN)
    machine.claude("s1", api, "one")
    machine.enable(APP)
    machine.claude("s2", api, "x" * 300_000)
    monkeypatch.setattr(sessions, "STEPS", (64 * 1024, 128 * 1024))
    assert count(machine.collect().report) == {"delivered": 1, "no_project": 1}


@pytest.mark.parametrize("how", ["one session that went there", "two sessions in one file"])
def test_a_file_that_also_belongs_to_another_project_is_held_back(machine: Any, count: Any, how: str) -> None:
    api, quay = machine.checkout("api", ORIGIN), machine.checkout("quay", "git@github.com:tidewater/quay.git")
    path = machine.claude("s1", api, "one")
    session = "s1" if how.startswith("one") else "s2"
    path.write_text(path.read_text() + machine.line(session, 7, quay, OTHER_WORD))
    machine.aged(path, 1)
    machine.enable(APP)
    assert count(machine.collect().report) == {"held": 1}
    assert count(machine.collect().report) == {"held": 1}
    assert machine.delivered() == {}
    machine.enable("github.com/tidewater/quay")
    assert count(machine.collect().report) == {"delivered": 1}


@pytest.mark.parametrize("cwd", [None, "/home/ann/private"])
def test_a_file_that_was_replaced_since_the_first_look_is_judged_by_what_is_read(
    machine: Any, count: Any, monkeypatch: pytest.MonkeyPatch, cwd: str | None
) -> None:
    path = machine.claude("s1", machine.checkout("api", ORIGIN), "one")
    machine.enable(APP)
    other = machine.line("s2", 0, cwd, OTHER_WORD).encode()
    whole = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda read: other if read == path else whole(read))
    assert count(machine.collect().report) == {"held": 1}
    assert machine.delivered() == {}


def test_a_session_without_a_project_is_not_sent_along_with_one_that_has(machine: Any, count: Any) -> None:
    path = machine.claude("s1", machine.checkout("api", ORIGIN), "one")
    path.write_text(path.read_text() + machine.line("s2", 0, None, OTHER_WORD))
    machine.enable(APP)
    assert count(machine.collect().report) == {"held": 1}


def test_a_visit_to_a_folder_without_a_remote_holds_nothing_back(machine: Any, count: Any) -> None:
    path = machine.claude("s1", machine.checkout("api", ORIGIN), "one")
    path.write_text(path.read_text() + machine.line("s1", 7, "/tmp/scratch", "two"))
    machine.enable(APP)
    assert count(machine.collect().report) == {"delivered": 1}


def test_a_session_whose_checkout_is_gone_keeps_the_project_it_was_enabled_under(machine: Any, count: Any) -> None:
    api = machine.checkout("api", ORIGIN)
    path = machine.claude("s1", api, "one")
    machine.enable(APP)
    shutil.rmtree(api)
    sessions.remote_of.cache_clear()
    assert count(machine.collect().report) == {"delivered": 1}
    path.write_text(path.read_text() + machine.line("s1", 8, api, "two"))
    assert count(machine.collect().report) == {"delivered": 1}
    assert {note["project"] for note in machine.notes().values()} == {APP}


def test_a_checkout_whose_remote_has_another_address_today_is_no_other_project(machine: Any, count: Any) -> None:
    api = machine.checkout("api", "git@github.com:tidewater-labs/harbour-api.git")
    machine.codex("0a-0b", api, ORIGIN, "one")
    machine.enable(APP)
    assert count(machine.collect().report) == {"delivered": 1}


def test_a_folder_that_holds_another_project_now_is_not_sent(machine: Any, count: Any) -> None:
    api = machine.checkout("api", ORIGIN)
    machine.claude("s1", api, "one")
    machine.enable(APP)
    subprocess.run(["git", "-C", api, "remote", "set-url", "origin", "git@github.com:tidewater/quay.git"], check=True)
    sessions.remote_of.cache_clear()
    assert count(machine.collect().report) == {"not_enabled": 1}


def test_a_git_hook_that_starts_a_run_does_not_lend_it_its_own_project(
    machine: Any, count: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = machine.checkout("api", ORIGIN)
    machine.claude("s1", machine.checkout("quay", "git@github.com:tidewater/quay.git"), OTHER_WORD)
    machine.claude("s2", str(machine.home), OTHER_WORD)
    machine.enable(APP)
    monkeypatch.setenv("GIT_DIR", f"{api}/.git")
    sessions.remote_of.cache_clear()
    assert count(machine.collect().report) == {"not_enabled": 2}


def test_an_agent_that_records_a_hash_of_its_folder_is_known_by_the_folders_of_the_project(
    machine: Any, count: Any
) -> None:
    api = machine.checkout("api", ORIGIN)
    machine.claude("s1", api, "one")
    for name, folder in (("app", api), ("other", "/home/ann/src/quay")):
        path = machine.home / ".gemini" / "tmp" / name / "chats" / f"session-2026-03-10T09-00-{name}.json"
        path.parent.mkdir(parents=True)
        session = {
            "sessionId": name, "projectHash": hashlib.sha256(folder.encode()).hexdigest(),
            "startTime": "2026-03-10T09:00:00Z", "lastUpdated": "2026-03-10T09:00:00Z",
            "messages": [{"id": "m1", "timestamp": "2026-03-10T09:00:00Z", "type": "user", "content": f"from {name}"}],
        }  # fmt: skip
        path.write_text(json.dumps(session, indent=2))
        machine.aged(path, 1)
    machine.enable(APP)
    assert count(machine.collect().report) == {"delivered": 2, "no_project": 1}
    texts = b"".join(machine.delivered().values())
    assert b"from app" in texts
    assert b"from other" not in texts


def test_what_is_disabled_is_sent_no_more_and_stays_where_it_was_sent(machine: Any, count: Any) -> None:
    api = machine.checkout("api", ORIGIN)
    path = machine.claude("s1", api, "one")
    machine.enable(APP)
    machine.collect()
    before = machine.delivered()
    collect_run.disable(machine.folders, machine.personal(), APP)
    path.write_text(path.read_text() + machine.line("s1", 8, api, "two"))
    assert count(machine.collect().report) == {"not_enabled": 1}
    assert machine.delivered() == before != {}


def test_consent_that_changes_during_a_run_holds_from_the_next_file_on(machine: Any, count: Any) -> None:
    api = machine.checkout("api", ORIGIN)
    for number in range(3):
        machine.claude(f"s{number}", api, "one", days_ago=9 - number)
    machine.enable(APP)

    def progress(what: str, done: int, of: int) -> None:
        if done == 1:
            consent.save(machine.folders.config, machine.personal().without(APP))

    assert count(machine.collect(progress=progress).report) == {"delivered": 1, "left_for_next": 2}
    assert count(machine.collect().report) == {"not_enabled": 3}


def test_nothing_is_sent_on_the_strength_of_a_damaged_consent(machine: Any) -> None:
    machine.claude("s1", machine.checkout("api", ORIGIN), "one")
    machine.enable(APP)
    personal = machine.personal()
    path = machine.folders.config / consent.FILE_NAME
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(SettingsError, match="nothing is sent meanwhile") as damaged:
        collect_run.run(machine.folders, personal, machine.stores(), NOW)
    assert damaged.value.where == str(path)
    assert machine.delivered() == {}


def test_configuration_and_state_are_their_owners_alone(machine: Any) -> None:
    machine.claude("s1", machine.checkout("api", ORIGIN), "one")
    machine.enable(APP)
    machine.collect()
    for folder in machine.folders:
        assert folder.stat().st_mode & 0o777 == 0o700
        assert all(path.stat().st_mode & 0o077 == 0 for path in folder.iterdir() if path.name != "lock")


def test_configuration_and_state_lie_where_the_person_says_and_nowhere_by_a_relative_path() -> None:
    """What lies where depends on no folder that a hook happens to start in."""
    given = {"HOME": "/home/ann", "XDG_CONFIG_HOME": "/srv/config", "XDG_STATE_HOME": "state"}
    assert consent.config_folder(given) == Path("/srv/config/lorelake")
    assert consent.state_folder(given) == Path("/home/ann/.local/state/lorelake/collect")
