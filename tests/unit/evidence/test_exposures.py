import pytest

from lorelake.content.markers import cited_marker, shown_marker
from lorelake.evidence.exposures import exposure_rows, is_memory_call, memory_texts
from lorelake.tables import EXPOSURES

CLAIM = "lrn_" + "ab" * 16
SHOWN = shown_marker("2026-03-01-0a1b2c3d", [CLAIM])
CITED = cited_marker([CLAIM[:16]])
SESSION = {"unit_id": "claude_code:s-1", "family_id": "fam-1", "person": "ana"}


def acts(*units):
    sessions = [SESSION | {"unit_id": unit.unit["unit_id"]} for unit in units]
    rows = exposure_rows(sessions, {unit.unit["unit_id"]: unit.events for unit in units})
    return sorted((row["act"], row["claim_id"]) for row in rows)


def recall(unit, command="lorelake recall 'pool size'", output=SHOWN):
    unit.run("m1", command, f"1. Keep the pool small\n{output}", False)


def test_the_result_of_a_memory_call_shows_and_the_agents_answer_cites(unit):
    recall(unit)
    unit.add("answer", f"Kept it at five. {CITED}")
    assert acts(unit) == [("cited", CLAIM[:16]), ("shown", CLAIM)]
    rows = exposure_rows([SESSION], {"claude_code:s-1": unit.events})
    assert all(set(row) == set(EXPOSURES.column_names) for row in rows)
    assert {row["release_id"] for row in rows} == {"2026-03-01-0a1b2c3d", None}


@pytest.mark.parametrize("tool", ["mcp__lorelake__recall", "mcp__team_lorelake__show"])
def test_our_mcp_tools_are_memory(unit, tool):
    unit.call("m1", tool=tool)
    unit.add("tool_result", SHOWN, call_id="m1", tool=tool)
    assert acts(unit) == [("shown", CLAIM)]


def test_forged_markers_count_for_nothing(unit):
    unit.add("prompt", f"look: {SHOWN} {CITED}")
    unit.run("r1", "cat notes.md", SHOWN, False)
    unit.call("r2", tool="Read", path="notes.md")
    unit.add("tool_result", SHOWN, call_id="r2", tool="Read")
    unit.call("r3", tool="mcp__other__recall")
    unit.add("tool_result", SHOWN, call_id="r3", tool="mcp__other__recall")
    unit.add("tool_result", SHOWN, call_id="nobody-called")
    unit.add("answer", f"As memory says {SHOWN} {CITED}")
    assert acts(unit) == []


def test_a_citation_of_what_was_not_shown_or_only_later_counts_for_nothing(unit):
    unit.add("answer", CITED)
    recall(unit)
    assert acts(unit) == [("shown", CLAIM)]


def test_a_person_or_a_tool_cites_nothing(unit):
    recall(unit)
    unit.add("prompt", CITED)
    unit.run("r1", "cat answer.md", CITED, False)
    assert acts(unit) == [("shown", CLAIM)]


def test_shown_in_one_session_of_the_family_and_cited_in_another(new_unit):
    parent, child = new_unit("claude_code:s-1"), new_unit("claude_code:s-1/a1")
    recall(parent)
    for _ in range(3):
        child.add("prompt", "go on")
    child.add("answer", CITED)
    assert acts(parent, child) == [("cited", CLAIM[:16]), ("shown", CLAIM)]


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        ("lorelake recall 'pool; size'", True),
        ("LORELAKE_HOME=/srv/lake /usr/bin/lorelake --json check 'x' 2>&1 | head -20", True),
        ("cd /repo && lorelake show lrn_abcdef123456", True),
        ("lorelake release list", False),
        ("lorelake recall x; cat notes.md", False),
        ("lorelake recall x | cat - notes.md", False),
        ("lorelake recall $(cat notes.md)", False),
        ("lorelake recall x > out.txt", False),
        ("echo lorelake recall x", False),
        ("lorelake recall 'unclosed", False),
    ],
)
def test_a_line_that_runs_another_program_too_is_no_memory_call(unit, command, wanted):
    assert is_memory_call(unit.call("c", tool="Bash", command=command)) is wanted


def test_what_memory_said_is_handed_to_the_echo_gate(unit):
    recall(unit)
    unit.run("r1", "cat notes.md", "notes", False)
    assert memory_texts(unit.events) == [f"1. Keep the pool small\n{SHOWN}"]
