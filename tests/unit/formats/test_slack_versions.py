"""Slack: edits, deletions and placeholders as versions of one message, in any order of captures."""

from __future__ import annotations

from datetime import UTC, date, datetime
from itertools import permutations
from typing import Any

import pytest
from slack_samples import PUBLIC, ROOT, deploys, export, message, nights, raw, said

from lorelake.events.derive import derive
from lorelake.events.people import People
from lorelake.evidence import decisions_said, instructions
from lorelake.evidence.unit import event_row
from lorelake.formats import slack
from lorelake.formats.record import Capture
from lorelake.settings import Settings, Team

RULE = "Never page people on Sundays, because nobody can deploy then."
STOCK = "This message was deleted."
REPLIES = (
    message("Agreed.", "1772442060.000300", "U2", thread_ts=ROOT),
    message("Same here.", "1772442090.000300", "U3", thread_ts=ROOT),
)
STATED = deploys(message(RULE, thread_ts=ROOT, reply_count=2), *REPLIES)
PLACEHOLDER = {
    "type": "message", "subtype": "tombstone", "user": "USLACKBOT", "hidden": True, "text": STOCK, "ts": ROOT,
    "thread_ts": ROOT, "reply_count": 2, "reply_users": ["U2", "U3"],
}  # fmt: skip
REMOVED = deploys(PLACEHOLDER, *REPLIES)


def signals(*captures: Capture) -> list[str]:
    """Quotes that evidence draws from captures that came one a night."""
    settings = Settings(team=Team(id="t"))
    rows, _ = derive(date(2026, 3, 2), nights(*captures).values(), lambda _: slack, People([]), settings, {})
    events = [event_row(row) for row in rows]
    return [signal.quote for extractor in (instructions, decisions_said) for signal in extractor.extract(events)]


# --- edits ------------------------------------------------------------------------------------------------------


def test_the_newest_edit_is_what_was_said_in_any_order() -> None:
    first = message("Always squash.")
    edited = message("Always squash, except releases.", edited={"user": "U1", "ts": "1772445600.000000"})
    liked = edited | {"reactions": [{"name": "+1", "users": ["U2", "U3"], "count": 2}]}
    captures = [deploys(first), deploys(edited), deploys(liked)]
    for order in permutations(captures):
        (event,) = said(*order)
        assert event.text == "Always squash, except releases."
        assert raw(order).equals(raw(captures))
    (event,) = said(*captures)
    assert event.attributes["reactions"] == {"+1": 2}
    assert event.first_kept == "2026-03-03", "the words were first kept with the edit, not with the reaction"


@pytest.mark.parametrize("odd", ["²", "1" * 5000, 7.5, None, [], {"ts": 1}, "soon"])
def test_an_odd_time_of_an_edit_counts_as_none(odd: Any) -> None:
    (event,) = said(deploys(message("Squash.", edited={"user": "U1", "ts": odd})))
    assert (event.text, event.attributes["edited"]) == ("Squash.", True)
    (event,) = said(deploys(message("Squash.", edited=odd)))
    assert event.text == "Squash."


def test_api_shapes_of_change_belong_to_the_message() -> None:
    changed = {
        "type": "message", "subtype": "message_changed", "ts": "1772442100.000000", "channel": "C1", "hidden": True,
        "message": message("Ship on Tuesdays.", edited={"user": "U1", "ts": "1772442100.000000"}),
        "previous_message": message("Ship on Mondays."),
    }  # fmt: skip
    for order in permutations([deploys(message("Ship on Mondays.")), deploys(changed)]):
        (event,) = said(*order)
        assert (event.text, event.record_id, event.attributes["edited"]) == ("Ship on Tuesdays.", f"C1:{ROOT}", True)
    replied = {"type": "message", "subtype": "message_replied", "ts": "1772442300.0", "message": message("Ship?")}
    (event,) = said(deploys(replied))
    assert (event.text, event.record_id, event.kind, event.actor_alias) == ("Ship?", f"C1:{ROOT}", "message", "U1")


# --- deletions --------------------------------------------------------------------------------------------------


def test_the_words_of_a_deleted_root_are_gone_and_its_replies_stay() -> None:
    """faults 16: after export 2 the rule is nowhere, its replies stay; export 1 again revives nothing."""
    for order in ([STATED, REMOVED], [REMOVED, STATED], [STATED, REMOVED, STATED], [REMOVED, STATED, REMOVED]):
        events = said(*order)
        assert [(event.kind, event.text, event.actor_alias, event.actor_class) for event in events] == [
            ("message_deleted", "", "unknown", "system"),
            ("message", "Agreed.", "U2", "human"),
            ("message", "Same here.", "U3", "human"),
        ]
        assert [event.reply_to for event in events] == [None, f"C1:{ROOT}", f"C1:{ROOT}"]
        assert not any(word in repr(events) for word in ("Sundays", STOCK))


def test_evidence_forgets_what_was_deleted() -> None:
    """faults 16: a deleted message is a witness of nothing."""
    assert signals(STATED) == [RULE]
    assert signals(STATED, REMOVED) == signals(REMOVED, STATED) == signals(REMOVED) == []


