"""Slack: real exports with closed books, and what no order, cut or damage of the input may do."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from itertools import permutations
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slack_samples import REAL, ROOT, RUNS, deploys, export, folded, message, messages_of, raw, read, rows_of, units

from lorelake.formats import slack
from lorelake.formats.record import REASONS, Capture, Record, Refusal


def real(folder: str, **more: Any) -> Capture:
    path = REAL / folder
    if not path.exists():
        pytest.skip("shared/data/slack is not here")
    files = sorted(one for one in path.rglob("*") if one.is_file())
    return export({str(one.relative_to(path)): one.read_bytes() for one in files}, path.name, **more)


def counted(capture: Capture) -> int:
    """Entries of all lists, counted without the reader."""
    return sum(len(json.loads(member.read()) or []) for member in capture.members)


# --- real exports -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("folder", "kept", "refused"),
    [
        (f"olake/{RUNS[0]}", 555, 0),
        (f"olake/{RUNS[1]}", 274, 0),
        (f"olake/{RUNS[2]}", 281, 0),
        ("houstondatavis", 321, 0),
        ("zulip-fixtures/exported_messages", 3, 7),
    ],
)
def test_real_exports_close_their_books(folder: str, kept: int, refused: int) -> None:
    capture = real(folder)
    records, refusals = read(capture)
    assert (len(records), len(refusals)) == (kept, refused)
    assert len(records) + len(refusals) == counted(capture)


def test_three_runs_of_one_workspace_give_each_message_once_in_any_order() -> None:
    runs = [real(f"olake/{run}") for run in RUNS]
    assert sum(len(messages_of(read(run)[0])) for run in runs) == 315
    parts = [rows_of(run) for run in runs]
    rows = folded(parts)
    told = rows.filter(~pl.col("record_type").is_in(["user", "channel"]))
    assert (told.height, told["record_id"].n_unique()) == (306, 305)
    assert Counter(rows["record_type"]) == {
        "message": 303, "user": 260, "channel": 5, "thread_broadcast": 1, "bot_add": 1, "bot_remove": 1,
    }  # fmt: skip
    for order in permutations(parts):
        assert folded([*order, order[0]]).equals(rows)


def test_the_one_message_that_changed_between_runs_is_shown_as_it_stood_last() -> None:
    """Its replies and reactions came between the runs; nobody's words changed."""
    runs = [read(real(f"olake/{run}"))[0] for run in RUNS]
    changed = {"reactions": {"eyes": 2}, "reply_count": 6}
    for order in permutations(runs):
        night = [record for records in order for record in records]
        found = units([("2026-08-10", night)])
        twice = [
            (unit, n) for unit in found.values() for n in Counter(one.id for one in unit.records).items() if n[1] > 1
        ]
        ((unit, (record_id, versions)),) = twice
        assert versions == 2
        (event,) = (event for event in slack.events(unit) if event.record_id == record_id)
        assert event.attributes["reactions"] == changed["reactions"]
        assert sum(1 for event in slack.events(unit) if event.reply_to == record_id) == changed["reply_count"]


def test_real_threads_read_as_they_were_said() -> None:
    nights = [(f"2026-08-{7 + number:02d}", read(real(f"olake/{run}"))[0]) for number, run in enumerate(RUNS)]
    found = units(nights)
    threads = [unit for unit in found.values() if slack.events(unit)]
    events = [event for unit in threads for event in slack.events(unit)]
    assert len(events) == len({event.record_id for event in events}) == 305
    assert Counter(event.actor_class for event in events) == {"human": 301, "bot": 2, "system": 2}
    assert Counter(event.reply_to is None for event in events) == {False: 236, True: 69}
    assert sum(1 for event in events if event.attributes.get("broadcast")) == 1
    assert {slack.facts(unit).audience for unit in threads} == {"team"}
    assert not [event for event in events if "<@" in event.text or "&amp;" in event.text or "&lt;" in event.text]
    known = {record.value["id"] for record in found["people"].records}
    mentioned = [(event.text, name) for event in events for name in known if f"@{name}" in event.text]
    assert not mentioned, "whoever is on the list is shown by name"


def test_real_lists_tell_who_is_in_a_channel() -> None:
    found = units([("2026-08-07", read(real(f"olake/{RUNS[0]}"))[0])])
    (workspace,) = (unit for name, unit in found.items() if name.startswith("workspace:"))
    assert set(slack.kinds(workspace).values()) == {"public"}
    assert {len(users) for users in slack.members(workspace).values()} == {40}


# --- any input --------------------------------------------------------------------------------------------------

TEXTS = st.sampled_from(["Use pnpm.", "<@U1> &lt;b&gt;", "", "This message was deleted.", "日本語で"])
TIMES = st.sampled_from([ROOT, "1772442060.000300", "1772442090.1", "1772442090.100000", "1772450000"])
MESSAGES = st.fixed_dictionaries(
    {"ts": TIMES, "text": TEXTS},
    optional={
        "user": st.sampled_from(["U1", "U2", "USLACKBOT"]),
        "thread_ts": TIMES,
        "subtype": st.sampled_from(["tombstone", "thread_broadcast", "bot_message", "message_deleted", "channel_join"]),
        "edited": st.fixed_dictionaries({"user": st.just("U1"), "ts": TIMES}),
        "reactions": st.lists(st.fixed_dictionaries({"name": st.just("+1"), "count": st.integers(0, 3)}), max_size=1),
    },
)
DAYS = st.lists(st.lists(MESSAGES, max_size=5), min_size=1, max_size=4)


