"""Accounts that are programs: review assistants, scanners, release robots. They never count as people.

The host's own mark (`type: Bot`, `[bot]`, `is_bot`) goes first; the list is for those that post under an
ordinary-looking name. A team adds its own with `kind = "bot"` in `[[people]]`.
"""

from __future__ import annotations

import re

# fmt: off
KNOWN = frozenset({
    "amazon-q-developer", "changeset-bot", "chatgpt-codex-connector", "claude", "codecov", "codecov-commenter",
    "codecov-io", "coderabbitai", "codiumai-pr-agent", "copilot", "copilot-pull-request-reviewer",
    "copilot-swe-agent", "coveralls", "cursor", "deepsource-autofix", "dependabot", "dependabot-preview",
    "devin-ai-integration", "drahtbot", "ellipsis-dev", "gemini-code-assist", "gitguardian", "github-actions",
    "github-advanced-security", "gitlab-bot", "gitlab-dependency-update-bot", "gitlab-duo", "graphite-app",
    "greenkeeper", "greptile-apps", "imgbot", "k8s-ci-robot", "korbit-ai", "linear", "mend-bolt-for-github",
    "mergify", "netlify", "pre-commit-ci", "project-bot", "pyup-bot", "qodo-merge-for-open-source",
    "qodo-merge-pro", "renovate", "renovate-bot", "semantic-release-bot", "slackbot", "snyk-bot", "sonarcloud",
    "sonarqubecloud", "sourcery-ai", "stale", "sweep-ai", "vercel",
})
# fmt: on
_MARKED = re.compile(r"\[bot\]$|^(?:project|group)_\d+_bot", re.IGNORECASE)
_NAMED = re.compile(r"(?:\b[Bb]ot|\bCI)$")


def is_bot(login: str) -> bool:
    """Whether a login is a program's, by its mark or by the list."""
    plain = login.strip().lower()
    return bool(_MARKED.search(plain)) or plain in KNOWN


def is_bot_name(name: str) -> bool:
    """The same for a display name, where `Claude` or `Linear` may be a person: only names that end in Bot or CI."""
    return bool(_MARKED.search(name.strip()) or _NAMED.search(name.strip())) or name.strip() == "GitLab Duo"
