"""The decisions that a `forget` writes: ids and hashes, as many files as it takes, each of which is read again."""

from __future__ import annotations

from pathlib import Path

import msgspec

from lorelake import served
from lorelake.formats import decisions
from lorelake.lake import Lake
from lorelake.release import forget


def item(number: int) -> dict[str, str]:
    return {"learning": f"lrn_{number:032x}", "content_key": f"{number:064x}"}


def test_every_item_and_hash_is_in_one_decision_and_each_is_read_again() -> None:
    items = [item(number) for number in range(forget.ITEMS + 1)]
    records = [f"{number:064x}" for number in range(2 * forget.RECORDS + 1)]
    made = forget.decisions(items, "they asked", erase=True, records=records, persons=["a" * 64])
    assert len(made) == 3
    read = [decisions.parse(decisions.write(one)) for one in made]
    assert [one["learning"] for part in read for one in part.get("items", ())] == [one["learning"] for one in items]
    assert [record for part in read for record in part.get("records", ())] == records
    assert [part.get("persons") for part in read] == [["a" * 64], None, None]
    assert all(part["erase"] for part in read)


def test_forgetting_without_erasing_names_items_alone() -> None:
    (made,) = forget.decisions([item(1)], "wrong")
    assert decisions.parse(decisions.write(made)) == {"decision": "forget", "reason": "wrong", "items": [item(1)]}


def test_the_signature_is_the_one_that_the_served_release_carries(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    lake.current.write_text("2026-03-20-00000000\n")
    folder = lake.releases / "2026-03-20-00000000" / "review" / served.audience_id("t", "team")
    folder.mkdir(parents=True)
    row = {"learning_id": item(1)["learning"], "content_key": item(1)["content_key"], "audience": "team"}
    carried = {row["learning_id"]: {"content_key": row["content_key"], "signature": ["0a"]}}
    (folder / forget.SIGNATURES).write_bytes(msgspec.json.encode(carried))
    other = {"learning_id": item(2)["learning"], "content_key": item(2)["content_key"], "audience": "project:x"}
    assert forget.signed(lake, "t", [other, row]) == [{**item(1), "signature": ["0a"]}, item(2)]
