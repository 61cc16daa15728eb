import json

import pytest

from lorelake.evidence.retries import extract

USAGE = "error: unrecognized arguments: --fast"


def retried(unit, first, output, second, between=None, **result):
    unit.run("c1", first, output, True)
    if between:
        between(unit)
    unit.call("c9", tool="Bash", command=second)
    unit.add("tool_result", result.pop("ok", "done"), call_id="c9", tool="Bash", **({"is_error": False} | result))
    return [(signal.item["do"], signal.seen["way"]) for signal in extract(unit.events)]


@pytest.mark.parametrize(
    ("first", "output", "second", "way"),
    [
        ("till count --fast", USAGE, "till count --quick", "flag"),
        ("till count --fast", USAGE, "till count", "flag"),
        ("tf init", "Error: Backend changed. To go on, use -reconfigure.", "tf init -reconfigure", "flag"),
        ("till count", "Error: TILL_URL is not set", "TILL_URL=x till count", "setting"),
        ("pnpm lint", "bash: pnpm: command not found", "npx pnpm lint", "command"),
        ("python seed.py", "bash: python: command not found", "python3 seed.py", "command"),
        ("npm run typecheck", 'npm error Missing script: "typecheck"', "npm run check-types", "word"),
        ("make test", "make: *** No rule to make target 'test'.  Stop.", "cd web && make test", "folder"),
        ("till open $NAME", "zsh: no matches found: x*", 'till open "$NAME"', "quotes"),
    ],
)
def test_a_call_that_worked_in_another_way(unit, first, output, second, way):
    assert retried(unit, first, output, second) == [(f"Run `{second}` instead of `{first}`.", way)]


@pytest.mark.parametrize(
    ("first", "output", "second"),
    [
        ("go test ./...", "--- FAIL: TestTotal (0.00s)\n    a_test.go:1: no", "go test ./... -v"),
        ("go vet ./...", "a.go:1:2: undefined: x", "go vet ./... -n"),
        ("make test", "--- FAIL: TestTotal (0.00s)\n    a_test.go:1: no", "FAST=1 make test"),
        ("make", "src/a.ts(1,2): error TS2304: Cannot find name 'rate'.", "FAST=1 make"),
        ("till show cart-17", "Error: no such cart", "till show cart-18"),
        ("git checkout mian", "error: pathspec 'mian' did not match", "git checkout main"),
        ("git commit -m x", "Error: the hook failed", "git commit -m x --no-verify"),
        ("git push", "Error: fetch first", "git push --force"),
        ("make count", "Error: the till is closed", "make count --verbose"),
        ("cat a.txt", "cat: a.txt: No such file or directory", "cat -n a.txt"),
        ("till count --fast", USAGE, "till count --fast"),
        ("till count --fast", USAGE, "make lint"),
        ("till count --fast && ls", USAGE, "till count && ls"),
        ("till cuont", "Error: unknown command cuont", "till count"),
        ("make test", "make: *** No rule to make target 'test'.  Stop.", "cd /srv/till && make test"),
        ("pnpm lint", "bash: pnpm: command not found", "make other"),
    ],
)
def test_what_is_no_way_of_calling(unit, first, output, second):
    assert retried(unit, first, output, second) == []


def edited(unit):
    unit.call("e1", path="a.py")
    unit.add("tool_result", "done", call_id="e1", tool="Edit", is_error=False)


def told(unit):
    unit.add("prompt", "leave the flag out")


def refused(unit):
    unit.call("e1", path="a.py")
    unit.add("rejection", "no", call_id="e1")


def much_else(unit):
    for number in range(6):
        unit.run(f"m{number}", f"till part{number}", "ok", False)


@pytest.mark.parametrize("between", [edited, told, refused, much_else])
def test_where_something_else_explains_it_the_difference_teaches_nothing(unit, between):
    assert retried(unit, "till count --fast", USAGE, "till count", between) == []


def test_a_look_in_between_explains_nothing(unit):
    assert retried(unit, "till count --fast", USAGE, "till count", lambda u: u.run("l1", "till --help", "no", False))


@pytest.mark.parametrize("result", [{"is_error": True}, {"is_error": None}])
def test_the_second_call_must_be_known_to_have_worked(unit, result):
    assert retried(unit, "till count --fast", USAGE, "till count", **result) == []


def test_the_item_says_when_and_what_and_stands_on_the_error(unit):
    unit.run("c1", "till count --fast", USAGE, True)
    unit.run("c2", "till count", "17", False)
    (signal,) = extract(unit.events)
    assert signal.quote == USAGE
    assert signal.item["when"] == "`till count --fast` fails with: unrecognized arguments: --fast"
    assert signal.item["trust_basis"] == "mechanical"
    assert signal.seen["signature"] in signal.item["applies_to"]
    assert signal.seen["gone"] == ["--fast"]


def asked(unit, call, given, output, failed):
    unit.call(call, tool="mcp__till__find", text=json.dumps(given))
    unit.add("tool_result", output, call_id=call, is_error=failed)


def test_an_argument_of_a_servers_tool(unit):
    asked(unit, "c1", {"query": "carts"}, "limit is required", True)
    asked(unit, "c2", {"query": "carts", "limit": 20}, "17 carts", False)
    (signal,) = extract(unit.events)
    assert signal.item["do"] == "Call `mcp__till__find` with `limit: 20`."
    assert signal.seen["new"] == ["limit"]


@pytest.mark.parametrize(
    "second",
    [{"query": "tills"}, {"query": "carts"}, {"query": "carts", "limit": "x" * 90}, {"other": 1}],
)
def test_another_question_to_a_server_is_no_lesson(unit, second):
    asked(unit, "c1", {"query": "carts"}, "the server is busy", True)
    asked(unit, "c2", second, "17 carts", False)
    assert extract(unit.events) == []


def test_an_agents_own_tools_are_left_out(unit):
    unit.call("c1", tool="Edit", text=json.dumps({"old_string": "x"}), path="a.py")
    unit.add("tool_result", "String to replace not found", call_id="c1", is_error=True)
    unit.call("c2", tool="Edit", text=json.dumps({"old_string": "x y"}), path="a.py")
    unit.add("tool_result", "done", call_id="c2", is_error=False)
    assert extract(unit.events) == []
