from __future__ import annotations

import shutil
import sqlite3
from datetime import date

import msgspec
import pytest

from lorelake import served
from lorelake.content.normalise import content_key
from lorelake.lake import write_table
from lorelake.release import audit
from lorelake.release.audit import invariants
from lorelake.release.build import build_candidate
from lorelake.release.index import write_audience, write_lance
from lorelake.tables import TABLES

AS_OF = date(2026, 3, 20)


@pytest.fixture(scope="module")
def _built_once(tmp_path_factory, settings, make_night):
    from lorelake.lake import Lake

    return build_candidate(Lake(tmp_path_factory.mktemp("audit") / "lake"), settings, AS_OF, make_night().tables(), {})


@pytest.fixture
def candidate(_built_once, tmp_path):
    return shutil.copytree(_built_once, tmp_path / "candidate")


@pytest.fixture
def errors(candidate, settings):
    def found() -> set[str]:
        return {f.code for f in invariants(candidate, None, settings) if f.severity == "error"}

    return found


@pytest.fixture
def index(candidate, settings):
    def folder(audience: str):
        return candidate / "index" / served.audience_id(settings.team.id, audience)

    return folder


def items_of(folder) -> list[served.Item]:
    with sqlite3.connect(folder / "lexical.db") as db:
        return [
            msgspec.json.decode(row[0], type=served.Item) for row in db.execute("SELECT item FROM items ORDER BY 1")
        ]


def rewrite(folder, items) -> None:
    """The folder as build would write it with these items."""
    shutil.rmtree(folder)
    write_audience(folder, items, {}, [])


def edit(candidate, name, night_rows) -> None:
    from lorelake.lake import frame

    write_table(TABLES[name], frame(TABLES[name], night_rows), candidate / "tables" / f"{name}.parquet")


def test_a_sound_candidate_has_no_findings(candidate, settings):
    assert invariants(candidate, None, settings) == []
    assert invariants(candidate, candidate, settings) == []


def test_an_item_only_one_index_holds_is_held(errors, index):
    folder = index("team")
    items = items_of(folder)
    shutil.rmtree(folder / "learnings.lance")
    write_lance(folder, items[:1], [audit.index_text(items[0])])
    assert errors() >= {"index_rows"}


def test_twins_with_different_words_are_held(errors, index):
    folder = index("project:harbour")
    shutil.rmtree(folder / "learnings.lance")
    items = items_of(folder)
    write_lance(folder, items, [audit.index_text(items[0]) + " yarn"])
    assert errors() == {"index_twins"}


def test_a_missing_index_a_stray_folder_and_a_wrong_card_are_held(errors, index):
    (index("team") / "audience.json").write_bytes(b'{"audience":"project:harbour","items":2}')
    index("person:nobody").mkdir()
    assert errors() == {"index_folders"}
    (index("project:lantern") / "lexical.db").unlink()
    assert errors() == {"index_folders", "index_unreadable"}


def test_a_retired_item_in_an_index_is_held(errors, index, night):
    folder = index("team")
    items = items_of(folder)
    old = night.learning("paths_old")
    ghost = msgspec.structs.replace(
        items[0], learning_id=old["learning_id"], title=old["title"], text_sha256=old["text_sha256"]
    )
    rewrite(folder, [*items, ghost])
    assert {"index_rows", "withdrawn_served"} <= errors()


def test_withdrawn_words_under_a_new_id_are_held(candidate, errors, index, night):
    new = night.learning("review")
    new["text_sha256"] = night.learning("paths_old")["text_sha256"]
    edit(
        candidate,
        "learnings",
        [
            r | {"title": "", "do": "", "said_by": ""} if r["audience"].startswith("channel") else r
            for r in night.rows["learnings"]
        ],
    )
    items = [
        msgspec.structs.replace(i, text_sha256=new["text_sha256"]) if i.learning_id == new["learning_id"] else i
        for i in items_of(index("team"))
    ]
    rewrite(index("team"), items)
    assert errors() == {"withdrawn_served"}


