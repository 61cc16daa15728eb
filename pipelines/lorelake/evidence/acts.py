"""What an agent did just before and after a person spoke, and which of it the person's words are about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from lorelake.evidence import cues
from lorelake.evidence.said import matter
from lorelake.evidence.unit import (
    EventRow,
    applies_to,
    calls,
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
ANYWHERE = frozenset(
    ("api", "app", "code", "def", "file", "files", "line", "new", "old", "run", "src", "test", "tests")
)
"""Words that acts of every kind share."""

_OF_TESTS = re.compile(r"(?:^|/)(?:tests?|spec|__tests__)/|(?:^|/)test_|[._](?:test|spec)\.", re.I)
_SPACE = re.compile(r"\s+")
_CONCESSION_CHARS = 200
_MENTION = re.compile(r"(?<![\w.])@(/?(?:[\w.-]+/)*[\w-][\w.-]*\.\w{1,6})(?::\d+(?:-\d+)?)?(?![\w@/])")
_NAMED = re.compile(
    r"(?<![\w/@.*:-])((?:\.?[\w.-]+/){0,8}\.?[\w-][\w.-]*\.(?:py|go|mod|tsx?|jsx?|rs|java|kt|rb|c|h|cpp|cs|swift|md|toml|ya?ml|json|sql"
    r"|sh|lock|txt|proto|tf|css|html|ini|cfg|xml|gradle|vue))(?![\w*/])"
)
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
    about = matter(words) - ANYWHERE
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


def mentioned_path(event: EventRow) -> str | None:
    """The file a message points at by `@path`, as the repository would name it, or None."""
    found = _MENTION.search(event.text)
    return repository_path(msgspec.structs.replace(event, path=found[1])) if found else None


def named_path(words: str) -> str | None:
    """The file that words name, like `go.mod` or `.app/settings.json`, or None."""
    found = _NAMED.search(words)
    return found[1] if found else None


def refusal_before(events: Sequence[EventRow], position: int) -> tuple[bool, EventRow | None]:
    """Whether the person refused a call without a word just before they spoke here, and that call if it is known.

    What they say next is what they had against it.
    """
    for event in reversed(events[:position]):
        if is_said_by_human(event) and event.kind in TYPED_KINDS:
            break
        if event.kind == "rejection" and event.actor_class == "human" and event.on_live_path:
            if event.text.strip():
                break
            return True, calls(events).get(event.call_id or "")
    return False, None


def changed_course(events: Sequence[EventRow], position: int, refused: EventRow | None) -> bool:
    """Whether the agent's next call is another act than the refused one, or its next words concede the point.

    The same tool on the same path with other arguments is another act: a refused edit is most often followed by
    a better edit of the same file.
    """
    for event in events[position + 1 :]:
        if not event.on_live_path:
            continue
        if event.kind == "answer" and event.actor_class == "agent":
            if cues.find("concession", event.text[:_CONCESSION_CHARS]):
                return True
        elif event.kind == "tool_call":
            return refused is None or _act(event) != _act(refused)
    return False


def conceded(events: Sequence[EventRow], position: int) -> bool:
    """Whether the agent's very next words say that the person was right. A mere "good idea" says nothing."""
    for event in events[position + 1 :]:
        if event.kind == "answer" and event.actor_class == "agent" and event.on_live_path:
            found = cues.find("concession", event.text[:_CONCESSION_CHARS])
            return found is not None and found.cue.name.endswith("you_are_right")
        if event.kind == "tool_call" or (is_said_by_human(event) and event.kind in TYPED_KINDS):
            return False
    return False


def _act(call: EventRow) -> tuple[str | None, str | None, str | None, str]:
    command = _SPACE.sub(" ", call.command).strip() if call.command else None
    return call.tool, call.path, command, _SPACE.sub(" ", call.text)
