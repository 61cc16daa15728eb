"""Documents and rows that other memory tools wrote, as signals: whose word they are, and in whose words."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from lorelake.evidence import authored
from lorelake.evidence.unit import EventRow, Signal
from lorelake.formats import documents, gitmem
from lorelake.formats.record import Unit, UnitRecord, canonical
from lorelake.learnings.claims import claim

SCAR: dict[str, Any] = {
    "id": "0b6f3a52", "learning_type": "scar", "title": "Back up before a schema change", "severity": "high",
    "description": "A migration dropped a column that a report still read.", "created_at": "2026-03-01T10:00:00Z",
    "action_protocol": ["Take a dump", "Run it on a copy first", "Apply it.", "Tell the owner"],
    "counter_arguments": ["", "The table is empty everywhere we run it", "It is a view and holds no data"],
    "applies_when": ["editing a migration"], "why_this_matters": "The report was wrong for a week.",
}  # fmt: skip


def signals(format_: Any, source: str, *records: tuple[str, str, dict[str, Any]], people: bool = True) -> list[Signal]:
    """Signals of one unit of (record id, type, value), each a minute after the one before."""
    began = datetime(2026, 3, 2, tzinfo=UTC)
    kept = [
        UnitRecord(record_id, kind, began + timedelta(minutes=number), value, "", "2026-03-02")
        for number, (record_id, kind, value) in enumerate(records)
    ]
    rows = []
    for seq, event in enumerate(format_.events(Unit(source, "u", kept, None, None))):
        attributes = dict(event.attributes)
        for role in ("author", "merged_by"):
            if people and attributes.get(role):
                attributes[f"{role}_person"] = str(attributes[role]).partition("@")[0]
        rows.append(
            EventRow(
                event_id=str(seq),
                unit_id="u",
                unit_kind="document",
                source=source,
                seq=seq,
                ts=event.ts,
                day=date(2026, 3, 2),
                actor=event.actor_alias.partition("@")[0] or source,
                actor_class=event.actor_class,
                kind=event.kind,
                text=event.text,
                text_sha256="",
                on_live_path=event.on_live_path,
                project="shop",
                audience="project:shop",
                source_uri="",
                first_kept=date(2026, 3, 2),
                attributes=attributes,
                path=event.path,
                revision=event.revision,
            )
        )
    return authored.extract(rows)


def committed(number: int, text: str, author: str = "ann", merged_by: str | None = None, **more: Any) -> Any:
    value = {
        "path": "learnings/a.md", "text": text, "frontmatter": {}, "commit": str(number), "landed": str(number),
        "position": number, "author": {"name": author, "email": f"{author}@team.example"},
        "actor": {"name": author, "email": f"{author}@team.example"},
        "merged_by": merged_by and {"name": merged_by, "email": f"{merged_by}@team.example"},
    } | more  # fmt: skip
    return str(number), "document", value


NOTE = "# Uploads\n\n## Do\n\nRetry the upload with the same key after a 503.\n"
BETTER = NOTE + "\nThe store answers 503 while it moves a shard.\n"


def test_a_gitmem_scar_is_a_proposal_in_its_own_words() -> None:
    (signal,) = signals(gitmem, "gitmem", (SCAR["id"], "learning", SCAR))
    item = signal.item
    assert signal.quote == "Take a dump\n\nRun it on a copy first\n\nApply it."
    assert item["do"] == "Take a dump. Run it on a copy first. Apply it."
    assert (item["trust_basis"], item["kind"], item["severity"]) == ("proposed", "scar", "high")
    assert item["when"] == "editing a migration", "a trigger need not be a sentence"
    payload = canonical({"item": signal.item, "seen": signal.seen})
    told = {
        "payload": payload,
        "quote": signal.quote,
        "audience": "project:shop",
        "signal_id": "s",
        "unit_id": "gitmem:u",
    }
    row = claim(told)
    assert row["title"] == SCAR["title"]
    assert row["not_when"] == [
        "agent: The table is empty everywhere we run it",
        "agent: It is a view and holds no data",
    ]
    assert (row["trust_basis"], row["kind"]) == ("proposed", "scar")


def test_a_gitmem_learning_without_steps_advises_by_its_description() -> None:
    bare = {key: value for key, value in SCAR.items() if key != "action_protocol"}
    (signal,) = signals(gitmem, "gitmem", (SCAR["id"], "learning", bare))
    assert signal.quote == SCAR["description"]
    assert signal.item["because"] == SCAR["why_this_matters"]


def test_what_a_person_merged_is_reviewed_and_their_own_commit_is_stated() -> None:
    trusts = [
        signal.item["trust_basis"]
        for signal in signals(documents, "documents", committed(0, NOTE), committed(1, BETTER, "ann", "bob"))
    ]
    assert trusts == ["stated", "reviewed"]


@pytest.mark.parametrize("merged_by", [None, "bob"])
@pytest.mark.parametrize("again", [NOTE, BETTER, NOTE.replace("Uploads", "Storage")])
def test_committing_a_machines_words_again_makes_them_nobodys(again: str, merged_by: str | None) -> None:
    """teamai's CI writes a file under a person's name; taking its mark away must not lift its words."""
    machine = committed(0, NOTE, frontmatter={"source_mr": "https://git.team.example/mr/1"})
    found = signals(documents, "documents", machine, committed(1, again, "ann", merged_by))
    assert [signal.item["trust_basis"] for signal in found] == ["proposed", "proposed"]


def test_a_persons_own_words_in_a_machines_file_are_theirs() -> None:
    machine = committed(0, NOTE, frontmatter={"source_mr": "https://git.team.example/mr/1"})
    own = committed(1, "# Uploads\n\n## Do\n\nAsk the storage team before you retry anything.\n")
    assert [signal.item["trust_basis"] for signal in signals(documents, "documents", machine, own)] == [
        "proposed",
        "stated",
    ]


def test_chinese_learnings_are_read_by_their_characters() -> None:
    """teamai's own skill asks for Chinese, in which nothing stands between two words."""
    text = "# 登录\n\n## 背景\n登录接口偶发超时，用户看到错误页。\n\n## 解决方案\n先用同一个键重试一次，再报警。\n"
    (signal,) = signals(documents, "documents", committed(0, text))
    assert signal.quote == "先用同一个键重试一次，再报警。"
    assert signal.item["when"].startswith("登录接口偶发超时")


def test_an_empty_entry_is_no_tag() -> None:
    front = {"tags": ["uploads", None, " ", 7]}
    (signal,) = signals(documents, "documents", committed(0, NOTE, frontmatter=front))
    assert signal.item["tags"] == ["7", "uploads"]
