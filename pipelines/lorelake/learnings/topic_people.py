"""Who was present where a learning was said: the only people that may be its topic.

Present is who wrote in the unit, and who was mentioned there by a name the people table knows. A tag that names
anybody else names nobody: an item is not filed under a person because a text happens to hold a name.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from lorelake.learnings.topic_names import named
from lorelake.tables import EVENTS

if TYPE_CHECKING:
    from lorelake.lake import Lake

MENTION = re.compile(r"(?<![\w@.])@([^\W_][\w.-]{0,60}[^\W_]|[^\W_])")
_PLACEHOLDER = "unknown:"
_COLUMNS = ("unit_id", "source", "actor", "actor_class", "text", "attributes")

Present = Mapping[str, Mapping[str, str]]
"""Unit id to the names of those present there, as keys, each with its person id."""


def present(events: Iterable[Mapping[str, Any]], people: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    """Who was present, from rows of `tables.EVENTS` and `tables.PEOPLE`. No order of input matters.

    A name that two of those present share names neither. Machines, and placeholders for persons nobody knows, are
    never topics.
    """
    person_of: dict[tuple[str, str], str] = {}
    names_of: dict[str, set[str]] = defaultdict(set)
    for row in people:
        if row["kind"] == "human":
            person_of[row["source"], row["alias"].lower()] = row["person_id"]
            names_of[row["person_id"]].add(row["alias"])
    here: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for event in events:
        there = here[event["unit_id"]]
        if event["actor_class"] == "human" and not event["actor"].startswith(_PLACEHOLDER):
            shown = json.loads(event["attributes"] or "{}").get("name")
            there[event["actor"]] |= names_of[event["actor"]] | ({shown} if isinstance(shown, str) else set())
        if event["actor_class"] in ("human", "bot"):
            for name in MENTION.findall(event["text"]):
                person = person_of.get((event["source"], name.lower())) or person_of.get(("settings", name.lower()))
                if person:
                    there[person] |= names_of[person] | {name}
    return {unit: _by_name(there) for unit, there in here.items()}


def _by_name(there: Mapping[str, set[str]]) -> dict[str, str]:
    found: dict[str, set[str]] = defaultdict(set)
    for person, names in there.items():
        for name in (person, *names):
            key = named(name)
            if key:
                found[key.key].add(person)
    return {name: min(persons) for name, persons in found.items() if len(persons) == 1}


def present_in(lake: Lake, units: Iterable[str], people: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    """`present` for some units of a lake."""
    import polars as pl

    wanted, days = sorted(set(units)), lake.days(EVENTS)
    if not wanted or not days:
        return {}
    found = pl.scan_parquet(days).filter(pl.col("unit_id").is_in(wanted) & pl.col("on_live_path"))
    return present(found.select(_COLUMNS).collect().iter_rows(named=True), people)
