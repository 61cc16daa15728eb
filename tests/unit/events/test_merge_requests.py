"""Sessions and merge requests: every ground has a pair that joins and one that must not."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from lorelake.content import projects
from lorelake.events.derive import derive
from lorelake.events.merge_requests import joins, of_lake
from lorelake.events.people import People
from lorelake.formats import registry
from lorelake.formats.record import Capture, Member, Record, Unit, UnitRecord, in_order
from lorelake.lake import Lake, frame, write_table
from lorelake.settings import Project, Settings, Team
from lorelake.tables import EVENTS, SESSION_MERGE_REQUESTS, SESSIONS, Table

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
REMOTE = "github.com/harbour/api"
SETTLED = [Project(id="web", remotes=("git@gitlab.example.com:harbour/web.git",))]
SHA = "1a2b3c4d" + "e" * 32
EMPTY: dict[str, Any] = {
    "str": "", "int": 0, "float": 0.0, "bool": True, "ts": NOON, "date": date(2026, 3, 2), "list[str]": [],
}  # fmt: skip


def row(table: Table, **values: Any) -> dict[str, Any]:
    """A row of the table: given values, else null where it may be, else something plain."""
    plain = {c.name: None if c.nullable else c.values[0] if c.values else EMPTY[c.base] for c in table.columns}
    return plain | values


class World:
    """Units and events of a few days."""

    def __init__(self) -> None:
        self.units: list[dict[str, Any]] = []
        self.events: list[dict[str, Any]] = []

    def unit(self, unit_id: str, kind: str, **values: Any) -> str:
        source = unit_id.partition(":")[0]
        self.units.append(row(SESSIONS, unit_id=unit_id, unit_kind=kind, source=source, **values))
        return unit_id

    def session(self, name: str = "s-1", days: float = 0, **values: Any) -> str:
        """A session that began so many days after noon of the second of March and ran for two hours."""
        began = NOON + timedelta(days=days)
        plain = {"project": REMOTE, "began": began, "ended": began + timedelta(hours=2)}
        return self.unit(f"claude_code:{name}", "session", **plain | values)

    def request(self, name: str = "github:harbour/api#12", opened: float | None = 0, **values: Any) -> str:
        began = NOON + timedelta(days=opened or 0)
        plain = {"project": REMOTE, "began": began, "ended": began + timedelta(days=1)}
        self.unit(name, "merge_request", **plain | values)
        if opened is not None:
            self.event(name, "merge_request_opened", ts=began)
        return name

    def event(self, unit: str, kind: str, **values: Any) -> str:
        number = len(self.events)
        unit_kind = next(one["unit_kind"] for one in self.units if one["unit_id"] == unit)
        id_ = f"{number:032x}"
        plain = {"ts": NOON + timedelta(minutes=number), "attributes": "{}", "seq": number, "event_id": id_}
        self.events.append(row(EVENTS, unit_id=unit, unit_kind=unit_kind, kind=kind, **plain | values))
        return id_

    def runs(self, session: str, command: str, printed: str) -> str:
        """A command and what it printed; the id of the result."""
        call = f"call-{len(self.events)}"
        self.event(session, "tool_call", command=command, call_id=call)
        return self.event(session, "tool_result", text=printed, call_id=call)

    def rows(self, shuffle: random.Random | None = None) -> list[dict[str, Any]]:
        events, units = list(self.events), list(self.units)
        if shuffle:
            shuffle.shuffle(events)
            shuffle.shuffle(units)
        found = joins(
            pl.DataFrame(events, schema=EVENTS.polars_schema(), orient="row").lazy(),
            pl.DataFrame(units, schema=SESSIONS.polars_schema(), orient="row"),
            lambda remote: projects.resolve(remote, (), None, SETTLED)[0],
        )
        frame(SESSION_MERGE_REQUESTS, found)
        return found

    def bases(self) -> set[tuple[str, str, str]]:
        return {(one["session_id"], one["merge_request_id"], one["basis"]) for one in self.rows()}


# --- pr_link ----------------------------------------------------------------------------------------------------


def test_a_link_joins_the_request_it_names_and_no_other() -> None:
    world = World()
    session, request = world.session(), world.request()
    world.request("github:harbour/api#13")
    shown = world.event(session, "merge_request_link", text="https://github.com/Harbour/API/pull/12")
    world.event(session, "merge_request_link", text="https://github.com/harbour/api/pull/99")
    assert world.rows() == [
        {"session_id": session, "merge_request_id": request, "basis": "pr_link", "event_id": shown,
         "ts": world.events[-2]["ts"]},
    ]  # fmt: skip


@pytest.mark.parametrize("project", ["gitlab.example.com/harbour/web", "web"])
def test_a_gitlab_link_finds_the_request_by_its_project(project: str) -> None:
    """GitLab's units are numbered; only the project, by address or as the settings call it, tells which it is."""
    world = World()
    session = world.session()
    request = world.request("gitlab:77!12", project=project)
    world.request("gitlab:78!12", project="gitlab.example.com/other/web")
    world.event(session, "merge_request_link", text="https://gitlab.example.com/Harbour/web/-/merge_requests/12")
    assert world.bases() == {(session, request, "pr_link")}