@settings(max_examples=60, deadline=None)
@given(DAYS, st.randoms(use_true_random=False))
def test_any_order_and_any_number_of_times_gives_the_same_rows(days: list[list[Any]], shuffle: random.Random) -> None:
    captures = [deploys(*day) for day in days]
    again = [*captures, shuffle.choice(captures)]
    shuffle.shuffle(again)
    rows = raw(captures)
    assert raw(again).equals(rows)
    found, mixed = (units([("2026-03-02", read(*one)[0])]) for one in (captures, again))
    for name, unit in found.items():
        said = {event.record_id: event for event in slack.events(unit)}
        assert len(said) == len(slack.events(unit))
        for event in slack.events(mixed[name]):
            before = said.pop(event.record_id)
            assert (event.kind, event.text, event.attributes) == (before.kind, before.text, before.attributes)
        assert not said


DAY = json.dumps(
    [message("Freeze <@U1> &amp; co.", thread_ts=ROOT), message("日本", "1772442060.0", "U2", thread_ts=ROOT)],
    ensure_ascii=False,
).encode()
FILES: dict[str, bytes] = {
    "channels.json": json.dumps([{"id": "C1", "name": "deploys", "is_private": False, "members": ["U1"]}]).encode(),
    "groups.json": json.dumps([{"id": "G1", "name": "reorg", "members": ["U1"]}]).encode(),
    "users.json": json.dumps([{"id": "U1", "name": "ana", "profile": {"display_name": "Ana"}}]).encode(),
    "deploys/2026-03-02.json": DAY,
    "deploys/2026-03-03.json": json.dumps([message("Thaw.", "1772542060.0")]).encode(),
    "reorg/2026-03-02.json": json.dumps([message("walrus")]).encode(),
}


def whole(capture: Capture) -> Sequence[Record | Refusal]:
    """Everything a capture gives, with what every stage after it makes of it."""
    found = list(slack.read(capture))
    assert all(one.reason in REASONS for one in found if isinstance(one, Refusal))
    for name, unit in units([("2026-03-02", [one for one in found if isinstance(one, Record)])]).items():
        slack.events(unit)
        if name.startswith("workspace:"):
            slack.kinds(unit)
            slack.members(unit)
        else:
            slack.facts(unit)
    return found


@pytest.mark.parametrize("name", list(FILES))
def test_a_file_cut_anywhere_costs_that_file_alone(name: str) -> None:
    """At each of the last 200 bytes."""
    others = {key: value for key, value in FILES.items() if key != name}
    data = FILES[name]
    for length in range(max(0, len(data) - 200), len(data)):
        found = whole(export(others | {name: data[:length]}))
        refused = [one for one in found if isinstance(one, Refusal) and one.reason != "private"]
        assert [(one.member, one.reason in ("not_json", "not_utf8", "empty")) for one in refused] == [(name, True)]
        assert "walrus" not in repr([one.value for one in found if isinstance(one, Record)])
        if not name.startswith("deploys/2026-03-03") and name != "channels.json":
            assert [one for one in found if isinstance(one, Record) and one.id == "C1:1772542060.0"]


@pytest.mark.parametrize("name", list(FILES))
def test_damaged_bytes_never_stop_the_reader_nor_show_what_is_private(name: str) -> None:
    dice = random.Random(name)
    for _ in range(300):
        data = bytearray(FILES[name])
        for _ in range(dice.randint(1, 4)):
            place = dice.randrange(len(data))
            if dice.random() < 0.3:
                del data[place]
            else:
                data[place] = dice.choice(b'\x00\xff"[]{}:,\\0179eEnul-.<>@#|' + bytes([dice.randrange(256)]))
        found = whole(export(FILES | {name: bytes(data)}))
        assert "walrus" not in repr([one.value for one in found if isinstance(one, Record)])
        assert any(isinstance(one, Record) for one in found)


def test_nesting_costs_one_message() -> None:
    """Up to where the decoder itself gives up; just below that the encoder does."""
    for levels in (400, 5000, *range(900, 1000)):
        deep = b'{"ts": "1772442060.0", "user": "U1", "text": "x", "blocks": ' + b"[" * levels + b"]" * levels + b"}"
        day = b"[" + json.dumps(message("kept")).encode() + b"," + deep + b"]"
        files = {"channels.json": FILES["channels.json"], "deploys/2026-03-02.json": day}
        for include in (("public",), ("private",)):
            refused = [one.reason for one in whole(export(files, include=include)) if isinstance(one, Refusal)]
            assert refused in (["wrong_shape"], ["not_json"], ["private", "private"])


def test_replies_nested_in_replies_stop_nothing() -> None:
    deep: dict[str, Any] = message("0", "1772442000.0")
    for place in range(1, 300):
        deep = message(str(place), f"{1772442000 + place}.0", slackdump_thread_replies=[deep])
    page = {"channel_id": "C1", "messages": [deep, message("after", "1772452000.0")]}
    found = whole(export({"channels.json": FILES["channels.json"], "C1.json": page}))
    assert len(messages_of([one for one in found if isinstance(one, Record)])) == 301
