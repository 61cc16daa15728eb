"""Slack: what is one message, which thread it belongs to, in which layouts it lies, and what is refused alone."""

from __future__ import annotations

import json
import random
import sqlite3
from collections import Counter
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from slack_samples import PUBLIC, ROOT, deploys, export, message, messages_of, nights, raw, read, said, units

from lorelake.events.derive import derive
from lorelake.events.people import People
from lorelake.evidence import instructions
from lorelake.evidence.unit import EventRow, event_row
from lorelake.formats import slack, slack_export
from lorelake.formats.record import Capture
from lorelake.settings import Settings, Team

REPLY = "1772442060.000300"


def rows(*captures: Capture) -> list[EventRow]:
    """Events rows of captures that came one a night, with the speakers resolved."""
    settings = Settings(team=Team(id="t"))
    found, _ = derive(date(2026, 3, 2), nights(*captures).values(), lambda _: slack, People([]), settings, {})
    return [event_row(row) for row in found]


# --- identity, threads and time ---------------------------------------------------------------------------------


def with_broadcast() -> Capture:
    root = message("How do we roll back?", thread_ts=ROOT)
    shown = message(
        "Always roll back with `make rollback`, never with a revert.", REPLY, "U2",
        subtype="thread_broadcast", thread_ts=ROOT, root=root,
    )  # fmt: skip
    reply = message("Let me look", "1772442030.000200", "U3", thread_ts=ROOT)
    return export(
        {
            "channels.json": [PUBLIC],
            "deploys/2026-03-02.json": [root, reply, shown],
            "deploys/2026-03-03.json": [shown],
        }
    )


def test_a_reply_sent_to_the_channel_too_is_one_message_of_its_thread() -> None:
    """faults 14: a broadcast reply is one statement: three messages, two replies, one of them shown in the channel."""
    events = said(with_broadcast())
    assert [event.text for event in events] == [
        "How do we roll back?",
        "Let me look",
        "Always roll back with `make rollback`, never with a revert.",
    ]
    assert [event.reply_to for event in events] == [None, f"C1:{ROOT}", f"C1:{ROOT}"]
    assert [event.attributes.get("broadcast") for event in events] == [None, None, True]
    assert sorted(raw([with_broadcast()])["record_type"]) == ["channel", "message", "message", "thread_broadcast"]


def test_a_claim_in_a_broadcast_has_one_voter() -> None:
    """faults 14: what a broadcast claims was observed once, by one person."""
    events = rows(with_broadcast())
    found = instructions.extract(events)
    assert [signal.quote for signal in found] == ["Always roll back with `make rollback`, never with a revert."]
    assert [event.actor for event in events if event.event_id == found[0].event_id] == ["unknown:slack:U2"]


def test_a_reply_without_its_root_keeps_an_open_link() -> None:
    """faults 14: the root lies in an earlier day file, or nowhere; the reply stays, and is tied up when it comes."""
    reply = message("Only on staging.", REPLY, thread_ts=ROOT)
    (event,) = said(deploys(reply))
    assert (event.reply_to, event.attributes["thread_root"]) == (f"C1:{ROOT}", ROOT)
    (row,) = rows(deploys(reply))
    assert row.reply_to is None
    root, reply_row = rows(deploys(reply), deploys(message("Where?", thread_ts=ROOT)))
    assert reply_row.reply_to == root.event_id
    assert (reply_row.event_id, reply_row.unit_id) == (row.event_id, row.unit_id)


def test_the_day_file_a_message_lies_in_does_not_matter() -> None:
    late = message("Done a week later.", "1773046800.000001", thread_ts=ROOT)
    with_parent = deploys(message("Who does it?", thread_ts=ROOT), late)
    own_day = export(
        {
            "channels.json": [PUBLIC],
            "deploys/2026-03-02.json": [message("Who does it?", thread_ts=ROOT)],
            "deploys/2026-03-09.json": [late],
        }
    )
    keys = [sorted((one.unit, one.id, one.ts) for one in messages_of(read(one)[0])) for one in (with_parent, own_day)]
    assert keys[0] == keys[1]
    assert keys[0][1][0] == f"C1:{ROOT}"


