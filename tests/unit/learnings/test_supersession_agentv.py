"""Every explicit edge of one real set of 21 decision records, read by a person, and no other edge.

The records speak of each other mostly in part, twice reuse a number (0009, 0011, 0013), and name tickets, plans and
their own earlier text beside records. Numbers and slugs are told apart by the letter after the number.
"""

import io
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from lorelake.formats import documents
from lorelake.formats.record import Capture, Member, Record, Unit, UnitRecord
from lorelake.learnings.supersession import candidates

FOLDER = Path(__file__).parents[4] / "shared" / "data" / "adr" / "agentv" / "docs" / "adr"
FILES = sorted(FOLDER.glob("*.md"))
pytestmark = pytest.mark.skipif(not FILES, reason="../shared/data/adr/agentv is not here")

TWINS = {
    "0009-eval": "9e", "0009-keep": "9k", "0011-cons": "11c",
    "0011-resu": "11r", "0013-expe": "13e", "0013-stab": "13s",
}  # fmt: skip
WHOLE = {("3", "8")}
IN_PART = {
    ("1", "5"), ("2", "13s"), ("6", "9e"), ("6", "12"), ("6", "13s"), ("6", "16"), ("9e", "12"), ("9k", "13s"),
    ("11r", "12"), ("11r", "17"), ("12", "17"), ("13e", "16"), ("13s", "16"), ("16", "19"), ("17", "19"), ("18", "19"),
}  # fmt: skip
UNNAMED = {("1", "5")}
"""Said to be replaced in part without a word, in that sentence, of which part."""
NOT_IN_FORCE = {"2", "3", "9k"}
"""Proposed, or replaced as a whole."""


def short(path: Path) -> str:
    return TWINS.get(path.name[:9]) or str(int(path.name[:4]))


def events() -> list[dict]:
    found = []
    for path in FILES:
        name, raw = f"docs/adr/{path.name}", path.read_bytes()
        (record,) = documents.read(Capture(name, (Member(name, len(raw), partial(io.BytesIO, raw)),), "0" * 64))
        assert isinstance(record, Record)
        when = datetime(2026, 8, 1, tzinfo=UTC)
        stored = UnitRecord(record.id, record.type, when, record.value, record.member, "2026-08-01")
        (event,) = documents.events(Unit("documents", f"documents:{name}", [stored], None, None))
        found.append(
            {
                "event_id": path.stem, "unit_id": f"documents:{name}", "seq": 0, "kind": event.kind, "path": event.path,
                "revision": event.revision, "text": event.text, "attributes": event.attributes, "ts": when,
                "actor": "ana", "actor_class": event.actor_class, "audience": "project:agentv",
            }
        )  # fmt: skip
    return found


def links() -> list[dict]:
    told = events()
    ids = {f"lrn_{number:032x}": short(path) for number, path in enumerate(FILES)}
    claims, signals = [], []
    for (claim, name), event in zip(ids.items(), told, strict=True):
        signal = {
            "signal_id": f"s-{claim}",
            "event_id": event["event_id"],
            "kind": "authored",
            "quote": event["text"][:40],
        }
        signals.append(signal | {"audience": "project:agentv", "actor": "ana", "payload": "{}", "ts": event["ts"]})
        row = {"claim_id": claim, "signal_id": f"s-{claim}", "learning_id": claim, "is_canonical": True, "title": name}
        row |= {"trust_basis": "proposed" if name in NOT_IN_FORCE else "stated", "kind": "decision", "rejected": None}
        claims.append(row | {"document": event["path"], "applies_to": [], "tombstone_match": None})
    rows = candidates(claims, signals, [], told)
    return [row | {"older": ids[row["older_id"]], "newer": ids[row["newer_id"]]} for row in rows]


def test_every_edge_is_found_and_no_other() -> None:
    rows = links()
    assert {row["reason"] for row in rows} == {"explicit"}
    assert not any(row["ambiguous"] for row in rows)
    assert {(row["older"], row["newer"]) for row in rows if not row["partial"]} == WHOLE
    assert {(row["older"], row["newer"]) for row in rows if row["partial"]} == IN_PART


def test_each_edge_has_its_words_and_an_edge_in_part_its_part() -> None:
    texts = {event["path"]: event["text"] for event in events()}
    for row in links():
        assert row["quote"] in texts[row["evidence"].split("@")[0]]
        assert row["older_quote"]
        assert row["newer_quote"]
        assert bool(row["part"]) == (row["partial"] and (row["older"], row["newer"]) not in UNNAMED), row
