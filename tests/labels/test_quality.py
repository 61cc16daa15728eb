"""What is admitted is worth keeping, and most of what is worth keeping is admitted: held against judgements."""

from __future__ import annotations

import csv
import importlib.util
import re
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SPEC = importlib.util.spec_from_file_location("quality", HERE / "quality.py")
quality = importlib.util.module_from_spec(SPEC)
sys.modules["quality"] = quality
SPEC.loader.exec_module(quality)

needs_data = pytest.mark.skipif(not quality.DATA.is_dir(), reason="../shared/data is not here")


def admitted(row_id, kind="decision", unit="slack:a", comment=None):
    seen = f'{{"comment": "{comment}"}}' if comment else "{}"
    payload = f'{{"item": {{}}, "seen": {seen}}}'
    return {"signal_id": row_id, "kind": kind, "event_id": row_id, "unit_id": unit, "payload": payload}


def verdicts(*ids, refused=()):
    return [{"signal_id": i, "admitted": i not in refused} for i in ids]


def test_a_label_is_met_by_event_by_comment_and_by_unit():
    signals = [admitted("e1"), admitted("e2", comment="c1"), admitted("e3", unit="slack:b"), admitted("e4")]
    judged = {"e1": True, "c1": False, quality.unit_key("slack:b"): True, "e4": True, "e5": True}
    found = quality.score(signals, verdicts("e1", "e2", "e3", "e4", refused={"e4"}), judged)
    assert (found.right, found.wrong, found.missed) == (2, 1, ["e4", "e5"])
    assert (found.precision, found.recall) == (2 / 3, 2 / 4)


def test_the_labels_are_judgements_by_id_and_nothing_else():
    rows = list(csv.DictReader(quality.LABELS.open(encoding="utf-8", newline="")))
    assert len(rows) >= 200
    assert len({row["id"] for row in rows}) == len(rows)
    for row in rows:
        assert re.fullmatch("[0-9a-f]{32}", row["id"])
        assert (row["corpus"] in ("data", "sample"), row["scope"] in ("event", "unit"), row["keep"] in "01") == (
            True,
        ) * 3


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sample", pytest.param("data", marks=needs_data)])
def test_most_of_what_is_kept_is_worth_it_and_most_of_what_is_worth_it_is_kept(name, tmp_path):
    """Documents are left out: somebody wrote them down on purpose, and all of them are kept."""
    signals, admissions = quality.corpus(name, tmp_path / "lake")
    documents = {
        row["id"] for row in csv.DictReader(quality.LABELS.open(encoding="utf-8")) if row["source"] == "documents"
    }
    judged = {label: keep for label, keep in quality.labels(name).items() if label not in documents}
    found = quality.score(signals, admissions, judged)
    assert found.precision >= 0.75, found
    assert found.recall >= 0.6, found
