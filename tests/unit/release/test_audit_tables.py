from __future__ import annotations

import pytest

from lorelake.release.audit_tables import check_tables, read_tables


def codes(night, previous=None, allow_shrink=False):
    before = previous.tables() if previous else {}
    findings = check_tables(night.tables(), before, allow_shrink)
    return {finding.code for finding in findings if finding.severity == "error"}


def test_a_sound_night_has_no_findings(night):
    assert check_tables(night.tables(), {}, allow_shrink=False) == []


@pytest.mark.parametrize("name", ["intake", "sessions", "funnel"])
def test_a_night_that_looked_at_nothing_is_held(night, name):
    night.rows[name] = []
    assert codes(night) == {"table_empty"}


def test_no_learning_is_a_warning_on_a_first_night(night):
    for name in ("learnings", "learning_evidence", "confidence", "supersession", "votes", "exposures", "review_queue"):
        night.rows[name] = []
    findings = check_tables(night.tables(), {}, allow_shrink=False)
    assert [(f.code, f.severity) for f in findings] == [("no_learnings", "warning")]


def test_more_than_two_in_a_hundred_quarantined_rows_hold(night):
    for number in range(93):
        night.add(f"n{number}", "team", f"title {number}", "do it", f"quote {number}")
    assert len(night.rows["learnings"]) == 101
    for number in range(2):
        night.learning(f"n{number}").update(state="quarantined", state_reason="row_secret")
    assert codes(night) == set()
    night.learning("n2").update(state="quarantined", state_reason="row_secret")
    assert codes(night) == {"quarantined_share"}


def test_rows_a_gate_held_do_not_count_as_moved_by_build(night):
    for name in ("pnpm", "cache", "review"):
        night.learning(name).update(state="quarantined", state_reason="near_tombstone")
    assert codes(night) == set()


@pytest.mark.parametrize("change", [{"quote_verified": False}, {"actor_class": "agent"}])
def test_active_without_a_witness_is_held(night, ids, change):
    next(r for r in night.rows["learning_evidence"] if r["learning_id"] == ids("pnpm")).update(change)
    assert codes(night) == {"no_witness"}


def test_an_active_learning_under_a_tombstone_is_held(night):
    night.put(
        "tombstones", content_key=night.learning("pnpm")["content_key"], reason="rejected", actor="mara", reach="team"
    )
    assert codes(night) == {"tombstone_active"}


def test_a_tombstone_of_what_is_not_active_is_its_purpose(night):
    night.put(
        "tombstones", content_key=night.learning("gone")["content_key"], reason="forgotten", actor="mara", reach="team"
    )
    assert codes(night) == set()


@pytest.mark.parametrize(
    ("vote", "unfounded"),
    [
        ({"family_id": "f-elsewhere", "voter_class": "agent", "recalled": True}, True),
        ({"family_id": "f-elsewhere", "voter_class": "author", "recalled": True, "upvoted": True}, True),
        ({"family_id": "d9", "voter_class": "human", "refuted": True}, False),
        ({"family_id": "d-refused", "voter_class": "human", "upvoted": True}, True),
        ({"family_id": "f-elsewhere", "voter_class": "bot", "recalled": True}, False),
        ({"family_id": "f-elsewhere", "voter_class": "agent"}, False),
    ],
)
def test_a_counted_vote_needs_a_showing_or_a_decision(night, ids, vote, unfounded):
    night.put("ledger", decision_id="d9", decision="dispute", claim_id=ids("cache"), verdict="applies")
    night.put("ledger", decision_id="d-refused", decision="endorse", claim_id=ids("cache"), verdict="refused")
    night.put("votes", learning_id=ids("cache"), voter="jonas", **vote)
    assert codes(night) == ({"vote_unfounded"} if unfounded else set())


def test_a_vote_for_what_was_shown_under_an_older_id_counts(night, ids):
    claim = "lrn_" + "a" * 32
    night.put("exposures", exposure_id="e9", claim_id=claim[:16], family_id="f9", act="shown")
    night.put("votes", learning_id=ids("cache"), voter="jonas", family_id="f9", voter_class="agent", recalled=True)
    assert codes(night) == {"vote_unfounded"}
    night.put("aliases", reference=claim, learning_id=ids("cache"), basis="served_before")
    assert codes(night) == set()


