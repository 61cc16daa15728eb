from __future__ import annotations

import json
from datetime import UTC, date, datetime

import pytest

from lorelake.cli import run


def day(number: int) -> datetime:
    return datetime(2026, 3, number, 9, tzinfo=UTC)


@pytest.fixture(scope="module")
def home(tmp_path_factory, make_night, publish_night, settings, learning_of):
    """pnpm was a candidate until day 5; on day 9 the lake heard that it had been disputed on day 3."""
    from lorelake.lake import Lake

    night = make_night()
    pnpm = {"learning_id": learning_of("pnpm"), "title": "Use pnpm", "trust": "stated", "state_reason": "stated"}
    pnpm["text_sha256"] = night.learning("pnpm")["text_sha256"]
    stretches = [
        ("candidate", day(2), day(5), date(2026, 3, 2), date(2026, 3, 9)),
        ("active", day(5), None, date(2026, 3, 5), None),
        ("refuted", day(3), day(5), date(2026, 3, 9), None),
    ]
    for state, valid_from, valid_to, known_from, known_to in stretches:
        night.put(
            "learning_versions", **pnpm, state=state, valid_from=valid_from, valid_to=valid_to, known_from=known_from,
            known_to=known_to,
        )  # fmt: skip
    root = tmp_path_factory.mktemp("as_of") / "lake"
    publish_night(Lake(root), settings, night)
    return root


@pytest.fixture
def call(home, capsys):
    def called(*arguments: str) -> tuple[int, str, str]:
        code = run(["as-of", *arguments, "--home", str(home)])
        return code, *capsys.readouterr()

    return called


def states(out: str) -> list[str]:
    return [json.loads(line)["state"] for line in out.splitlines()]


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (("--valid", "2026-03-04", "--known", "2026-03-04"), ["candidate"]),
        (("--valid", "2026-03-04"), ["refuted"]),
        (("--known", "2026-03-04"), ["candidate"]),
        (("--valid", "2026-03-05", "--known", "2026-03-05"), ["active"]),
        (("--valid", "2026-03-01", "--known", "2026-03-20"), []),
        (("--valid", "2026-03-04", "--known", "2026-03-01"), []),
    ],
)
def test_each_axis_narrows(call, arguments, wanted):
    code, out, _ = call(*arguments, "--json")
    assert (code, states(out)) == (0, wanted)


def test_one_learning_by_prefix(call, learning_of):
    prefix = learning_of("pnpm")[:12]
    assert "1 learning believed of 2026-03-05" in call("--valid", "2026-03-05", "--id", prefix)[1]
    assert "0 learnings believed" in call("--valid", "2026-03-05", "--id", "lrn_00000000")[1]
    assert call("--valid", "2026-03-05", "--id", "lrn_1")[0] == 2


def test_what_was_served_is_told_from_history(call, learning_of):
    code, out, _ = call("--served", "2100-01-01", "--json")
    rows = {json.loads(line)["learning_id"]: json.loads(line) for line in out.splitlines()}
    assert code == 0
    assert rows[learning_of("pnpm")]["title"] == "Use pnpm"
    assert len(rows) == 5
    assert call("--served", "2020-01-01")[1] == "0 learnings served at the end of 2020-01-01\n"


def test_what_is_asked_together_must_fit(call):
    assert call("--served", "2026-03-05", "--known", "2026-03-05")[0] == 2
    assert call()[0] == 2
    assert call("--valid", "yesterday")[0] == 2
