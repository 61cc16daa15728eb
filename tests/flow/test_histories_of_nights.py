"""Fifty generated histories through whole nights: transcripts and decisions in any order, twice, and split over nights.

The splits have equal `first_kept`, since every night of one lake looks at the same day. What is made of the evidence is
compared on a thousand histories in tests/sql/test_histories.py; here it is the way from files to tables.
"""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import uuid
from collections.abc import Container, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from lorelake.lake import Lake, read_table
from lorelake.landing import discover
from lorelake.tables import TABLES
from lorelake_assets import prepare, run
from lorelake_assets.definitions import ASSETS
from lorelake_assets.resources import Night

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("flow")]

COUNT = 50
AS_OF = "2026-03-20"
BEGAN = datetime(2026, 2, 1, 9, tzinfo=UTC)
STEMS = ("gasket", "ferry", "buoy", "mast", "winch", "rudder", "compass")
ASKED = (
    "always run `make {a}` before you push the {b}",
    "no, never restart the {a} while the {b} is open",
    "from now on we use {a} instead of {b}, because {b} loses messages",
    "remember: the {a} timeout is 30 seconds",
    "what does the {a} do with the {b}?",
)
BOOKS = ("intake", "quarantine", "funnel", "gate_funnel", "refusals", "source_health")
"""What tells of captures: there are more of them where everything lies there twice."""
EVERY_STAGE = ("raw", "events", "evidence", "learnings", "outcomes")
EVIDENCE_ONLY = ("claims", "supersession_candidates", "regroupings", "topics", "topic_members", "topic_merges")

Line = dict[str, Any]


class Sessions:
    """One project's sessions: people say things, once and again; commands fail and pass; a session is resumed."""

    def __init__(self, number: int) -> None:
        self.random = random.Random(f"nights {number}")
        self.number = number
        self.words = [f"{stem}{chr(97 + number // 26)}{chr(97 + number % 26)}" for stem in STEMS]
        self.files: dict[str, list[Line]] = {}
        said: list[str] = []
        for nth in range(self.random.choice((1, 2, 3))):
            session, at = str(self._id()), BEGAN + timedelta(days=self.random.randrange(40))
            lines = list(self._lines(session, at, said))
            self.files[f"-home-dev-src-p{number}/{session}.jsonl"] = lines
            if self.random.random() < 0.4:  # resumed: a file of its own that begins with what the first one holds
                again = str(self._id())
                more = list(self._lines(again, at + timedelta(days=1), said))
                copied = [line | {"sessionId": again} for line in lines[: self.random.randrange(1, len(lines) + 1)]]
                self.files[f"-home-dev-src-p{number}/{again}.jsonl"] = [*copied, *more]
            said = said if nth else said[:1]

    def _id(self) -> uuid.UUID:
        return uuid.UUID(int=self.random.getrandbits(128), version=4)

    def _lines(self, session: str, at: datetime, said: list[str]) -> Iterator[Line]:
        parent: str | None = None
        for turn in range(self.random.randrange(2, 6)):
            a, b = self.random.sample(self.words, 2)
            again = said and self.random.random() < 0.4
            text = self.random.choice(said) if again else self.random.choice(ASKED).format(a=a, b=b)
            said.append(text)
            for kind, content in ((("user", text)), *self._work(a, turn)):
                at += timedelta(seconds=self.random.choice((0, 1, 30)))
                line = self._line(session, kind, content, at, parent)
                parent = line["uuid"]
                yield line

    def _work(self, word: str, turn: int) -> Iterator[tuple[str, Any]]:
        """A command that fails, and the same command that passes."""
        yield "assistant", [{"type": "text", "text": f"I look at the {word}."}]
        if self.random.random() < 0.4:
            return
        for failed in (True, False):
            call = f"toolu_{self._id().hex[:24]}"
            command = {"command": f"make {self.words[0]}", "description": "Build it"}
            yield "assistant", [{"type": "tool_use", "id": call, "name": "Bash", "input": command}]
            trace = f'  File "/home/dev/src/p{self.number}/app/{self.words[1]}.py", line {turn}, in load\n'
            trace = f"Exit code 1\nTraceback (most recent call last):\n{trace}KeyError: '{self.words[2]}'"
            told = trace if failed else "ok"
            yield "user", [{"type": "tool_result", "tool_use_id": call, "content": told, "is_error": failed}]

    def _line(self, session: str, kind: str, content: Any, at: datetime, parent: str | None) -> Line:
        message: Line = {"role": kind, "content": content}
        if kind == "assistant":
            message |= {"id": f"msg_{self._id().hex[:24]}", "type": "message", "model": "claude-opus-4-5"}
            message |= {"stop_reason": None, "usage": {"input_tokens": 4, "output_tokens": 9}}
        return {
            "parentUuid": parent, "isSidechain": False, "userType": "external", "version": "2.1.38", "type": kind,
            "cwd": f"/home/dev/src/p{self.number}", "sessionId": session, "gitBranch": "main", "message": message,
            "uuid": str(self._id()), "timestamp": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        }  # fmt: skip


