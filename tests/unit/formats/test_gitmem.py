from __future__ import annotations

import csv
import io
import json
import random
from datetime import UTC, datetime
from functools import partial
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorelake.formats import gitmem, registry
from lorelake.formats.gitmem_rows import LISTS
from lorelake.formats.record import HEAD_BYTES, REASONS, Capture, Event, Member, Record, Refusal, Unit, UnitRecord

SCAR: dict[str, Any] = {
    "id": "0b6f3a52-6a52-4a4e-9d5c-1f5a1b2c3d4e",
    "learning_type": "scar",
    "title": "Back up before a schema change",
    "description": "A migration dropped a column that a report still read.",
    "severity": "High",
    "scar_type": "process",
    "counter_arguments": ["", "The table is empty everywhere we run it", "  ", "It is a view and holds no data"],
    "why_this_matters": "The report was wrong for a week.",
    "applies_when": ["editing a migration", "dropping a column"],
    "action_protocol": ["Take a dump", "Run it on a copy first", "Apply it", "Tell the report's owner"],
    "self_check_criteria": ["Is the dump there?"],
    "keywords": ["db", "migration"],
    "domain": ["ops"],
    "project": "default",
    "source_date": "2026-03-01",
    "created_at": "2026-03-01T10:00:00.000Z",
    "persona_name": "cli",
    "is_active": True,
}
DECISION = {
    "id": "6d3c1a52-0000-4a4e-9d5c-1f5a1b2c3d4e",
    "decision_date": "2026-03-03",
    "title": "One queue",
    "decision": "Use one queue for all tenants.",
    "rationale": "Two were never balanced.",
    "alternatives_considered": ["A queue for each tenant", "No queue"],
    "docs_affected": ["docs/queue.md"],
    "session_id": None,
    "project": "web",
    "created_at": "2026-03-03T10:00:00Z",
}
USAGE = {
    "id": "u-1", "scar_id": SCAR["id"], "agent": "cli", "surfaced_at": "2026-03-05T10:00:00Z",
    "reference_type": "explicit", "execution_successful": True, "created_at": "2026-03-05T10:00:00Z",
}  # fmt: skip
SESSION = {"id": "s-1", "session_date": "2026-03-05", "session_title": "x", "agent": "cli", "close_compliance": {}}
THREAD = {"id": "t-0a1b2c3d", "text": "Move the cron job", "status": "open", "created_at": "2026-03-05T10:00:00Z"}


def member(name: str, data: bytes | str) -> Member:
    raw = data.encode() if isinstance(data, str) else data
    return Member(name, len(raw), partial(io.BytesIO, raw))


def read(name: str, data: Any) -> list[Record | Refusal]:
    told = data if isinstance(data, bytes | str) else json.dumps(data)
    return list(gitmem.read(Capture("store", (member(name, told),), "")))


def table(*rows: dict[str, Any]) -> str:
    """Rows as Supabase's SQL editor exports them: lists in Postgres' spelling, nothing for null."""
    text = io.StringIO()
    writer = csv.DictWriter(text, sorted(set().union(*rows)))
    writer.writeheader()
    for row in rows:
        writer.writerow({name: spelled(value) for name, value in row.items()})
    return text.getvalue()


def spelled(value: Any) -> Any:
    if isinstance(value, list):
        quoted = ('"' + item.replace("\\", "\\\\").replace('"', '\\"') + '"' for item in value)
        return "{" + ",".join(quoted) + "}"
    return {True: "t", False: "f"}.get(value, value) if isinstance(value, bool) else value


def unit(*items: tuple[Any, str]) -> Unit:
    """One unit of (row or CSV text, day it was first kept)."""
    records = []
    for data, kept in items:
        name = "x.csv" if isinstance(data, str) else "x.json"
        (record,) = read(name, data if isinstance(data, str) else [data])
        assert isinstance(record, Record), record
        when = record.ts or datetime.fromisoformat(kept).replace(tzinfo=UTC)
        value = msgspec.json.decode(msgspec.json.encode(record.value))
        records.append(UnitRecord(record.id, record.type, when, value, record.member, kept))
    return Unit("gitmem", f"gitmem:{records[0].type}:{records[0].id}", records, None, None)


def only(data: Any) -> Event:
    (event,) = gitmem.events(unit((data, "2026-03-10")))
    return event


def parts(event: Event) -> dict[str, str]:
    return {name: event.text[start:end] for name, (start, end) in event.attributes["sections"].items()}


