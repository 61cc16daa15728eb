"""Erase a person, a channel and an item; kill it on the way; look in every file; then bring everything back in."""

from __future__ import annotations

import json
import shutil
import sqlite3
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import lancedb
import polars as pl
import pytest

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("flow")]

MARA = {
    "claude_code": "activesqltransaction",
    "codex": "sleeping",
    "documents": "auditors",
    "github": "sequential",
    "opencode": "masters",
    "slack": "sailboat",
    "direct message": "i take that week",
    "private channel": "saltmarsh",
}
"""A word that only she said, by the kind of place."""
NAMES = ("u05mara77", "maralind", "mara lindqvist", "mara.lindqvist", "bbabbf31")
"""Her Slack id, logins, full name, and the mark of her address: they stand for nobody else."""
CHANNEL = "heliotrop"
"""What somebody else said in the private channel, as an index has it."""
ITEM = "sooner"
"""In the item of GitMem's that is erased by its id."""
STAYS = ("drained", "jitter")
"""Words of others in what is served: a search that does not find them does not look."""


class KilledError(BaseException):
    """Stands for a kill: nothing catches it on the way out."""


def texts(path: Path) -> Iterator[str]:
    """Everything a file says, decoded by hand: nothing here is the product's."""
    if path.name == "learnings.lance":
        table = lancedb.connect(path.parent).open_table(path.stem)
        for version in [entry["version"] for entry in table.list_versions()]:
            table.checkout(version)
            yield repr(table.to_arrow().to_pylist())
        return
    data = path.read_bytes()
    yield data.decode("utf-8", "replace")
    yield path.as_posix()
    if path.suffix == ".parquet":
        yield from map(repr, pl.read_parquet(path).iter_rows())
    elif path.suffix == ".db":
        with closing(sqlite3.connect(":memory:")) as db:
            db.execute("ATTACH ? AS twin", [str(path)])
            for (name,) in db.execute("SELECT name FROM twin.sqlite_master WHERE type = 'table'").fetchall():
                yield repr(db.execute(" ".join(("SELECT * FROM twin.", name))).fetchall())
            db.execute("CREATE VIRTUAL TABLE temp.words USING fts5vocab('twin', 'search', 'row')")
            yield repr(db.execute("SELECT term FROM temp.words").fetchall())
    elif path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            yield from (archive.read(name).decode("utf-8", "replace") for name in archive.namelist())


def places(home: Path, words: tuple[str, ...]) -> dict[str, set[str]]:
    """word -> files of the lake that say it."""
    found: dict[str, set[str]] = {word: set() for word in words}
    for path in sorted(home.rglob("*")):
        if path.is_file() or path.name == "learnings.lance":
            said = "\n".join(texts(path)).lower().replace(home.as_posix().lower(), "")
            for word in words:
                if word in said:
                    found[word].add(path.relative_to(home).as_posix())
    return found