def test_a_unit_tells_its_conversation_and_a_list_has_none() -> None:
    units_and_places = {"slack:C1:1772442000.000100": "C1", "slack:file:in/a.json:1772442000.1": "file:in/a.json"}
    units_and_places |= {"slack:people": None, "slack:workspace:T1": None, "slack:workspace:2026": None}
    assert {unit: slack.place_of(unit) for unit in units_and_places} == units_and_places


def test_an_entry_of_a_list_says_nothing_whatever_its_fields_are_called() -> None:
    capture = export(
        {"channels.json": [PUBLIC], "users.json": [{"id": "U1", "name": "ana", "message": {"text": "hi"}}]}
    )
    assert said(capture) == []
    assert {slack.facts(unit).audience for unit in nights(capture).values()} == {None}


def test_timestamps_are_not_rounded() -> None:
    close = [message("a", "1772442000.000001"), message("b", "1772442000.000002"), message("c", "1772442000.1")]
    records = messages_of(read(deploys(*close))[0])
    assert [one.id for one in records] == ["C1:1772442000.000001", "C1:1772442000.000002", "C1:1772442000.1"]
    assert [one.ts.microsecond for one in records if one.ts] == [1, 2, 100000]


# --- what is refused alone --------------------------------------------------------------------------------------


def test_one_odd_message_costs_no_other() -> None:
    """faults 18: of five messages three are kept, two are refused with reasons, and the order is right."""
    text = json.dumps(
        [
            {"type": "message", "subtype": "bot_message", "username": "ship", "text": "v12 out", "ts": "1772442002.0"},
            {"type": "message", "user": "U1", "text": "when was this"},
            message("never") | {"ts": float("nan")},
            message("From the partner's side: fine.", "1772442001.000000", "U-ELSEWHERE"),
            message("Freeze starts Friday."),
        ]
    )
    assert "NaN" in text
    capture = export({"channels.json": [PUBLIC], "deploys/2026-03-02.json": text})
    records, refusals = read(capture)
    assert [(one.reason, one.line) for one in refusals] == [("no_time", 2), ("bad_time", 3)]
    assert all(one.member == "deploys/2026-03-02.json" and one.detail and one.sha256 for one in refusals)
    assert len(messages_of(records)) == 3
    events = said(capture)
    assert [(event.text[:6], event.actor_alias, event.actor_class) for event in events] == [
        ("Freeze", "U1", "human"), ("From t", "U-ELSEWHERE", "human"), ("v12 ou", "bot:ship", "bot"),
    ]  # fmt: skip


def test_unknown_speakers_have_placeholders_that_stay_apart() -> None:
    """faults 18: a placeholder has the same id on every run and is nobody else."""
    strangers = [
        message("a", "1772442001.0", "U8"),
        message("b", "1772442002.0", "U9"),
        message("c", "1772442003.0", "U8"),
    ]
    bots = [
        {"type": "message", "subtype": "bot_message", "username": name, "text": "x", "ts": f"177244200{place}.0"}
        for place, name in enumerate(("ship", "ci", "ship"), 4)
    ]
    actors = [row.actor for row in sorted(rows(deploys(*strangers, *bots)), key=lambda row: row.ts)]
    assert actors == [
        "unknown:slack:U8", "unknown:slack:U9", "unknown:slack:U8",
        "unknown:slack:bot:ship", "unknown:slack:bot:ci", "unknown:slack:bot:ship",
    ]  # fmt: skip
    assert actors == [row.actor for row in sorted(rows(deploys(*bots, *strangers)), key=lambda row: row.ts)]


@pytest.mark.parametrize(
    "stated", ["x", "", "0000000000.000000", "999999999999.000000", "-5.0", float("inf"), 10**400, True, [], "１７７.0"]
)
def test_an_impossible_time_is_refused(stated: Any) -> None:
    text = json.dumps([message("never") | {"ts": stated}, message("fine")])
    records, refusals = read(export({"channels.json": [PUBLIC], "deploys/2026-03-02.json": text}))
    assert [one.reason for one in refusals] == ["bad_time"]
    assert len(messages_of(records)) == 1


