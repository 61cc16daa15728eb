"""The contract has nothing hollow: every table, column and word has a writer and a reader."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lorelake import tables
from lorelake.tables import STAGES, TABLES, Table

ROOT = Path(__file__).resolve().parents[2]
CODE = {
    path: path.read_text(encoding="utf-8")
    for folder in ("pipelines", "assets", "models")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in {".py", ".sql"} and path.parent.name != "tables"
}
WRITERS = {
    "raw_records": "raw/keep.py",
    "quarantine": "raw/keep.py",
    "intake": "raw/intake.py",
    "model_answers": "evidence/model_answers.py",
    "people": "events/people.py",
    "units": "events/derive.py",
    "sessions": "events/days.py",
    "session_merge_requests": "events/merge_requests.py",
    "imported_votes": "events/imported_votes.py",
    "events": "events/derive.py",
    "ledger": "events/ledger.py",
    "signals": "evidence/signals.py",
    "admissions": "evidence/gates.py",
    "signature_mapping": "evidence/signature_mapping.py",
    "recalls": "evidence/recalls.py",
    "exposures": "evidence/exposures.py",
    "claims": "learnings/claims.py",
    "supersession_candidates": "learnings/supersession_rows.py",
    "regroupings": "learnings/regrouping.py",
    "topics": "learnings/topics.py",
    "topic_members": "learnings/topics.py",
    "topic_merges": "learnings/topics.py",
    "history": "release/history.py",
    "served_ids": "release/history.py",
    "publishes": "release/history.py",
    "servings": "release/history.py",
}
"""Where each table that Python builds gets its rows; SQL tables are built by the model of their name."""


def writer(table: Table) -> Path:
    place = (
        f"models/layers/{table.stage}/{table.name}.sql" if table.sql else f"pipelines/lorelake/{WRITERS[table.name]}"
    )
    return ROOT / place


def readers(table: Table) -> list[str]:
    """Texts of files, other than the writer, that name the table: its constant, or its name in quotes."""
    name = re.compile(rf"\b{table.name.upper()}\b|stg_{table.name}\b|[\"']{table.name}[\"']|\b{table.name}\.parquet\b")
    return [text for path, text in CODE.items() if path != writer(table) and name.search(text)]


HANDED_TO = {
    "model_answers": "evidence/model_answers.py",
    "raw_records": "events/derive.py",
    "people": "events/people.py",
    "publishes": "cli/as_of.py",
    "servings": "cli/as_of.py",
    "history": "release/history.py",
}
"""Modules that are handed a table's rows and read them without naming the table."""

PASSED_ON = {"units": "sessions", "supersession_candidates": "supersession"}
"""A table whose columns go on as they are, so that who reads the other reads these."""


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_every_table_has_a_writer_and_a_reader(table: Table) -> None:
    assert writer(table).exists(), f"{table.name}: nothing writes it"
    assert table.released or readers(table), f"{table.name}: nothing reads it"


@pytest.mark.parametrize(
    "table", [table for table in TABLES.values() if not table.released], ids=lambda table: table.name
)
def test_every_column_that_no_analyst_gets_is_read_by_code(table: Table) -> None:
    """Columns of released tables are read by people; `docs/tables.md` and the catalog tell them what they mean."""
    corpus = "\n".join(readers(table))
    if table.name in HANDED_TO:
        corpus += (ROOT / "pipelines/lorelake" / HANDED_TO[table.name]).read_text(encoding="utf-8")
    passed = TABLES[PASSED_ON[table.name]].column_names if table.name in PASSED_ON else ()
    unread = [name for name in table.column_names if name not in passed and not re.search(rf"\b{name}\b", corpus)]
    assert unread == [], f"{table.name}: nothing reads {unread}"


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_every_column_is_written_by_its_writer(table: Table) -> None:
    text = writer(table).read_text(encoding="utf-8")
    near = "\n".join(other for path, other in CODE.items() if path.parent == writer(table).parent)
    unwritten = [name for name in table.column_names if not re.search(rf"\b{name}\b", text + near)]
    assert unwritten == [], f"{table.name}: nothing writes {unwritten}"


STATE_RULES = ("models/macros/states.sql", "models/layers/learnings/int_standing.sql")


@pytest.mark.parametrize(
    ("vocabulary", "folders"),
    [
        ("STATES", (*STATE_RULES, "pipelines/lorelake/release")),
        ("TRUSTS", ("models", "pipelines/lorelake/evidence", "pipelines/lorelake/learnings")),
        ("SIGNAL_KINDS", ("pipelines/lorelake/evidence",)),
        ("EVENT_KINDS", ("pipelines/lorelake/formats",)),
        ("UNIT_KINDS", ("pipelines/lorelake/formats",)),
        ("ACTOR_CLASSES", ("pipelines/lorelake/formats",)),
        ("ITEM_KINDS", ("pipelines/lorelake/evidence", "pipelines/lorelake/learnings", "models")),
        ("DECISIONS", ("models", "pipelines/lorelake/learnings", "pipelines/lorelake/content")),
        ("SOURCES", ("pipelines/lorelake/formats",)),
    ],
)  # fmt: skip
def test_every_word_of_a_vocabulary_is_produced_somewhere(vocabulary: str, folders: tuple[str, ...]) -> None:
    corpus = "\n".join(
        text for path, text in CODE.items() if any(path.is_relative_to(ROOT / folder) for folder in folders)
    )
    words = getattr(tables, vocabulary)
    missing = [word for word in words if f'"{word}"' not in corpus and f"'{word}'" not in corpus]
    assert missing == [], f"{vocabulary}: nothing produces {missing}"


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_a_table_is_well_formed(table: Table) -> None:
    assert table.stage in STAGES
    assert set(table.key) <= set(table.column_names)
    assert len(set(table.column_names)) == len(table.columns)
    assert all(column.meaning and not column.meaning.endswith(".") for column in table.columns)
    assert [field.name for field in table.arrow_schema()] == list(table.polars_schema())
    assert not table.hashed or table.released, "a release cannot be named by what it does not hold"