def test_a_tool_that_makes_requests_prints_the_link() -> None:
    world = World()
    session, request = world.session(), world.request()
    world.runs(session, "git push && gh pr create --fill", "https://github.com/harbour/api/pull/12\n")
    reader = world.session("s-2")
    world.runs(reader, "gh pr view 12", "https://github.com/harbour/api/pull/12\n")
    assert world.bases() == {(session, request, "pr_link")}, "who only reads a request did not make it"


def test_a_request_that_names_its_session_is_joined() -> None:
    world = World()
    session, request = world.session(), world.request(opened=None)
    world.event(request, "merge_request_link", attributes=json.dumps({"session_id": "s-1"}))
    world.event(request, "merge_request_link", attributes=json.dumps({"session_id": "s-unknown"}))
    assert world.bases() == {(session, request, "pr_link")}


# --- commit -----------------------------------------------------------------------------------------------------

COMMITTED = f"[rates {SHA[:8]}] Round half to even\n 1 file changed, 2 insertions(+)"


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("git add -A && git commit -m 'Round'", COMMITTED),
        ("git -C /srv/api commit -m x", f"hook ran\n{COMMITTED}"),
        ("git commit -m x", f"[detached HEAD {SHA[:7]}] Round"),
        ("git commit -m x", f"[rates (root-commit) {SHA[:7]}] Round"),
        ("git push", f"To github.com:harbour/api.git\n   95a01a3..{SHA[:8]}  rates -> rates"),
        ("git push -f", f"To github.com:harbour/api.git\n + 95a01a3...{SHA[:8]} rates -> rates (forced update)"),
        ("git commit -qm x && git rev-parse HEAD", f"{SHA}\n"),
    ],
)
def test_a_commit_that_a_session_made_joins(command: str, printed: str) -> None:
    world = World()
    session, request = world.session(), world.request()
    world.event(request, "commit", revision=SHA)
    shown = world.runs(session, command, printed)
    (found,) = [one for one in world.rows() if one["basis"] == "commit"]
    assert (found["session_id"], found["merge_request_id"], found["event_id"]) == (session, request, shown)


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("git log --oneline", f"{SHA[:8]} Round half to even"),
        ("cat notes.md", COMMITTED),
        ("git commit -m x", f"[rates {SHA[:6]}] too short"),
        ("git commit -m x", "[rates ffffffff] another commit"),
        ("git pull --rebase && git push", f"From github.com:harbour/api\n   95a01a3..{SHA[:8]}  rates -> origin/rates"),
    ],
)
def test_a_commit_that_a_session_only_saw_does_not(command: str, printed: str) -> None:
    world = World()
    session, request = world.session(), world.request()
    world.event(request, "commit", revision=SHA)
    world.runs(session, command, printed)
    assert not [one for one in world.rows() if one["basis"] == "commit"]


def test_seven_digits_that_fit_two_commits_say_nothing() -> None:
    world = World()
    session, request = world.session(), world.request()
    other = world.request("github:harbour/shop#3", project="github.com/harbour/shop")
    world.event(request, "commit", revision=SHA)
    world.event(other, "commit", revision=SHA[:8] + "f" * 32)
    world.runs(session, "git commit -m x", f"[rates {SHA[:7]}] Round")
    assert not world.rows()
    world.runs(session, "git commit -m x", f"[rates {SHA[:9]}] Round")
    assert world.bases() == {(session, request, "commit")}


def test_a_commit_of_another_week_is_another_commit() -> None:
    world = World()
    session, request = world.session(), world.request()
    world.event(request, "commit", revision=SHA, ts=NOON + timedelta(days=9))
    world.runs(session, "git commit -m x", COMMITTED)
    assert not world.rows()