def test_a_placeholder_alone_is_never_content() -> None:
    """faults 16: the stock sentence is nobody's words, whoever is named as its author and however it is wrapped."""
    bare = {"type": "message", "user": "USLACKBOT", "hidden": True, "text": STOCK, "ts": ROOT}
    named = message(STOCK, subtype="tombstone")
    wrapped = {"type": "message", "subtype": "message_changed", "ts": "1772442100.0", "message": named}
    for one in (bare, named, wrapped, PLACEHOLDER):
        (event,) = said(deploys(one))
        assert (event.kind, event.text, event.actor_class) == ("message_deleted", "", "system")
        (event,) = said(deploys(one), STATED)[:1]
        assert (event.kind, event.text) == ("message_deleted", "")


def test_an_event_of_deletion_takes_the_message_with_it() -> None:
    removed = {"type": "message", "subtype": "message_deleted", "ts": "1772442200.000000", "deleted_ts": ROOT}
    with_words = removed | {"previous_message": message("Ship on Mondays.")}
    for deletion in (removed, with_words):
        for order in permutations([deploys(message("Ship on Mondays.")), deploys(deletion)]):
            (event,) = said(*order)
            assert (event.kind, event.text, event.record_id) == ("message_deleted", "", f"C1:{ROOT}")
            assert event.ts == datetime(2026, 3, 2, 9, 0, 0, 100, tzinfo=UTC), "the place of the message"
            assert event.attributes["deleted_at"] == "2026-03-02T09:03:20+00:00"
            assert "Mondays" not in repr(event)


def test_a_deletion_that_names_no_message_deletes_none() -> None:
    nameless = {"type": "message", "subtype": "message_deleted", "ts": ROOT}
    (event,) = said(deploys(message("Ship on Mondays."), nameless))
    assert event.text == "Ship on Mondays."


def test_a_reply_deleted_with_its_message_told_is_gone_from_its_thread() -> None:
    removed = {
        "type": "message", "subtype": "message_deleted", "ts": "1772442200.0", "deleted_ts": REPLIES[0]["ts"],
        "previous_message": REPLIES[0],
    }  # fmt: skip
    assert [(event.kind, event.text) for event in said(STATED, deploys(removed))] == [
        ("message", RULE), ("message_deleted", ""), ("message", "Same here."),
    ]  # fmt: skip


def test_a_message_that_is_missing_from_a_later_export_stays() -> None:
    assert [event.text for event in said(STATED, deploys(REPLIES[0]))] == [RULE, "Agreed.", "Same here."]


# --- names of people and channels -------------------------------------------------------------------------------


def people(*users: dict[str, Any], text: str = "Ask <@U2> in <#C1> or <#G1|layoffs>.") -> Capture:
    lists = {"groups.json": [{"id": "G1", "name": "layoffs", "members": []}], "users.json": list(users)}
    return export({"channels.json": [PUBLIC], "deploys/2026-03-02.json": [message(text)], **lists})


BEN = {"id": "U2", "name": "ben", "real_name": "Ben Ode", "profile": {"display_name": "", "real_name": "Ben Ode"}}


def test_whoever_is_mentioned_has_a_name() -> None:
    """A channel that is not public has none: its name would come from a narrower audience."""
    (event,) = said(people(BEN))
    assert event.text == "Ask @Ben Ode in #deploys or #G1."
    (event,) = said(people(BEN, text="<@U2> <@U9>"))
    assert event.text == "@Ben Ode @U9", "who is on no list keeps the id"
    for user, name in (
        ({"id": "U2", "name": "ben"}, "ben"),
        (BEN | {"profile": {"display_name": " Benno ", "real_name": "Ben Ode"}}, "Benno"),
        (BEN | {"profile": None}, "Ben Ode"),
        ({"id": "U2", "name": None}, "U2"),
    ):
        assert said(people(user, text="<@U2>"))[0].text == f"@{name}"


def test_blocks_resolve_names_too() -> None:
    pieces = [
        {"type": "user", "user_id": "U2"},
        {"type": "text", "text": " in "},
        {"type": "channel", "channel_id": "C1"},
    ]
    blocks = [{"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": pieces}]}]
    files = {"channels.json": [PUBLIC], "users.json": [BEN]}
    (event,) = said(export(files | {"deploys/2026-03-02.json": [message("", blocks=blocks)]}))
    assert event.text == "@Ben Ode in #deploys"


def test_a_new_name_changes_nobodys_words() -> None:
    """Renamed users are one person, and a quote that names them stays the quote it was."""
    renamed = BEN | {"profile": {"display_name": "Ben (away)"}}
    (event,) = said(people(BEN), people(renamed))
    assert (event.text, event.first_kept) == ("Ask @Ben Ode in #deploys or #G1.", "2026-03-02")
    (event,) = said(people(), people(BEN), people(renamed))
    assert event.text == "Ask @Ben Ode in #deploys or #G1.", "a list that came later still tells"
    for order in permutations([people(BEN), people(renamed), people()]):
        assert raw(order).equals(raw([people(BEN), people(renamed), people()]))


def test_the_speaker_has_the_newest_name() -> None:
    old = message("hi", user_profile={"display_name": "ana", "real_name": "Ana Sol"})
    new = message("hi", user_profile={"display_name": "Ana S.", "real_name": "Ana Sol"})
    (event,) = said(deploys(old), deploys(new))
    assert (event.actor_alias, event.attributes["name"], event.first_kept) == ("U1", "Ana S.", "2026-03-02")
