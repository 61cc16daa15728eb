"""The ledger decoded: which decisions people took, and which of them count.

Who decided is the committer or merger of the commit that put the file on the protected ref; without Git it is
the configured local person. Every version of a decision file is a row: the last one by somebody who may decide
applies, the others say why they do not.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any

import msgspec

from lorelake.formats.record import Unit, UnitRecord, canonical, digest, in_order

SOURCE = "decisions"

Resolve = Callable[[str, str], tuple[str, str, bool]]
"""(source, alias) to (person id, kind, may decide)."""

REFUSED: dict[str, str] = {
    "no_actor": "nothing names the person: no commit, and no `ledger.local_person` in the settings",
    "not_human": "the committer is an agent or a bot",
    "not_listed": "the person is not among `review.reviewers`",
    "replaced": "a later version of the same file applies",
    "deleted": "the file was deleted on the protected ref",
}
"""Rule codes of decisions that do not count."""


def ledger_rows(
    units: Iterable[Unit],
    resolve: Resolve,
    reviewers: Sequence[str],
    local_person: str | None,
    as_of: date | None = None,
    at_once: Collection[str] = (),
) -> list[dict[str, Any]]:
    """`ledger` rows, sorted by decision id.

    Args:
        units: units of the source `decisions`, one per file.
        resolve: the people directory.
        reviewers: person ids that may decide.
        local_person: who decides where there is no Git.
        as_of: what was decided after this day is not there yet, and replaces or deletes nothing.
        at_once: decisions that do not wait for their day.
    """
    rows: dict[str, dict[str, Any]] = {}
    for unit in sorted(units, key=lambda unit: unit.unit_id):
        records = [record for record in _versions(unit) if as_of is None or _is_there(record, as_of, at_once)]
        for row in _file(unit, records, resolve, reviewers, local_person):
            rows[row["decision_id"]] = row
    return [rows[key] for key in sorted(rows)]


def _is_there(record: UnitRecord, as_of: date, at_once: Collection[str]) -> bool:
    return record.ts.date() <= as_of or record.value.get("decision", {}).get("decision") in at_once


def _file(
    unit: Unit,
    records: Sequence[UnitRecord],
    resolve: Resolve,
    reviewers: Sequence[str],
    local_person: str | None,
) -> Iterator[dict[str, Any]]:
    """Rows of one file, oldest first; a text that came back yields its row again, as it now stands.

    A version or deletion by somebody who may not decide changes nothing: what stood before goes on applying.
    """
    standing: dict[str, Any] | None = None
    done: list[dict[str, Any]] = []
    for record in records:
        actor, basis, fault = _actor(record, resolve, reviewers, local_person)
        if record.type == "decision_deleted":
            if standing and fault is None:
                standing |= _refused("deleted")
                standing = None
            continue
        row = _row(unit, record, actor, basis)
        if fault:
            row |= _refused(fault)
        else:
            if standing:
                standing |= _refused("replaced")
            standing = row
        done.append(row)
    yield from sorted(done, key=lambda row: row["verdict"] == "applies")


def _versions(unit: Unit) -> list[UnitRecord]:
    """In the ref's order; without Git by the day each text was first kept, since files state no time."""
    newest = {record.id: record for record in unit.records}
    return sorted(
        in_order(newest.values()), key=lambda record: (record.value.get("position", -1), record.ts, record.first_kept)
    )


def _actor(
    record: UnitRecord, resolve: Resolve, reviewers: Sequence[str], local_person: str | None
) -> tuple[str, str, str | None]:
    """(person id, basis, rule code if they may not decide)."""
    committer = record.value.get("actor")
    if isinstance(committer, Mapping):
        email = str(committer.get("email", ""))
        if not email:
            return "", "commit", "no_actor"
        person, kind, listed = resolve(SOURCE, email)
        if kind != "human":
            return person, "commit", "not_human"
        return person, "commit", None if listed and person in reviewers else "not_listed"
    if not local_person:
        return "", "local", "no_actor"
    return local_person, "local", None if local_person in reviewers or not reviewers else "not_listed"


def _refused(code: str) -> dict[str, str]:
    return {"verdict": "refused", "refused_because": code}


def _row(unit: Unit, record: UnitRecord, actor: str, basis: str) -> dict[str, Any]:
    decision: Mapping[str, Any] = record.value["decision"]
    new_text = decision.get("new_text")
    return {
        "decision_id": digest(unit.unit_id, canonical(decision))[:32],
        "decision": decision["decision"],
        "claim_id": decision["learning"],
        "other_claim_id": decision.get("other"),
        "content_key": decision.get("content_key"),
        "signature": list(decision.get("signature") or ()),
        "decided_on_sha256": decision.get("text_sha256"),
        "new_text": msgspec.json.encode(new_text, order="sorted").decode() if new_text else None,
        "actor": actor,
        "actor_basis": basis,
        "reason": decision["reason"],
        "ts": record.ts,
        "verdict": "applies",
        "refused_because": None,
        "source_uri": record.source_uri,
        "first_kept": date.fromisoformat(record.first_kept),
    }