def test_what_replaced_an_item_may_say_its_words_again(candidate, errors, index, night):
    new, old = night.learning("paths"), night.learning("paths_old")
    new["text_sha256"] = old["text_sha256"]
    edit(
        candidate,
        "learnings",
        [
            r | {"title": "", "do": "", "said_by": ""} if r["audience"].startswith("channel") else r
            for r in night.rows["learnings"]
        ],
    )
    items = [
        msgspec.structs.replace(i, text_sha256=new["text_sha256"]) if i.learning_id == new["learning_id"] else i
        for i in items_of(index("team"))
    ]
    rewrite(index("team"), items)
    assert errors() == set()


def test_a_tombstoned_text_in_an_index_is_held(candidate, errors, night):
    night.put(
        "tombstones", content_key=night.learning("cache")["content_key"], reason="rejected", actor="mara", reach="team"
    )
    edit(candidate, "tombstones", night.rows["tombstones"])
    assert errors() == {"tombstone_active", "tombstone_served"}


def test_the_words_of_a_tombstone_are_held_wherever_an_item_shows_them(candidate, errors, night, index):
    """In its advice or behind it as a quote; a tombstone of another audience reaches none of it."""
    item = items_of(index("team"))[0]
    for words in (item.do, item.quotes[0].words):
        night.rows["tombstones"] = []
        night.put("tombstones", content_key=content_key(words), reason="rejected", actor="mara", reach="team")
        edit(candidate, "tombstones", night.rows["tombstones"])
        assert "tombstone_served" in errors()
        night.rows["tombstones"][0]["reach"] = "project:elsewhere"
        edit(candidate, "tombstones", night.rows["tombstones"])
        assert errors() == set()


def test_another_audiences_item_is_held(errors, index):
    (foreign,) = items_of(index("project:lantern"))
    rewrite(index("team"), [*items_of(index("team")), foreign])
    assert {"foreign_item", "index_rows", "foreign_words"} <= errors()


def test_another_audiences_words_inside_an_item_are_held(errors, index, settings, candidate):
    (foreign,) = items_of(index("project:lantern"))
    items = items_of(index("team"))
    items[0] = msgspec.structs.replace(items[0], because=f"compare: {foreign.title}.")
    rewrite(index("team"), items)
    assert errors() == {"foreign_words"}
    messages = " ".join(f.message for f in invariants(candidate, None, settings))
    assert "lanternmark" not in messages


def test_a_quote_of_another_learning_is_held(errors, index):
    items = items_of(index("team"))
    other = msgspec.structs.replace(items[0].quotes[0], words="words nobody is known to have said here")
    items[0] = msgspec.structs.replace(items[0], quotes=(*items[0].quotes, other))
    rewrite(index("team"), items)
    assert errors() == {"foreign_quote"}


def test_private_words_in_a_table_are_held(candidate, errors, night):
    edit(candidate, "learnings", night.rows["learnings"])
    assert errors() == {"private_words"}


def test_private_words_in_another_table_are_held(candidate, errors, night):
    edit(candidate, "admissions", night.rows["admissions"])
    assert errors() == {"private_words"}


def test_another_audiences_queue_is_held(candidate, errors, settings):
    queues = candidate / "review"
    other = queues / served.audience_id(settings.team.id, "project:lantern")
    shutil.rmtree(other)
    (queues / served.audience_id(settings.team.id, "project:harbour")).rename(other)
    assert errors() == {"queue_foreign"}
    (other / served.REVIEW_QUEUE).unlink()
    assert errors() == {"queue_foreign"}, "the items to decide on are another file"


def test_a_secret_in_an_index_is_held(errors, index):
    items = items_of(index("team"))
    items[0] = msgspec.structs.replace(items[0], because="it used AKIA" + "QZXWTR7MNP3KJ5LD")
    rewrite(index("team"), items)
    assert errors() == {"secret"}


def test_an_item_its_own_words_do_not_find_is_held(errors, index):
    with sqlite3.connect(index("project:harbour") / "lexical.db") as db:
        db.execute("DROP TABLE search")
        db.execute("CREATE VIRTUAL TABLE search USING fts5(text, content='', tokenize='porter unicode61')")
        db.execute("INSERT INTO search(rowid, text) VALUES (1, 'nothing of it')")
    assert errors() == {"golden_recall"}


def test_a_table_that_does_not_fit_stops_the_audit_at_once(candidate, errors):
    (candidate / "tables/learnings.parquet").write_bytes(b"")
    assert errors() == {"table_unreadable"}
