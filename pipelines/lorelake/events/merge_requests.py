"""Which agent sessions belong to which merge requests: by a link, by a commit, by a branch.

Pure over the events and units of all days, whatever their order. Only requests that the lake holds are joined. The
three grounds, strongest first; a session and a request may be joined on several:

pr_link   The session recorded the request's address (`pr-link` of Claude Code), or a tool that makes requests (`gh pr
          create`, `glab mr create`) printed it; or the request's own source names the session.
commit    A tool result of the session in which Git made or pushed a commit (`[branch 1a2b3c4] …`, `1a2b3c4..5d6e7f8`,
          a whole hash alone on its line) shows a commit of the request, by at least 7 digits that fit no other commit
          of the lake, and the commit was made while the session ran, give or take a day. Of a request whose commits
          were not captured those count that a review looked at, at most 30 days after the session.
branch    Same project and same branch, no trunk; the session began before the request ended and at most 30 days
          before it was opened. Projects and branches are those the units state and those a push of the session prints.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import chain
from typing import Any, NamedTuple

import msgspec
import polars as pl

from lorelake.content import projects
from lorelake.lake import Lake, read_table
from lorelake.settings import Project
from lorelake.tables import EVENTS, SESSIONS

TRUNKS = frozenset({"", "main", "master", "trunk", "develop", "development", "HEAD"})
"""Branches that everybody works on; sharing one says nothing."""
BEFORE_OPENED = timedelta(days=30)
"""How long before a request is opened work on its branch may begin."""
AFTER_LAST = timedelta(days=30)
"""How long after its last event a request that is still open may gain sessions."""
_AROUND = timedelta(days=1)
_SHORTEST = 7
_OF_COMMITS = {"commit": _AROUND, "review": timedelta(days=30), "review_comment": timedelta(days=30)}
"""Events of a request that tell of a commit of it, and how long after a session they may happen."""
_OF_REQUESTS = ("merge_request_opened", "merge_request_merged", "merge_request_closed", "merge_request_link")

_GIT = re.compile(r"\bgit\b[^|;&\n]*?\b(?:commit|push|cherry-pick|revert|rebase|merge|am)\b")
_MAKES_REQUEST = re.compile(r"\bgh\s+pr\s+create\b|\bglab\s+mr\s+(?:create|new)\b")
_ADDRESS = re.compile(
    r"https?://(?P<host>[\w.:-]+)/(?P<path>[\w./~-]+?)(?:/-/merge_requests|/merge_requests|/pull)/(?P<number>\d+)\b"
)
_COMMITTED = re.compile(r"^\[(?P<branch>[^\]\s]+|detached HEAD)(?: \(root-commit\))? (?P<sha>[0-9a-f]{7,40})\] ", re.M)
_PUSHED = re.compile(
    r"^[ +*!]*(?:[0-9a-f]{7,40}\.\.\.?(?P<sha>[0-9a-f]{7,40})|\[new branch\])\s+(?P<own>\S+) -> (?P<branch>[^\s()]+)",
    re.M,
)
_WHOLE = re.compile(r"^(?P<sha>[0-9a-f]{40})$", re.M)
_PUSHED_TO = re.compile(r"^To (?P<remote>\S+)$", re.M)


_TELLING = f"{_GIT.pattern}|{_MAKES_REQUEST.pattern}"


class _Shown(NamedTuple):
    """When a session showed something, and the event that shows it; null where the unit as a whole states it."""

    ts: datetime
    event_id: str | None


class _Request(msgspec.Struct):
    """A merge request: when it was opened and ended, its branch and commits."""

    unit: Mapping[str, Any]
    opened: datetime | None = None
    ended: datetime | None = None
    sessions: dict[str, _Shown] = {}


class _Session(msgspec.Struct):
    """What one session shows that may belong to a request."""

    unit: Mapping[str, Any]
    addresses: dict[str, _Shown] = {}
    commits: dict[str, _Shown] = {}
    branches: dict[str, _Shown] = {}
    projects: set[str] = set()


def joins(events: pl.LazyFrame, units: pl.DataFrame, project_of: Callable[[str], str]) -> list[dict[str, Any]]:
    """`session_merge_requests` rows, sorted by key.

    Args:
        events: rows of `events`, all days.
        units: rows of `sessions`.
        project_of: the project id of a remote's address.
    """
    requests, commits = _requests(events, units)
    sessions = _sessions(events, units, project_of)
    found: dict[tuple[str, str, str], _Shown] = {}
    grounds = {
        "pr_link": chain(_named_by_request(sessions, requests), _linked(sessions, requests, project_of)),
        "commit": _committed(sessions, commits),
        "branch": _branched(sessions, requests),
    }
    for basis, pairs in grounds.items():
        for session_id, request_id, shown in pairs:
            key = (session_id, request_id, basis)
            found[key] = min(found.get(key, shown), shown, key=lambda one: (one.ts, one.event_id or ""))
    return [
        {"session_id": session, "merge_request_id": request, "basis": basis, "event_id": shown.event_id, "ts": shown.ts}
        for (session, request, basis), shown in sorted(found.items())
    ]


_Pairs = Iterator[tuple[str, str, _Shown]]


def _named_by_request(sessions: Mapping[str, _Session], requests: Mapping[str, _Request]) -> _Pairs:
    by_native: dict[str, list[str]] = defaultdict(list)
    for session_id in sessions:
        by_native[session_id.partition(":")[2]].append(session_id)
    for request_id, request in requests.items():
        for native, shown in request.sessions.items():
            yield from ((session_id, request_id, shown) for session_id in by_native.get(native, ()))


def _linked(
    sessions: Mapping[str, _Session], requests: Mapping[str, _Request], project_of: Callable[[str], str]
) -> _Pairs:
    numbered = _by_address(requests)
    for session_id, session in sessions.items():
        for address, shown in session.addresses.items():
            yield from ((session_id, request_id, shown) for request_id in _addressed(address, numbered, project_of))


def _committed(sessions: Mapping[str, _Session], commits: _Commits) -> _Pairs:
    for session_id, session in sessions.items():
        for sha, shown in session.commits.items():
            yield from ((session_id, request_id, shown) for request_id in commits.requests_with(sha, session.unit))


def _branched(sessions: Mapping[str, _Session], requests: Mapping[str, _Request]) -> _Pairs:
    on: dict[tuple[str, str], list[str]] = defaultdict(list)
    for request_id, request in requests.items():
        if request.unit["project"] != projects.UNKNOWN and (request.unit["branch"] or "") not in TRUNKS:
            on[request.unit["project"], request.unit["branch"]].append(request_id)
    for session_id, session in sessions.items():
        for branch, shown in session.branches.items():
            for request_id in (one for project in session.projects for one in on.get((project, branch), ())):
                if _in_time(session.unit["began"], requests[request_id]):
                    yield session_id, request_id, shown


def of_lake(lake: Lake, settled: Sequence[Project]) -> list[dict[str, Any]]:
    """`session_merge_requests` rows from the events and sessions that lie in the lake.

    Args:
        settled: the projects of the settings.
    """
    days = lake.days(EVENTS)
    events = pl.scan_parquet(days) if days else pl.LazyFrame(schema=EVENTS.polars_schema())
    units = read_table(SESSIONS, lake.table(SESSIONS))
    return joins(events, units, lambda remote: projects.resolve(remote, (), None, settled)[0])


class _Commits:
    """The commits of all requests, found by the beginning of their hash."""

    def __init__(self, commits: Iterable[tuple[str, str, datetime, timedelta]]) -> None:
        self._made: dict[str, list[tuple[str, datetime, timedelta]]] = defaultdict(list)
        for sha, request, ts, after in commits:
            self._made[sha].append((request, ts, after))
        self._sorted = sorted(self._made)

    def requests_with(self, sha: str, session: Mapping[str, Any]) -> Iterator[str]:
        """Requests that hold the one commit whose hash begins so, if it was made while the session ran."""
        first = bisect_left(self._sorted, sha)
        fitting = [known for known in self._sorted[first : first + 2] if known.startswith(sha)]
        if len(fitting) == 1:
            for request, ts, after in self._made[fitting[0]]:
                if session["began"] - _AROUND <= ts <= session["ended"] + after:
                    yield request


def _requests(events: pl.LazyFrame, units: pl.DataFrame) -> tuple[dict[str, _Request], _Commits]:
    of_kind = units.filter(pl.col("unit_kind") == "merge_request").sort("unit_id")
    requests = {unit["unit_id"]: _Request(unit) for unit in of_kind.iter_rows(named=True)}
    rows = events.filter(
        pl.col("unit_kind") == "merge_request", pl.col("kind").is_in([*_OF_REQUESTS, *_OF_COMMITS])
    ).select("unit_id", "event_id", "seq", "ts", "kind", "revision", "attributes")
    commits = []
    for row in rows.collect().sort("unit_id", "seq").iter_rows(named=True):
        request = requests.get(row["unit_id"])
        if request is None:
            continue
        if row["kind"] in _OF_COMMITS:
            if row["revision"] and len(row["revision"]) >= _SHORTEST:
                commits.append((row["revision"].lower(), row["unit_id"], row["ts"], _OF_COMMITS[row["kind"]]))
        elif row["kind"] == "merge_request_opened":
            request.opened = row["ts"]
        elif row["kind"] == "merge_request_link":
            session = msgspec.json.decode(row["attributes"]).get("session_id")
            if isinstance(session, str):
                request.sessions.setdefault(session, _Shown(row["ts"], row["event_id"]))
        else:
            request.ended = row["ts"]  # the last one: a request that was opened again ends later
    return requests, _Commits(commits)


def _sessions(events: pl.LazyFrame, units: pl.DataFrame, project_of: Callable[[str], str]) -> dict[str, _Session]:
    of_kind = units.filter(pl.col("unit_kind") == "session").sort("unit_id")
    sessions = {unit["unit_id"]: _session(unit) for unit in of_kind.iter_rows(named=True)}
    for row in _telling(events).iter_rows(named=True):
        session = sessions.get(row["unit_id"])
        if session is None:
            continue
        shown = _Shown(row["ts"], row["event_id"])
        text = row["text"]
        if row["kind"] == "merge_request_link" or _MAKES_REQUEST.search(row["ran"] or ""):
            for address in _ADDRESS.finditer(text):
                session.addresses.setdefault(address[0], shown)
        if row["kind"] == "tool_result":
            for pattern in (_COMMITTED, _PUSHED, _WHOLE):
                for line in pattern.finditer(text):
                    _note(session, line.groupdict(), shown)
            for line in _PUSHED_TO.finditer(text):
                session.projects.add(project_of(line["remote"]))
    return sessions


def _session(unit: Mapping[str, Any]) -> _Session:
    session = _Session(unit, projects={unit["project"]})
    if unit["branch"]:
        session.branches[unit["branch"]] = _Shown(unit["began"], None)
    return session


def _note(session: _Session, line: Mapping[str, str | None], shown: _Shown) -> None:
    """A fetch prints the same lines as a push, with others' commits: its right side is `origin/<left side>`."""
    if line.get("own") and str(line["branch"]).endswith(f"/{line['own']}") and line["branch"] != line["own"]:
        return
    if line.get("sha"):
        session.commits.setdefault(str(line["sha"]), shown)
    if line.get("branch"):
        session.branches.setdefault(str(line["branch"]), shown)


