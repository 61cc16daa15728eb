"""A word that is anywhere in a file is found; a file that cannot be read is no pass."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import sqlite3
import subprocess
import tarfile
import zipfile
from contextlib import closing
from pathlib import Path

import duckdb
import lancedb
import msgspec
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from lorelake.release.erased_words import Words
from lorelake.release.proof import Look, prove

WORD = "cormorant"
LONG = " ".join(f"{number * 7919 % 1009} gulls and terns" for number in range(400))
"""Enough for a packer to write no word as it is."""
ROWS = pa.table({"id": ["a", "b"], "text": ["plain", f"{LONG} says {WORD} here"], "many": [["x"], ["y", WORD]]})


def one(root: Path, name: str) -> Look:
    return next(look for look in prove(root, [WORD]) if look.path.name == name)


def zstd(data: bytes) -> bytes:
    return bytes(pa.Codec("zstd").compress(data, asbytes=True))


def tar(data: bytes) -> bytes:
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w:gz") as archive:
        entry = tarfile.TarInfo("inner.txt")
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))
    return whole.getvalue()


def zipped(data: bytes) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inner.txt", data)
    return whole.getvalue()


def packed(compression: str) -> bytes:
    whole = io.BytesIO()
    parquet.write_table(ROWS, whole, compression=compression)
    return whole.getvalue()


TEXT = f"padding {'and more ' * 40}{WORD.upper()}".encode()
ESCAPED = json.dumps({"a": ["x", "".join(f"\\u{ord(letter):04x}" for letter in WORD)]}).replace("\\\\", "\\")


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("t.txt", TEXT),
        ("t.json", ESCAPED.encode()),
        ("t.gz", gzip.compress(TEXT)),
        ("t.bz2", bz2.compress(TEXT)),
        ("t.xz", lzma.compress(TEXT)),
        ("t.zip", zipped(TEXT)),
        ("twice.zip", zipped(gzip.compress(zipped(TEXT)))),
        ("t.tgz", tar(TEXT)),
        ("t.msgpack", msgspec.msgpack.encode({"a": [TEXT.decode()]})),
        ("zstd.parquet", packed("zstd")),
        ("snappy.parquet", packed("snappy")),
        ("within.zip", zipped(packed("zstd"))),
    ],
)
def test_a_word_is_found_in_every_packing(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    look = one(tmp_path, name)
    assert (look.found, look.faults) == ({1}, [])
    assert name.endswith((".txt", ".msgpack", ".parquet")) or WORD.encode() not in data.lower()


def test_a_word_is_found_in_zstd(tmp_path: Path) -> None:
    with pa.CompressedOutputStream(str(tmp_path / "t.zst"), "zstd") as stream:
        stream.write(TEXT)
    assert one(tmp_path, "t.zst").found == {1}


def test_a_value_of_a_dictionary_that_no_row_has_any_more_is_found(tmp_path: Path) -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([0, 0]), pa.array(["plain", f"{LONG} {WORD}"]))
    parquet.write_table(pa.table({"text": column}), tmp_path / "d.parquet", compression="zstd")
    assert WORD.encode() not in (tmp_path / "d.parquet").read_bytes()
    assert WORD not in parquet.read_table(tmp_path / "d.parquet")["text"].to_pylist()
    assert one(tmp_path, "d.parquet").found == {1}


def test_metadata_and_statistics_are_read_and_bytes_of_no_column_are_a_fault(tmp_path: Path) -> None:
    told = pa.table({"n": ["a"]}).replace_schema_metadata({"about": WORD})
    parquet.write_table(told, tmp_path / "m.parquet")
    assert one(tmp_path, "m.parquet").found == {1}
    whole = io.BytesIO()
    parquet.write_table(pa.table({"n": ["a"]}), whole)
    data = whole.getvalue()
    (tmp_path / "gap.parquet").write_bytes(data[:4] + gzip.compress(TEXT) + data[4:])
    assert one(tmp_path, "gap.parquet").faults


def database(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for statement in statements:
            db.execute(statement)


def test_sqlite_is_read_with_its_journal_and_free_pages_fail(tmp_path: Path) -> None:
    rows = "INSERT INTO t SELECT 'cormorant ' || value || hex(randomblob(900)) FROM json_each('[1,2,3,4,5,6,7,8,9]')"
    database(tmp_path / "live.db", "CREATE TABLE t (x)", rows)
    assert one(tmp_path, "live.db").found == {1}
    database(tmp_path / "free.db", "CREATE TABLE t (x)", rows, "DELETE FROM t")
    assert one(tmp_path, "free.db").faults, "deleted, and still in a page"
    database(tmp_path / "free.db", "PRAGMA secure_delete=ON", "VACUUM")
    assert one(tmp_path, "free.db").clean

    with closing(sqlite3.connect(tmp_path / "wal.db", isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("CREATE TABLE t (x)")
        db.execute("INSERT INTO t VALUES (?)", [WORD])
        assert one(tmp_path, "wal.db").found == {1}
        assert one(tmp_path, "wal.db-wal").format == "sqlite journal"


def test_a_term_of_a_full_text_index_that_no_row_explains_is_a_fault(tmp_path: Path) -> None:
    create = "CREATE VIRTUAL TABLE s USING fts5(text, content='', tokenize='porter unicode61')"
    kept = "CREATE TABLE items (item)"
    fill = "INSERT INTO s(rowid, text) VALUES (1, 'gulls nesting')"
    database(tmp_path / "ok.db", create, kept, fill, "INSERT INTO items VALUES ('gulls nesting')")
    assert one(tmp_path, "ok.db").clean
    database(tmp_path / "orphan.db", create, kept, fill, "INSERT INTO items VALUES ('gulls')")
    assert one(tmp_path, "orphan.db").faults == ["1 indexed terms that no row has"]


def test_duckdb_is_read_with_its_views_and_comments(tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "t.duckdb") as db:
        db.execute("CREATE TABLE t AS SELECT ? AS x", [WORD])
    with duckdb.connect(tmp_path / "v.duckdb") as db:
        db.execute("CREATE VIEW v AS SELECT 1 AS x")
        db.execute(f"COMMENT ON COLUMN v.x IS 'about {WORD}'")
    assert one(tmp_path, "t.duckdb").found == {1}
    assert one(tmp_path, "v.duckdb").found == {1}


def test_an_older_version_of_a_lance_table_is_read_and_an_unnamed_file_is_a_fault(tmp_path: Path) -> None:
    table = lancedb.connect(tmp_path).create_table("t", ROWS)
    assert any(look.found for look in prove(tmp_path, [WORD]))
    table.delete("id = 'b'")
    assert table.count_rows() == 1
    looks = prove(tmp_path, [WORD])
    assert any(look.found for look in looks), "the row is in the version before"
    assert any("deleted" in fault for look in looks for fault in look.faults)

    lancedb.connect(tmp_path / "two").create_table("u", ROWS.slice(0, 1).drop_columns(["many"]))
    assert all(look.clean for look in prove(tmp_path / "two", [WORD]))
    (data,) = (tmp_path / "two" / "u.lance" / "data").glob("*.lance")
    (data.parent / "stray.lance").write_bytes(data.read_bytes())
    assert [fault for look in prove(tmp_path / "two", [WORD]) for fault in look.faults]


def test_an_object_that_no_branch_leads_to_is_read(tmp_path: Path) -> None:
    git = ["git", "-C", str(tmp_path)]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "hash-object", "-w", "--stdin"], input=TEXT, check=True, capture_output=True)
    assert [look.format for look in prove(tmp_path, [WORD]) if look.found] == ["git"]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("picture.png", b"\x89PNG\r\n\x1a\n\xff\xfe"),
        ("half.gz", gzip.compress(TEXT, mtime=0)[:-20]),
        ("torn.parquet", packed("zstd")[:-30]),
        ("bundle", b"# v2 git bundle\n"),
        ("no.db", b"SQLite format 3\0" + b"\xff" * 200),
    ],
)
def test_what_cannot_be_decoded_is_a_failure(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    look = one(tmp_path, name)
    assert look.faults
    assert not look.clean


def test_a_word_in_a_name_is_found_and_no_words_prove_nothing(tmp_path: Path) -> None:
    (tmp_path / f"{WORD}.txt").write_text("x")
    assert one(tmp_path, f"{WORD}.txt").found == {1}
    with pytest.raises(ValueError, match="no words"):
        prove(tmp_path, [])


def test_the_words_of_a_proof_are_those_that_nothing_left_says(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("def evidence(): ...")
    words = Words(["maralind"])
    words.gone(["The cormorants brought evidence of berths", "Put it in here at once, will you"])
    words.stays(["Every harbour has berths, and it is brought in"])
    words.program([tmp_path])
    assert words.words() == ["maralind", "cormorants", "put it in here at once, will you"]
