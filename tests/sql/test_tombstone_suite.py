"""Every text of the tombstone suite through the whole derivation at once: claims, tombstones, clusters, states.

Beside its other wordings each lesson comes back in its own words: as a document, from a backfill of years ago, from
another source, in another audience, in an old capture with other Markdown and line breaks, from another person later.
"""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from sql_samples import AS_OF, days_ago, decision, sha, signal, write

from lorelake.content.gist_signature import signature
from lorelake.content.normalise import content_key
from lorelake.lake import Lake, read_table
from lorelake.learnings.derive import learnings
from lorelake.settings import Review, Settings, Team
from lorelake.tables import CLAIMS, LEARNINGS, REGROUPINGS, REVIEW_QUEUE
from lorelake_assets import dbt

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("sql_oracle")]

SUITE = Path(__file__).parents[1] / "unit" / "content" / "tombstone_paraphrases.toml"
LESSONS = tomllib.loads(SUITE.read_text(encoding="utf-8"))["lesson"]
KEY = b"k" * 32
HELD = {"near_tombstone", "rejected"}


def texts(lesson: dict[str, Any], kind: str) -> list[str]:
    return [entry.split(": ", 1)[1] for entry in lesson.get(kind, ())]


SAID = days_ago(5)


def said(name: str, text: str, ts: datetime = SAID, **more: Any) -> dict[str, Any]:
    item = {"do": text, "trust_basis": "stated", **more.pop("item", {})}
    about = {"quote": text, "quote_end": len(text), "quote_sha256": sha(text), "payload": json.dumps({"item": item})}
    return signal(name, ts=ts, day=ts.date(), **about, **more)


def own_words(name: str, text: str) -> list[dict[str, Any]]:
    """The six ways in which a lesson comes back as it was said."""
    document = {"document": f"notes/{name}.md", "trust_basis": "reviewed"}
    wrapped = "**" + text.replace(" ", "\n ", 2).upper() + "**"
    return [
        said(f"{name}-import", text, kind="authored", unit_id=f"documents:{name}", item=document),
        said(f"{name}-backfill", text, days_ago(900)),
        said(f"{name}-slack", text, unit_id=f"slack:{name}", actor="ben"),
        said(f"{name}-elsewhere", text, audience="project:till", project="till"),
        said(f"{name}-capture", wrapped, days_ago(8)),
        said(f"{name}-later", text, days_ago(0), actor="cho"),
    ]


def merged(name: str, place: int) -> dict[str, Any]:
    """The first of every lesson's texts comes as a document that somebody else merged, which else is served at once."""
    document = {"document": f"notes/{name}-again.md", "trust_basis": "reviewed"}
    return {"kind": "authored", "unit_id": f"documents:{name}-again", "item": document} if place == 0 else {}


@pytest.fixture(scope="module", params=["the lake has the words", "only the signature is left"])
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[tuple[str, str]]]:
    """(state, reason) of what became of each text, by text; a text that met a tombstone at its own audience."""
    known = request.param == "the lake has the words"
    signals, ledger = [], []
    for number, lesson in enumerate(LESSONS):
        name, text = f"lesson{number:02}", lesson["text"]
        if known:
            signals += [said(name, text), *own_words(name, text)]
        others = [*texts(lesson, "again"), *texts(lesson, "stay")]
        signals += [said(f"{name}-{place:02}", other, **merged(name, place)) for place, other in enumerate(others)]
        signed = [] if known else signature(text, key=KEY)
        named = "lrn_" + sha(name)[:32]
        ledger.append(decision(name, "reject", named, content_key=content_key(text), signature=signed))
    admitted = [{"signal_id": s["signal_id"], "admitted": True, "rule": "admitted", "detail": ""} for s in signals]
    claims, candidates, moved = learnings(signals, admitted, ledger, [], KEY)
    lake = Lake(tmp_path_factory.mktemp("suite"))
    rows = {"signals": signals, "admissions": admitted, "ledger": ledger, "claims": claims}
    write(lake, {**rows, "supersession_candidates": candidates, REGROUPINGS.name: moved})
    dbt.build(lake, AS_OF, Settings(team=Team("t"), review=Review(require="none")))
    standing = {
        row["learning_id"]: (row["state"], row["state_reason"])
        for row in read_table(LEARNINGS, lake.table(LEARNINGS)).iter_rows(named=True)
    }
    queued = set(read_table(REVIEW_QUEUE, lake.table(REVIEW_QUEUE)).filter(why="near_tombstone")["learning_id"])
    holding = {learning for learning, (_, reason) in standing.items() if reason == "near_tombstone"}
    assert queued == holding, "what is held waits for a person"
    quote = {row["signal_id"]: row["quote"] for row in signals}
    found: dict[str, set[tuple[str, str]]] = {}
    for row in read_table(CLAIMS, lake.table(CLAIMS)).iter_rows(named=True):
        found.setdefault(quote[row["signal_id"]], set()).add(standing[row["learning_id"]])
    return found


def test_nothing_that_was_taken_out_is_served_in_any_words(built: dict[str, set[tuple[str, str]]]) -> None:
    back = [text for lesson in LESSONS for text in texts(lesson, "again") if not {r for _, r in built[text]} <= HELD]
    assert back == []
    own = [text for lesson in LESSONS for text in (lesson["text"],) if text in built]
    assert all({state for state, _ in built[text]} == {"rejected"} for text in own)
    assert Counter(reason for states in built.values() for _, reason in states)["near_tombstone"] > 100


def test_every_neighbour_is_served_as_if_nothing_had_been_taken_out(built: dict[str, set[tuple[str, str]]]) -> None:
    stay = [text for lesson in LESSONS for text in texts(lesson, "stay")]
    assert len(stay) > 100
    gone = [(text, built[text]) for text in stay if {state for state, _ in built[text]} - {"active", "superseded"}]
    assert gone == []
