from datetime import date, timedelta

import pytest

from lorelake.evidence.reverts import extract

WHY = "It broke sign-in for tenants that have a domain of their own."


class Forge:
    """Merge requests of one repository, a day apart."""

    def __init__(self, new_unit):
        self.new_unit, self.units, self.sign, self.name = new_unit, {}, "#", "github:acme/shop"

    def request(self, number, text, author="ana", **more):
        unit = self.new_unit(f"{self.name}{self.sign}{number}", "merge_request")
        unit.number = number
        self.units[unit.unit["unit_id"]] = unit
        self.add(unit, "merge_request_opened", text, actor=author, **more)
        return unit

    def add(self, unit, kind, text, **more):
        event = unit.add(kind, text, **more)
        unit.events[-1] = type(event)(
            **{name: getattr(event, name) for name in event.__struct_fields__}
            | {"ts": event.ts + timedelta(unit.number)}
        )
        return unit.events[-1]

    def found(self):
        signals = extract({unit_id: unit.events for unit_id, unit in self.units.items()})
        return [signal for some in signals.values() for signal in some]

    def only(self):
        (signal,) = self.found()
        return signal


@pytest.fixture
def forge(new_unit):
    return Forge(new_unit)


@pytest.mark.parametrize(
    "text",
    [
        f'Revert "Cache the tenant lookup"\n\nReverts acme/shop#4\n\n{WHY}',
        f'Revert "Cache the tenant lookup"\n\nThis reverts commit 1a2b3c4d5e6f.\n\n{WHY}\n\nSigned-off-by: Ana <a@b.c>',
        f"revert: Cache the tenant lookup\n\n{WHY}",
        f"revert(auth): Cache the tenant lookup\n\n{WHY}",
        f"Revert Cache the tenant lookup\n\n{WHY}",
    ],
)
def test_a_revert_with_its_reason_becomes_an_item(forge, text):
    forge.request(4, "Cache the tenant lookup\n\nSaves a query.")
    forge.request(9, text, author="ben", attributes={"files": [{"path": "app/auth.py", "hunks": []}]})
    signal = forge.only()
    assert signal.quote == WHY
    assert signal.item["title"] == f"Cache the tenant lookup was reverted: {WHY}"
    assert signal.item["rejected"] == "Cache the tenant lookup"
    assert (signal.item["kind"], signal.item["trust_basis"]) == ("anti_pattern", "stated")
    assert (signal.item["when"], signal.item["applies_to"]) == ("changing `app/auth.py`", ["app/auth.py"])
    assert signal.seen["reverted"] == "github:acme/shop#4"


@pytest.mark.parametrize(
    "text",
    [
        'Revert "Cache the tenant lookup"\n\nReverts acme/shop#4',
        'Revert "Cache the tenant lookup"\n\nThis reverts commit 1a2b3c4d5e6f.\n\nSee the thread for the details.',
        'Revert "Cache the tenant lookup"\n\n- [ ] it broke nothing else\n',
        'Revert "Cache the tenant lookup"\n\nIt broke the build.',
        'Revert "Cache the tenant lookup"\n\nThis reverts commit 1a2b3c4d5e6f, which broke CI.',
    ],
)
def test_without_a_reason_it_stays_an_observation(forge, text):
    forge.request(9, text)
    signal = forge.only()
    assert signal.item == {}
    assert signal.quote == 'Revert "Cache the tenant lookup"'


@pytest.mark.parametrize(
    "text", ["Let users revert a draft", "Add a revert button\n\nIt broke before.", "Reverting to a draft is possible"]
)
def test_a_request_about_reverting_is_no_revert(forge, text):
    forge.request(9, text)
    assert forge.found() == []


def test_the_reason_may_stand_in_the_title(forge):
    forge.request(9, "Revert the tenant cache because it hides new tenants for an hour")
    signal = forge.only()
    assert signal.quote == "because it hides new tenants for an hour"
    assert signal.item["rejected"] == "the tenant cache"


def test_the_reason_may_follow_what_git_writes(forge):
    what = "This reverts commit 1a2b3c4d5e6f, reversing\nchanges made to 6f5e4d3c2b1a"
    body = f"{what}, since it hides new tenants for an hour."
    forge.request(9, f'Revert "Merge pull request 4"\n\n{body}')
    assert forge.only().quote == "since it hides new tenants for an hour."