def test_odd_records_are_refused_alone() -> None:
    day = b'["just text", {"ts": "1772442000.000100", "user": 7}, {"ts": "1772442001.0", "text": "\\ud83d"}, '
    day += b'{"ts": "1772442002.0", "user": "U1", "text": "kept"}]'
    capture = export(
        {"channels.json": [PUBLIC], "deploys/2026-03-02.json": day, "deploys/2026-03-03.json": b'[{"ts": "17724'}
    )
    records, refusals = read(capture)
    assert [one.reason for one in refusals] == ["wrong_shape", "wrong_shape", "lone_surrogate", "not_json"]
    assert [one.value["message"]["text"] for one in messages_of(records)] == ["kept"]
    assert "user" in refusals[1].detail


def test_odd_entries_of_lists_are_refused_alone() -> None:
    lists = {
        "channels.json": [PUBLIC, {"id": "C2", "name": ["no", "text"]}, {"name": "no id"}, 7],
        "users.json": [{"id": "U1", "name": {}}, {"id": ""}],
        "dms.json": {"not": "a list"},
    }
    records, refusals = read(export(lists))
    assert [one.id for one in records] == ["channel:C1", "channel:C2", "user:U1"]
    assert [(one.member, one.line, one.reason) for one in refusals] == [
        ("dms.json", 0, "wrong_shape"), ("channels.json", 3, "wrong_shape"), ("channels.json", 4, "wrong_shape"),
        ("users.json", 2, "wrong_shape"),
    ]  # fmt: skip


def test_names_that_cannot_be_stored_name_nobody() -> None:
    """Half a surrogate pair in a list costs that entry; what others say of it is kept."""
    half = "\ud800"
    lists = {
        "channels.json": [PUBLIC, {"id": half, "name": "ops"}, {"id": "C3", "name": half, "is_private": False}],
        "users.json": [{"id": "U2", "name": half, "team_id": half}],
    }
    files = {"deploys/2026-03-02.json": [message("<@U2> <#C3>")], "ops/2026-03-02.json": [message("a")]}
    dump = {"C9.json": {"channel_id": half, "messages": [message("b")]}, "x.json": [message("c", channel=half)]}
    dump["y.json"] = {"ok": False, "error": half}
    _, refusals = read(export(lists | files | dump))
    assert Counter(one.reason for one in refusals) == {"lone_surrogate": 3, "private": 3, "wrong_shape": 1}
    assert all(one.detail.encode() for one in refusals)
    assert [event.text for event in said(export(lists | files | dump))] == ["@U2 #C3"]


def test_a_file_above_the_limit_is_named_and_not_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slack, "MOST_BYTES", 400)
    files = {"channels.json": [PUBLIC], "deploys/2026-03-02.json": [message("x" * 400)]}
    records, refusals = read(export(files | {"deploys/2026-03-03.json": [message("small", REPLY)]}))
    assert [(one.reason, one.member) for one in refusals] == [("too_large", "deploys/2026-03-02.json")]
    assert "at most 400 is read" in refusals[0].detail
    assert len(refusals[0].sha256) == 64
    assert [one.id for one in messages_of(records)] == [f"C1:{REPLY}"]
    assert slack_export.MOST_BYTES == 128 * 1024**2


# --- layouts ----------------------------------------------------------------------------------------------------

ROOT_AND_REPLY = (message("Root?", thread_ts=ROOT), message("Reply.", REPLY, thread_ts=ROOT))


def layouts() -> dict[str, Capture]:
    root, reply = ROOT_AND_REPLY
    return {
        "official": export({"x/channels.json": [PUBLIC], "x/deploys/2026-03-02.json": [root, reply]}),
        "slackdump": export(
            {
                "channels.json": [PUBLIC], "groups.json": [], "mpims.json": None, "dms.json": [],
                "deploys/2026-03-02.json": [root, reply], "deploys/attachments/F1-plan.png": b"\x89PNG",
                "__avatars/U1/a.png": b"\x89PNG",
            }
        ),
        "pages": export(
            {
                "channels.json": [PUBLIC], "messages/C1/1.json": {"cursor": "", "messages": [root]},
                "threads/C1/1772442000.000100.json": [root, reply],
            }
        ),
        "answers": export(
            {
                "conversations.json": {"ok": True, "channels": [PUBLIC], "response_metadata": {}},
                "C1/history.json": {"ok": True, "messages": [root], "has_more": True, "response_metadata": {}},
                "C1/replies.json": {"ok": True, "messages": [root, reply], "has_more": False},
            }
        ),
        "dump": export(
            {
                "channels.json": [PUBLIC],
                "C1.json": {
                    "channel_id": "C1", "name": "deploys",
                    "messages": [root | {"slackdump_thread_replies": [root, reply]}],
                },
            }
        ),
        "by name": export({"channels.json": [PUBLIC], "deploys.json": [root, reply]}),
    }  # fmt: skip


