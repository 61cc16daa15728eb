"""Rows as an aligned plain-text table. No colour, no frame; cut to the terminal's width only on a terminal."""

from __future__ import annotations

import shutil
import sys
import unicodedata
from collections.abc import Sequence
from typing import Any

WIDEST_CELL = 60
"""On a terminal a cell is cut to this many columns, so that one long text does not push the others out of sight."""


def text_table(names: Sequence[str], rows: Sequence[Sequence[Any]], width: int | None = None) -> str:
    """Names and rows in columns; numbers to the right. Cut cells and lines end in `…`.

    Args:
        names: column headings.
        rows: values; None is shown as nothing.
        width: columns of the terminal; None cuts nothing.
    """
    cells = [[_cell(value, width) for value in row] for row in rows]
    numeric = [
        bool(rows) and all(isinstance(row[i], int | float) or row[i] is None for row in rows) for i in range(len(names))
    ]
    widths = [max([_width(name), *(_width(row[i]) for row in cells)]) for i, name in enumerate(names)]
    lines = [_line(names, widths, numeric), _line(["-" * w for w in widths], widths, numeric)]
    lines += [_line(row, widths, numeric) for row in cells]
    return "\n".join(line if width is None else _cut(line, width) for line in lines)


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


def _cell(value: Any, width: int | None) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        text = f"{value:.4g}" if width is not None else repr(value)
    elif isinstance(value, list | tuple):
        text = ", ".join(map(str, value))
    else:
        text = str(value)
    text = plain(text)
    return text if width is None else _cut(text, WIDEST_CELL)


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
