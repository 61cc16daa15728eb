"""docs/time.md on the example team's release: an auditor's questions, each answered by one statement."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from lorelake.cli.sql import connect, query
from lorelake.tables.moves import REASONS

PAGE = (Path(__file__).parents[2] / "docs/time.md").read_text(encoding="utf-8")
QUESTIONS = dict(re.findall(r"^### (.+?)\n\n```sql\n(.*?)```", PAGE, re.S | re.M))
NEEDS_SEVERAL_NIGHTS = "What changed our mind about the past?"

pytestmark = pytest.mark.slow


def answer(folder: Path, question: str) -> list[dict[str, Any]]:
    with connect(folder) as db:
        names, rows = query(db, QUESTIONS[question])
    return [dict(zip(names, row, strict=True)) for row in rows]


def test_each_question_has_its_answer(base):
    answers = {question: answer(base.served, question) for question in QUESTIONS}
    assert answers.pop(NEEDS_SEVERAL_NIGHTS) == []
    assert len(answers) == 5
    assert all(len(rows) > 4 for rows in answers.values())


def test_the_answers_name_people_reasons_quotes_and_releases(base):
    who = answer(base.served, "Who decided where an item stands, and when?")
    assert {"mara", "ngozi"} <= {row["actor"] for row in who}
    why = answer(base.served, "Why?")
    assert ("retire", "retired") in {(row["decision"], row["rule"]) for row in why}
    assert all(row["quote"] for row in answer(base.served, "On what evidence?") if row["to_state"] == "active")
    believed = answer(base.served, "What did we believe on one day about another?")
    assert {"active", "candidate", "superseded"} <= {row["state"] for row in believed}
    served = answer(base.served, "What was served that day?")
    assert {row["release"] for row in served} == {"this release"}
    assert all(row["text_sha256"] for row in served)


def test_the_page_tells_every_reason_as_the_table_has_it():
    told = re.findall(r"^\| `(\w+)` \| (\w+) \| (.+?) \|$", PAGE, re.M)
    assert told == [(code, reason.state, reason.meaning) for code, reason in REASONS.items()]
