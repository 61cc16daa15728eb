"""GitHub as `forges` pulls it, through PyGithub.

Three streams, since an edited comment need not move its request: the issues (every pull request is one), the comments
of the conversation, and the comments on lines. What moves none of them (a thread that is resolved, an edited review)
is brought by the request's next change, its merge at the latest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from github import Auth, Github, GithubException
from requests import RequestException

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

NAME = "github"
VARIABLE = "GITHUB_TOKEN"
"""Of the environment, which holds the token."""
PROJECT = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
_PUBLIC = "https://api.github.com"
_MOST_COMMITS, _MOST_FILES = 250, 3000
"""As many as GitHub lists of one pull request, whatever it counts."""
_NEVER, _EVER = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
_COMMENT_OF = re.compile(r"/(?:issues|pulls)/(\d+)$")

_COMMENTS = "comments(first: 100, after: $after) { pageInfo { hasNextPage endCursor } nodes { databaseId } }"
_THREADS = f"""
query Threads($owner: String!, $name: String!, $number: Int!, $threads: String, $after: String) {{
  repository(owner: $owner, name: $name) {{ pullRequest(number: $number) {{
    reviewThreads(first: 100, after: $threads) {{
      pageInfo {{ hasNextPage endCursor }}
      nodes {{ id isResolved isOutdated path line resolvedBy {{ login }} {_COMMENTS} }}
    }}
  }} }}
}}
"""
_REST_OF_THREAD = f"""
query Rest($id: ID!, $after: String) {{ node(id: $id) {{ ... on PullRequestReviewThread {{ {_COMMENTS} }} }} }}
"""
_NOT_OURS = frozenset({"FORBIDDEN", "NOT_FOUND", "INSUFFICIENT_SCOPES"})


class PyGithubTransport:
    """PyGithub's requester, without waits and retries of its own.

    Args:
        url: of a self-hosted GitHub (`https://github.example.com`), else None.
    """

    def __init__(self, token: str, url: str | None = None) -> None:
        base, self.host = api_base(url)
        self._requester = Github(
            auth=Auth.Token(token), base_url=base, timeout=TIMEOUT, retry=None, user_agent="lorelake",
            seconds_between_requests=None, seconds_between_writes=None,
        ).requester  # fmt: skip

    def get(self, path: str, parameters: Mapping[str, Any]) -> Answer:
        """GET below the API's root. Raises AttemptError."""
        return self._once(lambda: self._requester.requestJsonAndCheck("GET", path, parameters=dict(parameters)))

    def graphql(self, query: str, variables: Mapping[str, Any]) -> Answer:
        """One GraphQL query. Raises AttemptError."""
        return self._once(lambda: self._requester.graphql_query(query, dict(variables)))

    def close(self) -> None:
        """End the connection."""
        self._requester.close()

    def _once(self, request: Callable[[], tuple[Mapping[str, Any], Any]]) -> Answer:
        try:
            headers, data = request()
        except GithubException as error:
            raise _failure(error) from None
        except RequestException as error:
            raise AttemptError(None, f"{type(error).__name__}: {error}") from None
        except RuntimeError as error:  # a redirect to another host or protocol, which PyGithub does not follow
            raise AttemptError(421, str(error)) from None
        except (ValueError, RecursionError, AttributeError, TypeError):  # PyGithub met no JSON, or another shape
            raise MalformedError(None, "the answer is not the JSON it should be") from None
        return Answer({name.lower(): str(value) for name, value in headers.items()}, data)


def _failure(error: GithubException) -> AttemptError:
    headers = {name.lower(): str(value) for name, value in (error.headers or {}).items()}
    data = error.data if isinstance(error.data, dict) else {}
    errors = [one for one in data.get("errors") or () if isinstance(one, dict)]
    words = str(data.get("message") or (errors and errors[0].get("message")) or error.message or "no reason given")
    status = error.status
    if errors and "data" in data:  # GraphQL says 200 and means it differently; PyGithub calls it 400
        kinds = {str(one.get("type")) for one in errors}
        status = 429 if "RATE_LIMITED" in kinds else 403 if kinds & _NOT_OURS else 502
        return AttemptError(status, words, headers if status == 429 else {})
    return AttemptError(status, f"{status} {words}", headers)


