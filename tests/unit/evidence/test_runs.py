import pytest

from lorelake.evidence.runs import runs

FAIL = "--- FAIL: TestTotal (0.00s)\n    cart_test.go:12: got 4, want 3\nFAIL"


def one_run(unit, command, output, **result):
    unit.call("c1", tool="Bash", command=command)
    unit.add("tool_result", output, call_id="c1", tool="Bash", **result)
    return runs(unit.events)


@pytest.mark.parametrize(
    ("command", "output", "result", "ending"),
    [
        ("go test ./...", "ok", {"is_error": False}, "passed"),
        ("go test ./...", FAIL, {"is_error": True, "exit_code": 1}, "failed"),
        ("go test ./...", "", {"is_error": True, "exit_code": 1}, "failed"),
        ("go test ./... | tail", FAIL, {"is_error": False}, "failed"),
        ("go test ./... | tail", "ok  \ttill/cart\t0.3s", {"is_error": False}, "passed"),
        ("go test ./... | tail", "still at it", {"is_error": False}, "unknown"),
        ("go test ./... || true", "3 passed, 1 failed", {"is_error": False}, "unknown"),
        ("go test ./...", "12 tests passed", {}, "passed"),
        ("python count.py | tail", "12 passed", {"is_error": False}, "unknown"),
        ("go test ./...", "Command timed out after 2m 0.0s\n" + FAIL, {"is_error": True}, "unknown"),
        ("go test ./...", "[Request interrupted by user for tool use]", {"exit_code": 137}, "unknown"),
        ("go test ./...", "<tool_use_error>Sibling tool call errored</tool_use_error>", {"is_error": True}, "unknown"),
    ],
)  # fmt: skip
def test_how_a_run_ended(unit, command, output, result, ending):
    (run,) = one_run(unit, command, output, **result)
    assert run.ending == ending
    assert (run.signature is not None) == (ending == "failed" and bool(output))


def test_looking_is_no_run(unit):
    assert one_run(unit, "cat build.log", FAIL, is_error=True) == []


def test_a_run_that_goes_on_in_the_background_ends_where_its_end_is_told(unit):
    unit.call("c1", tool="exec_command", command="go test ./...")
    unit.add("tool_result", "Process running with session ID 41\nOutput:\n", call_id="c1", is_error=None)
    unit.call("c2", tool="write_stdin", text='{"chars":"","session_id":41}')
    last = unit.add("tool_result", FAIL, call_id="c2", is_error=True, exit_code=1)
    unit.call("c3", tool="write_stdin", text='{"chars":"","session_id":99}')
    unit.add("tool_result", FAIL, call_id="c3", is_error=True, exit_code=1)
    (run,) = runs(unit.events)
    assert (run.command, run.result.event_id, run.ending) == ("go test ./...", last.event_id, "failed")


def test_one_left_in_the_background_has_no_end(unit):
    assert one_run(unit, "make serve", "Command running in background with ID: b1", is_error=False) == []


def test_a_rewound_run_never_was(unit):
    unit.call("c1", tool="Bash", command="make test", on_live_path=False)
    unit.add("tool_result", FAIL, call_id="c1", is_error=True, on_live_path=False)
    assert runs(unit.events) == []
