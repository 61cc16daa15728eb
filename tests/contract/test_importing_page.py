"""docs/importing.md says what the code does: its tables are the code's own."""

from __future__ import annotations

import re
from pathlib import Path

from lorelake.cli.import_preview import TAKEN_AS
from lorelake.formats import gitmem, markdown
from lorelake.tables import IMPORTED_VOTES

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "importing.md").read_text(encoding="utf-8")


def tables() -> dict[str, list[list[tuple[str, ...]]]]:
    """Heading row to the bodies of the tables under it, in order."""
    found: dict[str, list[list[tuple[str, ...]]]] = {}
    for block in re.findall(r"(?:^\|.*\n)+", PAGE, re.MULTILINE):
        head, _, *body = [
            tuple(cell.strip() for cell in line.strip().strip("|").split("|")) for line in block.splitlines()
        ]
        found.setdefault(head[0], []).append(body)
    return found


def test_the_mapping_of_gitmem_is_the_codes() -> None:
    learning, decision = tables()["field"]
    assert learning == [tuple(field) for field in gitmem.LEARNING]
    assert decision == [tuple(field) for field in gitmem.DECISION]


def test_what_an_entry_is_taken_as_is_the_commands() -> None:
    (table,) = tables()["taken as"]
    assert table == list(TAKEN_AS.items())


def test_the_headings_of_teamais_template_are_the_readers() -> None:
    (table,) = tables()["heading"]
    assert table == [(words, part) for words, part in markdown.SECTIONS.items() if not words.isascii()]


def test_the_totals_land_in_columns_of_the_table() -> None:
    (table,) = tables()["column"]
    columns = set(IMPORTED_VOTES.column_names)
    assert {row[0] for row in table} < columns
    section = PAGE.partition("## What it counted of its own use")[2]
    assert set(re.findall(r"`([a-z]+_[a-z]+)`", section)) - {IMPORTED_VOTES.name} <= columns
