"""What the two gates say when something is wrong: findings of the data, never silence, and never an error of theirs."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sql_samples import (
    AS_OF,
    Row,
    claim,
    days_ago,
    decision,
    event,
    exposure,
    intake,
    link,
    person,
    session,
    signal,
    write,
)

from lorelake.errors import ContractError
from lorelake.lake import Lake, frame, read_table
from lorelake.settings import Settings, Team
from lorelake.tables import TABLES
from lorelake_assets import checks, dbt

pytestmark = pytest.mark.slow

SETTINGS = Settings(team=Team("t"))


def test_a_failed_data_test_is_a_finding_and_the_tables_are_written(tmp_path: Path) -> None:
    """A claim whose hash follows another formula, books that do not close, and a decision nobody can place."""
    lake = Lake(tmp_path)
    said = signal("a")
    books = intake("slack", 9, {"empty": 1})
    write(
        lake,
        {
            "people": [person("ada")],
            "signals": [said],
            "admissions": [{"signal_id": said["signal_id"], "admitted": True, "rule": "admitted", "detail": ""}],
            "claims": [claim("a", said, text_sha256="0" * 64)],
            "ledger": [decision("lost", "endorse", "lrn_" + "f" * 32)],
            "supersession_candidates": [link("lrn_" + "e" * 32, claim("a", said)["claim_id"])],
            "intake": [{**books, "kept": 3}],
        },
    )
    result = dbt.build(lake, AS_OF, SETTINGS)
    failed = {verdict.name: verdict.severity for verdict in result.verdicts if not verdict.passed}
    assert failed == {
        "every_claim_hash_follows_the_formula": "error",
        "every_record_seen_is_kept_or_refused": "error",
        "every_decision_finds_its_item": "warn",
        "every_link_between_claims_is_known": "warn",
    }
    assert not result.success
    assert result.rows["learnings"] == 1

    dbt.remember(lake, result)
    said_of = dbt.judge_tests(lake)
    assert said_of["dbt every_claim_hash_follows_the_formula (1 rows)"] == "fail"
    assert said_of["dbt every_decision_finds_its_item (1 rows)"] == "pass"
    assert said_of["dbt no_log_has_a_gap"] == "pass"


def test_two_records_of_one_folder_with_one_number_are_shown(tmp_path: Path) -> None:
    """9 stands twice in one folder; the other 9 is of another folder, and the third of this one was deleted."""
    records = ["adr/0009-a.md", "adr/0009-b.md", "adr/0009-gone.md", "web/adr/0009-c.md"]
    events = [
        event(
            path, unit_id=f"documents:{path}@r", path=path, kind="document_version", attributes='{"adr_number":9}'
        )
        for path in records
    ]  # fmt: skip
    gone = {**events[2], "event_id": "d" * 32, "kind": "document_deleted", "seq": 1}

    def found(name: str, rows: list[Row]) -> int:
        lake = Lake(tmp_path / name)
        write(lake, {"people": [person("ada")], "events": rows})
        verdicts = dbt.build(lake, AS_OF, SETTINGS).verdicts
        (one,) = [verdict for verdict in verdicts if verdict.name == "no_two_records_share_a_number"]
        return 0 if one.passed else 1

    assert found("twins", [*events, gone]) == 1
    assert found("apart", [*events[1:], gone]) == 0


def test_tables_that_were_never_tested_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="not tested"):
        dbt.judge_tests(Lake(tmp_path))


def test_suites_name_what_is_broken_and_why() -> None:
    good = exposure("a", "lrn_" + "a" * 32, "shown")
    bad = {**exposure("b", "teamai/foo", "seen"), "family_id": "claude_code:b"}
    history = {
        "sequence": 0, "release_id": "yesterday", "published_at": datetime(2026, 3, 1, tzinfo=UTC), "learning_id": "",
        "from_state": None, "to_state": "active", "text_sha256": None,
    }  # fmt: skip
    results = checks.run_suites(
        {
            "exposures": frame(TABLES["exposures"], [good, bad]),
            "history": frame(TABLES["history"], [history]),
            "intake": frame(TABLES["intake"], []),
            "ledger": frame(TABLES["ledger"], []),
            "learnings": frame(TABLES["learnings"], []),
            "signals": frame(TABLES["signals"], [signal("a", quote_end=0), signal("b", ts=days_ago(1))]),
        }
    )
    by_table = {result.table: result for result in results}
    assert list(by_table) == sorted(by_table)
    exposures = by_table["exposures"]
    assert (exposures.success, exposures.rows) == (False, 2)
    assert [finding.split(":")[0] for finding in exposures.findings] == [
        "column values to be in set (act)",
        "column values to match regex (claim_id)",
    ]
    assert "1 of 2 rows, 'seen'" in exposures.findings[0]
    assert len(by_table["history"].findings) == 2
    assert (
        by_table["signals"].findings[0].startswith("column pair values a to be greater than b (quote_end, quote_start)")
    )
    assert by_table["intake"].findings[0].startswith("table row count to be between: found 0. Without a capture")
    assert (by_table["ledger"].success, len(by_table["ledger"].notes)) == (True, 1)
    assert (by_table["learnings"].success, len(by_table["learnings"].warnings)) == (True, 1)


def test_an_expectation_that_raises_is_an_error_and_no_finding() -> None:
    with pytest.raises(ContractError, match="could not be judged"):
        checks.run_suites({"admissions": frame(TABLES["admissions"], []).drop("rule")})


def test_the_candidate_is_judged_where_it_has_a_copy(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    write(lake, {"people": [person("ada")], "intake": [intake("slack", 2, {})]})
    said = checks.judge_suites(lake)
    assert said["suite people"] == said["suite intake"] == "pass"
    assert any(name.startswith("suite events: ") and verdict == "fail" for name, verdict in said.items())
    copy = lake.candidate / "tables"
    copy.mkdir(parents=True)
    frame(TABLES["intake"], []).write_parquet(copy / "intake.parquet")
    said = checks.judge_suites(lake)
    assert "suite intake" not in said
    assert any(name.startswith("suite intake: ") for name in said)


def test_an_imported_proposal_waits_for_review_however_old_it_is(tmp_path: Path) -> None:
    """A GitMem learning of last year, first kept tonight: nobody could have reviewed it before (design section 8)."""
    lake = Lake(tmp_path)
    old = {"actor": "gitmem", "actor_class": "agent", "ts": days_ago(400), "day": days_ago(400).date()}
    kept = {"new": AS_OF, "edge": AS_OF - timedelta(days=90), "left": AS_OF - timedelta(days=91)}
    said = {name: signal(name, first_kept=day, **old) for name, day in kept.items()}
    claims = {name: claim(name, said[name], trust_basis="proposed") for name in kept}
    write(lake, {"people": [person("ada")], "signals": [*said.values()], "claims": [*claims.values()]})
    dbt.build(lake, AS_OF, SETTINGS)
    rows = {name: read_table(TABLES[name], lake.table(TABLES[name])) for name in ("learnings", "review_queue")}
    state = dict(rows["learnings"].select("learning_id", "state").iter_rows())
    assert {name: state[claims[name]["claim_id"]] for name in kept} == {
        "new": "candidate", "edge": "candidate", "left": "expired",
    }  # fmt: skip
    assert set(rows["review_queue"]["learning_id"]) == {claims[name]["claim_id"] for name in ("new", "edge")}


def test_a_persons_word_in_a_session_sends_an_unreviewed_item_back_and_leaves_a_reviewed_one(tmp_path: Path) -> None:
    """Both wait for somebody to rule; what an agent says of an item, or a person only asks, moves nothing."""
    lake = Lake(tmp_path)
    bases = {"said": "stated", "merged": "reviewed", "doubted": "stated", "by_agent": "stated"}
    said = {name: signal(name, ts=days_ago(5)) for name in bases}
    claims = {name: claim(name, said[name], trust_basis=basis) for name, basis in bases.items()}
    shown = [exposure("there", row["claim_id"], "shown", ts=days_ago(3)) for row in claims.values()]
    against = [
        signal(
            f"against {name}", kind="memory_refuted", unit_id="claude_code:there", family_id="claude_code:there",
            actor="ben", ts=days_ago(2), day=days_ago(2).date(),
            actor_class="agent" if name == "by_agent" else "human",
            payload=json.dumps({"item": {}, "seen": {"claim": row["claim_id"], "plain": name != "doubted"}}),
        )
        for name, row in claims.items()
    ]  # fmt: skip
    write(
        lake,
        {
            "people": [person("ada"), person("ben")],
            "sessions": [session("claude_code:there")],
            "signals": [*said.values(), *against],
            "claims": [*claims.values()],
            "exposures": shown,
        },
    )
    dbt.build(lake, AS_OF, SETTINGS)
    names = {row["claim_id"]: name for name, row in claims.items()}
    rows = {name: read_table(TABLES[name], lake.table(TABLES[name])) for name in ("learnings", "review_queue", "votes")}
    found = rows["learnings"].select("learning_id", "state", "state_reason").iter_rows()
    assert {names[learning]: standing for learning, *standing in found} == {
        "said": ["candidate", "disputed"], "merged": ["active", "reviewed_at_source"],
        "doubted": ["active", "stated"], "by_agent": ["active", "stated"],
    }  # fmt: skip
    queue = rows["review_queue"].select("learning_id", "why").iter_rows()
    assert {(names[learning], why) for learning, why in queue} == {("said", "disputed"), ("merged", "disputed")}
    refuted = rows["votes"].filter("refuted").select("learning_id", "voter", "voter_class").iter_rows()
    assert {(names[learning], *who) for learning, *who in refuted} == {
        ("said", "ben", "human"), ("merged", "ben", "human"),
    }  # fmt: skip
