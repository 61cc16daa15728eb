"""One person's machine: agents' stores, checkouts with remotes, and what `collect` keeps, all below one folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from lorelake.landing import collect_run, consent, sessions
from lorelake.landing.agent_stores import AgentStore, stores
from lorelake.landing.collect import Report
from lorelake.landing.collect_run import Folders, Outcome
from lorelake.landing.consent import Personal

sys.path.insert(0, str(Path(__file__).parent))  # fake_forge lies beside the tests

NOW = datetime(2026, 3, 20, 12, tzinfo=UTC)
APP = "github.com/tidewater/harbour-api"


class Machine:
    """Files as agents write them, and collect as a person calls it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = root / "home"
        self.landing = root / "landing"
        self.folders = Folders(root / "config", root / "state")
        self.home.mkdir()

    def stores(self) -> list[AgentStore]:
        return stores({"HOME": str(self.home)})

    def checkout(self, name: str, remote: str | None = None) -> str:
        """A Git checkout, with an origin if one is given; its path."""
        folder = self.home / "src" / name
        folder.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", str(folder)], check=True)
        if remote:
            subprocess.run(["git", "-C", str(folder), "remote", "add", "origin", remote], check=True)
        return str(folder)

    def claude(self, session: str, cwd: str | None, *texts: str, days_ago: float = 1, folder: str = "p") -> Path:
        """A Claude Code session with one prompt a text."""
        path = self.home / ".claude" / "projects" / folder / f"{session}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(self.line(session, number, cwd, text) for number, text in enumerate(texts)))
        return self.aged(path, days_ago)

    def line(self, session: str, number: int, cwd: str | None, text: str, **more: Any) -> str:
        value: dict[str, Any] = {
            "type": "user", "uuid": f"{session}-{number}", "parentUuid": None, "sessionId": session,
            "timestamp": f"2026-03-10T09:{number:02d}:00Z", "gitBranch": "main",
            "message": {"role": "user", "content": text},
        }  # fmt: skip
        return json.dumps(value | ({"cwd": cwd} if cwd else {}) | more) + "\n"

    def codex(self, session: str, cwd: str, remote: str | None, *texts: str, days_ago: float = 1) -> Path:
        """A Codex session that records its remote itself."""
        path = self.home / ".codex" / "sessions" / "2026" / "03" / "10" / f"rollout-2026-03-10T09-00-00-{session}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        meta = {"id": session, "cwd": cwd, "git": {"repository_url": remote, "branch": "main"} if remote else None}
        lines = [{"timestamp": "2026-03-10T09:00:00Z", "type": "session_meta", "payload": meta}]
        lines += [
            {
                "timestamp": "2026-03-10T09:01:00Z",
                "type": "event_msg",
                "payload": {"type": "user_message", "message": t},
            }
            for t in texts
        ]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return self.aged(path, days_ago)

    def aged(self, path: Path, days_ago: float) -> Path:
        then = (NOW - timedelta(days=days_ago)).timestamp()
        os.utime(path, (then, then))
        return path

    def personal(self, deliver_to: str | None = None) -> Personal:
        key = self.folders.config / consent.KEY_NAME
        saved = consent.load(self.folders.config)
        return saved or Personal(deliver_to or str(self.landing), "ann@tidewater.example", "0a1b2c3d", str(key))

    def enable(self, *projects: str, deliver_to: str | None = None) -> None:
        """What `dry-run` and `enable` do."""
        for project in projects:
            personal = self.personal(deliver_to)
            found = collect_run.look(personal, self.stores())
            collect_run.dry_run(self.folders, personal, project, found)
            collect_run.enable(self.folders, personal, project, found, NOW)

    def collect(self, now: datetime = NOW, **options: Any) -> Outcome:
        return collect_run.run(self.folders, self.personal(), self.stores(), now, **options)

    def delivered(self) -> dict[str, bytes]:
        """Transcripts at the place, without their notes, by name."""
        return {name: data for name, data in self.files(self.landing).items() if not name.endswith(".collect.json")}

    def notes(self) -> dict[str, dict[str, Any]]:
        return {
            name: json.loads(data) for name, data in self.files(self.landing).items() if name.endswith(".collect.json")
        }

    def files(self, folder: Path) -> dict[str, bytes]:
        found = sorted(folder.rglob("*")) if folder.exists() else []
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found if path.is_file()}

    def written(self) -> dict[str, bytes]:
        """Every file collect ever wrote: configuration, state, and what was delivered."""
        return {
            f"{part.name}/{name}": data
            for part in (self.folders.config, self.folders.state, self.landing)
            for name, data in self.files(part).items()
        }


def counts(report: Report) -> dict[str, int]:
    """The counts of a report that are not zero."""
    found = {"delivered": report.delivered.total()} | {
        name: getattr(report, name)
        for name in ("unchanged", "not_enabled", "no_project", "held", "vanished", "unreadable", "left_for_next")
    }
    return {name: count for name, count in found.items() if count}


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    sessions.remote_of.cache_clear()
    yield Machine(tmp_path)
    sessions.remote_of.cache_clear()


@pytest.fixture
def count() -> Any:
    return counts
