import pytest

from lorelake.evidence.friction import extract

FAIL = "Error: the till is closed"


def seen(unit):
    (signal,) = extract(unit.events)
    assert signal.item == {}
    return signal.seen


def refuse(unit, call, text="", kind="rejection"):
    unit.call(call, path="a.py")
    return unit.add(kind, text, call_id=call)


def test_nothing_hard_is_no_signal(unit):
    unit.add("prompt", "count the carts")
    unit.run("c1", "make test", "ok", False)
    assert extract(unit.events) == []


def test_the_score_is_the_sum_of_its_parts(unit):
    refuse(unit, "r1", "not in this file")
    refuse(unit, "d1", "Permission to use Bash has been denied", kind="denial")
    unit.add("prompt", "go on")
    unit.call("c0", path="a.py")
    unit.add("interrupt")
    for number in range(3):
        unit.run(f"c{number + 1}", "make test", FAIL, True)
    found = seen(unit)
    parts = ("interrupts", "rejections", "denials", "errors", "retries")
    assert tuple(found[name] for name in parts) == (1, 1, 1, 3, 2)
    assert found["score"] == 20 + 20 + 10 + 10 + 2 * 5


@pytest.mark.parametrize(("failures", "points"), [(2, None), (3, 10), (4, 10), (5, 18), (8, 25)])
def test_errors_count_in_steps(unit, failures, points):
    for number in range(failures):
        unit.run(f"c{number}", f"make part{number}", FAIL, True)
    assert [signal.seen["score"] for signal in extract(unit.events)] == ([points] if points else [])


def test_a_stop_written_after_a_rejection_is_the_same_stop(unit):
    refuse(unit, "r1", "no")
    unit.add("usage")
    unit.add("interrupt")
    assert (seen(unit)["interrupts"], seen(unit)["rejections"]) == (0, 1)


def test_a_search_without_a_hit_and_a_stopped_command_are_no_errors(unit):
    for number in range(9):
        unit.run(f"c{number}", "grep -r till .", "", True)
        unit.run(f"d{number}", f"make part{number}", "[Request interrupted by user for tool use]", True)
    assert extract(unit.events) == []


def test_a_pass_between_two_failures_makes_the_second_no_retry(unit):
    refuse(unit, "r1", "no")
    for number, output in enumerate((FAIL, "ok", FAIL)):
        unit.run(f"c{number}", "make test", output, output == FAIL)
    assert seen(unit)["retries"] == 0


def test_what_tells_it_best_is_quoted(new_unit):
    worded, silent, denied, failing, mute = (new_unit() for _ in range(5))
    refuse(worded, "r1", "not in this file\nmore words")
    for unit in (silent, mute):
        unit.add("prompt", "count the carts" if unit is mute else "count")
        refuse(unit, "r1")
    silent.add("prompt", "leave the carts alone")
    refuse(denied, "d1", "Permission to use Bash has been denied", kind="denial")
    for number in range(3):
        failing.run(f"c{number}", f"make part{number}", f"one\n{FAIL}", True)
    quotes = [extract(unit.events)[0].quote for unit in (worded, silent, denied, failing, mute)]
    assert quotes == [
        "not in this file", "leave the carts alone", "Permission to use Bash has been denied", FAIL, "count the carts",
    ]  # fmt: skip


def test_rewound_turns_are_no_friction(unit):
    unit.call("r1", path="a.py", on_live_path=False)
    unit.add("rejection", "no", call_id="r1", on_live_path=False)
    assert extract(unit.events) == []
