from __future__ import annotations

import io
from collections import Counter
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from lorelake.formats import documents, history
from lorelake.formats.record import Capture, Event, Member, Record, Refusal, Unit, UnitRecord

LEARNING = """---
title: Retry the upload with the same key
author: Ann <ann@team.example>
date: 2026-03-02
tags: [uploads, retries]
kind: scar
severity: high
---
# Uploads

## When
The object store answers 503 during `PUT`.

## Do
Retry with the *same* idempotency key.

### How
`retry(key=key)`

## Why
A new key stores the object twice.

## When not
- The key is older than a day.

## Self-check
- Did the key change between attempts?
"""
TEAMAI = """---
title: 登录重试
date: 2026-01-05T10:00:00Z
---
## 背景
登录接口偶发超时。

## 解决方案
重试一次。

## 经验总结
- 超时要小于网关。
"""
ANN, BOB = history.Name("Ann", "ann@team.example"), history.Name("Bob", "bob@team.example")
ROOT = "0123456789ab" + "0" * 28


def member(name: str, data: bytes | str) -> Member:
    raw = data.encode() if isinstance(data, str) else data
    return Member(name, len(raw), partial(io.BytesIO, raw))


def plain(name: str, data: bytes | str) -> Record | Refusal:
    (item,) = documents.read(Capture(name, (member(name, data),), "0" * 64))
    return item


def version(path: str, position: int, author: history.Name = ANN, **more: Any) -> history.Version:
    landed = f"{position:040x}"
    given = {
        "path": path, "member": f"{path}@{landed}", "deleted": False, "position": position, "commit": landed,
        "author": author, "landed": landed, "landed_at": 1_772_323_200 + position, "actor": author, "merged_by": None,
    } | more  # fmt: skip
    return history.Version(**given)


def repository(texts: dict[history.Version, str | None], remote: str | None = None) -> Capture:
    told = history.History(ROOT, "main", "f" * 40, remote, tuple(texts))
    files = [member(v.member, text) for v, text in texts.items() if text is not None]
    return Capture("memory", (member(history.MEMBER, msgspec.json.encode(told)), *files), "1" * 64)


def units(*captures: Capture, kept: str = "2026-03-10") -> dict[str, Unit]:
    found: dict[str, Unit] = {}
    for capture in captures:
        for item in documents.read(capture):
            assert isinstance(item, Record), item
            unit = found.setdefault(item.unit, Unit("documents", f"documents:{item.unit}", [], None, None))
            when = item.ts or datetime.fromisoformat(kept).replace(tzinfo=UTC)
            value = msgspec.json.decode(msgspec.json.encode(item.value))
            unit.records.append(UnitRecord(item.id, item.type, when, value, item.member, kept))
    return found


def only(unit: Unit) -> Event:
    (event,) = documents.events(unit)
    return event


def sections(event: Event) -> dict[str, str]:
    return {name: event.text[start:end] for name, (start, end) in event.attributes["sections"].items()}


def test_a_learning_with_its_frontmatter_and_sections() -> None:
    record = plain("memory/learnings/retry.md", LEARNING)
    assert isinstance(record, Record)
    assert (record.ts, record.ts_assumed) == (datetime(2026, 3, 2, tzinfo=UTC), True)
    event = only(units(Capture("c", (member("memory/learnings/retry.md", LEARNING),), ""))["memory/learnings/retry.md"])
    assert event.text == LEARNING
    assert (event.kind, event.actor_class, event.actor_alias) == ("document_version", "human", "ann@team.example")
    assert event.attributes["title"] == "Retry the upload with the same key"
    assert event.attributes["frontmatter"]["date"] == "2026-03-02"
    assert sections(event) == {
        "when": "The object store answers 503 during `PUT`.",
        "do": "Retry with the *same* idempotency key.\n\n### How\n`retry(key=key)`",
        "because": "A new key stores the object twice.",
        "not_when": "- The key is older than a day.",
        "self_check": "- Did the key change between attempts?",
    }


def test_teamais_chinese_template() -> None:
    unit = units(Capture("c", (member("learnings/backend/a.md", TEAMAI),), ""))["learnings/backend/a.md"]
    event = only(unit)
    assert sections(event) == {
        "when": "登录接口偶发超时。", "do": "重试一次。", "because": "- 超时要小于网关。",
    }  # fmt: skip
    assert unit.records[0].ts == datetime(2026, 1, 5, 10, tzinfo=UTC)
    assert event.attributes["namespace"] == "backend"


