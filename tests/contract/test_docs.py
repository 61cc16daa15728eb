"""The docs say what the code does: generated pages are current, and every example in the written ones is run."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest

from lorelake.cli import sql
from lorelake.content import markers
from lorelake.evidence.kinds import KINDS
from lorelake.lake import frame
from lorelake.release import build
from lorelake.tables import SIGNAL_KINDS, TABLES, Column, Table

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
ROWS = 12


def fenced(page: str, language: str) -> list[str]:
    """Texts of the page's code blocks of one language."""
    return re.findall(
        rf"^```{language}\n(.*?)^```$", (DOCS / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )


def test_generated_pages_are_current():
    from lorelake_assets import docs

    stale = docs.stale(DOCS)
    assert not stale, f"docs/{', docs/'.join(stale)}: not what the code says now; run `make docs`"


def test_a_stale_page_is_named(tmp_path):
    from lorelake_assets import docs

    for name, page in docs.PAGES.items():
        (tmp_path / name).write_text(page(), encoding="utf-8")
    assert docs.stale(tmp_path) == []
    (tmp_path / "cli.md").write_text("an edit by hand", encoding="utf-8")
    (tmp_path / "settings.md").unlink()
    assert docs.stale(tmp_path) == ["settings.md", "cli.md"]


def test_every_key_of_the_settings_has_a_meaning():
    rows = re.findall(r"^\| `(\w+)` \| .*\| (.*) \|$", (DOCS / "settings.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert {"projects", "slack", "as_of", "key_file"} <= {key for key, _ in rows}
    assert [key for key, meaning in rows if not meaning] == []


# docs/sql.md


def value(column: Column, number: int) -> Any:
    """Row `number` of any column: words of a vocabulary in turn, ids that join, else something plain."""
    if column.values:
        return column.values[number % len(column.values)]
    if column.name.endswith("_id"):
        return f"{number:032x}"
    return {
        "str": f"{column.name} {number}", "int": number, "float": number / ROWS, "bool": True,
        "ts": datetime(2026, 3, 1, tzinfo=UTC) + timedelta(days=number), "date": date(2026, 3, 1 + number),
        "list[str]": [f"{column.name} {number}"],
    }[column.base]  # fmt: skip


def rows(table: Table) -> list[dict[str, Any]]:
    """Rows in which each word of each vocabulary occurs and no key twice."""
    made = [{column.name: value(column, number) for column in table.columns} for number in range(ROWS)]
    keys = [tuple(row[name] for name in table.key) for row in made]
    return [row for row, key, number in zip(made, keys, range(ROWS), strict=True) if key not in keys[:number]]


@pytest.fixture(scope="module")
def release(tmp_path_factory) -> Path:
    """The tables of a release and its catalogue, a dozen rows each."""
    folder = tmp_path_factory.mktemp("release")
    build._write_tables(folder, {table.name: frame(table, rows(table)) for table in TABLES.values() if table.released})
    return folder


@pytest.mark.parametrize("statement", fenced("sql.md", "sql"))
def test_every_query_of_the_page_answers(release, statement):
    with sql.connect(release) as database:
        names, found = sql.query(database, statement)
    assert names
    assert found, "a first query that shows nothing teaches nothing"


def test_the_catalogue_opens_in_a_plain_duckdb_as_the_page_says(release, monkeypatch):
    page = (DOCS / "sql.md").read_text(encoding="utf-8")
    (call,) = re.findall(r"`(duckdb\.connect\(.*\))`", page)
    first = fenced("sql.md", "sql")[0]
    with eval(call, {"duckdb": duckdb, "folder": str(release)}) as database:  # noqa: S307  (our own page)
        assert database.execute(first).fetchall()
    monkeypatch.chdir(release)
    assert 'cd "lake/releases/$(cat lake/CURRENT)" && duckdb -readonly catalog.duckdb' in page
    with duckdb.connect("catalog.duckdb", read_only=True) as database:
        assert database.execute(first).fetchall()


def test_the_page_has_enough_queries_to_begin_with():
    assert len(fenced("sql.md", "sql")) >= 5


# docs/markers.md


def test_every_marker_of_the_page_is_one():
    (block,) = fenced("markers.md", "markers")
    for line in block.splitlines():
        assert len(markers.parse(line)) == 1, line
    asked, lost, shown, opened, cited = markers.parse(block)
    assert [
        markers.recall_marker(asked.release_id, asked.verdict),
        markers.recall_marker(None, lost.verdict),
        markers.shown_marker(str(shown.release_id), shown.ids),
        markers.opened_marker(str(opened.release_id), opened.ids),
        markers.cited_marker(cited.ids),
    ] == block.splitlines()


def test_what_the_page_calls_no_marker_is_none():
    (block,) = fenced("markers.md", "text-not-markers")
    assert len(block.splitlines()) >= 5
    assert [line for line in block.splitlines() if markers.parse(line)] == []


def test_what_the_page_says_is_made_inert_is():
    page = (DOCS / "markers.md").read_text(encoding="utf-8")
    pairs = re.findall(r"^\| `(.+)` \| `(.+)` \|$", page, re.MULTILINE)
    assert len(pairs) == 3
    for stored, shown in pairs:
        assert markers.neutralise(stored) == shown


# links


@pytest.mark.parametrize("page", sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")]), ids=lambda path: path.name)
def test_every_file_a_page_names_is_there(page):
    """`docs/x.md`, `pipelines/…/y.py` and the like, in backquotes, from the top of the checkout."""
    text = page.read_text(encoding="utf-8")
    named = re.findall(r"`((?:docs|pipelines|assets|models|expectations|tests)/[\w./-]*\w)/?`", text)
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_every_kind_of_signal_is_told_in_a_line():
    assert sorted(KINDS) == sorted(SIGNAL_KINDS)
