"""Taking out of raw: the records, the names, what a model said about them, and what the books tell."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from lorelake.content.erasure import Erased, label_of, person_hmacs, record_hmac
from lorelake.formats.record import Capture, Record, Refusal
from lorelake.lake import Lake, frame, read_table, write_table
from lorelake.raw import erased, keep
from lorelake.tables import INTAKE, MODEL_ANSWERS, QUARANTINE, RAW_RECORDS

KEY = b"k" * 32
HMACS = person_hmacs(KEY, ["mara"])
MARA = Erased(KEY, persons=dict.fromkeys(HMACS, label_of(HMACS)))


def row(record: str, unit: str, ts: datetime, value: Any, uri: str = "share/mara/a.jsonl:1") -> dict[str, Any]:
    body = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return {
        "source": "codex", "unit_id": f"codex:{unit}", "record_id": record, "body_sha256": record, "record_type": "m",
        "ts": ts, "ts_assumed": False, "unit_day": ts.date(), "body": body, "project_hint": None, "person_hint": None,
        "capture_sha256": "c", "source_uri": uri, "first_kept": date(2026, 3, 9),
    }  # fmt: skip


def at(day: int) -> datetime:
    return datetime(2026, 3, day, 12, tzinfo=UTC)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """A unit that begins with an erased record and goes on the day after; a unit of somebody else."""
    lake = Lake(tmp_path)
    rows = [row("r1", "a", at(1), {"text": "heron"}), row("r2", "a", at(2), {"text": "egret"})]
    other = row("r3", "b", at(1), {"author": {"name": "jonas"}, "by": "mara"}, "share/other.jsonl:1")
    stored = keep.fold(frame(RAW_RECORDS, [*rows, other]))
    write_table(RAW_RECORDS, stored, lake.table(RAW_RECORDS, date(2026, 3, 1), "codex"))
    answer = {
        "unit_day": date(2026, 3, 1), "model": "m", "is_json": True, "missing": 0, "unusable": 0,
        "first_kept": date(2026, 3, 9), "answer": "heron",
    }  # fmt: skip
    answers = [answer | {"answer_key": unit, "unit_id": f"codex:{unit}"} for unit in "ab"]
    write_table(MODEL_ANSWERS, frame(MODEL_ANSWERS, answers), lake.table(MODEL_ANSWERS, date(2026, 3, 1)))
    refused = {
        "source": "codex", "reason": "not_json", "detail": "heron", "byte_offset": 0, "sha256": "d", "head": "heron",
        "first_seen": date(2026, 3, 9),
    }  # fmt: skip
    places = [("share/mara/a.jsonl", "share/mara/a.jsonl:9"), ("share/other.jsonl", "share/other.jsonl:9")]
    refusals = [refused | {"capture": capture, "source_uri": uri} for capture, uri in places]
    write_table(QUARANTINE, frame(QUARANTINE, refusals), lake.table(QUARANTINE))
    book = {
        "source": "codex", "capture_sha256": "c", "fingerprint": "f", "seen": 2, "kept": 2, "refused": 0,
        "reasons": "{}", "extent": "{}",
    }  # fmt: skip
    books = [book | {"capture": capture} for capture, _ in places]
    write_table(INTAKE, frame(INTAKE, books), lake.table(INTAKE))
    return lake


def stored(lake: Lake) -> dict[str, list[str]]:
    return {
        path.parent.name: sorted(read_table(RAW_RECORDS, path)["record_id"])
        for path in lake.days(RAW_RECORDS)
    }  # fmt: skip


def test_a_unit_that_lost_its_beginning_moves_to_the_day_it_begins_on_now(lake: Lake) -> None:
    gone = Erased(KEY, frozenset((record_hmac(KEY, "codex", "r1"),)))
    taken = erased.take_out(lake, gone)
    assert (taken.records, taken.units) == (1, {"codex:a"})
    assert stored(lake) == {"day=2026-03-01": ["r3"], "day=2026-03-02": ["r2"]}
    assert erased.take_out(lake, gone).records == 0, "a second time changes nothing"


def test_killed_between_the_two_days_it_ends_in_the_same_files(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = Erased(KEY, frozenset((record_hmac(KEY, "codex", "r1"),)))
    writes = 0

    def write_once(*arguments: Any) -> None:
        nonlocal writes
        writes += 1
        if writes == 2:
            raise KeyboardInterrupt
        write_table(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(erased, "write_table", write_once)
        with pytest.raises(KeyboardInterrupt):
            erased.take_out(lake, gone)
    assert "r2" in stored(lake)["day=2026-03-01"], "it is still in its old day, and twice is not lost"
    erased.take_out(lake, gone)
    assert stored(lake) == {"day=2026-03-01": ["r3"], "day=2026-03-02": ["r2"]}


def test_what_stands_beside_an_erased_record_loses_its_words_and_the_rest_keeps_them(lake: Lake) -> None:
    erased.take_out(lake, Erased(KEY, frozenset((record_hmac(KEY, "codex", "r1"),))))
    (answers,) = lake.days(MODEL_ANSWERS)
    assert read_table(MODEL_ANSWERS, answers)["unit_id"].to_list() == ["codex:b"]
    heads = read_table(QUARANTINE, lake.table(QUARANTINE)).select("capture", "head", "detail", "sha256").rows()
    assert sorted(heads) == [("share/mara/a.jsonl", "", "", ""), ("share/other.jsonl", "heron", "heron", "d")]
    books = dict(read_table(INTAKE, lake.table(INTAKE)).select("capture", "fingerprint").iter_rows())
    assert books == {"share/mara/a.jsonl": "erased", "share/other.jsonl": "f"}


def test_an_erased_persons_name_is_in_no_row_of_raw_or_its_books(lake: Lake) -> None:
    assert erased.survey(lake, MARA).masked == 3
    erased.take_out(lake, MARA)
    said = "".join(repr(pl.read_parquet(path).rows()) for path in lake.root.rglob("*.parquet"))
    assert "mara" not in said
    assert "jonas" in said


def test_a_capture_is_sifted_and_what_is_kept_out_is_told_by_its_hash_alone() -> None:
    def record(id_: str, value: Any) -> Record:
        return Record("u", id_, "m", None, value, "share/a.jsonl", 7)

    broken = Refusal("not_json", "heron", "share/a.jsonl", 3, 0, "s", "heron")
    found = [record("r1", {"author": {"name": "mara"}, "text": "heron"}), record("r2", {"text": "egret"}), broken]
    sifted = list(erased.sifted("codex", Capture("share/a.jsonl", (), "c"), found, MARA))
    refusals = erased.without_words([item for item in sifted if isinstance(item, Refusal)])
    assert [item.id for item in sifted if isinstance(item, Record)] == ["r2"]
    assert [(one.reason, one.line, one.sha256) for one in refusals] == [
        ("erased", 7, record_hmac(KEY, "codex", "r1")),
        ("not_json", 3, ""),
    ]
    assert "heron" not in repr(refusals)
    assert len(sifted) == len(found), "seen = kept + refused"
