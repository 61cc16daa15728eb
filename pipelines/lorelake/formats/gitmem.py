"""GitMem's memory: its JSON store (`.gitmem`) and exports of its Supabase tables.

Agents write it, so every learning and decision in it is a proposal and nothing more. Sessions, threads and usage
rows are an agent's account of itself: they are kept, and are no session, exposure or vote of ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from posixpath import basename
from typing import Any, NamedTuple

from lorelake.formats.gitmem_rows import Row, columns, rows
from lorelake.formats.json_text import fault, refuse_value
from lorelake.formats.record import (
    Capture,
    Event,
    Record,
    Refusal,
    Unit,
    UnitFacts,
    UnitRecord,
    canonical,
    digest,
    parse_time,
    refuse,
)

NAME = "gitmem"
SEEN = "GitMem 1.8 JSON stores and JSON or CSV exports of its Supabase tables; 12 starter scars by id"

FILES = ("learnings.json", "decisions.json", "sessions.json", "threads.json", "scar_usage.json")
"""The collections of a store that are read."""

OWN_FILES = ("suggested-threads.json", "active-sessions.json", "closing-payload.json", "config.json",
             "agent-briefing.md", "session.json")  # fmt: skip
"""Bookkeeping in the same folder, of which nothing is learned."""

_COLLECTIONS: dict[str, frozenset[str]] = {
    "learning": frozenset({"learning_type", "title"}),
    "decision": frozenset({"decision_date", "decision"}),
    "session": frozenset({"session_date"}),
    "usage": frozenset({"scar_id"}),
    "thread": frozenset({"text", "status", "created_at"}),
}
"""Collection to the fields that every row of it has."""

_BESIDE = {"session": frozenset({"agent"}), "usage": frozenset({"surfaced_at"})}
"""What a file of it must show too, since one field is too little to know a file by."""

_THREAD = re.compile(rb'"(?:thread_)?id"\s*:\s*"t-[0-9a-f]{8}"')
_DATES = ("created_at", "source_date", "decision_date", "session_date", "surfaced_at")
_UNKNOWN_PROJECT = "default"

STARTERS = frozenset({
    "060389aa-c0fa-445d-bbfd-5d9250dc1e73", "07c7f9d3-1336-4fef-81da-af7c97590ab9",
    "33996174-a7f4-42f5-81ac-f601e566cc5a", "55b25d2e-41ad-47f4-8723-569b78586dff",
    "5c1111a9-c161-4b2d-83f9-063780164b7c", "5db0ffc7-e6d8-48bc-aa23-fce7fd8eaadb",
    "726c03d4-8962-4b0f-89a2-ea1cd0b223aa", "81fe2d44-24ae-4946-a063-d4ea3a12a71a",
    "867cf3f6-a0e5-4ca2-8d4d-43cb1f10d94d", "8a376e29-dc8d-49a7-b840-28643086e90a",
    "b6a9ac29-25ba-4667-9fed-0ada98dd588e", "f7d1dcb8-dcf1-48fb-9ab0-e682cd704530",
})  # fmt: skip
"""Ids of the scars that every installation starts with: exported tables have no `is_starter` column."""


class Field(NamedTuple):
    """One line of the mapping: a field of GitMem's, the part of an item it becomes, and on what condition."""

    source: str
    item: str
    rule: str = ""


LEARNING = (
    Field("title", "title"),
    Field("learning_type", "kind", "scar, win, pattern and anti_pattern keep their names"),
    Field("severity", "severity"),
    Field("action_protocol", "do", "its first three steps"),
    Field("solution_approach", "do", "where there is no action_protocol"),
    Field("description", "do", "where there is neither; else it is kept as context"),
    Field("why_this_matters", "because", "else the description, where that is not what to do"),
    Field("applies_when", "when"),
    Field("problem_context", "when", "where there is no applies_when"),
    Field("counter_arguments", "not_when", "marked `agent: `; empty strings and repetitions are left out"),
    Field("self_check_criteria", "self_check"),
    Field("keywords", "tags"),
    Field("domain", "tags"),
)
DECISION = (
    Field("title", "title"),
    Field("decision", "do"),
    Field("rationale", "because"),
    Field("alternatives_considered", "rejected"),
    Field("docs_affected", "applies_to"),
)
"""How an item is made of a row. `docs/importing.md` shows the same tables, and a test compares them."""


