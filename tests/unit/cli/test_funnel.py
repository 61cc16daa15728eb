from __future__ import annotations

import json

import pytest

from lorelake.cli import run
from lorelake.evidence.gates import RULES

GATES = [rule for rule in RULES if rule != "admitted"]


def put_funnel(night, source, kind, signals, refused, admitted, learnings, active):
    """The rows of one source and kind, every gate with its count."""
    steps = [("signals", False, signals), *((rule, True, refused.get(rule, 0)) for rule in GATES)]
    steps += [("admitted", False, admitted), ("learnings", False, learnings), ("active", False, active)]
    for position, (step, refusal, rows) in enumerate(steps, start=1):
        night.put(
            "gate_funnel", source=source, signal_kind=kind, step=step, position=position, is_refusal=refusal, rows=rows
        )


@pytest.fixture(scope="module")
def home(tmp_path_factory, make_night, publish_night, settings):
    from lorelake.lake import Lake

    night = make_night()
    put_funnel(night, "slack", "decision", 9, {GATES[4]: 1, GATES[0]: 3}, 5, 4, 2)
    put_funnel(night, "codex", "rejection", 4, {GATES[4]: 4}, 0, 0, 0)
    put_funnel(night, "codex", "decision", 2, {}, 2, 2, 1)
    root = tmp_path_factory.mktemp("funnel") / "lake"
    publish_night(Lake(root), settings, night)
    return root


@pytest.fixture
def call(home, capsys):
    def called(*arguments: str) -> tuple[int, str, str]:
        code = run(["funnel", *arguments, "--home", str(home)])
        return code, *capsys.readouterr()

    return called


def test_each_source_and_kind_has_a_line_and_all_of_them_a_sum(call):
    code, out, _ = call()
    assert code == 0
    lines = [line.split() for line in out.splitlines()]
    assert lines[0] == ["source", "signal", "signals", "refused", "admitted", "learnings", "active"]
    assert ["codex", "rejection", "4", "4", "0", "0", "0"] in lines
    assert ["slack", "decision", "9", "4", "5", "4", "2"] in lines
    assert ["all", "15", "8", "7", "6", "3"] in lines


def test_refusals_stand_in_the_order_of_the_gates_with_their_reason(call):
    _, out, _ = call()
    refused = out[out.index("in the order of the gates") :].splitlines()[3:]
    assert [line.split()[:2] for line in refused] == [[GATES[0], "3"], [GATES[4], "5"]]
    assert RULES[GATES[0]] in refused[0]


def test_source_and_kind_narrow_all_of_it(call):
    _, out, _ = call("--source", "codex")
    assert "slack" not in out
    assert GATES[0] not in out
    _, out, _ = call("--kind", "decision", "--source", "codex")
    assert [line.split() for line in out.splitlines()][2:] == [["codex", "decision", "2", "0", "2", "2", "1"]]


def test_json_has_the_rows_of_the_table(call):
    _, out, _ = call("--json", "--kind", "rejection")
    rows = [json.loads(line) for line in out.splitlines()]
    assert [row["step"] for row in rows] == ["signals", *GATES, "admitted", "learnings", "active"]
    assert {row["signal_kind"] for row in rows} == {"rejection"}


@pytest.mark.parametrize(("option", "word"), [("--source", "slac"), ("--kind", "decisions")])
def test_what_is_not_there_is_told_with_what_is(call, option, word):
    code, out, err = call(option, word)
    assert (code, out) == (2, "")
    assert word in err
    assert "there are signals of: " in err


def test_a_copy_without_tables_says_so(home, tmp_path, capsys):
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(home, copy)
    for folder in copy.rglob("tables"):
        folder.parent.chmod(0o750)
        folder.chmod(0o750)
        shutil.rmtree(folder)
    assert run(["funnel", "--home", str(copy)]) == 1
    assert "has no tables, only what agents read" in capsys.readouterr().err
