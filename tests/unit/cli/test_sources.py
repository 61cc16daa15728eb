from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from lorelake.cli import run
from lorelake.lake import Lake, frame, write_bytes, write_table
from lorelake.tables import INTAKE, SOURCE_HEALTH

RELEASE = "2026-03-20-0123abcd"


def health(source: str, status: str, why: str = "") -> dict[str, object]:
    return dict.fromkeys(SOURCE_HEALTH.column_names) | {
        "source": source, "captures": 2, "seen": 10, "refused": 1, "status": status, "why": why,
        "last_event": datetime(2026, 3, 2, 9, tzinfo=UTC), "silent_days": 18, "usual_gap_days": 1,
    }  # fmt: skip


def capture(source: str, name: str, **covers: object) -> dict[str, object]:
    return dict.fromkeys(INTAKE.column_names, "") | {
        "source": source, "capture": name, "seen": 10, "kept": 9, "refused": 1, "extent": json.dumps(covers),
    }  # fmt: skip


@pytest.fixture
def call(tmp_path, capsys):
    lake = Lake(tmp_path)
    rows = [health("slack", "fine"), health("codex", "silent", "nothing for 18 days")]
    folder = lake.releases / RELEASE
    write_table(SOURCE_HEALTH, frame(SOURCE_HEALTH, rows), folder / "tables" / "source_health.parquet")
    write_bytes(folder / "manifest.json", b"{}")
    write_bytes(tmp_path / "CURRENT", f"{RELEASE}\n".encode())
    books = [
        capture("slack", "export", units=3, first="2026-03-01T09:00:00+00:00", last="2026-03-02T00:00:00+00:00",
                places=["C1", "C2"]),
        capture("codex", "rollout.jsonl", units=1),
    ]  # fmt: skip
    write_table(INTAKE, frame(INTAKE, books), lake.table(INTAKE))

    def called(*arguments: str) -> tuple[int, str, str]:
        code = run(["sources", "--home", str(tmp_path), *arguments])
        out = capsys.readouterr()
        return code, out.out, out.err

    return called


def test_each_source_is_told_with_its_status(call):
    code, out, _ = call()
    assert code == 0
    assert [line.split()[:2] for line in out.splitlines()[2:]] == [["codex", "silent"], ["slack", "fine"]]
    assert "nothing for 18 days" in out


def test_check_tells_cron_by_its_exit_code(call):
    code, _, err = call("--check")
    assert code == 1
    assert "not to be relied on: codex\n" in err


def test_one_source_shows_what_each_capture_covers(call):
    code, out, _ = call("slack", "--json")
    assert code == 0
    assert json.loads(out) == {
        "capture": "export", "kept": 9, "refused": 1, "units": 3, "first": "2026-03-01", "last": "2026-03-02",
        "covers": "places C1 C2",
    }  # fmt: skip


def test_an_unknown_name_lists_the_known_ones(call):
    code, _, err = call("jira")
    assert code == 1
    assert "no source `jira` in the books" in err
    assert "there are: codex, slack" in err


def test_a_lake_without_a_release_says_so(tmp_path, capsys):
    assert run(["sources", "--home", str(tmp_path)]) == 1
    assert "no release is published here" in capsys.readouterr().err
