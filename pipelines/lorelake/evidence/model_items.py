"""What a model's answer is worth: the items whose quote stands in a statement of the unit, as proposals.

A quote is looked for in people's own words only. One that is nowhere drops its item: a made-up quote is no witness,
however good the advice sounds. What is left is `proposed`, whoever is quoted: a model's wording raises no trust.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from lorelake.content.normalise import words
from lorelake.content.quotes import locate
from lorelake.evidence.model_input import question
from lorelake.evidence.prose import own_words
from lorelake.evidence.unit import EventRow, Signal, quoted
from lorelake.tables import ITEM_KINDS

MOST_ITEMS = 6
_FEWEST_QUOTED = 3
_TITLE_CHARS = 200
_FIELD_CHARS = 600
_MOST_EXCEPTIONS = 4
_FENCE = re.compile(r"^\s*```(?:json)?\s*\n(.*?)\n\s*```\s*$", re.DOTALL)


class _Item(msgspec.Struct):
    """One item as a model gives it."""

    statement: int
    quote: str
    title: str
    do: str
    when: str = ""
    because: str | None = None
    rejected: str | None = None
    not_when: tuple[str, ...] = ()
    kind: str = "pattern"


class _Answer(msgspec.Struct):
    """A whole answer; one item of another shape does not spoil the others."""

    items: tuple[msgspec.Raw, ...]


class Proposals(msgspec.Struct, frozen=True):
    """What an answer came to: signals, and how many of its items were dropped.

    `missing` quote words that nobody said; `unusable` have another shape than asked for, advise nothing, or come after
    the first `MOST_ITEMS`.
    """

    signals: tuple[Signal, ...]
    missing: int
    unusable: int


def proposals(events: Sequence[EventRow], answer: str, model: str) -> Proposals:
    """Signals of kind `proposed` from an answer to `question(events)`.

    Args:
        events: the unit's events in `seq` order.
        answer: the model's text, JSON as the schema asks; a fenced block around it is taken off.
        model: its name, for who asks why.

    Raises:
        ValueError: the text is not the JSON that was asked for.
    """
    asked = question(events)
    fenced = _FENCE.match(answer)
    try:
        given = msgspec.json.decode(fenced[1] if fenced else answer, type=_Answer)
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        raise ValueError(f"not the JSON that was asked for: {error}") from None
    by_id = {event.event_id: event for event in events}
    stated = [by_id[event_id] for event_id in asked.statements] if asked else []
    items = [_read(raw) for raw in given.items[:MOST_ITEMS]]
    found, missing = [], 0
    unusable = len(given.items) - sum(item is not None for item in items)
    for item in filter(None, items):
        place = _place(stated, item)
        if place is None:
            missing += 1
        else:
            event, start, end = place
            found.append(quoted("proposed", event, start, end, _item(item), {"by": model, "statement": item.statement}))
    return Proposals(tuple(found), missing, unusable)


def _read(raw: msgspec.Raw) -> _Item | None:
    """One item, or None where it has another shape or says nothing."""
    try:
        item = msgspec.json.decode(raw, type=_Item)
    except msgspec.DecodeError:
        return None
    return item if item.do.strip() and item.title.strip() else None


def _place(stated: Sequence[EventRow], item: _Item) -> tuple[EventRow, int, int] | None:
    """Where the quote stands: in the statement it names, else in the first that holds it."""
    if len(words(item.quote)) < _FEWEST_QUOTED:
        return None
    named = stated[item.statement - 1 : item.statement] if item.statement > 0 else []
    for event in (*named, *stated):
        own = own_words(event.text)
        found = locate(own, item.quote)
        if found and own[slice(*found)] == event.text[slice(*found)]:  # no pasted text between the words
            return event, *found
    return None


def _item(item: _Item) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "title": item.title[:_TITLE_CHARS],
        "when": item.when[:_FIELD_CHARS],
        "do": item.do[:_FIELD_CHARS],
        "kind": item.kind if item.kind in ITEM_KINDS and item.kind != "scar" else "pattern",
        "trust_basis": "proposed",
        "not_when": [
            f"model: {words_[:_FIELD_CHARS]}" for words_ in item.not_when[:_MOST_EXCEPTIONS] if words_.strip()
        ],
    }
    for name in ("because", "rejected"):
        if said := getattr(item, name):
            fields[name] = said[:_FIELD_CHARS]
    return fields
