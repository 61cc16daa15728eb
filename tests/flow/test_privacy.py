"""Marker words of private conversations, and planted secrets, looked for in every file a night writes."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

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

OWN = "person:mara"
PLANTED = {
    "quillfern": CHANNEL,
    "wigeonmoor": CHANNEL,
    "curlewsand": CHANNEL,
    "bitternhollow": CHANNEL,
    "whimbrelgate": DIRECT,
    "dunlinre": OWN,
    "godwitmer": OWN,
    "avocetbank": OWN,
    "knotweir": OWN,
}
"""Of the wider test: a channel's name, a decision and what reverses it, an answered question about a path; an open
question; what was directed, asked of memory, said against it, and what failed, in a session without a project."""
BESIDE = {"merlinfold": CHANNEL, "ruffsedg": OWN}
"""Beside what becomes evidence: in the same message, and the branch of that session."""
SAID_TWICE = "Always run the gannetstone drill before you reboot the gate server."

SECRETS = ("akiaiosfodnn7example", "k7mdeng/bpxrficyexamplekey", "not-the-real-password")
EVERYWHERE = ("concurrently", "drained")
"""Words of a served item and of one that waits: whoever does not find them in every kind of file, does not look."""

OUR_OWN = ("raw", "events", "evidence", "learnings", "scratch", "state")
"""Folders of the lake that only the pipeline reads; its state names the files it has read."""


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


def message(user: str, text: str, ts: str, **more: str) -> dict[str, str]:
    return {"client_msg_id": f"00000000-0000-4000-8000-{ts[-6:]:>012}", "type": "message", "user": user, "text": text,
            "ts": ts, "team": "T05TIDEWH", **more}  # fmt: skip


def plant_in_slack(slack: Path) -> None:
    """More words into the private channel, which gets a name of its own, and into the direct messages."""
    groups = slack / "groups.json"
    groups.write_text(groups.read_text(encoding="utf-8").replace("people-ops", "quillfern-ops"), encoding="utf-8")
    (slack / "people-ops").rename(slack / "quillfern-ops")
    mara, ngozi, jonas = "U05MARA77", "U05NGOZI2", "U05JONAS4"
    asked = {"thread_ts": "1773247000.000100"}
    channel = [
        message(mara, "Decision: we use the wigeonmoor questionnaire for every candidate.", "1773241000.000100"),
        message(ngozi, "Decision: we no longer use the wigeonmoor questionnaire for candidates, we use the curlewsand "
                "interview instead.", "1773244000.000100"),
        message(mara, "How do I export the payroll of February?", "1773247000.000100", **asked),
        message(ngozi, "Run `tools/bitternhollow/export.sh --month 2026-02`, the web form drops the bonus.",
                "1773247300.000100", **asked),
        message(mara, "That worked, thanks!", "1773247600.000100", **asked),
        message(ngozi, f"{SAID_TWICE} Merlinfold told me so.", "1773250000.000100"),
    ]  # fmt: skip
    direct = [message(ngozi, "Who tells Jonas about the whimbrelgate plan?", "1773254000.000100")]
    public = [message(jonas, SAID_TWICE, "1773252000.000100")]
    for folder, said in (("quillfern-ops", channel), ("D05MARANG", direct), ("general", public)):
        (slack / folder / "2026-03-11.json").write_text(json.dumps(said), encoding="utf-8")


def plant_a_session(folder: Path, answer: str) -> None:
    """A session of Mara's that names no folder: it asks memory, gets a team's item, and she says it is wrong."""
    session = "5b5f7d10-1111-4222-8333-00000000beef"
    envelope = {"sessionId": session, "gitBranch": "ruffsedge", "version": "2.1.38",
                "isSidechain": False, "userType": "external"}  # fmt: skip

    def call(id_: str, command: str) -> dict[str, Any]:
        use = {"type": "tool_use", "id": id_, "name": "Bash", "input": {"command": command}}
        return {"role": "assistant", "model": "claude-opus-4-5-20251101", "content": [use]}

    def result(id_: str, text: str, failed: bool) -> dict[str, Any]:
        return {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id_, "content": text, "is_error": failed}
        ]}  # fmt: skip

    trace = 'Traceback (most recent call last):\n  File "knotweir/sums.py", line 4, in total'
    failure = f"Exit code 1\n{trace}\nKeyError: 'knotweir'"
    turns = [
        {"role": "user", "content": "Always ask dunlinreed before you send the sheet of salaries to anybody."},
        call("t1", 'lorelake recall "godwitmere severance sums"'),
        result("t1", answer, False),
        {"role": "user", "content": "lrn_515c8ba4dfba is wrong, the avocetbank migration did it the other way round."},
        call("t2", "python knotweir/sums.py"),
        result("t2", failure, True),
        call("t3", "python knotweir/sums.py --lenient"),
        result("t3", "42", False),
    ]
    folder.mkdir()
    lines = []
    for number, said in enumerate(turns):
        lines.append(json.dumps(envelope | {
            "type": said["role"], "uuid": f"5b5f7d10-0000-4000-8000-{number:012}", "message": said,
            "parentUuid": f"5b5f7d10-0000-4000-8000-{number - 1:012}" if number else None,
            "timestamp": f"2026-03-19T08:{number:02}:00.000Z",
        }))  # fmt: skip
    (folder / f"{session}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


ANSWER = """> 1. Add fields in the API first, remove them from the API last  [lrn_515c8ba4dfba]

