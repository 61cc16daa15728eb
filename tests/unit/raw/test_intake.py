"""The evidence log: the same records in any order, twice, or over several nights end in the same rows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from functools import partial
from io import BytesIO
from itertools import permutations
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as parquet
import pytest

from lorelake.content.redaction import Redactor
from lorelake.formats import registry
from lorelake.formats.record import Capture, Member, Record, Refusal, refuse
from lorelake.lake import Lake, read_table
from lorelake.raw import intake, keep, shards, staging
from lorelake.tables import INTAKE, QUARANTINE, RAW_RECORDS

AS_OF = date(2026, 3, 20)
REDACTOR = Redactor(b"a key for tests, nothing more 32")


class Lines:
    """A format of one JSON object a line: {unit, id, at, say}. `at` is an ISO minute or null."""

    def __init__(self) -> None:
        self.reads = 0

    def read(self, capture: Capture) -> Iterator[Record | Refusal]:
        self.reads += 1
        for number, line in enumerate(capture.members[0].read().splitlines(), 1):
            try:
                value = json.loads(line)
            except ValueError:
                yield refuse(capture.name, line, "not_json", "not JSON", number)
                continue
            at = datetime.fromisoformat(value["at"]).replace(tzinfo=UTC) if value["at"] else None
            yield Record(value["unit"], value["id"], "said", at, value, capture.name, number)


def capture(name: str, *lines: dict[str, Any] | str, project: str | None = None) -> Capture:
    data = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines).encode()
    member = Member(name, len(data), lambda: BytesIO(data))
    return Capture(name, (member,), hashlib.sha256(data).hexdigest(), project=project)


def said(unit: str, id_: str, at: str | None, say: str = "x") -> dict[str, Any]:
    return {"unit": unit, "id": id_, "at": at, "say": say}


def night(lake: Lake, captures: Sequence[Capture], as_of: date = AS_OF, format_: Lines | None = None) -> intake.Plan:
    found = [("claude_code", one) for one in captures]
    plan = intake.plan(lake, as_of, found, [], REDACTOR, lambda _: format_ or Lines())
    intake.save(lake, plan)
    plan = intake.load(lake)
    for day in plan.days:
        intake.apply_day(lake, day, plan)
    intake.close(lake, plan)
    return plan


def stored(lake: Lake) -> pl.DataFrame:
    return read_table(RAW_RECORDS, lake.days(RAW_RECORDS)).sort(list(RAW_RECORDS.key))


ONE = capture("one", said("s1", "a", "2026-03-02T23:50"), said("s1", "b", "2026-03-03T00:10"))
TWO = capture("two", said("s1", "b", "2026-03-03T00:10"), said("s1", "c", "2026-03-03T00:20"))
THREE = capture("three", said("s2", "a", "2026-03-04T10:00"))


def test_a_unit_lies_whole_in_the_day_it_began(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    night(lake, [ONE, THREE])
    assert [path.parent.name for path in lake.days(RAW_RECORDS)] == ["day=2026-03-02", "day=2026-03-04"]


@pytest.mark.parametrize("order", list(permutations([ONE, TWO, THREE])))
def test_overlapping_captures_in_any_order_and_over_nights_are_the_same_rows(
    order: tuple[Capture, ...], tmp_path: Path
) -> None:
    together, apart = Lake(tmp_path / "together"), Lake(tmp_path / "apart")
    night(together, [ONE, TWO, THREE])
    for end in (1, 2, 3):
        night(apart, order[:end])
    assert stored(together).equals(stored(apart))
    assert stored(together).height == 4


def test_an_earlier_record_that_comes_late_moves_its_unit(tmp_path: Path) -> None:
    late = capture("late", said("s1", "0", "2026-03-01T08:00"))
    lake, other = Lake(tmp_path / "a"), Lake(tmp_path / "b")
    night(lake, [ONE])
    plan = night(lake, [ONE, late])
    night(other, [late, ONE])
    assert plan.days == (date(2026, 3, 1), date(2026, 3, 2))
    assert stored(lake).equals(stored(other))
    assert [path.parent.name for path in lake.days(RAW_RECORDS)] == ["day=2026-03-01"]


def test_the_same_night_again_reads_nothing_and_changes_nothing(tmp_path: Path) -> None:
    lake, format_ = Lake(tmp_path), Lines()
    night(lake, [ONE, TWO], format_=format_)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.parquet")}
    plan = night(lake, [ONE, TWO], format_=format_)
    assert format_.reads == 2
    assert plan.days == ()
    assert plan.unchanged == 2
    assert {path: path.read_bytes() for path in before} == before


def test_first_kept_is_stamped_once_and_survives_later_nights(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    night(lake, [ONE], date(2026, 3, 10))
    night(lake, [ONE, TWO], date(2026, 3, 12))
    kept = dict(stored(lake).select("record_id", "first_kept").iter_rows())
    assert kept == {"a": date(2026, 3, 10), "b": date(2026, 3, 10), "c": date(2026, 3, 12)}


def test_a_record_after_the_as_of_day_is_kept_as_of_its_own_day(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    night(lake, [ONE], date(2026, 3, 2))
    kept = dict(stored(lake).select("record_id", "first_kept").iter_rows())
    assert kept == {"a": date(2026, 3, 2), "b": date(2026, 3, 3)}


def test_a_record_without_time_begins_with_its_unit_and_moves_with_it(tmp_path: Path) -> None:
    alone = capture("alone", said("s9", "t", None))
    lake, other = Lake(tmp_path / "a"), Lake(tmp_path / "b")
    night(lake, [alone])
    assert stored(lake)["unit_day"].to_list() == [AS_OF]
    timed = capture("timed", said("s9", "u", "2026-03-05T09:00"))
    night(lake, [alone, timed])
    night(other, [timed, alone])
    assert stored(lake)["unit_day"].unique().to_list() == [date(2026, 3, 5)]
    assert stored(lake).equals(stored(other))


def test_versions_of_one_record_are_all_kept(tmp_path: Path) -> None:
    edited = capture("edited", said("s1", "a", "2026-03-02T23:50", "other words"))
    lake = Lake(tmp_path)
    night(lake, [ONE, edited])
    assert stored(lake).filter(pl.col("record_id") == "a").height == 2


def test_the_books_close_with_one_bad_record_among_good_ones(tmp_path: Path) -> None:
    mixed = capture("mixed", said("s1", "a", "2026-03-02T10:00"), '{"torn', said("s1", "b", "2026-03-02T11:00"))
    lake = Lake(tmp_path)
    night(lake, [mixed])
    books = read_table(INTAKE, lake.table(INTAKE)).row(0, named=True)
    assert (books["seen"], books["kept"], books["refused"]) == (3, 2, 1)
    assert json.loads(books["reasons"]) == {"not_json": 1}
    refused = read_table(QUARANTINE, lake.table(QUARANTINE)).row(0, named=True)
    assert (refused["source_uri"], refused["reason"]) == ("mixed:2", "not_json")


def test_a_mended_capture_takes_its_refusals_back(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    night(lake, [capture("file", '{"torn')])
    night(lake, [capture("file", said("s1", "a", "2026-03-02T10:00"))], date(2026, 3, 21))
    assert read_table(QUARANTINE, lake.table(QUARANTINE)).is_empty()
    assert read_table(INTAKE, lake.table(INTAKE)).height == 1


def test_a_vanished_source_loses_nothing(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    night(lake, [ONE, THREE])
    before = stored(lake)
    night(lake, [THREE])
    assert stored(lake).equals(before)


def test_secrets_are_masked_in_raw_and_in_quarantine(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    lake = Lake(tmp_path)
    night(lake, [capture("file", said("s1", "a", "2026-03-02T10:00", f"token {secret}"), '{"torn": "' + secret)])
    assert "[redacted:" in stored(lake)["body"][0]
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or secret.encode() not in path.read_bytes()
    for path in tmp_path.rglob("*.parquet"):
        assert secret not in str(pl.read_parquet(path).to_dicts())


def test_killed_before_the_books_are_closed_it_reads_again_and_ends_the_same(tmp_path: Path) -> None:
    whole, killed = Lake(tmp_path / "whole"), Lake(tmp_path / "killed")
    night(whole, [ONE, TWO, THREE])
    plan = intake.plan(killed, AS_OF, [("claude_code", ONE), ("claude_code", THREE)], [], REDACTOR, lambda _: Lines())
    intake.apply_day(killed, plan.days[0], plan)
    night(killed, [ONE, TWO, THREE])
    assert stored(whole).equals(stored(killed))
    assert read_table(INTAKE, killed.table(INTAKE)).equals(read_table(INTAKE, whole.table(INTAKE)))


def test_new_redaction_rules_reach_records_whose_source_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = Lake(tmp_path)
    night(lake, [capture("gone", said("s1", "a", "2026-03-02T10:00", "codename heron"))])

    class Stricter(Redactor):
        def values(self, values: Sequence[Any]) -> list[Any]:
            return json.loads(json.dumps(super().values(values)).replace("heron", "[redacted:codename:00000000]"))

    monkeypatch.setattr(intake, "RULES_VERSION", "stricter")
    plan = intake.plan(lake, AS_OF, [], [], Stricter(b"a key for tests, nothing more 32"), lambda _: Lines())
    for day in plan.days:
        intake.apply_day(lake, day, plan)
    intake.close(lake, plan)
    assert stored(lake).height == 1
    assert "heron" not in stored(lake)["body"][0]


def test_nothing_at_all_is_an_empty_log(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    assert night(lake, []).days == ()
    assert stored(lake).is_empty()


def test_a_mark_written_by_somebody_is_nobodys_mark(tmp_path: Path) -> None:
    """An e-mail that reads like a reviewer's mark must not make its writer the reviewer."""
    mark = REDACTOR.mark("email", "mara@example.com")
    lake = Lake(tmp_path)
    night(lake, [capture("file", said("s1", "a", "2026-03-02T10:00", f"by {mark} and mara@example.com"))])
    body = json.loads(stored(lake)["body"][0])
    assert body["say"].count(mark) == 1
    assert body["say"].startswith("by [quoted:email:")