def api_base(url: str | None) -> tuple[str, str]:
    """Where the API lies, and the host people know it by. Raises UsageError."""
    if url is None:
        return _PUBLIC, "github.com"
    parts = checked_url(url)
    host = parts.hostname or ""
    if host.removeprefix("api.") == "github.com":
        return _PUBLIC, "github.com"
    if host.endswith(".ghe.com"):
        known = parts.netloc.removeprefix("api.")
        return f"{parts.scheme}://api.{known}", known
    path = parts.path if parts.path.strip("/") else "/api/v3"
    return f"{parts.scheme}://{parts.netloc}{path}", parts.netloc


class GitHubForge:
    """One repository at a time, after `open`."""

    name = NAME
    passing: tuple[str, ...] = (
        "mergeable", "mergeable_state", "rebaseable", "head.repo", "base.repo",
    )  # fmt: skip

    def __init__(self, transport: PyGithubTransport, client: Client) -> None:
        self._transport, self.client = transport, client
        self._repository = ""
        self._created: datetime | None = None

    def open(self, project: str) -> str:
        """Look at the repository; its name of today, which all requests use (a redirect would lose their queries)."""
        data = self.client.get(f"/repos/{project}", dict).data
        self._repository = str(data.get("full_name") or project)
        self._created = parse_time(data.get("created_at"))
        return self._repository

    def streams(self) -> list[Stream]:
        """Issues, comments of conversations, comments on lines."""
        sort = {"sort": "updated", "direction": "asc"}
        root = f"/repos/{self._repository}"
        return [
            Stream("requests", f"{root}/issues", {"state": "all", **sort}, "since", _request),
            Stream("issue_comments", f"{root}/issues/comments", sort, "since", _issue_comment),
            Stream("review_comments", f"{root}/pulls/comments", sort, "since", _review_comment),
        ]

    def beginnings(self) -> dict[str, datetime]:
        """The newest comment of each stream of comments; the day the repository began where there is none yet."""
        found = {}
        for stream in self.streams()[1:]:
            newest = self.client.get(stream.path, list, {**stream.parameters, "direction": "desc", "per_page": 1}).data
            moment = parse_time(newest[0].get("updated_at")) if newest else self._created
            if moment is not None:
                found[stream.name] = moment
        return found

    def fetch(self, number: int, stored: dict[str, Any] | None) -> dict[str, Any]:
        """The pull request, with its comments, reviews, commits, files, timeline and threads. Raises RequestError."""
        root = f"/repos/{self._repository}"
        pull = self.client.get(f"{root}/pulls/{number}", dict).data
        if pull.get("number") != number or parse_time(pull.get("updated_at")) is None:
            raise RequestError(
                "malformed", self.client.scrub(f"GET {root}/pulls/{number}: the answer is another object")
            )

        def lists(path: str, key: Callable[[dict[str, Any]], object], least: object = 0) -> list[dict[str, Any]]:
            return self.client.all(f"{root}/{path}", key, least if isinstance(least, int) else 0)

        remarks = lists(f"pulls/{number}/comments", _id, pull.get("review_comments"))
        commits = lists(f"pulls/{number}/commits", _sha, _at_most(pull.get("commits"), _MOST_COMMITS))
        document = {
            "type": "pull",
            "pull": pull,
            "issue_comments": lists(f"issues/{number}/comments", _id, pull.get("comments")),
            "review_comments": remarks,
            "reviews": lists(f"pulls/{number}/reviews", _id),
            "commits": self._with_files(commits, remarks, stored or {}),
            "files": lists(f"pulls/{number}/files", _filename, _at_most(pull.get("changed_files"), _MOST_FILES)),
            "events": lists(f"issues/{number}/timeline", _whole),
        }
        threads = self._threads(number) if remarks else []
        return document if threads is None else {**document, "review_threads": threads}

    def covers(self, document: dict[str, Any], entry: Entry) -> bool:
        """By the pull's own update time, or that of the comment."""
        if entry.native is None:
            pull = document.get("pull") or {}
            return (parse_time(pull.get("updated_at")) or _NEVER) >= entry.time
        comments = [*document.get("issue_comments", ()), *document.get("review_comments", ())]
        return any(
            comment.get("id") == entry.native and (parse_time(comment.get("updated_at")) or _NEVER) >= entry.time
            for comment in comments
        )

    def _with_files(
        self, commits: list[dict[str, Any]], remarks: Iterable[dict[str, Any]], stored: Mapping[str, Any]
    ) -> list[dict[str, Any]]:
        """Commits after the first comment on a line, with the files they touch: only those can answer a comment."""
        known = {commit.get("sha"): commit for commit in stored.get("commits") or () if "files" in commit}
        first = min((parse_time(remark.get("created_at")) or _EVER for remark in remarks), default=_EVER)
        return [self._commit(commit, known) if _committed(commit) >= first else commit for commit in commits]

    def _commit(self, commit: dict[str, Any], known: Mapping[Any, dict[str, Any]]) -> dict[str, Any]:
        sha = commit.get("sha")
        if sha in known:
            return known[sha]
        path, following = f"/repos/{self._repository}/commits/{sha}", {"per_page": 100, "page": 1}
        whole: dict[str, Any] = {}
        while True:  # a commit of many files comes in pages of an object
            answer = self.client.get(path, dict, following)
            if answer.data.get("sha") != sha or not isinstance(answer.data.get("files"), list):
                raise RequestError("malformed", self.client.scrub(f"GET {path}: the answer is another object"))
            whole = {**answer.data, "files": [*whole.get("files", ()), *answer.data["files"]]}
            if 'rel="next"' not in answer.headers.get("link", ""):
                return whole
            following["page"] += 1

    def _threads(self, number: int) -> list[dict[str, Any]] | None:
        """Review threads with whether they are resolved, which REST does not tell; None where they may not be read."""
        owner, _, name = self._repository.partition("/")
        variables: dict[str, Any] = {"owner": owner, "name": name, "number": number, "threads": None, "after": None}
        found: list[dict[str, Any]] = []
        try:
            while True:
                page = self._graph(_THREADS, variables, "repository", "pullRequest", "reviewThreads")
                for thread in page["nodes"]:
                    found.append({**thread, "comments": {"nodes": self._comments_of(thread)}})
                if not page["pageInfo"]["hasNextPage"]:
                    return found
                variables["threads"] = page["pageInfo"]["endCursor"]
        except RequestError as fault:
            if fault.kind in ("gone", "refused") and fault.status != 401:
                return None
            raise
        except (KeyError, TypeError):
            raise RequestError("malformed", f"review threads of {number}: the answer is of another shape") from None

    def _comments_of(self, thread: dict[str, Any]) -> list[dict[str, Any]]:
        comments = thread["comments"]
        found = list(comments["nodes"])
        while comments["pageInfo"]["hasNextPage"]:
            variables = {"id": thread["id"], "after": comments["pageInfo"]["endCursor"]}
            comments = self._graph(_REST_OF_THREAD, variables, "node", "comments")
            found += comments["nodes"]
        return found

    def _graph(self, query: str, variables: Mapping[str, Any], *path: str) -> dict[str, Any]:
        answer = self.client.ask("POST graphql", dict, lambda: self._transport.graphql(query, variables))
        node: Any = answer.data["data"]
        for name in path:
            node = node[name]
        if not isinstance(node, dict):
            raise KeyError(path[-1])
        return node


