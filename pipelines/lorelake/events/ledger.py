"""The ledger decoded: which decisions people took, and which of them count.

Who decided is the committer or merger of the commit that put the file on the protected ref; without Git it is
the configured local person. Every version of a decision file is a row, or one for each item it names: the last
one by somebody who may decide applies, the others say why they do not. What a decision does to its item, and which
other decision overrules it, is not known here: `decision_status` says that.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import msgspec

from lorelake.formats.record import Unit, UnitRecord, canonical, digest, in_order

SOURCE = "decisions"

Resolve = Callable[[str, str], tuple[str, str, bool]]
"""(source, alias) to (person id, kind, may decide)."""

REFUSED: dict[str, str] = {
    "no_actor": "nothing names the person: no commit, and no `ledger.local_person` in the settings",
    "not_human": "the committer is an agent or a bot",
    "not_listed": "the person is not among `review.reviewers`",
    "not_signed": "`ledger.require_signature` is set, and the commit carries no signature",
    "replaced": "a later version of the same file applies",
    "deleted": "the file was deleted on the protected ref",
    "erased": "the person was erased, and their votes with them",
}
"""Rule codes of decisions that do not count."""


def ledger_rows(
    units: Iterable[Unit],
    resolve: Resolve,
    reviewers: Sequence[str],
    local_person: str | None,
    as_of: date | None = None,
    at_once: Collection[str] = (),
    signed_only: bool = False,
) -> list[dict[str, Any]]:
    """`ledger` rows, sorted by decision id.

    Args:
        units: units of the source `decisions`, one per file.
        resolve: the people directory.
        reviewers: person ids that may decide.
        local_person: who decides where there is no Git.
        as_of: what was decided after this day is not there yet, and replaces or deletes nothing.
        at_once: decisions that do not wait for their day.
        signed_only: whether a commit without a signature, or a file outside Git, decides nothing.
    """
    files = sorted(units, key=lambda unit: unit.unit_id)
    place = _places(files)
    rules = _Rules(resolve, reviewers, local_person, signed_only)
    rows: dict[str, dict[str, Any]] = {}
    for unit in files:
        records = [record for record in _versions(unit) if as_of is None or _is_there(record, as_of, at_once)]
        for row in _file(unit, records, rules, place):
            rows[row["decision_id"]] = row
    return [rows[key] for key in sorted(rows)]


class _Rules(NamedTuple):
    """Who may decide."""

    resolve: Resolve
    reviewers: Sequence[str]
    local_person: str | None
    signed_only: bool


_Places = Mapping[tuple[datetime, int], timedelta]


def _places(units: Iterable[Unit]) -> _Places:
    """(second, position on the ref) to what is added to it: commits of one second keep the order of the ref.

    Only within a second. Were later commits never before earlier ones, one with a wrong clock would move them all.
    """
    seen = {(record.ts, record.value.get("position", -1)) for unit in units for record in unit.records}
    places: dict[tuple[datetime, int], timedelta] = {}
    for _, group in groupby(sorted(seen), key=itemgetter(0)):
        for number, key in enumerate(group):
            places[key] = timedelta(microseconds=number)
    return places


def _is_there(record: UnitRecord, as_of: date, at_once: Collection[str]) -> bool:
    return record.ts.date() <= as_of or record.value.get("decision", {}).get("decision") in at_once


def _file(unit: Unit, records: Sequence[UnitRecord], rules: _Rules, place: _Places) -> Iterator[dict[str, Any]]:
    """Rows of one file, oldest first; a text that came back yields its rows again, as they now stand.

    A version or deletion by somebody who may not decide changes nothing: what stood before goes on applying.
    """
    standing: list[dict[str, Any]] = []
    done: list[dict[str, Any]] = []
    for record in records:
        actor, basis, fault = _actor(record, rules)
        deleted = record.type == "decision_deleted"
        rows = [] if deleted else list(_rows(unit, record, actor, basis, place))
        if fault:
            _refuse(rows, fault)
        else:
            _refuse(standing, "deleted" if deleted else "replaced")
            standing = rows
        done += rows
    yield from sorted(done, key=lambda row: row["verdict"] == "applies")


def _versions(unit: Unit) -> list[UnitRecord]:
    """In the ref's order; without Git by the day each text was first kept, since files state no time."""
    newest = {record.id: record for record in unit.records}
    return sorted(
        in_order(newest.values()), key=lambda record: (record.value.get("position", -1), record.ts, record.first_kept)
    )


def _actor(record: UnitRecord, rules: _Rules) -> tuple[str, str, str | None]:
    """(person id, basis, rule code if they may not decide)."""
    committer = record.value.get("actor")
    if isinstance(committer, Mapping):
        email = str(committer.get("email", ""))
        if not email:
            return "", "commit", "no_actor"
        person, kind, listed = rules.resolve(SOURCE, email)
        if kind != "human":
            return person, "commit", "not_human"
        if not (listed and person in rules.reviewers):
            return person, "commit", "not_listed"
        return person, "commit", "not_signed" if rules.signed_only and not _is_signed(record) else None
    person = rules.local_person or ""
    if not person:
        return "", "local", "no_actor"
    if rules.reviewers and person not in rules.reviewers:
        return person, "local", "not_listed"
    return person, "local", "not_signed" if rules.signed_only else None


def _is_signed(record: UnitRecord) -> bool:
    return bool(record.value.get("signed"))


def _refuse(rows: Iterable[dict[str, Any]], code: str) -> None:
    for row in rows:
        row |= {"verdict": "refused", "refused_because": code}


def _rows(unit: Unit, record: UnitRecord, actor: str, basis: str, place: _Places) -> Iterator[dict[str, Any]]:
    """One row, or one for each item; those of one file have ids of their own."""
    decision: Mapping[str, Any] = record.value["decision"]
    common = {
        "decision": decision["decision"],
        "other_claim_id": decision.get("other"),
        "target": decision.get("target"),
        "claims": list(decision.get("claims") or ()),
        "new_text": _json(decision.get("new_text")),
        "revalidate_by": _date(decision.get("revalidate_by")),
        "reach": decision.get("reach") or "team",
        "erase": bool(decision.get("erase")),
        "experiment": _json(decision.get("experiment")),
        "actor": actor,
        "actor_basis": basis,
        "is_signed": _is_signed(record),
        "reason": decision["reason"],
        "ts": record.ts + place[record.ts, record.value.get("position", -1)],
        "verdict": "applies",
        "refused_because": None,
        "source_uri": record.source_uri,
        "first_kept": date.fromisoformat(record.first_kept),
    }
    items = decision.get("items") or (decision,)
    for decision_id, item in zip(decision_ids(unit.unit_id, decision), items, strict=True):
        yield {
            "decision_id": decision_id,
            "claim_id": item.get("learning"),
            "content_key": item.get("content_key"),
            "signature": list(item.get("signature") or ()),
            "decided_on_sha256": item.get("text_sha256"),
        } | common


def decision_ids(unit_id: str, decision: Mapping[str, Any]) -> list[str]:
    """The id of a decision, or of each of its items, in their order."""
    whole = canonical(decision)
    items = [str(item["learning"]) for item in decision.get("items") or ()]
    return [digest(unit_id, whole, item)[:32] for item in items] or [digest(unit_id, whole)[:32]]


def _json(value: object) -> str | None:
    return msgspec.json.encode(value, order="sorted").decode() if value else None


def _date(value: str | None) -> date | None:
    return date.fromisoformat(value) if value else None
