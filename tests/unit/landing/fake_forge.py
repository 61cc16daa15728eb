"""Two small forges on this machine, which speak as much of the APIs of GitHub and GitLab as a pull asks of them.

They page, sort and filter by update time as the real ones do, keep a clock of their own, and fail on demand.
"""

from __future__ import annotations

import json
import re
import socket
import struct
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

MARKER = "glpat-MARKER-s3cret-0123456789"
BEGAN = datetime(2026, 3, 1, 10, tzinfo=UTC)


def stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


class Trouble:
    """What goes wrong with requests whose path matches, after `skip` of them, `times` times (None: for ever)."""

    def __init__(self, path, status=None, headers=None, body=None, how="answer", times=1, skip=0):
        self.path, self.status, self.headers, self.body = re.compile(path), status, headers or {}, body
        self.how, self.times, self.skip = how, times, skip

    def strikes(self, path: str) -> bool:
        if not self.path.search(path):
            return False
        if self.skip:
            self.skip -= 1
            return False
        if self.times is None:
            return True
        self.times -= 1
        return self.times >= 0


class FakeForge(ThreadingHTTPServer):
    """The server; `with` starts and ends it."""

    daemon_threads = True
    root = ""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.now = BEGAN
        self.asked: list[tuple[str, dict]] = []
        self.headers_seen: list[dict] = []
        self.troubles: list[Trouble] = []
        self.before: Callable[[str, dict], None] = lambda path, query: None
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.link_host = self.url
        self.no_links = False
        self.exclusive = False

    def __enter__(self):
        Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

    def handle_error(self, request, client_address):
        """A client that went away is no news; anything else is a fault of this file."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)

    def tick(self, seconds: float = 60) -> datetime:
        self.now += timedelta(seconds=seconds)
        return self.now

    def trouble(self, path, status=None, headers=None, body=None, **more) -> None:
        self.troubles.append(Trouble(path, status, headers, body, **more))

    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]

    def answer(self, path: str, query: dict, data: dict | None):
        """(status, headers, value) of a request."""
        self.before(path, query)
        found = self.route(path.removeprefix(self.root), query, data)
        if found is None:
            return 404, {}, {"message": "Not Found"}
        return self.page(path, query, found) if isinstance(found, list) else (200, {}, found)

    def page(self, path, query, items):
        size, number = int(query.get("per_page", 20)), int(query.get("page", 1))
        part = items[(number - 1) * size : number * size]
        headers = self.totals(items)
        if number * size < len(items) and not self.no_links:
            following = urlencode({**query, "page": number + 1})
            headers["Link"] = f'<{self.link_host}{path}?{following}>; rel="next", <{self.link_host}{path}>; rel="first"'
        return 200, headers, part

    def totals(self, items) -> dict:
        return {}

    def route(self, path: str, query: dict, data: dict | None):
        raise NotImplementedError


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self):
        self._serve(None)

    def do_POST(self):
        self._serve(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def log_message(self, *_):
        """Quiet."""

    def date_time_string(self, timestamp=None):
        return format_datetime(self.server.now, usegmt=True)

    def _serve(self, data):
        forge, parts = self.server, urlsplit(self.path)
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        path = unquote(parts.path)
        forge.asked.append((path, query))
        forge.headers_seen.append(dict(self.headers))
        trouble = next((one for one in forge.troubles if one.strikes(path)), None)
        if trouble is None:
            status, headers, value = forge.answer(path, query, data)
            body = json.dumps(value).encode()
        elif trouble.how == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            self.connection.close()
            return
        else:
            status, headers, body = trouble.status or 200, trouble.headers, trouble.body or b""
            body = body if isinstance(body, bytes) else json.dumps(body).encode()
        cut = trouble is not None and trouble.how == "cut"
        self.send_response(status)
        for name, text in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(body) + (1000 if cut else 0)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()
        if cut:
            self.close_connection = True


def _changed_since(items, since, exclusive=False):
    bound = since or ""
    found = [one for one in items if one["updated_at"] > bound or (one["updated_at"] == bound and not exclusive)]
    return sorted(found, key=lambda one: one["updated_at"])


class FakeGitHub(FakeForge):
    """One repository, `harbour/api`, as GitHub Enterprise serves it."""

    root = "/api/v3"
    repository = "harbour/api"

    def __init__(self) -> None:
        super().__init__()
        self.pulls: dict[int, dict] = {}
        self.issues: list[dict] = []
        self.files: dict[str, list] = {}
        self.full_name = self.repository
        self.graph_errors: list | None = None
        self._ids = 1000

    def id(self) -> int:
        self._ids += 1
        return self._ids

    def address(self, number) -> str:
        return f"https://git.example.com/{self.repository}/pull/{number}"

    def user(self, login):
        return None if login is None else {"login": login, "id": len(login), "type": "User"}

    def add(self, number: int, author: str | None = "mara", title: str = "Berth prices in cents") -> dict:
        pull = {
            "url": f"{self.url}{self.root}/repos/{self.repository}/pulls/{number}",
            "html_url": self.address(number), "number": number, "id": self.id(), "state": "open", "title": title,
            "body": "Prices were floats.", "user": self.user(author), "created_at": stamp(self.now),
            "updated_at": stamp(self.now), "closed_at": None, "merged_at": None, "merged": False, "draft": False,
            "author_association": "MEMBER", "mergeable": None, "comments": 0, "review_comments": 0,
            "commits": 0, "changed_files": 0, "merged_by": None,
            "head": {"ref": f"cents-{number}", "sha": "a" * 40, "repo": {"stargazers_count": 3}},
            "base": {"ref": "main", "sha": "b" * 40, "repo": {"stargazers_count": 3}},
        }  # fmt: skip
        parts = ("issue_comments", "review_comments", "reviews", "commits", "files", "events", "threads")
        self.pulls[number] = {"pull": pull, **{part: [] for part in parts}}
        return pull

    def touch(self, number: int) -> None:
        self.pulls[number]["pull"]["updated_at"] = stamp(self.now)

    def comment(self, number: int, body: str, login: str | None = "jonas", **more) -> dict:
        """A comment of the conversation, which moves the request."""
        identity = self.id()
        made = {
            "id": identity, "user": self.user(login), "body": body, "created_at": stamp(self.now),
            "updated_at": stamp(self.now), "author_association": "MEMBER",
            "url": f"{self.url}{self.root}/repos/{self.repository}/issues/comments/{identity}",
            "issue_url": f"{self.url}{self.root}/repos/{self.repository}/issues/{number}",
            "html_url": f"{self.address(number)}#issuecomment-{identity}", **more,
        }  # fmt: skip
        self.pulls[number]["issue_comments"].append(made)
        self.pulls[number]["pull"]["comments"] += 1
        self.touch(number)
        return made

    def remark(self, number: int, body: str, line: int = 12, login: str | None = "jonas", **more) -> dict:
        """A comment on a line."""
        identity = self.id()
        made = {
            "id": identity, "user": self.user(login), "body": body, "path": "src/price.py", "line": line,
            "original_line": line, "side": "RIGHT", "diff_hunk": "@@ -1 +1 @@", "commit_id": "a" * 40,
            "original_commit_id": "a" * 40, "created_at": stamp(self.now), "updated_at": stamp(self.now),
            "author_association": "MEMBER", "pull_request_review_id": None,
            "url": f"{self.url}{self.root}/repos/{self.repository}/pulls/comments/{identity}",
            "pull_request_url": f"{self.url}{self.root}/repos/{self.repository}/pulls/{number}",
            "html_url": f"{self.address(number)}#discussion_r{identity}", **more,
        }  # fmt: skip
        self.pulls[number]["review_comments"].append(made)
        self.pulls[number]["pull"]["review_comments"] += 1
        self.touch(number)
        return made

    def commit(self, number: int, sha: str, message: str = "Count in cents") -> None:
        person = {"name": "Mara", "email": "mara@example.com", "date": stamp(self.now)}
        listed = {
            "sha": sha, "commit": {"message": message, "author": person, "committer": person}, "parents": [],
            "author": self.user("mara"), "url": f"{self.url}{self.root}/repos/{self.repository}/commits/{sha}",
        }  # fmt: skip
        self.pulls[number]["commits"].append(listed)
        self.pulls[number]["pull"]["commits"] += 1
        self.files[sha] = [{"filename": "src/price.py", "patch": "@@ -12,1 +12,2 @@\n-a\n+b\n+c", "status": "modified"}]
        self.touch(number)

    def edit(self, comment: dict, body: str) -> None:
        """GitHub moves the comment's own time, and not the request's."""
        comment["body"], comment["updated_at"] = body, stamp(self.now)

    def route(self, path, query, data):
        if path == "/api/graphql":
            return self._review_threads(data["variables"])
        root = f"/repos/{self.full_name}"
        if path == root or path == f"/repos/{self.repository}":
            return {"full_name": self.full_name, "created_at": stamp(BEGAN - timedelta(days=90)), "id": 7}
        if not path.startswith(root):
            return None
        parts = path.removeprefix(root).strip("/").split("/")
        if parts[0] == "commits":
            return self._commit_page(parts[1], query)
        if parts[1:] in ([], ["comments"]):
            return self._stream(parts, query)
        one = self.pulls.get(int(parts[1]))
        if one is None:
            return None
        if len(parts) == 2:
            return one["pull"]
        names = {"issues/comments": "issue_comments", "pulls/comments": "review_comments", "issues/timeline": "events"}
        return one[names.get(f"{parts[0]}/{parts[2]}", parts[2])]

    def _stream(self, parts, query):
        if parts == ["issues"]:
            pulls = [one["pull"] for one in self.pulls.values()]
            issue = [{"number": p["number"], "updated_at": p["updated_at"], "pull_request": {"url": ""}} for p in pulls]
            items = [*issue, *self.issues]
        else:
            kind = "issue_comments" if parts[0] == "issues" else "review_comments"
            items = [comment for one in self.pulls.values() for comment in one[kind]]
        found = _changed_since(items, query.get("since"), self.exclusive)
        return found[::-1] if query.get("direction") == "desc" else found

    def _commit_page(self, sha, query):
        listed = next(c for one in self.pulls.values() for c in one["commits"] if c["sha"] == sha)
        return {**listed, "stats": {"total": 3}, "files": self.files[sha]}

    def _review_threads(self, variables):
        if self.graph_errors:
            return {"data": None, "errors": self.graph_errors}
        size = 2
        if "id" in variables:
            thread = next(t for one in self.pulls.values() for t in one["threads"] if t["id"] == variables["id"])
            return {"data": {"node": {"comments": _connection(thread["comments"], variables["after"], size)}}}
        threads = _connection(self.pulls[variables["number"]]["threads"], variables["threads"], size)
        threads["nodes"] = [{**t, "comments": _connection(t["comments"], None, size)} for t in threads["nodes"]]
        return {"data": {"repository": {"pullRequest": {"reviewThreads": threads}}}}


def _connection(items, after, size):
    start = int(after or 0)
    more = start + size < len(items)
    return {"pageInfo": {"hasNextPage": more, "endCursor": str(start + size)}, "nodes": items[start : start + size]}


class FakeGitLab(FakeForge):
    """One project, `harbour/web`."""

    root = "/api/v4"
    project = "harbour/web"

    def __init__(self) -> None:
        super().__init__()
        self.requests: dict[int, dict] = {}
        self.diffs: dict[str, list] = {}
        self.state_totals = True
        self._ids = 5000

    def id(self) -> int:
        self._ids += 1
        return self._ids

    def totals(self, items):
        return {"X-Total": str(len(items))} if self.state_totals else {}

    def user(self, name):
        return None if name is None else {"id": len(name), "username": name, "name": name.title(), "state": "active"}

    def add(self, number: int, author: str | None = "aiko", title: str = "Mooring map") -> dict:
        request = {
            "id": self.id(), "iid": number, "project_id": 7, "title": title, "description": "Draws the berths.",
            "state": "opened", "created_at": stamp(self.now), "updated_at": stamp(self.now),
            "author": self.user(author), "source_branch": f"map-{number}", "target_branch": "main", "sha": "a" * 40,
            "draft": False, "user_notes_count": 0, "merged_at": None,
            "web_url": f"https://gitlab.example.com/{self.project}/-/merge_requests/{number}",
            "merge_status": "checking", "references": {"full": f"{self.project}!{number}"},
        }  # fmt: skip
        parts = ("discussions", "commits", "diffs", "resource_state_events")
        self.requests[number] = {"request": request, **{part: [] for part in parts}, "approvals": {"approved_by": []}}
        return request

    def touch(self, number: int) -> None:
        self.requests[number]["request"]["updated_at"] = stamp(self.now)

    def note(self, number: int, body: str, author: str | None = "jonas", line: int | None = None) -> dict:
        """A thread of one note; on a line where one is given. It moves the request, as does an edit."""
        position = None if line is None else {
            "new_path": "src/map.ts", "old_path": "src/map.ts", "new_line": line, "old_line": None,
            "head_sha": "a" * 40, "base_sha": "b" * 40, "start_sha": "b" * 40, "position_type": "text",
        }  # fmt: skip
        note = {
            "id": self.id(), "type": "DiffNote" if line else None, "body": body, "author": self.user(author),
            "created_at": stamp(self.now), "updated_at": stamp(self.now), "system": False, "noteable_iid": number,
            "noteable_type": "MergeRequest", "resolvable": bool(line), "resolved": False, "internal": False,
        }  # fmt: skip
        if position:
            note["position"] = position
        thread = {"id": f"{self.id():040x}", "individual_note": not line, "notes": [note]}
        self.requests[number]["discussions"].append(thread)
        self.touch(number)
        return note

    def edit(self, number: int, note: dict, body: str) -> None:
        note["body"], note["updated_at"] = body, stamp(self.now)
        self.touch(number)

    def commit(self, number: int, sha: str) -> None:
        self.requests[number]["commits"].append({
            "id": sha, "short_id": sha[:8], "title": "Draw berths", "message": "Draw berths\n", "author_name": "Aiko",
            "author_email": "aiko@example.com", "authored_date": stamp(self.now), "committed_date": stamp(self.now),
            "created_at": stamp(self.now),
        })  # fmt: skip
        diff = "@@ -4,1 +4,2 @@\n-a\n+b\n+c\n"
        self.diffs[sha] = [{"old_path": "src/map.ts", "new_path": "src/map.ts", "diff": diff}]
        self.touch(number)

    def route(self, path, query, data):
        root = f"/projects/{self.project}"
        if path == root:
            return {"id": 7, "path_with_namespace": self.project}
        if path.startswith(f"{root}/repository/commits/"):
            return self.diffs[path.split("/")[-2]]
        if path == f"{root}/merge_requests":
            return _changed_since((one["request"] for one in self.requests.values()), query.get("updated_after"))
        found = re.fullmatch(re.escape(root) + r"/merge_requests/(\d+)(?:/(\w+))?", path)
        one = self.requests.get(int(found[1])) if found else None
        return None if one is None else one.get(found[2] or "request")


class Killed(BaseException):
    """What a kill is to the process that is killed."""


class Mortal:
    """A transport that is killed before its n-th request."""

    def __init__(self, transport, lives: int) -> None:
        self._transport, self.lives = transport, lives

    def _spend(self) -> None:
        if self.lives == 0:
            raise Killed
        self.lives -= 1

    def get(self, path, parameters):
        self._spend()
        return self._transport.get(path, parameters)

    def graphql(self, query, variables):
        self._spend()
        return self._transport.graphql(query, variables)


def documents(folder) -> dict[int, dict]:
    """What a folder holds, by number."""
    return {int(path.stem): json.loads(path.read_text()) for path in folder.glob("[0-9]*.json")}


def traces(folder) -> dict:
    """Every file with what a write would change."""
    return {
        path: (path.stat().st_mtime_ns, path.stat().st_ino, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
