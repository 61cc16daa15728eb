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
_NAMED = r"(?:\[[^\]]*\]\(([^)\s]+)\)|([\w./-]+\.md)|(ADR[- ]?\d{1,5}\b))"
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

    @property
    def is_by_a_person(self) -> bool:
        """Whether a person wrote it; a machine's document replaces nothing and is not said to be replaced."""
        return bool(self.event["actor_class"] == "human") and self.attributes.get("machine_written") is not True

    @property
    def is_in_force(self) -> bool:
        """Whether it may replace another: a proposal may not, nor what was turned down or is replaced itself."""
        return bool(self.claim["trust_basis"] != "proposed")

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
        version = _Version(event, claim) if claim is not None else None
        if version is not None and version.is_by_a_person:
            units.setdefault(event["unit_id"], []).append(version)
    return list(units.values())


def _within_documents(documents: Sequence[Sequence[_Version]]) -> Iterator[dict[str, Any]]:
    for versions in documents:
        for before, after in pairwise(versions):
            if after.is_in_force:
                yield after.replaces(str(before.claim["claim_id"]), "same_document")


def _between_documents(documents: Sequence[Sequence[_Version]]) -> Iterator[dict[str, Any]]:
    newest = [versions[-1] for versions in documents]
    latest = {one.place: str(one.claim["claim_id"]) for one in newest if one.is_in_force}
    latest |= _by_number([one for one in newest if one.is_in_force])
    for versions in documents:
        for version in versions:
            yield from _stated(version, latest)


def _by_number(newest: Sequence[_Version]) -> dict[tuple[str, str, str], str]:
    """Decision records by folder and number ("docs/adr/ADR 7"), where only one of the folder has it."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for one in newest:
        number = one.attributes.get("adr_number")
        if number is not None:
            repository, audience, path = one.place
            key = repository, audience, posixpath.join(posixpath.dirname(path), f"ADR {int(number)}")
            found.setdefault(key, []).append(str(one.claim["claim_id"]))
    return {key: ids[0] for key, ids in found.items() if len(ids) == 1}


def _stated(version: _Version, latest: Mapping[tuple[str, str, str], str]) -> Iterator[dict[str, Any]]:
    """What a version says it replaces, in its frontmatter or the status of a decision record, or is replaced by.

    "Superseded in part by" names no whole replacement and gives no link.
    """
    front = version.attributes.get("frontmatter") if version.is_in_force else None
    named = front.get("supersedes") if isinstance(front, dict) else None
    for name in [named] if isinstance(named, str) else named if isinstance(named, list) else []:
        if isinstance(name, str):
            yield from (version.replaces(older, "explicit") for older in _resolve(version, name, latest))
    status = _status(version)
    for match in _OF.finditer(status) if version.is_in_force else ():
        for older in _resolve(version, match[1] or match[2] or match[3], latest):
            yield version.replaces(older, "explicit")
    for match in _BY.finditer(status):
        for newer in _resolve(version, match[1] or match[2] or match[3], latest):
            yield version.link(str(version.claim["claim_id"]), newer, "explicit")


def _status(version: _Version) -> str:
    span = (version.attributes.get("sections") or {}).get("status")
    return str(version.event["text"])[int(span[0]) : int(span[1])] if span else ""


def _resolve(version: _Version, name: str, latest: Mapping[tuple[str, str, str], str]) -> list[str]:
    """The claim a name stands for: a claim id as it is, else the document at that path, beside it or from the root."""
    claim = _CLAIM.fullmatch(name.strip())
    if claim:
        return [claim[0]]
    plain = re.sub(r"^ADR[- ]?0*(\d)", r"ADR \1", name.strip().split("#")[0], flags=re.I)
    beside = posixpath.normpath(posixpath.join(posixpath.dirname(version.path), plain))
    repository, audience, _ = version.place
    for path in (posixpath.normpath(plain), beside):
        found = latest.get((repository, audience, path))
        if found and path != version.path:
            return [found]
    return []
