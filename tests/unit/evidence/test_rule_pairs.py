"""Pairs that a single condition of a rule tells apart: without it both would be taken, or neither."""

from __future__ import annotations

import json

import pytest

from lorelake.content.markers import shown_marker
from lorelake.evidence import (
    answers_accepted,
    corrections,
    decisions_said,
    errors_fixed,
    errors_seen,
    instructions,
    memory_refuted,
    proposals,
    reverts,
    review_intent,
    reviews_repeated,
)

SIGNED = "🤖 Generated with Claude Code"
FAIL = "Traceback (most recent call last):\n  File \"app/db.py\", line 3, in open\nKeyError: 'DATABASE_URL'\n"


@pytest.mark.parametrize("rule", [decisions_said, instructions])
@pytest.mark.parametrize(("opening", "count"), [("Reply with one line only.", 0), ("Look at the queue first.", 1)])
def test_what_shapes_one_answer_holds_for_that_answer(unit, rule, opening, count):
    said = {
        decisions_said: "We decided to keep the old signer for a year.",
        instructions: "Always name the old signer.",
    }
    unit.add("prompt", f"{opening} {said[rule]}")
    assert len([s for s in rule.extract(unit.events) if s.item]) == count


@pytest.mark.parametrize(("kind", "count"), [("message", 1), ("comment", 1)])
def test_only_a_prompt_shapes_an_answer(unit, kind, count):
    unit.add(kind, "Reply with one line only. We decided to keep the old signer for a year.")
    assert len(decisions_said.extract(unit.events)) == count


@pytest.mark.parametrize(("tool", "paths"), [("Edit", ["app/env.py"]), ("Read", [])])
def test_what_was_only_read_between_failure_and_pass_changed_nothing(unit, tool, paths):
    unit.run("c1", "pytest -q", FAIL, True)
    unit.call("e1", tool=tool, path="/home/a/shop/app/env.py", attributes={"cwd": "/home/a/shop"})
    unit.add("tool_result", "done", call_id="e1", tool=tool, is_error=False)
    unit.run("c2", "pytest -q", "2 passed", False)
    (signal,) = errors_fixed.extract(unit.events)
    assert signal.seen["paths"] == paths
    assert bool(signal.item) is bool(paths)


@pytest.mark.parametrize(
    ("words", "count"), [("That memory is outdated.", 1), ("The build is outdated.", 0), ("That config is wrong.", 0)]
)
def test_after_one_item_was_shown_only_words_about_the_memory_are_meant_for_it(unit, words, count):
    claim = "lrn_" + "ab" * 16
    told = f"> 1. Keep the pool at ten  [lrn_abababababab]\n{shown_marker('2026-03-01-0a1b2c3d', [claim])}"
    unit.run("m1", "lorelake recall pool", told, False)
    unit.add("prompt", words)
    assert len(memory_refuted.extract(unit.events)) == count


@pytest.mark.parametrize("answered_before", [False, True])
def test_a_call_whose_answer_stands_before_it_handed_in_nothing(unit, answered_before):
    given = json.dumps({"title": "Pools of ten", "description": "Ten connections use up the database in tests."})
    answer = {"call_id": "p1", "tool": "mcp__gitmem__create_learning", "is_error": False}
    if answered_before:
        unit.add("tool_result", "Stored.", **answer)
    unit.call("p1", tool="mcp__gitmem__create_learning", text=given)
    if not answered_before:
        unit.add("tool_result", "Stored.", **answer)
    assert len(proposals.extract(unit.events)) == (not answered_before)


@pytest.mark.parametrize(("more", "count"), [({}, 1), ({"attributes": {"answers_unseen": "9"}}, 0)])
def test_answers_to_a_comment_that_is_missing_repeat_no_convention(new_unit, more, count):
    units = {}
    for number, reviewer in enumerate(("ben", "cleo", "ben"), 1):
        unit = new_unit(f"github:acme/shop#{number}", "merge_request")
        unit.add("merge_request_opened", "Read the rates", actor="ana")
        unit.add("review_comment", "Please note each new setting in the handbook.", actor=reviewer, **more)
        units[unit.unit["unit_id"]] = unit.events
    assert len(reviews_repeated.extract(units)) == count


@pytest.mark.parametrize(("between", "left"), [((), 0), (("now start the worker",), 1)])
def test_a_value_is_put_in_anothers_place_by_the_very_next_words(unit, between, left):
    for words in ("we will use port 8080 for the gateway", *between, "make that 9090"):
        unit.add("prompt", words)
    assert len([s for s in decisions_said.extract(unit.events) if s.item]) == left