def test_the_reason_may_stand_under_a_heading_of_a_template(forge):
    forge.request(
        9,
        f'Revert "Cache the tenant lookup"\n\n## What\n\nTakes it out.\n\n## Why\n\n{WHY}\n\n## Checklist\n\n- [x] ok',
    )
    assert forge.only().quote == WHY


def test_the_reason_may_stand_on_the_request_that_was_reverted(forge):
    old = forge.request(4, "Cache the tenant lookup")
    said = forge.add(old, "comment", "Reverting this: it hides new tenants because nobody clears it.", actor="ben")
    new = forge.request(9, 'Revert "Cache the tenant lookup"', author="ben", first_kept=date(2026, 3, 12))
    found = extract({unit_id: unit.events for unit_id, unit in forge.units.items()})
    (signal,) = found["github:acme/shop#4"]
    assert signal.event_id == said.event_id
    assert signal.seen["revert"] == new.events[0].event_id
    assert signal.known_from == date(2026, 3, 12)
    assert "hides new tenants" in signal.item["because"]
    assert signal.item["do"] == "Do not bring back “Cache the tenant lookup” as it was"


def test_a_reason_said_of_something_else_is_not_taken(forge):
    forge.add(forge.request(5, "Rename the table"), "comment", "We reverted that because it broke the export.")
    forge.request(9, 'Revert "Cache the tenant lookup"')
    assert forge.only().item == {}


def test_a_revert_taken_back_later_teaches_nothing(forge):
    forge.request(9, f'Revert "Cache the tenant lookup"\n\n{WHY}')
    assert forge.only().item
    forge.request(12, 'Revert "Revert "Cache the tenant lookup""\n\nThe fault was in the proxy, which dropped headers.')
    assert [signal.item for signal in forge.found()] == [{}, {}]
    forge.request(15, f'Revert "Cache the tenant lookup"\n\n{WHY}')
    kept = {signal.event_id: bool(signal.item) for signal in forge.found()}
    assert kept == {"github:acme/shop#9-0": False, "github:acme/shop#12-0": False, "github:acme/shop#15-0": True}


def test_a_commit_that_says_the_same_as_its_request_is_no_second_revert(forge):
    unit = forge.request(9, f'Revert "Cache the tenant lookup"\n\n{WHY}')
    forge.add(unit, "commit", 'Revert "Cache the tenant lookup"\n\nThis reverts commit 1a2b3c4d.', revision="ff00aa1")
    assert len(forge.found()) == 1
    forge.add(unit, "commit", 'Revert "Add the index"\n\nIt slows every insert down.', revision="ff00aa2")
    assert [signal.item["rejected"] for signal in forge.found()] == ["Cache the tenant lookup", "Add the index"]


def test_a_gitlab_revert_names_the_request_it_reverts(forge):
    forge.sign, forge.name = "!", "gitlab:77"
    forge.request(4, "Cache the tenant lookup")
    forge.request(9, f'Revert "Merge branch tenant-cache"\n\nThis reverts merge request !4\n\n{WHY}')
    assert forge.only().seen["reverted"] == "gitlab:77!4"


def test_what_was_reverted_is_found_by_its_commit(forge):
    forge.add(forge.request(4, "Tenant cache, first part"), "commit", "cache it", revision="1a2b3c4d5e6f7788")
    forge.request(9, f"Undo the tenant cache\n\nThis reverts commit 1a2b3c4d5e6f7788.\n\n{WHY}")
    assert forge.only().seen["reverted"] == "github:acme/shop#4"


def test_a_machines_reason_is_only_proposed(forge):
    forge.request(9, f'Revert "Cache the tenant lookup"\n\n{WHY}\n\n🤖 Generated with [Claude Code](https://x.example)')
    assert forge.only().item["trust_basis"] == "proposed"


def test_what_to_do_instead_comes_first(forge):
    forge.request(9, f'Revert "Cache the tenant lookup"\n\n{WHY} Use the shared cache with a limit instead.')
    signal = forge.only()
    assert signal.item["do"] == "Use the shared cache with a limit instead."
    assert signal.item["because"] == WHY


def test_chinese_reverts_and_reasons_are_read(forge):
    forge.request(9, "回滚：缓存租户查询\n\n上线后导致自有域名的租户无法登录。")
    signal = forge.only()
    assert signal.item["rejected"] == "缓存租户查询"
    assert signal.quote == "上线后导致自有域名的租户无法登录。"