@pytest.mark.parametrize(
    ("path", "text", "audience"),
    [
        ("learnings/a.md", "# A", "team"),
        ("memory/learnings/a.md", "# A", "team"),
        ("learnings/backend/deep/a.md", "# A", "project:backend"),
        ("learnings/back end/a.md", "# A", None),
        ("notes/git/a.md", "# A", None),
        ("learnings.md", "# A", None),
        ("learnings/a.md", "---\nproject: web\n---\n# A", "project:web"),
        ("learnings/backend/a.md", "---\nproject: web\n---\n# A", "project:backend"),
    ],
)
def test_the_folder_gives_the_audience(path: str, text: str, audience: str | None) -> None:
    assert documents.facts(units(Capture("c", (member(path, text),), ""))[path]).audience == audience


@pytest.mark.parametrize(
    ("path", "known"),
    [
        ("README.md", True), ("docs/README.zh-CN.md", True), ("CHANGELOG.md", True), ("app/CLAUDE.md", True),
        ("AGENTS.md", True), ("skills/deploy/SKILL.md", True), (".cursorrules", True), (".cursor/rules/a.mdc", True),
        (".claude/commands/x.md", True), (".github/a.md", True), (".clinerules", True), ("rules/go.md", True),
        ("memory/skills/deploy/steps.md", True), ("memory/agents/reviewer.md", True), ("app/CONVENTIONS.md", True),
        ("learnings/rules/a.md", False), ("docs/agents/a.md", False),
        ("projects/-home-ann-app/memory/debugging.md", True),
        (".claude/plans/quiet-otter.md", True), (".specstory/.what-is-this.md", True),
        ("session-state/0f6a2c1e-1111-4222-8333-444444444444/plan.md", True), ("docs/session-state/retries.md", False),
        ("docs/memory/debugging.md", False), ("learnings/readme-drift.md", False), ("docs/agents-in-ci.md", False),
    ],
)  # fmt: skip
def test_what_agents_are_given_anyway_is_known_text_and_never_a_learning(path: str, known: bool) -> None:
    assert documents.sniff(path, b"# Always run the linter\n")
    event = only(units(Capture("c", (member(path, "# Always run the linter\n"),), ""))[path])
    assert (event.kind == "other") == known
    assert (event.actor_class == "injected") == known


@pytest.mark.parametrize(
    ("data", "reason", "line"),
    [
        ("---\ntitle: a\ntags: [x\n---\n# A", "bad_document", 4),
        ("---\ntitle: a\ntitle: b\n---\n# A", "bad_document", 3),
        ("---\ntitle: &x a\nother: *x\n---\n", "bad_document", 2),
        ("---\ntitle: a\ndate: 2026-02-31\n---\n", "bad_document", 3),
        ("---\ntitle: !!python/object:os.system x\n---\n", "bad_document", 2),
        (b"# A\nb\xff", "not_utf8", 2),
        (b" \n", "empty", 0),
        ("<!-- Generated by SpecStory, Markdown v2.1.0 -->\n# x", "unknown_format", 0),
        ("# Session Context\n\nSession ID: 2026-01-06-1f\nCommit Message: x\n\n## Prompts\n", "not_a_transcript", 0),
        ("# Session Context\n\n## User Prompts\n\n### Prompt 1\n\nuse pnpm\n", "not_a_transcript", 0),
    ],
)
def test_a_bad_document_is_refused_with_its_place(data: bytes | str, reason: str, line: int) -> None:
    refusal = plain("a.md", data)
    assert isinstance(refusal, Refusal)
    assert (refusal.reason, refusal.line, refusal.member) == (reason, line, "a.md")


def test_a_document_about_session_context_is_a_document() -> None:
    assert isinstance(
        plain("a.md", "# Session Context\n\nKeep the session id in the header of every request.\n"), Record
    )


def test_a_bad_document_does_not_stop_its_neighbours() -> None:
    good, bad, last = version("a.md", 0), version("b.md", 0), version("c.md", 0)
    items = list(documents.read(repository({good: "# A", bad: "---\nx: [\n---\n", last: "# C"})))
    assert [type(item).__name__ for item in items] == ["Record", "Refusal", "Record"]