def sniff(member: str, head: bytes) -> bool:
    """By the fields of the first row."""
    if member.lower().endswith((".md", ".yaml", ".yml")):
        return False
    return _collection(columns(member, head), head) is not None


def _collection(keys: frozenset[str], head: bytes) -> str | None:
    for name, sign in _COLLECTIONS.items():
        if sign | _BESIDE.get(name, frozenset()) <= keys and (
            name != "thread" or "thread_id" in keys or _THREAD.search(head)
        ):
            return name
    return None


def read(capture: Capture) -> Iterator[Record | Refusal]:
    """One Record or Refusal for each row of each collection; one Refusal for a file that is no collection."""
    for member in capture.members:
        if basename(member.name) in OWN_FILES:
            raw = member.head()
            yield refuse(member.name, raw, "not_a_transcript", "GitMem's own bookkeeping")
            continue
        for row in rows(member):
            yield row if isinstance(row, Refusal) else _record(member.name, row)


def _record(member: str, row: Row) -> Record | Refusal:
    value, position = row
    found = fault(value)
    if found:
        return refuse_value(member, None if found[0] == "wrong_shape" else value, *found, position)
    if not isinstance(value, dict):
        return refuse_value(member, value, "wrong_shape", "a row is an object", position)
    keys = frozenset(value)
    name = next((name for name, sign in _COLLECTIONS.items() if sign <= keys), None)
    if name is None:
        return refuse_value(member, value, "wrong_shape", "lacks the fields of every collection", position)
    native = value.get("thread_id") or value.get("id") or digest(canonical(value))
    if not isinstance(native, str):
        return refuse_value(member, value, "wrong_shape", "its id is not text", position)
    if value.get("is_starter") is True or (name == "learning" and native in STARTERS):
        return refuse_value(member, value, "shipped_entry", "a starter scar of GitMem's", position)
    stated = next((value[key] for key in _DATES if key in value), None)
    ts, assumed = _time(stated)
    if stated is not None and ts is None:
        return refuse_value(member, value, "bad_time", f"created at {str(stated)[:40]!r}", position)
    return Record(f"{name}:{native}", native, name, ts, value, member, position, ts_assumed=assumed)


def _time(stated: object) -> tuple[datetime | None, bool]:
    """(UTC time, whether a part of it is assumed): a date alone, or a time without a zone, is taken as UTC."""
    text = stated.strip() if isinstance(stated, str) else ""
    if (exact := parse_time(text)) is not None:
        return exact, False
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC), True
    except ValueError:
        return None, True


def facts(unit: Unit) -> UnitFacts:
    """The project the newest version states; GitMem's `default` is none."""
    stated = [record.value.get("project") for record in _versions(unit)]
    named = next((name.strip() for name in reversed(stated) if isinstance(name, str) and name.strip()), "")
    audience = f"project:{named}" if named and named != _UNKNOWN_PROJECT else None
    return UnitFacts("document", agent=NAME, audience=audience)


def _versions(unit: Unit) -> list[UnitRecord]:
    first = min(record.first_kept for record in unit.records)
    return sorted(
        unit.records,
        key=lambda record: (
            max(_written(record, first), _archived(record) or record.ts),
            record.first_kept,
            digest(canonical(record.value)),
        ),
    )


def _written(record: UnitRecord, first: str) -> datetime:
    """When a row came to say this: as it states, else when it was made, or met if another was known before.

    Args:
        first: the day on which the unit was first kept.
    """
    return _possible(record, "updated_at") or (record.ts if record.first_kept == first else _midnight(record))


def _archived(record: UnitRecord) -> datetime | None:
    """When a row was put away; None for one that stands."""
    if record.value.get("is_active") is not False:
        return None
    return _possible(record, "archived_at") or _possible(record, "updated_at") or max(record.ts, _midnight(record))


def _possible(record: UnitRecord, name: str) -> datetime | None:
    """A stated time, if it lies between the row's making and the end of the day on which it was kept."""
    time, _ = _time(record.value.get(name))
    return time if time and record.ts <= time < _midnight(record) + timedelta(days=1) else None


def _midnight(record: UnitRecord) -> datetime:
    return datetime.fromisoformat(record.first_kept).replace(tzinfo=UTC)


