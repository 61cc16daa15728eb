"""GitLab as `forges` pulls it, through python-gitlab.

One stream: a note, written or edited, moves its merge request. What does not (a thread that is resolved, in some
versions a push) is brought by the request's next change, its merge at the latest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import requests
from gitlab import Gitlab
from gitlab.exceptions import GitlabError
from gitlab.utils import EncodedId

from lorelake.formats.record import parse_time
from lorelake.landing.forge_client import (
    TIMEOUT,
    Answer,
    AttemptError,
    Client,
    MalformedError,
    RequestError,
    checked_url,
)
from lorelake.landing.forge_streams import Entry, Stream, update_time

NAME = "gitlab"
VARIABLE = "GITLAB_TOKEN"
"""Of the environment, which holds the token."""
PROJECT = re.compile(r"[\w.-]+(?:/[\w.-]+)+", re.ASCII)
_PUBLIC = "https://gitlab.com"
_NEVER, _EVER = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


class _OneHost(requests.Session):
    """A session that talks to one host. requests takes only its own header off a redirect, GitLab's goes along."""

    def __init__(self, base: str) -> None:
        super().__init__()
        self._origin = _origin(base)
        self.last_headers: dict[str, str] = {}

    def send(self, request: requests.PreparedRequest, **kwargs: Any) -> requests.Response:
        """Every request passes here, those of redirects too. Raises AttemptError for another host."""
        if _origin(request.url or "") != self._origin:
            raise AttemptError(421, f"leads to {urlsplit(request.url or '').netloc}, and the token stays here")
        self.last_headers = {}
        response = super().send(request, **kwargs)
        self.last_headers = {name.lower(): value for name, value in response.headers.items()}
        return response


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)


class PythonGitlabTransport:
    """python-gitlab's client, without waits and retries of its own.

    Args:
        url: of a self-hosted GitLab (`https://gitlab.example.com`), else None.
    """

    def __init__(self, token: str, url: str | None = None) -> None:
        parts = checked_url(url or _PUBLIC)
        self.host = parts.netloc
        self._session = _OneHost(parts.geturl())
        self._gitlab = Gitlab(
            parts.geturl(), private_token=token, timeout=TIMEOUT, session=self._session, user_agent="lorelake"
        )

    def get(self, path: str, parameters: Mapping[str, Any]) -> Answer:
        """GET below the API's root. Raises AttemptError."""
        try:
            response = self._gitlab.http_request(
                "get", path, query_data=dict(parameters), obey_rate_limit=False, retry_transient_errors=False,
                max_retries=0,
            )  # fmt: skip
        except GitlabError as error:
            words = error.error_message if isinstance(error.error_message, str) else str(error.error_message)
            raise AttemptError(
                error.response_code, f"{error.response_code} {words}", self._session.last_headers
            ) from None
        except requests.RequestException as error:
            raise AttemptError(None, f"{type(error).__name__}: {error}") from None
        try:
            return Answer(self._session.last_headers, response.json())
        except (ValueError, RecursionError):
            raise MalformedError(None, "the answer is not the JSON it should be", self._session.last_headers) from None

    def close(self) -> None:
        """End the connection."""
        self._session.close()


class GitLabForge:
    """One project at a time, after `open`."""

    name = NAME
    passing: tuple[str, ...] = (
        "merge_status", "detailed_merge_status", "has_conflicts", "blocking_discussions_resolved", "subscribed", "user",
        "rebase_in_progress", "diverged_commits_count", "prepared_at", "head_pipeline", "pipeline",
    )  # fmt: skip

    def __init__(self, client: Client) -> None:
        self.client = client
        self._root = ""

    def open(self, project: str) -> str:
        """Look at the project; its path of today."""
        path = f"/projects/{EncodedId(project)}"
        data = self.client.get(path, dict).data
        self._root = path
        return str(data.get("path_with_namespace") or project)

    def streams(self) -> list[Stream]:
        """The merge requests."""
        parameters = {"scope": "all", "state": "all", "order_by": "updated_at", "sort": "asc"}
        return [Stream("requests", f"{self._root}/merge_requests", parameters, "updated_after", _request)]

    def beginnings(self) -> dict[str, datetime]:
        """None: the one stream is read from its beginning."""
        return {}

    def fetch(self, number: int, stored: dict[str, Any] | None) -> dict[str, Any]:
        """The merge request, with its discussions, commits, diffs, approvals and changes of state."""
        root = f"{self._root}/merge_requests/{number}"
        request = self.client.get(root, dict).data
        if request.get("iid") != number or parse_time(request.get("updated_at")) is None:
            raise RequestError("malformed", self.client.scrub(f"GET {root}: the answer is another object"))
        discussions = self.client.all(f"{root}/discussions", _id)
        commits = self.client.all(f"{root}/commits", _id)
        document = {
            "type": "merge_request",
            "merge_request": request,
            "discussions": discussions,
            "commits": commits,
            "diffs": self._diffs(root),
            "commit_diffs": self._commit_diffs(commits, discussions, stored or {}),
        }
        events = self._if_there(lambda: self.client.all(f"{root}/resource_state_events", _id))
        approvals = self._if_there(lambda: self.client.get(f"{root}/approvals", dict).data)
        for name, part in (("resource_state_events", events), ("approvals", approvals)):
            if part is not None:
                document[name] = part
        return document

    def covers(self, document: dict[str, Any], entry: Entry) -> bool:
        """By the request's own update time."""
        request = document.get("merge_request") or {}
        return (parse_time(request.get("updated_at")) or _NEVER) >= entry.time

    def _diffs(self, root: str) -> list[dict[str, Any]]:
        try:
            return self.client.all(f"{root}/diffs", _paths)
        except RequestError as fault:
            if fault.kind != "gone":
                raise
        changes = self.client.get(f"{root}/changes", dict).data.get("changes")  # before GitLab 15.7
        return [change for change in changes or () if isinstance(change, dict)]

    def _commit_diffs(
        self, commits: Iterable[dict[str, Any]], discussions: Iterable[dict[str, Any]], stored: Mapping[str, Any]
    ) -> list[dict[str, Any]]:
        """The diffs of commits after the first note on a line: only those can answer a note."""
        known = {one.get("id"): one for one in stored.get("commit_diffs") or ()}
        placed = (
            parse_time(note.get("created_at"))
            for discussion in discussions
            for note in discussion.get("notes") or ()
            if isinstance(note, dict) and note.get("position")
        )
        first = min((moment for moment in placed if moment), default=_EVER)
        return [
            known.get(commit.get("id")) or self._commit_diff(str(commit.get("id")))
            for commit in commits
            if (parse_time(commit.get("committed_date") or commit.get("created_at")) or _EVER) >= first
        ]

    def _commit_diff(self, sha: str) -> dict[str, Any]:
        return {"id": sha, "diffs": self.client.all(f"{self._root}/repository/commits/{sha}/diff", _paths)}

    @staticmethod
    def _if_there(ask: Callable[[], Any]) -> Any:
        """What not every host has, or not every token may read."""
        try:
            return ask()
        except RequestError as fault:
            if fault.kind in ("gone", "refused") and fault.status != 401:
                return None
            raise


def _request(item: dict[str, Any]) -> Entry:
    return Entry(int(item["iid"]), None, update_time(item))


def _id(item: dict[str, Any]) -> object:
    return item.get("id")


def _paths(item: dict[str, Any]) -> object:
    return item.get("old_path"), item.get("new_path")