@pytest.mark.parametrize("layout", list(layouts()))
def test_every_layout_gives_the_same_messages(layout: str) -> None:
    capture = layouts()[layout]
    assert [(event.record_id, event.text) for event in said(capture)] == [
        (f"C1:{ROOT}", "Root?"), (f"C1:{REPLY}", "Reply."),
    ]  # fmt: skip
    assert {slack.facts(unit).audience for unit in nights(capture).values() if slack.events(unit)} == {"team"}
    assert {one.reason for one in read(capture)[1]} <= {"unknown_format"}, "pictures only"


def test_users_and_names_beside_pages_are_read() -> None:
    capture = export(
        {
            "names.json": {"C1": "deploys", "U2": "ben", "U3": "cleo", "U4": 7},
            "users/U1.json": {"id": "U1", "name": "ana", "team_id": "T1", "profile": {"display_name": "Ana"}},
            "users/U2.json": {"ok": True, "user": {"id": "U2", "name": "ben", "profile": {"real_name": "Ben Ode"}}},
            "messages/C1/1.json": {"cursor": "", "messages": [message("<@U1> <@U2> <@U3> <@U4>, look")]},
        },
        include=("public", "private"),
    )
    records, refusals = read(capture)
    assert [(one.unit, one.id) for one in records if one.type in ("user", "name")] == [
        ("workspace:T1", "name:C1"), ("people", "name:U2"), ("people", "name:U3"), ("people", "user:U1"),
        ("people", "user:U2"),
    ]  # fmt: skip
    assert [(one.member, one.line, one.reason, one.head) for one in refusals] == [("names.json", 4, "wrong_shape", "")]
    assert [one.value for one in records if one.id == "name:C1"] == [{"id": "C1"}], "of unknown privacy"
    assert [event.text for event in said(capture)] == ["@Ana @Ben Ode @cleo @U4, look"]


def test_answers_that_failed_are_told() -> None:
    failed = {"ok": False, "error": "not_in_channel"}
    records, refusals = read(export({"channels.json": failed, "messages/C1/1.json": failed}))
    assert not records
    assert [(one.member, one.reason, "not_in_channel" in one.detail) for one in refusals] == [
        ("channels.json", "wrong_shape", True), ("messages/C1/1.json", "wrong_shape", True),
    ]  # fmt: skip


def test_slackdumps_database_is_refused_with_the_way_out(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "archive")) as database:
        database.execute("CREATE TABLE S_USER (ID TEXT)")
        database.commit()
    data = (tmp_path / "archive").read_bytes()
    assert slack.sniff("dump/any.db", data[:8192])
    assert slack.sniff("dump/slackdump.sqlite", b"SQLite format 3\x00" + b"\0" * 100)
    assert not slack.sniff("history.db", b"SQLite format 3\x00" + b"\0" * 100)
    records, (refusal,) = read(export({"dump/any.sqlite": data}))
    assert not records
    assert (refusal.reason, refusal.head) == ("unknown_format", "")
    assert "slackdump convert -f export" in refusal.detail


def test_replies_nested_without_end_are_read_one_by_one() -> None:
    deep: dict[str, Any] = message("0")
    for place in range(1, 60):
        deep = message(str(place), f"1772442{place:03}.0", slackdump_thread_replies=[deep])
    records, _ = read(export({"channels.json": [PUBLIC], "C1.json": {"channel_id": "C1", "messages": [deep]}}))
    assert len(messages_of(records)) == 60


