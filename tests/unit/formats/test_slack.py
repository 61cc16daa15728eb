from __future__ import annotations

import io
import json
import random
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from lorelake.formats import slack
from lorelake.formats.record import Capture, Event, Member, Record, Refusal, Unit, UnitRecord, canonical, in_order
from lorelake.formats.slack_markup import from_blocks, links, plain

REAL = Path(__file__).resolve().parents[4] / "shared" / "data" / "slack"
PUBLIC = {"id": "C1", "name": "deploys", "is_private": False, "members": ["U1"]}
ROOT = "1772442000.000100"


def export(files: dict[str, Any], name: str = "export", **settings: Any) -> Capture:
    """Values are written as JSON, bytes and text as they are."""
    members = []
    for path, content in files.items():
        text = content if isinstance(content, bytes | str) else json.dumps(content)
        data = text if isinstance(text, bytes) else text.encode()
        members.append(Member(path, len(data), lambda data=data: io.BytesIO(data)))
    return Capture(name, tuple(members), "0" * 64, **settings)


def deploys(*messages: Any, **settings: Any) -> Capture:
    return export({"channels.json": [PUBLIC], "deploys/2026-03-02.json": list(messages)}, **settings)


def message(text: str, ts: str = ROOT, user: str = "U1", **more: Any) -> dict[str, Any]:
    return {"type": "message", "user": user, "text": text, "ts": ts, **more}


def read(*captures: Capture) -> tuple[list[Record], list[Refusal]]:
    found = [one for capture in captures for one in slack.read(capture)]
    return [one for one in found if isinstance(one, Record)], [one for one in found if isinstance(one, Refusal)]


def units(nights: Iterable[tuple[str, list[Record]]]) -> dict[str, Unit]:
    """What raw makes of records: each version once, kept on the day it was first met."""
    kept: dict[str, dict[tuple[str, str], UnitRecord]] = {}
    for day, records in nights:
        for one in records:
            stored = UnitRecord(
                one.id, one.type, one.ts or datetime(2026, 1, 1, tzinfo=UTC), one.value, f"{one.member}:{one.line}", day
            )
            kept.setdefault(one.unit, {}).setdefault((one.id, canonical(one.value)), stored)
    return {unit: Unit("slack", f"slack:{unit}", in_order(found.values()), None, None) for unit, found in kept.items()}


def said(*nights: Capture) -> list[Event]:
    found = units((f"2026-03-{2 + number:02d}", read(night)[0]) for number, night in enumerate(nights))
    return sorted((event for unit in found.values() for event in slack.events(unit)), key=lambda event: event.ts)


def messages_of(records: list[Record]) -> list[Record]:
    return [one for one in records if one.type not in ("user", "channel")]


# --- identity, threads and time ---------------------------------------------------------------------------------


def test_a_reply_sent_to_the_channel_too_is_one_message_of_its_thread() -> None:
    broadcast = message(
        "Rollback is `make rollback`, never a revert.", "1772442060.000300", "U2",
        subtype="thread_broadcast", thread_ts=ROOT, root=message("How do we roll back?", thread_ts=ROOT),
    )  # fmt: skip
    capture = export(
        {
            "channels.json": [PUBLIC],
            "deploys/2026-03-02.json": [
                message("How do we roll back?", thread_ts=ROOT),
                message("Let me look", "1772442030.000200", "U2", thread_ts=ROOT),
                broadcast,
            ],
            "deploys/2026-03-03.json": [broadcast],
        }
    )
    events = said(capture)
    assert [event.text for event in events] == [
        "How do we roll back?",
        "Let me look",
        "Rollback is `make rollback`, never a revert.",
    ]
    assert [event.reply_to for event in events] == [None, f"C1:{ROOT}", f"C1:{ROOT}"]
    assert [event.attributes.get("broadcast") for event in events] == [None, None, True]


def test_a_reply_without_its_root_keeps_an_open_link() -> None:
    (event,) = said(deploys(message("Only on staging.", "1772442060.000300", thread_ts=ROOT)))
    assert (event.reply_to, event.attributes["thread_root"]) == (f"C1:{ROOT}", ROOT)


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


def test_timestamps_are_not_rounded() -> None:
    close = [message("a", "1772442000.000001"), message("b", "1772442000.000002"), message("c", "1772442000.1")]
    records = messages_of(read(deploys(*close))[0])
    assert [one.id for one in records] == ["C1:1772442000.000001", "C1:1772442000.000002", "C1:1772442000.1"]
    assert [one.ts.microsecond for one in records if one.ts] == [1, 2, 100000]


