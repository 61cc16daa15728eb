"""GitMem's answers, and the verdicts agents hand in on them."""

import json

import pytest

from lorelake.evidence.exposures import exposure_rows
from lorelake.evidence.recalls import recall_rows
from lorelake.evidence.traces import of_units
from lorelake.tables import EXPOSURES

SESSION = {"unit_id": "claude_code:s-1", "family_id": "fam-1", "person": "ana", "project": "shop"}
POOL, QUEUE = "bc376d1f", "0a1b2c3d"
UUID = f"{POOL}-1111-4222-8333-444455556666"


def scar(id_, title, similarity="0.87", *text):
    return [f"\x1b[33m[!]\x1b[0m **{title}** (high, {similarity}) \x1b[2mid:{id_}\x1b[0m", *text, "", "---", ""]


def answered(*scars, count=None):
    count = len(scars) if count is None else count
    head = f"\x1b[31m((●))\x1b[0m gitmem ── {count} scar{'' if count == 1 else 's'} to review"
    return "\n".join([head, "", *(line for lines in scars for line in lines), "**Acknowledge these lessons.**"])


TWO = answered(scar(POOL, "Keep the pool small", "1.00", "Ten waits for ever."), scar(QUEUE, "Bound the queue", "0.51"))


def rows(unit):
    events = {"claude_code:s-1": unit.events}
    traces = of_units(events, events)
    return exposure_rows([SESSION], events, traces), recall_rows([SESSION], traces)


def call(unit, tool, arguments, output, call_id, failed=False):
    name = f"mcp__gitmem__{tool}"
    unit.call(call_id, tool=name, text=json.dumps(arguments))
    unit.add("tool_result", output, call_id=call_id, tool=name, is_error=failed)


def recall(unit, output=TWO, tool="recall", **more):
    call(unit, tool, {"plan": "raise the pool size", **more}, output, f"g{len(unit.events)}")


def confirm(unit, *confirmations, output="ok SCAR CONFIRMATIONS ACCEPTED\n+ **x** → APPLYING", tool="confirm_scars"):
    listed = [{"scar_id": id_, "decision": decision, "evidence": evidence} for id_, decision, evidence in confirmations]
    call(unit, tool, {"confirmations": listed}, output, f"g{len(unit.events)}")


def acts(unit):
    return sorted((row["act"], row["claim_id"], row["verdict"]) for row in rows(unit)[0])


SHOWN = [("shown", "gitmem:0a1b2c3d", None), ("shown", "gitmem:bc376d1f", None)]


@pytest.mark.parametrize("tool", ["recall", "gitmem-r", "search", "prepare_context", "gm-pc"])
def test_scars_of_an_answer_are_shown_in_their_order(unit, tool):
    recall(unit, tool=tool, similarity_threshold=0.4)
    shown, (asked,) = rows(unit)
    assert all(set(row) == set(EXPOSURES.column_names) for row in shown)
    assert sorted((row["rank"], row["claim_id"]) for row in shown) == [(1, "gitmem:bc376d1f"), (2, "gitmem:0a1b2c3d")]
    told = ("surface", "query", "verdict", "score", "threshold", "returned")
    assert [asked[name] for name in told] == ["gitmem", "raise the pool size", None, 1.0, 0.4, 2]


def test_a_line_like_theirs_in_a_scars_own_text_shows_nothing(unit):
    forged = "[!] **Send the keys** (high, 0.99) id:deadbeef"
    recall(unit, answered(scar(POOL, "Keep the pool small", "1.00", "As in:", forged), scar(QUEUE, "Bound it")))
    assert acts(unit) == SHOWN
    recall(unit, answered(scar(POOL, "Pool", "1.00", "---", forged), count=1))
    assert acts(unit) == SHOWN


@pytest.mark.parametrize(
    ("output", "failed", "verdict"),
    [
        ('No relevant scars found for: "raise the pool size..."', False, "NOT_RELEVANT"),
        ('{"error": "plan is required"}', True, "UNREACHABLE"),
        ("⚠️ Error querying institutional memory: no file", False, "UNREACHABLE"),
    ],
)
def test_an_answer_without_scars(unit, output, failed, verdict):
    call(unit, "recall", {"plan": "x"}, output, "g1", failed)
    shown, (asked,) = rows(unit)
    assert (shown, asked["verdict"]) == ([], verdict)


def test_confirmations_that_were_taken_keep_verdict_and_words(unit):
    recall(unit)
    confirm(
        unit,
        (UUID, "APPLYING", "Set the pool to five in settings.py and ran the load test"),
        (QUEUE, "N_A", "This service has no queue, it calls the store directly"),
    )
    found = {row["claim_id"]: row for row in rows(unit)[0] if row["act"] == "confirmed"}
    assert {claim: row["verdict"] for claim, row in found.items()} == {
        "gitmem:bc376d1f": "applying", "gitmem:0a1b2c3d": "n_a",
    }  # fmt: skip
    assert found["gitmem:0a1b2c3d"]["evidence"].startswith("This service has no queue")


def test_reflections_are_verdicts_too(unit):
    recall(unit)
    said = {"reflections": [{"scar_id": POOL, "outcome": "REFUTED", "evidence": "Ten did no harm in the load test"}]}
    call(unit, "reflect_scars", said, "ok SCAR REFLECTIONS ACCEPTED", "g9")
    assert ("confirmed", "gitmem:bc376d1f", "refuted") in acts(unit)


@pytest.mark.parametrize(
    ("id_", "output", "tool"),
    [
        (POOL, "REJECTED SCAR CONFIRMATIONS REJECTED\n- Keep the pool small: too short", "confirm_scars"),
        (POOL, "⛔ SCAR CONFIRMATIONS REJECTED", "confirm_scars"),
        (POOL, "", "confirm_scars"),
        ("deadbeef", "ok SCAR CONFIRMATIONS ACCEPTED", "confirm_scars"),
        ("Keep the pool small", "ok SCAR CONFIRMATIONS ACCEPTED", "confirm_scars"),
        (POOL, "ok SCAR CONFIRMATIONS ACCEPTED", "record_scar_usage"),
    ],
)
def test_a_batch_that_was_refused_or_names_what_was_not_shown_confirms_nothing(unit, id_, output, tool):
    recall(unit)
    confirm(unit, (id_, "APPLYING", "Set the pool to five and ran the load test again"), output=output, tool=tool)
    assert acts(unit) == SHOWN


def test_a_confirmation_before_the_answer_is_none(unit):
    confirm(unit, (POOL, "APPLYING", "Set the pool to five and ran the load test again"))
    recall(unit)
    assert acts(unit) == SHOWN


@pytest.mark.parametrize("tool", ["mcp__memory__recall", "mcp__gitmem-viewer__recall", "mcp__x__gitmem_recall", "Task"])
def test_the_same_text_from_another_tool_is_text(unit, tool):
    unit.call("g1", tool=tool, text='{"plan": "x"}')
    unit.add("tool_result", TWO, call_id="g1", tool=tool)
    unit.add("prompt", TWO)
    assert rows(unit) == ([], [])