def test_a_scar_keeps_its_own_words_in_their_places() -> None:
    event = only(SCAR)
    assert (event.kind, event.actor_class, event.ts) == (
        "document_version",
        "agent",
        datetime(2026, 3, 1, 10, tzinfo=UTC),
    )
    assert parts(event)["do"] == "Take a dump\n\nRun it on a copy first\n\nApply it\n\nTell the report's owner"
    assert [event.text[start:end] for start, end in event.attributes["steps"]] == SCAR["action_protocol"]
    assert parts(event)["context"] == SCAR["description"]
    stated = event.attributes["stated"]
    assert stated == {
        "title": SCAR["title"],
        "kind": "scar",
        "severity": "high",
        "when": "editing a migration; dropping a column",
        "because": "The report was wrong for a week.",
        "not_when": ["agent: The table is empty everywhere we run it", "agent: It is a view and holds no data"],
        "self_check": ["Is the dump there?"],
        "tags": ["db", "migration", "ops"],
    }
    words = set(event.text.split())
    assert words <= set(json.dumps(SCAR).replace('"', " ").replace(",", " ").split()), "nothing is added"


@pytest.mark.parametrize("name", [field.source for field in gitmem.LEARNING])
def test_every_line_of_the_mapping_holds_for_learnings(name: str) -> None:
    marked, base = "quokka", {key: SCAR[key] for key in ("id", "learning_type", "title", "created_at")}
    (field,) = [field for field in gitmem.LEARNING if field.source == name]
    value = {"learning_type": "win", "severity": "low"}.get(name, [marked] if name in LISTS else marked)
    event = only(base | {name: value})
    expected = value if isinstance(value, str) else marked
    if field.item == "do":
        assert parts(event)["do"] == expected
    else:
        assert expected in str(event.attributes["stated"][field.item])


@pytest.mark.parametrize("name", [field.source for field in gitmem.DECISION])
def test_every_line_of_the_mapping_holds_for_decisions(name: str) -> None:
    (field,) = [field for field in gitmem.DECISION if field.source == name]
    base = {key: DECISION[key] for key in ("id", "decision_date", "decision", "title")}
    event = only(base | {name: ["quokka"] if name in LISTS else "quokka"})
    found = parts(event)["do"] if field.item == "do" else str(event.attributes["stated"][field.item])
    assert "quokka" in found
    assert event.attributes["stated"]["kind"] == "decision"


def test_what_to_do_falls_back_on_the_solution_and_then_on_the_description() -> None:
    bare = {key: value for key, value in SCAR.items() if key not in ("action_protocol", "why_this_matters")}
    assert parts(only(bare))["do"] == SCAR["description"]
    assert "because" not in only(bare).attributes["stated"]
    solved = only(bare | {"solution_approach": "Restore it from the copy."})
    assert parts(solved)["do"] == "Restore it from the copy."
    assert solved.attributes["stated"]["because"] == SCAR["description"]


def test_steps_in_one_text_are_its_lines() -> None:
    """`action_protocol` is an array in the store and a text in the table."""
    event = only(SCAR | {"action_protocol": "1. Take a dump\n2. Run it on a copy first\n\n- Apply it"})
    assert parts(event)["do"] == "Take a dump\n\nRun it on a copy first\n\nApply it"


def test_two_empty_counter_arguments_are_none() -> None:
    assert "not_when" not in only(SCAR | {"counter_arguments": ["", " "]}).attributes["stated"]
    same = only(SCAR | {"counter_arguments": ["It is a view", "It is a view "]})
    assert same.attributes["stated"]["not_when"] == ["agent: It is a view"]


def test_starter_scars_are_refused_by_their_mark_or_their_id() -> None:
    """An exported table has no `is_starter`; the ids are the same in every installation."""
    (marked,) = read("learnings.json", [SCAR | {"is_starter": True}])
    shipped = {key: value for key, value in SCAR.items() if key != "is_starter"} | {"id": min(gitmem.STARTERS)}
    (known,) = read("learnings.csv", table(shipped))
    assert [item.reason for item in (marked, known) if isinstance(item, Refusal)] == ["shipped_entry"] * 2
    assert len(gitmem.STARTERS) == 12
    (own,) = read("learnings.json", [SCAR | {"is_starter": False}])
    assert isinstance(own, Record)


