from __future__ import annotations

import os
import shutil
import stat
from datetime import UTC, date, datetime
from pathlib import Path

import msgspec
import polars as pl
import pytest

from lorelake.errors import AuditError, ReleaseError, SettingsError
from lorelake.lake import Lake, read_table
from lorelake.release import history
from lorelake.release import publish as publishing
from lorelake.release.build import build_candidate
from lorelake.release.manifest import read_manifest
from lorelake.release.publish import list_releases, publish, verify, verify_lake
from lorelake.release.verdict import VERDICT, Finding, store_verdict
from lorelake.tables import SERVED_IDS

AS_OF = date(2026, 3, 20)
TEAM = "harbour-team"
NOW = datetime(2026, 3, 21, 2, tzinfo=UTC)


@pytest.fixture(scope="module")
def _judged_once(tmp_path_factory, settings, make_night):
    lake = Lake(tmp_path_factory.mktemp("judged") / "lake")
    build_candidate(lake, settings, AS_OF, make_night().tables(), {})
    store_verdict(lake.candidate, [])
    return lake


@pytest.fixture
def judged(_judged_once, lake):
    """A candidate with a stored pass; the audit has its own tests."""
    shutil.copytree(_judged_once.root, lake.root)
    return lake


@pytest.fixture(scope="module")
def second_night(_judged_once, tmp_path_factory, settings, make_night):
    """A lake that serves the first night, with a judged candidate of the second."""
    lake = Lake(tmp_path_factory.mktemp("second") / "lake")
    shutil.copytree(_judged_once.root, lake.root)
    publish(lake, TEAM, NOW)
    night = make_night()
    night.rows["learnings"] = [row for row in night.rows["learnings"] if not row["title"].startswith("Clear the tile")]
    build_candidate(lake, settings, date(2026, 3, 21), night.tables(), {})
    store_verdict(lake.candidate, [])
    return lake


def state(lake) -> dict[str, object]:
    """What a reader of the lake can tell: releases with their hashes, CURRENT, history."""
    history = sorted(lake.history.glob("*.parquet"))
    return {
        "releases": sorted(path.name for path in lake.releases.iterdir()),
        "current": lake.current_release(),
        "history": [(path.name, pl.read_parquet(path).rows()) for path in history],
        "problems": verify_lake(lake),
    }


