from __future__ import annotations

from lorelake.cli.text_table import text_table


def test_columns_are_aligned_and_numbers_stand_right():
    assert text_table(("name", "n"), [("ab", 1), ("数据", 10), (None, None)]) == (
        "name   n\n----  --\nab     1\n数据  10\n"
    )


def test_nothing_is_cut_without_a_terminal_and_cuts_show():
    rows = [("x" * 100, "y")]
    assert "x" * 100 in text_table(("a", "b"), rows)
    cut = text_table(("a", "b"), rows, width=40)
    assert all(len(line) <= 40 for line in cut.splitlines())
    assert "…" in cut


def test_a_stored_line_break_or_escape_cannot_break_the_table():
    assert text_table(("a",), [("one\ntwo\x1b[31m",)]) == "a\n-----------\none two [31m".replace(
        "-----------", "-" * 12
    )


def test_no_rows_are_only_a_heading():
    assert text_table(("a", "b"), []) == "a  b\n-  -"