def _request(item: dict[str, Any]) -> Entry | None:
    return Entry(int(item["number"]), None, update_time(item)) if item.get("pull_request") else None


def _issue_comment(item: dict[str, Any]) -> Entry | None:
    return _comment(item, item["issue_url"]) if "/pull/" in item["html_url"] else None


def _review_comment(item: dict[str, Any]) -> Entry | None:
    return _comment(item, item["pull_request_url"])


def _comment(item: dict[str, Any], address: str) -> Entry:
    found = _COMMENT_OF.search(address)
    if found is None:
        raise ValueError("names no request")
    return Entry(int(found[1]), int(item["id"]), update_time(item))


def _id(item: dict[str, Any]) -> object:
    return item.get("id")


def _sha(item: dict[str, Any]) -> object:
    return item.get("sha")


def _filename(item: dict[str, Any]) -> object:
    return item.get("filename")


def _whole(item: dict[str, Any]) -> object:
    """Entries of a timeline have ids of many kinds, or none."""
    return None


def _at_most(stated: object, most: int) -> int:
    return min(stated, most) if isinstance(stated, int) else 0


def _committed(commit: dict[str, Any]) -> datetime:
    inner = commit.get("commit")
    committer = inner.get("committer") if isinstance(inner, dict) else None
    return (parse_time(committer.get("date")) if isinstance(committer, dict) else None) or _EVER
