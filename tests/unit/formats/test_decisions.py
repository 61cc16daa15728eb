from __future__ import annotations

import io
from functools import partial
from typing import get_args, get_type_hints

import msgspec
import pytest

from lorelake.formats import decisions, history
from lorelake.formats.record import Capture, Member, Record, Refusal
from lorelake.formats.strict_yaml import YamlError
from lorelake.tables import DECISIONS, ITEM_KINDS, SEVERITIES

ID, KEY = "lrn_0123456789ab", "a" * 64
REJECT = (
    f"decision: reject\nlearning: {ID}\ncontent_key: {KEY}\nsignature: [0a1b, 2c3d]\nreason: We dropped that store.\n"
)


def member(name: str, data: bytes | str) -> Member:
    raw = data.encode() if isinstance(data, str) else data
    return Member(name, len(raw), partial(io.BytesIO, raw))


def read(data: bytes | str, name: str = "decisions/x.yaml") -> Record | Refusal:
    (item,) = decisions.read(Capture(name, (member(name, data),), ""))
    return item


def test_a_decision_is_read_as_it_stands() -> None:
    record = read(REJECT)
    assert isinstance(record, Record)
    assert (record.unit, record.type, record.ts) == ("decisions/x.yaml", "decision", None)
    assert record.value["decision"] == {
        "decision": "reject", "learning": ID, "content_key": KEY, "signature": ["0a1b", "2c3d"],
        "reason": "We dropped that store.",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "told", "line"),
    [
        ("decision: reject\nlearning: lrn_x\nreason: no\n", "learning", 2),
        (REJECT + "actor: ann\n", "unknown field `actor`", 6),
        (REJECT + "date: 2026-01-01\n", "unknown field `date`", 6),
        (REJECT + "decision: approve\n", "given twice", 6),
        (f"decision: reject\nlearning: {ID}\nreason: no\n", "needs `content_key`", 1),
        (f"decision: forget\nlearning: {ID}\nreason: no\n", "needs `content_key`", 1),
        (f"decision: approve\nlearning: {ID}\nreason: ok\n", "needs `text_sha256`", 1),
        (f"decision: supersede\nlearning: {ID}\nreason: newer\n", "needs `other`", 1),
        (f"decision: edit\nlearning: {ID}\nreason: clearer\n", "needs `new_text`", 1),
        (f"decision: merge\nlearning: {ID}\nreason: same\n", "needs `other`", 1),
        (f"decision: split\nlearning: {ID}\nreason: two\n", "needs `claims`", 1),
        ("decision: dismiss\nreason: old\n", "needs `target`", 1),
        ("decision: restore\nreason: back\n", "needs `learning` or `target`", 1),
        ("decision: experiment\nreason: try\n", "needs `experiment`", 1),
        ("decision: forget\nerase: true\nreason: x\n", "needs `learning` or `items`", 1),
        (f"decision: pin\nlearning: {ID}\nreason: x\nerase: true\n", "belongs to forget", 4),
        (f"decision: retire\nlearning: {ID}\nreason: x\nreach: team\n", "belongs to reject, forget", 4),
        (f"decision: retire\nlearning: {ID}\nreason: x\nitems: [{{learning: {ID}}}]\n", "give one of them", 4),
        (f"decision: reject\nreason: x\nitems: [{{learning: {ID}}}]\n", "of each item", 3),
        (f"decision: approve\nreason: x\nitems: [{{learning: {ID}}}]\n", "of each item", 3),
        (f"decision: edit\nlearning: {ID}\nreason: x\nnew_text: {{do: d}}\nrevalidate_by: soon\n", "revalidate_by", 5),
        (
            "decision: experiment\nreason: x\nexperiment:\n  {name: a, learnings: [" + ID + "], share: 0.5,"
            " starts: 2026-02-01, ends: 2026-01-01}\n",
            "ends before it starts",
            3,
        ),
        (f"decision: bury\nlearning: {ID}\nreason: no\n", "bury", 1),
        (f"decision: retire\nlearning: {ID}\n", "reason", 1),
        (f"decision: retire\nlearning: {ID}\nreason: ''\n", "reason", 3),
        (f"decision: retire\nlearning: {ID}\nreason: true\n", "reason", 3),
        (f"decision: edit\nlearning: {ID}\nreason: x\nnew_text: {{title: {'x' * 81}}}\n", "new_text", 4),
        ("decision: [\n", "", 2),
        ("- decision: reject\n", "", 1),
    ],
)
def test_what_does_not_fit_is_refused_with_its_line(text: str, told: str, line: int) -> None:
    refusal = read(text)
    assert isinstance(refusal, Refusal)
    assert refusal.reason == "bad_document"
    assert told in refusal.detail
    assert refusal.line == line


