"""The lake's paths and writes: whole or not at all, in the contract's shape, one writer."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from lorelake.errors import ContractError, LakeBusyError, LorelakeError
from lorelake.lake import Lake, frame, place, read_table, write_bytes, write_table, write_table_pieces
from lorelake.tables import ADMISSIONS, EVENTS, INTAKE, LEDGER, QUARANTINE, SUPERSESSION_CANDIDATES

SAID = datetime(2026, 3, 2, tzinfo=UTC)


def admission(signal: str, **changes: Any) -> dict[str, Any]:
    return {"signal_id": signal, "admitted": True, "rule": "admitted", "detail": "", **changes}


def test_rows_come_back_sorted_by_key_and_typed(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    write_table(ADMISSIONS, frame(ADMISSIONS, [admission("b"), admission("a")]), path)
    assert read_table(ADMISSIONS, path)["signal_id"].to_list() == ["a", "b"]
    assert read_table(ADMISSIONS, tmp_path / "none.parquet").schema == pl.Schema(ADMISSIONS.polars_schema())


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([admission("a", rule=None)], "null"),
        ([admission("a"), admission("a")], "more than one row"),
        ([{**admission("a"), "extra": 1}], "extra"),
    ],
)
def test_what_does_not_fit_the_contract_is_refused(rows: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(ContractError, match=message):
        frame(ADMISSIONS, rows)


def test_equal_rows_are_equal_bytes(tmp_path: Path) -> None:
    rows = [
        dict.fromkeys(SUPERSESSION_CANDIDATES.column_names) | {
            "older_id": old, "newer_id": "n", "reason": "explicit", "evidence": "e", "actor": "mara", "ts": SAID,
            "partial": False, "ambiguous": False, "features": "{}",
        }
        for old in "cab"
    ]  # fmt: skip
    for name, order in (("one", rows), ("two", rows[::-1])):
        write_table(SUPERSESSION_CANDIDATES, frame(SUPERSESSION_CANDIDATES, order), tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    write_bytes(path, b"old")

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", killed)
    with pytest.raises(KeyboardInterrupt):
        write_bytes(path, b"new")
    assert path.read_bytes() == b"old"


def test_days_lie_in_their_own_folders(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    day = date(2026, 3, 2)
    assert lake.table(EVENTS, day) == tmp_path / "events/events/day=2026-03-02/events.parquet"
    with pytest.raises(ContractError, match="no day"):
        lake.table(EVENTS)


HOLD = """
import sys, time
from pathlib import Path
from lorelake.lake import Lake
with Lake(Path(sys.argv[1])).writing():
    print("held", flush=True)
    time.sleep(60)
"""


def test_who_reads_keeps_writers_out_and_writes_nothing(tmp_path: Path) -> None:
    lake = Lake(tmp_path / "lake")
    with lake.reading():
        assert not lake.root.exists()
    with lake.writing(), pytest.raises(LakeBusyError, match="a run is writing"), lake.reading():
        pass
    before = (lake.root / ".writer").stat().st_mtime_ns
    with lake.reading(), Lake(lake.root).reading():
        assert [path.name for path in lake.root.iterdir()] == [".writer"]
        assert (lake.root / ".writer").stat().st_mtime_ns == before
        with pytest.raises(LakeBusyError, match="another run"), lake.writing():
            pass
    with lake.writing():
        pass


def test_a_second_writer_is_told_and_a_dead_one_holds_nothing(tmp_path: Path) -> None:
    other = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE)
    try:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(LakeBusyError, match="another run"), Lake(tmp_path).writing():
            pass
    finally:
        other.kill()
        other.wait(10)
    with Lake(tmp_path).writing():
        pass


def test_sweeping_takes_half_written_files_of_dead_processes_and_nothing_else(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait(10)
    kept = [
        lake.current, tmp_path / "events" / "people.parquet",
        lake.releases / "2026-03-20-0123abcd" / f".x.{ended.pid}.tmp",
        lake.landing / f".12.json.{os.getppid()}.tmp",  # a pull that runs beside the night
    ]  # fmt: skip
    half = [
        tmp_path / f".CURRENT.{ended.pid}.tmp", lake.landing / f".12.json.{ended.pid}.tmp",
        tmp_path / "raw" / "slack" / "day=2026-03-01" / f".raw_records.parquet.{os.getpid()}.tmp",
    ]  # fmt: skip
    for path in [*kept, *half]:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    lake.sweep()
    assert [path.exists() for path in kept + half] == [True] * 4 + [False] * 3


def test_a_damaged_file_is_named_with_the_way_back(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    good, bad = lake.table(INTAKE), lake.table(LEDGER)
    write_table(INTAKE, frame(INTAKE, []), good)
    bad.parent.mkdir(parents=True)
    bad.write_bytes(b"PAR1 and no more")
    with pytest.raises(LorelakeError) as caught:
        read_table(LEDGER, bad)
    assert caught.value.where == str(bad)
    assert "raw/intake.parquet" in str(caught.value.remedy)
    assert lake.damaged() == [bad]


def test_damage_is_looked_for_in_every_stage_but_not_in_releases(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    folders = ("raw/slack/day=2026-03-01", "quarantine", "events", "evidence/signals/day=2026-03-01", "learnings")
    paths = [tmp_path / folder / "x.parquet" for folder in folders]
    for path in [*paths, tmp_path / "releases" / "r" / "tables" / "x.parquet"]:
        path.parent.mkdir(parents=True)
        path.write_bytes(b"")
    assert lake.damaged() == sorted(paths)


def test_a_file_is_put_in_place_and_again(tmp_path: Path) -> None:
    source, path = tmp_path / "aside" / "a", tmp_path / "deep" / "a"
    write_bytes(source, b"one")
    place(source, path)
    place(source, path)
    assert (path.read_bytes(), source.read_bytes()) == (b"one", b"one")
    assert [left.name for left in path.parent.iterdir()] == ["a"]


def test_a_file_is_put_in_place_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError("no hard links here")

    monkeypatch.setattr(os, "link", refuse)
    write_bytes(tmp_path / "a", b"one")
    place(tmp_path / "a", tmp_path / "deep" / "a")
    assert (tmp_path / "deep" / "a").read_bytes() == b"one"


def test_pieces_are_row_groups_of_one_file_and_a_bad_one_leaves_nothing(tmp_path: Path) -> None:
    schema = QUARANTINE.polars_schema()
    row = {name: SAID.date() if kind == pl.Date else 1 if kind == pl.Int64 else "x" for name, kind in schema.items()}
    first, second = (pl.DataFrame([{**row, "capture": name}], schema=schema) for name in ("a", "b"))
    assert write_table_pieces(QUARANTINE, iter([first, second]), tmp_path / "two.parquet") == 2
    assert read_table(QUARANTINE, tmp_path / "two.parquet")["capture"].to_list() == ["a", "b"]
    write_table(QUARANTINE, first, tmp_path / "one.parquet")
    write_table_pieces(QUARANTINE, iter([first]), tmp_path / "piece.parquet")
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "piece.parquet").read_bytes()
    with pytest.raises(ContractError):
        write_table_pieces(QUARANTINE, iter([first, first.drop("head")]), tmp_path / "bad.parquet")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.parquet", "piece.parquet", "two.parquet"]
