"""Marker words of private conversations, and planted secrets, looked for in every file a night writes."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import lancedb
import polars as pl
import pytest

from lorelake import served

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("flow")]

CHANNEL, DIRECT = "channel:G05PPLOPS", "dm:D05MARANG"
PRIVATE = {
    "saltmarsh": CHANNEL,
    "heliotrop": CHANNEL,
    "second designer": CHANNEL,
    "corncrak": DIRECT,
    "in hospital": DIRECT,
}
"""Words, as stems that an index keeps, and the audience that may read them."""

SECRETS = ("akiaiosfodnn7example", "k7mdeng/bpxrficyexamplekey", "not-the-real-password")
EVERYWHERE = ("concurrently", "drained")
"""Words of a served item and of one that waits: whoever does not find them in every kind of file, does not look."""

OUR_OWN = ("raw", "events", "evidence", "learnings", "scratch")
"""Folders of the lake that only the pipeline reads."""


def texts(path: Path, scratch: Path) -> Iterator[str]:
    """Everything a file says: its bytes as they are, and decoded where it is of a format that packs them."""
    if path.name == "learnings.lance":
        yield repr(lancedb.connect(path.parent).open_table(path.stem).to_arrow().to_pylist())
        return
    yield path.read_bytes().decode("utf-8", "replace")
    if path.suffix == ".parquet":
        yield from map(repr, pl.read_parquet(path).iter_rows())
    elif path.suffix == ".db":
        yield from sqlite_texts(path)
    elif path.suffix == ".duckdb":
        copy = shutil.copy(path, scratch / "copy.duckdb")  # dbt, in this process, may still hold its own
        (scratch / "copy.duckdb.wal").unlink(missing_ok=True)
        if path.with_suffix(".duckdb.wal").exists():
            shutil.copy(path.with_suffix(".duckdb.wal"), scratch / "copy.duckdb.wal")
        with duckdb.connect(copy, read_only=True, config={"file_search_path": str(path.parent)}) as db:
            for (name,) in db.execute("SELECT table_name FROM information_schema.tables").fetchall():
                yield repr(db.table(name).fetchall())


def sqlite_texts(path: Path) -> Iterator[str]:
    """Rows of every table, and the words of every full-text index, which packs them."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("ATTACH ? AS twin", [str(path)])
        for name, sql in db.execute("SELECT name, sql FROM twin.sqlite_master WHERE type = 'table'").fetchall():
            yield repr(db.execute(f'SELECT * FROM twin."{name}"').fetchall())  # noqa: S608
            if "fts5" in (sql or "").lower():
                db.execute(f"CREATE VIRTUAL TABLE temp.\"words_{name}\" USING fts5vocab('twin', '{name}', 'row')")
                yield repr(db.execute(f'SELECT term FROM temp."words_{name}"').fetchall())  # noqa: S608


def found(home: Path, scratch: Path, words: Collection[str]) -> dict[str, set[str]]:
    """word -> files of the lake (and Lance tables) that say it, in lower case."""
    places: dict[str, set[str]] = {word: set() for word in words}
    for path in sorted(home.rglob("*")):
        if path.is_file() or path.name == "learnings.lance":
            said = "\n".join(texts(path, scratch)).lower()
            for word in words:
                if word in said:
                    places[word].add(path.relative_to(home).as_posix())
    return places


def test_by_default_nothing_private_and_no_secret_is_anywhere(base, tmp_path) -> None:
    places = found(base.home, tmp_path, (*PRIVATE, *SECRETS, *EVERYWHERE))
    assert {word: where for word, where in places.items() if where and word not in EVERYWHERE} == {}
    kinds = {Path(name).suffix for word in EVERYWHERE for name in places[word]}
    assert {".parquet", ".db", ".lance", ".duckdb", ".json"} <= kinds, (
        "a format in which nothing is ever found is not searched"
    )


def test_private_words_stay_with_their_audience(fresh, night, tmp_path, without_suites) -> None:
    fresh.change('include = ["public"]', 'include = ["public", "private", "dm"]')
    said = night(fresh)
    assert said.code == 0, said.err
    places = found(fresh.home, tmp_path, (*PRIVATE, *SECRETS))
    assert {word: where for word, where in places.items() if word in SECRETS and where} == {}
    for word, audience in PRIVATE.items():
        own = served.audience_id("tidewharf", audience)
        allowed = {f"releases/{fresh.release}/{kind}/{own}" for kind in ("index", "review")}
        outside = {
            name for name in places[word]
            if name.split("/")[0] not in OUR_OWN and "/".join(name.split("/")[:4]) not in allowed
        }  # fmt: skip
        assert outside == set(), word
        assert any(name.startswith("raw/slack/") for name in places[word]), f"{word} was not read at all"
    for audience in (CHANNEL, DIRECT):
        own = served.audience_id("tidewharf", audience)
        words = [word for word, whose in PRIVATE.items() if whose == audience]
        served_to_them = {name for word in words for name in places[word] if f"/{own}/" in name}
        assert served_to_them, f"nothing of {audience} is served to those who may read it"
