"""Who is who: the names that sources use, folded to people.

One function, `People.resolve`, serves every writer and reader. Names come from the settings and from the user
lists of Slack exports; an e-mail is known only by its mark, so folding works on what redaction left.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from lorelake.content.erasure import NOTHING, Erased
from lorelake.content.redaction import Redactor
from lorelake.settings import Settings

SETTINGS = "settings"


class Person(NamedTuple):
    """A resolved speaker. `kind` is human, agent or bot."""

    person_id: str
    kind: str
    is_reviewer: bool


class People:
    """The directory of one run.

    Args:
        rows: `people` rows.
    """

    def __init__(self, rows: Iterable[Mapping[str, Any]]) -> None:
        self._by_alias = {
            (row["source"], row["alias"].lower()): Person(row["person_id"], row["kind"], row["is_reviewer"])
            for row in rows
        }

    def resolve(self, source: str, alias: str) -> Person:
        """The person behind a source's name for them.

        An unknown name is a placeholder that is the same on every run and never folds with another.
        """
        name = alias.lower()
        found = self._by_alias.get((source, name)) or self._by_alias.get((SETTINGS, name))
        if found:
            return found
        return Person(f"unknown:{source}:{alias}" if alias else f"unknown:{source}", "human", False)


def directory(
    settings: Settings, slack_users: Sequence[Mapping[str, Any]], redactor: Redactor, erased: Erased = NOTHING
) -> list[dict[str, Any]]:
    """`people` rows from the settings and from Slack user lists (redacted bodies), sorted by key.

    A Slack user folds into a configured person by Slack id or by exact e-mail; else it is a person of its own. A user
    that exports tell of in several ways is one person: any version with a known e-mail folds it, any may call it a bot.
    An erased person has no row but that of their label, under which what they decided goes on counting.
    """
    rows: dict[tuple[str, str], dict[str, Any]] = {}

    def add(source: str, alias: str, person_id: str, kind: str) -> None:
        if erased.label(alias) or erased.label(person_id):
            return
        reviewer = kind == "human" and person_id in settings.review.reviewers
        row = {"source": source, "alias": alias, "person_id": person_id, "kind": kind, "is_reviewer": reviewer}
        rows.setdefault((source, alias.lower()), row)

    by_alias: dict[str, tuple[str, str]] = {}
    for person in settings.people:
        marks = [redactor.text(email) for email in person.emails]
        for alias in (person.id, *person.emails, *marks, *person.logins, *person.slack):
            by_alias[alias.lower()] = (person.id, person.kind)
            if "@" not in alias or settings.redaction.emails == "keep":
                add(SETTINGS, alias, person.id, person.kind)
    for label in sorted(erased.deciders):
        decided = {"source": SETTINGS, "alias": label, "person_id": label, "kind": "human", "is_reviewer": True}
        rows[SETTINGS, label] = decided
    found = [(str(user.get("id", "")), _folded(user, by_alias), bool(user.get("is_bot"))) for user in slack_users]
    for native, known, bot in sorted(found, key=lambda one: (one[0], one[1] is None, one[1] or (), not one[2])):
        person_id, kind = known or (f"slack:{native}", "bot" if bot else "human")
        if native:
            add("slack", native, person_id, kind)
    return [rows[key] for key in sorted(rows)]


def _folded(user: Mapping[str, Any], by_alias: Mapping[str, tuple[str, str]]) -> tuple[str, str] | None:
    """(person id, kind) of the configured person a Slack user is."""
    profile = user.get("profile")
    email = str(profile.get("email", "")) if isinstance(profile, Mapping) else ""
    return by_alias.get(str(user.get("id", "")).lower()) or by_alias.get(email.lower() or "\0")