def test_a_commit_that_was_reviewed_is_one_of_the_request() -> None:
    """A list of comments tells no commits but those that people looked at."""
    world = World()
    session, request = world.session(), world.request(opened=None)
    world.event(request, "review_comment", revision=SHA, ts=NOON + timedelta(days=9))
    world.runs(session, "git commit -m x", COMMITTED)
    world.runs(world.session("s-later", days=12), "git push", f"To x\n   95a01a3..{SHA[:8]}  rates -> rates")
    assert world.bases() == {(session, request, "commit")}


# --- branch -----------------------------------------------------------------------------------------------------


def test_the_same_branch_of_the_same_project_joins() -> None:
    world = World()
    session = world.session(branch="rates")
    request = world.request(branch="rates")
    world.request("github:harbour/shop#3", project="github.com/harbour/shop", branch="rates")
    world.request("github:harbour/api#14", branch="other")
    world.session("s-2", branch="rates", project="unknown")
    (found,) = world.rows()
    assert (found["session_id"], found["merge_request_id"], found["basis"]) == (session, request, "branch")
    assert (found["event_id"], found["ts"]) == (None, NOON)


@pytest.mark.parametrize("branch", ["main", "master", "develop", "HEAD", "", None])
def test_a_trunk_says_nothing(branch: str | None) -> None:
    world = World()
    world.session(branch=branch)
    world.request(branch=branch)
    assert not world.rows()


@pytest.mark.parametrize(
    ("days", "merged", "joined"),
    [(-29, 2, True), (-31, 2, False), (1.9, 2, True), (2.1, 2, False), (30, None, True), (32, None, False)],
)
def test_work_on_a_branch_lies_near_its_request(days: float, merged: float | None, joined: bool) -> None:
    """A name that is used again a month later is another branch."""
    world = World()
    world.session(days=days, branch="fix")
    request = world.request(branch="fix")
    if merged:
        world.event(request, "merge_request_merged", ts=NOON + timedelta(days=merged))
    assert bool(world.rows()) is joined


def test_two_unknown_projects_are_not_the_same_project() -> None:
    world = World()
    world.session(branch="rates", project="unknown")
    world.request(branch="rates", project="unknown")
    assert not world.rows()


def test_a_request_of_unknown_time_joins_no_branch() -> None:
    world = World()
    world.session(branch="rates")
    world.request(opened=None, branch="rates")
    assert not world.rows()


def test_a_push_tells_branch_and_project_that_the_session_does_not_record() -> None:
    world = World()
    session = world.session(project="/home/ann/api")
    request = world.request(branch="rates")
    shown = world.runs(session, "git push -u origin rates", "To github.com:harbour/api.git\n * [new branch]      "
                       "rates -> rates")  # fmt: skip
    assert [(one["session_id"], one["merge_request_id"], one["event_id"]) for one in world.rows()] == [
        (session, request, shown)
    ]


# --- all of it --------------------------------------------------------------------------------------------------


def crowd() -> World:
    world = World()
    for number in range(6):
        world.session(f"s-{number}", days=number, branch="rates" if number % 2 else "fix")
        request = world.request(f"github:harbour/api#{number}", opened=number, branch="fix" if number % 3 else "rates")
        world.event(request, "commit", revision=f"{number}" * 40, ts=NOON + timedelta(days=number))
        world.runs(f"claude_code:s-{number}", "git commit -m x", f"[fix {str(number) * 7}] x")
        world.event(
            f"claude_code:s-{number}", "merge_request_link", text=f"https://github.com/harbour/api/pull/{number}"
        )
    return world


def test_the_order_of_rows_changes_nothing() -> None:
    world = crowd()
    expected = world.rows()
    assert {one["basis"] for one in expected} == {"pr_link", "commit", "branch"}
    assert expected == sorted(expected, key=lambda one: (one["session_id"], one["merge_request_id"], one["basis"]))
    for seed in range(5):
        assert world.rows(random.Random(seed)) == expected


def test_an_abandoned_turn_joins_nothing() -> None:
    world = World()
    session = world.session()
    world.request()
    world.event(session, "merge_request_link", text="https://github.com/harbour/api/pull/12", on_live_path=False)
    assert not world.rows()


