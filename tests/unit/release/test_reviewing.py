from __future__ import annotations

from datetime import date
from typing import Any

import msgspec
import pytest

from lorelake import served
from lorelake.cli.review_items import is_low_risk
from lorelake.lake import frame
from lorelake.release.build import build_candidate
from lorelake.tables import CLAIMS

AS_OF = date(2026, 3, 20)
_PLAIN: dict[str, Any] = {"str": "", "bool": False, "list[str]": [], "int": 0, "float": 0.0}


@pytest.fixture
def reviewed(lake: Any, settings: Any, night: Any, ids: Any) -> Any:
    """What reviewers are given of each learning, by folder, of a night in which `waits` is near what was rejected."""

    def built(near_to: str) -> dict[str, dict[str, served.Reviewed]]:
        columns = {c.name: None if c.nullable else _PLAIN[c.base] for c in CLAIMS.columns}
        about = {"claim_id": ids("waits"), "signal_id": "s", "learning_id": ids("waits")}
        near = columns | about | {"tombstone": near_to, "tombstone_match": "near"}
        build_candidate(lake, settings, AS_OF, night.tables() | {"claims": frame(CLAIMS, [near])}, {})
        found = {}
        for path in (lake.candidate / served.REVIEW_FOLDER).glob("*/items.jsonl"):
            lines = [msgspec.json.decode(line, type=served.Reviewed) for line in path.read_bytes().splitlines()]
            found[path.parent.name] = {one.item.learning_id: one for one in lines}
        return found

    return built


def test_each_folder_holds_the_items_of_its_audience_and_nothing_forgotten(
    reviewed: Any, settings: Any, ids: Any, night: Any
) -> None:
    found = reviewed("d1")
    kept = {row["learning_id"]: row["audience"] for row in night.rows["learnings"] if row["state"] != "forgotten"}
    assert ids("gone") not in kept
    wanted = {(served.audience_id(settings.team.id, audience), learning) for learning, audience in kept.items()}
    assert {(folder, learning) for folder, items in found.items() for learning in items} == wanted


def test_of_a_rejection_elsewhere_nobody_is_told_more_than_that_it_is_near(
    reviewed: Any, settings: Any, ids: Any, night: Any
) -> None:
    """`d1` is on an item of a private channel; `d2` is on one of the whole team."""
    folder = served.audience_id(settings.team.id, "project:harbour")
    one = reviewed("d1")[folder][ids("waits")]
    assert [(near.actor, near.reason) for near in one.near] == [("withheld", "")]
    assert not is_low_risk(one)
    assert is_low_risk(msgspec.structs.replace(one, near=()))
    night.put("ledger", decision_id="d2", decision="reject", claim_id=ids("paths"), actor="mara", reason="Never was.")
    night.put("decision_status", decision_id="d2", decision="reject", learning_id=ids("paths"))
    one = reviewed("d2")[folder][ids("waits")]
    assert [(near.actor, near.reason) for near in one.near] == [("mara", "Never was.")]


def test_a_decision_on_no_item_leaves_its_words_out_of_the_tables(lake: Any, settings: Any, night: Any) -> None:
    import polars as pl

    night.put("ledger", decision_id="d3", decision="dismiss", target="thr_" + "a" * 32, reason="ochremark again")
    night.put("decision_status", decision_id="d3", decision="dismiss")
    folder = build_candidate(lake, settings, AS_OF, night.tables(), {})
    ledger = pl.read_parquet(folder / "tables" / "ledger.parquet")
    assert ledger.filter(pl.col("decision_id") == "d3")["reason"].to_list() == [""]
