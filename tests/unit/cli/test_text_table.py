from __future__ import annotations

from lorelake.cli.text_table import on_terminal, text_table, wrapped


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


def test_a_last_column_of_sentences_goes_on_below_itself():
    rows = [("slack", "nothing for nine days; before, it never paused longer than two")]
    told = text_table(("source", "why"), rows, width=40, wrap_last=True).splitlines()
    assert told[0].split() == ["source", "why"]
    assert set(told[1]) == {"-", " "}
    assert len(told[1]) == 40
    assert [line[:8].strip() for line in told[2:]] == ["slack", ""]
    assert " ".join(line[8:].strip() for line in told[2:]) == rows[0][1]
    assert "…" in text_table(("source", "why"), rows, width=40)
    assert "…" in text_table(("source", "why"), rows, width=20, wrap_last=True), "too narrow to wrap into"


def test_a_long_line_goes_on_behind_its_fence_and_two_columns_deeper():
    line = "> 1. do: keep the retry loop out of the request handler, and put it into the worker"
    told = wrapped(line, 40).split("\n")
    assert all(len(part) <= 40 and part.startswith("> ") for part in told)
    assert [part[2:4] for part in told] == ["1.", "  ", "  "]
    assert " ".join(part.removeprefix(">").strip() for part in told) == line.removeprefix("> ")


def test_a_marker_and_a_path_stay_whole_and_chinese_breaks_between_characters():
    marker = "<!-- lorelake:cited ids=lrn_abcdef123456, lrn_0123456789ab -->"
    assert wrapped(marker, 20) == marker
    path = "/srv/lake/" + "deep/" * 20 + "file.jsonl"
    assert path in wrapped(f"  file {path}", 40).split("\n")[1]
    told = wrapped("  " + "数据库迁移之前必须先备份" * 3, 20).split("\n")
    assert len(told) > 3
    assert "".join(part.strip() for part in told) == "数据库迁移之前必须先备份" * 3
    assert all(2 * len(part.strip()) + 4 <= 20 for part in told[1:])


def test_a_text_is_only_fitted_where_there_is_a_terminal(monkeypatch):
    text = "word " * 30
    assert on_terminal(text) == text
    monkeypatch.setattr("lorelake.cli.text_table.terminal_width", lambda: 30)
    assert max(map(len, on_terminal(text.strip()).split("\n"))) <= 30
