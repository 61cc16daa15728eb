"""An agent that falls silent is told of (faults 9), and one that is only not used is not."""

from __future__ import annotations

import os
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from lorelake.landing import silence
from lorelake.landing.silence import Remembered, Seen

TODAY = date(2026, 3, 20)


def days(*ago: int) -> frozenset[date]:
    return frozenset(TODAY - timedelta(days=number) for number in ago)


def claude(**values: Any) -> Seen:
    return Seen(
        "Claude Code", "claude_code", **({"found": True, "transcripts": 3, "days": days(30, 29, 27, 25)} | values)
    )


def codex(**values: Any) -> Seen:
    return Seen("Codex", "codex", **({"found": True, "transcripts": 3, "days": days(9, 3, 0)} | values))


def told(*seen: Seen, before: dict[str, Remembered] | None = None) -> list[str]:
    return silence.warnings(before or {}, seen, TODAY)


def test_silent_while_other_agents_were_at_work() -> None:
    (warning,) = told(claude(), codex())
    assert warning.startswith(
        "Claude Code has fallen silent: its last session is of 2026-02-23, 25 days ago, while other"
    )


def test_silent_though_its_own_folder_goes_on_changing() -> None:
    """faults 9: the agent moved its sessions to another file and left the old folder behind."""
    (warning,) = told(claude(elsewhere=TODAY))
    assert "though its own folder changed on 2026-03-20" in warning


@pytest.mark.parametrize("gone", [{"found": False}, {"transcripts": 0}])
def test_a_store_that_is_gone_or_empty_is_told_at_once(gone: dict[str, Any]) -> None:
    seen = claude(days=frozenset())._replace(**gone)
    (warning,) = told(seen, before={"claude_code": Remembered([(TODAY - timedelta(days=2)).isoformat()])})
    assert "2 days ago" in warning


@pytest.mark.parametrize(
    "seen",
    [
        [claude()],
        [claude(), codex(days=days(24))],
        [claude(days=days(8, 6)), codex()],
        [claude(days=days(40, 20)), codex(days=days(9, 0))],
        [claude(days=frozenset(), transcripts=0), codex()],
        [claude(days=days(90)), codex()],
    ],
    ids=["nobody works", "neither does", "not yet", "always had long pauses", "never spoke", "long ago"],
)
def test_no_news(seen: list[Seen]) -> None:
    assert told(*seen) == []


def test_files_of_an_unknown_kind_are_told_of_though_others_are_read() -> None:
    """faults 9: a file with a version mark the reader does not know makes the source degraded, not fine."""
    (warning,) = told(codex(strange=1, strange_newest=TODAY))
    assert warning == ("Codex is read in part only: 1 file is of no known format or version, the newest of 2026-03-20")


def test_what_is_remembered_is_days_and_does_not_change_without_news() -> None:
    first = silence.remember({}, [claude(), codex(days=frozenset())], TODAY)
    assert set(first) == {"claude_code"}
    assert silence.remember(first, [claude(), codex(days=frozenset())], TODAY + timedelta(days=9)) == first
    later = silence.remember(first, [claude(days=days(0))], TODAY)
    assert set(first["claude_code"].days) < set(later["claude_code"].days)


def test_a_run_warns_when_the_agent_moves_its_store(machine: Any) -> None:
    """faults 9: a source that gave sessions last week and gives none now raises a warning; so does an unknown file."""
    now = datetime(2026, 3, 20, 12, tzinfo=UTC)
    api = machine.checkout("api", "git@github.com:tidewater/harbour-api.git")
    for number in range(3):
        machine.codex(f"0a-0{number}", api, None, "one", days_ago=12 + number)
    machine.enable("github.com/tidewater/harbour-api")
    assert machine.collect().warnings == []
    moved = machine.home / ".codex" / "sessions.sqlite"
    moved.write_bytes(b"SQLite format 3\0")
    os.utime(moved, (now.timestamp(), now.timestamp()))
    (silent,) = machine.collect().warnings
    assert silent.startswith("Codex has fallen silent")
    inside = machine.home / ".codex" / "sessions" / "2026" / "03" / "19" / "rollout-v9.jsonl"
    inside.parent.mkdir()
    inside.write_text('{"schema": "codex/9", "items": []}\n')
    machine.aged(inside, 1)
    assert len(machine.collect().warnings) == 2
    inside.unlink()
    moved.unlink()
    for path in (machine.home / ".codex").rglob("*.jsonl"):
        path.unlink()
    (gone,) = machine.collect().warnings
    assert "holds no transcript any more" in gone


def test_a_run_that_was_cut_short_does_not_judge(machine: Any) -> None:
    api = machine.checkout("api", "git@github.com:tidewater/harbour-api.git")
    machine.codex("0a-01", api, None, "one", days_ago=12)
    machine.enable("github.com/tidewater/harbour-api")
    machine.collect()
    machine.claude("s1", api, "two", days_ago=0)
    assert machine.collect(within=0).warnings == []
    assert len(machine.collect().warnings) == 1
