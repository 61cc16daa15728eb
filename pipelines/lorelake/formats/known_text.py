"""Texts that agents are given anyway: boot files, rules, skills, agent definitions, own notes, READMEs and changelogs.

They are kept so that their echo is recognised, and are never learnings.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

SUFFIXES = (".mdc", ".cursorrules", ".windsurfrules", ".clinerules", "codeowners")
"""Endings, in lower case, of files that are not called Markdown: rule files, and who owns which path."""

_NAMES = re.compile(
    r"(?:README|CHANGELOG|CHANGES|HISTORY|CONTRIBUTING|CODE_OF_CONDUCT|SECURITY|LICEN[CS]E|CLAUDE(?:\.local)?|AGENTS?|"
    r"GEMINI|QWEN|CONVENTIONS|SKILL|MEMORY|copilot-instructions|PULL_REQUEST_TEMPLATE)(?:\.[\w-]+)?\.(?:md|markdown)|"
    r".*\.mdc|CODEOWNERS|\.cursorrules|\.windsurfrules|\.clinerules|.+\.instructions\.md",
    re.IGNORECASE,
)
_FOLDERS = re.compile(
    r"(?:^|/)(?:\.cursor/rules|\.(?:claude|codex|gemini|opencode)/(?:commands|agents|skills|rules|prompts)|\.clinerules|"
    # Plans and notes of the agents' own, and what a tool lays beside its transcripts.
    r"\.claude/(?:plans|agent-memory)|\.serena/memories|\.specstory|session-state/[0-9a-f]{8}-[0-9a-f-]{27}|"
    r"\.windsurf/rules|\.kiro/steering|\.github)/"
    # Claude Code keeps its own notes below a folder named after the checkout, with hyphens for slashes.
    r"|(?:^|/)-[^/]*/memory/",
    re.IGNORECASE,
)
_SHARED = re.compile(r"(?:^|/)(?:rules|skills|claudemd)/|^(?:(?!docs?/)[^/]+/|landing/documents/[^/]+/)?agents/[^/]+\Z")
"""A team's own rules and skills, as teamai and others lay them out; not where learnings lie below."""


def is_known_text(path: str) -> bool:
    """Whether a document is one that agents are given, by its name or its folder."""
    if _NAMES.fullmatch(PurePosixPath(path).name) or _FOLDERS.search(path):
        return True
    return _SHARED.search(path) is not None and "learnings" not in PurePosixPath(path).parts[:-1]
