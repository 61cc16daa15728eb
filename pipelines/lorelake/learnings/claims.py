"""From an admitted signal to an item: words, trust basis, risks and keys.

Input is the payload of `tables.SIGNALS`; output one row of `tables.CLAIMS`, clusters and tombstones still open.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lorelake.content.normalise import claim_id, content_key, normalise
from lorelake.formats.record import digest
from lorelake.learnings import phrasing, titles
from lorelake.learnings.grounding import inferred
from lorelake.learnings.risks import risks_of
from lorelake.tables import ITEM_KINDS, SEVERITIES, TRUSTS


def claims(signals: Iterable[Mapping[str, Any]], admissions: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One row of `tables.CLAIMS` for each admitted signal, by claim and signal id.

    Each stands alone: `learning_id` is its own claim id, `is_canonical` true, no tombstone. `clusters` and
    `tombstones` fill these in.
    """
    admitted = {row["signal_id"] for row in admissions if row["admitted"]}
    rows = [claim(signal) for signal in signals if signal["signal_id"] in admitted]
    return sorted(rows, key=lambda row: (row["claim_id"], row["signal_id"]))


def claim(signal: Mapping[str, Any]) -> dict[str, Any]:
    """The row of one admitted signal."""
    payload: dict[str, Any] = json.loads(signal["payload"])
    item: dict[str, Any] = payload.get("item") or {}
    witness = str(item.get("witness") or signal["quote"])
    applies_to = sorted({str(value) for value in item.get("applies_to") or ()})
    path = next((value for value in applies_to if "/" in value or re.search(r"\.\w{1,5}$", value)), None)
    title, do = _title_and_do(item, witness, path)
    rejected = _rejected(item, do)
    because = _because(item, rejected)
    not_when = list(dict.fromkeys(" ".join(str(words).split()) for words in item.get("not_when") or ()))
    kind, severity = kind_and_severity(item)
    identity = claim_id(str(signal["audience"]), witness)
    row: dict[str, Any] = {
        "claim_id": identity,
        "signal_id": signal["signal_id"],
        "learning_id": identity,
        "is_canonical": True,
        "title": title,
        "when": titles.sentence_case(" ".join(str(item.get("when") or "").split())),
        "do": do,
        "because": because if because and normalise(because) != normalise(do.rstrip(".")) else None,
        "rejected": rejected,
        "not_when": not_when,
        "kind": kind,
        "severity": severity,
        "applies_to": applies_to,
        "self_check": [str(value) for value in item.get("self_check") or ()],
        "tags": sorted({str(value) for value in item.get("tags") or ()}),
        "inferred": [],
        "content_key": content_key(witness),
        "former_ids": former_ids(str(signal["audience"]), item, identity),
        "trust_basis": item["trust_basis"] if item.get("trust_basis") in TRUSTS else "proposed",
        "document": item.get("document") or None,
        "tombstone": None,
        "tombstone_match": None,
        "signature": [],
    }
    if not item.get("document"):  # a document's fields are its author's own words, each from where it stands
        row["inferred"] = inferred(row, [*_quotes(signal, payload), *_recorded(applies_to)])
    row["text_sha256"] = text_sha256(row["title"], row["do"], row["because"], row["not_when"])
    row["risks"] = risks_of(row, signal)
    return row


def former_ids(audience: str, item: Mapping[str, Any], identity: str) -> list[str]:
    """The ids a claim had under the witnesses its item names as former ones, in order; without the id it has now."""
    found = {claim_id(audience, str(witness)) for witness in item.get("former_witnesses") or ()}
    return sorted(found - {identity})


def _quotes(signal: Mapping[str, Any], payload: Mapping[str, Any]) -> list[str]:
    """The words behind a signal: its quote, and the further places its rule took words from."""
    further = payload.get("support") or ()
    return [str(signal["quote"]), *(str(one["quote"]) for one in further)]


def _recorded(applies_to: Sequence[str]) -> list[str]:
    """Places and commands as the record names them, and the last part of a path, as a title names the file."""
    return [*applies_to, *(value.rsplit("/", 1)[-1] for value in applies_to)]


def _title_and_do(item: Mapping[str, Any], witness: str, path: str | None) -> tuple[str, str]:
    """What a person said is worded as advice; what a person wrote, or a machine observed, stands as it is."""
    said = str(item.get("do") or item.get("because") or item.get("title") or witness)
    if item.get("trust_basis") == "mechanical" and item.get("title"):
        return titles.error_title(str(item["title"])), phrasing.document_text(said)
    if item.get("title"):
        return phrasing.document_title(str(item["title"])), phrasing.document_text(said)
    do = phrasing.advice(said, item.get("because") if item.get("do") else None)
    return phrasing.title(do, path), do


def _because(item: Mapping[str, Any], rejected: str | None) -> str | None:
    words = item.get("because")
    if not words:
        return None
    return phrasing.document_text(str(words)) if item.get("document") else phrasing.reason(str(words), rejected)


def _rejected(item: Mapping[str, Any], do: str) -> str | None:
    words = item.get("rejected")
    if not words:
        return None
    return phrasing.document_text(str(words)) if item.get("document") else phrasing.option(str(words), do)


def kind_and_severity(item: Mapping[str, Any]) -> tuple[str, str | None]:
    """The item's kind and severity as stated. Whether a scar may be served as one is decided in SQL, after edits."""
    kind = item.get("kind") if item.get("kind") in ITEM_KINDS else "pattern"
    severity = item.get("severity") if item.get("severity") in SEVERITIES else None
    return str(kind), severity


def text_sha256(title: str, do: str, because: str | None, not_when: Sequence[str]) -> str:
    """What an approval is bound to. The same formula stands in models/macros/text.sql, and a test compares the two."""
    return digest(title, do, because or "", "\x1e".join(not_when))