def test_a_bad_time_costs_one_message() -> None:
    text = json.dumps(
        [
            message("Freeze starts Friday."),
            {"type": "message", "user": "U1", "text": "when was this"},
            message("never", "x") | {"ts": float("nan")},
            message("From the partner's side: fine.", "1772442001.000000", "U-ELSEWHERE"),
            {"type": "message", "subtype": "bot_message", "username": "ship", "text": "v12 out", "ts": "1772442002.0"},
            message("zero", "0000000000.000000"),
            message("far", "999999999999.000000"),
        ]
    )
    assert "NaN" in text
    records, refusals = read(export({"channels.json": [PUBLIC], "deploys/2026-03-02.json": text}))
    assert [(one.reason, one.line) for one in refusals] == [
        ("no_time", 2), ("bad_time", 3), ("bad_time", 6), ("bad_time", 7),
    ]  # fmt: skip
    events = [event for unit in units([("2026-03-02", records)]).values() for event in slack.events(unit)]
    assert [(event.actor_alias, event.actor_class) for event in sorted(events, key=lambda event: event.ts)] == [
        ("U1", "human"), ("U-ELSEWHERE", "human"), ("bot:ship", "bot"),
    ]  # fmt: skip


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


# --- versions, edits and deletions ------------------------------------------------------------------------------


def test_the_newest_edit_is_what_was_said_in_any_order() -> None:
    first = message("Always squash.")
    edited = message("Always squash, except releases.", edited={"user": "U1", "ts": "1772445600.000000"})
    liked = edited | {"reactions": [{"name": "+1", "users": ["U2", "U3"], "count": 2}]}
    nights = [deploys(first), deploys(edited), deploys(liked)]
    for order in (nights, nights[::-1], [nights[1], nights[0], nights[2]]):
        (event,) = said(*order)
        assert event.text == "Always squash, except releases."
    (event,) = said(*nights)
    assert event.attributes["reactions"] == {"+1": 2}
    assert event.first_kept == "2026-03-03", "the words were first kept with the edit, not with the reaction"


def test_the_words_of_a_deleted_root_are_gone_and_its_replies_stay() -> None:
    reply = message("Agreed.", "1772442060.000300", "U2", thread_ts=ROOT)
    before = deploys(message("Never page on Sundays.", thread_ts=ROOT, reply_count=1), reply)
    gone = message("This message was deleted.", user="USLACKBOT", subtype="tombstone", hidden=True, thread_ts=ROOT)
    after = deploys(gone, reply)
    for nights in ([before, after], [after, before], [before, after, before]):
        events = said(*nights)
        assert [(event.kind, event.text, event.actor_class) for event in events] == [
            ("message_deleted", "", "system"),
            ("message", "Agreed.", "human"),
        ]


def test_api_shapes_of_change_and_deletion_belong_to_the_message() -> None:
    changed = {
        "type": "message", "subtype": "message_changed", "ts": "1772442100.000000", "channel": "C1",
        "message": message("Ship on Tuesdays.", edited={"user": "U1", "ts": "1772442100.000000"}),
        "previous_message": message("Ship on Mondays."),
    }  # fmt: skip
    (event,) = said(deploys(message("Ship on Mondays.")), deploys(changed))
    assert (event.text, event.record_id) == ("Ship on Tuesdays.", f"C1:{ROOT}")
    removed = {"type": "message", "subtype": "message_deleted", "ts": "1772442200.000000", "deleted_ts": ROOT}
    (event,) = said(deploys(message("Ship on Mondays.")), deploys(removed))
    assert (event.kind, event.text, event.record_id) == ("message_deleted", "", f"C1:{ROOT}")
    assert event.ts == datetime(2026, 3, 2, 9, 3, 20, tzinfo=UTC)


# --- who may read it --------------------------------------------------------------------------------------------

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
    records, refusals = read(export(MIXED))
    everything = json.dumps([one.value for one in records]) + json.dumps([one.head + one.detail for one in refusals])
    assert "heron" in everything
    for mark in ("walrus", "otter", "magpie", "lynx", "badger"):
        assert mark not in everything
    assert Counter(one.reason for one in refusals) == {"private": 5}
    assert all(one.head == "" and one.sha256 for one in refusals)
    kinds = Counter(one.detail.split(" conversation")[0].rpartition(" ")[2] for one in refusals)
    assert kinds == {"private": 3, "dm": 2}, "an unlisted folder and an unclear flag count as private"


def test_what_the_settings_include_carries_its_audience() -> None:
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