def dumped(lines: list[Line]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def team(folder: Path) -> Path:
    """Settings of a team whose people each have a folder of transcripts."""
    people = "".join(f'[[people]]\nid = "{name}"\nemails = ["{name}@example.org"]\n' for name in ("ada", "ben", "cho"))
    sources = "".join(f'[[sources]]\npath = "in/{name}"\nperson = "{name}"\n' for name in ("ada", "ben", "cho"))
    text = f'[team]\nid = "nights"\n[redaction]\nkey_file = "team.key"\n{sources}{people}'
    folder.mkdir()
    key = folder / "team.key"
    key.write_bytes(b"a key for tests, nothing more 32")
    key.chmod(0o600)
    (folder / "lorelake.toml").write_text(text)
    for name in ("ada", "ben", "cho"):
        (folder / "in" / name).mkdir(parents=True)
    return folder / "lorelake.toml"


def night(settings: Path, whole: bool = True) -> Lake:
    """One night up to the tables; one that only brings evidence in leaves out what is made whole of it."""
    bound = Night(settings_path=str(settings), home=str(settings.parent / "lake"), as_of=AS_OF)
    with bound.lake.writing():
        work = prepare.prepare(bound)
    every = [key.to_user_string() for asset in ASSETS for key in asset.keys]
    sql = {table.name for table in TABLES.values() if table.sql}
    left_out = {"candidate", "published", *(() if whole else (*EVIDENCE_ONLY, *sql))}
    run.execute(bound, work.days, bound.lake, [name for name in every if name not in left_out])
    return bound.lake


def contents(lake: Lake, stages: Container[str] = EVERY_STAGE) -> dict[str, str]:
    """sha256 of every table's rows, those of the books apart; daily files count by what they hold together."""
    found = {}
    for table in TABLES.values():
        paths = lake.days(table) if table.partitioned else [lake.table(table)]
        if table.name in BOOKS or table.stage not in stages:
            continue
        data = read_table(table, paths).drop("capture_sha256", strict=False)  # a grown file is another capture
        rows = sorted(map(repr, data.rows()))
        found[table.name] = hashlib.sha256("\n".join(rows).encode()).hexdigest()
    return found


@pytest.fixture(scope="module")
def files() -> dict[str, list[Line]]:
    """Every session file by its place below `in/`."""
    pick = random.Random("people")
    found = {}
    for number in range(COUNT):
        who = pick.choice(("ada", "ben", "cho"))
        found |= {f"{who}/{name}": lines for name, lines in Sessions(number).files.items()}
    return found


def lay(folder: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        path = folder / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


@contextmanager
def captures_shuffled(seed: int) -> Iterator[None]:
    captures = discover.captures

    def shuffled(*arguments: Any) -> discover.Discovery:
        found = captures(*arguments)
        random.Random(seed).shuffle(found.captures)
        return discover.Discovery(found.captures, found.refusals[::-1])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(discover, "captures", shuffled)
        yield


@pytest.fixture(scope="module")
def at_once(files: dict[str, list[Line]], tmp_path_factory: pytest.TempPathFactory) -> Lake:
    folder = tmp_path_factory.mktemp("nights") / "team"
    settings = team(folder)
    lay(folder, {name: dumped(lines) for name, lines in files.items()})
    return night(settings)


def test_the_nights_have_something_to_differ_in(files: dict[str, list[Line]], at_once: Lake) -> None:
    def rows(name: str) -> list[dict[str, Any]]:
        table = TABLES[name]
        return read_table(table, at_once.days(table) if table.partitioned else at_once.table(table)).to_dicts()

    assert len({name.split("/")[1] for name in files}) == COUNT
    assert {row["kind"] for row in rows("signals")} >= {"instruction", "error_fixed", "error_seen"}
    assert len(rows("learnings")) > COUNT
    families = [row["family_id"] for row in rows("sessions")]
    assert len(families) > len(set(families)), "no session is the continuation of another"


def test_every_file_twice_and_in_another_order(files: dict[str, list[Line]], at_once: Lake, tmp_path: Path) -> None:
    settings = team(tmp_path / "team")
    lay(tmp_path / "team", {name: dumped(lines) for name, lines in files.items()})
    for name in ("ada", "ben", "cho"):
        here = tmp_path / "team" / "in" / name
        for path in sorted(here.iterdir()):
            shutil.copytree(path, here / f"zz-{path.name}")
    with captures_shuffled(5):
        lake = night(settings, whole=False)
    brought_in = ("raw", "events", "evidence")
    assert contents(lake, brought_in) == contents(at_once, brought_in)


def test_split_over_nights(files: dict[str, list[Line]], at_once: Lake, tmp_path: Path) -> None:
    """Files come one night or another, and some grow: half a session is there before the rest of it."""
    settings, pick = team(tmp_path / "team"), random.Random(9)
    order = pick.sample(sorted(files), len(files))
    first = {name: files[name][: pick.randrange(1, len(files[name]) + 1)] for name in order[: len(order) // 2]}
    second = {name: files[name] for name in order[len(order) // 4 : -len(order) // 4]}
    for nights in (first, second):
        lay(tmp_path / "team", {name: dumped(lines) for name, lines in nights.items()})
        night(settings, whole=False)
    lay(tmp_path / "team", {name: dumped(lines) for name, lines in files.items()})
    assert contents(night(settings)) == contents(at_once)
