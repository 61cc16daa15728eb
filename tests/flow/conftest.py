"""The sample team, run once for all flow tests; and ways to run a night, here or in a process of its own."""

from __future__ import annotations

import fcntl
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

SAMPLE = Path(__file__).resolve().parents[1] / "samples" / "team"


@dataclass(frozen=True)
class Team:
    """A copy of the sample team with a lake of its own inside."""

    folder: Path

    @property
    def settings(self) -> Path:
        return self.folder / "lorelake.toml"

    @property
    def home(self) -> Path:
        return self.folder / "lake"

    @property
    def release(self) -> str:
        """The served release's id."""
        return (self.home / "CURRENT").read_text(encoding="utf-8").strip()

    @property
    def served(self) -> Path:
        return self.home / "releases" / self.release

    def change(self, old: str, new: str) -> None:
        """Edit the settings."""
        text = self.settings.read_text(encoding="utf-8")
        assert old in text
        self.settings.write_text(text.replace(old, new), encoding="utf-8")


@dataclass(frozen=True)
class Said:
    """What one call answered."""

    code: int
    out: str
    err: str


def clean(extra: dict[str, str] | None = None) -> dict[str, str]:
    """This environment without what points at another lake."""
    here = {name: value for name, value in os.environ.items() if name not in ("LORELAKE_HOME", "LORELAKE_SETTINGS")}
    return here | (extra or {})


@contextmanager
def in_process() -> Iterator[None]:
    """No second process: this one has imported everything after the first night."""
    from lorelake_assets import second_process

    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("LORELAKE_HOME", raising=False)
        patch.setattr(second_process, "running", nullcontext)
        yield


def lorelake(*arguments: str | Path) -> Said:
    """One call of the command line, in this process."""
    from lorelake.cli import run

    out, err = io.StringIO(), io.StringIO()
    with in_process(), redirect_stdout(out), redirect_stderr(err):
        code = run([str(argument) for argument in arguments])
    return Said(code, out.getvalue(), err.getvalue())


def nightly(team: Team, *arguments: str) -> Said:
    """`lorelake nightly` in this process."""
    return lorelake("nightly", "--settings", team.settings, *arguments)


def started(arguments: list[str], env: dict[str, str], cwd: Path) -> subprocess.Popen[str]:
    """A process of its own, whose output is kept."""
    return subprocess.Popen(
        [sys.executable, *arguments], env=env, cwd=cwd, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def tables_of(folder: Path) -> dict[str, str]:
    """sha256 of every Parquet file below, by name."""
    paths = sorted(path for path in folder.rglob("*.parquet") if path.is_file())
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def derived(home: Path) -> dict[str, str]:
    """sha256 of every table of a lake, history and releases apart."""
    return {
        f"{name}/{path}": value
        for name in ("raw", "quarantine", "events", "evidence", "learnings", "outcomes")
        for path, value in tables_of(home / name).items()
    }


OF_HISTORY = ("publishes", "servings")


def content(served: Path) -> dict[str, Any]:
    """What a release says, whenever and wherever it was made: its manifest, tables, queues and served items.

    Not what it tells of the publishes before it: those are the lake's, and hold the wall clock.
    """
    from lorelake.recall.reader import ReleaseReader

    manifest = json.loads((served / "manifest.json").read_text(encoding="utf-8"))
    about = {
        name: manifest[name] for name in ("release_id", "content_hash", "rows", "active", "warnings", "quarantined")
    }
    about["rows"] = {table: rows for table, rows in about["rows"].items() if table not in OF_HISTORY}
    tables = {path: sha for path, sha in tables_of(served / "tables").items() if path.split(".")[0] not in OF_HISTORY}
    cards = [json.loads(path.read_bytes()) for path in sorted((served / "index").glob("*/audience.json"))]
    with ReleaseReader(served, sorted(card["audience"] for card in cards)) as reader:
        items = {index.audience: sorted(repr(item) for item in index.items()) for index in reader.indexes}
    queues = {path.parent.name: path.read_text(encoding="utf-8") for path in sorted(served.glob("review/*/queue.json"))}
    return {"about": about, "tables": tables, "items": items, "queues": queues}


@pytest.fixture(scope="session")
def call() -> Callable[..., Said]:
    return lorelake


@pytest.fixture(scope="session")
def night() -> Callable[..., Said]:
    return nightly


@pytest.fixture(scope="session")
def start() -> Callable[..., subprocess.Popen[str]]:
    return started


@pytest.fixture(scope="session")
def environment() -> Callable[..., dict[str, str]]:
    return clean


@pytest.fixture(scope="session")
def told() -> Callable[[Path], dict[str, Any]]:
    return content


@pytest.fixture(scope="session")
def tables() -> Callable[[Path], dict[str, str]]:
    return derived


@pytest.fixture(scope="session")
def copied() -> Callable[[Path, Path], Team]:
    """A team copied elsewhere, without its lake; the key goes with it, since marks depend on it."""

    def copy(source: Path, target: Path) -> Team:
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("lake"))
        return Team(target)

    return copy


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory, copied: Callable[[Path, Path], Team]) -> Team:
    """The sample team after one undisturbed night. Never changed: tests that write take `team`.

    Workers of one xdist run share it: the first that asks makes it, the others wait for that.
    """
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    team = Team(shared / "flow-base" / "team")
    with (shared / "flow-base.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (team.home / "CURRENT").exists():
            shutil.rmtree(team.folder, ignore_errors=True)
            copied(SAMPLE, team.folder)
            one_night(team)
    return team


def one_night(team: Team) -> None:
    from lorelake_assets import dbt

    (team.folder / "example.key").chmod(0o600)  # Git keeps no such mode
    if not (dbt.models_dir() / "target" / dbt.parsed_name()).exists():
        dbt.keep_parsed(dbt.models_dir() / "target")  # what `make setup` does; else every lake would parse by itself
    said = nightly(team)
    assert said.code == 0, said.err


@pytest.fixture
def team(base: Team, tmp_path: Path) -> Team:
    """The sample team and its published lake, a copy for this test."""
    shutil.copytree(base.folder, tmp_path / "team")
    return Team(tmp_path / "team")


@pytest.fixture
def fresh(base: Team, tmp_path: Path, copied: Callable[[Path, Path], Team]) -> Team:
    """The sample team with its key, before its first night."""
    return copied(base.folder, tmp_path / "fresh")


@pytest.fixture
def without_suites(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a test is not about the suites, they need not take their seconds."""
    from lorelake_assets import checks

    monkeypatch.setattr(checks, "judge_suites", lambda lake: {})
