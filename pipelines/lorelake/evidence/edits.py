"""What an edit changed, as one line of code before and after: the essence a person would quote of it."""

from __future__ import annotations

import difflib
import json
import re

import msgspec

from lorelake.evidence.unit import EventRow

_LONGEST_LINE = 100
_MOST_LINES = 200
"""Lines of each side that are compared: each with each, so a rewritten file would take minutes."""
_ALIKE = 0.5
_OLD_NAMES = ("old_string", "old_str")
_NEW_NAMES = ("new_string", "new_str")
_SAYS_LITTLE = re.compile(
    r"^(?:#|//|/\*|\*|--|\"\"\"|'''|import\b|from\s+\S+\s+import\b|use\s|(?:async )?def\s|class\s|func\s|fn\s|@|\W*$)"
)
_CODE_WORD = re.compile(r"[A-Za-z_]{2,}")


class Change(msgspec.Struct, frozen=True):
    """A line written, and the line it stands in for, "" where there is none."""

    written: str
    replaced: str


def essence(call: EventRow) -> Change | None:
    """The line that tells best what an edit did; None where it only removed, or is not told as a change of lines."""
    removed, added = _lines(call)
    telling = [line for line in added if _is_telling(line)]
    if not telling:
        return None
    # A line that is new altogether tells more than one that was touched.
    fresh = next((line for line in telling if _likest(line, removed) is None), None)
    return Change(fresh, "") if fresh else Change(telling[0], _likest(telling[0], removed) or "")


def _lines(call: EventRow) -> tuple[list[str], list[str]]:
    """Lines only before and lines only after the edit, without outer space."""
    if call.text.lstrip().startswith("{"):
        try:
            arguments = json.loads(call.text)
        except ValueError:
            return [], []
        before = next((str(arguments[name]) for name in _OLD_NAMES if name in arguments), None)
        after = next((str(arguments[name]) for name in _NEW_NAMES if name in arguments), None)
        old, new = (text.splitlines() if text else [] for text in (before, after))
        if before is None:
            return [], []
    else:
        lines = call.text.splitlines()
        old = [line[1:] for line in lines if line.startswith("-") and not line.startswith("---")]
        new = [line[1:] for line in lines if line.startswith("+") and not line.startswith("+++")]
    stripped_old, stripped_new = [line.strip() for line in old], [line.strip() for line in new]
    before_lines, after_lines = frozenset(stripped_old), frozenset(stripped_new)
    return (
        [line for line in stripped_old if line and line not in after_lines][:_MOST_LINES],
        [line for line in stripped_new if line and line not in before_lines][:_MOST_LINES],
    )


def _is_telling(line: str) -> bool:
    words = len(_CODE_WORD.findall(line))
    return words > 1 and len(line) <= _LONGEST_LINE and "`" not in line and not _SAYS_LITTLE.match(line)


def _likest(line: str, removed: list[str]) -> str | None:
    """The removed line that this one stands in for: "" where it cannot be shown, None where there is none."""
    compared = [(difflib.SequenceMatcher(None, line, other), other) for other in removed]
    near = [
        (pair.ratio(), other) for pair, other in compared if pair.real_quick_ratio() >= _ALIKE <= pair.quick_ratio()
    ]
    likeness, other = max(near, default=(0.0, ""))
    if likeness < _ALIKE:
        return None
    return other if len(other) <= _LONGEST_LINE and "`" not in other else ""