def test_too_large_is_refused_unread() -> None:
    huge = Member("a.md", documents.MAX_BYTES + 1, partial(io.BytesIO, b"# A"))
    (item,) = documents.read(Capture("c", (huge,), ""))
    assert isinstance(item, Refusal)
    assert item.reason == "too_large"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Undo a rebase\n\nUse the reflog.\n", "Undo a rebase"),
        ("```sh\n# not a title\n```\n## C# and F# ##\n", "C# and F#"),
        ("plain words\n", "undo a rebase"),
        ("---\n\nA rule, then prose.\n\n---\n# After\n", "After"),
        ("---\ntitle: 7\n---\nx", "undo a rebase"),
    ],
)
def test_titles(text: str, title: str) -> None:
    path = "git/undo-a_rebase-2026-03-01-x7f.md"
    assert only(units(Capture("c", (member(path, text),), ""))[path]).attributes["title"] == title


def test_a_repository_gives_each_version_its_author_merger_and_deletion() -> None:
    one = version("learnings/a.md", 0)
    two = version("learnings/a.md", 3, BOB, commit="b" * 40, actor=ANN, merged_by=ANN)
    gone = version("learnings/a.md", 5, BOB, deleted=True, member="")
    found = units(repository({one: "# A", two: "# A, better", gone: None}, "https://git.team.example/team/memory"))
    (unit,) = found.values()
    assert unit.unit_id == "documents:learnings/a.md@0123456789ab"
    first, second, last = documents.events(unit)
    assert (first.text, first.actor_alias, first.attributes["merged_by"]) == ("# A", "ann@team.example", None)
    assert (second.actor_alias, second.attributes["merged_by"]) == ("bob@team.example", "ann@team.example")
    assert (second.revision, second.path) == ("b" * 40, "learnings/a.md")
    assert second.ts == datetime.fromtimestamp(1_772_323_203, UTC)
    assert (last.kind, last.actor_alias, last.text) == ("document_deleted", "bob@team.example", "")
    facts = documents.facts(unit)
    assert (facts.remote, facts.audience) == ("https://git.team.example/team/memory", "team")


def test_versions_of_one_second_stand_in_the_order_of_the_ref() -> None:
    texts = {version("a.md", number, landed_at=5): f"# {number}" for number in (2, 0, 1)}
    (unit,) = units(repository(texts)).values()
    assert [event.text for event in documents.events(unit)] == ["# 0", "# 1", "# 2"]


def test_one_repository_read_twice_counts_once_and_two_repositories_stay_apart() -> None:
    texts: dict[history.Version, str | None] = {version("docs/adr/0001-x.md", 0): "# X"}
    (unit,) = units(repository(texts), repository(texts, "https://git.team.example/a")).values()
    assert len(unit.records) == 2
    assert len(documents.events(unit)) == 1
    assert documents.facts(unit).remote == "https://git.team.example/a"
    elsewhere = history.History("f" * 40, "main", "f" * 40, None, tuple(texts))
    assert history.unit(elsewhere, "docs/adr/0001-x.md") != unit.unit_id.removeprefix("documents:")


def test_an_edit_or_a_deletion_does_not_widen_what_older_text_reaches() -> None:
    """All versions of a unit share one audience, so `project:` cannot be taken back by leaving it out."""
    one, two = version("learnings/a.md", 0), version("learnings/a.md", 1)
    gone = version("learnings/a.md", 2, deleted=True, member="")
    narrow: dict[history.Version, str | None] = {one: "---\nproject: web\n---\n# A"}
    for later in ({two: "# A"}, {two: "# A", gone: None}, {gone: None}):
        (unit,) = units(repository(narrow | later)).values()
        assert documents.facts(unit).audience == "project:web"


@pytest.mark.parametrize("stated", ["yesterday", "2026-3-1", "[2026]", ""])
def test_what_is_no_date_states_no_time(stated: str) -> None:
    record = plain("learnings/a.md", f"---\ntitle: a\ndate: {stated}\n---\n# A")
    assert isinstance(record, Record)
    assert (record.ts, record.ts_assumed) == (None, True)


def test_without_git_a_later_text_holds_from_when_it_was_met() -> None:
    """An edit that leaves `date:` as it was must not look as old as what it replaced."""
    path, stated = "learnings/a.md", "---\ndate: 2026-03-01\n---\n"
    unit = units(Capture("c", (member(path, stated + "# old"),), ""), kept="2026-03-10")[path]
    later = units(Capture("c", (member(path, stated + "# new"),), ""), kept="2026-03-12")[path]
    unit.records = later.records + unit.records
    old, new = documents.events(unit)
    assert (old.text[-5:], new.text[-5:]) == ("# old", "# new")
    assert (old.ts.date().isoformat(), new.ts.date().isoformat()) == ("2026-03-01", "2026-03-12")


