"""`lorelake rebuild`: the same comes out of raw, ledger and history alone, and whoever looks changes nothing."""

from __future__ import annotations

import hashlib
import json
import shutil
import socket
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest

from lorelake.lake import Lake
from lorelake.release.manifest import read_manifest
from lorelake.tables import TABLES

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("flow")]

DAY = date(2026, 3, 20)


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise OSError("no network here")

    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a rebuild without --into works."""
    import tempfile

    place = tmp_path / "tmp"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


@pytest.fixture
def same_code(team: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The code is that of the release, though somebody may be editing a file of it just now."""
    from lorelake_assets import prepare

    code = read_manifest(team.served).inputs["code"]
    monkeypatch.setattr(prepare, "code_sha256", lambda: code)


def state(folder: Path) -> dict[str, tuple[str, int, int]]:
    """sha256, time of change and mode of every file below."""
    return {
        path.relative_to(folder).as_posix(): (
            hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns, path.stat().st_mode,
        )
        for path in sorted(folder.rglob("*")) if path.is_file()
    }  # fmt: skip


def told_of(out: str) -> dict[str, str]:
    """Table or folder to what was said of it."""
    rows = [line for line in out.splitlines() if "  same  " in line or "  differs  " in line or "(not hashed)" in line]
    return {row[: row.index("  ")]: "same" if "  same  " in row else "differs" for row in rows}


def without_sources(team: Any) -> None:
    """Only the settings, the key and the lake's own are left."""
    for path in team.folder.iterdir():
        if path.name not in ("lorelake.toml", "example.key", "lake"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def test_the_served_release_comes_out_again_when_sources_and_landing_are_gone(
    team, call, no_network, temporary
) -> None:
    landing = team.home / "landing" / "transcripts"
    landing.mkdir(parents=True)
    (landing / "late.jsonl").write_text("a file that came after the night\n")
    without_sources(team)
    before = state(team.home)
    said = call("rebuild", "--verify", "--settings", team.settings)
    assert said.code == 0, said
    found = told_of(said.out)
    released = [table.name for table in TABLES.values() if table.released]
    audiences = [f"{kind} of {name}" for kind in ("index", "review") for name in ("team", "project:harbour-api")]
    assert set(released) | set(audiences) <= set(found)
    assert set(found.values()) == {"same"}
    assert f"the same: content hash {read_manifest(team.served).content_hash}" in said.out
    assert state(team.home) == before
    assert list(temporary.iterdir()) == [], "what a rebuild without --into leaves nobody would find"


def test_what_differs_is_named_with_its_first_keys(team, call, same_code, monkeypatch, tmp_path) -> None:
    """A rule that gives another answer than it gave at night, though settings, code and captures are the same."""
    from lorelake.learnings import claims

    kind = claims.kind_and_severity
    monkeypatch.setattr(claims, "kind_and_severity", lambda item: ("fact", kind(item)[1]))
    before = state(team.home)
    said = call("rebuild", "--verify", "--settings", team.settings, "--into", tmp_path / "again")
    found = told_of(said.out)
    assert said.code == 1
    assert (found["learnings"], found["index of team"], found["votes"]) == ("differs", "differs", "same")
    learnings = pl.read_parquet(team.served / "tables" / "learnings.parquet")
    changed = sorted(learnings.filter(pl.col("kind") != "fact")["learning_id"])
    assert f"  {changed[0]}: kind" in said.out
    assert "code, settings and captures are those of the release" in said.out
    assert state(team.home) == before
    again = pl.read_parquet(tmp_path / "again" / "releases" / ".candidate" / "tables" / "learnings.parquet")
    assert set(again["kind"]) == {"fact"}
    assert "it holds raw records; delete it" in said.out.replace("\n", " ")


def test_a_release_of_an_earlier_night_is_rebuilt_as_of_then(team, night, call, without_suites) -> None:
    """What the lake learnt, served and decided since is left out: records, and the ids that history knows."""
    first = team.release
    transcript = next(team.folder.rglob("e88b7591-*.jsonl"))
    spoken = [json.loads(row) for row in transcript.read_text(encoding="utf-8").splitlines()]
    turn = next(row for row in spoken if row["type"] == "user" and isinstance(row["message"]["content"], str))
    more = turn | {
        "uuid": "7d1f0a52-0000-4000-8000-00000000cafe", "timestamp": "2026-03-02T23:10:00.000Z",
        "message": {"role": "user", "content": "Always run `make lint-migrations` before you push a migration."},
    }  # fmt: skip
    with transcript.open("a", encoding="utf-8") as file:
        file.write(json.dumps(more) + "\n")
    later = (DAY + timedelta(days=1)).isoformat()
    assert night(team, "--as-of", later).code == 0
    assert team.release.startswith(later)
    (team.home / "CURRENT").write_text(f"{first}\n")
    said = call("rebuild", "--verify", "--settings", team.settings)
    assert said.code == 0, said
    # The books of intake tell of the captures at hand tonight, and are no part of what a release is named by.
    assert {name for name, what in told_of(said.out).items() if what == "differs"} == {
        "intake", "funnel", "source_health",
    }  # fmt: skip


def test_what_cannot_be_compared_is_refused(team, call, tmp_path, temporary) -> None:
    def refused(*arguments: object) -> str:
        said = call("rebuild", "--verify", "--settings", team.settings, *arguments)
        assert said.code in (1, 2)
        return str(said.err)

    full = tmp_path / "full"
    full.mkdir()
    (full / "file").write_text("mine")
    assert "not empty" in refused("--into", full)
    assert "into itself" in refused("--into", team.home / "again")
    assert "--into goes with --verify" in call("rebuild", "--settings", team.settings, "--into", full).err
    table = team.served / "tables" / "learnings.parquet"
    table.chmod(0o640)
    table.write_bytes(b"")
    assert "the served release is damaged: tables/learnings.parquet" in refused()
    (team.home / "CURRENT").unlink()
    assert "nothing is served" in refused()
    assert list(temporary.iterdir()) == []


def test_why_a_release_may_differ(team, same_code) -> None:
    from lorelake import settings
    from lorelake_assets.rebuild import why_differing

    lake, loaded, release = Lake(team.home), settings.load(team.settings), read_manifest(team.served)
    assert why_differing(lake, release, loaded) == []
    older = msgspec.structs.replace(release, logic_version="1", inputs=release.inputs | {"captures": "fewer"})
    logic, captures = why_differing(lake, older, loaded)
    assert "made by logic version 1" in logic
    assert captures.startswith("captures were read since")
    team.change('require = "risky"', 'require = "all"')
    other = msgspec.structs.replace(release, inputs=release.inputs | {"code": "another"})
    code, changed = why_differing(lake, other, settings.load(team.settings))
    assert code.startswith("the release was made by other code of the same logic version")
    assert changed.startswith("the settings are not those the release was made with")


def test_rebuild_makes_every_day_again_and_serves_the_same(team, call, tables) -> None:
    """Derived files that say something else, the hashes of their inputs unchanged: no other night looks at them."""
    release, before = team.release, tables(team.home)
    day = next(path for path in sorted((team.home / "events" / "events").glob("day=*/events.parquet")))
    day.chmod(0o640)
    pl.read_parquet(day).with_columns(text=pl.lit("nobody said this")).write_parquet(day)
    signals = next(path for path in sorted((team.home / "evidence" / "signals").glob("day=*/signals.parquet")))
    pl.read_parquet(signals).clear().write_parquet(signals)
    said = call("rebuild", "--settings", team.settings)
    assert said.code == 0, said
    assert tables(team.home) == before
    assert team.release == release