def _telling(events: pl.LazyFrame) -> pl.DataFrame:
    """Links, and results of the commands that make commits or requests; each with `ran`, the command's text."""
    live = events.filter(pl.col("unit_kind") == "session", pl.col("on_live_path"))
    columns = ["unit_id", "event_id", "seq", "ts", "kind", "text"]
    links = live.filter(pl.col("kind") == "merge_request_link").select(*columns, pl.lit(None, pl.String).alias("ran"))
    calls = (
        live.filter(pl.col("kind") == "tool_call", pl.col("command").str.contains(_TELLING))
        .select("unit_id", "call_id", pl.col("command").alias("ran"))
        .unique(["unit_id", "call_id"], keep="any")
    )
    results = live.filter(pl.col("kind") == "tool_result").join(calls, on=["unit_id", "call_id"])
    told = pl.concat([links, results.select(*columns, "ran")]).collect()
    return told.sort("unit_id", "seq", "event_id")


def _by_address(requests: Mapping[str, _Request]) -> dict[tuple[str, str], list[str]]:
    """Requests by (repository, number), as GitHub names its units; GitLab's are numbered, so by their project."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for request_id, request in requests.items():
        repository, mark, number = request_id.partition(":")[2].rpartition("#")
        if mark:
            host = "" if repository.count("/") == 2 else "github.com/"
            found[f"{host}{repository}", number].append(request_id)
        else:
            found[request.unit["project"], request_id.rpartition("!")[2]].append(request_id)
    return found


def _addressed(
    address: str, numbered: Mapping[tuple[str, str], list[str]], project_of: Callable[[str], str]
) -> Iterator[str]:
    parts = _ADDRESS.fullmatch(address)
    if parts:
        repository = f"{parts['host']}/{parts['path']}".lower()
        yield from numbered.get((repository, parts["number"]), ()) or numbered.get(
            (project_of(repository), parts["number"]), ()
        )


def _in_time(began: datetime, request: _Request) -> bool:
    """Whether work that began then may be work on this request. Of one that is not known to be opened none is."""
    if request.opened is None:
        return False
    last = request.ended or request.unit["ended"] + AFTER_LAST
    return bool(request.opened - BEFORE_OPENED <= began <= last)
