from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from lorelake.cli import COMMANDS
from lorelake.cli.import_store import import_store
from lorelake.errors import LorelakeError, SettingsError, SourceError, UsageError
from lorelake.lake import Lake
from lorelake.release.build import check_team

SETTINGS = """\
[team]
id = "harbour"

[[people]]
id = "ann"
emails = ["ann@team.example"]

[[people]]
id = "bob"
emails = ["bob@team.example"]
"""
SCAR = {
    "id": "0b6f3a52", "learning_type": "scar", "title": "Back up first", "created_at": "2026-03-01T10:00:00Z",
    "description": "Take a dump before you change the schema of a table that is read elsewhere.",
}  # fmt: skip
NOTE = "# Uploads\n\n## Do\n\nRetry the upload with the same key after a 503.\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "team"
    folder.mkdir()
    (folder / "lorelake.toml").write_text(SETTINGS)
    monkeypatch.chdir(folder)
    monkeypatch.delenv("LORELAKE_HOME", raising=False)
    return folder


@pytest.fixture
def gitmem(tmp_path: Path) -> Path:
    store = tmp_path / "ann" / ".gitmem"
    store.mkdir(parents=True)
    rows = [SCAR, SCAR | {"id": "s", "is_starter": True}, SCAR | {"id": "old", "is_active": False}]
    (store / "learnings.json").write_text(json.dumps(rows))
    (store / "scar_usage.json").write_text(
        json.dumps([{"id": "u", "scar_id": "0b6f3a52", "surfaced_at": "2026-03-02"}])
    )
    (store / "config.json").write_text("{}")
    return store


@pytest.fixture
def teamai(tmp_path: Path) -> Path:
    """Ann's own note, Ann's note committed by Bob, one by somebody nobody listed, and a model's."""
    folder = tmp_path / "memory"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    (folder / "learnings").mkdir()
    machine = "---\nsource_mr: https://git.team.example/mr/1\n---\n" + NOTE.replace("503", "504")
    for name, text, author, committer in (
        ("own", NOTE, "ann", "ann"),
        ("merged", NOTE.replace("503", "500"), "ann", "bob"),
        ("unlisted", NOTE.replace("503", "429"), "ann", "eve"),
        ("machine", machine, "ann", "bob"),
    ):
        (folder / "learnings" / f"{name}.md").write_text(text)
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", "-m", name, author=author, committer=committer)
    return folder


def git(folder: Path, *arguments: str, author: str = "ann", committer: str = "ann") -> None:
    roles = {"AUTHOR": author, "COMMITTER": committer}
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    environment |= {f"GIT_{role}_NAME": who for role, who in roles.items()}
    environment |= {f"GIT_{role}_EMAIL": f"{who}@team.example" for role, who in roles.items()}
    environment |= {f"GIT_{role}_DATE": "1772000000 +0000" for role in roles}
    subprocess.run(["git", *arguments], cwd=folder, env=environment, capture_output=True, check=True)


def run(*arguments: str, answer: str = "") -> Result:
    return CliRunner().invoke(import_store, arguments, input=answer)


def counts(result: Result) -> dict[str, tuple[int, int]]:
    """What the shown table says: taken as -> (entries, new)."""
    assert result.exit_code == 0, result.exception
    found = {}
    for line in result.output.splitlines()[2:]:
        if not line.strip():
            break
        name, entries, new = line[:12].strip(), *line[12:].split()[:2]
        found[name] = (int(entries), int(new))
    return found


def test_the_trust_shown_is_what_the_history_proves(here: Path, teamai: Path) -> None:
    assert counts(run("teamai", str(teamai), "--dry-run")) == {"reviewed": (1, 1), "stated": (2, 2), "proposed": (1, 1)}
    assert not (here / "lake").exists(), "a dry run leaves nothing behind"


def test_no_option_lifts_what_an_agent_wrote(here: Path, gitmem: Path) -> None:
    result = run("gitmem", str(gitmem), "--person", "ann", "--project", "shop", "--dry-run")
    assert counts(result) == {"proposed": (1, 1), "archived": (1, 1), "kept only": (1, 1)}
    assert "shipped_entry (a starter entry shipped with a tool, nobody's experience): 1, such as learnings.json:2" in (
        result.output
    )
    assert "No part of what is read: 1 file (config.json)" in result.output


