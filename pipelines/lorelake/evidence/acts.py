"""What an agent did just before a person spoke, and which of it the person's words are about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from lorelake.evidence.said import matter
from lorelake.evidence.unit import (
    EventRow,
    applies_to,
    changes_files,
    describe_act,
    is_agent_act,
    is_said_by_human,
    repository_path,
)

TYPED_KINDS = frozenset({"prompt", "queued_prompt", "answer"})
"""What a person says to an agent: a prompt, one typed while it worked, an answer to its question."""

_LOOK_BACK = 6
_ACT_TEXT = 4000
_ANYWHERE = frozenset(
    ("api", "app", "code", "def", "file", "files", "line", "new", "old", "run", "src", "test", "tests")
)
"""Words that acts of every kind share."""

_OF_TESTS = re.compile(r"(?:^|/)(?:tests?|spec|__tests__)/|(?:^|/)test_|[._](?:test|spec)\.", re.I)
_FILE = re.compile(r"(?<![\w/=.-])((?:[\w.-]+/)+[\w-][\w.-]*\.\w{1,6})(?![\w/*])")


def acts_before(events: Sequence[EventRow], position: int) -> list[EventRow]:
    """The agent's latest acts since a person last spoke, latest first; empty where it did nothing."""
    acts: list[EventRow] = []
    for event in reversed(events[:position]):
        if is_said_by_human(event) and event.kind in TYPED_KINDS:
            break
        if is_agent_act(event):
            acts.append(event)
        if len(acts) == _LOOK_BACK:
            break
    return acts


def terms(act: EventRow) -> set[str]:
    """What an act is about: path, command, tool and the words in it."""
    return matter(" ".join(filter(None, (repository_path(act), act.command, act.tool, act.text[:_ACT_TEXT]))))


def trigger(acts: Sequence[EventRow], words: str) -> dict[str, Any]:
    """`when` and `applies_to` of a person's words: the latest edit, or file looked at, that shares a word with them.

    An edit of the code comes before an edit of its tests.
    A run of the tests or a search tells where the agent stood, not what the words are about: it gives no trigger.
    """
    about = matter(words) - _ANYWHERE
    edits = [act for act in acts if changes_files(act) and terms(act) & about]
    edits.sort(key=lambda act: bool(_OF_TESTS.search(act.path or "")))
    if edits:
        return {"when": describe_act(edits[0]), "applies_to": applies_to(edits[0])}
    for act in acts:
        file = _FILE.search(act.command or "")
        path = file[1] if file else None if act.command else repository_path(act)
        if path and matter(path) & about:
            return {"when": f"working on `{path}`", "applies_to": [path]}
    called = next((act for act in acts if act.kind == "tool_call"), None)
    if called is not None and called.command is None and not called.path and matter(called.tool or "") & about:
        return {"when": describe_act(called), "applies_to": []}
    return {}
