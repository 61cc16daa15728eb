import json

import pytest

from lorelake.content import signature_1
from lorelake.evidence.commands import same_command
from lorelake.evidence.errors_fixed import extract

FAIL = "Traceback (most recent call last):\n  File \"app/db.py\", line 3, in open\nKeyError: 'DATABASE_URL'\n"
OTHER = 'Traceback (most recent call last):\n  File "app/db.py", line 9, in close\nTypeError: no close\n'


def edit(unit, path="/home/a/shop/app/settings.py", call="e1", failed=False):
    unit.call(call, path=path)
    unit.add("tool_result", "done", call_id=call, tool="Edit", is_error=failed)


def test_a_failure_an_edit_and_a_pass_of_the_same_command(unit):
    unit.run("c1", "pytest -q", FAIL, True)
    edit(unit)
    unit.run("c2", "pytest -q", "2 passed", False)
    (signal,) = extract(unit.events)
    assert signal.event_id == unit.events[1].event_id
    assert signal.quote == "KeyError: 'DATABASE_URL'"
    assert signal.item["trust_basis"] == "mechanical"
    assert signal.item["do"] == "Change `shop/app/settings.py`. Then `pytest -q` passes."
    assert "KeyError: 'DATABASE_URL'" in signal.item["when"]
    assert signal.seen["signature"] in signal.item["applies_to"]


def test_the_same_error_in_another_session_has_the_same_witness(new_unit):
    found = []
    for name, line in (("claude_code:a", 3), ("claude_code:b", 77)):
        unit = new_unit(name)
        unit.run("c1", "pytest -q", FAIL.replace("line 3", f"line {line}"), True)
        edit(unit)
        unit.run("c2", "pytest -q", "ok", False)
        found += extract(unit.events)
    assert found[0].item["witness"] == found[1].item["witness"]


def test_another_failure_in_between_means_the_first_was_not_what_the_pass_cured(unit):
    unit.run("c1", "pytest -q", FAIL, True)
    edit(unit)
    unit.run("c2", "pytest -q", OTHER, True)
    edit(unit, path="/home/a/shop/app/close.py", call="e2")
    unit.run("c3", "pytest -q", "ok", False)
    (signal,) = extract(unit.events)
    assert "TypeError" in signal.item["when"]
    assert signal.seen["paths"] == ["shop/app/close.py"]


def test_a_command_without_a_failure_signature_or_never_passing_teaches_nothing(new_unit):
    silent = new_unit()
    silent.run("c1", "pytest -q", "", True)
    edit(silent)
    silent.run("c2", "pytest -q", "ok", False)
    open_end = new_unit()
    open_end.run("c1", "pytest -q", FAIL, True)
    edit(open_end)
    other = new_unit()
    other.run("c1", "pytest -q", FAIL, True)
    edit(other)
    other.run("c2", "ruff check", "ok", False)
    for unit in (silent, open_end, other):
        assert extract(unit.events) == []


def test_a_pipe_hides_the_exit_code_so_an_error_in_the_output_is_no_pass(unit):
    unit.run("c1", "pytest -q 2>&1 | tail -20", FAIL, True)
    edit(unit)
    unit.run("c2", "pytest -q 2>&1 | tail -20", FAIL, False)
    assert extract(unit.events) == []


def test_nothing_changed_in_between_is_a_flake_and_no_item(unit):
    unit.run("c1", "pytest -q", FAIL, True)
    unit.run("c2", "pytest -q", "ok", False)
    (signal,) = extract(unit.events)
    assert signal.item == {}


def test_a_refused_or_failed_edit_changed_nothing(unit):
    unit.run("c1", "pytest -q", FAIL, True)
    edit(unit, failed=True)
    unit.run("c2", "pytest -q", "ok", False)
    (signal,) = extract(unit.events)
    assert signal.item == {}


def test_looking_commands_are_no_check(unit):
    unit.run("c1", "cat missing.txt", "cat: missing.txt: No such file or directory", True)
    edit(unit)
    unit.run("c2", "cat missing.txt", "hello", False)
    assert extract(unit.events) == []


def test_the_same_command_is_known_with_another_folder_and_another_cut():
    assert same_command("cd /a && make  test 2>&1 | tail -5") == same_command("make test")
    assert same_command("make test") != same_command("make lint")


def patched(unit, old, new, path="/home/a/shop/app/settings.py", call="e1"):
    unit.call(call, path=path, text=json.dumps({"old_string": old, "new_string": new}))
    unit.add("tool_result", "done", call_id=call, tool="Edit", is_error=False)


