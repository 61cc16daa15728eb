"""Accounts that are programs: review assistants, scanners, release robots. They never count as people.

The host's own mark (`type: Bot`, `[bot]`, `is_bot`) goes first, then a name that ends in `-bot`; the list is for those
that post under an ordinary-looking name. A team adds its own with `kind = "bot"` in `[[people]]`.
"""

from __future__ import annotations

import re

# fmt: off
KNOWN = frozenset({
    "allcontributors", "amazon-q-developer", "baz-reviewer", "bors", "chatgpt-codex-connector", "claassistant",
    "claude", "codeclimate", "codecov", "codecov-commenter", "codecov-io", "coderabbitai", "codiumai-pr-agent",
    "copilot", "copilot-pull-request-reviewer", "copilot-swe-agent", "coveralls", "cubic-dev-ai", "cursor",
    "deepsource-autofix", "dependabot", "dependabot-preview", "devin-ai-integration", "drahtbot", "ellipsis-dev",
    "gemini-code-assist", "gitguardian", "github-actions", "github-advanced-security", "gitlab-duo",
    "google-labs-jules", "googlebot", "graphite-app", "greenkeeper", "greptile-apps", "imgbot", "k8s-ci-robot",
    "kodiakhq", "korbit-ai", "lgtm-com", "linear", "mend-bolt-for-github", "mergify", "netlify", "pre-commit-ci",
    "pytorchmergebot", "qodo-code-review", "qodo-merge-for-open-source", "qodo-merge-pro", "renovate", "rustbot",
    "sentry-io", "slackbot", "sonarcloud", "sonarqubecloud", "sourcery-ai", "stale", "sweep-ai", "vercel", "web-flow",
})
# fmt: on
_MARKED = re.compile(r"\[bot\]$|[-_]bot$|^(?:project|group)_\d+_bot", re.IGNORECASE)
_NAMED = re.compile(r"(?:\b[Bb]ot|\bCI)$")


def is_bot(login: str) -> bool:
    """Whether a login is a program's, by its mark or by the list."""
    plain = login.strip().lower()
    return bool(_MARKED.search(plain)) or plain in KNOWN


def is_bot_name(name: str) -> bool:
    """The same for a display name, where `Claude` or `Linear` may be a person: only names that end in Bot or CI."""
    return bool(_MARKED.search(name.strip()) or _NAMED.search(name.strip())) or name.strip() == "GitLab Duo"