def test_what_is_published_is_whole_read_only_and_served(judged, ids):
    done = publish(judged, TEAM, NOW)
    folder = judged.releases / done.release_id
    assert done.new
    assert judged.current_release() == done.release_id == folder.name
    assert not judged.candidate.exists()
    modes = {stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*") if path.is_file()}
    folders = {stat.S_IMODE(path.stat().st_mode) for path in [folder, *folder.rglob("*")] if path.is_dir()}
    assert (modes, folders) == ({0o440}, {0o750})
    manifest = read_manifest(folder)
    assert (manifest.team, manifest.as_of, manifest.created_at) == (TEAM, AS_OF, NOW)
    assert sum(manifest.active.values()) == 5
    assert manifest.changes["none>active"] == 5
    assert verify_lake(judged) == {}
    (history,) = judged.history.glob("*.parquet")
    assert history.name == f"000001-{done.release_id}.parquet"
    rows = {row["learning_id"]: row["to_state"] for row in pl.read_parquet(history).iter_rows(named=True)}
    assert rows[""] is None
    assert rows[ids("paths_old")] == "superseded"


def test_no_verdict_a_failed_one_or_one_on_other_files_holds_the_publish(lake, settings, night):
    build_candidate(lake, settings, AS_OF, night.tables(), {})
    with pytest.raises(AuditError, match="no verdict"):
        publish(lake, TEAM)
    store_verdict(lake.candidate, [Finding("shrunk", "error", "half is gone")])
    with pytest.raises(AuditError, match="shrunk"):
        publish(lake, TEAM)
    store_verdict(lake.candidate, [], {"suites": "fail"})
    with pytest.raises(AuditError, match="suites"):
        publish(lake, TEAM)
    store_verdict(lake.candidate, [Finding("no_learnings", "warning", "none")])
    verdict = (lake.candidate / VERDICT).read_bytes()
    night.learning("pnpm")["do"] = "Run pnpm install."
    build_candidate(lake, settings, AS_OF, night.tables(), {})
    (lake.candidate / VERDICT).write_bytes(verdict)
    with pytest.raises(AuditError, match="other files"):
        publish(lake, TEAM)
    assert lake.current_release() is None
    assert not list(lake.history.glob("*"))


def test_a_file_changed_after_the_verdict_holds_the_publish(judged):
    path = judged.candidate / "tables/learnings.parquet"
    path.write_bytes(path.read_bytes() + b"\0")
    with pytest.raises(AuditError, match="other files"):
        publish(judged, TEAM)


def test_the_same_content_publishes_nothing(judged, settings, night):
    first = publish(judged, TEAM, NOW)
    before = state(judged)
    build_candidate(judged, settings, AS_OF, night.tables(), {})
    store_verdict(judged.candidate, [])
    again = publish(judged, TEAM, datetime(2026, 3, 22, tzinfo=UTC))
    assert again == (first.release_id, False)
    assert state(judged) == before


def test_an_older_as_of_and_another_team_are_refused(judged, settings, night):
    publish(judged, TEAM, NOW)
    build_candidate(judged, settings, date(2026, 3, 19), night.tables(), {})
    store_verdict(judged.candidate, [])
    before = judged.current_release()
    with pytest.raises(ReleaseError, match="as of 2026-03-19"):
        publish(judged, TEAM)
    with pytest.raises(SettingsError, match="belongs to team"):
        publish(judged, "others")
    assert judged.current_release() == before


def ids_served(lake):
    return read_table(SERVED_IDS, lake.served_ids()).rows()


def test_an_id_is_recorded_by_the_publish_that_first_answered_to_it(judged, settings, night, ids):
    first = publish(judged, TEAM, NOW).release_id
    assert {row[:2] for row in ids_served(judged)} == {(1, first)}
    assert {row[2] for row in ids_served(judged)} == {row["reference"] for row in night.rows["aliases"]}
    night.add("new", "team", "Name the branch after the ticket", "Begin with the number.", "begin it with the number")
    night.put(
        "aliases", reference="lrn_" + "a" * 32, learning_id=ids("pnpm"), basis="former", audience="project:harbour"
    )
    build_candidate(judged, settings, date(2026, 3, 21), night.tables(), {})
    store_verdict(judged.candidate, [])
    second = publish(judged, TEAM, NOW).release_id
    new = {row[2:] for row in ids_served(judged) if row[:2] == (2, second)}
    assert {(id_, audience) for id_, _, audience in new} == {
        (ids("new"), "team"), ("lrn_" + "a" * 32, "project:harbour"),
    }  # fmt: skip
    assert len(ids_served(judged)) == len(night.rows["aliases"])


def test_ids_of_a_publish_that_was_killed_before_it_is_in_history_are_nobodys(judged, monkeypatch):
    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(history, "frame", killed)
    with pytest.raises(KeyboardInterrupt):
        publish(judged, TEAM, NOW)
    assert len(list((judged.history / "served_ids").iterdir())) == 1
    assert judged.served_ids() == []
    assert ids_served(judged) == []


def test_the_next_release_tells_what_changed_and_leaves_the_first_alone(judged, settings, night, ids):
    first = publish(judged, TEAM, NOW)
    night.learning("cache")["state"] = "expired"
    build_candidate(judged, settings, date(2026, 3, 21), night.tables(), {})
    store_verdict(judged.candidate, [])
    second = publish(judged, TEAM, NOW)
    assert [m.release_id for m in list_releases(judged)] == [first.release_id, second.release_id]
    assert read_manifest(judged.releases / second.release_id).changes == {"active>expired": 1}
    rows = pl.read_parquet(judged.history / f"000002-{second.release_id}.parquet").rows()
    assert [(r[3], r[4], r[5]) for r in rows] == [("", None, None), (ids("cache"), "active", "expired")]
    assert verify(judged.releases / first.release_id) == []


class Killed(BaseException):
    """What a kill looks like from inside: nothing catches it."""


STEPS = ("write_manifest", "os.chmod", "os.rename", "sync_folder", "history.write_table", "write_bytes")


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", STEPS)
def test_killed_at_any_step_and_run_again_ends_the_same(second_night, lake, monkeypatch, step, when):
    """The first night is served; the second is killed in its publish, then run again whole or from there."""
    shutil.copytree(second_night.root, lake.root)
    served = lake.current_release()
    module, _, name = step.rpartition(".")
    owner = {"os": os, "history": history}.get(module, publishing)
    real = getattr(owner, name)

    def dying(*args: object, **kwargs: object) -> None:
        if when == "after":
            real(*args, **kwargs)
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, dying)
        with pytest.raises(Killed):
            publish(lake, TEAM, NOW)
    switched = step == "write_bytes" and when == "after"
    assert (lake.current_release() == served) is not switched
    assert verify(lake.releases / served) == []

    if not lake.candidate.exists():
        shutil.copytree(second_night.candidate, lake.candidate)
    publish(lake, TEAM, NOW)
    end = state(lake)
    assert end["problems"] == {}
    assert len(end["releases"]) == 2
    assert end["current"] != served
    assert [name[:6] for name, _ in end["history"]] == ["000001", "000002"]


