from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import permutations
from typing import Any

import pytest

from lorelake.events.ledger import REFUSED, ledger_rows
from lorelake.formats.record import Unit, UnitRecord
from lorelake.lake import frame
from lorelake.tables import LEDGER

CLAIM = "lrn_" + "0123456789abcdef" * 2
START = datetime(2026, 3, 1, 9, tzinfo=UTC)
PEOPLE = {
    "ann@x": ("ann", "human", True),
    "bob@x": ("bob", "human", True),
    "eve@x": ("eve", "human", False),
    "ci@x": ("ci", "bot", True),
}


def resolve(source: str, alias: str) -> tuple[str, str, bool]:
    assert source == "decisions"
    return PEOPLE.get(alias, (f"unknown:{alias}", "human", False))


def record(position: int | None, decision: str | None, email: str | None = "ann@x", **fields: Any) -> UnitRecord:
    """A version of a decision file; `decision` None is a deletion, `position` None a file outside Git."""
    value: dict[str, Any] = {"path": "decisions/x.yaml"}
    if position is not None:
        value |= {"position": position, "actor": {"name": "", "email": email or ""}}
    if decision:
        whole = {"decision": decision, "learning": CLAIM[:16], "reason": "because"} | fields
        value["decision"] = {name: field for name, field in whole.items() if field is not None}
    kind = "decision" if decision else "decision_deleted"
    ts = START + timedelta(days=position or 0)
    key = f"{position}:{decision}:{fields}"
    return UnitRecord(key, kind, ts, value, "decisions/x.yaml@c", ts.date().isoformat())


def unit(*records: UnitRecord, name: str = "decisions/x.yaml@0123") -> Unit:
    return Unit("decisions", f"decisions:{name}", list(records), None, None)


def rows(*units: Unit, local: str | None = None, reviewers: tuple[str, ...] = ("ann", "bob"), **more: Any) -> Any:
    found = ledger_rows(units, resolve, reviewers, local, **more)
    assert all(row["refused_because"] in REFUSED or row["verdict"] == "applies" for row in found)
    assert frame(LEDGER, found).height == len(found)
    return {row["decision"]: (row["verdict"], row["refused_because"]) for row in found}


def test_a_listed_persons_decision_applies_with_all_it_says() -> None:
    (row,) = ledger_rows(
        [unit(record(2, "reject", content_key="k" * 64, signature=["0a"], new_text={"title": "T", "do": "D"}))],
        resolve, ("ann",), None,
    )  # fmt: skip
    assert row | {"decision_id": ""} == {
        "decision_id": "",
        "decision": "reject",
        "claim_id": CLAIM[:16],
        "other_claim_id": None,
        "target": None,
        "claims": [],
        "content_key": "k" * 64,
        "signature": ["0a"],
        "decided_on_sha256": None,
        "new_text": '{"do":"D","title":"T"}',
        "revalidate_by": None,
        "reach": "team",
        "erase": False,
        "experiment": None,
        "actor": "ann",
        "actor_basis": "commit",
        "is_signed": False,
        "reason": "because",
        "ts": START + timedelta(days=2),
        "verdict": "applies",
        "refused_because": None,
        "source_uri": "decisions/x.yaml@c",
        "first_kept": date(2026, 3, 3),
    }


@pytest.mark.parametrize(
    ("email", "code"),
    [("eve@x", "not_listed"), ("nobody@x", "not_listed"), ("ci@x", "not_human"), ("", "no_actor")],
)
def test_only_listed_people_decide(email: str, code: str) -> None:
    assert rows(unit(record(1, "approve", email))) == {"approve": ("refused", code)}


def test_a_person_no_longer_among_the_reviewers_is_not_listed() -> None:
    assert rows(unit(record(1, "approve")), reviewers=("bob",)) == {"approve": ("refused", "not_listed")}


def test_the_last_version_by_somebody_entitled_applies_whatever_the_order() -> None:
    versions = [record(1, "approve"), record(2, "reject", "bob@x"), record(3, "retire", "eve@x")]
    for shuffled in permutations(versions):
        assert rows(unit(*shuffled)) == {
            "approve": ("refused", "replaced"),
            "reject": ("applies", None),
            "retire": ("refused", "not_listed"),
        }


def test_a_deletion_ends_a_decision_only_by_somebody_entitled() -> None:
    assert rows(unit(record(1, "reject"), record(2, None))) == {"reject": ("refused", "deleted")}
    assert rows(unit(record(1, "reject"), record(2, None, "eve@x"))) == {"reject": ("applies", None)}
    again = unit(record(1, "reject"), record(2, None), record(3, "approve"))
    assert rows(again) == {"reject": ("refused", "deleted"), "approve": ("applies", None)}


def test_a_text_that_came_back_is_one_row_that_applies() -> None:
    first, between, back = record(1, "reject"), record(2, "retire"), record(3, "reject")
    back.id = "another commit"
    assert rows(unit(first, between, back)) == {"reject": ("applies", None), "retire": ("refused", "replaced")}


