"""One day of raw records as `events` and `units` rows.

Pure: raw rows, owners and people in; rows out. Which native record means what is the formats' knowledge; who
spoke, for which project and in what order is decided here, in one place for all sources.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time
from itertools import groupby
from typing import Any, Protocol

import msgspec
import polars as pl

from lorelake.content import projects
from lorelake.events.people import People, Person
from lorelake.formats.record import Event, Unit, UnitFacts, UnitRecord, digest, in_order
from lorelake.settings import Settings

TEAM = "team"


class Format(Protocol):
    """What deriving needs of a format module."""

    def facts(self, unit: Unit) -> UnitFacts:
        """What the unit says about itself."""

    def events(self, unit: Unit) -> list[Event]:
        """What happened in it, in order."""


def units_of(rows: pl.DataFrame, owned: Mapping[tuple[str, str], str], as_of: date) -> Iterator[Unit]:
    """The units of one day, without what another session owns and without what came after the as-of day."""
    ordered = rows.sort("source", "unit_id", "record_id", "body_sha256")
    for (source, unit_id), group in groupby(
        ordered.iter_rows(named=True), key=lambda row: (row["source"], row["unit_id"])
    ):
        mine = [row for row in group if owned.get((source, row["record_id"]), unit_id) == unit_id]
        times = [row["ts"] for row in mine if row["ts"]]
        began = min(times) if times else None
        records = [_record(row, began) for row in mine]
        records = [record for record in records if record.ts.date() <= as_of]
        if records:
            hints = {row["project_hint"] for row in mine} - {None}, {row["person_hint"] for row in mine} - {None}
            yield Unit(source, unit_id, in_order(records), min(hints[0], default=None), min(hints[1], default=None))


def _record(row: Mapping[str, Any], began: datetime | None) -> UnitRecord:
    assumed = began or datetime.combine(row["first_kept"], time(), UTC)
    return UnitRecord(
        id=row["record_id"],
        type=row["record_type"],
        ts=row["ts"] or assumed,
        body=row["body"],
        source_uri=row["source_uri"],
        first_kept=row["first_kept"].isoformat(),
        ts_assumed=row["ts_assumed"],
    )


def derive(
    day: date,
    units: Iterable[Unit],
    format_of: Callable[[str], Format],
    people: People,
    settings: Settings,
    narrowed: Mapping[str, str | None],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """(events rows, units rows) of the units that began on one day.

    Args:
        narrowed: beginning of unit ids to the audience they have today, or None: withdrawn.
    """
    events: list[dict[str, Any]] = []
    facts_rows: list[dict[str, Any]] = []
    for unit in units:
        format_ = format_of(unit.source)
        facts = format_.facts(unit)
        closed = next((start for start in narrowed if unit.unit_id.startswith(start)), None)
        if closed is not None:
            if narrowed[closed] is None:
                continue
            facts.audience = narrowed[closed]
        rows = _events(day, unit, facts, format_.events(unit), people, settings)
        if rows:
            events += rows
            facts_rows.append(_unit(unit, facts, rows, people))
    return events, facts_rows


def _audience(facts: UnitFacts, project: str, worker: str) -> str:
    """The narrowest audience of a source. An unknown project is nobody's memory but the speaker's own."""
    if facts.audience:
        return facts.audience
    return f"person:{worker}" if project == projects.UNKNOWN else f"project:{project}"


def _events(
    day: date, unit: Unit, facts: UnitFacts, found: Sequence[Event], people: People, settings: Settings
) -> list[dict[str, Any]]:
    project, _ = projects.resolve(facts.remote, facts.cwds, unit.project_hint, settings.projects)
    worker = _worker(unit, facts, people)
    audience = _audience(facts, project, worker.person_id)
    folder = projects.checkout(facts.cwds)
    ids = {event.record_id: _event_id(unit, event) for event in reversed(found)}
    assumed = {record.id for record in unit.records if record.ts_assumed}
    rows = []
    for seq, event in enumerate(sorted(found, key=lambda event: event.ts)):
        actor, actor_class = _actor(unit, event, people, worker, facts)
        _name_people(unit.source, event, people)
        if event.record_id in assumed:
            event.attributes["ts_assumed"] = True
        if event.reply_to and event.reply_to not in ids:
            event.attributes["answers_unseen"] = event.reply_to
        rows.append(
            {
                "event_id": _event_id(unit, event),
                "unit_id": unit.unit_id,
                "unit_kind": facts.kind,
                "source": unit.source,
                "seq": seq,
                "ts": event.ts,
                "day": day,
                "actor": actor,
                "actor_class": actor_class,
                "kind": event.kind,
                "tool": event.tool,
                "call_id": event.call_id,
                "reply_to": ids.get(event.reply_to) if event.reply_to else None,
                "is_error": event.is_error,
                "exit_code": _stored(event.exit_code),
                "command": event.command,
                "path": _in_checkout(event.path, folder),
                "line": _stored(event.line),
                "revision": event.revision,
                "text": event.text,
                "text_sha256": digest(event.text),
                "on_live_path": event.on_live_path,
                "project": project,
                "audience": audience,
                "attributes": msgspec.json.encode(event.attributes, order="sorted").decode(),
                "source_uri": event.source_uri,
                "first_kept": date.fromisoformat(event.first_kept),
            }
        )
    return rows


def _stored(number: int | None) -> int | None:
    """A stated number, or None where no column can hold it: one such record must not cost the whole day."""
    return number if number is not None and -(2**63) <= number < 2**63 else None


def _event_id(unit: Unit, event: Event) -> str:
    return digest(unit.unit_id, event.record_id, event.part)[:32]


def _worker(unit: Unit, facts: UnitFacts, people: People) -> Person:
    return people.resolve(unit.source, facts.person_alias or unit.person_hint or "")


def _actor(unit: Unit, event: Event, people: People, worker: Person, facts: UnitFacts) -> tuple[str, str]:
    """Whose words, and of what class. A person known as a bot is a bot, whatever the source calls it."""
    if event.actor_class == "human" or (event.actor_class == "bot" and event.actor_alias):
        person = people.resolve(unit.source, event.actor_alias) if event.actor_alias else worker
        if person.kind == "human":
            return person.person_id, event.actor_class
        return person.person_id, person.kind
    if event.actor_class == "agent":
        return facts.agent or unit.source, "agent"
    return event.tool or event.actor_alias or unit.source, event.actor_class


def _in_checkout(path: str | None, folder: str) -> str | None:
    """A path as the repository knows it, where it lies in the recorded checkout or in a worktree of it."""
    if not path or not folder:
        return path
    inside = projects.WORKTREE.sub("", path, count=1)
    found = next((one for one in (inside, path) if one.startswith(folder + "/")), None)
    return path if found is None else found.removeprefix(folder + "/")


def _name_people(source: str, event: Event, people: People) -> None:
    """Author and merger of a document as persons; a bot's merge reviews nothing."""
    for role in ("author", "merged_by"):
        alias = event.attributes.get(role)
        person = people.resolve(source, str(alias)) if alias else None
        if person and person.kind == "human":
            event.attributes[f"{role}_person"] = person.person_id


def _unit(unit: Unit, facts: UnitFacts, rows: Sequence[Mapping[str, Any]], people: People) -> dict[str, Any]:
    project, assumed = rows[0]["project"], False
    if not facts.remote and unit.project_hint == project:
        assumed = True
    parent = f"{unit.source}:{facts.parent_unit}" if facts.parent_unit else None
    return {
        "unit_id": unit.unit_id,
        "unit_kind": facts.kind,
        "source": unit.source,
        "parent_unit": parent,
        "project": project,
        "project_assumed": assumed,
        "audience": rows[0]["audience"],
        "person": _worker(unit, facts, people).person_id,
        "branch": facts.branch,
        "began": min(row["ts"] for row in rows),
        "ended": max(row["ts"] for row in rows),
        "day": rows[0]["day"],
        "events": len(rows),
        "errors": sum(1 for row in rows if row["is_error"]),
    }
