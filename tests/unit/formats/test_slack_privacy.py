"""Slack: which conversations are read, who is in them, and what is recorded of the others."""

from __future__ import annotations

import json
from collections import Counter
from datetime import date
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from slack_samples import PUBLIC, REDACTOR, export, message, messages_of, nights, read, units

from lorelake.events import days as event_days
from lorelake.events import visibility
from lorelake.formats import slack
from lorelake.formats.record import Capture
from lorelake.lake import Lake, read_table
from lorelake.landing import discover
from lorelake.raw import intake
from lorelake.settings import Settings, Slack, Source, Team
from lorelake.tables import EVENTS, INTAKE, QUARANTINE

MARKS = {"deploys": "heron", "reorg": "walrus", "mpdm-ana--ben--cy-1": "otter", "D1": "magpie", "strays": "lynx"}
MIXED = {
    "channels.json": [PUBLIC, {"id": "C9", "name": "launch", "is_private": "unknown", "members": []}],
    "groups.json": [{"id": "G1", "name": "reorg", "members": ["U1"], "topic": {"value": "walrus list"}}],
    "mpims.json": [{"id": "G2", "name": "mpdm-ana--ben--cy-1", "members": ["U1"]}],
    "dms.json": [{"id": "D1", "created": 1, "members": ["U1", "U2"]}],
    "launch/2026-03-02.json": [message("badger date")],
    **{f"{folder}/2026-03-02.json": [message(f"the {mark} plan")] for folder, mark in MARKS.items()},
}


def test_only_public_conversations_are_read_and_the_others_are_counted() -> None:
    """faults 19: each skipped conversation is named by its id, and not a word of it is kept."""
    records, refusals = read(export(MIXED))
    everything = json.dumps([one.value for one in records]) + json.dumps([one.head + one.detail for one in refusals])
    assert "heron" in everything
    for mark in ("walrus", "otter", "magpie", "lynx", "badger"):
        assert mark not in everything
    assert Counter(one.reason for one in refusals) == {"private": 5}
    assert all(one.head == "" and one.sha256 for one in refusals)
    assert sorted(one.detail.split(";")[0] for one in refusals) == [
        "of the conversation strays, which no list names and so counts as private",
        "of the dm conversation D1", "of the dm conversation G2",
        "of the private conversation C9", "of the private conversation G1",
    ]  # fmt: skip


def test_what_the_settings_include_carries_its_audience() -> None:
    """faults 19: allowed by configuration, the words of a conversation are for its members alone."""
    records, refusals = read(export(MIXED, include=("public", "private", "dm")))
    assert not refusals
    found = {
        slack.events(unit)[0].text: slack.facts(unit).audience
        for unit in units([("2026-03-02", records)]).values()
        if slack.events(unit)
    }
    assert found == {
        "the heron plan": "team", "the walrus plan": "channel:G1", "the otter plan": "dm:G2",
        "the magpie plan": "dm:D1", "the lynx plan": "channel:strays", "badger date": "channel:C9",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("listed_in", "entry", "kind"),
    [
        ("channels.json", {}, "public"),
        ("channels.json", {"is_private": False, "is_archived": True}, "public"),
        ("channels.json", {"is_private": False, "is_ext_shared": True, "is_shared": True}, "public"),
        ("channels.json", {"is_private": True}, "private"),
        ("channels.json", {"is_private": None}, "private"),
        ("channels.json", {"is_private": 0}, "private"),
        ("channels.json", {"is_group": True}, "private"),
        ("channels.json", {"is_private": False, "is_mpim": True}, "dm"),
        ("channels.json", {"is_im": True}, "dm"),
        ("groups.json", {"is_private": False}, "private"),
        ("groups.json", {"is_mpim": True}, "dm"),
        ("mpims.json", {}, "dm"),
        ("dms.json", {"is_private": False}, "dm"),
        ("conversations.json", {"is_private": False, "is_channel": True}, "public"),
        ("conversations.json", {}, "private"),
        ("conversations.json", {"is_private": True}, "private"),
        ("conversations.json", {"is_im": True}, "dm"),
    ],
)
def test_the_kind_of_a_conversation(listed_in: str, entry: dict[str, Any], kind: str) -> None:
    """Public only where a list of public channels, or the entry itself, says so and nothing says otherwise."""
    capture = export({listed_in: [{"id": "X1", "name": "x", **entry}], "x/2026-03-02.json": [message("hi")]})
    records, refusals = read(capture)
    assert [one.value["conversation"] for one in records if one.type == "channel"] == [{"id": "X1", "kind": kind}]
    assert [one.reason for one in refusals] == ([] if kind == "public" else ["private"])


