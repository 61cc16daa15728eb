"""Where coding agents keep their transcripts on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple


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
        environment: variables to look in; `HOME`, `CODEX_HOME` and `CLAUDE_CONFIG_DIR` count.
    """
    given = os.environ if environment is None else environment
    home = Path(given.get("HOME") or Path.home())
    claude = Path(given.get("CLAUDE_CONFIG_DIR") or home / ".claude")
    codex = Path(given.get("CODEX_HOME") or home / ".codex")
    return [
        _store("Claude Code", "claude_code", claude / "projects"),
        _store("Codex", "codex", codex / "sessions"),
    ]


def _store(agent: str, format_: str, path: Path) -> AgentStore:
    sizes = list(_sizes(path))
    return AgentStore(agent, format_, path, path.is_dir(), len(sizes), sum(sizes))


def _sizes(folder: Path) -> Iterator[int]:
    for parent, _, names in os.walk(folder):
        for name in names:
            path = Path(parent) / name
            if name.endswith(".jsonl") and path.is_file() and not path.is_symlink():
                yield path.stat().st_size
