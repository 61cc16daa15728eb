"""OpenCode sessions as the agent keeps them, in files and in its SQLite store; and what the format makes of them."""

from __future__ import annotations

import hashlib
import io
import json
import sqlite3
import tempfile
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from lorelake.formats import opencode
from lorelake.formats.record import Capture, Event, Member, Record, Refusal, Unit, UnitRecord, canonical, in_order

SESSION = "ses_0a1"
START = 1_772_442_000_000  # 2026-03-02T09:00:00Z
FEEDBACK = "The user rejected permission to use this specific tool call with the following feedback: "
SCHEMA = """
CREATE TABLE `project` (`id` text PRIMARY KEY, `worktree` text NOT NULL, `vcs` text, `time_created` integer);
CREATE TABLE `session` (`id` text PRIMARY KEY, `project_id` text NOT NULL, `parent_id` text, `slug` text,
  `directory` text NOT NULL, `title` text, `version` text, `revert` text, `permission` text,
  `time_created` integer NOT NULL, `time_updated` integer NOT NULL);
CREATE TABLE `message` (`id` text PRIMARY KEY, `session_id` text NOT NULL, `time_created` integer NOT NULL,
  `time_updated` integer NOT NULL, `data` text NOT NULL);
CREATE TABLE `part` (`id` text PRIMARY KEY, `message_id` text NOT NULL, `session_id` text NOT NULL,
  `time_created` integer NOT NULL, `time_updated` integer NOT NULL, `data` text NOT NULL);
CREATE TABLE `todo` (`session_id` text, `content` text);
CREATE TABLE __drizzle_migrations (id integer PRIMARY KEY, hash text, created_at numeric, name text);
INSERT INTO __drizzle_migrations VALUES (1, 'a', 1, '20260127222353_start'), (2, 'b', 2, '20260213144116_later');
"""


class Store:
    """A session as OpenCode keeps it, in any of its forms."""

    def __init__(self, session: str = SESSION, **info: Any) -> None:
        self.session, self.clock = session, START
        self.info = {
            "id": session, "version": "1.2.0", "projectID": "p1", "directory": "/home/mara/harbour-api/web",
            "title": "Export", "time": {"created": START, "updated": START + 900_000}, **info,
        }  # fmt: skip
        self.messages: list[dict[str, Any]] = []
        self.parts: list[dict[str, Any]] = []

    def message(self, role: str, **fields: Any) -> Store:
        self.clock += 1000
        time = fields.pop("time", {"created": self.clock})
        number = f"{self.session[4:]}_{len(self.messages):03d}"
        path = {"cwd": "/home/mara/harbour-api/web", "root": "/home/mara/harbour-api"}
        own = {"path": path, "modelID": "claude-opus-4-6", "providerID": "x"} if role == "assistant" else {}
        ids = {"id": f"msg_{number}", "sessionID": self.session, "role": role}
        self.messages.append(ids | {"time": time} | own | fields)
        return self

    def part(self, kind: str, **fields: Any) -> Store:
        self.clock += 10
        ids = {"id": f"prt_{self.session[4:]}_{len(self.parts):03d}", "sessionID": self.session}
        self.parts.append(ids | {"messageID": self.messages[-1]["id"], "type": kind} | fields)
        return self

    def said(self, text: str, **fields: Any) -> Store:
        return self.message("user").part("text", text=text, **fields)

    def answered(self, text: str) -> Store:
        return self.message("assistant").part("text", text=text, time={"start": self.clock, "end": self.clock + 5})

    def tool(self, tool: str, given: Any, status: str = "completed", **state: Any) -> Store:
        times = {"start": self.clock} | ({} if status in ("pending", "running") else {"end": self.clock + 5})
        return self.part(
            "tool",
            tool=tool,
            callID=f"call_{len(self.parts)}",
            state={"status": status, "input": given, "time": times} | state,
        )

    def files(self, layout: str = "newer") -> dict[str, bytes]:
        s = self.session
        named = [(f"session/{'p1' if layout == 'newer' else 'info'}/{s}.json", self.info)]
        before = "" if layout == "newer" else "session/"
        named += [(f"{before}message/{s}/{m['id']}.json", m) for m in self.messages]
        inside = "" if layout == "newer" else f"{s}/"
        named += [(f"{before}part/{inside}{p['messageID']}/{p['id']}.json", p) for p in self.parts]
        return {f"storage/{name}": json.dumps(value, indent=2).encode() for name, value in named}

    def write(self, connection: sqlite3.Connection) -> None:
        time = self.info["time"]
        connection.execute("INSERT OR IGNORE INTO project VALUES ('p1', '/home/mara/harbour-api', 'git', 1)")
        connection.execute(
            "INSERT OR REPLACE INTO session VALUES (?, 'p1', ?, 'slug', ?, ?, '1.2.0', ?, NULL, ?, ?)",
            (
                self.session, self.info.get("parentID"), self.info["directory"], self.info["title"],
                json.dumps(self.info["revert"]) if "revert" in self.info else None, time["created"], time["updated"],
            ),
        )  # fmt: skip
        for value in self.messages:
            data = {k: v for k, v in value.items() if k not in ("id", "sessionID")}
            row = (value["id"], self.session, 1, 1, json.dumps(data))
            connection.execute("INSERT OR REPLACE INTO message VALUES (?, ?, ?, ?, ?)", row)
        for value in self.parts:
            data = {k: v for k, v in value.items() if k not in ("id", "sessionID", "messageID")}
            row = (value["id"], value["messageID"], self.session, 1, 1, json.dumps(data))
            connection.execute("INSERT OR REPLACE INTO part VALUES (?, ?, ?, ?, ?, ?)", row)

    def bytes(self, schema: str = SCHEMA) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a.db"
            connection = sqlite3.connect(path)
            connection.executescript(schema)
            self.write(connection)
            connection.commit()
            connection.close()
            return path.read_bytes()

    def events(self) -> list[Event]:
        return opencode.events(unit_of(read(self.files())))


