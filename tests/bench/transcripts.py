"""Claude Code transcripts by the megabyte, for figures: the same seed gives the same bytes.

`generate` writes sessions in the shape that real ones have: half of all lines answers of the model in pieces that
repeat one usage, a third tool results whose text stands a second time in `toolUseResult`, echoes between them, sizes
from hundreds of bytes to some ten thousand, now and then a secret. `multiply` copies real sessions under new ids.
"""

from __future__ import annotations

import json
import random
import re
import uuid
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

START = datetime(2026, 1, 5, 8, tzinfo=UTC)
DAYS = 60
AS_OF = (START + timedelta(days=DAYS + 30)).date()

_WORDS = re.findall(
    "[a-z]+",
    """
    the a of to and in for with when after before into from that this it is are was not should only every test build
    server client request response handler queue worker retry timeout token cache index table column schema migration
    deploy rollback branch commit merge review config setting path file folder module import export function method
    class type value string number list field key record session message event error warning trace stack frame buffer
    stream socket connection pool thread lock state update insert delete select join filter sort group limit offset
    page cursor user account invoice payment order ledger amount currency balance report export archive backup restore
    because however instead already still maybe first second next last same other missing empty wrong slow large small
    fix add remove rename move split extract check verify run start stop wait fail omit skip log print return raise
    """,
)
_NAMES = ("parse", "load", "fetch", "apply", "merge", "render", "resolve", "encode", "collect", "publish")
_TOOLS = ("Bash", "Read", "Edit", "Grep", "Write")
_UUID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def generate(folder: Path, megabytes: float, seed: int = 7) -> list[Path]:
    """Sessions of about 100 kB to 2 MB that together have that size."""
    chance = random.Random(seed)
    pool = _Pool(chance)
    folder.mkdir(parents=True, exist_ok=True)
    paths: list[Path] = []
    left = int(megabytes * 1e6)
    while left > 0:
        wanted = min(left, int(min(2_000_000, chance.lognormvariate(12.4, 0.8))))
        session = _uuid(chance)
        path = folder / f"-home-mara-src-{chance.randrange(20)}" / f"{session}.jsonl"
        path.parent.mkdir(exist_ok=True)
        size = 0
        with path.open("wb") as stream:
            for record in _session(chance, pool, session):
                line = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
                size += stream.write(line)
                if size >= wanted:
                    break
        left -= size
        paths.append(path)
    return paths


def multiply(sources: Sequence[Path], folder: Path, megabytes: float) -> list[Path]:
    """Real sessions over and over, each copy with ids of its own; all else stays as it was written."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = [path.read_bytes() for path in sources]
    paths: list[Path] = []
    left, copy = int(megabytes * 1e6), 0
    while left > 0:
        for number, text in enumerate(texts):
            fresh = renamed(text, copy) if copy else text
            name = renamed(sources[number].stem.encode(), copy).decode() if copy else sources[number].stem
            path = (
                folder
                / f"-home-mara-src-{copy % 20}"
                / f"{name}{'' if _UUID.search(name.encode()) else f'-{copy}'}.jsonl"
            )
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(fresh)
            paths.append(path)
            left -= len(fresh)
            if left <= 0:
                break
        copy += 1
    return paths


def renamed(text: bytes, copy: int) -> bytes:
    """Every UUID as another one, the same for the same; references between records hold."""

    def other(found: re.Match[bytes]) -> bytes:
        return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{copy}:{found[0].decode()}")).encode()

    return _UUID.sub(other, text)


class _Pool:
    """Lines of prose and of code to put texts together from."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self.prose = [" ".join(chance.choices(_WORDS, k=chance.randint(6, 18))).capitalize() + "." for _ in range(4000)]
        self.code = [self._line() for _ in range(8000)]

    def _line(self) -> str:
        chance = self._chance
        name, one, two, three = chance.choice(_NAMES), *chance.choices(_WORDS, k=3)
        match chance.randrange(6):
            case 0:
                return f"    {one}_{two} = {name}_{three}({one}, {two}={chance.randrange(1000)})"
            case 1:
                return f"    if {one}.{two} is None or len({three}) > {chance.randrange(100)}:"
            case 2:
                return f"src/{one}/{name}_{two}.py:{chance.randrange(900)}: {three} {one} in `{name}`"
            case 3:
                return json.dumps({one: two, three: chance.randrange(10_000), "sha": chance.randbytes(20).hex()})
            case 4:
                at = f"2026-01-{chance.randint(1, 28):02d}T10:{chance.randrange(60):02d}:07Z"
                return f"{at} INFO {one}.{two} {name}d {three}"
            case _:
                return f"  - {' '.join(chance.choices(_WORDS, k=9))}"

    def words(self, lines: float) -> str:
        return " ".join(self._chance.choices(self.prose, k=max(1, int(lines))))

    def listing(self, lines: float) -> str:
        rows = self._chance.choices(self.code, k=max(1, int(lines)))
        if self._chance.random() < 0.003:
            rows.append("export DEPLOY_TOKEN=ghp_" + "".join(self._chance.choices("abcdXYZ0123456789", k=36)))
        return "\n".join(rows)


