import pytest

from lorelake.evidence.authored import extract
from lorelake.formats import markdown

NOTE = """---
title: Keep the pool small
kind: scar
severity: high
tags: [db, pool]
---
# Keep the pool small

## When

Opening database connections in a worker.

## Do

Take at most five connections. Give
each one back.

## Because

The server refuses the sixth worker.

## When not

- A batch job that runs alone at night.
- The read replica, which allows fifty.
"""


def version(unit, text=NOTE, path="learnings/pool.md", **more):
    front, _ = markdown.frontmatter(text)
    attributes = {
        "frontmatter": front,
        "title": markdown.title(text, front, path),
        "body_start": markdown.body_start(text),
        "sections": {name: list(span) for name, span in markdown.sections(text).items()},
    } | more.pop("attributes", {})
    unit.add("document_version", text, path=path, attributes=attributes, revision="r1", **more)
    return extract(unit.events)


def test_sections_and_frontmatter_become_the_item(unit):
    (signal,) = version(unit)
    item = signal.item
    assert signal.quote == "Take at most five connections. Give\neach one back."
    assert item["title"] == "Keep the pool small"
    assert item["do"] == "Take at most five connections. Give each one back."
    assert item["when"] == "Opening database connections in a worker."
    assert item["because"] == "The server refuses the sixth worker."
    assert item["not_when"] == [
        "author: A batch job that runs alone at night.",
        "author: The read replica, which allows fifty.",
    ]
    assert (item["kind"], item["severity"], item["tags"]) == ("scar", "high", ["db", "pool"])
    assert item["document"] == "learnings/pool.md"


def test_without_sections_title_and_first_sentences_are_taken(unit):
    text = "# Resume a session\n\nDate: 2026-03-01\n\nUse the `--resume`\nflag with the id.\n\n```sh\ntool -r\n```\n"
    (signal,) = version(unit, text)
    assert signal.item["title"] == "Resume a session"
    assert signal.quote == "Use the `--resume`\nflag with the id.\n\n```sh\ntool -r"
    assert signal.item["do"] == "Use the `--resume` flag with the id. `tool -r`"
    assert signal.item["kind"] == "pattern"


def test_one_line_of_code_stays_with_its_announcement_and_a_block_does_not(new_unit):
    (one,) = version(new_unit(), "# T\n\nRun this first:\n\n```sh\nmake setup\n```\n")
    assert one.item["do"] == "Run this first: `make setup`"
    (block,) = version(new_unit(), "# T\n\nKeep the order below.\n\nRun these:\n\n```sh\na\nb\n```\n")
    assert block.item["do"] == "Keep the order below."


@pytest.mark.parametrize(
    ("attributes", "actor_class", "trust"),
    [
        ({}, "human", "stated"),
        ({"author_person": "ana", "merged_by_person": "ana"}, "human", "stated"),
        ({"author_person": "ana", "merged_by_person": "ben"}, "human", "reviewed"),
        ({"author_person": "ana", "merged_by_person": "unknown:documents:x"}, "human", "stated"),
        ({"machine_written": True, "author_person": "ana", "merged_by_person": "ben"}, "human", "proposed"),
        ({"merged_by_person": "ben"}, "agent", "proposed"),
        ({"adr_status": "proposed", "merged_by_person": "ben"}, "human", "proposed"),
    ],
)
def test_trust_is_what_the_history_proves(unit, attributes, actor_class, trust):
    (signal,) = version(unit, attributes=attributes, actor_class=actor_class)
    assert signal.item["trust_basis"] == trust


ADR = """# 3. Keep one bucket

## Status

Accepted

## Context

Every tenant had a bucket. The limit is one hundred.

## Decision

Use one bucket with a prefix for each tenant.

## Alternatives considered

- **More accounts.** Too much to run.
- **Fewer tenants.** Not ours to decide.
"""


def test_an_accepted_decision_record_is_a_decision_with_what_was_rejected(unit):
    (signal,) = version(unit, ADR, "docs/adr/0003-bucket.md", attributes={"adr_status": "accepted"})
    assert signal.item["kind"] == "decision"
    assert signal.item["do"] == "Use one bucket with a prefix for each tenant."
    assert signal.item["because"].startswith("Every tenant had a bucket.")
    assert signal.item["rejected"] == "More accounts; Fewer tenants"


def test_a_rejected_decision_record_is_no_item(unit):
    (signal,) = version(unit, ADR, "docs/adr/0003-bucket.md", attributes={"adr_status": "rejected"})
    assert signal.item == {}


def test_a_document_that_says_nothing_gives_no_signal(unit):
    assert version(unit, "# Only a title\n") == []


@pytest.mark.parametrize("now", ["superseded", "deprecated", "rejected", "proposed"])
def test_what_the_latest_version_takes_back_acts_on_nobody_in_any_version(unit, now):
    version(unit, ADR, "docs/adr/0003-bucket.md", attributes={"adr_status": "accepted"})
    signals = version(unit, ADR, "docs/adr/0003-bucket.md", attributes={"adr_status": now})
    assert {signal.item["trust_basis"] for signal in signals if signal.item} == {"proposed"}


def test_entries_of_a_list_are_no_reason_and_the_status_is_no_advice(unit):
    text = (
        "# 4. One case\n\n## Status\n\nAccepted. Part of the great rework of the house.\n\n"
        "## Context\n\nWe looked at:\n\n- results per test in `index`\n- timing per test from the runner\n\n"
        "## What we do\n\nKeep one case for all names in the files.\n"
    )
    (signal,) = version(unit, text, "docs/adr/0004-case.md", attributes={"adr_status": "accepted"})
    assert "because" not in signal.item
    assert signal.item["do"] == "Keep one case for all names in the files."


def test_a_decision_with_a_subtitle_is_the_decision(unit):
    text = ADR.replace("## Decision\n", "## Decision — where the objects lie\n")
    (signal,) = version(unit, text, "docs/adr/0003-bucket.md", attributes={"adr_status": "accepted"})
    assert signal.item["do"] == "Use one bucket with a prefix for each tenant."