def test_a_missing_blob_and_an_impossible_time_are_refused() -> None:
    there, missing, never = version("a.md", 0), version("b.md", 1), version("c.md", 2, landed_at=10**15)
    items = list(documents.read(repository({there: "# A", missing: None, never: "# C"})))
    assert [item.reason if isinstance(item, Refusal) else "kept" for item in items] == [
        "kept",
        "unreadable",
        "bad_time",
    ]


def test_programs_and_imported_text_are_no_person() -> None:
    bot = history.Name("renovate[bot]", "29139614+renovate[bot]@users.noreply.github.com")
    (unit,) = units(repository({version("learnings/a.md", 0, bot): "# A"})).values()
    assert only(unit).actor_class == "bot"
    imported = "---\ntitle: x\nsource_mr: https://git.team.example/mr/1\n---\n# A"
    event = only(units(Capture("c", (member("learnings/i.md", imported),), ""))["learnings/i.md"])
    assert (event.actor_class, event.attributes["machine_written"]) == ("agent", True)


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("docs/adr/0007-queues.md", "# 7. Queues\n\n## Status\n\nAccepted\n\nUpdate: later.\n", ("accepted", 7)),
        (
            "docs/adr/0007-queues.md",
            "# 7. Queues\n\n## Status\n\n**Superseded** by [8](8-x.md)\n",
            ("superseded", 7),
        ),
        ("adr/12_queues.md", "# Queues\n\n* Status: proposed\n", ("proposed", 12)),
        ("docs/decisions/0003-x.md", "---\nstatus: Rejected\n---\n# X\n", ("rejected", 3)),
        ("docs/adr/0007-queues.md", "# Queues\n", None),
        ("adr/1-a.md", "# A\n\n## Status\n\nSuperseded by ADR 7\n", ("superseded", 1)),
        ("adr/1-a.md", "# A\n\n## Status\n\nSuperseded in part by ADR 7\n", ("accepted", 1)),
        ("adr/1-a.md", "# A\n\n## Status\n\nPartially superseded by ADR 7\n", ("accepted", 1)),
        ("docs/0007-queues.md", "# Queues\n\n## Status\nAccepted\n", None),
    ],
)
def test_decision_records(path: str, text: str, expected: tuple[str, int] | None) -> None:
    attributes = only(units(Capture("c", (member(path, text),), ""))[path]).attributes
    assert (expected is not None) == ("adr_status" in attributes)
    if expected:
        assert (attributes["adr_status"], attributes["adr_number"]) == expected


def test_offsets_hold_on_text_that_redaction_changed() -> None:
    unit = units(Capture("c", (member("a.md", LEARNING),), ""))["a.md"]
    value = unit.records[0].value
    value["text"] = value["text"].replace("Ann <ann@team.example>", "[redacted:name:0badc0de]: x [")
    event = only(unit)
    assert sections(event)["because"] == "A new key stores the object twice."
    assert event.text[event.attributes["body_start"] :].startswith("# Uploads")


@pytest.mark.parametrize(
    ("name", "head", "is_document"),
    [
        ("a.md", b"# A", True),
        ("a.md", b"words \xe4\xb8", True),
        ("a.md", b"\x00\x01", False),
        ("a.md", b"\xff\xfe\xff\xfe\xff\xfe", False),
        ("a.txt", b"# A", False),
        ("2026.md", b"<!-- Generated by SpecStory, Markdown v2.1.0 -->", False),
        (".aider.chat.history.md", b"\n# aider chat started at 2026-01-01 10:00:00\n", False),
    ],
)
def test_sniff(name: str, head: bytes, is_document: bool) -> None:
    assert documents.sniff(name, head) is is_document


def test_every_shared_document_is_read_and_its_sections_are_its_own_words() -> None:
    data = Path(__file__).resolve().parents[4] / "shared" / "data"
    if not data.is_dir():
        pytest.skip("../shared/data is not here")
    paths = sorted([*data.glob("til/*/*.md"), *data.glob("adr/**/*.md")])
    assert len(paths) == 247
    statuses: Counter[str] = Counter()
    for path in paths:
        name = path.relative_to(data).as_posix()
        event = only(units(Capture(name, (member(name, path.read_bytes()),), ""))[name])
        assert event.text == path.read_text(encoding="utf-8")
        assert event.attributes["title"]
        assert all(words == words.strip() != "" for words in sections(event).values())
        assert ("adr_status" in event.attributes) == ("/adr/" in name)
        statuses[event.attributes.get("adr_status", "none")] += 1
    assert statuses == {"none": 226, "accepted": 18, "proposed": 2, "superseded": 1}, "replaced in part is in force"
