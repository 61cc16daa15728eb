import pytest

from lorelake.content import signature_1
from lorelake.evidence.errors_seen import extract

FAIL = "Traceback (most recent call last):\n  File \"app/db.py\", line 3, in open\nKeyError: 'DATABASE_URL'\n"
OTHER = 'Traceback (most recent call last):\n  File "app/db.py", line 9, in close\nTypeError: no close\n'


def test_one_observation_for_each_error_with_how_often_and_until_when(unit):
    unit.run("c1", "pytest -q", FAIL, True)
    unit.run("c2", "pytest -q", OTHER, True)
    last = unit.run("c3", "cd app && pytest -q 2>&1 | tail", FAIL.replace("line 3", "line 8"), True)
    first, second = extract(unit.events)
    assert (first.quote, second.quote) == ("KeyError: 'DATABASE_URL'", "TypeError: no close")
    assert first.item == {}
    assert (first.seen["type"], first.seen["frame"], first.seen["command"]) == (
        "KeyError",
        "app/db.py:open",
        "pytest -q",
    )
    assert (first.seen["count"], first.seen["last"]) == (2, last.ts.isoformat())
    assert second.seen["count"] == 1


def test_the_key_under_the_former_algorithm_is_told(unit):
    unit.run("c1", "pytest -q", FAIL, True)
    (signal,) = extract(unit.events)
    assert signal.seen["former"] == {"sig-1": signature_1.error_signature(FAIL).key}
    assert signal.seen["signature"].startswith(f"{signal.seen['algorithm']}:")


def test_an_error_that_a_pipe_hides_is_seen_where_the_command_checks_something(new_unit):
    checks, shows = new_unit(), new_unit()
    checks.run("c1", "pytest -q 2>&1 | tail -20", FAIL, False)
    shows.run("c1", "python show.py | tail -20", FAIL, False)
    assert len(extract(checks.events)) == 1
    assert extract(shows.events) == []


@pytest.mark.parametrize(
    ("command", "failed"),
    [("cat build.log", True), ("grep -r Error .", False), ("gh run view 17 --log-failed", False), ("pytest -q", False)],
)
def test_what_a_log_or_a_passing_command_prints_is_no_error_of_the_session(unit, command, failed):
    unit.run("c1", command, FAIL, failed)
    assert extract(unit.events) == []


def test_words_of_people_and_rewound_turns_are_none(unit):
    unit.add("prompt", f"look at this:\n{FAIL}")
    unit.call("c1", tool="Bash", command="pytest -q", on_live_path=False)
    unit.add("tool_result", FAIL, call_id="c1", tool="Bash", is_error=True, on_live_path=False)
    assert extract(unit.events) == []


def test_a_servers_tool_has_errors_and_an_agents_own_has_not(unit):
    unit.call("c1", tool="mcp__till__find_cart", text='{"id": 4}')
    unit.add("tool_result", "the till is closed on Sundays", call_id="c1", is_error=True)
    unit.call("c2", tool="Edit", text='{"old_string": "x"}', path="a.py")
    unit.add("tool_result", "String to replace not found in file.", call_id="c2", is_error=True)
    (signal,) = extract(unit.events)
    assert (signal.quote, signal.seen["command"]) == ("the till is closed on Sundays", "mcp__till__find_cart")