@contextmanager
def dying(target: object, name: str, at: int = 1, after: bool = False) -> Iterator[None]:
    """The named function kills at its call of this number, before or after it did its work."""
    calls = 0
    real: Callable[..., Any] = getattr(target, name)

    def called(*arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == at and not after:
            raise KilledError
        result = real(*arguments, **named)
        if calls == at:
            raise KilledError
        return result

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(target, name, called)
        yield


def prepare(team: Any) -> None:
    """Private conversations are read, decisions lie in a folder, and landing holds copies of what sources hold."""
    team.change('include = ["public"]', 'include = ["public", "private", "dm"]')
    team.change("[ledger]\n", '[ledger]\nlocal_person = "ngozi"\n')
    settings = team.settings.read_text(encoding="utf-8")
    team.settings.write_text(settings + '\n[[sources]]\npath = "ledger"\n', encoding="utf-8")
    (team.folder / "ledger" / "decisions").mkdir(parents=True)
    land(team, "first")


def land(team: Any, name: str) -> None:
    """Bring the same records into landing under other names: a delta of a session, and the whole of Slack, packed."""
    landing = team.home / "landing" / name
    landing.mkdir(parents=True)
    (session,) = (team.folder / "transcripts" / "codex" / "mara").glob("rollout-2026-03-11*.jsonl")
    lines = session.read_text(encoding="utf-8").splitlines()
    (landing / "other-name.jsonl").write_text("\n".join(lines[:40]) + "\n", encoding="utf-8")
    with zipfile.ZipFile(landing / "slack.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted((team.folder / "slack").rglob("*.json")):
            archive.write(path, path.relative_to(team.folder / "slack").as_posix())
    gitmem = landing / "memory" / ".gitmem"
    shutil.copytree(team.folder / "memory" / "harbour-api" / ".gitmem", gitmem)


def item_of(team: Any, words: str) -> str:
    evidence = pl.read_parquet(team.home / "learnings" / "learning_evidence.parquet")
    (found,) = evidence.filter(pl.col("quote").str.to_lowercase().str.contains(words))["learning_id"].unique()
    return str(found)


def test_what_is_erased_is_in_no_file_and_does_not_come_back(team, night, call, without_suites, monkeypatch) -> None:
    from lorelake.content import erasure_log
    from lorelake.lake import Lake
    from lorelake.raw import erased as raw
    from lorelake.release import erase, publish
    from lorelake_assets import dbt

    def forget(*arguments: str) -> Any:
        return call("forget", "--settings", team.settings, *arguments)

    def apply() -> Any:
        return forget("--apply", "--yes")

    prepare(team)
    assert night(team).code == 0
    words = (*MARA.values(), *NAMES, CHANNEL, ITEM, *STAYS)
    before = places(team.home, words)
    assert all(before.values()), "a word that is nowhere proves nothing"
    item = item_of(team, "at most 5,000 rows")
    old = team.release

    # A preview writes nothing; a decision holds ids and hashes, and by itself changes nothing.
    state = places(team.home, words)
    for chosen in (("--person", "maralind"), ("--channel", "people-ops"), ("--id", item)):
        looked = forget(*chosen, "--erase", "--dry-run")
        assert looked.code == 0, looked.err
        assert not list((team.folder / "ledger" / "decisions").iterdir())
    assert item in looked.out
    for chosen in (("--person", "maralind"), ("--channel", "people-ops"), ("--id", item)):
        said = forget(*chosen, "--erase", "--yes", "--reason", "they asked for it")
        assert said.code == 0, said.err
    decisions = "".join(path.read_text() for path in (team.folder / "ledger" / "decisions").iterdir()).lower()
    assert item in decisions
    assert not [word for word in words if word in decisions]
    assert places(team.home, words) == state
    assert apply().code == 1, "no night has seen the decisions yet"

    # The night that sees them; nothing in SQL hangs on it here, so its tables need not be made again.
    with monkeypatch.context() as patch:
        patch.setattr(dbt, "build", lambda *_: dbt.DbtResult({table.name: 0 for table in dbt.OUTPUTS}, ()))
        patch.setattr(dbt, "remember", lambda *_: None)
        assert night(team).code == 0
    assert forget("--prove", "--words", str(words_file(team, [MARA["slack"]]))).code == 1

    lake = Lake(team.home)
    for target, name, at, after in (
        (erasure_log, "begin", 1, True),
        (raw, "_place", 3, False),
        (raw, "_take_books", 1, False),
        (erase, "remove_derived", 1, False),
    ):
        with dying(target, name, at, after), pytest.raises(KilledError):
            apply()
        refused = night(team)
        assert refused.code == 1, name
        assert "forget --apply" in refused.err
        assert team.release.startswith("2026-03-20"), "what was served goes on serving"
    served = team.release
    with dying(publish, "remove_outdated"):
        assert apply().code in (1, 2)
    assert team.release not in (old, served), "the new release is served"
    with dying(erase, "rewrite_history"), pytest.raises(KilledError):
        apply()
    assert publish.list_ids(lake) == [team.release], "the releases before are gone"
    done = apply()
    assert done.code == 0, done.err
    assert apply().code == 1, "nothing is left to erase"
    nowhere(team, "after the erasure", before)
    what_it_says(team, done.out)

    # Everything is brought in again, and raw is made from nothing; what is derived too.
    land(team, "again")
    for name in ("raw", "events", "evidence", "learnings", "outcomes", "state", "quarantine"):
        shutil.rmtree(team.home / name)
    rebuilt = night(team, "--allow-shrink")
    assert rebuilt.code == 0, rebuilt.err
    nowhere(team, "after a rebuild", before)
    proof = forget("--prove", "--words", str(words_file(team, [*MARA.values(), *NAMES, CHANNEL, ITEM])))
    assert proof.code == 0, proof.out + proof.err
    assert "proven" in proof.out


def words_file(team: Any, words: list[str]) -> Path:
    path = team.folder / "words.txt"
    path.write_text("\n".join(words), encoding="utf-8")
    return path


def nowhere(team: Any, when: str, before: dict[str, set[str]]) -> None:
    found = places(team.home, tuple(before))
    assert {word: where for word, where in found.items() if where and word not in STAYS} == {}, when
    kinds = {Path(name).suffix for word in STAYS for name in found[word]}
    assert {".parquet", ".db", ".lance"} <= kinds, "a format in which nothing is ever found is not searched"


def what_it_says(team: Any, out: str) -> None:
    """What people decided stands under a label, votes go, and the output names what is the team's own."""
    ledger = pl.read_parquet(team.home / "events" / "ledger.parquet")
    hers = ledger.filter(pl.col("actor").str.starts_with("erased:"))
    assert set(hers.filter(pl.col("verdict") == "applies")["decision"]) >= {"approve", "reject"}
    votes = hers.filter(pl.col("decision").is_in(["endorse", "dispute"]))
    assert set(votes["refused_because"]) == {"erased"}
    for table in ("people", "sessions"):
        assert "mara" not in repr(pl.read_parquet(team.home / "events" / f"{table}.parquet").rows())
    books = pl.read_parquet(team.home / "raw" / "intake.parquet")
    assert books.filter(pl.col("seen") != pl.col("kept") + pl.col("refused")).is_empty()
    assert "learnings.fast-export: " in out
    assert "lorelake.toml still names mara" in out
    erasures = [json.loads(path.read_text()) for path in sorted((team.home / "history" / "erasures").iterdir())]
    assert [bool(one["ended"]) for one in erasures] == [True]
