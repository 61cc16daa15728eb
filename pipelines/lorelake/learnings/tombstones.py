"""What people rejected or had forgotten, and which claims meet it: the same words, or nearly the same in others.

An exact match is suppressed, a near one only held for review: similarity may never retire anything by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lorelake.content.similarity import signature, signature_similarity

NEAR = 0.5


def match(
    claim: Mapping[str, Any], witness: str, decisions: Sequence[Mapping[str, Any]], key: bytes = b""
) -> tuple[str, str] | None:
    """(decision id, "exact" | "near") of the tombstone a claim meets, or None.

    Args:
        claim: a row of `tables.CLAIMS`.
        witness: the words the claim's id is made of.
        decisions: `content.tombstones.standing` of the ledger.
        key: the team's key, if the decisions' signatures were made under it.
    """
    exact = [row for row in decisions if row["content_key"] == claim["content_key"]]
    if exact:
        return str(exact[-1]["decision_id"]), "exact"
    signed = [row for row in decisions if row["signature"]]
    if not signed:
        return None
    sketches = [signature(text, key) for text in (witness, f"{claim['title']} {claim['do']}", claim["do"])]
    scored = [(max(signature_similarity(s, list(row["signature"])) for s in sketches), row) for row in signed]
    near = [(score, row["ts"], str(row["decision_id"])) for score, row in scored if score >= NEAR]
    return (max(near)[2], "near") if near else None
