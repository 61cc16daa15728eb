from __future__ import annotations

import shutil
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from lorelake import served
from lorelake.lake import Lake
from lorelake.release.build import build_candidate
from lorelake.release.comparison import Part, compare

AS_OF = date(2026, 3, 20)


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory, settings: Any, make_night: Any) -> Path:
    """A release's folder; not to be changed."""
    lake = Lake(tmp_path_factory.mktemp("one") / "lake")
    return build_candidate(lake, settings, AS_OF, make_night().tables(), {})


@pytest.fixture
def build(tmp_path: Path, settings: Any) -> Any:
    """Build a release from a night's tables in a lake of its own."""
    return lambda night: build_candidate(Lake(tmp_path / "other"), settings, AS_OF, night.tables(), {})


@pytest.fixture
def other(one: Path, tmp_path: Path) -> Path:
    """A copy that a test changes."""
    shutil.copytree(one, tmp_path / "copy")
    return tmp_path / "copy"


def differing(one: Path, other: Path) -> dict[str, Part]:
    return {part.name: part for part in compare(one, other) if not part.same}


def test_what_is_built_again_in_another_order_is_the_same(one: Path, build: Any, make_night: Any) -> None:
    night = make_night()
    for rows in night.rows.values():
        rows.reverse()
    parts = compare(one, build(night))
    assert {part.name for part in parts if not part.same} == set()
    named = {part.name: part for part in parts}
    assert {"learnings", "votes", "index of team", "review of team"} <= set(named)
    assert named["learnings"].rows == (len(night.rows["learnings"]), len(night.rows["learnings"]))
    assert named["learnings"].hashed
    assert not named["intake"].hashed
    assert min(part.rows[0] or 0 for part in parts if part.name.startswith("index of")) > 0


def test_another_title_is_seen_in_its_table_and_in_the_index_of_its_audience(
    one: Path, build: Any, make_night: Any
) -> None:
    night = make_night()
    row = next(row for row in night.rows["learnings"] if row["state"] == "active" and row["audience"] == "team")
    row["title"] = "Another title"
    found = differing(one, build(night))
    assert found["learnings"].keys == (f"{row['learning_id']}: title",)
    assert found["learnings"].differing == 1
    index = found["index of team"]
    assert {key.split(":")[0] for key in index.keys} <= {f"{of} {row['learning_id']}" for of in ("items", "lance")}
    assert not any(name.startswith("index of project") for name in found)
    assert "Another title" not in repr(found), "a difference is told without words"


def test_rows_on_one_side_only_are_missing_or_new(one: Path, other: Path) -> None:
    path = other / "tables" / "aliases.parquet"
    rows = pl.read_parquet(path)
    gone, added = rows["reference"][0], "lrn_" + "f" * 32
    changed = rows.with_columns(
        reference=pl.when(pl.col("reference") == gone).then(pl.lit(added)).otherwise("reference")
    )
    changed.write_parquet(path)
    part = differing(one, other)["aliases"]
    assert (set(part.keys), part.differing) == ({f"{gone}: missing", f"{added}: new"}, 2)


def test_floats_count_to_nine_digits(one: Path, other: Path) -> None:
    path = other / "tables" / "confidence.parquet"
    rows = pl.read_parquet(path)
    rows.with_columns(pl.col("confidence") + 1e-12).write_parquet(path)
    assert differing(one, other) == {}
    rows.with_columns(pl.col("confidence") + 1e-8).write_parquet(path)
    assert differing(one, other)["confidence"].differing == rows.height


def test_a_table_a_column_and_a_folder_that_one_side_does_not_have(one: Path, other: Path) -> None:
    (other / "tables" / "votes.parquet").unlink()
    path = other / "tables" / "decay.parquet"
    pl.read_parquet(path).rename({"learning_id": "item"}).write_parquet(path)
    audience = next(path for path in sorted((other / served.INDEX_FOLDER).iterdir()))
    shutil.rmtree(audience)
    (other / "more.json").write_text("{}")
    found = differing(one, other)
    assert found["votes"].rows[1] is None
    assert found["decay"].keys == ("column item", "column learning_id")
    (index,) = [part for name, part in found.items() if name.startswith("index of ")]
    assert index.rows[0] is not None
    assert index.rows[1] is None
    assert found["more.json"].rows == (None, 1)


@pytest.mark.parametrize("name", ["manifest.json", "verdict.json", "catalog.duckdb"])
def test_what_tells_when_it_was_made_is_left_out(name: str, one: Path, other: Path) -> None:
    (other / name).write_bytes(b"another")
    assert differing(one, other) == {}


def test_an_index_file_of_another_kind_counts_by_its_bytes(one: Path, other: Path) -> None:
    card = next((other / served.INDEX_FOLDER).glob(f"*/{served.AUDIENCE_CARD}"))
    card.write_bytes(card.read_bytes() + b" ")
    (part,) = differing(one, other).values()
    assert part.keys == (f"{served.AUDIENCE_CARD}: sha256",)
