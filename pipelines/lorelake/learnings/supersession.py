"""Which claim may replace another: said so by a person, or by the next version of the same document.

Candidates only; whether a link applies is decided in SQL. A document speaks only for its own audience, and a
machine's document replaces nothing.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

_CLAIM = re.compile(r"lrn_[0-9a-f]{12,32}")
_NAMED = r"(?:\[[^\]]*\]\(([^)\s]+)\)|([\w./-]+\.md))"
_BY = re.compile(rf"(?:^|[.!;]\s+|\bis\s+)[*_]*superseded\s+by\s+{_NAMED}", re.I | re.M)
_OF = re.compile(rf"(?:^|[.!;]\s+)[*_]*supersedes:?\s+{_NAMED}", re.I | re.M)
"""At the start of a statement only: "partially superseded by" and "refines/supersedes" replace no whole."""


def candidates(
    claims: Iterable[Mapping[str, Any]],
    signals: Iterable[Mapping[str, Any]],
    ledger: Iterable[Mapping[str, Any]],
    documents: Iterable[Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """Rows of `tables.SUPERSESSION_CANDIDATES`, one for each pair and reason: the latest statement of it.

    Args:
        claims: rows of `tables.CLAIMS`.
        signals: rows of `tables.SIGNALS` behind them.
        ledger: rows of `tables.LEDGER`.
        documents: rows of `tables.EVENTS` of kind `document_version`.
    """
    versions = _versions(claims, signals, documents)
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for row in (*_decided(ledger), *_within_documents(versions), *_between_documents(versions)):
        if row["older_id"] == row["newer_id"]:
            continue
        key = row["older_id"], row["newer_id"], row["reason"]
        known = found.get(key)
        if known is None or (row["ts"], row["evidence"]) > (known["ts"], known["evidence"]):
            found[key] = row
    return [found[key] for key in sorted(found)]


def _decided(ledger: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for row in ledger:
        if row["decision"] == "supersede" and row["verdict"] == "applies" and row["other_claim_id"]:
            yield {
                "older_id": row["claim_id"], "newer_id": row["other_claim_id"], "reason": "explicit",
                "evidence": row["decision_id"], "actor": row["actor"], "ts": row["ts"],
            }  # fmt: skip


class _Version:
    """One version of one document with the claim it makes."""

    def __init__(self, event: Mapping[str, Any], claim: Mapping[str, Any]) -> None:
        stated = event["attributes"]
        self.event = event
        self.claim = claim
        self.path = str(event["path"] or "")
        self.repository = str(event["unit_id"]).removeprefix(f"documents:{self.path}")
        self.attributes: dict[str, Any] = json.loads(stated) if isinstance(stated, str) else dict(stated)

    @property
    def place(self) -> tuple[str, str, str]:
        """Repository, audience and path: what a relative name is looked up under."""
        return self.repository, str(self.event["audience"]), self.path

    def replaces(self, older_id: str, reason: str) -> dict[str, Any]:
        """The link by which this version's claim replaces another."""
        return self.link(older_id, str(self.claim["claim_id"]), reason)

    def link(self, older_id: str, newer_id: str, reason: str) -> dict[str, Any]:
        """A row of the table, said by this version."""
        return {
            "older_id": older_id, "newer_id": newer_id, "reason": reason,
            "evidence": f"{self.path}@{self.event['revision'] or self.event['event_id']}",
            "actor": self.event["actor"], "ts": self.event["ts"],
        }  # fmt: skip


def _versions(
    claims: Iterable[Mapping[str, Any]], signals: Iterable[Mapping[str, Any]], documents: Iterable[Mapping[str, Any]]
) -> list[list[_Version]]:
    """Per document its versions that make a claim, in order; documents by unit id. Machine-written ones left out."""
    event_of = {row["signal_id"]: row["event_id"] for row in signals if row["kind"] == "authored"}
    claim_of = {event_of[row["signal_id"]]: row for row in claims if row["signal_id"] in event_of}
    units: dict[str, list[_Version]] = {}
    for event in sorted(documents, key=lambda row: (row["unit_id"], row["seq"])):
        claim = claim_of.get(event["event_id"])
        if claim is not None and claim["trust_basis"] != "proposed":
            units.setdefault(event["unit_id"], []).append(_Version(event, claim))
    return list(units.values())


def _within_documents(documents: Sequence[Sequence[_Version]]) -> Iterator[dict[str, Any]]:
    for versions in documents:
        for before, after in pairwise(versions):
            yield after.replaces(str(before.claim["claim_id"]), "same_document")


def _between_documents(documents: Sequence[Sequence[_Version]]) -> Iterator[dict[str, Any]]:
    latest = {versions[-1].place: str(versions[-1].claim["claim_id"]) for versions in documents}
    for versions in documents:
        for version in versions:
            yield from _stated(version, latest)


def _stated(version: _Version, latest: Mapping[tuple[str, str, str], str]) -> Iterator[dict[str, Any]]:
    """What a version says it replaces, in its frontmatter or the status of a decision record, or is replaced by.

    "Superseded in part by" names no whole replacement and gives no link.
    """
    front = version.attributes.get("frontmatter")
    named = front.get("supersedes") if isinstance(front, dict) else None
    for name in [named] if isinstance(named, str) else named if isinstance(named, list) else []:
        if isinstance(name, str):
            yield from (version.replaces(older, "explicit") for older in _resolve(version, name, latest))
    status = _status(version)
    for match in _OF.finditer(status):
        yield from (version.replaces(o, "explicit") for o in _resolve(version, match[1] or match[2], latest))
    for match in _BY.finditer(status):
        for newer in _resolve(version, match[1] or match[2], latest):
            yield version.link(str(version.claim["claim_id"]), newer, "explicit")


def _status(version: _Version) -> str:
    span = (version.attributes.get("sections") or {}).get("status")
    return str(version.event["text"])[int(span[0]) : int(span[1])] if span else ""


def _resolve(version: _Version, name: str, latest: Mapping[tuple[str, str, str], str]) -> list[str]:
    """The claim a name stands for: a claim id as it is, else the document at that path, beside it or from the root."""
    claim = _CLAIM.fullmatch(name.strip())
    if claim:
        return [claim[0]]
    plain = name.strip().split("#")[0]
    beside = posixpath.normpath(posixpath.join(posixpath.dirname(version.path), plain))
    repository, audience, _ = version.place
    for path in (posixpath.normpath(plain), beside):
        found = latest.get((repository, audience, path))
        if found and path != version.path:
            return [found]
    return []
