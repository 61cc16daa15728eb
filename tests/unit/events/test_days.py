"""Days of events: derived from stored records alone, redone exactly when their inputs change."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from lorelake.content.masking import encoded
from lorelake.content.redaction import Redactor
from lorelake.events import days as event_days
from lorelake.events import visibility
from lorelake.events.people import directory
from lorelake.formats.record import Event, Unit, UnitFacts
from lorelake.lake import Lake, frame, read_table, write_table
from lorelake.settings import Person, Project, Settings, Team
from lorelake.tables import EVENTS, RAW_RECORDS, UNITS, Table

REDACTOR = Redactor(b"a key for tests, nothing more 32")
MARA = Person(id="mara", emails=("mara@example.com",), logins=("mlind",), slack=("U1",))
BOT = Person(id="lintbot", kind="bot", logins=("lintbot",))


class Talk:
    """A format whose records are {"by", "say", "class"}; one event each."""

    def facts(self, unit: Unit) -> UnitFacts:
        first = unit.records[0].value
        return UnitFacts(
            kind="session", remote=first.get("remote"), agent="talker", parent_unit=first.get("parent"),
            audience=first.get("audience"),
        )  # fmt: skip

    def events(self, unit: Unit) -> list[Event]:
        return [
            Event(
                record_id=record.id,
                part="0",
                ts=record.ts,
                actor_alias=record.value.get("by", ""),
                actor_class=record.value.get("class", "human"),
                kind="prompt",
                text=record.value["say"],
                source_uri=record.source_uri,
                first_kept=record.first_kept,
                reply_to=record.value.get("to"),
            )
            for record in unit.records
        ]


def raw(unit: str, id_: str, minute: int, day: date = date(2026, 3, 2), **value: Any) -> dict[str, Any]:
    return {
        "source": "claude_code", "unit_id": f"claude_code:{unit}", "record_id": id_, "body_sha256": f"{unit}{id_}",
        "record_type": "said", "ts": datetime(day.year, day.month, day.day, 9, minute, tzinfo=UTC), "ts_assumed": False,
        "unit_day": day, "body": encoded({"say": f"{id_} said", **value}).decode(), "project_hint": None,
        "person_hint": None,
        "capture_sha256": "c", "source_uri": f"{unit}.jsonl:{minute}", "first_kept": day,
    }  # fmt: skip


def store(lake: Lake, *rows: dict[str, Any]) -> None:
    for day in {row["unit_day"] for row in rows}:
        mine = [row for row in rows if row["unit_day"] == day]
        write_table(RAW_RECORDS, frame(RAW_RECORDS, mine), lake.table(RAW_RECORDS, day, "claude_code"))


def derive(lake: Lake, as_of: date = date(2026, 3, 20), **settings: Any) -> dict[str, int]:
    chosen = Settings(team=Team(id="t"), people=(MARA, BOT), **settings)
    people = directory(chosen, [], REDACTOR)
    index = event_days.scan_raw(lake).select(event_days.INDEX).collect()
    inputs = event_days.Inputs(index, people, chosen, as_of)
    return event_days.derive_days(lake, event_days.stale_days(lake, inputs), inputs, lambda _: Talk())


def events(lake: Lake) -> pl.DataFrame:
    return read_table(EVENTS, lake.days(EVENTS)).sort("unit_id", "seq")


def test_people_projects_and_order_are_resolved(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    remote = "git@github.com:tidewater/harbour-api.git"
    store(
        lake,
        raw("s", "b", 2, by="lintbot", to="a"),
        raw("s", "a", 1, by="MLIND", remote=remote),
        raw("s", "c", 3, by="stranger"),
        raw("s", "d", 4, **{"class": "agent"}),
    )
    derive(lake, projects=(Project(id="api", remotes=(remote,)),))
    rows = events(lake)
    assert rows["seq"].to_list() == [0, 1, 2, 3]
    assert rows["actor"].to_list() == ["mara", "lintbot", "unknown:claude_code:stranger", "talker"]
    assert rows["actor_class"].to_list() == ["human", "bot", "human", "agent"]
    assert rows["project"].unique().to_list() == ["api"]
    assert rows["audience"].unique().to_list() == ["project:api"]
    assert rows["reply_to"].to_list()[1] == rows["event_id"].to_list()[0]


def test_an_unknown_project_is_nobodys_memory_but_the_speakers(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    store(lake, raw("s", "a", 1))
    derive(lake)
    assert events(lake)["audience"].to_list() == ["person:unknown:claude_code"]


def test_nothing_changed_derives_nothing(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    store(lake, raw("s", "a", 1))
    assert derive(lake) == {"2026-03-02": 1}
    assert derive(lake) == {}


@pytest.mark.parametrize("table", [EVENTS, UNITS])
def test_a_deleted_derived_file_is_made_again(tmp_path: Path, table: Table) -> None:
    """The hash of its inputs is still known; who deletes `events/` must not end with an empty memory."""
    lake = Lake(tmp_path)
    store(lake, raw("s", "a", 1))
    derive(lake)
    path = lake.table(table, date(2026, 3, 2))
    before = path.read_bytes()
    path.unlink()
    assert derive(lake) == {"2026-03-02": 1}
    assert path.read_bytes() == before


def test_an_alias_edit_redoes_the_days(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    store(lake, raw("s", "a", 1))
    derive(lake)
    assert derive(lake, projects=(Project(id="api"),)) == {"2026-03-02": 1}


def test_the_as_of_day_hides_what_came_later_and_redoes_only_days_it_reaches(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    later = {**raw("s", "b", 2), "ts": datetime(2026, 3, 5, tzinfo=UTC)}
    store(lake, raw("s", "a", 1), later, raw("old", "x", 1, date(2026, 3, 1)))
    derive(lake, date(2026, 3, 4))
    assert events(lake)["text"].to_list() == ["x said", "a said"]
    assert derive(lake, date(2026, 3, 6)) == {"2026-03-02": 2}
    assert derive(lake, date(2026, 3, 7)) == {}


def test_a_parent_that_comes_late_takes_its_records_back(tmp_path: Path) -> None:
    """A fork read before its parent ends as if read after."""
    fork = [raw("fork", "a", 1, date(2026, 3, 3)), raw("fork", "b", 9, date(2026, 3, 3))]
    parent = [raw("parent", "a", 1, date(2026, 3, 2)), raw("parent", "p", 2, date(2026, 3, 2))]
    late, whole = Lake(tmp_path / "late"), Lake(tmp_path / "whole")
    store(late, *fork)
    derive(late)
    assert events(late).height == 2
    store(late, *parent)
    assert derive(late) == {"2026-03-02": 2, "2026-03-03": 1}
    store(whole, *fork, *parent)
    derive(whole)
    assert events(late).equals(events(whole))


def test_a_day_without_raw_loses_its_events(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    store(lake, raw("s", "a", 1))
    derive(lake)
    lake.table(RAW_RECORDS, date(2026, 3, 2), "claude_code").unlink()
    derive(lake)
    assert lake.days(EVENTS) == []
    assert lake.days(UNITS) == []


def test_a_sub_agent_is_one_family_with_its_parent(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    store(lake, raw("s", "a", 1), raw("s/agent-1", "x", 2, parent="s"))
    chosen = Settings(team=Team(id="t"))
    index = event_days.scan_raw(lake).select(event_days.INDEX).collect()
    inputs = event_days.Inputs(index, [], chosen, date(2026, 3, 20))
    event_days.derive_days(lake, event_days.stale_days(lake, inputs), inputs, lambda _: Talk())
    assert event_days.sessions(lake, inputs)["family_id"].to_list() == ["claude_code:s", "claude_code:s"]


def test_people_fold_by_login_slack_id_and_masked_email() -> None:
    users = [
        {"id": "U1", "profile": {}},
        {"id": "U2", "profile": {"email": REDACTOR.text("mara@example.com")}},
        {"id": "U3", "is_bot": True},
        {"id": "U4"},
    ]
    rows = {
        (row["source"], row["alias"]): row
        for row in directory(Settings(team=Team(id="t"), people=(MARA,)), users, REDACTOR)
    }
    assert rows[("slack", "U1")]["person_id"] == rows[("slack", "U2")]["person_id"] == "mara"
    assert rows[("slack", "U3")]["kind"] == "bot"
    assert rows[("slack", "U4")]["person_id"] == "slack:U4"
    assert not any("@" in alias for _, alias in rows)


def test_a_channel_that_turned_private_takes_its_history_with_it(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    store(lake, raw("C1:100", "a", 1, audience="team"), raw("C2:100", "b", 2, audience="team"))
    chosen = Settings(team=Team(id="t"))
    index = event_days.scan_raw(lake).select(event_days.INDEX).collect()

    def texts(narrowed: dict[str, str | None]) -> list[tuple[str, str]]:
        inputs = event_days.Inputs(index, [], chosen, date(2026, 3, 20), narrowed)
        event_days.derive_days(lake, event_days.stale_days(lake, inputs), inputs, lambda _: Talk())
        return list(events(lake).select("text", "audience").iter_rows())

    assert texts({}) == [("a said", "team"), ("b said", "team")]
    assert texts({"claude_code:C1:": None}) == [("b said", "team")]
    assert texts({"claude_code:C1:": "channel:C1"}) == [("a said", "channel:C1"), ("b said", "team")]


def listing(kind: str, kept: int) -> dict[str, Any]:
    row = raw("workspace:T1", f"channel:C1{kept}", 1, date(2026, 3, kept))
    body = encoded({"conversation": {"id": "C1", "kind": kind}}).decode()
    return {**row, "source": "slack", "unit_id": "slack:workspace:T1", "record_type": "channel", "body": body}


def test_the_newest_listing_says_whether_a_channel_is_public() -> None:
    def narrowed(include: tuple[str, ...], *rows: dict[str, Any]) -> dict[str, str | None]:
        return visibility.narrowed(frame(RAW_RECORDS, rows).lazy(), include)

    turned = [listing("public", 2), listing("private", 3)]
    assert narrowed(("public",), turned[0]) == {}
    assert narrowed(("public",), *turned) == narrowed(("public",), *reversed(turned)) == {"slack:C1:": None}
    assert narrowed(("public", "private"), *turned) == {"slack:C1:": "channel:C1"}
