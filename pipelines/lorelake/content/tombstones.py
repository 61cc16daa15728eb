"""Which content keys people took out of memory, by the ledger, and what still holds them out. Standard library only."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

_BURIES = frozenset(("reject", "forget"))


def standing(ledger: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The decisions that reject or forget, apply, and were not followed by a restore of that key or item.

    Args:
        ledger: rows of `tables.LEDGER`, refused ones included.

    Returns:
        By time, then decision id.
    """
    applies = [row for row in ledger if row["verdict"] == "applies"]
    restores = [row for row in applies if row["decision"] == "restore"]
    return [
        row
        for row in sorted(applies, key=lambda row: (row["ts"], row["decision_id"]))
        if row["decision"] in _BURIES and row["content_key"] and not any(_lifts(other, row) for other in restores)
    ]


def _lifts(restore: Mapping[str, Any], row: Mapping[str, Any]) -> bool:
    same_item = restore["claim_id"] is not None and restore["claim_id"] == row["claim_id"]
    return bool((same_item or restore["content_key"] == row["content_key"]) and restore["ts"] > row["ts"])


def by_key(ledger: Iterable[Mapping[str, Any]]) -> dict[str, list[tuple[datetime, str]]]:
    """Content key to (time, decision id) of each decision that stands on it."""
    found: dict[str, list[tuple[datetime, str]]] = {}
    for row in standing(ledger):
        found.setdefault(str(row["content_key"]), []).append((row["ts"], str(row["decision_id"])))
    return found


def witness_of(signal: Mapping[str, Any]) -> str:
    """The words a claim's id and key are made of: what the item names as its witness, else the quote."""
    item = json.loads(signal["payload"]).get("item") or {}
    return str(item.get("witness") or signal["quote"])


def origins(claim: Mapping[str, Any], signal: Mapping[str, Any]) -> list[str]:
    """The passages a claim was drawn from, as the lake names them: the event, and the document that goes on."""
    return [f"event {signal['event_id']}", *([f"document {signal['unit_id']}"] if claim["document"] else [])]