def test_a_vote_for_what_another_memory_showed_needs_something_shown_there(night, ids):
    night.put("votes", learning_id=ids("cache"), voter="jonas", family_id="f9", voter_class="agent", recalled=True)
    assert codes(night) == {"vote_unfounded"}
    night.put("exposures", exposure_id="e9", claim_id="teamai:tiles", family_id="f9", act="shown")
    assert codes(night) == set()


def test_a_citation_is_no_showing(night, ids):
    night.put("exposures", exposure_id="e9", claim_id=ids("cache"), family_id="f9", act="cited")
    night.put("votes", learning_id=ids("cache"), voter="jonas", family_id="f9", voter_class="agent", upvoted=True)
    assert codes(night) == {"vote_unfounded"}


def supersede(night, older, newer, status="applied"):
    night.put("supersession", older_id=older, newer_id=newer, reason="explicit", status=status, actor="mara")


def test_items_that_replace_each_other_in_a_circle_are_held(night, ids):
    supersede(night, ids("paths"), ids("paths_old"))
    assert codes(night) == {"supersession_cycle"}


def test_a_proposed_circle_is_only_proposed(night, ids):
    supersede(night, ids("paths"), ids("paths_old"), status="proposed")
    assert codes(night) == set()


def test_both_ends_active_and_a_link_to_nothing_are_held(night, ids):
    supersede(night, ids("review"), ids("paths"))
    assert codes(night) == {"superseded_active"}
    night.learning("paths_old")["superseded_by"] = "lrn_" + "0" * 32
    assert codes(night) == {"superseded_active", "supersession_dangling"}


@pytest.mark.parametrize(
    ("name", "change", "code"),
    [
        ("learnings", {"confidence_high": 1.1}, "value_range"),
        ("learnings", {"confidence": float("nan")}, "value_range"),
        ("confidence", {"confidence_low": 0.8}, "value_range"),
        ("learnings", {"trust": "certain"}, "value_unknown"),
        ("votes", {"voter_class": "machine"}, "value_unknown"),
    ],
)
def test_values_out_of_range_are_held(night, name, change, code):
    night.rows[name][0].update(change)
    assert codes(night) == {code}


def test_losing_more_than_a_fifth_is_held_unless_meant(night, make_night):
    larger = make_night()
    for number in range(2):
        larger.add(f"n{number}", "team", f"title {number}", "do it", f"quote {number}")
    assert codes(night, previous=larger) == set(), "two of ten are a fifth, not more"
    larger.add("n3", "team", "title 3", "do it", "quote 3")
    assert codes(night, previous=larger) == {"shrunk"}
    assert codes(night, previous=larger, allow_shrink=True) == set()


def test_rows_replaced_by_as_many_others_are_gone_all_the_same(night, make_night):
    other = make_night()
    for row in other.rows["sessions"]:
        row["unit_id"] = "codex:another"
    assert codes(night, previous=other) == {"shrunk"}


def test_a_missing_or_foreign_parquet_is_told_by_name(tmp_path):
    (tmp_path / "votes.parquet").write_bytes(b"not parquet")
    frames, findings = read_tables(tmp_path)
    assert frames == {}
    assert {f.code for f in findings} == {"table_unreadable"}
    assert any(f.message.startswith("votes: ") for f in findings)


@pytest.mark.parametrize("status", ["degraded", "silent", "failed"])
def test_a_source_that_is_not_fine_is_a_warning_and_never_holds(night, status):
    night.put("source_health", source="slack", status="fine", why="")
    night.put("source_health", source="codex", status=status, why="nothing for 18 days")
    findings = check_tables(night.tables(), {}, allow_shrink=False)
    assert [(f.code, f.severity, f.message) for f in findings] == [
        (f"source_{status}", "warning", "codex: nothing for 18 days")
    ]
