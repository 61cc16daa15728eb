from __future__ import annotations

from pathlib import Path

from lorelake.landing.agent_stores import stores


def test_stores_are_found_with_counts_or_told_as_missing(tmp_path: Path) -> None:
    folder = tmp_path / ".claude" / "projects" / "-home-ann-app"
    folder.mkdir(parents=True)
    (folder / "a.jsonl").write_bytes(b"12345")
    (folder / "notes.md").write_bytes(b"# no transcript")
    (folder / "link.jsonl").symlink_to("a.jsonl")
    claude, codex = stores({"HOME": str(tmp_path)})
    assert (claude.format, claude.found, claude.files, claude.size) == ("claude_code", True, 1, 5)
    assert claude.path == tmp_path / ".claude" / "projects"
    assert (codex.path, codex.found, codex.files) == (tmp_path / ".codex" / "sessions", False, 0)


def test_the_agents_own_variables_move_their_stores(tmp_path: Path) -> None:
    moved = {"HOME": "/nowhere", "CODEX_HOME": str(tmp_path / "c"), "CLAUDE_CONFIG_DIR": str(tmp_path / "d")}
    assert [store.path for store in stores(moved)] == [tmp_path / "d" / "projects", tmp_path / "c" / "sessions"]