def test_it_takes_once_and_says_what_is_new(here: Path, gitmem: Path) -> None:
    first = run("gitmem", str(gitmem), "--project", "shop", "--yes")
    assert first.output.rstrip().endswith("Next: lorelake nightly")
    (folder,) = (here / "lake" / "landing" / "documents").iterdir()
    note = json.loads((folder / "import.json").read_text())
    assert (note["lorelake"], note["project"]) == ("import", "shop")
    (done,) = note["imports"]
    assert (done["from"], done["new"]) == (str(gitmem), {"proposed": 1, "archived": 1, "kept only": 1})
    assert done["at"].endswith("+00:00")
    again = run("gitmem", str(gitmem), "--yes")
    assert counts(again) == {"proposed": (1, 0), "archived": (1, 0), "kept only": (1, 0)}
    assert f"Nothing is new: all of it was taken before, into {folder}" in again.output
    (gitmem / "decisions.json").write_text(
        json.dumps(
            [{"id": "d", "decision_date": "2026-03-03", "title": "One queue", "decision": "Use one queue for all."}]
        )
    )
    assert counts(run("gitmem", str(gitmem), "--yes"))["proposed"] == (2, 1)
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_what_belongs_to_no_project_is_told_of_and_can_be_mended(here: Path, gitmem: Path) -> None:
    """GitMem stores `default` unless told otherwise; a learning of no project reaches nobody."""
    told = "Entries of no project, and so for nobody: 1; name their project with --project"
    assert told in run("gitmem", str(gitmem), "--yes").output
    mended = run("gitmem", str(gitmem), "--yes", "--project", "shop")
    assert told not in mended.output
    assert "Nothing is new; what is assumed was noted in" in mended.output
    (note,) = (here / "lake" / "landing" / "documents").glob("*/import.json")
    assert json.loads(note.read_text())["project"] == "shop"
    again = run("gitmem", str(gitmem), "--yes")
    assert told not in again.output
    assert "Nothing is new: all of it was taken before" in again.output


def test_unpublished_learnings_are_told_of(here: Path, teamai: Path) -> None:
    waiting = teamai.parent / "pending-learnings"
    waiting.mkdir()
    (waiting / "a.md").write_text(NOTE)
    result = run("teamai", str(teamai), "--dry-run")
    assert f"Not taken, since never published: 1 learning in {waiting}; publish" in result.output


def test_somebody_must_agree(here: Path, gitmem: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    error = run("gitmem", str(gitmem)).exception
    assert isinstance(error, UsageError)
    assert "--yes" in str(error)
    monkeypatch.setattr("lorelake.cli.import_store._at_terminal", lambda: True)
    refused = run("gitmem", str(gitmem), answer="n\n").exception
    assert isinstance(refused, LorelakeError)
    assert not (here / "lake").exists()
    assert run("gitmem", str(gitmem), answer="y\n").exit_code == 0
    assert (here / "lake" / "landing").exists()


@pytest.mark.parametrize(
    ("kind", "place", "code", "words"),
    [
        ("teamai", "nowhere", 2, "nothing is there"),
        ("gitmem", "empty", 1, "name GitMem's folder"),
        ("teamai", "empty", 1, "name the clone"),
        ("teamai", "bare.txt", 1, "nothing of a teamai store"),
        ("gitmem", "notes", 2, "every night reads it already"),
        ("gitmem", "lake/landing", 2, "it lies in the lake"),
    ],
)
def test_what_cannot_be_taken_is_told_with_the_way_out(
    here: Path, kind: str, place: str, code: int, words: str
) -> None:
    (here / "empty").mkdir()
    (here / "bare.txt").write_text("x")
    (here / "notes").mkdir()
    (here / "lake" / "landing").mkdir(parents=True)
    (here / "lorelake.toml").write_text(SETTINGS + '\n[[sources]]\npath = "notes"\n')
    error = run(kind, place, "--yes").exception
    assert isinstance(error, LorelakeError)
    assert error.exit_code == code
    assert words in str(error)
    assert str(here / place) in str(error)


def test_a_lake_of_another_team_takes_nothing(here: Path, gitmem: Path) -> None:
    check_team(Lake(here / "lake"), "tidewharf")
    error = run("gitmem", str(gitmem), "--yes").exception
    assert isinstance(error, SettingsError)
    assert not (here / "lake" / "landing").exists()


def test_a_store_that_is_damaged_through_and_through_is_refused(here: Path, tmp_path: Path) -> None:
    store = tmp_path / ".gitmem"
    store.mkdir()
    (store / "learnings.json").write_text('[{"id":')
    result = run("gitmem", str(store), "--yes")
    assert isinstance(result.exception, SourceError)
    assert "not_json (the text is not JSON): 1, such as learnings.json" in result.output


def test_a_shallow_clone_is_refused_with_its_remedy(here: Path, teamai: Path, tmp_path: Path) -> None:
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "--quiet", "--depth", "1", f"file://{teamai}", str(shallow))
    result = run("teamai", str(shallow), "--yes")
    assert isinstance(result.exception, SourceError)
    assert "fetch --unshallow" in result.output


def test_without_settings_it_names_init(tmp_path: Path, gitmem: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bare").mkdir()
    monkeypatch.chdir(tmp_path / "bare")
    error = run("gitmem", str(gitmem), "--yes").exception
    assert isinstance(error, UsageError)
    assert "lorelake init" in str(error)


def test_the_command_is_listed() -> None:
    assert COMMANDS["import"].target == "lorelake.cli.import_store:import_store"
