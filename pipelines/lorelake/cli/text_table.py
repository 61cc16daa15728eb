"""Texts and tables as a person reads them. No colour, no frame; fitted to the terminal's width only on a terminal."""

from __future__ import annotations

import re
import shutil
import sys
import unicodedata
from collections.abc import Sequence
from typing import Any

WIDEST_CELL = 60
"""On a terminal a cell is cut to this many columns, so that one long text does not push the others out of sight."""

NARROWEST_TEXT = 20
"""A last column is not wrapped into less than this."""

_WIDE = "\u1100-\u115f\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uff60"
_PIECE = re.compile(rf" *(?:[{_WIDE}]|[^ {_WIDE}]+)")
_START = re.compile(r"(?:> ?)? *")


def text_table(
    names: Sequence[str], rows: Sequence[Sequence[Any]], width: int | None = None, wrap_last: bool = False
) -> str:
    """Names and rows in columns; numbers to the right. Cut cells and lines end in `…`.

    Args:
        names: column headings.
        rows: values; None is shown as nothing.
        width: columns of the terminal; None cuts nothing.
        wrap_last: whether the last column is a sentence, which goes on below itself instead of being cut.
    """
    cells = [[_cell(value, width, wrap_last and i == len(row) - 1) for i, value in enumerate(row)] for row in rows]
    numeric = [
        bool(rows) and all(isinstance(row[i], int | float) or row[i] is None for row in rows) for i in range(len(names))
    ]
    widths = [max([_width(name), *(_width(row[i]) for row in cells)]) for i, name in enumerate(names)]
    before = sum(widths[:-1]) + 2 * (len(widths) - 1)
    wraps = wrap_last and width is not None and width - before >= NARROWEST_TEXT
    if width is not None and wraps:
        widths[-1] = min(widths[-1], width - before)
    lines = [_line(names, widths, numeric), _line(["-" * w for w in widths], widths, numeric)]
    lines += [_line(row, widths, numeric) for row in cells]
    if width is not None:
        lines = [_filled(line, width, " " * before) if wraps else _cut(line, width) for line in lines]
    return "\n".join(lines)


def on_terminal(text: str) -> str:
    """A text of lines, each fitted to the terminal's width where there is one.

    What goes on lies two columns deeper than its line, behind the same `>`. A comment (a marker, which is one line) and
    a word longer than a line (a path to copy) stay whole.
    """
    width = terminal_width()
    return text if width is None else "\n".join(wrapped(line, width) for line in text.split("\n"))


def wrapped(line: str, width: int) -> str:
    """One line in as many as it takes."""
    if _width(line) <= width or line.startswith("<!--"):
        return line
    start = _START.match(line)
    return _filled(line, width, (start[0] if start else "") + "  ")


def _filled(line: str, width: int, indent: str) -> str:
    start = _START.match(line)
    lines = [start[0] if start else ""]
    used = _width(lines[0])
    is_begun = False
    for piece in _PIECE.findall(line, len(lines[0])):
        if is_begun and used + _width(piece) > width:
            lines.append(indent)
            piece, used = piece.lstrip(" "), _width(indent)
        lines[-1] += piece
        used += _width(piece)
        is_begun = True
    return "\n".join(lines)


def plain(text: str) -> str:
    """A text as one line that moves no cursor and can be written, whoever gave it."""
    return "".join(
        " " if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") else character for character in text
    )


def count(number: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number} {noun}" + ("" if number == 1 else "s")


def terminal_width() -> int | None:
    """Columns of the terminal that standard output is, or None where it is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _cell(value: Any, width: int | None, is_whole: bool = False) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        text = f"{value:.4g}" if width is not None else repr(value)
    elif isinstance(value, list | tuple):
        text = ", ".join(map(str, value))
    else:
        text = str(value)
    text = plain(text)
    return text if width is None or is_whole else _cut(text, WIDEST_CELL)


def _line(cells: Sequence[str], widths: Sequence[int], numeric: Sequence[bool]) -> str:
    padded = []
    for cell, width, right in zip(cells, widths, numeric, strict=True):
        space = " " * (width - _width(cell))
        padded.append(space + cell if right else cell + space)
    return "  ".join(padded).rstrip()


def _width(text: str) -> int:
    """Columns on a terminal: Chinese and Japanese characters take two, combining marks none."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _cut(text: str, width: int) -> str:
    if _width(text) <= width:
        return text
    while _width(text) > width - 1:
        text = text[: max(len(text) - max(1, (_width(text) - width) // 2), 0)]
    return text + "…"
