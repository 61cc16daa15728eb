"""What the transcript formats of coding agents share: stated times, messages and tool calls as text.

Nothing here knows an agent's records; each format brings its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any, TypeVar

import msgspec

from lorelake.formats.record import UnitRecord, canonical, parse_time

CALL_TEXT_CHARS = 4000
"""How much of a tool call's input becomes its text; a shell command is never cut."""

_PATH_FIELDS = ("file_path", "path", "notebook_path", "absolute_path")
_PATCHED_FILE = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+?)[ \t]*$", re.MULTILINE)

T = TypeVar("T")


def stated_time(value: object) -> tuple[datetime | None, bool, bool]:
    """(UTC time or None, whether the zone is assumed, whether a time is stated that cannot be).

    A time without a zone is read as UTC and marked as assumed.
    """
    if value is None or value == "":
        return None, False, False
    if (ts := parse_time(value)) is not None:
        return ts, False, False
    if isinstance(value, str):
        try:
            naive = datetime.fromisoformat(value)
        except ValueError:
            return None, False, True
        if naive.tzinfo is None:
            return naive.replace(tzinfo=UTC), True, False
    return None, False, True


def typed(value: Any, kind: type[T]) -> T | None:
    """A decoded value as a typed struct, or None where its shape is another one.

    Redaction may put a mark where text stood and a picture's description where its bytes were, and agents
    change their formats between versions: neither may stop a unit.
    """
    try:
        return msgspec.convert(value, kind)
    except (msgspec.ValidationError, RecursionError):
        return None


def latest(records: Iterable[UnitRecord], growth: Callable[[Any], tuple[int, ...]] | None = None) -> list[UnitRecord]:
    """One version of each record, in order of each record's first version.

    The latest kept wins, as it may have been masked anew; of those kept on one day the one whose text comes last.

    Args:
        growth: for agents that write a record again as it grows: how much a value holds, which counts before the
            day, so that an older capture read later takes nothing away. Of equal growth and day the longest wins.
    """

    def order(record: UnitRecord) -> tuple[tuple[int, ...], str, int, str]:
        text = canonical(record.value)
        return (growth(record.value) if growth else ()), record.first_kept, len(text) if growth else 0, text

    versions: dict[str, UnitRecord] = {}
    for record in records:
        other = versions.get(record.id)
        if other is None or order(record) > order(other):
            versions[record.id] = record
    return list(versions.values())


def blocks_text(content: Any) -> str:
    """The text of a message: a string as it is, or the text blocks of a list joined by line ends."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = (item if isinstance(item, str) else item.get("text") for item in content if isinstance(item, str | dict))
    return "\n".join(text for text in texts if isinstance(text, str))


def call_command(arguments: Any) -> str | None:
    """The shell command of a tool call's input, a list of words joined by spaces."""
    if not isinstance(arguments, dict):
        return None
    command = arguments.get("command", arguments.get("cmd"))
    if isinstance(command, list) and command and all(isinstance(word, str) for word in command):
        # ["bash", "-lc", "make test"]: the last word is what was run
        shell = len(command) == 3 and command[1].startswith("-") and command[1].endswith("c")
        return command[2] if shell else " ".join(command)
    return command if isinstance(command, str) and command else None


def call_path(arguments: Any) -> str | None:
    """The file a tool call is about."""
    if not isinstance(arguments, dict):
        return None
    return next((arguments[name] for name in _PATH_FIELDS if isinstance(arguments.get(name), str)), None)


def patched_paths(patch: str) -> list[str]:
    """The files an `apply_patch` patch is about, in order."""
    return _PATCHED_FILE.findall(patch)


def call_text(arguments: Any) -> str:
    """A tool call as text: its command, else its input as canonical JSON, cut with a stated cut."""
    if (command := call_command(arguments)) is not None:
        return command
    return cut(arguments if isinstance(arguments, str) else canonical(arguments))


def cut(text: str) -> str:
    """At most CALL_TEXT_CHARS characters; what was cut off is stated."""
    if len(text) <= CALL_TEXT_CHARS:
        return text
    return f"{text[:CALL_TEXT_CHARS]} [cut: {CALL_TEXT_CHARS} of {len(text)} characters]"
