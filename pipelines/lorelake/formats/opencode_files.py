"""OpenCode's JSON files by their names: which session, message or part a file holds, and which files are one session.

    session/<project>/<session>.json  message/<session>/<message>.json  part/<message>/<part>.json
    session/info/<session>.json  session/message/<session>/<message>.json     before, in a folder per project
    session/part/<session>/<message>/<part>.json

The names are the ids: OpenCode's own move to SQLite takes them from there.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

SESSION, MESSAGE, PART, ASIDE = "session", "message", "part", "aside"

_ROOT = r"(?P<root>(?:.*/)?)"
_LAYOUTS = (
    (PART, re.compile(rf"{_ROOT}session/part/(?P<session>[^/]+)/(?P<message>[^/]+)/(?P<id>[^/]+)\.json")),
    (MESSAGE, re.compile(rf"{_ROOT}session/message/(?P<session>[^/]+)/(?P<id>[^/]+)\.json")),
    (PART, re.compile(rf"{_ROOT}part/(?P<message>[^/]+)/(?P<id>[^/]+)\.json")),
    (MESSAGE, re.compile(rf"{_ROOT}message/(?P<session>[^/]+)/(?P<id>[^/]+)\.json")),
    (SESSION, re.compile(rf"{_ROOT}session/[^/]+/(?P<id>[^/]+)\.json")),
    # Lists of tasks, diffs and share links of a session.
    (ASIDE, re.compile(rf"{_ROOT}(?:todo|session_diff|session_share)/(?P<id>[^/]+)\.json")),
)
_PREFIXES = {SESSION: "ses_", MESSAGE: "msg_", PART: "prt_", ASIDE: "ses_"}
_STORE = re.compile(r"(?:.*/)?opencode(?:-[\w.-]{1,100})?\.db")
SIDECARS = ("-wal", "-shm")
"""What SQLite keeps beside a store that is open."""


class Place(NamedTuple):
    """What a name says: kind, folder of the store, ids; `session` and `message` are None where it leaves them out."""

    kind: str
    root: str
    id: str
    session: str | None
    message: str | None


def place(name: str) -> Place | None:
    """What a file's name says, or None where it is not named as OpenCode names its files."""
    for kind, layout in _LAYOUTS:
        match = layout.fullmatch(name)
        if match and (match["root"].endswith("storage/") or match["id"].startswith(_PREFIXES[kind])):
            ids = match.groupdict()
            session = ids.get("session") or (ids["id"] if kind in (SESSION, ASIDE) else None)
            return Place(kind, ids["root"].rstrip("/"), ids["id"], session, ids.get("message"))
    return None


def is_store(name: str) -> bool:
    """Whether a file is named like OpenCode's SQLite store (`opencode.db`, `opencode-<channel>.db`)."""
    return _STORE.fullmatch(name) is not None


def sessions(names: Iterable[str]) -> dict[tuple[str, str], list[str]]:
    """(folder of the store, session id) to the names of its files, sorted.

    A part's file does not name its session; the file of its message does. Parts whose message is not there are
    left out.
    """
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    session_of: dict[tuple[str, str], str] = {}
    parts: list[tuple[str, Place]] = []
    for name in names:
        where = place(name)
        if where is None:
            continue
        if where.session is None:
            parts.append((name, where))
            continue
        found[where.root, where.session].append(name)
        if where.kind == MESSAGE:
            session_of[where.root, where.id] = where.session
    for name, where in parts:
        session = session_of.get((where.root, where.message or ""))
        if session is not None:
            found[where.root, session].append(name)
    return {key: sorted(found[key]) for key in sorted(found)}
