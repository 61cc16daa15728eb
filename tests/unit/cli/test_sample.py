from __future__ import annotations

import json
from datetime import date

import pytest

from lorelake.cli import run

WEEK, BEFORE = "2026-W12", "2026-W11"


def rate(night, sample, kind, drawn, judged=0, junk=0, **interval):
    night.put(
        "junk_rate", sample=sample, signal_kind=kind, drawn=drawn, judged=judged, junk=junk,
        **(interval or dict.fromkeys(("rate", "rate_low", "rate_high"))),
    )  # fmt: skip


@pytest.fixture(scope="module")
def home(tmp_path_factory, make_night, publish_night, settings, learning_of):
    from lorelake.lake import Lake

    night = make_night()
    seats = [
        (WEEK, "paths", "kept", "correction"),
        (WEEK, "pnpm", "open", "rejection"),
        (WEEK, "secret_plan", "open", "correction"),
        (WEEK, "gone", "junk", "correction"),
        (BEFORE, "review", "open", "decision"),
    ]
    for number, (week, name, ruling, kind) in enumerate(seats, start=1):
        night.put(
            "samples", sample=week, learning_id=learning_of(name), signal_kind=kind, seat=number,
            drawn_on=date(2026, 3, 16), ruling=ruling,
        )  # fmt: skip
    rate(night, WEEK, "all", 4, 2, 1, rate=0.5, rate_low=0.0945, rate_high=0.9055)
    rate(night, WEEK, "correction", 3, 2, 1, rate=0.5, rate_low=0.0945, rate_high=0.9055)
    rate(night, WEEK, "rejection", 1)
    rate(night, BEFORE, "all", 1)
    rate(night, BEFORE, "decision", 1)
    root = tmp_path_factory.mktemp("sample") / "lake"
    publish_night(Lake(root), settings, night)
    return root


@pytest.fixture
def call(home, capsys):
    def called(*arguments: str) -> tuple[int, str, str]:
        code = run(["sample", *arguments, "--home", str(home)])
        return code, *capsys.readouterr()

    return called


def test_the_latest_sample_is_shown_with_its_quotes_in_the_order_of_its_seats(call):
    code, out, _ = call()
    assert code == 0
    assert out.index("Quote every path") < out.index("Use pnpm")
    assert 'said: "no, we use pnpm here, not npm: harbourmark" (mara, 2026-03-10, claude-code/pnpm.jsonl:7)' in out
    assert "second reader" not in out
    assert out.splitlines()[-2:] == [
        f"sample {WEEK}: 4 drawn, 2 judged, junk rate 0.50 (n=2, 0.09 to 0.91)",
        "  correction: 2 judged, junk rate 0.50 (n=2, 0.09 to 0.91)",
    ]


def test_words_of_a_private_audience_and_of_what_was_forgotten_are_not_shown(call):
    out = call()[1] + call("--json")[1]
    assert "ochremark" not in out
    assert "forgetmark" not in out
    assert "(words in the index of channel:C0PRIVATE alone)" in out
    assert "(words forgotten)" in out


def test_open_and_kind_narrow_what_is_shown_and_say_so(call):
    _, out, _ = call("--open")
    assert "Use pnpm" in out
    assert "Quote every path" not in out
    assert out.splitlines()[-1] == "2 of 4 are shown"
    _, out, _ = call("--kind", "rejection")
    assert out.splitlines()[-1] == "1 of 4 are shown"


def test_where_nobody_judged_there_is_no_rate(call):
    _, out, _ = call(BEFORE)
    assert out.splitlines()[-1] == f"sample {BEFORE}: 1 drawn, nobody judged one yet, so there is no junk rate"


def test_json_has_ruling_words_and_all_quotes(call):
    _, out, _ = call("--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert [(row["seat"], row["ruling"]) for row in rows] == [(1, "kept"), (2, "open"), (3, "open"), (4, "junk")]
    assert rows[1]["quotes"][0]["words"].endswith("harbourmark")


@pytest.mark.parametrize(
    ("arguments", "told"), [(["2026-W01"], f"there are: {BEFORE}, {WEEK}"), (["--kind", "x"], "correction, rejection")]
)
def test_what_is_not_there_is_told_with_what_is(call, arguments, told):
    code, out, err = call(*arguments)
    assert (code, out) == (2, "")
    assert told in err


def test_an_empty_sample_is_told_and_no_error(published, capsys):
    assert run(["sample", "--home", str(published.root)]) == 0
    assert capsys.readouterr().out == "sample: nothing to draw from yet\n"
