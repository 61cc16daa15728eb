"""Slack: who speaks, and which words are theirs."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from slack_samples import PUBLIC, deploys, export, message, raw, read, said

from lorelake.events.derive import units_of
from lorelake.formats import slack
from lorelake.formats.slack_markup import from_blocks, links, plain


@pytest.mark.parametrize(
    ("more", "alias", "actor_class", "kind"),
    [
        ({"user": "U1"}, "U1", "human", "message"),
        ({"user": "U1", "subtype": "me_message"}, "U1", "human", "message"),
        ({"user": "U1", "bot_id": None, "upload": False}, "U1", "human", "message"),
        ({"user": "U1", "bot_id": "B7"}, "U1", "bot", "message"),
        ({"subtype": "bot_message", "bot_id": "B7"}, "B7", "bot", "message"),
        ({"subtype": "bot_message", "username": "ship"}, "bot:ship", "bot", "message"),
        ({"subtype": "bot_message"}, "unknown", "bot", "message"),
        ({"user": "USLACKBOT"}, "USLACKBOT", "bot", "message"),
        ({"user": "U1", "subtype": "channel_join"}, "U1", "system", "other"),
        ({"user": "U1", "subtype": "bot_add", "bot_id": "B7"}, "U1", "system", "other"),
        ({"user": "U1", "subtype": "something_new"}, "U1", "system", "other"),
        ({}, "unknown", "system", "message"),
    ],
)
def test_only_named_people_are_people(more: dict[str, Any], alias: str, actor_class: str, kind: str) -> None:
    (event,) = said(deploys({"type": "message", "text": "hello", "ts": "1772442000.0", **more}))
    assert (event.actor_alias, event.actor_class, event.kind) == (alias, actor_class, kind)


# --- markup -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stored", "seen"),
    [
        ("<@U1|ana> and <@U2>: see <#C1|deploys> <#C2> <#C3|>", "@ana and @U2: see #deploys #C2 #C3"),
        ("<https://ci.example/7|run 7> / <https://ci.example/8>", "run 7 / https://ci.example/8"),
        ("if a &lt; b &amp;&amp; c &gt; d", "if a < b && c > d"),
        ("he typed &amp;lt;", "he typed &lt;"),
        ("<!here> <!subteam^S1|@ops> <!subteam^S2> <!date^1392734382^{date}|Feb 18>", "@here @ops @S2 Feb 18"),
        ("<!channel> <!everyone|everyone>", "@channel @everyone"),
        ("run ```kubectl logs &lt;pod&gt;``` <not a token>", "run ```kubectl logs <pod>``` <not a token>"),
    ],
)
def test_markup_reads_as_it_was_seen(stored: str, seen: str) -> None:
    assert plain(stored) == seen


def test_names_go_before_labels_and_an_empty_one_hides_them() -> None:
    names = {"U1": "Ana", "C1": "", "C2": "ops & co"}
    assert plain("<@U1> <@U1|old> <#C1|layoffs> <#C2> <#C3|other>", names) == "@Ana @Ana #C1 #ops & co #other"


def test_links_keep_their_addresses() -> None:
    assert links("<https://a.example/?x=1&amp;y=2|a> <@U1> <https://a.example/?x=1&amp;y=2>") == [
        "https://a.example/?x=1&y=2"
    ]


SECTION = {
    "type": "rich_text_section",
    "elements": [
        {"type": "text", "text": "Use "}, {"type": "link", "url": "https://a.example", "text": "pnpm"},
        {"type": "text", "text": ", not "}, {"type": "user", "user_id": "U2"}, {"type": "emoji", "name": "shrug"},
    ],
}  # fmt: skip


def test_a_message_of_blocks_alone_has_its_words() -> None:
    item = {"type": "rich_text_section", "elements": [{"type": "text", "text": "in CI"}]}
    quote = {"type": "rich_text_quote", "elements": [{"type": "text", "text": "npm\nis fine"}]}
    code = {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": "pnpm i"}]}
    blocks = [
        {"type": "rich_text", "elements": [SECTION, {"type": "rich_text_list", "elements": [item]}, quote, code]},
        {"type": "section", "text": {"type": "mrkdwn", "text": "a &lt; b"}},
    ]
    assert from_blocks(blocks) == "Use pnpm, not @U2:shrug:\n• in CI\n> npm\n> is fine\n```pnpm i```\na < b"
    without = {key: value for key, value in message("", blocks=blocks).items() if key != "text"}
    for one in (message("", blocks=blocks), message("This content can't be displayed.", blocks=blocks), without):
        (event,) = said(deploys(one))
        assert event.text.startswith("Use pnpm")


@pytest.mark.parametrize(
    "blocks",
    [
        7, [7], [{"type": []}], [{"type": "rich_text", "elements": [{"elements": [{"type": ["text"], "text": "x"}]}]}],
        [{"type": "rich_text", "elements": [{"type": "rich_text_list", "indent": 10**12, "elements": [{}]}]}],
        [{"type": "section", "text": {"type": [], "text": "x"}}],
    ],
)  # fmt: skip
def test_odd_blocks_cost_nothing(blocks: Any) -> None:
    assert len(from_blocks(blocks)) < 50
    (event,) = said(deploys(message("kept", blocks=blocks)))
    assert event.text == "kept"


def test_what_a_link_shows_is_not_what_the_person_said() -> None:
    preview = [{"title": "Always use tabs", "text": "A guide.", "from_url": "https://a.example", "fallback": "x"}]
    (event,) = said(deploys(message("<https://a.example>", attachments=preview)))
    assert event.text == "https://a.example"
    shared = [{"is_share": True, "author_id": "U9", "text": "Never deploy on Fridays."}]
    (event,) = said(deploys(message("", attachments=shared)))
    assert event.text == ""
    (event,) = said(deploys(message("", bot_id="B1", attachments=[{"pretext": "Build", "title": "7", "text": "red"}])))
    assert (event.text, event.actor_class) == ("Build\n7\nred", "bot")


# --- reactions and files ----------------------------------------------------------------------------------------


def test_reactions_are_counted_by_the_greater_number() -> None:
    reactions = [
        {"name": "+1", "users": ["U2", "U3"], "count": 2}, {"name": "eyes", "users": ["U2"], "count": 51},
        {"name": "tada", "users": ["U2"]}, {"name": 7}, "odd", {"name": "x", "count": "many"},
    ]  # fmt: skip
    (event,) = said(deploys(message("Done.", reactions=reactions)))
    assert event.attributes["reactions"] == {"+1": 2, "eyes": 51, "tada": 1, "x": 0}


TOKEN = "xoxe-" + "12345-678901234567"


def test_files_have_names_and_no_addresses() -> None:
    file = {
        "id": "F1", "name": "plan.png", "mimetype": "image/png", "size": 9, "title": "the plan",
        "url_private": f"https://files.example.com/F1/plan.png?t={TOKEN}",
    }  # fmt: skip
    (event,) = said(deploys(message("Here it is.", files=[file, None, {"id": "F2", "mode": "tombstone"}])))
    assert event.attributes["files"] == [{"name": "plan.png", "mimetype": "image/png", "size": 9}]
    assert "files.example.com" not in repr(event)


def test_a_token_in_an_address_is_nowhere_after_redaction() -> None:
    address = f"https://files.example.com/F1/plan.png?t={TOKEN}"
    linked = message(f"See <{address}|the plan> and <{address}>", files=[{"name": "a", "url_private": address}])
    stored = raw([deploys(linked)])
    assert TOKEN not in repr(stored.rows())
    (clean,) = (unit for unit in units_of(stored, {}, date.max) if unit.unit_id.startswith("slack:C1:"))
    (event,) = slack.events(clean)
    assert event.text.startswith("See the plan and https://files.example.com/F1/plan.png?t=[redacted:slack_token:")


def test_an_upload_of_2015_says_only_what_its_author_wrote() -> None:
    stock = "<@U1|ana> uploaded a file: <https://a.example/f|plan.png> and commented: Lanes, not rows."
    file = {"name": "plan.png", "mimetype": "image/png", "size": 9, "initial_comment": {"comment": "Lanes, not rows."}}
    (event,) = said(deploys(message(stock, subtype="file_share", upload=True, file=file)))
    assert event.text == "Lanes, not rows."
    assert event.attributes["files"] == [{"name": "plan.png", "mimetype": "image/png", "size": 9}]


def test_a_bot_user_of_the_list_is_no_person() -> None:
    """The list says so in `is_bot`; people are folded from it by id."""
    users = [{"id": "U7", "name": "helper", "is_bot": True, "profile": {}}]
    records, _ = read(export({"channels.json": [PUBLIC], "users.json": users}))
    assert [(one.unit, one.id, one.type) for one in records if one.type == "user"] == [("people", "user:U7", "user")]
