"""Decide on the sample team's queue as reviewers do: files, a protected branch, one more night, and what came of it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pytest

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("flow")]


def git(folder: Path, *words: str, **more: Any) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, **more)


@pytest.fixture
def ledger(team: Any) -> Path:
    """The team's ledger as a checkout of main, which is a source in place of the stream."""
    folder: Path = team.folder / "ledger"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "fast-import", "--quiet", input=(team.folder / "ledger.fast-export").read_bytes())
    git(folder, "reset", "--quiet", "--hard", "main")
    team.change('path = "ledger.fast-export"', 'path = "ledger"')
    return folder


def test_what_reviewers_write_applies_the_next_night_and_status_says_so(
    team: Any, ledger: Path, night: Any, call: Any, monkeypatch: pytest.MonkeyPatch, without_suites: None
) -> None:
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2026-03-20T10:00:00Z")

    def review(*words: str, who: str = "ngozi") -> str:
        git(ledger, "config", "user.name", who)
        git(ledger, "config", "user.email", f"{who}.{'okonkwo' if who == 'ngozi' else 'lindqvist'}@example.com")
        said = call("review", "--home", team.home, "--settings", team.settings, *words)
        assert said.code == 0, said.err
        return str(said.out)

    queue = [json.loads(line) for line in review("--json", "--limit", "99").splitlines()]
    theirs = [
        one["item"] for one in queue if one["item"]["said_by"] in ("mara", "ngozi") and one["item"]["people"] == 1
    ]
    own, other = theirs[0], theirs[1]
    colleague = {"mara": "ngozi", "ngozi": "mara"}
    others = [one["item"] for one in queue if one["item"]["said_by"] not in colleague]
    kept = next(item for item in others if item["audience"] == "project:harbour-api")
    gone = next(item for item in others if item["learning_id"] != kept["learning_id"])

    review("approve", own["learning_id"], "--reason", "Mine.", "--commit", who=own["said_by"])
    review("approve", other["learning_id"], "--reason", "Checked.", "--commit", who=colleague[other["said_by"]])
    review("reject", gone["learning_id"], "--reason", "Never did that.", "--commit")
    review("approve", gone["learning_id"], "--reason", "It is right.", "--commit", who="mara")
    review("pin", kept["learning_id"], "--reason", "We need it every week.")
    assert "it is not committed" in review("--status")

    assert night(team).code == 0
    learnings = pl.read_parquet(team.served / "tables" / "learnings.parquet")
    states = dict(learnings.select("learning_id", "state").iter_rows())
    assert states[other["learning_id"]] == "active"
    assert states[gone["learning_id"]] == "rejected"
    assert states[own["learning_id"]] == own["state"] == "candidate"

    told = {(one["decision"], one["about"]): one for one in map(json.loads, review("--status", "--json").splitlines())}
    done = told["approve", other["learning_id"]]
    assert (done["state"], done["release"], done["actor"]) == ("applies", team.release, colleague[other["said_by"]])
    refused = told["approve", own["learning_id"]]
    assert (refused["state"], "somebody else must decide" in refused["detail"]) == ("refused", True)
    overruled = told["approve", gone["learning_id"]]
    rejection = told["reject", gone["learning_id"]]
    assert (overruled["state"], overruled["by"]) == ("overruled", rejection["file"])
    assert rejection["state"] == "applies"
    assert told["pin", kept["learning_id"]]["state"] == "pending"
    assert other["learning_id"] not in {
        json.loads(line)["item"]["learning_id"] for line in review("--json", "--limit", "99").splitlines()
    }