def test_the_store_and_an_export_of_it_give_one_version() -> None:
    row = SCAR | {"embedding": "[0.1,0.2]", "created_at": "2026-03-01 10:00:00+00", "decay_multiplier": 1.0}
    both = unit((SCAR, "2026-03-10"), (table(row), "2026-03-11"))
    assert len(gitmem.events(both)) == 1
    assert both.records[1].value["embedding"]["blob"]["type"] == "vector"
    assert "0.1" not in json.dumps(both.records[1].value)


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ("{}", None), ("{a,b}", ["a", "b"]), ('{"a, b","say \\"no\\""}', ["a, b", 'say "no"']),
        ("{a,NULL,c}", ["a", "c"]), ('["a","b"]', ["a", "b"]), ('{"back\\\\slash"}', ["back\\slash"]),
        ("{two words,x}", ["two words", "x"]), ('{"NULL"}', ["NULL"]), ("{broken", "{broken"), ('{"a"x}', '{"a"x}'),
        ("[1,", "[1,"), ('{"line\nbreak"}', ["line\nbreak"]), ("plain", "plain"),
    ],
)  # fmt: skip
def test_lists_in_the_spelling_of_postgres(cell: str, found: Any) -> None:
    text = io.StringIO()
    csv.writer(text).writerows([["learning_type", "title", "keywords"], ["win", "t", cell]])
    (record,) = read("gitmem_learnings.csv", text.getvalue())
    assert isinstance(record, Record)
    assert record.value.get("keywords", None) == ([] if found is None else found)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("words", "wrong_shape"),
        (None, "wrong_shape"),
        ({"id": "x"}, "wrong_shape"),
        (SCAR | {"id": 7}, "wrong_shape"),
        (SCAR | {"title": None}, "wrong_shape"),
        (SCAR | {"created_at": "2026-02-31T10:00:00Z"}, "bad_time"),
        (SCAR | {"created_at": 12}, "bad_time"),
        (SCAR | {"description": "\ud800"}, "lone_surrogate"),
        (SCAR | {"decay_multiplier": float("nan")}, "not_json"),
    ],
)
def test_a_bad_row_is_refused_alone(row: Any, reason: str) -> None:
    before, bad, after = read("learnings.json", [SCAR, row, SCAR | {"id": "z"}])
    assert isinstance(before, Record)
    assert isinstance(after, Record)
    assert isinstance(bad, Refusal)
    assert (bad.reason, bad.line) == (reason, 2)


def test_a_torn_collection_is_one_refusal_and_the_others_are_read() -> None:
    """Free-tier GitMem reads an unparsable file as empty and overwrites it; here it is told of."""
    files = (member("learnings.json", json.dumps([SCAR])[:-9]), member("threads.json", json.dumps([THREAD])))
    torn, kept = gitmem.read(Capture("store", files, ""))
    assert isinstance(torn, Refusal)
    assert (torn.reason, torn.member) == ("not_json", "learnings.json")
    assert isinstance(kept, Record)


def test_a_csv_row_of_another_width_is_refused_alone_and_a_torn_quote_ends_the_file() -> None:
    text = 'id,learning_type,title\na,win,A\nb,win\nc,win,C\nd,win,"D\n'
    assert [item.reason if isinstance(item, Refusal) else item.id for item in read("x.csv", text)] == [
        "a", "wrong_shape", "c", "wrong_shape",
    ]  # fmt: skip
    (refusal,) = read("x.csv", b"id,learning_type,title\n\xff,win,x\n")
    assert isinstance(refusal, Refusal)
    assert refusal.reason == "not_utf8"


@pytest.mark.parametrize("name", gitmem.OWN_FILES)
def test_bookkeeping_is_told_of_and_teaches_nothing(name: str) -> None:
    (refusal,) = read(f"sessions/s/{name}", b"# 3 scars\n")
    assert isinstance(refusal, Refusal)
    assert refusal.reason == "not_a_transcript"


@pytest.mark.parametrize(
    ("project", "audience"), [("default", None), (None, None), (" ", None), ("web", "project:web")]
)
def test_the_default_project_is_none(project: str | None, audience: str | None) -> None:
    facts = gitmem.facts(unit((SCAR | {"project": project}, "2026-03-10")))
    assert (facts.kind, facts.audience) == ("document", audience)


@pytest.mark.parametrize("row", [USAGE, SESSION, THREAD])
def test_an_agents_account_of_itself_is_kept_and_is_evidence_of_nothing(row: dict[str, Any]) -> None:
    event = only(row)
    assert (event.kind, event.actor_class) == ("other", "agent")
    assert gitmem.facts(unit((row, "2026-03-10"))).kind == "document", "no session of ours"


def test_archiving_is_a_record_with_its_time_and_can_be_taken_back() -> None:
    put_away = SCAR | {"is_active": False, "archived_at": "2026-03-08T10:00:00Z"}
    said, ended = gitmem.events(unit((SCAR, "2026-03-02"), (put_away, "2026-03-09")))
    assert (said.kind, ended.kind) == ("document_version", "document_deleted")
    assert ended.ts == datetime(2026, 3, 8, 10, tzinfo=UTC)
    assert ended.attributes["archived"] is True
    back = put_away | {"is_active": True, "updated_at": "2026-03-12T10:00:00Z"}
    kinds = [
        event.kind
        for event in gitmem.events(unit((SCAR, "2026-03-02"), (put_away, "2026-03-09"), (back, "2026-03-13")))
    ]
    assert kinds == ["document_version", "document_deleted", "document_version"]


