"""`lorelake collect` as a person calls it, with everything it says and writes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lorelake import cli
from lorelake.content.redaction import Redactor, load_key
from lorelake.landing import collect_state, sessions

APP = "github.com/tidewater/harbour-api"
QUAY = "github.com/tidewater/walrus-quay"
XDG = ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME")
AGENTS = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "GEMINI_CLI_HOME")
SECRET = "AKIA" + "Q4XW7ZJ2M5RT3YPL"


class Person:
    """One person at a shell. `home` holds their agents' stores, and `api` and `quay` two checkouts."""

    def __init__(self, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.home, self._capsys = home, capsys
        self.landing = home.parent / "landing"
        self.api, self.quay = self.checkout("api", APP), self.checkout("quay", QUAY)

    def checkout(self, name: str, remote: str) -> str:
        folder = self.home / "src" / name
        subprocess.run(["git", "init", "-q", str(folder)], check=True)
        subprocess.run(["git", "-C", str(folder), "remote", "add", "origin", f"https://{remote}.git"], check=True)
        return str(folder)

    def session(self, name: str, cwd: str | None, *texts: str) -> Path:
        path = self.home / ".claude" / "projects" / "p" / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        place = {"cwd": cwd} if cwd else {}
        lines = [
            {
                "type": "user", "uuid": f"{name}{number}", "sessionId": name, "timestamp": "2026-03-10T09:00:00Z",
                "message": {"role": "user", "content": text}, **place,
            }
            for number, text in enumerate(texts)
        ]  # fmt: skip
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return path

    def says(self, *arguments: str, code: int = 0) -> str:
        """Both streams of one call, whose exit code is checked."""
        self._capsys.readouterr()
        given = cli.run(["collect", *arguments])
        out, err = self._capsys.readouterr()
        assert given == code, out + err
        return out + err

    def sent(self) -> list[Path]:
        return list(self.landing.rglob("*.jsonl"))


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Person:
    home = tmp_path / "home"
    home.mkdir()
    for name in (*XDG, *AGENTS, "LORELAKE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.chdir(home)
    sessions.remote_of.cache_clear()
    return Person(home, capsys)


def enable(person: Person, project: str = APP) -> None:
    person.says("dry-run", project, "--to", str(person.landing), "--person", "ann")
    person.says("enable", project, "--yes")


def test_the_first_call_says_what_to_do_and_sends_nothing(person: Person) -> None:
    person.session("s1", person.api, "one")
    said = person.says()
    assert "lorelake collect dry-run PROJECT" in said
    assert person.says("run") == said
    assert person.says("--quiet") == ""
    assert not (person.home / ".config").exists()
    assert not (person.home / ".local").exists()


def test_the_whole_way_from_a_dry_run_to_a_withdrawal(person: Person) -> None:
    person.session("s1", person.api, "one", f"key {SECRET}")
    person.session("s2", person.quay, "two")
    person.session("s3", None, "three")
    said = person.says("dry-run", "harbour-api", "--to", str(person.landing), "--person", "ann")
    assert f"would go to {person.landing} as ann" in said
    assert "Claude Code: 1 transcript" in said
    assert "Hidden: 1 " in said
    assert not person.landing.exists()
    assert "Enabled" in person.says("enable", "harbour-api", "--yes")
    said = person.says()
    assert f"Delivered to {person.landing}" in said
    assert "1 file of projects that are not enabled" in said
    assert "1 file without a project" in said
    assert len(person.sent()) == 1
    assert "Nothing new." in person.says("run")
    said = person.says("withdraw", "harbour-api")
    assert "Erased from" in said
    assert "Not erased from here: what a lake has read of them already" in said
    assert person.sent() == []


def test_enabling_without_a_dry_run_is_refused_with_the_call_to_make(person: Person) -> None:
    person.session("s1", person.api, "one")
    person.session("s2", person.quay, "two")
    assert f"remedy: lorelake collect dry-run {APP}" in person.says("enable", APP, "--yes", code=1)
    person.says("dry-run", APP, "--to", str(person.landing))
    assert f"remedy: lorelake collect dry-run {QUAY}" in person.says("enable", QUAY, "--yes", code=1)
    said = person.says("enable", APP, "--to", "/srv/other", "--yes", code=1)
    assert f"remedy: lorelake collect dry-run {APP} --to /srv/other" in said
    assert "add --yes" in person.says("enable", APP, code=2)


def test_a_person_who_says_no_enables_nothing(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    person.session("s1", person.api, "one")
    person.says("dry-run", APP, "--to", str(person.landing))
    monkeypatch.setattr("lorelake.cli.collect._at_terminal", lambda: True)
    monkeypatch.setattr("click.confirm", lambda *_, **__: False)
    assert "nothing was enabled" in person.says("enable", APP, code=1)
    person.says()
    assert person.sent() == []


def test_what_goes_to_one_place_does_not_silently_go_to_another(person: Person) -> None:
    person.session("s1", person.api, "one")
    person.session("s2", person.quay, "two")
    enable(person)
    other = str(person.home / "other")
    assert "all that is enabled goes to one place" in person.says("dry-run", QUAY, "--to", other, code=1)
    assert "What was sent stays" in person.says("disable", "harbour-api")
    assert "is not enabled" in person.says("disable", APP, code=1)
    person.says("dry-run", QUAY, "--to", other)
    person.says("enable", QUAY, "--yes")
    person.says()
    assert person.sent() == []
    assert list(Path(other).rglob("*.jsonl"))


@pytest.mark.parametrize(
    ("name", "code"),
    [("harbour-api", 0), (f"git@{APP.replace('/', ':', 1)}.git", 0), ("src/api", 0),
     ("tidewater/harbour-api", 0), ("harbor-api", 2), ("/", 2)],
)  # fmt: skip
def test_a_project_is_named_as_a_person_knows_it(person: Person, name: str, code: int) -> None:
    person.session("s1", person.api, "one")
    said = person.says("dry-run", name, "--to", str(person.landing), code=code)
    assert (f"{APP}\n" in said) is (code == 0)


@pytest.mark.parametrize("name", ["harbour-api", "tidewater/harbour-api", "src/api"])
def test_what_was_disabled_is_withdrawn_by_the_same_name(person: Person, name: str) -> None:
    person.session("s1", person.api, "one")
    enable(person)
    person.says()
    assert f"`lorelake collect withdraw {APP}` erases it" in person.says("disable", name)
    assert f"Erased from {person.landing}: 1 file" in person.says("withdraw", name)
    assert person.sent() == []


def test_a_name_of_several_projects_is_refused_with_their_whole_names(person: Person) -> None:
    other = person.checkout("fork", "gitlab.com/ann/harbour-api")
    person.session("s1", person.api, "one")
    person.session("s2", other, "two")
    said = person.says("dry-run", "harbour-api", "--to", str(person.landing), code=2)
    assert f"2 projects end in 'harbour-api'\n  remedy: write its whole name: {APP}, gitlab.com/ann/harbour-api" in said


@pytest.mark.parametrize(
    "place", ["", "ftp://host/x", "s3://key:word@bucket/x", "two\nlines", "~/.claude/projects/out"]
)
def test_a_place_that_cannot_be_one_is_refused_before_it_is_remembered(person: Person, place: str) -> None:
    person.session("s1", person.api, "one")
    (person.home / "lorelake.toml").write_text(f'[team]\nid = "t"\n[collect]\ndeliver_to = {json.dumps(place)}\n')
    assert "key:word" not in person.says("dry-run", APP, code=2)
    if place:
        person.says("dry-run", APP, "--to", place, code=2)
    assert not (person.home / ".config").exists()


def test_a_file_name_moves_no_cursor(person: Person) -> None:
    person.session("s1", person.api, "one")
    enable(person)
    person.session("s\x1b[2J\n", None).write_text('{"odd": 1}\n')
    assert "/s [2J .jsonl" in person.says("status")


def test_the_teams_settings_say_where_to_and_how_and_are_asked_once(person: Person) -> None:
    """A file that comes with a repository cannot turn anybody's transcripts elsewhere later on."""
    person.session("s1", person.api, "mail ann@tidewater.example")
    settings = person.home / "lorelake.toml"
    settings.write_text(
        f'[team]\nid = "t"\n[collect]\ndeliver_to = "{person.landing}"\n[redaction]\nemails = "keep"\n'
        f'[[projects]]\nid = "github.com/tidewater/harbour-api"\nremotes = ["{QUAY}"]\n'
    )
    person.session("s2", person.quay, "walrusmarmalade")
    person.says("dry-run", APP)
    person.says("enable", APP, "--yes")
    settings.write_text('[team]\nid = "t"\n[collect]\ndeliver_to = "/srv/elsewhere"\n')
    person.says()
    (sent,) = person.sent()
    assert "ann@tidewater.example" in sent.read_text()


def test_marks_are_made_with_the_teams_key_where_the_person_has_it(person: Person) -> None:
    person.session("s1", person.api, "mail ann@tidewater.example")
    (person.home / "lorelake.toml").write_text('[team]\nid = "t"\n[redaction]\nkey_file = "team.key"\n')
    key = load_key(person.home / "team.key")
    enable(person)
    person.says()
    assert Redactor(key).text("ann@tidewater.example") in person.sent()[0].read_text()


def test_without_a_place_the_teams_own_lake_is_one(person: Person) -> None:
    person.session("s1", person.api, "one")
    (person.home / "lorelake.toml").write_text('[team]\nid = "t"\n')
    assert f"would go to {person.home / 'lake' / 'landing'}" in person.says("dry-run", APP)
    (person.home / "lorelake.toml").unlink()
    assert "--to FOLDER" in _fresh(person).says("dry-run", APP, code=2)


def _fresh(person: Person) -> Person:
    for path in (person.home / ".config" / "lorelake").iterdir():
        path.unlink()
    return person


def test_status_lists_projects_agents_and_what_is_wrong(person: Person) -> None:
    person.session("s1", person.api, "one")
    person.session("s2", person.quay, "two")
    person.session("s3", None, "three")
    said = person.says("status")
    assert "not sent" in said
    assert "names no project" in said
    enable(person)
    (person.home / ".claude" / "projects" / "p" / "new.jsonl").write_text('{"schema": 9}\n')
    said = person.says("status")
    assert any(APP in line and "sent since" in line for line in said.splitlines())
    assert any(QUAY in line and "not sent" in line for line in said.splitlines())
    assert "Codex" in said
    assert "(not here)" in said
    assert "warning: Claude Code is read in part only: 1 file is" in said
    assert "/.claude/projects/p/new.jsonl" in said


def test_quiet_runs_say_nothing_but_what_is_wrong(person: Person) -> None:
    person.session("s1", person.api, "one")
    enable(person)
    assert person.says("--quiet") == ""
    assert len(person.sent()) == 1
    (person.home / ".claude" / "projects" / "p" / "new.jsonl").write_text('{"schema": 9}\n')
    assert person.says("run", "--quiet").startswith("warning: ")


def test_a_second_run_beside_one_says_so_and_exits_well(person: Person) -> None:
    person.session("s1", person.api, "one")
    enable(person)
    with collect_state.locked(person.home / ".local" / "state" / "lorelake" / "collect"):
        assert "Another `lorelake collect` is at work" in person.says()
        assert person.says("--quiet") == ""


def test_a_hook_returns_at_once_and_the_run_outlives_it(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    person.session("s1", person.api, "one")
    enable(person)
    started: list[subprocess.Popen[bytes]] = []
    real = subprocess.Popen

    def popen(*given: Any, **more: Any) -> subprocess.Popen[bytes]:
        started.append(real(*given, **more))
        return started[-1]

    monkeypatch.setattr("lorelake.cli.collect.subprocess.Popen", popen)
    assert person.says("--hook") == ""
    assert os.getsid(started[0].pid) == started[0].pid, "a session of its own"
    assert started[0].wait() == 0
    assert len(person.sent()) == 1


def test_a_hook_never_fails_and_the_reason_is_told_by_status(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    person.session("s1", person.api, "one")
    enable(person)
    (person.home / ".config" / "lorelake" / "collect.key").chmod(0o644)
    started: list[subprocess.Popen[bytes]] = []
    real = subprocess.Popen

    def popen(*given: Any, **more: Any) -> subprocess.Popen[bytes]:
        started.append(real(*given, **more))
        return started[-1]

    monkeypatch.setattr("lorelake.cli.collect.subprocess.Popen", popen)
    assert person.says("run", "--hook") == ""
    assert started[0].wait() == 2
    (person.home / ".config" / "lorelake" / "collect.key").chmod(0o600)
    said = person.says("status")
    assert "The last run in the background said:" in said
    assert "may be read by others" in said
    monkeypatch.setattr("lorelake.cli.collect.subprocess.Popen", lambda *_, **__: (_ for _ in ()).throw(OSError("no")))
    assert "did not start" in person.says("--hook")


def test_no_word_of_another_project_or_secret_is_said_or_written(person: Person, tmp_path: Path) -> None:
    """Searched for in all that every command says and in every file below the home but the stores themselves."""
    person.session("s1", person.api, "one", f"key {SECRET}", "and marmalade stays")
    person.session("s2", person.quay, f"walrusmarmalade {SECRET}")
    person.session("s3", None, f"walrusmarmalade {SECRET}")
    said = person.says("status")
    said += person.says("dry-run", APP, "--to", str(person.landing), "--into", str(tmp_path / "peek"))
    said += person.says("enable", APP, "--yes") + person.says() + person.says("status")
    run = person.says("run")
    assert "quay" not in run, "only `status` names projects that are not enabled, to the person alone"
    for word in (SECRET, "walrusmarmalade"):
        assert word not in said + run
        for path in tmp_path.rglob("*"):
            if path.is_file() and ".claude" not in path.parts:
                assert word.encode() not in path.read_bytes(), path
    written = [path for path in tmp_path.rglob("*") if path.is_file() and not {".claude", "src"} & set(path.parts)]
    assert not [path for path in written if b"walrus-quay" in path.read_bytes()]
    assert any(b"marmalade stays" in path.read_bytes() for path in written)


def test_options_before_a_command_are_not_swallowed(person: Person) -> None:
    assert "options stand behind the command" in person.says("--quiet", "status", code=2)


def test_a_full_disk_is_told_with_place_and_remedy(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    person.session("s1", person.api, "one")
    enable(person)
    person.landing.write_text("a file where the folder should be")
    said = person.says(code=1)
    assert str(person.landing) in said
    assert "remedy:" in said


def test_help_loads_nothing_of_the_pipeline() -> None:
    code = "import sys; from lorelake.cli import run; run(['collect', '--help']); print(sorted(sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "'polars'" not in out
    assert "'pyarrow'" not in out
    assert "lorelake.cli.collect" in out