def test_a_channel_listed_as_public_and_as_group_is_private() -> None:
    capture = export(
        {
            "channels.json": [PUBLIC],
            "groups.json": [{"id": "C1", "name": "deploys", "members": []}],
            "deploys/2026-03-02.json": [message("was it?")],
        }
    )
    assert [one.reason for one in read(capture)[1]] == ["private"]


def test_an_official_channel_list_without_the_flag_is_public() -> None:
    old = {"id": "C1", "name": "deploys", "created": 1433558319, "members": [], "purpose": {"value": ""}}
    assert not read(export({"channels.json": [old], "deploys/2015-06-06.json": [message("hi")]}))[1]


def test_a_channel_that_turns_private_can_be_told() -> None:
    day = {"deploys/2026-03-02.json": [message("the heron plan")]}
    open_then = export({"channels.json": [PUBLIC], **day})
    closed_now = export({"groups.json": [PUBLIC | {"is_private": True, "topic": {"value": "walrus"}}], **day})
    later, refusals = read(closed_now)
    assert [one.reason for one in refusals] == ["private"]
    assert "walrus" not in json.dumps([one.value for one in later])
    nights = [("2026-03-02", read(open_then)[0]), ("2026-03-03", later)]
    for order in (nights, nights[::-1]):
        assert slack.kinds(units(order)["workspace:export"]) == {"C1": "private"}


def test_a_broken_list_of_private_conversations_shows_nothing() -> None:
    (refusal,) = read(export({"groups.json": b'[{"id": "G1", "name": "layoffs"'}))[1]
    assert (refusal.reason, refusal.head) == ("not_json", "")


# --- who speaks -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "alias", "actor_class", "kind"),
    [
        ({"user": "U1"}, "U1", "human", "message"),
        ({"user": "U1", "subtype": "me_message"}, "U1", "human", "message"),
        ({"user": "U1", "bot_id": None, "upload": False}, "U1", "human", "message"),
        ({"user": "U1", "bot_id": "B7"}, "U1", "bot", "message"),
        ({"subtype": "bot_message", "bot_id": "B7"}, "B7", "bot", "message"),
        ({"user": "USLACKBOT"}, "USLACKBOT", "bot", "message"),
        ({"user": "U1", "subtype": "channel_join"}, "U1", "system", "other"),
        ({"user": "U1", "subtype": "bot_add", "bot_id": "B7"}, "U1", "system", "other"),
        ({"user": "U1", "subtype": "something_new"}, "U1", "system", "other"),
        ({}, "unknown", "system", "message"),
    ],
)
def test_only_named_people_are_people(more: dict[str, Any], alias: str, actor_class: str, kind: str) -> None:
    (event,) = said(deploys({"type": "message", "text": "hello", "ts": ROOT, **more}))
    assert (event.actor_alias, event.actor_class, event.kind) == (alias, actor_class, kind)


# --- words ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stored", "seen"),
    [
        ("<@U1|ana> and <@U2>: see <#C1|deploys> <#C2> <#C3|>", "@ana and @U2: see #deploys #C2 #C3"),
        ("<https://ci.example/7|run 7> / <https://ci.example/8>", "run 7 / https://ci.example/8"),
        ("if a &lt; b &amp;&amp; c &gt; d", "if a < b && c > d"),
        ("he typed &amp;lt;", "he typed &lt;"),
        ("<!here> <!subteam^S1|@ops> <!subteam^S2> <!date^1392734382^{date}|Feb 18>", "@here @ops @S2 Feb 18"),
        ("run ```kubectl logs &lt;pod&gt;``` <not a token>", "run ```kubectl logs <pod>``` <not a token>"),
    ],
)
def test_markup_reads_as_it_was_seen(stored: str, seen: str) -> None:
    assert plain(stored) == seen


def test_links_keep_their_addresses() -> None:
    assert links("<https://a.example/?x=1&amp;y=2|a> <@U1> <https://a.example/?x=1&amp;y=2>") == [
        "https://a.example/?x=1&y=2"
    ]


def test_a_message_of_blocks_alone_has_its_words() -> None:
    section = {"type": "rich_text_section", "elements": [
        {"type": "text", "text": "Use "}, {"type": "link", "url": "https://a.example", "text": "pnpm"},
        {"type": "text", "text": ", not "}, {"type": "user", "user_id": "U2"}, {"type": "emoji", "name": "shrug"},
    ]}  # fmt: skip
    item = {"type": "rich_text_section", "elements": [{"type": "text", "text": "in CI"}]}
    blocks = [
        {"type": "rich_text", "elements": [section, {"type": "rich_text_list", "elements": [item]}]},
        {"type": "section", "text": {"type": "mrkdwn", "text": "a &lt; b"}},
    ]
    assert from_blocks(blocks) == "Use pnpm, not @U2:shrug:\n• in CI\na < b"
    for text in ("", "This content can't be displayed."):
        (event,) = said(deploys(message(text, blocks=blocks)))
        assert event.text.startswith("Use pnpm")


