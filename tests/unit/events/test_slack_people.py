"""One Slack user is one person, however many versions of it the exports tell."""

from __future__ import annotations

from itertools import permutations
from typing import Any

from lorelake.content.redaction import Redactor
from lorelake.events.people import People, directory
from lorelake.settings import Person, Settings, Team

REDACTOR = Redactor(b"a key for tests, nothing more 32")
SETTINGS = Settings(team=Team(id="t"), people=(Person(id="mara", emails=("mara@example.com",)),))


def resolved(*users: dict[str, Any]) -> set[tuple[str, str]]:
    """(person, kind) of U1 under every order of the versions."""
    masked = [REDACTOR.values([user])[0] for user in users]
    found = [People(directory(SETTINGS, order, REDACTOR)).resolve("slack", "U1") for order in permutations(masked)]
    return {(person.person_id, person.kind) for person in found}


def test_a_renamed_user_is_one_person() -> None:
    names = [{"id": "U1", "name": name, "profile": {"display_name": name}} for name in ("mara", "mara-away", "ml")]
    assert resolved(*names) == {("slack:U1", "human")}


def test_one_version_with_the_address_folds_them_all() -> None:
    """Slack leaves e-mails out of what a token without that scope may see."""
    bare = {"id": "U1", "name": "ml", "profile": {}}
    known = {"id": "U1", "name": "ml", "profile": {"email": "Mara@example.com"}}
    other = {"id": "U1", "name": "aa", "profile": {"email": "someone@example.org"}}
    assert resolved(bare, known, other) == {("mara", "human")}


def test_one_version_that_says_bot_makes_a_bot() -> None:
    assert resolved({"id": "U1", "name": "ship"}, {"id": "U1", "name": "a", "is_bot": True}) == {("slack:U1", "bot")}


def test_users_that_nobody_knows_are_apart() -> None:
    people = People(directory(SETTINGS, [{"id": "U1"}, {"id": ""}, {"name": "no id"}], REDACTOR))
    found = [people.resolve("slack", alias).person_id for alias in ("U1", "U8", "U9", "bot:ship")]
    assert found == ["slack:U1", "unknown:slack:U8", "unknown:slack:U9", "unknown:slack:bot:ship"]
