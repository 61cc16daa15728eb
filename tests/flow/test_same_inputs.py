"""Law 1: memory is a pure function of its inputs. What may differ between two machines, differs here."""

from __future__ import annotations

import json
import random
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("flow")]

CALL = "from lorelake.cli import main; main()"
LATER = datetime(2031, 12, 31, 23, 59, tzinfo=UTC)
WALL_CLOCK = {"created_at"}
BYTES_OF_AN_INDEX = ("index/", "catalog.duckdb")
"""Lance names its files at random and SQLite's pages keep the order of writes: compared by what they say."""


class LaterClock(datetime):
    """A clock years ahead."""

    @classmethod
    def now(cls, tz: Any = None) -> datetime:
        return LATER.astimezone(tz)


def manifest(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    found["files"] = {name: entry for name, entry in found["files"].items() if not name.startswith(BYTES_OF_AN_INDEX)}
    return found


def test_another_machine_comes_to_the_same(base, fresh, start, environment, told, tables, tmp_path) -> None:
    """Another time zone, hash seed, number of threads and language; another folder for the team and for the lake.

    This is the command as people call it, second process and all.
    """
    home = tmp_path / "far" / "away"
    unlike = {
        "TZ": "Asia/Kathmandu", "PYTHONHASHSEED": "4711", "POLARS_MAX_THREADS": "1", "LC_ALL": "C",
        "LORELAKE_HOME": str(home),
    }  # fmt: skip
    (tmp_path / "elsewhere").mkdir()
    for path in fresh.folder.rglob("*"):
        if path.is_file():
            path.touch()
    call = ["-c", CALL, "nightly", "--settings", str(fresh.settings)]
    with start(call, environment(unlike), tmp_path / "elsewhere") as process:
        out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    release = (home / "CURRENT").read_text(encoding="utf-8").strip()
    assert f"release {release} published" in out
    assert told(home / "releases" / release) == told(base.served)
    assert tables(home) == tables(base.home)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_order_of_arrival_threads_and_the_clock_change_nothing(
    base, fresh, night, told, tables, monkeypatch, without_suites
) -> None:
    """Sources and captures in another order, four threads in SQL, a clock in 2031."""
    from lorelake import settings
    from lorelake.landing import discover
    from lorelake.release import publish
    from lorelake_assets import dbt
    from lorelake_assets import prepare as planning

    load, captures, build = settings.load, discover.captures, dbt.build

    def turned(path: Path) -> settings.Settings:
        loaded = load(path)
        return msgspec.structs.replace(loaded, sources=loaded.sources[::-1])

    def shuffled(*arguments: Any) -> discover.Discovery:
        found = captures(*arguments)
        random.Random(20260320).shuffle(found.captures)
        return discover.Discovery(found.captures, found.refusals[::-1])

    monkeypatch.setattr(settings, "load", turned)
    monkeypatch.setattr(discover, "captures", shuffled)
    monkeypatch.setattr(dbt, "build", lambda lake, day, team: build(lake, day, team, threads=4))
    for module in (publish, planning):
        monkeypatch.setattr(module, "datetime", LaterClock)

    assert night(fresh).code == 0
    assert told(fresh.served) == told(base.served)
    assert tables(fresh.home) == tables(base.home)

    here, there = manifest(fresh.served), manifest(base.served)
    differ = {name for name in here if here[name] != there[name]}
    # The suites were not asked here; the order of [[sources]] is part of the settings' hash.
    assert differ - {"checks", "files", "config_sha256", "inputs"} == WALL_CLOCK
    assert here["created_at"] == "2031-12-31T23:59:00Z"
    changed = {name for name in here["files"] if here["files"][name] != there["files"][name]}
    assert changed == {"verdict.json"}
    past = {home: pl.read_parquet(sorted((home / "history").glob("*.parquet"))) for home in (fresh.home, base.home)}
    assert past[fresh.home].drop("published_at").equals(past[base.home].drop("published_at"))
    assert set(past[fresh.home]["published_at"]) == {LATER}


def test_a_second_night_with_nothing_new_publishes_nothing(team, night, told, monkeypatch) -> None:
    from lorelake_assets import run

    def job(*_: object) -> None:
        pytest.fail("a night with nothing to do runs no job")

    monkeypatch.setattr(run, "run", job)
    before, files = told(team.served), {path: path.stat().st_mtime_ns for path in team.home.rglob("*.parquet")}
    said = night(team)
    assert (said.code, f"release {team.release} stands" in said.out) == (0, True), said
    assert "nothing new in 54 captures: nothing was published" in said.out.replace("\n", " ")
    assert told(team.served) == before
    assert {path for path in files if path.stat().st_mtime_ns != files[path] and "staging" not in path.parts} == set()
    assert len(list((team.home / "history").glob("*.parquet"))) == len(list((team.home / "releases").iterdir())) == 1


def test_one_more_line_then_another_day_then_an_older_one(team, night, tables, told, without_suites) -> None:
    """A line appended to one transcript: that capture is read, its day derived, all others stay as they are."""
    from lorelake_assets import prepare as planning

    first, before = team.release, tables(team.home)
    transcript = next(team.folder.rglob("e88b7591-*.jsonl"))
    spoken = [json.loads(row) for row in transcript.read_text(encoding="utf-8").splitlines()]
    turns = [row for row in spoken if row["type"] == "user" and isinstance(row["message"]["content"], str)]
    more = turns[-1] | {
        "uuid": "7d1f0a52-0000-4000-8000-00000000cafe",
        "parentUuid": [row["uuid"] for row in spoken if row.get("uuid")][-1],
        "timestamp": "2026-03-02T23:10:00.000Z",
        "message": {"role": "user", "content": "Always run `make lint-migrations` before you push a migration."},
    }
    with transcript.open("a", encoding="utf-8") as file:
        file.write(json.dumps(more) + "\n")

    plans = []
    prepare = planning.prepare
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(planning, "prepare", lambda *given: plans.append(prepare(*given)) or plans[-1])
        assert night(team).code == 0
    (work,) = plans
    assert (work.plan.read, work.plan.unchanged) == (1, 53)
    assert [day.isoformat() for day in work.days] == [day.isoformat() for day in work.plan.days] == ["2026-03-02"]
    changed = {name for name, value in tables(team.home).items() if before.get(name) != value}
    by_day = {name for name in changed if "day=" in name}
    assert by_day == {
        "raw/claude_code/day=2026-03-02/raw_records.parquet", "events/events/day=2026-03-02/events.parquet",
        "events/units/day=2026-03-02/units.parquet", "evidence/signals/day=2026-03-02/signals.parquet",
    }  # fmt: skip
    second = team.release
    assert second != first

    assert night(team, "--as-of", "2026-03-21").code == 0
    third = team.release
    assert third.startswith("2026-03-21-")

    served, lake = told(team.served), tables(team.home)
    said = night(team, "--as-of", "2026-03-19")
    assert said.code == 1
    assert "as of 2026-03-19 is before the served release, which is as of 2026-03-21" in said.err
    assert (team.release, told(team.served), tables(team.home)) == (third, served, lake)
    assert {path.name for path in (team.home / "releases").iterdir()} == {first, second, third}


def test_sources_split_over_two_nights_end_in_the_same(base, fresh, night, told, tables, without_suites) -> None:
    """Half of the sources on the first night, among them a fork whose parent comes with the second."""
    whole = fresh.settings.read_text(encoding="utf-8")
    parts = whole.split("[[sources]]")
    tail = parts[-1].split("[[projects]]", 1)
    kept = [part for part in parts[1:-1] if "harbour-web" in part or "codex" in part or '"slack"' in part]
    half = "[[sources]]".join([parts[0], *kept, tail[0] + "[[projects]]" + tail[1]])
    parent = next(fresh.folder.rglob("780c4b16-*.jsonl"))
    aside = fresh.folder.parent / parent.name
    shutil.move(parent, aside)
    fresh.settings.write_text(half, encoding="utf-8")
    assert night(fresh).code == 0
    assert fresh.release != base.release
    orphan = pl.read_parquet(fresh.home / "events" / "sessions.parquet").filter(
        pl.col("unit_id").str.contains("7dfa7c26")
    )
    assert orphan["family_id"].str.contains("7dfa7c26").all()

    shutil.move(aside, parent)
    fresh.settings.write_text(whole, encoding="utf-8")
    assert night(fresh).code == 0
    assert told(fresh.served) == told(base.served)
    assert tables(fresh.home) == tables(base.home)