1 of 1 matching items
<!-- lorelake:recall release=2026-03-17-b2d47e03 verdict=RELEVANT score=0.640 threshold=0.450 returned=1 total=1 \
audiences=team -->
<!-- lorelake:shown release=2026-03-17-b2d47e03 ids=lrn_515c8ba4dfba -->
"""


def test_private_words_stay_with_their_audience(fresh, night, tmp_path, without_suites) -> None:
    fresh.change('include = ["public"]', 'include = ["public", "private", "dm"]')
    fresh.change("[[projects]]", '[[sources]]\npath = "own"\nperson = "mara"\n\n[[projects]]')
    plant_in_slack(fresh.folder / "slack")
    plant_a_session(fresh.folder / "own", ANSWER)
    said = night(fresh)
    assert said.code == 0, said.err
    private = PRIVATE | PLANTED | BESIDE
    places = found(fresh.home, tmp_path, (*private, *SECRETS))
    assert {word: where for word, where in places.items() if word in SECRETS and where} == {}
    for word, audience in private.items():
        own = served.audience_id("tidewharf", audience)
        allowed = {f"releases/{fresh.release}/{kind}/{own}" for kind in ("index", "review")}
        outside = {
            name for name in places[word]
            if name.split("/")[0] not in OUR_OWN and "/".join(name.split("/")[:4]) not in allowed
        }  # fmt: skip
        assert outside == set(), word
        assert any(name.startswith("raw/") for name in places[word]), f"{word} was not read at all"
        read = any(name.startswith("evidence/") for name in places[word])
        assert read or word in BESIDE, f"{word} became no evidence"
    for audience in (CHANNEL, DIRECT, OWN):
        own = served.audience_id("tidewharf", audience)
        words = [word for word, whose in private.items() if whose == audience]
        served_to_them = {name for word in words for name in places[word] if f"/{own}/" in name}
        assert served_to_them, f"nothing of {audience} is served to those who may read it"
    tables = {path.stem: pl.read_parquet(path) for path in (fresh.served / "tables").glob("*.parquet")}
    links_say_nothing(tables)
    a_private_session_counts(tables)
    a_private_witness_is_a_number(fresh, tables)


def links_say_nothing(tables: dict[str, pl.DataFrame]) -> None:
    """The channel's own reversal is a row: who, why and in which words is not."""
    whose = dict(tables["learnings"].select("learning_id", "audience").iter_rows())
    links = [row for row in tables["supersession"].iter_rows(named=True) if whose[row["newer_id"]] == CHANNEL]
    assert links
    assert {(row["features"], row["actor"], row["evidence"], row["quote"]) for row in links} == {
        ("{}", "withheld", "", None)
    }
    assert all(isinstance(json.loads(text), dict) for text in tables["supersession"]["features"])


def a_private_session_counts(tables: dict[str, pl.DataFrame]) -> None:
    """What Mara asked by herself is counted without her words; that she disputes a team's item weighs all the same."""
    asked = tables["recalls"].filter(pl.col("audience") == OWN)
    assert asked.select("query", "searched", "returned").rows() == [("", [], 1)]
    (item,) = [id_ for id_ in tables["learnings"]["learning_id"] if id_.startswith("lrn_515c8ba4dfba")]
    told = tables["votes"].filter((pl.col("learning_id") == item) & (pl.col("voter") == "mara") & pl.col("refuted"))
    assert len(told) == 1
    waits = tables["review_queue"].filter(pl.col("learning_id") == item)["why"].to_list()
    state = tables["learnings"].filter(pl.col("learning_id") == item).select("state", "trust").row(0)
    assert (waits, state) == (["disputed"], ("active", "reviewed"))


def a_private_witness_is_a_number(team, tables: dict[str, pl.DataFrame]) -> None:
    """The channel said what everybody was told: no row and no file of the shared learning says who, where or when."""
    mine = tables["learnings"].filter(pl.col("title").str.contains("gannetstone"))
    row = mine.row(0, named=True)
    assert (row["audience"], row["said_by"], row["people"], row["families"]) == ("team", "jonas", 1, 1)
    assert (row["narrower_people"], row["narrower_families"], row["trust"]) == (1, 1, "corroborated")
    raw = pl.read_parquet(sorted((team.home / "evidence").rglob("signals.parquet")))
    witness = raw.filter((pl.col("audience") == CHANNEL) & pl.col("quote").str.contains("gannetstone")).row(
        0, named=True
    )
    telling = (witness["signal_id"], witness["event_id"], "ngozi", "G05PPLOPS", "17:26:40", "1773250000")
    for name, data in tables.items():
        about = [repr(found) for found in data.iter_rows() if row["learning_id"] in repr(found)]
        assert not [word for word in telling if word in "".join(about)], name
    own = served.audience_id("tidewharf", row["audience"])
    for path in sorted((team.served / "index" / own).glob("*.db")):
        said = "".join(part for part in sqlite_texts(path) if row["learning_id"] in part)
        items = [piece for piece in said.split("(") if row["learning_id"] in piece]
        assert items
        assert not [word for word in telling if word in "".join(items)]
