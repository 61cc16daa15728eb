"""What a store would become, found with the pipeline's own steps: redacted, derived, and judged by its history."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

from msgspec import structs

from lorelake.formats.record import Capture, Refusal
from lorelake.landing.stores import Import
from lorelake.settings import Settings

TAKEN_AS: dict[str, str] = {
    "reviewed": "merged, or committed, by a listed person other than its author: served to its audience",
    "stated": "one person's own words: served to its project, ranked lower",
    "proposed": "a machine's words: a candidate until a person reviews it",
    "archived": "put away or deleted at its source: kept as a record, not served",
    "not learned": "says nothing to do, or is not what the store itself reads",
    "known text": "rules, skills and boot files: never learnings, their echo is recognised",
    "vote totals": "counted in `imported_votes`; they are no votes and no showings here",
    "kept only": "the store's own lists, sessions, threads and usage: evidence of nothing",
}
"""What an entry is taken as, in the order shown, and what that means."""
_TRUSTS = ("reviewed", "stated", "proposed")


class Line(NamedTuple):
    """How many entries are taken as one thing, and how many of them are new."""

    taken_as: str
    entries: int
    new: int


class Preview(NamedTuple):
    """One line for each kind of entry that occurs, and how many entries would reach nobody for want of a project."""

    lines: list[Line]
    unplaced: int


def preview(plan: Import, settings: Settings, today: date) -> Preview:
    """What a store would become. An entry is a document, a learning, or a member's totals.

    Args:
        today: what has no date counts from here.
    """
    new = {f"{entry.source}:{entry.record.unit}" for entry in plan.store.entries if entry.key in plan.new}
    counts, fresh = Counter[str](), Counter[str]()
    unplaced = 0
    for unit_id, events in _units(plan, settings, today):
        taken_as = _taken_as(events)
        counts[taken_as] += 1
        fresh[taken_as] += unit_id in new
        unplaced += taken_as in _TRUSTS and events[-1]["audience"].startswith("person:unknown")
    return Preview([Line(name, counts[name], fresh[name]) for name in TAKEN_AS if counts[name]], unplaced)


def _units(plan: Import, settings: Settings, today: date) -> Iterator[tuple[str, Sequence[Mapping[str, Any]]]]:
    """Each unit's events as the night would derive them."""
    import polars as pl

    from lorelake.content.redaction import Redactor
    from lorelake.events.derive import derive, units_of
    from lorelake.events.people import People, directory
    from lorelake.formats.registry import by_name
    from lorelake.raw.keep import fold, frames
    from lorelake.tables import RAW_RECORDS

    # Marks need a key to be equal, and nothing made with this one is kept.
    redactor = Redactor(b"preview", emails=settings.redaction.emails, phones=settings.redaction.phones)
    people = People(directory(settings, [], redactor))
    found = ((entry.source, _assuming(entry.capture, plan), entry.record) for entry in plan.store.entries)
    empty = pl.DataFrame(schema=RAW_RECORDS.polars_schema())
    frame = fold(pl.concat([empty, *frames(found, redactor, today)]))
    for unit in units_of(frame, {}, date.max):
        events, _ = derive(today, [unit], by_name, people, settings, {})
        yield unit.unit_id, events


def _assuming(capture: Capture, plan: Import) -> Capture:
    """The capture as the landing folder's note will have it."""
    return structs.replace(capture, project=plan.project, person=plan.person)


def _taken_as(events: Sequence[Mapping[str, Any]]) -> str:
    """What the newest state of a unit makes of it."""
    from lorelake.evidence import authored
    from lorelake.evidence.unit import event_row

    found = [event_row(row) for row in events]
    told = found[-1].attributes if found else {}
    if told.get("teamai") == "votes":
        return "vote totals"
    if told.get("known_text"):
        return "known text"
    if "teamai" in told or "gitmem" in told:
        return "kept only"
    standing = [event for event in found if event.kind in ("document_version", "document_deleted")]
    if standing and standing[-1].kind == "document_deleted":
        return "archived"
    signals = authored.extract(found)
    newest = signals[-1] if signals and standing and signals[-1].event_id == standing[-1].event_id else None
    return str(newest.item["trust_basis"]) if newest and newest.item else "not learned"


def refused(refusals: Sequence[Refusal]) -> list[tuple[str, str, int, str]]:
    """(code, meaning, how many, the first place) of what is refused, by code."""
    from lorelake.formats.record import REASONS

    by_code: dict[str, list[Refusal]] = defaultdict(list)
    for refusal in refusals:
        by_code[refusal.reason].append(refusal)
    return [(code, REASONS[code], len(found), _place(found[0])) for code, found in sorted(by_code.items())]


def _place(refusal: Refusal) -> str:
    name = refusal.member.removeprefix("store/")
    return f"{name}:{refusal.line} ({refusal.detail})" if refusal.line else f"{name} ({refusal.detail})"
