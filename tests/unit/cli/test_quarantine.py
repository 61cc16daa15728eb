from __future__ import annotations

import json
from datetime import date

import pytest

from lorelake.cli import run
from lorelake.lake import Lake, frame, write_table
from lorelake.tables import QUARANTINE


def refused(source: str, reason: str, line: int) -> dict[str, object]:
    return dict.fromkeys(QUARANTINE.column_names) | {
        "source": source, "capture": "notes/a.jsonl", "source_uri": f"notes/a.jsonl:{line}", "byte_offset": 10 * line,
        "reason": reason, "detail": f"why {reason}", "head": "{\"half", "sha256": "ab" * 32, "first_seen": FIRST,
    }  # fmt: skip


FIRST = date(2026, 3, 20)


@pytest.fixture
def call(tmp_path, capsys):
    rows = [refused("codex", "not_json", 1), refused("codex", "no_time", 2), refused("slack", "not_json", 3)]
    write_table(QUARANTINE, frame(QUARANTINE, rows), Lake(tmp_path).table(QUARANTINE))

    def called(*arguments: str) -> tuple[int, str]:
        code = run(["quarantine", "--home", str(tmp_path), *arguments])
        return code, capsys.readouterr().out

    return called


def test_without_a_filter_all_are_listed_with_place_and_reason(call):
    code, out = call()
    assert code == 0
    assert "notes/a.jsonl:1 (byte 10, since 2026-03-20)\n  not_json: why not_json\n  begins: '{\"half'\n" in out
    assert out.endswith("3 of 3 refused records\n")


def test_a_file_name_moves_no_cursor(tmp_path, capsys):
    row = refused("codex", "not_json", 1) | {"source_uri": "notes/\x1b[2J\n.jsonl:1", "detail": "why\n\x1b[2J"}
    write_table(QUARANTINE, frame(QUARANTINE, [row]), Lake(tmp_path).table(QUARANTINE))
    assert run(["quarantine", "--home", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("notes/ [2J .jsonl:1 (byte 10, since 2026-03-20)\n  not_json: why  [2J\n")


@pytest.mark.parametrize(
    ("arguments", "count"),
    [(["--source", "codex"], 2), (["--reason", "not_json"], 2), (["--source", "codex", "--reason", "not_json"], 1)],
)
def test_each_filter_is_honoured(call, arguments, count):
    assert call(*arguments)[1].endswith(f"{count} of {count} refused records\n")


def test_a_cut_list_says_so(call):
    assert call("--limit", "1")[1].endswith("1 of 3 refused records (raise --limit)\n")


def test_json_is_one_object_a_line(call):
    rows = [json.loads(line) for line in call("--json")[1].splitlines()]
    assert [(row["source"], row["reason"]) for row in rows] == [
        ("codex", "not_json"), ("codex", "no_time"), ("slack", "not_json"),
    ]  # fmt: skip


def test_a_lake_that_read_nothing_is_not_a_lake_that_refused_nothing(tmp_path, capsys):
    assert run(["quarantine", "--home", str(tmp_path / "none")]) == 1
    assert "nothing was read into this lake yet\n  remedy: run `lorelake nightly`" in capsys.readouterr().err


def test_a_damaged_file_is_named(call, tmp_path, capsys):
    path = Lake(tmp_path).table(QUARANTINE)
    path.write_bytes(b"not Parquet")
    assert call()[0] == 1
    assert run(["quarantine", "--home", str(tmp_path)]) == 1
    assert f"{path.resolve()}: this file of the lake is damaged\n  remedy: " in capsys.readouterr().err