def test_a_channel_listed_as_public_and_as_group_is_private() -> None:
    capture = export(
        {
            "channels.json": [PUBLIC],
            "groups.json": [{"id": "C1", "name": "deploys", "members": []}],
            "deploys/2026-03-02.json": [message("was it?")],
        }
    )
    assert [one.reason for one in read(capture)[1]] == ["private"]


def test_a_message_that_says_it_is_from_elsewhere_is_as_private_as_both() -> None:
    files = {
        "channels.json": [PUBLIC], "groups.json": [{"id": "G1", "name": "reorg"}],
        "deploys/2026-03-02.json": [message("walrus", channel="G1"), message("heron", "1772442001.0", channel="C1")],
        "reorg/2026-03-02.json": [message("otter", channel="C1")],
    }  # fmt: skip
    records, refusals = read(export(files))
    assert [one.value["message"]["text"] for one in messages_of(records)] == ["heron"]
    assert [one.reason for one in refusals] == ["private", "private"]


@pytest.mark.parametrize("name", ["groups.json", "channels.json", "conversations.json", "names.json"])
def test_a_broken_list_of_conversations_shows_nothing(name: str) -> None:
    (refusal,) = read(export({name: b'[{"id": "G1", "name": "layoffs"'}))[1]
    assert (refusal.reason, refusal.head) == ("not_json", "")


def test_a_broken_file_of_a_private_conversation_shows_nothing() -> None:
    lists = {"groups.json": [{"id": "G1", "name": "reorg"}], "channels.json": [PUBLIC]}
    files = {f"{folder}/2026-03-02.json": b'[{"text": "walrus' for folder in ("reorg", "strays", "deploys")}
    heads = {one.member.split("/")[0]: one.head for one in read(export(lists | files))[1]}
    assert heads == {"reorg": "", "strays": "", "deploys": '[{"text": "walrus'}


# --- whose kind changes -----------------------------------------------------------------------------------------

DAY = {"deploys/2026-03-02.json": [message("the heron plan")]}


def listing(kind: str, members: tuple[str, ...] = ("U1",), salt: str = "", **settings: Any) -> Capture:
    """An export that lists C1 as of that kind, with a day file; `salt` makes it another capture."""
    entry = {"id": "C1", "name": "deploys", "is_private": kind != "public", "members": list(members)}
    files = {
        "channels.json" if kind == "public" else "groups.json": [entry],
        "users.json": [{"id": "U1", "name": salt}],
    }
    return export(files | DAY, **settings)


def kind_now(*captures: Capture) -> str:
    return slack.kinds(nights(*captures)["workspace:export"])["C1"]


def test_a_channel_that_turns_private_can_be_told() -> None:
    """faults 19: the newest listing holds; of listings of one night the most private does."""
    assert kind_now(listing("public"), listing("private")) == "private"
    assert kind_now(listing("private"), listing("public")) == "public"
    same_night = [read(listing(kind))[0] for kind in ("public", "private")]
    for order in permutations(same_night):
        found = units(("2026-03-02", records) for records in order)
        assert slack.kinds(found["workspace:export"]) == {"C1": "private"}


def test_a_channel_that_turns_private_again_can_be_told() -> None:
    """A listing that is not public is kept once for each capture; as one row it would count from its first night."""
    turns = [listing("private", salt="a"), listing("public", salt="b"), listing("private", salt="c")]
    assert kind_now(*turns) == "private"
    assert kind_now(*turns[:2]) == "public"
    assert kind_now(turns[0], turns[1], turns[0]) == "public", "the same capture again says nothing new"


def test_of_a_private_conversation_id_and_kind_are_recorded() -> None:
    capture = listing("private")
    (record,) = (one for one in read(capture)[0] if one.type == "channel")
    assert record.value == {"conversation": {"id": "C1", "kind": "private"}, "listed_in": capture.sha256}


# --- members ----------------------------------------------------------------------------------------------------

BOTH = {"include": ("public", "private")}


def members(*captures: Capture) -> dict[str, frozenset[str]]:
    return slack.members(nights(*captures)["workspace:export"])


def test_members_are_those_of_the_newest_listing() -> None:
    ana, both = listing("private", ("U1",), "a", **BOTH), listing("private", ("U1", "U2"), "b", **BOTH)
    assert members(ana) == {"C1": frozenset({"U1"})}
    assert members(ana, both) == {"C1": frozenset({"U1", "U2"})}
    assert members(both, ana) == {"C1": frozenset({"U1"})}
    left_again = listing("private", ("U1",), "c", **BOTH)
    assert members(ana, both, left_again) == {"C1": frozenset({"U1"})}, "who left a second time is out"


def test_an_empty_list_of_members_is_unknown_and_not_nobody() -> None:
    both = listing("private", ("U1", "U2"), "a", **BOTH)
    assert members(listing("private", (), "b", **BOTH)) == {}
    assert members(both, listing("private", (), "b", **BOTH)) == {"C1": frozenset({"U1", "U2"})}


