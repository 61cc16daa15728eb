"""Old releases go once a newer one is served, history keeps what that knows, and Dagster forgets its runs."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import polars as pl
import pytest

from lorelake.content import erasure_log
from lorelake.content.erasure import NOTHING
from lorelake.errors import LakeBusyError, ReleaseError, SettingsError
from lorelake.lake import Lake, frame, read_table, write_table
from lorelake.release import erase
from lorelake.tables import ALIASES, HISTORY, LEARNINGS, SERVED_IDS

KEY = b"k" * 32
NOW = datetime(2026, 3, 20, tzinfo=UTC)
OLD, NEW = "2026-03-19-00000000", "2026-03-20-11111111"


def begin(lake: Lake) -> erasure_log.Erasure:
    return erasure_log.begin(lake, KEY, ["d"], ["a" * 64], [("b" * 64,)], ["erased:bbbbbbbb"], NOW)


def release(lake: Lake, name: str, learnings: list[str] | None = None) -> None:
    """As far as an erasure looks at one: its manifest's inputs, and the ids it knows."""
    folder = lake.releases / name
    (folder / "tables").mkdir(parents=True)
    about = {
        "release_id": name, "team": "t", "as_of": name[:10], "content_hash": "0" * 64, "active": {}, "lorelake": "0",
        "logic_version": "1", "config_sha256": "", "engine": "lexical", "rows": {}, "quarantined": 0,
        "inputs": {"erasures": erasure_log.digest(lake)} if erasure_log.digest(lake) else {},
    }  # fmt: skip
    (folder / "manifest.json").write_bytes(msgspec.json.encode(about))
    schema = LEARNINGS.polars_schema()
    ids = pl.DataFrame({"learning_id": learnings or []}, schema={"learning_id": pl.String})
    nothing = pl.DataFrame(schema=schema)
    pl.concat([nothing, ids], how="diagonal").write_parquet(folder / "tables" / "learnings.parquet")
    pl.DataFrame(schema=ALIASES.polars_schema()).write_parquet(folder / "tables" / "aliases.parquet")


def serve(lake: Lake, name: str) -> None:
    lake.current.write_text(f"{name}\n")


def test_old_releases_go_when_a_newer_one_is_served_and_not_before(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    release(lake, OLD)
    serve(lake, OLD)
    (lake.releases / "2026-03-18-22222222").mkdir()
    assert erase.remove_outdated(lake) == [], "nothing was erased"
    begin(lake)
    assert erase.erased_since(lake, OLD)
    assert erase.remove_outdated(lake) == [], "the only one that is served is not taken away"
    release(lake, NEW)
    assert erase.remove_outdated(lake) == []
    serve(lake, NEW)
    assert erase.remove_outdated(lake) == ["2026-03-18-22222222", OLD]
    assert [path.name for path in lake.releases.iterdir()] == [NEW]


def test_history_keeps_what_the_release_knows_and_no_other_id(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    stamp = {"sequence": 1, "release_id": OLD, "published_at": NOW, "from_state": None, "to_state": "active"}
    stamp |= {"text_sha256": "a" * 64}
    rows = [stamp | {"learning_id": id_} for id_ in ("", "lrn_kept", "lrn_gone")]
    write_table(HISTORY, frame(HISTORY, rows), lake.history / f"000001-{OLD}.parquet")
    ids = [
        {"sequence": 1, "release_id": OLD, "claim_id": id_, "content_key": "k", "audience": "team"}
        for id_ in ("lrn_kept", "lrn_gone")
    ]
    write_table(SERVED_IDS, frame(SERVED_IDS, ids), lake.history / "served_ids" / f"000001-{OLD}.parquet")
    begin(lake)
    release(lake, OLD, ["lrn_kept"])
    serve(lake, OLD)
    assert erase.rewrite_history(lake, NOTHING) == 2
    assert read_table(HISTORY, lake.history / f"000001-{OLD}.parquet")["learning_id"].to_list() == ["", "lrn_kept"]
    assert read_table(SERVED_IDS, lake.served_ids())["claim_id"].to_list() == ["lrn_kept"]
    assert erase.rewrite_history(lake, NOTHING) == 0


def test_history_is_not_rewritten_while_an_old_release_is_served(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    release(lake, OLD)
    serve(lake, OLD)
    begin(lake)
    with pytest.raises(ReleaseError):
        erase.rewrite_history(lake, NOTHING)


def test_dagster_forgets_its_runs_and_keeps_its_schedules(tmp_path: Path) -> None:
    runs = tmp_path / "history" / "runs"
    runs.mkdir(parents=True)
    (tmp_path / "storage" / "r1").mkdir(parents=True)
    (tmp_path / "storage" / "r1" / "out").write_text("heron")
    for path, table in ((runs / "index.db", "event_logs"), (tmp_path / "schedules.db", "instigators")):
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute(" ".join(("CREATE TABLE", table, "(body TEXT)")))
            db.execute(" ".join(("INSERT INTO", table, "VALUES ('heron')")))
    (runs / f"{'0' * 8}-0000-0000-0000-{'0' * 12}.db").write_bytes(b"heron")
    erase.rewrite_run_storage(tmp_path)
    left = {path.name for path in tmp_path.rglob("*") if path.is_file() and b"heron" in path.read_bytes()}
    assert left == {"schedules.db"}
    with closing(sqlite3.connect(runs / "index.db", isolation_level=None)) as db:
        db.execute("BEGIN EXCLUSIVE")
        with pytest.MonkeyPatch.context() as patch:
            real = sqlite3.connect
            patch.setattr(erase.sqlite3, "connect", lambda path, **more: real(path, **{**more, "timeout": 0}))
            with pytest.raises(LakeBusyError):
                erase.rewrite_run_storage(tmp_path)


def test_what_is_derived_goes_and_what_says_whose_lake_it_is_stays(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    for name in ("events/a.parquet", "staging/b", "state/team", "state/redaction_rules", "state/capture_hashes.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    erase.remove_derived(lake)
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["redaction_rules", "team"]


def test_an_erasure_holds_from_when_it_is_written_down_and_only_under_its_key(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    assert erasure_log.digest(lake) == ""
    begun = begin(lake)
    assert erasure_log.unfinished(lake) == begun
    assert erasure_log.load(lake, KEY).records == {"a" * 64}
    with pytest.raises(LakeBusyError):
        erasure_log.check(lake)
    digest = erasure_log.digest(lake)
    begun = erasure_log.took(lake, begun, NOW)
    erasure_log.check(lake)
    erasure_log.end(lake, begun, NOW)
    assert erasure_log.unfinished(lake) is None
    assert erasure_log.digest(lake) == digest, "how far it went is no other state of what is kept out"
    with pytest.raises(SettingsError, match="not the key"):
        erasure_log.load(lake, b"o" * 32)
    (lake.history / "erasures" / "000001.json").write_text("{")
    with pytest.raises(SettingsError, match="cannot be read"):
        erasure_log.load(lake, KEY)