def test_an_upload_of_2015_says_only_what_its_author_wrote() -> None:
    stock = "<@U1|ana> uploaded a file: <https://a.example/f|plan.png> and commented: Lanes, not rows."
    file = {"name": "plan.png", "mimetype": "image/png", "size": 9, "initial_comment": {"comment": "Lanes, not rows."}}
    (event,) = said(deploys(message(stock, subtype="file_share", upload=True, file=file)))
    assert event.text == "Lanes, not rows."
    assert event.attributes["files"] == [{"name": "plan.png", "mimetype": "image/png", "size": 9}]


# --- layouts ----------------------------------------------------------------------------------------------------


def test_other_layouts_give_the_same_messages() -> None:
    root, reply = message("Root?", thread_ts=ROOT), message("Reply.", "1772442060.000300", thread_ts=ROOT)
    layouts = [
        export({"x/channels.json": [PUBLIC], "x/deploys/2026-03-02.json": [root, reply]}),
        export({"channels.json": [PUBLIC], "messages/C1/1.json": {"cursor": "", "messages": [root]},
                "threads/C1/1772442000.000100.json": [root, reply]}),
        export({"channels.json": [PUBLIC], "C1.json": {"channel_id": "C1", "name": "deploys",
                "messages": [root | {"slackdump_thread_replies": [root, reply]}]}}),
    ]  # fmt: skip
    for capture in layouts:
        assert [event.text for event in said(capture)] == ["Root?", "Reply."]


def test_loose_files_name_their_channel_and_count_as_private() -> None:
    loose = {"thread.json": [message("hi", channel_name="random")], "users.json": [{"id": "U1", "name": "ana"}]}
    records, refusals = read(export(loose))
    assert ([one.id for one in records], [one.reason for one in refusals]) == (["user:U1"], ["private"])
    records, refusals = read(export(loose, include=("public", "private")))
    assert [one.unit for one in messages_of(records)] == [f"random:{ROOT}"]
    assert not refusals


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
    files = dict(MIXED) | {"users.json": [{"id": "U1", "name": "ana", "profile": {}}]}
    once = said(export(files))
    names = list(files)
    random.Random(7).shuffle(names)
    assert said(export({name: files[name] for name in names}), export(files)) == once


# --- real exports -----------------------------------------------------------------------------------------------


def real(folder: str, **settings: Any) -> Capture:
    path = REAL / folder
    if not path.exists():
        pytest.skip("shared/data/slack is not here")
    files = sorted(one for one in path.rglob("*") if one.is_file())
    return export({str(one.relative_to(path)): one.read_bytes() for one in files}, path.name, **settings)


def counted(capture: Capture) -> int:
    """Entries of all lists, counted without the reader."""
    return sum(len(json.loads(member.read()) or []) for member in capture.members)


@pytest.mark.parametrize(
    ("folder", "kept", "refused"),
    [
        ("olake/run-2026-08-07T13-47-36", 555, 0),
        ("olake/run-2026-08-10T05-46-24", 274, 0),
        ("olake/run-2026-08-10T05-48-32", 281, 0),
        ("houstondatavis", 321, 0),
        ("zulip-fixtures/exported_messages", 3, 7),
    ],
)
def test_real_exports_close_their_books(folder: str, kept: int, refused: int) -> None:
    capture = real(folder)
    records, refusals = read(capture)
    assert (len(records), len(refusals)) == (kept, refused)
    assert len(records) + len(refusals) == counted(capture)


def test_three_runs_of_one_workspace_give_each_message_once() -> None:
    runs = ("run-2026-08-07T13-47-36", "run-2026-08-10T05-46-24", "run-2026-08-10T05-48-32")
    nights = [(f"2026-08-{7 + number:02d}", read(real(f"olake/{run}"))[0]) for number, run in enumerate(runs)]
    assert sum(len(messages_of(records)) for _, records in nights) == 315
    found = units(nights)
    threads = [unit for unit in found.values() if slack.events(unit)]
    assert sum(len(unit.records) for unit in threads) == 306, "305 messages, one of them in two versions"
    events = [event for unit in threads for event in slack.events(unit)]
    assert len(events) == len({event.record_id for event in events}) == 305
    assert Counter(event.actor_class for event in events) == {"human": 301, "bot": 2, "system": 2}
    assert {slack.facts(unit).audience for unit in threads} == {"team"}