def _uuid(chance: random.Random) -> str:
    return str(uuid.UUID(int=chance.getrandbits(128), version=4))


def _session(chance: random.Random, pool: _Pool, session: str) -> Iterator[dict[str, Any]]:
    """Records without end: the caller stops at its size."""
    at = START + timedelta(days=chance.randrange(DAYS), seconds=chance.randrange(30_000))
    parent: str | None = None

    def record(kind: str, **more: Any) -> dict[str, Any]:
        nonlocal at, parent
        at += timedelta(milliseconds=chance.randint(200, 20_000))
        own, before = _uuid(chance), parent
        parent = own
        return {
            "parentUuid": before, "isSidechain": False, "userType": "external", "cwd": "/home/mara/src/harbour-api",
            "sessionId": session, "version": "2.1.30", "gitBranch": "main", "type": kind, **more,
            "uuid": own, "timestamp": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        }  # fmt: skip

    while True:
        prompt = pool.words(chance.lognormvariate(0.7, 0.8))
        snapshot = {"messageId": _uuid(chance), "trackedFileBackups": {}, "timestamp": at.isoformat()}
        yield {"type": "file-history-snapshot", "messageId": snapshot["messageId"], "snapshot": snapshot}
        yield record("user", message={"role": "user", "content": prompt}, permissionMode="default")
        for _ in range(chance.randint(3, 25)):
            yield from _turn(chance, pool, record)
        yield record("system", subtype="turn_duration", durationMs=chance.randrange(10**6), isMeta=False)


def _turn(chance: random.Random, pool: _Pool, record: Any) -> Iterator[dict[str, Any]]:
    """One message of the model in pieces, the call's echo, and its result twice."""
    usage = {
        "input_tokens": chance.randrange(50), "cache_creation_input_tokens": chance.randrange(9000),
        "cache_read_input_tokens": chance.randrange(150_000), "output_tokens": chance.randrange(2000),
        "service_tier": "standard", "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
    }  # fmt: skip
    message = f"msg_{chance.randbytes(12).hex()}"
    call = f"toolu_{chance.randbytes(12).hex()}"
    tool = chance.choice(_TOOLS)

    def piece(block: dict[str, Any]) -> dict[str, Any]:
        said = {
            "model": "claude-opus-4-5-20251101", "id": message, "type": "message", "role": "assistant",
            "content": [block], "stop_reason": None, "stop_sequence": None, "usage": usage,
        }  # fmt: skip
        return record("assistant", message=said, requestId=f"req_{message[4:]}")

    if chance.random() < 0.6:
        signature = "".join(chance.choices("ABCDEFGHIJKLMNOPabcdefghijkl0123456789+/", k=380))
        yield piece(
            {"type": "thinking", "thinking": pool.words(chance.lognormvariate(1.8, 0.7)), "signature": signature}
        )
    if chance.random() < 0.45:
        yield piece({"type": "text", "text": pool.words(chance.lognormvariate(0.9, 0.8))})
    path = f"/home/mara/src/harbour-api/src/{chance.choice(_WORDS)}/{chance.choice(_NAMES)}.py"
    lines = min(900.0, chance.lognormvariate(2.8, 1.5))
    if tool == "Bash":
        given: dict[str, Any] = {"command": f"cd src && pytest -q {path}", "description": pool.words(1)}
    elif tool in ("Edit", "Write"):
        given = {"file_path": path, "old_string": pool.listing(lines / 8), "new_string": pool.listing(lines / 6)}
    else:
        given = {"file_path": path, "limit": 200}
    yield piece({"type": "tool_use", "id": call, "name": tool, "input": given})
    if chance.random() < 0.7:
        echo = {
            "type": "hook_progress",
            "hookEvent": "PreToolUse",
            "hookName": f"PreToolUse:{tool}",
            "command": "check",
        }
        yield record("progress", data=echo, parentToolUseID=call, toolUseID=call)
    text, failed = pool.listing(lines), chance.random() < 0.06
    shown = f"Exit code 1\n{text}" if failed else text
    if tool == "Bash":
        result: Any = {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}
    elif tool in ("Edit", "Write"):
        result = {**given, "originalFile": text, "structuredPatch": [{"oldStart": 4, "lines": text.split("\n")[:9]}]}
    else:
        result = {"type": "text", "file": {"filePath": path, "content": text, "numLines": text.count("\n") + 1}}
    block = {"tool_use_id": call, "type": "tool_result", "content": shown, "is_error": failed}
    yield record(
        "user", message={"role": "user", "content": [block]}, toolUseResult=f"Error: {shown}" if failed else result
    )
