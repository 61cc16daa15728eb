"""What a rule saw beside the quote: the cue, the act before it, the comment it answers, who confirmed it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from lorelake.lake import Lake
from lorelake.tables import EVENTS

_EVENT_ID = re.compile(r"[0-9a-f]{32}")
_INSIDE = frozenset(("algorithm", "former"))
"""How a signature was made; the signature itself is told."""


class Seen(msgspec.Struct, frozen=True):
    """One thing a rule saw, by its name in `signals.payload`.

    Attributes:
        name: as the rule calls it, as `cue` or `act`.
        value: in words; an event's id where it is an event.
        words: what was said in that event, if it lies in the same unit.
        said_by: who said it.
        said: when, as ISO time.
    """

    name: str
    value: str
    words: str | None = None
    said_by: str | None = None
    said: str | None = None


def seen_of(signal: Mapping[str, Any], lake: Lake | None) -> list[Seen]:
    """What the rule behind a row of `tables.SIGNALS` saw; empty things left out. Events are read from the lake."""
    seen = json.loads(signal["payload"]).get("seen") or {}
    told = {name: _words(value) for name, value in seen.items() if name not in _INSIDE}
    events = _events({value for value in told.values() if _EVENT_ID.fullmatch(value)}, signal, lake)
    return [_seen(name, value, events.get(value)) for name, value in told.items() if value]


def _seen(name: str, value: str, event: Mapping[str, Any] | None) -> Seen:
    if event is None:
        return Seen(name, value)
    return Seen(name, value, str(event["text"]), str(event["actor"]), event["ts"].isoformat())


def _words(value: Any) -> str:
    """A value of the payload in words; "" for what says nothing."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {told}" for name, inner in value.items() if (told := _words(inner)))
    if isinstance(value, list | tuple):
        return ", ".join(told for inner in value if (told := _words(inner)))
    return "" if value is None else str(value)


def _events(ids: set[str], signal: Mapping[str, Any], lake: Lake | None) -> dict[str, dict[str, Any]]:
    import polars as pl

    path = lake.table(EVENTS, signal["day"]) if lake else None
    if not ids or path is None or not path.exists():
        return {}
    same_unit = (pl.col("unit_id") == signal["unit_id"]) & pl.col("event_id").is_in(sorted(ids))
    rows = pl.scan_parquet(path).filter(same_unit).select("event_id", "actor", "ts", "text").collect()
    return {row["event_id"]: row for row in rows.iter_rows(named=True)}
