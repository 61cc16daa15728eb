from __future__ import annotations

from pathlib import Path

from lorelake.landing.agent_stores import stores


def test_stores_are_found_with_counts_or_told_as_missing(tmp_path: Path) -> None:
    folder = tmp_path / ".claude" / "projects" / "-home-ann-app"
    folder.mkdir(parents=True)
    (folder / "a.jsonl").write_bytes(b"12345")
    (folder / "notes.md").write_bytes(b"# no transcript")
    (folder / "link.jsonl").symlink_to("a.jsonl")
    found = {store.format: store for store in stores({"HOME": str(tmp_path)})}
    claude, codex = found["claude_code"], found["codex"]
    assert (claude.format, claude.found, claude.files, claude.size) == ("claude_code", True, 1, 5)
    assert claude.path == tmp_path / ".claude" / "projects"
    assert (codex.path, codex.found, codex.files) == (tmp_path / ".codex" / "sessions", False, 0)


def test_the_agents_own_variables_move_their_stores(tmp_path: Path) -> None:
    moved = {
        "HOME": "/nowhere", "CODEX_HOME": str(tmp_path / "c"), "CLAUDE_CONFIG_DIR": str(tmp_path / "d"),
        "COPILOT_HOME": str(tmp_path / "p"), "GEMINI_CLI_HOME": str(tmp_path / "g"),
    }  # fmt: skip
    paths = {store.format: store.path for store in stores(moved)}
    assert paths["claude_code"] == tmp_path / "d" / "projects"
    assert paths["codex"] == tmp_path / "c" / "sessions"
    assert paths["copilot_cli"] == tmp_path / "p" / "session-state"
    assert paths["gemini_cli"] == tmp_path / "g" / ".gemini" / "tmp"


def test_only_transcripts_are_counted_where_an_agent_keeps_more_beside_them(tmp_path: Path) -> None:
    for name in (
        ".copilot/session-state/a/events.jsonl", ".copilot/session-state/a/workspace.yaml",
        ".copilot/session-state/a/files/other.jsonl",
        ".gemini/tmp/h/chats/session-1.json", ".gemini/tmp/h/chats/session-2.jsonl",
        ".gemini/tmp/h/chats/parent/sub-1.jsonl", ".gemini/tmp/h/logs.json", ".gemini/tmp/h/chats/notes.md",
    ):  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"1234")
    found = {store.format: (store.files, store.size) for store in stores({"HOME": str(tmp_path)}) if store.found}
    assert found == {"copilot_cli": (1, 4), "gemini_cli": (3, 12)}