def members(files: dict[str, bytes]) -> tuple[Member, ...]:
    return tuple(Member(name, len(data), partial(io.BytesIO, data)) for name, data in files.items())


def read(files: dict[str, bytes]) -> list[Record | Refusal]:
    sha256 = hashlib.sha256(b"".join(files.values())).hexdigest()
    return list(opencode.read(Capture("in/opencode", members(files), sha256)))


def kept(items: Iterable[Record | Refusal]) -> list[Record]:
    return [item for item in items if isinstance(item, Record)]


def refused(items: Iterable[Record | Refusal]) -> list[tuple[str, str]]:
    return [(item.reason, item.detail) for item in items if isinstance(item, Refusal)]


def unit_of(items: Iterable[Record | Refusal], session: str = SESSION) -> Unit:
    earliest = datetime(2026, 3, 2, tzinfo=UTC)
    records = {(r.id, canonical(r.value)): r for r in kept(items) if r.unit == session}.values()
    stored = [UnitRecord(r.id, r.type, r.ts or earliest, r.value, "a", "2026-03-03") for r in records]
    return Unit("opencode", f"opencode:{session}", in_order(stored), None, None)


def one(events: Iterable[Event], kind: str) -> Event:
    (event,) = [event for event in events if event.kind == kind]
    return event


def texts(events: Iterable[Event], kind: str) -> list[str]:
    return [event.text for event in events if event.kind == kind]


def said(events: Iterable[Event]) -> list[tuple[object, ...]]:
    return [(event.record_id, event.part, event.ts, event.kind, event.text, event.on_live_path) for event in events]


def talk() -> Store:
    store = Store().said("why does the nightly export fail? – größer").message("assistant")
    store.tool("bash", {"command": "make export"}, output="no such bucket\n", metadata={"exit": 2})
    store.part("step-finish", reason="tool-calls", cost=0.01, tokens={"input": 10, "output": 2, "cache": {"read": 1}})
    return store.answered("The bucket is missing.").said("use the staging bucket, never production")
