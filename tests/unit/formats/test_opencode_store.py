from __future__ import annotations

import io
import os
import random
import sqlite3
import stat
import tempfile
from pathlib import Path

import pytest
from opencode_samples import SCHEMA, SESSION, Store, kept, members, read, refused, said, talk, unit_of

from lorelake.formats import opencode, opencode_store
from lorelake.formats.record import Capture, Member, Refusal


def test_both_layouts_are_read_and_an_unknown_one_is_refused_by_name() -> None:
    """faults 9: a session in both layouts counts once; an unknown version is refused with its name."""
    only_old, only_new = Store("ses_old").said("old"), Store("ses_new").said("new")
    database = sqlite3.connect(":memory:")
    database.executescript(SCHEMA)
    for store in (talk(), only_new):
        store.write(database)
    database.commit()
    items = read({"opencode.db": database.serialize()}) + read(only_old.files()) + read(talk().files())
    assert {record.unit for record in kept(items)} == {SESSION, "ses_old", "ses_new"}
    assert said(opencode.events(unit_of(items))) == said(talk().events())

    renamed = database.serialize()
    database.execute("ALTER TABLE part RENAME TO piece")
    database.execute("INSERT INTO __drizzle_migrations VALUES (3, 'c', 3, '20270101000000_pieces')")
    database.commit()
    ((reason, detail),) = refused(read({"opencode.db": database.serialize()}))
    assert reason == "wrong_shape"
    assert "no part;" in detail
    assert "piece" in detail
    assert "20270101000000_pieces" in detail
    assert not refused(read({"opencode.db": renamed}))


@pytest.mark.parametrize(("old", "new", "missing"), [
    ("`parent_id` text, ", "", "session.parent_id"), ("`data` text NOT NULL", "`body` text NOT NULL", "message.data"),
])  # fmt: skip
def test_a_store_without_a_column_that_decides_is_refused(old: str, new: str, missing: str) -> None:
    database = sqlite3.connect(":memory:")
    database.executescript(SCHEMA.replace(old, new))
    ((reason, detail),) = refused(read({"opencode.db": database.serialize()}))
    assert (reason, missing in detail) == ("wrong_shape", True)


def test_sessions_that_stand_only_in_a_newer_table_are_told() -> None:
    more = "CREATE TABLE session_message (id text, session_id text, data text);"
    beside = "INSERT INTO session_message SELECT id, session_id, data FROM message"
    alone = "INSERT INTO session_message VALUES ('a', 'ses_z', '')"
    database = sqlite3.connect(":memory:")
    database.deserialize(talk().bytes(SCHEMA + more))
    database.execute(beside)
    database.commit()
    assert not refused(read({"opencode.db": database.serialize()}))
    database.execute(alone)
    database.commit()
    items = read({"opencode.db": database.serialize()})
    ((reason, detail),) = refused(items)
    assert (reason, detail.split()[0], bool(kept(items))) == ("wrong_shape", "1", True)


def test_a_store_that_is_being_written_is_read_to_its_last_commit(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("PRAGMA wal_autocheckpoint = 0")
    writer.executescript(SCHEMA)
    talk().write(writer)
    writer.commit()
    writer.execute("INSERT INTO message VALUES ('msg_z', 'ses_0a1', 1, 1, '{}')")
    before = {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in tmp_path.iterdir()}
    assert set(before) == {"opencode.db", "opencode.db-wal", "opencode.db-shm"}
    items = read({name: data for name, (data, _) in before.items()})
    assert not refused(items)
    assert len(kept(items)) == 1 + len(talk().messages) + len(talk().parts)
    assert {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in tmp_path.iterdir()} == before
    torn = {name: data if not name.endswith("-wal") else data[:-100] for name, (data, _) in before.items()}
    assert not [reason for reason, _ in refused(read(torn)) if reason != "wrong_shape"]
    writer.close()


def test_a_store_that_changes_while_it_is_read_is_read_another_time() -> None:
    states = iter([talk().bytes(), Store().said("x").bytes()] * 10)
    member = Member("opencode.db", 1, lambda: io.BytesIO(next(states)))
    items = list(opencode.read(Capture("opencode.db", (member,), "0")))
    assert [(item.reason, "changes" in item.detail) for item in items if isinstance(item, Refusal)] == [
        ("unreadable", True)
    ]


def test_the_copy_is_nobody_elses_and_does_not_stay(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for limit in (opencode_store.IN_MEMORY, 0):
        monkeypatch.setattr(opencode_store, "IN_MEMORY", limit)
        rows = opencode_store.rows(members({"opencode.db": talk().bytes()}))
        assert next(rows).table == "session"
        (folder,) = tmp_path.iterdir()
        assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
        assert [path.name for path in folder.iterdir() if path.name.startswith("store")] == []
        assert len(list(rows)) == len(talk().messages) + len(talk().parts)
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("seed", range(3))
def test_a_damaged_store_never_raises_and_is_refused_at_most_once_as_a_whole(seed: int) -> None:
    chance, whole = random.Random(seed), talk().bytes()
    for _ in range(60):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 12)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        items = read({"opencode.db": bytes(data[: chance.choice([len(data), chance.randrange(len(data))])])})
        assert len([1 for reason, _ in refused(items) if reason == "unreadable"]) <= 1
        for unit in {record.unit for record in kept(items)}:
            opencode.events(unit_of(items, unit))