def events(unit: Unit) -> list[Event]:
    """A version for each text, an end for each time it was archived; anything else is kept as `other`."""
    found: list[Event] = []
    first = min(record.first_kept for record in unit.records)
    text, active = "", True
    for record in _versions(unit):
        written = _written(record, first)
        if record.type not in ("learning", "decision"):
            found.append(_other(record, written))
            continue
        event = _version(record, max([written, *(earlier.ts for earlier in found)]))
        ended = _archived(record)
        was_active, active = active, ended is None
        if event.text != text or (active and not was_active):
            found.append(event)
        text = event.text
        if was_active and ended:
            after = max([ended, *(earlier.ts + timedelta(microseconds=1) for earlier in found)])
            found.append(_event(record, "archived", "document_deleted", "", after))
            found[-1].attributes = {"deleted": True, "archived": True, "reason": ""}
    return found


def _other(record: UnitRecord, ts: datetime) -> Event:
    names = ("status", "scar_id", "session_id", "reference_type", "execution_successful", "surfaced_at", "agent")
    told = {name: record.value[name] for name in names if name in record.value}
    text = str(record.value.get("text", "")) if record.type == "thread" else ""
    event = _event(record, "row", "other", text, ts)
    event.attributes = {"gitmem": record.type, **told}
    return event


def _event(record: UnitRecord, part: str, kind: str, text: str, ts: datetime) -> Event:
    return Event(
        record_id=record.id,
        part=f"{part}:{digest(canonical(record.value))[:12]}",
        ts=ts,
        actor_alias="",
        actor_class="agent",
        kind=kind,
        text=text,
        source_uri=record.source_uri,
        first_kept=record.first_kept,
        path=f"gitmem/{record.type}/{record.id}",
    )


def _version(record: UnitRecord, ts: datetime) -> Event:
    """The row's own words, one after another, with where each part stands."""
    value, kind = record.value, record.type
    steps = _texts(value, "action_protocol")
    told = {name: _texts(value, name) for name in ("description", "solution_approach", "decision", "rationale")}
    do = steps or told["solution_approach"] or told["description"] if kind == "learning" else told["decision"]
    because = _texts(value, "why_this_matters") or told["rationale"]
    context = [text for text in told["description"] if text not in do]
    parts = {
        "title": _texts(value, "title"),
        "do": do,
        "because": because,
        "context": context,
        "when": _texts(value, "applies_when") or _texts(value, "problem_context"),
        "not_when": _texts(value, "counter_arguments"),
        "rejected": _texts(value, "alternatives_considered"),
        "self_check": _texts(value, "self_check_criteria"),
    }
    text, spans = _joined(parts)
    item = {
        "title": " ".join(parts["title"]),
        "kind": value.get("learning_type") if kind == "learning" else "decision",
        "when": "; ".join(parts["when"]),
        "because": " ".join(because or context),
        "rejected": "; ".join(parts["rejected"]),
        "not_when": [f"agent: {words}" for words in parts["not_when"]],
        "self_check": parts["self_check"],
        "tags": sorted({*_texts(value, "keywords"), *_texts(value, "domain")}),
        "applies_to": sorted(_texts(value, "docs_affected")),
        "severity": str(value.get("severity") or "").lower(),
    }
    event = _event(record, "version", "document_version", text, ts)
    event.attributes = {
        "title": item["title"],
        "body_start": 0,
        "sections": {name: [found[0][0], found[-1][1]] for name, found in spans.items()},
        "stated": {name: words for name, words in item.items() if words},
        "machine_written": True,
        "deleted": False,
    }
    if steps and kind == "learning":
        event.attributes["steps"] = [list(span) for span in spans["do"]]
    return event


def _texts(value: Mapping[str, Any], name: str) -> list[str]:
    """A field's texts: the entries of a list, the lines of a text that stands for one; empty and repeated ones not."""
    stated = value.get(name)
    if isinstance(stated, str):
        lines = stated.splitlines() if name in ("action_protocol", "self_check_criteria") else [stated]
        stated = [re.sub(r"^\s*(?:[-*+]|\d+[.)])\s+", "", line) for line in lines]
    entries = stated if isinstance(stated, list) else []
    return list(dict.fromkeys(entry.strip() for entry in entries if isinstance(entry, str) and entry.strip()))


def _joined(parts: Mapping[str, list[str]]) -> tuple[str, dict[str, list[tuple[int, int]]]]:
    """All texts with an empty line between, and part to the [start, end) of each of its texts."""
    text = ""
    spans: dict[str, list[tuple[int, int]]] = {}
    for name, texts in parts.items():
        for words in texts:
            text += "\n\n" if text else ""
            spans.setdefault(name, []).append((len(text), len(text) + len(words)))
            text += words
    return text, spans
