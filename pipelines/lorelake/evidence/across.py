"""Rules that need more than one unit: computed whole each night, each signal written with the unit it quotes.

A rule gets the events of all units that its `wanted` picks, by unit, and gives back signals by unit. Neither order
shows: a unit that came late, left, or changed its people gives the same signals as if it had always been so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec
import polars as pl

from lorelake.evidence import reverts, reviews_repeated
from lorelake.evidence.unit import EventRow, Signal, units_in
from lorelake.formats.record import digest

Units = Mapping[str, Sequence[EventRow]]
"""Unit id to its events in `seq` order."""


class Rule(msgspec.Struct, frozen=True):
    """A rule over all units, and the events it reads.

    Attributes:
        wanted: which rows of `tables.EVENTS` it reads, asked of the files before anything is decoded.
        extract: those events by unit -> signals by unit; every signal quotes an event of the unit it is listed under.
    """

    wanted: pl.Expr
    extract: Callable[[Units], dict[str, list[Signal]]]


ACROSS: dict[str, Rule] = {
    "review_repeated": Rule(reviews_repeated.WANTED, reviews_repeated.extract),
    "revert": Rule(reverts.WANTED, reverts.extract),
}
"""Signal kind to its rule over all units."""


def signals_across(events: pl.LazyFrame) -> dict[str, list[Signal]]:
    """The signals of every rule over all units, by the unit they are written with.

    Args:
        events: rows of `tables.EVENTS` of every day.
    """
    found: dict[str, list[Signal]] = {}
    for rule in ACROSS.values():
        for unit_id, signals in rule.extract(dict(units_in(events.filter(rule.wanted).collect()))).items():
            found.setdefault(unit_id, []).extend(signals)
    return found


def digest_of(signals: Sequence[Signal]) -> str:
    """A hash of what signals say, for the input hash of the day they are written in; no order shows."""
    return digest(*sorted(msgspec.json.encode(signal, order="sorted").decode() for signal in signals))