@pytest.mark.parametrize(("data", "reason"), [(b"", "empty"), (b"decision: \xff", "not_utf8")])
def test_bytes_that_are_no_text_are_refused(data: bytes, reason: str) -> None:
    refusal = read(data)
    assert isinstance(refusal, Refusal)
    assert refusal.reason == reason


def test_the_committer_is_kept_and_a_deletion_is_a_record() -> None:
    ann = history.Name("Ann", "ann@team.example")
    common = {"path": "decisions/x.yaml", "author": history.Name("Bot", "bot@x"), "actor": ann, "merged_by": ann}
    there = history.Version(
        **common, member="m", deleted=False, position=4, commit="c", landed="d" * 40, landed_at=1_772_323_200
    )
    gone = history.Version(
        **common, member="", deleted=True, position=5, commit="e", landed="e" * 40, landed_at=1_772_323_300
    )
    told = history.History("0123456789abcdef", "main", "f", None, (there, gone))
    carrier = member(history.MEMBER, msgspec.json.encode(told))
    first, last = decisions.read(Capture("ledger", (carrier, member("m", REJECT)), ""))
    assert isinstance(first, Record)
    assert isinstance(last, Record)
    assert first.unit == last.unit == "decisions/x.yaml@0123456789ab"
    assert (first.value["actor"], first.value["position"]) == ({"name": "Ann", "email": "ann@team.example"}, 4)
    assert (last.type, "decision" in last.value) == ("decision_deleted", False)


@pytest.mark.parametrize(
    ("name", "head", "expected"),
    [
        ("decisions/x.yaml", b"decision: [broken", True),
        ("ledger/decisions/x.yml", b"", True),
        ("x.yaml", b"decision: reject\nlearning: lrn_1\n", True),
        ("x.yaml", b"decision: reject\n", False),
        ("decisions/0001-queues.md", b"decision: reject\nlearning: lrn_1\n", False),
        ("decisions/x.yaml", b"\x00", False),
    ],
)
def test_sniff(name: str, head: bytes, expected: bool) -> None:
    assert decisions.sniff(name, head) is expected


@pytest.mark.parametrize(
    "text",
    [
        f"decision: approve\nreason: ok\nitems: [{{learning: {ID}, text_sha256: {KEY}}}]\n",
        f"decision: forget\nreason: gone\nerase: true\nrecords: [{KEY}]\n",
        f"decision: dismiss\nreason: old\ntarget: thr_{KEY[:32]}\n",
        f"decision: restore\nreason: back\ntarget: {KEY[:32]}\n",
        f"decision: split\nreason: two\nlearning: {ID}\nclaims: [{ID}]\n",
        f"decision: approve\nreason: ok\nlearning: {ID}\ntext_sha256: {KEY}\nrevalidate_by: 2027-01-01\n",
        f"decision: reject\nreason: no\nlearning: {ID}\ncontent_key: {KEY}\nreach: project:web\n",
        "decision: experiment\nreason: try\n"
        f"experiment: {{name: a, learnings: [{ID}], share: 0.5, starts: 2026-01-01, ends: 2026-02-01}}\n",
    ],
)
def test_what_fits_is_read_and_written_again_as_it_was(text: str) -> None:
    decision = decisions.parse(text)
    assert decisions.parse(decisions.write(decision)) == decision
    assert decisions.sniff("x.yaml", text.encode())


def test_what_would_not_be_read_is_not_written() -> None:
    with pytest.raises(YamlError, match="needs `content_key`"):
        decisions.write({"decision": "reject", "learning": ID, "reason": "no"})


def test_the_published_schema_says_what_reading_checks() -> None:
    schema = decisions.decision_schema()
    decision = schema["$defs"]["Decision"]
    assert decision["additionalProperties"] is False
    assert decision["required"] == ["decision", "reason"]
    assert set(decision["properties"]["decision"]["enum"]) == set(DECISIONS) == set(decisions.NEEDS)
    needs: dict[str, list[list[str]]] = {}
    only: dict[str, list[str]] = {}
    for rule in decision["allOf"]:
        then = rule.get("then", {})
        if "allOf" in then:
            (name,) = rule["if"]["properties"]["decision"]["enum"]
            needs[name] = [[one["required"][0] for one in given["anyOf"]] for given in then["allOf"]]
        elif "required" in rule.get("if", {}) and "decision" in then.get("properties", {}):
            only[rule["if"]["required"][0]] = then["properties"]["decision"]["enum"]
    assert needs == {name: [list(need.fields) for need in some] for name, some in decisions.NEEDS.items()}
    assert only == {field: list(allowed) for field, allowed in decisions.ONLY.items()}


def test_the_vocabulary_is_the_contracts() -> None:
    hints = get_type_hints(decisions.NewText)
    assert set(get_args(get_args(hints["kind"])[0])) == set(ITEM_KINDS)
    assert set(get_args(get_args(hints["severity"])[0])) == set(SEVERITIES)