def test_listings_of_one_night_count_who_is_in_all() -> None:
    captures = [listing("private", users, users[0], **BOTH) for users in (("U1", "U2"), ("U2", "U3"), ("U2",))]
    for order in permutations(captures):
        found = units([("2026-03-02", read(*order)[0])])
        assert slack.members(found["workspace:export"]) == {"C1": frozenset({"U2"})}
    apart = [listing("private", (user,), user, **BOTH) for user in ("U1", "U2")]
    found = units([("2026-03-02", read(*apart)[0])])
    assert slack.members(found["workspace:export"]) == {"C1": frozenset()}, "they contradict: nobody is in both"


def test_members_of_what_is_not_included_are_not_recorded() -> None:
    assert members(listing("private", ("U1",))) == {}
    found = units([("2026-03-02", read(export(MIXED, include=("public", "private", "dm")))[0])])
    assert slack.members(found["workspace:export"]) == {
        "C1": frozenset({"U1"}), "G1": frozenset({"U1"}), "G2": frozenset({"U1"}), "D1": frozenset({"U1", "U2"}),
    }  # fmt: skip


# --- the whole way ----------------------------------------------------------------------------------------------


def night(lake: Lake, settings: Settings, as_of: date) -> None:
    """Landing to events, as a run does it."""
    found = discover.captures(settings)
    plan = intake.plan(lake, as_of, found.captures, found.refusals, REDACTOR, lambda _: slack)
    intake.save(lake, plan)
    for day in plan.days:
        intake.apply_day(lake, day, intake.load(lake))
    intake.close(lake, plan)
    rows = event_days.scan_raw(lake)
    index, narrowed = rows.select(event_days.INDEX).collect(), visibility.narrowed(rows, settings.slack.include)
    inputs = event_days.Inputs(index, [], settings, as_of, narrowed, visibility.deleted_elsewhere(rows))
    event_days.derive_days(lake, event_days.stale_days(lake, inputs), inputs, lambda _: slack)


def write(folder: Path, files: dict[str, Any]) -> None:
    for name, value in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(value))


def texts(lake: Lake) -> list[tuple[str, str]]:
    return sorted(read_table(EVENTS, lake.days(EVENTS)).select("text", "audience").rows())


FOUR = {
    "channels.json": MIXED["channels.json"][:1],
    **{name: MIXED[name] for name in ("groups.json", "mpims.json", "dms.json")},
    **{f"{folder}/2026-03-02.json": [message(f"the {mark} plan")] for folder, mark in list(MARKS.items())[:4]},
}


def test_the_markers_of_three_conversations_are_nowhere(tmp_path: Path, capfd: Any, caplog: Any) -> None:
    """faults 19: a public and a private channel, a group conversation and a direct message, each with its marker."""
    write(tmp_path / "in", FOUR)
    lake = Lake(tmp_path / "lake")
    night(lake, Settings(team=Team("t"), sources=(Source("in"),), folder=str(tmp_path)), date(2026, 3, 20))
    assert texts(lake) == [("the heron plan", "team")]
    said = "".join(capfd.readouterr()) + caplog.text
    everything = said.encode() + b"".join(path.read_bytes() for path in lake.root.rglob("*") if path.is_file())
    everything += repr([read_table(QUARANTINE, lake.table(QUARANTINE)).rows(), texts(lake)]).encode()
    assert b"heron" in everything
    assert [mark for mark in ("walrus", "otter", "magpie") if mark.encode() in everything] == []
    books = read_table(INTAKE, lake.table(INTAKE)).row(0, named=True)
    assert (books["seen"], books["kept"], books["refused"]) == (8, 5, 3)
    assert json.loads(books["reasons"]) == {"private": 3}
    quarantined = read_table(QUARANTINE, lake.table(QUARANTINE))
    assert sorted(quarantined["detail"].str.extract(r"conversation (\w+);")) == ["D1", "G1", "G2"]


def test_a_channel_that_turned_private_is_withdrawn_from_the_lake(tmp_path: Path) -> None:
    """faults 19: what was said while it was public goes, or goes to its members alone."""
    public, private = Slack(("public",)), Slack(("public", "private"))
    for include, left in ((public, []), (private, [("the heron plan", "channel:C1")])):
        folder = tmp_path / str(len(left))
        write(folder / "in" / "1", {"channels.json": [PUBLIC]} | DAY)
        settings = Settings(team=Team("t"), sources=(Source("in"),), folder=str(folder), slack=include)
        lake = Lake(folder / "lake")
        night(lake, settings, date(2026, 3, 20))
        assert texts(lake) == [("the heron plan", "team")]
        write(folder / "in" / "2", {"groups.json": [PUBLIC | {"is_private": True}]} | DAY)
        night(lake, settings, date(2026, 3, 21))
        assert texts(lake) == left
