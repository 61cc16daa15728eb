"""Where coding agents keep their transcripts on this machine."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

_LINES = re.compile(r"\.jsonl$")
_OPENCODE = re.compile(r"/opencode[^/]*\.db$|/storage/(?:session|message|part)/.*\.json$")


class AgentStore(NamedTuple):
    """One agent's store: whether it is there, and how many transcript files and bytes it holds."""

    agent: str
    format: str
    path: Path
    found: bool
    files: int
    size: int


def stores(environment: Mapping[str, str] | None = None) -> list[AgentStore]:
    """Every store that is known of, found or not.

    Args:
        environment: variables to look in; `HOME`, `CLAUDE_CONFIG_DIR`, `CODEX_HOME`, `COPILOT_HOME`,
            `GEMINI_CLI_HOME` and `XDG_DATA_HOME` count.
    """
    given = os.environ if environment is None else environment
    home = Path(given.get("HOME") or Path.home())
    claude = Path(given.get("CLAUDE_CONFIG_DIR") or home / ".claude")
    codex = Path(given.get("CODEX_HOME") or home / ".codex")
    copilot = Path(given.get("COPILOT_HOME") or home / ".copilot")
    gemini = Path(given.get("GEMINI_CLI_HOME") or home) / ".gemini"
    data = Path(given.get("XDG_DATA_HOME") or home / ".local" / "share")
    return [
        _store("Claude Code", "claude_code", claude / "projects", _LINES),
        _store("Codex", "codex", codex / "sessions", _LINES),
        _store("Copilot CLI", "copilot_cli", copilot / "session-state", re.compile(r"/events\.jsonl$")),
        _store("Gemini CLI", "gemini_cli", gemini / "tmp", re.compile(r"/chats/.*\.jsonl?$")),
        _store("OpenCode", "opencode", data / "opencode", _OPENCODE),
    ]


def _store(agent: str, format_: str, path: Path, transcript: re.Pattern[str]) -> AgentStore:
    sizes = list(_sizes(path, transcript))
    return AgentStore(agent, format_, path, path.is_dir(), len(sizes), sum(sizes))


def _sizes(folder: Path, transcript: re.Pattern[str]) -> Iterator[int]:
    """Sizes of the files whose path below the store looks like a transcript's; beside them agents keep other files."""
    for parent, _, names in os.walk(folder):
        for name in names:
            path = Path(parent) / name
            below = f"/{path.relative_to(folder).as_posix()}"
            if transcript.search(below) and path.is_file() and not path.is_symlink():
                yield path.stat().st_size
