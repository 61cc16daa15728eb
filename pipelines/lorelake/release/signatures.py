"""What a reviewer needs to reject or forget an item for good: its content key and its similarity signature.

A signature is made under the team's key, which no reviewer's machine needs to have. So the release carries signatures
beside the review queue of their audience, and who writes a decision copies the one of its item.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from lorelake import served
from lorelake.content.gist_signature import signature
from lorelake.content.tombstones import origins, witness_of
from lorelake.lake import write_bytes
from lorelake.release.privacy import withheld

SIGNATURES = "signatures.json"
NAMED_IN = ("active", "candidate")
"""States of items that somebody may want to be rid of."""


def write_signatures(
    folder: Path, team: str, learnings: pl.DataFrame, claims: pl.DataFrame, signals: pl.DataFrame, key: bytes
) -> None:
    """Write `signatures.json` of every audience: learning id to `content_key` and `signature`.

    Args:
        folder: the release's `review/`.
        team: the team's id.
        learnings: rows of `tables.LEARNINGS` after the row rules.
        claims: rows of `tables.CLAIMS`.
        signals: rows of `tables.SIGNALS`.
        key: the team's key.
    """
    columns = learnings.select("learning_id", "audience", "state", "state_reason", "content_key")
    named = {
        row["learning_id"]: row
        for row in columns.iter_rows(named=True)
        if row["state"] in NAMED_IN and not withheld(row["state"], row["state_reason"])
    }
    canonical = claims.filter(pl.col("is_canonical") & pl.col("learning_id").is_in(list(named)))
    said = signals.select("signal_id", "event_id", "unit_id", "quote", "payload")
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    for claim in canonical.join(said, on="signal_id").sort("learning_id", "signal_id").iter_rows(named=True):
        row = named[claim["learning_id"]]
        entry = {"content_key": row["content_key"], "signature": _signature(claim, key)}
        found[row["audience"]].setdefault(claim["learning_id"], entry)
    for audience, entries in sorted(found.items()):
        write_bytes(
            folder / served.audience_id(team, audience) / SIGNATURES, msgspec.json.encode(entries, order="sorted")
        )


def _signature(claim: Mapping[str, Any], key: bytes) -> list[str]:
    return signature(witness_of(claim), origins(claim, claim), key)