def test_a_half_written_manifest_of_a_killed_publish_is_not_part_of_the_release(judged):
    (judged.candidate / ".manifest.json.4711.tmp").write_bytes(b"{")
    done = publish(judged, TEAM, NOW)
    assert verify(judged.releases / done.release_id) == []
    assert not (judged.releases / done.release_id / ".manifest.json.4711.tmp").exists()


def test_a_damaged_folder_of_the_same_name_is_not_taken_up(judged, settings, night):
    done = publish(judged, TEAM, NOW)
    victim = judged.releases / done.release_id / "tables/votes.parquet"
    victim.chmod(0o640)
    victim.write_bytes(b"PAR1")
    build_candidate(judged, settings, AS_OF, night.tables(), {})
    store_verdict(judged.candidate, [])
    with pytest.raises(ReleaseError, match="damaged"):
        publish(judged, TEAM, NOW)


@pytest.mark.parametrize("harm", ["changed", "missing", "added", "renamed", "manifest", "current"])
def test_verify_finds_tampering(published, harm):
    name = published.current_release()
    folder: Path = published.releases / name
    victim = folder / "tables/votes.parquet"
    assert verify_lake(published) == {}
    if harm == "changed":
        victim.chmod(0o640)
        data = bytearray(victim.read_bytes())
        data[40] ^= 1
        victim.write_bytes(bytes(data))
        assert verify(folder) == [
            f"tables/votes.parquet is not the file that was published ({len(data)} bytes, was {len(data)})"
        ]
    elif harm == "missing":
        victim.unlink()
        assert verify(folder) == ["tables/votes.parquet is missing"]
    elif harm == "added":
        (folder / "tables/extra.parquet").write_bytes(b"")
        assert verify(folder) == ["tables/extra.parquet was not published"]
    elif harm == "renamed":
        folder.rename(folder.with_name("2026-03-20-00000000"))
        assert set(verify_lake(published)) == {"2026-03-20-00000000", "CURRENT"}
    elif harm == "manifest":
        path = folder / "manifest.json"
        path.chmod(0o640)
        path.write_bytes(path.read_bytes()[:-20])
        assert "manifest is damaged" in verify(folder)[0]
    else:
        published.current.unlink()
        assert verify_lake(published) == {"CURRENT": ["no release is served"]}


def test_the_manifest_names_no_audience(published):
    text = (published.releases / published.current_release() / "manifest.json").read_text()
    assert "C0PRIVATE" not in text
    assert "lantern" not in text
    assert msgspec.json.decode(text)["checks"] == {"invariants": "pass", "suites": "pass"}