def test_loose_files_name_their_channel_and_count_as_private() -> None:
    loose = {"thread.json": [message("hi", channel_name="random")], "users.json": [{"id": "U1", "name": "ana"}]}
    records, refusals = read(export(loose))
    assert ([one.id for one in records], [one.reason for one in refusals]) == (["user:U1"], ["private"])
    records, refusals = read(export(loose, include=("public", "private")))
    assert [one.unit for one in messages_of(records)] == [f"random:{ROOT}"]
    assert not refusals


def test_loose_lists_are_known_by_their_content() -> None:
    """A list that a client wrote has any name; a channel in it is public only if it says so itself."""
    channels = [
        {"id": "C1", "name": "a", "is_channel": True, "is_private": False},
        {"id": "C2", "name": "b", "topic": {}},
    ]
    users = [{"id": "U1", "name": "ana", "profile": {}}]
    for name, content, found in (
        ("in/list.json", {"ok": True, "channels": channels}, ["public", "private"]),
        ("in/all.json", channels, ["public", "private"]),
        ("in/people.json", {"ok": True, "members": users}, ["user:U1"]),
        ("in/people.json", users, ["user:U1"]),
    ):
        records, refusals = read(export({name: content}, name))
        assert not refusals
        assert [one.value.get("conversation", {}).get("kind", one.id) for one in records] == found


def test_loose_files_of_two_unnamed_conversations_share_no_audience() -> None:
    pages = [
        export({name: {"ok": True, "messages": [message("hi")], "has_more": False}}, name, include=("private",))
        for name in ("in/a.json", "in/b/b.json", "in/C0123456789.json", "in/b/D0123456789-1772442000.000100.json")
    ]
    found = {slack.facts(unit).audience for unit in nights(*pages).values()}
    assert found == {
        "channel:file:in/a.json", "channel:file:in/b/b.json", "channel:C0123456789", "channel:D0123456789",
    }  # fmt: skip


def test_parts_that_are_not_read_are_named_once() -> None:
    parts = {"integration_logs.json": [{"user_id": "U1", "change_type": "added"}], "deploys/plan.png": b"\x89PNG"}
    refusals = read(export({"channels.json": [PUBLIC], **parts}))[1]
    assert [(one.reason, one.member) for one in refusals] == [
        ("unknown_format", "deploys/plan.png"),
        ("unknown_format", "integration_logs.json"),
    ]


def test_empty_exports_are_fine() -> None:
    assert read(export({"channels.json": [], "groups.json": b"null", "users.json": []})) == ([], [])


@pytest.mark.parametrize(
    ("head", "ours"),
    [
        (json.dumps([message("hi")]), True),
        (json.dumps([PUBLIC]), True),
        (json.dumps([{"id": "U1", "name": "ana", "profile": {"email": "a@example.com"}}]), True),
        (json.dumps({"ok": True, "messages": [message("hi")], "has_more": False}), True),
        (json.dumps({"ok": True, "channels": [PUBLIC]}), True),
        ('[{"client_msg_id": "x", "type": "message", "text": "' + "long {[" * 2000, False),
        ('[{"ts": "1772442000.000100", "text": "' + "cut off {[" * 2000, True),
        ('{"type":"user","uuid":"1"}\n{"type":"assistant"}\n', False),
        ('[{"id": 1, "pull_request_url": "https://api.example/pulls/1", "user": {}}]', False),
        ("# A page", False),
        ("[]", False),
    ],
)
def test_content_tells_what_is_slack(head: str, ours: bool) -> None:
    assert slack.sniff("anything.json", head.encode()[:8192]) is ours


def test_the_order_of_files_and_doubled_input_change_nothing() -> None:
    files = {
        "channels.json": [PUBLIC], "users.json": [{"id": "U1", "name": "ana", "profile": {}}],
        "deploys/2026-03-02.json": [*ROOT_AND_REPLY, message("<@U1>?", "1772442090.0")],
        "deploys/2026-03-03.json": [ROOT_AND_REPLY[1]],
    }  # fmt: skip
    once = said(export(files))
    assert len(once) == 3
    names = list(files)
    random.Random(7).shuffle(names)
    shuffled = export({name: files[name] for name in names})
    assert repr(units([("2026-03-02", read(shuffled, export(files))[0])])) == repr(nights(export(files)))
    assert said(shuffled, export(files)) == once
