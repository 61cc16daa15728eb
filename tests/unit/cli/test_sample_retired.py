from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from lorelake.cli import run


@pytest.fixture(scope="module")
def home(tmp_path_factory, make_night, publish_night, settings, learning_of):
    from lorelake.lake import Lake

    night = make_night()
    drawn = {"seat": 1, "drawn_from": 3, "ts": datetime(2026, 3, 9, tzinfo=UTC), "actor": "mara", "evidence": "d1"}
    night.put(
        "retirement_samples", **drawn, kind="superseded", learning_id=learning_of("paths_old"), reason="explicit",
        newer_id=learning_of("paths"), quote="paths were bare", newer_quote="quote every path", said="this replaces it",
    )  # fmt: skip
    night.put(
        "retirement_samples", **drawn, kind="in_part", learning_id=learning_of("secret_plan"), reason="explicit",
        newer_id=learning_of("paths"), quote="ochremark", newer_quote="quote every path", said="ochremark",
    )  # fmt: skip
    root = tmp_path_factory.mktemp("retired") / "lake"
    publish_night(Lake(root), settings, night)
    return root


@pytest.fixture
def call(home, capsys):
    def called(*arguments: str) -> tuple[int, str, str]:
        code = run(["sample", "--retired", *arguments, "--home", str(home)])
        return code, *capsys.readouterr()

    return called


def test_both_sides_stand_beside_each_other_and_a_private_one_is_withheld(call):
    code, out, _ = call()
    assert code == 0
    assert 'was said: "paths were bare"' in out
    assert 'now said: "quote every path"' in out
    assert "2 retirements drawn of in_part 3, superseded 3" in out
    assert "ochremark" not in out
    rows = [json.loads(line) for line in call("--json")[1].splitlines()]
    assert [(row["kind"], row["actor"]) for row in rows] == [("in_part", "withheld"), ("superseded", "mara")]


def test_it_stands_alone(call):
    assert call("--open")[0] == 2
    assert call("--kind", "rejection")[0] == 2
