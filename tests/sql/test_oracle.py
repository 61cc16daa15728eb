"""The dbt tables against a slow oracle, on some hundred learnings to which everything happened that can happen."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from review_oracle import overruled
from sql_oracle import FOREVER, Oracle
from sql_samples import AS_OF, World, text_hash, write

from lorelake.lake import Lake, read_table
from lorelake.settings import Revalidate, Review, Settings, Team
from lorelake.tables import STATES, TABLES
from lorelake_assets import dbt

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("sql_oracle")]


class Built:
    """One world with its tables and its oracle."""

    def __init__(self, folder: Path, seed: int, require: Any) -> None:
        self.world = World(seed)
        self.lake = Lake(folder)
        write(self.lake, self.world.rows)
        settings = Settings(team=Team("t"), review=Review(require=require), revalidate=Revalidate(fact=60))
        self.result = dbt.build(self.lake, AS_OF, settings)
        self.oracle = Oracle(self.world.rows, require, revalidate={"fact": 60})

    def table(self, name: str) -> pl.DataFrame:
        return read_table(TABLES[name], self.lake.table(TABLES[name]))

    def rows(self, name: str) -> list[dict[str, Any]]:
        return self.table(name).to_dicts()


@pytest.fixture(scope="module", params=[(1, "risky"), (2, "all"), (3, "none")], ids=lambda p: f"{p[0]}-{p[1]}")
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    seed, require = request.param
    return Built(tmp_path_factory.mktemp("lake"), seed, require)


def test_no_data_test_finds_anything(built: Built) -> None:
    """But for decisions on ids that lead nowhere any more, which is what that one is to tell of."""
    lost = [
        row for row in built.oracle.decisions
        if row["learning"] is None and not (row["decision"] in ("reject", "forget", "restore") and row["key"])
    ]  # fmt: skip
    found = {verdict.name: verdict.failures for verdict in built.result.verdicts if not verdict.passed}
    assert found == ({"every_decision_finds_its_item": len(lost)} if lost else {})
    assert len(built.result.verdicts) > 25


def test_the_world_is_wide_enough(built: Built) -> None:
    """The comparison proves nothing about a state or reason that no sample reaches."""
    states = Counter(row["state"] for row in built.rows("learnings"))
    reasons = {row["reason"] for row in built.rows("learning_events")}
    assert built.result.rows["learnings"] >= 200
    assert set(states) == set(STATES) - {"quarantined"}
    assert min(states.values()) >= 2
    wanted = {
        "rejected", "forgotten", "retired", "document_deleted", "superseded", "disputed", "near_tombstone", "approved",
        "reviewed_at_source", "mechanical", "proposed", "silent", "revalidate_by", "message_deleted",
        "refuted_by_people", "reverted",
    }  # fmt: skip
    assert wanted <= reasons
    assert {row["status"] for row in built.rows("supersession")} == {"applied", "in_part", "proposed", "undone"}
    assert {row["why"] for row in built.rows("review_queue")} >= {"disputed", "near_tombstone", "text_changed"}


def test_state_trust_and_successor(built: Built) -> None:
    oracle = built.oracle
    for row in built.rows("learnings"):
        learning = row["learning_id"]
        now = oracle.tonight(learning)
        assert (row["state"], row["state_reason"]) == oracle.state(learning, now), learning
        assert row["trust"] == oracle.trust(learning, now), learning
        wanted = oracle.successor(learning) if row["state"] == "superseded" else None
        assert row["superseded_by"] == wanted


def test_served_words(built: Built) -> None:
    for row in built.rows("learnings"):
        wanted = built.oracle.text(row["learning_id"])
        assert row["text_sha256"] == wanted["text_sha256"]
        assert (row["kind"], row["severity"]) == (wanted["kind"], wanted["severity"])
        for field in ("title", "when", "do", "because", "not_when", "applies_to", "inferred"):
            assert row[field] == wanted[field], (row["learning_id"], field)
    inferred = {tuple(row["inferred"]) for row in built.rows("learnings")}
    assert inferred == {(), ("title",), ("because",), ("title", "because")}


def test_who_is_behind_it(built: Built) -> None:
    oracle = built.oracle
    evidence = defaultdict(set)
    for row in built.rows("learning_evidence"):
        evidence[row["learning_id"]].add(row["signal_id"])
    met: set[str] = set()
    for row in built.rows("learnings"):
        members = oracle.members[row["learning_id"]]
        signals = [signal for _, signal in members]
        beside = oracle.narrower(row["learning_id"])
        assert evidence[row["learning_id"]] == {signal["signal_id"] for signal in signals}
        left = oracle.left(row["learning_id"], FOREVER)
        assert row["people"] == oracle.people(left)
        families, every = (oracle.families(row["learning_id"], some) for some in (left, left + beside))
        assert (row["families"], row["narrower_families"]) == (len(families), len(every) - len(families))
        assert row["narrower_people"] == oracle.people(left + beside) - row["people"]
        met |= {name for name in ("narrower_people", "narrower_families") if row[name]}
        assert row["risks"] == sorted({risk for claim, _ in members for risk in claim["risks"]})
        assert row["first_said"] == min(signal["ts"] for signal in signals)
        assert row["last_said"] == max(signal["ts"] for signal in signals)
        assert row["known_from"] == min(signal["first_kept"] for signal in signals)
        assert row["said_by"] == oracle.canonical(row["learning_id"])[1]["actor"]
    assert met == {"narrower_people", "narrower_families"}


def test_every_id_that_leads_somewhere(built: Built) -> None:
    found = {row["reference"]: row["learning_id"] for row in built.rows("aliases")}
    oracle = built.oracle
    names = {name: oracle.holder[claim] for name, claim in oracle.names.items()}
    assert {name: learning for name, learning in found.items() if learning} == names
    assert Counter(row["basis"] for row in built.rows("aliases")).keys() >= {"claim", "former", "served_before"}
    buried = {row["claim_id"] for row in built.world.rows["served_ids"] if oracle._buried_key(row["claim_id"])}
    assert {name for name, learning in found.items() if learning is None} == buried


def test_audit_log(built: Built) -> None:
    logs = defaultdict(list)
    for row in sorted(built.rows("learning_events"), key=lambda row: row["ts"]):
        logs[row["learning_id"]].append((row["ts"], row["from_state"], row["to_state"], row["reason"]))
    assert set(logs) == set(built.world.learnings)
    for learning, log in logs.items():
        assert log == built.oracle.log(learning), learning


def test_supersession(built: Built) -> None:
    found = {(row["older_id"], row["newer_id"], row["reason"]): row["status"] for row in built.rows("supersession")}
    assert found == built.oracle.supersession()
    for row in built.rows("learnings"):
        assert row["replaced_parts"] == built.oracle.replaced_parts(row["learning_id"])


def test_review_queue(built: Built) -> None:
    found = defaultdict(set)
    for row in built.rows("review_queue"):
        found[row["learning_id"]].add(row["why"])
    for learning in built.world.learnings:
        assert found[learning] == built.oracle.queue(learning), learning


def test_every_decision_says_what_became_of_it(built: Built) -> None:
    own = {row["decision_id"] for row in built.oracle.own}
    oracle = {row["decision_id"]: row for row in built.oracle.decisions}
    reasons: set[str | None] = set()
    for row in built.rows("decision_status"):
        found = oracle.get(row["decision_id"])
        if found is None:
            assert row["verdict"] == "refused"
            assert (row["because"] == "own_proposal") == (row["decision_id"] in own)
        elif found["decision"] != "supersede":  # what came of those is the link's own comparison
            because = overruled(built.oracle, found)
            assert row["because"] == because, (row, found)
            assert row["verdict"] in (("overruled",) if because else ("applies", "no_item")), row
            assert row["learning_id"] == found["learning"]
        reasons.add(row["because"])
    assert reasons >= {None, "own_proposal", "restored", "taken_away", "text_changed", "edited_again", "said_otherwise"}


def test_approved_words_are_those_of_the_latest_approval(built: Built) -> None:
    rows = {row["learning_id"]: row for row in built.rows("approved_texts")}
    changed = {row["learning_id"] for row in built.rows("review_queue") if row["why"] == "text_changed"}
    assert rows.keys() & changed
    for learning, row in rows.items():
        versions = built.oracle.versions(learning, built.oracle.tonight(learning))
        assert row["text_sha256"] != text_hash(versions[-1][0])
        (approval,) = (one for one in built.oracle.decisions if one["decision_id"] == row["decision_id"])
        assert (approval["decision"], approval["learning"]) == ("approve", learning)
        new = json.loads(approval["new_text"] or "{}")
        assert {name: row[name] for name in ("title", "when", "do") if name in new}.items() <= new.items()
        assert new or row["text_sha256"] == approval["decided_on_sha256"]


def test_tombstones(built: Built) -> None:
    oracle = built.oracle
    wanted: dict[tuple[str, str], str] = {}
    for row in oracle.decisions:
        if row["decision"] not in ("reject", "forget") or row["key"] is None:
            continue
        restored = any(
            other["decision"] == "restore" and other["ts"] > row["ts"]
            and (other["key"] == row["key"] or (row["learning"] and other["learning"] == row["learning"]))
            for other in oracle.decisions
        )  # fmt: skip
        place = row["key"], row["reach"]
        if not restored and wanted.get(place) != "forgotten":
            wanted[place] = "forgotten" if row["decision"] == "forget" else "rejected"
    found = built.rows("tombstones")
    assert {(row["content_key"], row["reach"]): row["reason"] for row in found} == wanted
    assert {reach for _, reach in wanted} == {"team", "project:shop"}
    assert {tuple(row["signature"]) for row in found} - {()} == {("0a00000000", "0f00000000")}
    assert sum(row["held"] for row in found) > 0
    assert sum(row["suppressed"] for row in found) > 0
