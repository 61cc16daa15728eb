from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from lorelake.cli.init import init, render
from lorelake.errors import LorelakeError, UsageError
from lorelake.lake import Lake
from lorelake.release.build import check_team
from lorelake.settings import Settings, Source, Team, load

NOTE = b"# Retry with the same key\n\nA new key stores the object twice.\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    here = tmp_path / "My Team"
    (here / "notes").mkdir(parents=True)
    (here / "notes" / "a.md").write_bytes(NOTE)
    (here / "notes" / "clip.bin").write_bytes(b"\0\1")
    monkeypatch.chdir(here)
    for name in ("HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    return here


def run(*arguments: str, answer: str = "") -> Result:
    return CliRunner().invoke(init, arguments, input=answer)


def test_it_shows_what_is_there_and_writes_settings_that_load(folder: Path) -> None:
    result = run("--from", "notes", "--project", "web", "--person", "ann@team.example", "--yes")
    assert result.exit_code == 0, result.exception
    assert "documents    1 capture of 1 file: " in result.output
    assert "unknown_format (no format recognises the content): 1 file, such as notes/clip.bin" in result.output
    assert "project web, person ann@team.example" in result.output
    assert result.output.rstrip().endswith("Next: lorelake nightly")
    settings = load(folder / "lorelake.toml")
    assert settings.team.id == "my-team"
    assert settings.sources == (Source("notes", "web", "ann@team.example"),)
    assert settings.resolve("notes") == (folder / "notes").resolve()
    assert [(person.id, person.emails) for person in settings.people] == [("ann@team.example", ("ann@team.example",))]
    assert settings.recall.projects == ("web",)
    assert settings.ledger.local_person == "ann@team.example"
    assert settings.review.reviewers == ("ann@team.example",)
    assert sorted(path.name for path in folder.iterdir()) == ["lorelake.toml", "notes"]


def test_a_folders_name_is_the_project_assumed_for_it_and_this_is_said(folder: Path) -> None:
    """Notes without a project are served to nobody: the first night would be for nothing."""
    result = run("--from", "notes", "--from", ".", "--team", "core", "--yes")
    assert "this is assumed, and marked so: project notes, project my-team\n" in result.output
    settings = load(folder / "lorelake.toml")
    assert settings.sources == (Source("notes", "notes"), Source(".", "my-team"))
    assert settings.recall.projects == ("notes", "my-team")
    assert settings.people == ()


def test_a_lake_of_another_team_is_left_alone(folder: Path) -> None:
    """After a look at the example, ./lake is the example's: the next night would refuse these settings."""
    lake = Lake(folder / "lake")
    check_team(lake, "tidewharf")
    result = run("--from", "notes", "--team", "core", "--yes")
    assert "./lake belongs to another team; this one's memory will lie in ./lake-core" in result.output
    settings = load(folder / "lorelake.toml")
    assert settings.lake_root == (folder / "lake-core").resolve()
    check_team(Lake(settings.lake_root), "core")
    assert lake.team() == "tidewharf"
    assert run("--from", "notes", "--team", "tidewharf", "--yes", "--force").exit_code == 0
    assert load(folder / "lorelake.toml").lake_root == lake.root.resolve()


def test_the_stores_of_this_machine_are_found(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = tmp_path / "home" / "projects" / "-home-ann-app"
    store.mkdir(parents=True)
    (store / "s.jsonl").write_bytes(b'{"type":"user","uuid":"1","sessionId":"s","message":{"content":"hi"}}\n')
    result = run("--yes")
    assert result.exit_code == 0, result.exception
    assert f"Claude Code  {store.parent}: 1 transcripts" in result.output
    assert "Codex" in result.output
    assert "not on this machine" in result.output
    assert load(folder / "lorelake.toml").sources == (Source(str(store.parent)),), "transcripts tell their project"


def test_no_store_and_no_folder_is_told_with_the_way_out(folder: Path) -> None:
    error = run("--yes").exception
    assert isinstance(error, LorelakeError)
    assert (error.exit_code, "--from" in str(error)) == (1, True)


def test_a_folder_that_is_not_there_is_a_wrong_call(folder: Path) -> None:
    error = run("--from", "nowhere", "--yes").exception
    assert isinstance(error, UsageError)
    assert "nowhere" in str(error)


def test_without_a_terminal_it_needs_yes(folder: Path) -> None:
    error = run("--from", "notes").exception
    assert isinstance(error, UsageError)
    assert error.exit_code == 2
    assert not (folder / "lorelake.toml").exists()


def test_on_a_terminal_it_asks_and_no_writes_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lorelake.cli.init._at_terminal", lambda: True)
    refused = run("--from", "notes", answer="n\n")
    assert isinstance(refused.exception, LorelakeError)
    assert os.listdir(folder) == ["notes"]
    assert run("--from", "notes", answer="y\n").exit_code == 0
    assert (folder / "lorelake.toml").exists()


def test_an_existing_file_is_replaced_only_by_force(folder: Path) -> None:
    (folder / "lorelake.toml").write_text("# mine\n")
    error = run("--from", "notes", "--yes").exception
    assert isinstance(error, LorelakeError)
    assert error.exit_code == 1
    assert "--force" in str(error)
    assert (folder / "lorelake.toml").read_text() == "# mine\n"
    assert run("--from", "notes", "--yes", "--force").exit_code == 0
    assert load(folder / "lorelake.toml").team.id == "my-team"


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_survives_the_file(tmp_path_factory: pytest.TempPathFactory, path: str, project: str) -> None:
    target = tmp_path_factory.mktemp("toml") / "lorelake.toml"
    target.write_bytes(render(Settings(team=Team(path), sources=(Source(path, project or None),))).encode())
    read = load(target)
    assert (read.team.id, read.sources) == (path, (Source(path, project or None),))


def test_a_name_toml_cannot_say_is_refused() -> None:
    with pytest.raises(UsageError):
        render(Settings(team=Team("t"), sources=(Source("bad\udcff"),)))
