"""A thousand generated histories come to the same tables in any order, twice, and split over nights."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from histories import History, kept_by, merged, whose
from sql_samples import AS_OF, Row, write, write_unordered

from lorelake import lake as lakes
from lorelake.lake import Lake, read_table
from lorelake.learnings import claims, clusters
from lorelake.learnings.derive import learnings
from lorelake.learnings.topics import topics
from lorelake.release import history as publishes
from lorelake.settings import Revalidate, Settings, Team
from lorelake.tables import CLAIMS, STATES, TABLES, Table
from lorelake_assets import dbt
from lorelake_assets.learnings import FILING, PYTHON

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("histories")]

COUNT = 1_000
SETTINGS = Settings(team=Team("t"), revalidate=Revalidate(fact=60))
DERIVED = (*PYTHON, *dbt.OUTPUTS, *FILING)
EARLIER = AS_OF - timedelta(days=30)

Rows = dict[str, list[Row]]


def documents_of(rows: Rows) -> list[Row]:
    """As `evidence.days.document_events` reads them."""
    found = [row for row in rows["events"] if row["kind"].startswith("document_")]
    return sorted(found, key=lambda row: (row["unit_id"], row["seq"]))


def derive(lake: Lake, rows: Rows, order: random.Random | None = None, day: Any = AS_OF, threads: int = 2) -> None:
    """The derivation after evidence as the night runs it, with every row of every table in an order of its own."""
    given = {name: order.sample(some, len(some)) if order else some for name, some in rows.items()}
    made = learnings(given["signals"], given["admissions"], given["ledger"], documents_of(given))
    for name, some in given.items():
        if order is None or name == "served_ids":
            write(lake, {name: some})
            continue
        table = TABLES[name]
        halves = [some[::2], some[1::2]] if table.partitioned else [some]
        for half, place in zip(halves, (day, day.replace(day=1)), strict=False):
            write_unordered(lake.table(table, place) if table.partitioned else lake.table(table), name, half)
    for table, some in zip(PYTHON, made, strict=True):
        lakes.write_table(table, lakes.frame(table, some), lake.table(table))
    dbt.build(lake, day, SETTINGS, threads=threads)
    rows_of = {name: read_table(TABLES[name], lake.table(TABLES[name])).to_dicts() for name in FILED}
    if order:
        rows_of = {name: order.sample(some, len(some)) for name, some in rows_of.items()}
    filed = topics(*rows_of.values(), {row["signal_id"]: row for row in given["signals"]}, {})
    for table, some in zip(FILING, (filed.topics, filed.members, filed.merges), strict=True):
        lakes.write_table(table, lakes.frame(table, some), lake.table(table))


FILED = ("learnings", "learning_evidence")


def unequal(one: Lake, other: Lake) -> list[Table]:
    """The derived tables of which a byte differs."""
    return [table for table in DERIVED if one.table(table).read_bytes() != other.table(table).read_bytes()]


def differences(one: Lake, other: Lake, histories: Sequence[History]) -> dict[str, Any]:
    """Table to the numbers of the histories of which it says something else, or to its first rows that differ."""
    found = {}
    for table in unequal(one, other):
        left, right = (read_table(table, lake.table(table)).rows() for lake in (one, other))
        odd = sorted({repr(row) for row in left} ^ {repr(row) for row in right})
        found[table.name] = sorted(whose(" ".join(odd), histories))[:5] or odd[:2]
    return found


@pytest.fixture(scope="module")
def histories() -> list[History]:
    return [History(number) for number in range(COUNT)]


@pytest.fixture(scope="module")
def ordered(histories: list[History], tmp_path_factory: pytest.TempPathFactory) -> Lake:
    lake = Lake(tmp_path_factory.mktemp("ordered"))
    derive(lake, merged(histories))
    return lake


def test_the_histories_are_wide_enough(histories: list[History], ordered: Lake) -> None:
    """Equal tables prove nothing of what never happened in them."""

    def column(name: str, field: str) -> Counter[Any]:
        return Counter(read_table(TABLES[name], ordered.table(TABLES[name]))[field])

    assert len(histories) >= 1_000
    assert set(column("learnings", "state")) == set(STATES) - {"quarantined"}
    assert set(column("learnings", "trust")) == {"reviewed", "corroborated", "stated", "mechanical", "proposed"}
    assert set(column("supersession", "status")) >= {"applied", "proposed", "undone"}
    assert set(column("supersession", "reason")) >= {"explicit", "same_document", "value_changed", "duplicate"}
    assert set(column("claims", "tombstone_match")) == {None, "exact", "near"}
    assert set(column("decision_status", "verdict")) >= {"applies", "refused", "overruled"}
    assert set(column("regroupings", "verdict")) >= {"applies", "refused"}
    assert set(column("aliases", "basis")) >= {"claim", "former"}
    assert {"closes_a_circle", "taken_away", "restored", "text_changed"} <= set(column("decision_status", "because"))
    assert column("votes", "upvoted")[True] > 100
    assert min(len(read_table(table, ordered.table(table))) for table in FILING) > 0
    instants = Counter((row["ts"], row["audience"]) for history in histories for row in history.rows["signals"])
    assert sum(count > 1 for (_, audience), count in instants.items() if audience != "team") > 200


@pytest.mark.parametrize("seed", [1])
def test_any_order_and_twice(seed: int, histories: list[History], ordered: Lake, tmp_path: Path) -> None:
    lake, order = Lake(tmp_path / "shuffled"), random.Random(seed)
    derive(lake, merged(order.sample(histories, len(histories))), order, threads=4)
    assert differences(ordered, lake, histories) == {}


def test_split_over_nights(histories: list[History], ordered: Lake, tmp_path: Path) -> None:
    """A night thirty days ago on what was kept by then, and published; then tonight on everything: as in one night."""
    lake, rows = Lake(tmp_path / "split"), merged(histories)
    then = kept_by(rows, EARLIER)
    served = learnings(then["signals"], then["admissions"], then["ledger"], documents_of(then)).claims
    tonight = read_table(CLAIMS, ordered.table(CLAIMS))
    assert 0.3 < len(served) / len(tonight) < 0.9
    assert {row["learning_id"] for row in served} - set(tonight["learning_id"]), (
        "no item has another first member since"
    )
    audience = {row["signal_id"]: row["audience"] for row in then["signals"]}
    ids = {row["claim_id"]: (row["content_key"], audience[row["signal_id"]]) for row in served}
    aliases = pl.DataFrame(
        [(reference, *known) for reference, known in sorted(ids.items())],
        schema=["reference", "content_key", "audience"], orient="row",
    )  # fmt: skip
    publishes.append(lake, f"{EARLIER}-00000000", [], aliases, datetime(2026, 2, 19, tzinfo=UTC))
    derive(lake, {name: some for name, some in rows.items() if name != "served_ids"})
    assert differences(ordered, lake, histories) == {}


def test_a_rule_without_a_total_order_is_found(histories: list[History], monkeypatch: pytest.MonkeyPatch) -> None:
    """What the comparison is for: two rules by which of equal instants the one that came first is served."""
    some = merged(histories[:120])
    order = random.Random(3)

    def derived(rows: Rows) -> set[str]:
        made = learnings(rows["signals"], rows["admissions"], rows["ledger"], documents_of(rows))
        return {repr(row) for row in made.claims}

    shuffled = {name: order.sample(rows, len(rows)) for name, rows in some.items()}
    assert derived(shuffled) == derived(some)
    admitted = {row["signal_id"] for row in some["admissions"] if row["admitted"]}

    def as_given(signals: Sequence[Row], _: Sequence[Row]) -> list[Row]:
        return [claims.claim(row) for row in signals if row["signal_id"] in admitted]

    monkeypatch.setattr(claims, "claims", as_given)
    assert derived(shuffled) == derived(some)
    monkeypatch.setattr(clusters, "seniority", lambda one: (one.rank, one.ts))
    assert derived(shuffled) != derived(some)
