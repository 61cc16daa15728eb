"""From the lake's files: whose families are read, which ids count, and what the echo gate is given."""

import json
from datetime import UTC, datetime

import polars as pl
import pytest

from lorelake.content.markers import cited_marker, shown_marker
from lorelake.evidence import memory_of_lake
from lorelake.lake import Lake, frame, write_table
from lorelake.tables import EVENTS, HISTORY, SERVED_IDS

FIRST, SECOND = "2026-03-01-0a1b2c3d", "2026-03-02-0a1b2c3d"
CLAIM, OTHER = "lrn_" + "ab" * 16, "lrn_" + "cd" * 16


@pytest.fixture
def lake(tmp_path):
    return Lake(tmp_path)


def publish(lake, sequence, release, *ids):
    name = f"{sequence:06d}-{release}.parquet"
    stamp = {"sequence": sequence, "release_id": release}
    change = {
        "published_at": datetime(2026, 3, 3, tzinfo=UTC), "learning_id": "", "from_state": None, "to_state": None,
        "text_sha256": None,
    }  # fmt: skip
    write_table(HISTORY, frame(HISTORY, [stamp | change]), lake.history / name)
    rows = [stamp | {"claim_id": id_, "content_key": "k", "audience": "team"} for id_ in ids]
    write_table(SERVED_IDS, frame(SERVED_IDS, rows), lake.history / "served_ids" / name)


def store(lake, *units):
    rows = [
        {name: getattr(event, name) for name in EVENTS.column_names} | {"attributes": json.dumps(event.attributes)}
        for unit in units
        for event in unit.events
    ]
    write_table(EVENTS, frame(EVENTS, rows), lake.table(EVENTS, units[0].events[0].day))


def sessions(*families):
    return pl.DataFrame(
        [{"unit_id": unit, "family_id": family, "person": "ana", "project": "shop"} for unit, family in families]
    )


def test_ids_count_as_the_publishes_recorded_them(lake, new_unit):
    publish(lake, 1, FIRST, CLAIM)
    publish(lake, 2, SECOND, OTHER)
    unit = new_unit("claude_code:s-1")
    for number, (release, claim) in enumerate([(FIRST, CLAIM), (FIRST, OTHER), (SECOND, OTHER), (SECOND, CLAIM)]):
        unit.run(f"m{number}", "lorelake recall x", shown_marker(release, [claim]), False)
    store(lake, unit)
    found = memory_of_lake.rows(lake, sessions(("claude_code:s-1", "f")), memory_of_lake.known_ids(lake))
    assert sorted((row["release_id"], row["claim_id"]) for row in found.exposures) == [
        (FIRST, CLAIM), (SECOND, CLAIM), (SECOND, OTHER),
    ]  # fmt: skip


def test_a_lake_that_published_nothing_takes_its_transcripts_as_they_are(lake, new_unit):
    unit = new_unit("claude_code:s-1")
    unit.run("m1", "lorelake recall x", shown_marker(FIRST, [CLAIM]), False)
    store(lake, unit)
    known = memory_of_lake.known_ids(lake)
    assert len(memory_of_lake.rows(lake, sessions(("claude_code:s-1", "f")), known).exposures) == 1


def test_every_unit_of_a_family_that_asked_is_read_and_no_other(lake, new_unit):
    asked, cites, apart = new_unit("claude_code:a"), new_unit("claude_code:b"), new_unit("claude_code:c")
    asked.run("m1", "lorelake recall x", f"1. Keep it small\n{shown_marker(FIRST, [CLAIM])}", False)
    for unit in (cites, apart):
        for _ in range(3):
            unit.add("prompt", "go on")
        unit.add("answer", f"As memory says. {cited_marker([CLAIM])}")
    store(lake, asked, cites, apart)
    table = sessions(("claude_code:a", "f"), ("claude_code:b", "f"), ("claude_code:c", "g"))
    found = memory_of_lake.rows(lake, table, memory_of_lake.known_ids(lake))
    assert sorted((row["act"], row["unit_id"]) for row in found.exposures) == [
        ("cited", "claude_code:b"), ("shown", "claude_code:a"),
    ]  # fmt: skip
    family = dict(table.select("unit_id", "family_id").iter_rows())
    result = asked.events[-1]
    assert memory_of_lake.texts(lake, table, family) == {"f": [(result.ts, result.text)]}


def test_a_lake_without_events_has_neither(lake):
    empty = pl.DataFrame(schema={"unit_id": pl.String, "family_id": pl.String})
    assert memory_of_lake.rows(lake, empty, memory_of_lake.known_ids(lake)) == ([], [])