def test_what_was_archived_before_it_was_met_never_stands_after_its_end() -> None:
    silent = {key: value for key, value in SCAR.items() if key != "created_at"} | {"is_active": False}
    said, ended = gitmem.events(unit((silent, "2026-03-02")))
    assert said.ts < ended.ts
    assert len({(event.record_id, event.part) for event in (said, ended)}) == 2


def test_an_edited_row_is_a_later_version() -> None:
    edited = SCAR | {"description": "Another account of it.", "updated_at": "2026-03-05T10:00:00Z"}
    silent = SCAR | {"description": "A third account of it."}
    found = gitmem.events(unit((silent, "2026-03-20"), (edited, "2026-03-09"), (SCAR, "2026-03-02")))
    assert [parts(event)["context"].split()[0] for event in found] == ["A", "Another", "A"]
    assert [event.ts.day for event in found] == [1, 5, 20]


VERSIONS = (
    (SCAR, "2026-03-02"),
    (SCAR | {"description": "Other words.", "updated_at": "2026-03-04T10:00:00Z"}, "2026-03-05"),
    (SCAR | {"is_active": False, "archived_at": "2026-03-08T10:00:00Z"}, "2026-03-09"),
    (table(SCAR | {"updated_at": "2026-03-06 10:00:00+00"}), "2026-03-07"),
)


@given(st.lists(st.sampled_from(VERSIONS), max_size=4), st.randoms(use_true_random=False))
def test_versions_in_any_order_and_twice_give_the_same_events(again: list[Any], shuffled: random.Random) -> None:
    items = [*VERSIONS, *again]
    shuffled.shuffle(items)
    found = unit(*items)
    distinct = {(record.id, json.dumps(record.value, sort_keys=True)): record for record in found.records}
    found.records = list(distinct.values())
    told = [(event.kind, event.part, event.ts, event.text) for event in gitmem.events(found)]
    assert told == [(event.kind, event.part, event.ts, event.text) for event in gitmem.events(unit(*VERSIONS))]
    assert len({part for _, part, _, _ in told}) == len(told)


@given(st.lists(st.one_of(st.none(), st.integers(), st.text(max_size=5), st.sampled_from([SCAR, DECISION, USAGE]))))
@settings(max_examples=50)
def test_every_row_is_kept_or_refused(rows: list[Any]) -> None:
    assert len(read("learnings.json", rows)) == len(rows)


def test_a_file_cut_anywhere_or_with_a_byte_changed_is_kept_or_refused() -> None:
    chance = random.Random(20260301)
    for name, text in (("x.json", json.dumps([SCAR, DECISION])), ("x.csv", table(SCAR, SCAR | {"id": "z"}))):
        raw = text.encode()
        changed = []
        for _ in range(300):
            copy = bytearray(raw)
            copy[chance.randrange(len(copy))] = chance.randrange(256)
            changed.append(bytes(copy))
        for data in [*(raw[:end] for end in range(len(raw) - 200, len(raw))), *changed]:
            for item in read(name, data):
                if isinstance(item, Refusal):
                    assert item.reason in REASONS
                    continue
                value = msgspec.json.decode(msgspec.json.encode(item.value))
                when = item.ts or datetime(2026, 3, 2, tzinfo=UTC)
                found = Unit("gitmem", "u", [UnitRecord(item.id, item.type, when, value, "", "2026-03-02")], None, None)
                gitmem.facts(found)
                for event in gitmem.events(found):
                    assert all(
                        0 <= start <= end <= len(event.text)
                        for start, end in event.attributes.get("sections", {}).values()
                    )


@pytest.mark.parametrize(
    ("name", "data", "source"),
    [
        ("learnings.json", json.dumps([SCAR]), "gitmem"),
        ("rows.json", json.dumps([DECISION], indent=2), "gitmem"),
        ("gitmem_learnings.csv", table(SCAR), "gitmem"),
        ("scar_usage.json", json.dumps([USAGE]), "gitmem"),
        ("threads.json", json.dumps([THREAD]), "gitmem"),
        ("sessions.json", json.dumps([SESSION]), "gitmem"),
        ("todo.json", json.dumps([THREAD | {"id": "17"}]), None),
        ("people.csv", "id,name\n1,x\n", None),
        ("torn.csv", "learning_type,title\rx\n1,x\n", None),
        ("x.json", "[]", None),
        ("learnings.jsonl", json.dumps(SCAR) + "\n" + json.dumps(SCAR) + "\n", None),
    ],
)  # fmt: skip
def test_sniff(name: str, data: str, source: str | None) -> None:
    assert registry.sniff_member(name, data.encode()[:HEAD_BYTES]) == source
