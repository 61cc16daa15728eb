"""Who counts as a person in a merge request: the host's own mark, the list of known programs, and the settings."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from io import BytesIO
from typing import Any

import pytest

from lorelake.content.redaction import Redactor
from lorelake.events.derive import derive
from lorelake.events.people import People, directory
from lorelake.formats import github, gitlab
from lorelake.formats.record import Capture, Member, Record, Unit, UnitRecord, in_order
from lorelake.settings import Person, Settings, Team

PAGE = "https://github.com/harbour/api"
ASSISTANT = Person(id="reviewer-9000", kind="bot", logins=("nora-writes",))


def classes(source: Any, content: Any, *people: Person) -> list[tuple[str, str]]:
    """(actor, class) of every comment of one request, in order."""
    data = json.dumps(content).encode()
    capture = Capture("x.json", (Member("x.json", len(data), lambda: BytesIO(data)),), "0" * 64)
    records = [one for one in source.read(capture) if isinstance(one, Record)]
    kept = [
        UnitRecord(one.id, one.type, one.ts or datetime(2026, 3, 2, tzinfo=UTC), one.value, "x.json:1", "2026-03-02")
        for one in records
    ]
    unit = Unit(source.NAME, f"{source.NAME}:{records[0].unit}", in_order(kept), None, None)
    settings = Settings(team=Team(id="harbour"), people=people)
    names = People(directory(settings, [], Redactor(b"a key for tests, nothing more 32")))
    events, _ = derive(date(2026, 3, 2), [unit], lambda _: source, names, settings, {})
    return [(event["actor"], event["actor_class"]) for event in events if event["kind"] == "comment"]


def at_github(number: int, login: str, text: str, **more: Any) -> dict[str, Any]:
    return {
        "id": number, "html_url": f"{PAGE}/pull/12#issuecomment-{number}", "issue_url": "x", "body": text,
        "user": {"login": login, "type": "User", **more}, "created_at": f"2026-03-02T10:{number:02d}:00Z",
    }  # fmt: skip


def at_gitlab(number: int, login: str, text: str) -> dict[str, Any]:
    return {
        "id": number, "body": text, "author": {"id": 100 + len(login), "username": login, "name": login},
        "created_at": f"2026-03-02T10:{number:02d}:00Z", "noteable_type": "MergeRequest", "noteable_iid": 4,
        "project_id": 77, "system": False,
    }  # fmt: skip


GITHUB = [
    at_github(1, "ana-r", "I prefer the first."), at_github(2, "bo", "Me too."),
    *(at_github(number, "scan-it", "Scan passed", type="Bot") for number in (3, 4, 5)),
    at_github(6, "nora-writes", "Consider a guard."),
    at_github(7, "ana-r", "> Consider a guard.\n\nAgreed with the assistant."),
]  # fmt: skip
GITLAB = [
    at_gitlab(1, "ana-r", "I prefer the first."), at_gitlab(2, "bo", "Me too."),
    *(at_gitlab(number, "project_77_bot_5a", "Scan passed") for number in (3, 4, 5)),
    at_gitlab(6, "nora-writes", "Consider a guard."),
    at_gitlab(7, "ana-r", "> Consider a guard.\n\nAgreed with the assistant."),
]  # fmt: skip


@pytest.mark.parametrize(("source", "rows"), [(github, GITHUB), (gitlab, GITLAB)], ids=["github", "gitlab"])
def test_two_people_among_robots(source: Any, rows: list[dict[str, Any]]) -> None:
    """faults 25: three comments by a marked bot, one by an assistant under an ordinary name, one that quotes it."""
    spoken = classes(source, rows, ASSISTANT)
    assert [class_ for _, class_ in spoken] == ["human", "human", "bot", "bot", "bot", "bot", "human"]
    assert len({actor for actor, class_ in spoken if class_ == "human"}) == 2, "who quotes a robot speaks for himself"
    assert spoken[5][0] == "reviewer-9000"


@pytest.mark.parametrize(("source", "rows"), [(github, GITHUB), (gitlab, GITLAB)], ids=["github", "gitlab"])
def test_without_the_settings_an_ordinary_name_is_a_person(source: Any, rows: list[dict[str, Any]]) -> None:
    assert [class_ for _, class_ in classes(source, rows)][5] == "human"