def test_a_changed_assumption_of_the_settings_reaches_every_stored_record(tmp_path: Path) -> None:
    """A third of a folder once kept the old project, because equal rows were folded in no order."""
    lines = [said(f"s{number}", "a", "2026-03-01T10:00") for number in range(50)]
    night(Lake(tmp_path), [capture("a.jsonl", *lines, project="before")])
    night(Lake(tmp_path), [capture("a.jsonl", *lines, project="after")])
    assert stored(Lake(tmp_path))["project_hint"].to_list() == ["after"] * 50


def test_what_no_format_took_leaves_the_books_when_it_is_mended_or_gone(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    empty, gone = refuse("notes.jsonl", b"", "empty", "the file is empty"), refuse("x.zip", b"", "empty", "no files")

    def look(found: Sequence[Capture], refused: Sequence[Refusal], as_of: date) -> pl.DataFrame:
        named = [(intake.UNRECOGNISED, refusal.member, refusal) for refusal in refused]
        plan = intake.plan(lake, as_of, [("claude_code", one) for one in found], named, REDACTOR, lambda _: Lines())
        intake.close(lake, plan)
        return plan.quarantine

    assert look([], [empty, gone], AS_OF)["capture"].to_list() == ["notes.jsonl", "x.zip"]
    again = look([], [empty, gone], date(2026, 3, 21))
    assert set(again["first_seen"]) == {AS_OF}
    assert look([capture("notes.jsonl", said("s1", "a", "2026-03-02T10:00"))], [], date(2026, 3, 22)).is_empty()
    assert read_table(INTAKE, lake.table(INTAKE))["source"].to_list() == ["claude_code"]


def test_a_unit_that_moves_to_a_later_day_is_written_there_before_it_leaves_the_old_one(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    night(lake, [capture("one", said("s1", "a", None))])
    plan = night(lake, [capture("two", said("s1", "b", "2026-03-25T10:00"))])
    assert [day.isoformat() for day in plan.days] == ["2026-03-25", "2026-03-20"]
    assert stored(lake)["unit_day"].to_list() == [date(2026, 3, 25)] * 2


def lines_of(number: int) -> Capture:
    """A unit over two captures of the same records, one of them with a line more, and one of its own."""
    shared = [said(f"s{number // 2}", f"r{line}", f"2026-03-{1 + number % 9:02d}T10:{line:02d}") for line in range(9)]
    return capture(f"c{number:02d}", *shared, said(f"own{number}", "x", None, "token ghp_" + "a1B2c3D4e5F6" * 3))


def tree(lake: Lake) -> dict[str, bytes]:
    """Every file of raw and quarantine by its name."""
    return {str(path.relative_to(lake.root)): path.read_bytes() for path in sorted(lake.root.rglob("*.parquet"))}


def test_shares_of_any_size_end_in_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    captures = [lines_of(number) for number in range(12)]
    night(Lake(tmp_path / "one"), captures)
    monkeypatch.setattr(intake, "SHARE_BYTES", 1)
    monkeypatch.setattr(shards, "BUFFER_BYTES", 1)
    monkeypatch.setattr(shards, "GROUP_BYTES", 1)
    monkeypatch.setattr(keep, "BATCH", 2)
    night(Lake(tmp_path / "many"), captures)
    assert tree(Lake(tmp_path / "one")) == tree(Lake(tmp_path / "many"))


def test_processes_end_in_the_same_bytes_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The captures are real files here, since what lies in memory does not travel."""
    lines = [
        {"type": "user", "sessionId": f"s{number % 5}", "uuid": f"u{number}", "message": {"content": "to a@b.example"},
         "timestamp": f"2026-03-{1 + number % 5:02d}T10:00:{number % 60:02d}.000Z"}
        for number in range(400)
    ]  # fmt: skip
    found = []
    for number in range(8):
        path = tmp_path / f"{number}.jsonl"
        path.write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in lines[number * 40 : number * 50 + 50]))
        member = Member(path.name, path.stat().st_size, partial(open, path, "rb"))
        found.append(("claude_code", Capture(path.name, (member,), hashlib.sha256(path.read_bytes()).hexdigest())))
    monkeypatch.setattr(intake, "SHARE_BYTES", 10_000)
    for name, jobs, worth in (("one", "1", 10**9), ("two", "2", 0)):
        monkeypatch.setenv("LORELAKE_JOBS", jobs)
        monkeypatch.setattr(intake, "WORTH_SHARING", worth)
        lake = Lake(tmp_path / name)
        plan = intake.plan(lake, AS_OF, found, [], REDACTOR, registry.by_name)
        for day in plan.days:
            intake.apply_day(lake, day, plan)
        intake.close(lake, plan)
    assert len(stored(Lake(tmp_path / "one"))) == 400
    assert tree(Lake(tmp_path / "one")) == tree(Lake(tmp_path / "two"))


def test_one_appended_line_reads_one_capture_and_rebuilds_one_day(tmp_path: Path) -> None:
    lake, format_ = Lake(tmp_path), Lines()
    captures = [capture(f"c{day}", said(f"s{day}", "a", f"2026-03-{day:02d}T10:00")) for day in range(1, 20)]
    night(lake, captures, format_=format_)
    before = tree(lake)
    grown = capture("c7", said("s7", "a", "2026-03-07T10:00"), said("s7", "b", "2026-03-09T10:00"))
    plan = night(lake, [*captures[:6], grown, *captures[7:]], format_=format_)
    assert (plan.read, plan.unchanged, format_.reads) == (1, 18, 20)
    assert plan.days == (date(2026, 3, 7),)
    changed = {name for name, data in tree(lake).items() if before.get(name) != data}
    assert changed == {"raw/claude_code/day=2026-03-07/raw_records.parquet", "raw/intake.parquet"}


def test_a_day_larger_than_a_chunk_is_written_in_pieces_cut_between_units(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its bytes depend on its rows, not on the nights in which they came."""
    monkeypatch.setattr(staging, "CHUNK_BYTES", 3000)
    units = [
        capture(f"c{unit}", *(said(f"s{unit:02d}", f"r{line}", "2026-03-02T10:00", "words " * 20) for line in range(7)))
        for unit in range(12)
    ]
    together, apart = Lake(tmp_path / "together"), Lake(tmp_path / "apart")
    night(together, units)
    for end in (5, 6, 12):
        night(apart, units[:end])
    path = together.days(RAW_RECORDS)[0]
    file = parquet.ParquetFile(path)
    groups = [set(file.read_row_group(group)["unit_id"].to_pylist()) for group in range(file.num_row_groups)]
    assert len(groups) > 2
    assert sum(map(len, groups)) == len(set.union(*groups)) == 12
    assert path.read_bytes() == apart.days(RAW_RECORDS)[0].read_bytes()


def test_a_source_whose_last_unit_left_a_day_has_no_file_there(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    other = [("slack", THREE)]
    night(lake, [capture("one", said("s1", "a", "2026-03-04T10:00"))])
    plan = intake.plan(lake, AS_OF, other, [], REDACTOR, lambda _: Lines())
    for day in plan.days:
        intake.apply_day(lake, day, plan)
    intake.close(lake, plan)
    plan = night(lake, [capture("late", said("s1", "b", "2026-03-01T10:00"))])
    assert plan.emptied == (("claude_code", date(2026, 3, 4)),)
    assert [str(path.parent.relative_to(lake.root)) for path in lake.days(RAW_RECORDS)] == [
        "raw/claude_code/day=2026-03-01", "raw/slack/day=2026-03-04",
    ]  # fmt: skip


def test_the_log_as_it_will_be_is_known_before_the_plan_is_applied(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    night(lake, [ONE, THREE])
    late = capture("late", said("s1", "0", "2026-03-01T08:00"))
    plan = intake.plan(lake, AS_OF, [("claude_code", late)], [], REDACTOR, lambda _: Lines())
    foreseen = intake.after(lake, plan).collect().sort(list(RAW_RECORDS.key))
    for day in plan.days:
        intake.apply_day(lake, day, plan)
    assert foreseen.equals(stored(lake))