@pytest.mark.parametrize(
    ("later", "left"),
    [("let's use Postgres for the job queue", 1), ("we will not use Postgres for the job queue", 1), ("go on", 1)],
)
def test_turning_another_choice_down_leaves_the_first(unit, later, left):
    """Kafka stands unless something else is chosen for the queue; turning Postgres down chooses nothing."""
    unit.add("prompt", "let's use Kafka for the job queue")
    unit.add("prompt", later)
    kept = [s.item["do"] for s in decisions_said.extract(unit.events) if s.item]
    assert len([do for do in kept if "Kafka" in do or ("Postgres" in do and "not" not in do)]) == left
    assert any("Kafka" in do for do in kept) is ("let's use Postgres" not in later)


@pytest.mark.parametrize(
    ("words", "count"),
    [("don't edit the client, it is generated", 1), ("didn't I say the client is generated?", 0)],
)
def test_a_question_with_a_correcting_word_asks(unit, words, count):
    unit.add("prompt", "add a retry to the client")
    unit.call("c1", path="/src/api/client.py", text='{"new":"retry(client)"}')
    unit.add("prompt", words)
    assert len(corrections.extract(unit.events)) == count


@pytest.mark.parametrize(("number", "signals"), [(5, 1), (6, 2)])
def test_a_request_and_its_own_commit_take_back_one_thing(new_unit, number, signals):
    """The commit says the same number in other words; another number is another revert."""
    unit = new_unit("github:acme/shop#9", "merge_request")
    unit.add("merge_request_opened", 'Revert "Add the new signer" (#5)\n\nReverts acme/shop#5', actor="ana")
    unit.add("commit", f"Back out the signer\n\nThis reverts #{number}.", actor="ana")
    found = reverts.extract({"github:acme/shop#9": unit.events})
    assert sum(map(len, found.values())) == signals


@pytest.mark.parametrize("signature", ["", f"\n\n{SIGNED}", "\n\n_Reviewed by CodeRabbit_"])
@pytest.mark.parametrize("kind", ["comment", "review_comment", "message", "review"])
def test_what_a_program_signed_is_not_the_word_of_the_account_it_used(new_unit, kind, signature):
    unit = new_unit("github:acme/shop#1", "merge_request")
    words = "Always close the ledger in a finally block. We decided to keep the old signer for a year."
    unit.add(kind if kind != "review" else "comment", words + signature)
    found = [*instructions.extract(unit.events), *decisions_said.extract(unit.events)]
    assert len(found) == (0 if signature else 2)


@pytest.mark.parametrize(("signature", "count"), [("", 1), (f"\n\n{SIGNED}", 0)])
def test_a_signed_answer_is_no_colleagues(new_unit, signature, count):
    unit = new_unit("slack:C1:1", "thread")
    unit.add("message", "How do I reset the tide cache? The import fails with a stale lock.", actor="ana")
    unit.add(
        "message", f"Run `tide reset --lock` first, because the old worker keeps the lock.{signature}", actor="ben"
    )
    unit.add("message", "That worked, thanks!", actor="ana")
    assert len(answers_accepted.extract(unit.events)) == count


def test_a_prompt_may_hold_a_signed_text_and_the_persons_own_words(unit):
    unit.add("prompt", f"Always close the ledger in a finally block.\n\n{SIGNED}")
    assert len(instructions.extract(unit.events)) == 1


@pytest.mark.parametrize(("who", "count"), [("human", 1), ("bot", 0)])
def test_the_intent_a_bot_states_is_nobodys(new_unit, who, count):
    unit = new_unit("github:acme/shop#7", "merge_request")
    unit.add("merge_request_opened", "Read the export", actor="ana")
    asked = "Please return the error, otherwise the caller goes on with half of the rows."
    root = unit.add("review_comment", asked, actor="ben", path="app/read.py", line=40)
    intent = "We intentionally log and go on here, because a broken row never heals by itself."
    unit.add("review_comment", intent, actor="x", actor_class=who, path="app/read.py", reply_to=root.event_id)
    assert len(review_intent.extract(unit.events)) == count


@pytest.mark.parametrize(("failed", "count"), [(True, 1), (False, 0)])
def test_a_services_answer_that_tells_of_an_error_is_one_only_if_it_failed(unit, failed, count):
    unit.call("c1", tool="mcp__ledger__post", text="{}")
    unit.add("tool_result", "ValueError: the ledger is closed", call_id="c1", tool="mcp__ledger__post", is_error=failed)
    assert len(errors_seen.extract(unit.events)) == count


@pytest.mark.parametrize(("live", "count"), [(True, 1), (False, 0)])
def test_a_rewound_refusal_turns_no_later_words_into_a_correction(unit, live, count):
    unit.call("c1", path="/src/api/client.py", text='{"new":"retry(send)"}')
    unit.add("rejection", "", call_id="c1", is_error=True, on_live_path=live)
    unit.add("prompt", "use the ledger of the other shop instead")
    assert len(corrections.extract(unit.events)) == count