def test_the_lake_is_read_and_an_empty_one_has_no_rows(tmp_path: Any) -> None:
    lake = Lake(tmp_path / "lake")
    assert of_lake(lake, SETTLED) == []
    world = crowd()
    write_table(EVENTS, frame(EVENTS, world.events), lake.table(EVENTS, date(2026, 3, 2)))
    write_table(SESSIONS, frame(SESSIONS, world.units), lake.table(SESSIONS))
    assert of_lake(lake, SETTLED) == world.rows()


# --- from captures ----------------------------------------------------------------------------------------------

REAL = Path(__file__).resolve().parents[4] / "shared" / "data"


def derived(source: str, captures: Iterable[Capture]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """(events, sessions) rows of captures, as one night makes them."""
    kept: dict[str, list[UnitRecord]] = {}
    for capture in captures:
        for one in registry.by_name(source).read(capture):
            if isinstance(one, Record):
                stored = UnitRecord(one.id, one.type, one.ts or NOON, one.value, f"{one.member}:1", "2026-03-02")
                kept.setdefault(one.unit, []).append(stored)
    found = [Unit(source, f"{source}:{name}", in_order(records), None, None) for name, records in kept.items()]
    settings = Settings(team=Team(id="harbour"))
    events, units = derive(date(2026, 3, 2), found, registry.by_name, People([]), settings, {})
    return events, [{name: unit.get(name, unit["unit_id"]) for name in SESSIONS.column_names} for unit in units]


def capture(name: str, data: bytes) -> Capture:
    return Capture(name, (Member(name, len(data), lambda: BytesIO(data)),), "0" * 64)


def test_a_transcript_and_a_pull_meet_on_branch_link_and_commit() -> None:
    """From the files to the join: what the formats call a branch, a link and a commit is what the joins look for."""
    page = "https://github.com/harbour/api/pull/12"
    common = {"sessionId": "s-1", "cwd": "/home/ann/api", "gitBranch": "rates", "version": "2.1.39"}
    said = [
        {"type": "user", "uuid": "1", "timestamp": "2026-03-02T12:00:00Z",
         "message": {"role": "user", "content": "Round half to even"}},
        {"type": "assistant", "uuid": "2", "parentUuid": "1", "timestamp": "2026-03-02T12:01:00Z", "message": {
            "id": "m1", "role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input":
                {"command": "git commit -am Round && git push"}}]}},
        {"type": "user", "uuid": "3", "parentUuid": "2", "timestamp": "2026-03-02T12:02:00Z", "message": {
            "role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content":
                f"[rates {SHA[:8]}] Round\nTo github.com:harbour/api.git\n   95a01a3..{SHA[:8]}  rates -> rates"}]}},
        {"type": "pr-link", "prNumber": 12, "prUrl": page, "prRepository": "harbour/api",
         "timestamp": "2026-03-02T12:03:00Z"},
    ]  # fmt: skip
    transcript = "".join(json.dumps(common | line) + "\n" for line in said).encode()
    pull = {
        "number": 12, "url": page, "title": "Round", "createdAt": "2026-03-02T12:05:00Z", "headRefName": "rates",
        "commits": [{"oid": SHA, "messageHeadline": "Round", "committedDate": "2026-03-02T12:01:30Z"}],
    }  # fmt: skip
    sessions = derived("claude_code", [capture("s-1.jsonl", transcript)])
    requests = derived("github", [capture("view.json", json.dumps(pull).encode())])
    assert [unit["branch"] for unit in (*sessions[1], *requests[1])] == ["rates", "rates"]
    world = World()
    world.events, world.units = [*sessions[0], *requests[0]], [*sessions[1], *requests[1]]
    assert world.bases() == {
        ("claude_code:s-1", "github:harbour/api#12", basis) for basis in ("pr_link", "commit", "branch")
    }


def test_the_real_sessions_and_requests_of_one_team() -> None:
    if not REAL.exists():
        pytest.skip("shared/data is not here")
    world = World()
    for source, folder, pattern in (
        ("claude_code", "claude-code/entireio-cli", "*.jsonl"),
        ("github", "github/entireio-cli", "*.json"),
    ):
        files = sorted((REAL / folder).rglob(pattern))
        events, units = derived(source, [capture(str(path.relative_to(REAL)), path.read_bytes()) for path in files])
        world.events += events
        world.units += units
    found = world.rows()
    assert [one["basis"] for one in found] == ["pr_link"], "one session of the sample recorded its request"
    assert found[0]["merge_request_id"].endswith("#175")
