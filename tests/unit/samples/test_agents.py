"""The sample team's sessions with other agents follow from their sources, and show what they are there to show."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from types import ModuleType

import msgspec
import pytest

from lorelake import settings
from lorelake.formats import codex_forks, registry, specstory
from lorelake.formats.record import Capture, Event, Record, Refusal, Unit, UnitRecord, canonical, in_order
from lorelake.landing import discover

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
TEAM = SAMPLES / "team"
FIRST, LAST = date(2026, 3, 2), date(2026, 3, 20)
FOLDERS = (
    "memory",
    *(f"transcripts/{name}" for name in ("aider", "copilot-cli", "gemini-cli", "opencode", "specstory")),
)
FORK, FORKED = "019c8e0c-91d4-7b36-a2f5-60e7d3b14c98", "019c8957-4754-7269-80d4-08428ed48b7f"
RESTORED = "019cfc5a-3e10-7d42-9b6f-1c8a40e7d235"
RENDERED = "d28cd949-6d7c-4f5f-99f0-adb07f68607e"


@pytest.fixture(scope="module")
def build_agents() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_agents", SAMPLES / "build_agents.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def captures() -> list[tuple[str, Capture]]:
    return discover.captures(settings.load(TEAM / "lorelake.toml")).captures


def committed() -> dict[str, bytes]:
    paths = [path for folder in FOLDERS for path in (TEAM / folder).rglob("*") if path.is_file()]
    for session in (FORK, RESTORED):
        paths += (TEAM / "transcripts" / "codex").rglob(f"*{session}.jsonl")
    return {path.relative_to(TEAM).as_posix(): path.read_bytes() for path in paths}


def read(captures: list[tuple[str, Capture]], name: str) -> list[Record | Refusal]:
    return [item for found, capture in captures if found == name for item in registry.by_name(name).read(capture)]


def unit(name: str, items: Sequence[Record | Refusal], native: str) -> Unit:
    records = {(one.id, canonical(one.value)): one for one in items if isinstance(one, Record) and one.unit == native}
    began = min(one.ts for one in records.values() if one.ts)
    stored = [
        UnitRecord(r.id, r.type, r.ts or began, r.value, f"{r.member}:{r.line}", "2026-03-20", r.ts_assumed)
        for r in records.values()
    ]
    return Unit(name, f"{name}:{native}", in_order(stored), None, None)


def only_session(captures: list[tuple[str, Capture]], name: str) -> tuple[Unit, list[Event]]:
    items = read(captures, name)
    assert all(isinstance(item, Record) for item in items)
    (native,) = {item.unit for item in items if isinstance(item, Record)}
    found = unit(name, items, native)
    return found, registry.by_name(name).events(found)


def told(events: list[Event], *kinds: str) -> list[str]:
    return [event.text for event in events if event.kind in kinds and event.actor_class == "human"]


def test_the_files_follow_from_their_sources(build_agents: ModuleType) -> None:
    assert build_agents.build() == committed()


def test_each_file_is_small() -> None:
    sizes = {name: len(content) for name, content in committed().items()}
    assert {name for name, size in sizes.items() if size >= 8192} == set()
    assert sum(sizes.values()) < 48_000


def test_everything_happened_in_the_three_weeks() -> None:
    for name, content in committed().items():
        text = content.decode()
        days = {date.fromisoformat(day) for day in re.findall(r"\b20\d\d-\d\d-\d\d(?=[T ]\d\d:)", text)}
        days |= {datetime.fromtimestamp(int(ms) / 1000, UTC).date() for ms in re.findall(r"\b17\d{11}\b", text)}
        assert {day for day in days if not FIRST <= day <= LAST} == set(), name
        assert days or "/part/" in name


def test_the_order_of_the_sources_names_nothing(captures: list[tuple[str, Capture]]) -> None:
    """A source is called by the end of its path; of two alike the later one gets a longer name."""
    loaded = settings.load(TEAM / "lorelake.toml")
    turned = discover.captures(msgspec.structs.replace(loaded, sources=loaded.sources[::-1])).captures
    assert sorted((name, one.name) for name, one in turned) == sorted((name, one.name) for name, one in captures)


def test_each_is_read_as_what_it_is(captures: list[tuple[str, Capture]]) -> None:
    names = [name for name, _ in captures]
    counts = {name: names.count(name) for name in ("aider", "copilot_cli", "gemini_cli", "gitmem", "opencode")}
    assert counts == {"aider": 1, "copilot_cli": 1, "gemini_cli": 2, "gitmem": 1, "opencode": 1}
    assert (names.count("specstory"), names.count("codex")) == (2, 6)


def test_copilot_shows_a_failure_its_cure_and_a_rejection_with_words(captures: list[tuple[str, Capture]]) -> None:
    _, events = only_session(captures, "copilot_cli")
    runs = [
        (event.exit_code, event.is_error) for event in events if event.kind == "tool_result" and event.tool == "bash"
    ]
    assert runs == [(1, True), (0, False)]
    (words,) = told(events, "rejection")
    assert words.startswith("Never restore a production dump into staging, because")
    assert events[-1].kind == "usage"


def test_gemini_rewrote_its_file_and_says_everything_once(captures: list[tuple[str, Capture]]) -> None:
    earlier, later = (
        json.loads(capture.members[0].read())["messages"] for name, capture in captures if name == "gemini_cli"
    )
    assert [message["id"] for message in earlier] == [message["id"] for message in later[: len(earlier)]]
    assert "toolCalls" not in earlier[-1]
    assert "toolCalls" in later[len(earlier) - 1]
    chat, events = only_session(captures, "gemini_cli")
    assert len(told(events, "prompt")) == 3
    assert len([event for event in events if event.kind == "tool_call"]) == 5
    assert registry.by_name("gemini_cli").facts(chat).cwds == ("/home/aiko/src/harbour-web",)


def test_opencode_holds_a_rejection_with_words(captures: list[tuple[str, Capture]]) -> None:
    session, events = only_session(captures, "opencode")
    assert registry.by_name("opencode").facts(session).cwds == ("/home/mara/src/harbour-api",)
    assert told(events, "rejection") == [
        "Never put guest names into the calendar feed, because anybody who has the link can read it."
    ]


def test_one_of_aiders_two_launches_was_left_at_once(captures: list[tuple[str, Capture]]) -> None:
    items = [item for item in read(captures, "aider") if isinstance(item, Record)]
    said = [
        told(registry.by_name("aider").events(unit("aider", items, one)), "prompt") for one in {i.unit for i in items}
    ]
    assert sorted(map(len, said)) == [0, 2]


def test_gitmem_has_a_scar_a_win_one_put_away_and_one_refused(captures: list[tuple[str, Capture]]) -> None:
    items = read(captures, "gitmem")
    assert [item.reason for item in items if isinstance(item, Refusal)] == ["shipped_entry"]
    units = [unit("gitmem", items, item.unit) for item in items if isinstance(item, Record)]
    kinds = [[event.kind for event in registry.by_name("gitmem").events(one)] for one in units]
    assert kinds == [["document_version"], ["document_version"], ["document_version", "document_deleted"]]
    scar = registry.by_name("gitmem").events(units[0])[0].attributes["stated"]
    assert (scar["kind"], len(scar["not_when"])) == ("scar", 2)


def test_the_rendition_is_of_a_session_at_hand_and_the_other_is_not(captures: list[tuple[str, Capture]]) -> None:
    items = read(captures, "specstory")
    transcripts = {path.stem for path in (TEAM / "transcripts" / "claude-code").rglob("*.jsonl")}
    natives = {
        one: specstory.native_unit(unit("specstory", items, one))
        for one in {i.unit for i in items if isinstance(i, Record)}
    }
    assert natives.pop(RENDERED) == f"claude_code:{RENDERED}"
    assert RENDERED in transcripts
    assert list(natives.values()) == [None], "Cursor's own store is not read"
    rendered = told(specstory.events(unit("specstory", items, RENDERED)), "prompt", "rejection")
    native = registry.by_name("claude_code").events(unit("claude_code", read(captures, "claude_code"), RENDERED))
    assert rendered
    assert set(rendered) <= set(told(native, "prompt", "rejection"))


def test_the_fork_replays_its_parent_and_then_goes_its_own_way(captures: list[tuple[str, Capture]]) -> None:
    items = read(captures, "codex")
    fork, parent = unit("codex", items, FORK), unit("codex", items, FORKED)
    assert registry.by_name("codex").facts(fork).parent_unit == FORKED
    copied = codex_forks.replayed(fork, parent)
    assert len(copied) == 10
    own = [event for event in registry.by_name("codex").events(fork) if event.record_id not in copied]
    assert told(own, "prompt")[0] == "The replica went last night. Which alarms still watch it?"
    assert len(told(registry.by_name("codex").events(fork), "prompt")) == 3, "the parent's prompt is the first"


def test_codex_meets_an_error_of_another_session_and_proposes_what_it_learned(
    captures: list[tuple[str, Capture]],
) -> None:
    restored = registry.by_name("codex").events(unit("codex", read(captures, "codex"), RESTORED))
    runs = [event for event in restored if event.kind == "tool_result" and event.tool == "exec_command"]
    assert [event.exit_code for event in runs] == [2, 0, 1, 0]
    _, drill = only_session(captures, "copilot_cli")
    error = "pg_restore: error: unsupported version (1.16) in file header"
    assert [error in one.text for one in (runs[0], next(e for e in drill if e.is_error))] == [True, True]
    failed, passed = (e.command or "" for e in restored if (e.command or "").startswith("pg_restore"))
    assert failed.replace("--single-transaction ", "") == passed != failed
    (proposal,) = (e.text for e in restored if (e.kind, e.tool) == ("tool_call", "mcp__gitmem__create_learning"))
    assert "without --single-transaction" in proposal
