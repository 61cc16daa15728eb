"""From a unified diff to the lines it touched: what is kept of a change."""

from __future__ import annotations

import re

_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")


def changed_lines(patch: str) -> list[list[int]]:
    """Ranges [first, last] of the lines a patch touched, counted in the file after the change.

    Lines that were only removed give the one line that follows them. `patch` is the body of one file, from its
    first `@@`; text without a hunk gives no range.
    """
    ranges: list[list[int]] = []
    line = -1
    removed = False
    for row in patch.split("\n"):
        start = _HUNK.match(row)
        if start or (line >= 0 and row[:1] in (" ", "")):
            if removed:
                _touch(ranges, line)
            removed = False
            line = int(start[1]) if start else line + 1
        elif line >= 0 and row[0] == "+":
            _touch(ranges, line)
            line, removed = line + 1, False
        elif line >= 0 and row[0] == "-":
            removed = True
    if removed:
        _touch(ranges, line)
    return ranges


def _touch(ranges: list[list[int]], line: int) -> None:
    if ranges and ranges[-1][1] == line - 1:
        ranges[-1][1] = line
    else:
        ranges.append([max(line, 1), max(line, 1)])