def done(unit, *between):
    unit.run("c1", "pytest -q", FAIL, True)
    for number, step in enumerate(between):
        step(number) if callable(step) else unit.run(f"b{number}", step, "ok", False)
    unit.run("c2", "pytest -q", "2 passed", False)
    return [signal.item for signal in extract(unit.events)]


def test_the_line_that_was_written_is_told(unit):
    (item,) = done(unit, lambda n: patched(unit, "url = None", "url = read_setting('database')\nurl = None"))
    assert item["do"] == "In `shop/app/settings.py`, write `url = read_setting('database')`. Then `pytest -q` passes."


def test_of_several_edits_the_one_that_speaks_of_the_error_is_told(unit):
    (item,) = done(
        unit,
        lambda n: patched(unit, "a = one", "settings.require('DATABASE_URL')\na = one", call="e1"),
        lambda n: patched(unit, "b = two", "log.info('opened the pool')\nb = two", call="e2", path="/x/y/app/log.py"),
    )
    assert item["do"].startswith("In `shop/app/settings.py`, write `settings.require('DATABASE_URL')`; also change")


@pytest.mark.parametrize(
    "command",
    [
        'lorelake recall "KeyError DATABASE_URL"',
        "cat app/db.py",
        "git status",
        "ruff check",
        "go test ./...",
        "pytest -q",
    ],
)
def test_asking_memory_looking_and_trying_mend_nothing(unit, command):
    assert done(unit, command) == [{}]


@pytest.mark.parametrize(
    "command", ["uv sync", "docker compose up -d db", "export DATABASE_URL=x", "sed -i s/a/b/ x.cfg"]
)
def test_a_command_that_changes_something_is_told(unit, command):
    (item,) = done(unit, command)
    assert item["do"] == f"Run `{command}`. Then `pytest -q` passes."


def test_a_failing_question_to_memory_is_no_failure_of_the_build(unit):
    unit.run("c1", "lorelake recall x", "Error: no release", True)
    edit(unit)
    unit.run("c2", "lorelake recall x", "RELEVANT", False)
    assert extract(unit.events) == []


def test_no_mask_of_the_signature_is_shown(unit):
    failure = "FileNotFoundError: [Errno 2] No such file or directory: '/tmp/out/a.csv'"
    unit.run("c1", "pytest -q", f"E   {failure}", True)
    edit(unit)
    unit.run("c2", "pytest -q", "ok", False)
    (signal,) = extract(unit.events)
    assert signal.item["title"] == failure
    assert "<quoted>" in signal.item["witness"]
    assert "<" not in signal.item["title"] + signal.item["when"] + signal.item["do"]


def test_a_fix_keeps_the_witness_of_the_former_algorithm(unit):
    unit.run("c1", "pytest -q", FAIL, True)
    edit(unit)
    unit.run("c2", "pytest -q", "2 passed", False)
    (signal,) = extract(unit.events)
    (former,) = signal.item["former_witnesses"]
    before = signature_1.error_signature(FAIL)
    assert former == f"{before.type} {before.frame} {before.message} {before.key}"
    assert former != signal.item["witness"]


def test_a_pass_that_a_pipe_hides_counts_only_where_the_output_says_so(new_unit):
    found = []
    for output in ("12 passed in 0.3s", "collecting"):
        unit = new_unit()
        unit.run("c1", "pytest -q 2>&1 | tail -5", FAIL, False)
        edit(unit)
        unit.run("c2", "pytest -q 2>&1 | tail -5", output, False)
        found.append(len(extract(unit.events)))
    assert found == [1, 0]


def test_a_run_that_timed_out_neither_cures_nor_breaks_a_stretch(unit):
    unit.run("c1", "pytest -q", FAIL, True)
    edit(unit)
    unit.run("c2", "pytest -q", "Command timed out after 2m 0.0s", True)
    unit.run("c3", "pytest -q", "2 passed", False)
    (signal,) = extract(unit.events)
    assert signal.seen["passed_in"] == unit.events[-1].event_id


def test_the_edit_of_the_file_that_the_error_names_is_told(unit):
    unit.run("c1", "make lint", "app/db.py:12:5: F821 Undefined name `pool`", True)
    patched(unit, "a = one", "size = open_all()\na = one", call="e1", path="/x/y/app/db.py")
    patched(unit, "b = two", "pool = pool.named(undefined)\nb = two", call="e2")
    unit.run("c2", "make lint", "ok", False)
    (signal,) = extract(unit.events)
    assert signal.item["title"] == "F821 Undefined name `pool`"
    assert signal.item["do"].startswith("In `y/app/db.py`")


@pytest.mark.parametrize("command", ["git add -A", "git commit -m 'fix it'", "grep -r install ."])
def test_storing_and_searching_mend_nothing(unit, command):
    assert done(unit, command) == [{}]
