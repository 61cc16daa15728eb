"""No row depends on threads, on the order of rows in a file, or on how files are cut."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from sql_samples import AS_OF, World, write, write_unordered

from lorelake.lake import Lake
from lorelake.settings import Settings, Team
from lorelake.tables import TABLES
from lorelake_assets import dbt

pytestmark = pytest.mark.slow

SETTINGS = Settings(team=Team("t"))


def _contents(lake: Lake) -> dict[str, bytes]:
    return {table.name: lake.table(table).read_bytes() for table in dbt.OUTPUTS}


def test_threads_and_row_order_leave_every_byte_as_it_is(tmp_path: Path) -> None:
    world = World(7)
    ordered, shuffled = Lake(tmp_path / "ordered"), Lake(tmp_path / "it's [shuffled]")
    write(ordered, world.rows)
    dbt.build(ordered, AS_OF, SETTINGS, threads=1)
    order = random.Random(7)
    for name, rows in world.rows.items():
        table = TABLES[name]
        some = order.sample(rows, len(rows))
        if name == "served_ids":
            write(shuffled, {name: rows})
            write_unordered(shuffled.served_ids()[0], name, some)
            continue
        # Days are only where files lie: the models must not care, so all rows of a table go into two odd ones.
        halves = [some[::2], some[1::2]] if table.partitioned else [some]
        for half, day in zip(halves, (AS_OF, AS_OF.replace(day=1)), strict=False):
            path = shuffled.table(table, day) if table.partitioned else shuffled.table(table)
            write_unordered(path, name, half)
    before = sorted(dbt.models_dir().rglob("*"))
    dbt.build(shuffled, AS_OF, SETTINGS, threads=4)
    assert _contents(shuffled) == _contents(ordered)
    assert sorted(dbt.models_dir().rglob("*")) == before, "dbt wrote into models/"


def test_an_empty_lake_gives_empty_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also: dbt goes into its project's folder, and relative paths of whoever called must not go with it."""
    monkeypatch.chdir(tmp_path)
    result = dbt.build(Lake(tmp_path), AS_OF, SETTINGS)
    assert Path.cwd() == tmp_path
    assert set(result.rows) == {table.name for table in TABLES.values() if table.sql}
    assert set(result.rows.values()) == {0}
    assert result.success