def test_order_of_one_second_is_the_refs() -> None:
    one, two = record(7, "approve"), record(8, "reject")
    two.ts = one.ts
    one.id, two.id = "z", "a"
    assert rows(unit(two, one)) == {"approve": ("refused", "replaced"), "reject": ("applies", None)}


def test_without_git_the_local_person_decides_if_configured() -> None:
    local = unit(record(None, "approve"))
    assert rows(local) == {"approve": ("refused", "no_actor")}
    assert rows(local, local="ann") == {"approve": ("applies", None)}
    assert rows(local, local="ann", reviewers=()) == {"approve": ("applies", None)}
    assert rows(local, local="eve") == {"approve": ("refused", "not_listed")}
    (row,) = ledger_rows([local], resolve, ("ann",), "ann")
    assert (row["actor"], row["actor_basis"]) == ("ann", "local")


def test_without_git_the_text_met_last_applies() -> None:
    old, new = record(None, "approve"), record(None, "reject")
    new.first_kept = "2026-03-05"
    assert rows(unit(new, old), local="ann") == {"approve": ("refused", "replaced"), "reject": ("applies", None)}


def test_a_decision_after_the_as_of_day_replaces_nothing_yet() -> None:
    file = unit(record(1, "approve"), record(9, "edit", new_text={"title": "T"}))
    assert rows(file, as_of=date(2026, 3, 5)) == {"approve": ("applies", None)}
    forgotten = unit(record(1, "approve"), record(9, "forget"))
    assert rows(forgotten, as_of=date(2026, 3, 5), at_once={"forget"}) == {
        "approve": ("refused", "replaced"), "forget": ("applies", None),
    }  # fmt: skip
    assert rows(unit(record(1, "approve"), record(9, None)), as_of=date(2026, 3, 5)) == {"approve": ("applies", None)}


def test_every_field_of_the_new_kinds_has_its_column() -> None:
    values: dict[str, dict[str, Any]] = {
        "dismiss": {"learning": None, "target": "thr_" + "a" * 32, "content_key": "k" * 64},
        "split": {"claims": [CLAIM]},
        "forget": {"learning": None, "erase": True, "reach": "project:web"},
        "endorse": {"revalidate_by": "2026-09-01"},
        "experiment": {"learning": None, "experiment": {"name": "x", "share": 0.2}},
    }
    units = [unit(record(1, kind, **more), name=f"decisions/{kind}.yaml") for kind, more in values.items()]
    found = {row["decision"]: row for row in ledger_rows(units, resolve, ("ann",), None)}
    assert (found["dismiss"]["claim_id"], found["dismiss"]["target"]) == (None, "thr_" + "a" * 32)
    assert found["split"]["claims"] == [CLAIM]
    assert (found["forget"]["erase"], found["forget"]["reach"]) == (True, "project:web")
    assert found["endorse"]["revalidate_by"] == date(2026, 9, 1)
    assert found["experiment"]["experiment"] == '{"name":"x","share":0.2}'
    assert frame(LEDGER, list(found.values())).height == 5


def test_a_decision_on_several_items_is_a_row_for_each_and_replaced_as_one() -> None:
    items = [{"learning": CLAIM, "text_sha256": "a" * 64}, {"learning": "lrn_" + "f" * 12, "text_sha256": "b" * 64}]
    several = record(1, "approve", learning=None, items=items)
    found = ledger_rows([unit(several)], resolve, ("ann",), None)
    assert {(row["claim_id"], row["decided_on_sha256"][0], row["verdict"]) for row in found} == {
        (CLAIM, "a", "applies"), ("lrn_" + "f" * 12, "b", "applies"),
    }  # fmt: skip
    assert len({row["decision_id"] for row in found}) == 2
    found = ledger_rows([unit(several, record(2, "retire"))], resolve, ("ann",), None)
    assert sorted(row["refused_because"] or "" for row in found) == ["", "replaced", "replaced"]


def test_where_signatures_are_asked_for_an_unsigned_commit_decides_nothing() -> None:
    signed = record(1, "approve")
    signed.value["signed"] = True
    assert rows(unit(signed), signed_only=True) == {"approve": ("applies", None)}
    assert rows(unit(record(1, "approve")), signed_only=True) == {"approve": ("refused", "not_signed")}
    assert rows(unit(record(None, "approve")), local="ann", signed_only=True) == {"approve": ("refused", "not_signed")}


def test_commits_of_one_second_keep_the_order_of_the_ref_across_files() -> None:
    later, sooner = record(8, "approve"), record(7, "reject")
    later.ts = sooner.ts
    files = [unit(later, name="decisions/a.yaml"), unit(sooner, name="decisions/b.yaml")]
    found = {row["decision"]: row["ts"] for row in ledger_rows(files, resolve, ("ann",), None)}
    assert found["reject"] < found["approve"] < found["reject"] + timedelta(seconds=1)
