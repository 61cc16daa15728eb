"""A fact that a person took out, and the five ways in which it comes back: none of them serves it, a restore does.

The ways: the old transcript is read again, an import carries it, a merge revives it from a twin, a later step derives
it again, and others' praise promotes a copy. They come in one night, by different doors, and once more into a fresh
lake in the same run as the decision.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from lorelake.content.normalise import claim_id
from lorelake.recall.reader import open_release

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("flow")]

FACT = "Never log the request body in the payment handler, it holds card numbers."
TWIN = "Never log the request body in the payment handler, it holds card numbers, ever."
REWORDED = "Keep the request body out of the logs in the payment handler because it has card numbers."
NEIGHBOUR = "Never log the request body in the upload handler, it holds whole pictures."
MARKS = ("card numbers", "payment handler")
"""Words of the fact in whatever words; the neighbour has none of them."""
CUT = "Please add the receipt number to the payment page.\n\n"
SETTINGS = """
[team]
id = "t"
[ledger]
local_person = "mara"
[review]
reviewers = ["mara"]
[[people]]
id = "mara"
[[people]]
id = "jonas"
[[sources]]
path = "mara"
project = "shop"
person = "mara"
[[sources]]
path = "jonas"
project = "shop"
person = "jonas"
[[sources]]
path = "store"
project = "shop"
person = "jonas"
[[sources]]
path = "memory"
project = "shop"
[[sources]]
path = "ledger"
[recall]
projects = ["shop"]
"""


class Shop:
    """A small team and its lake."""

    def __init__(self, folder: Path, call: Any) -> None:
        self.folder, self.call = folder, call
        for name in ("mara", "jonas", "store/learnings/shop", "memory/.gitmem", "ledger/decisions"):
            (folder / name).mkdir(parents=True)
        (folder / "lorelake.toml").write_text(SETTINGS, encoding="utf-8")
        self.lake = folder / "lake"

    def says(self, who: str, digit: str, *texts: str, file: str = "") -> None:
        """A session in which somebody types these prompts, one a minute."""
        session = f"{digit}0000000-1111-4222-8333-444444444444"
        lines = [
            json.dumps({
                "type": "user", "sessionId": session, "uuid": f"{session[:8]}-0000-4000-8000-{number:012}",
                "parentUuid": None, "timestamp": f"2026-03-1{digit}T09:{number:02}:00.000Z", "isSidechain": False,
                "cwd": f"/home/{who}/src/shop", "version": "2.1.30", "gitBranch": "main", "userType": "external",
                "message": {"role": "user", "content": text},
            })
            for number, text in enumerate(texts, 1)
        ]  # fmt: skip
        (self.folder / who / f"{file or session}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def decides(self, name: str, **fields: Any) -> None:
        (self.folder / "ledger" / "decisions" / f"{name}.yaml").write_text(json.dumps(fields), encoding="utf-8")

    def night(self, day: str) -> None:
        said = self.call("nightly", "--settings", self.folder / "lorelake.toml", "--as-of", day, "--allow-shrink")
        assert said.code == 0, said.err

    def rows(self, statement: str) -> list[dict[str, Any]]:
        said = self.call("sql", statement, "--json", "--home", self.lake)
        assert said.code == 0, said.err
        return [json.loads(line) for line in said.out.splitlines()]

    @property
    def served(self) -> Path:
        return self.lake / "releases" / (self.lake / "CURRENT").read_text(encoding="utf-8").strip()

    def shown(self, question: str) -> list[str]:
        """What recall shows, by either engine."""
        found = set()
        with open_release(self.lake, projects=["shop"]) as reader:
            for engine in ("lexical", "lance"):
                found |= {hit.do for hit in reader.recall(question, limit=9, engine=engine).hits}
        return sorted(found)

    def indexed(self) -> str:
        """Every text of every index, both engines, the topics and the names of what is retired included."""
        import lancedb

        texts: list[str] = []
        for folder in sorted((self.served / "index").iterdir()):
            with sqlite3.connect(f"file:{folder / 'lexical.db'}?mode=ro", uri=True) as db:
                texts += db.iterdump()
            texts += map(str, lancedb.connect(str(folder)).open_table("learnings").to_arrow().to_pylist())
        return "\n".join(texts)


def first_night(shop: Shop) -> None:
    shop.says("mara", "0", FACT)
    shop.says("jonas", "1", NEIGHBOUR)


def rejected(fields: dict[str, Any]) -> dict[str, Any]:
    named = claim_id("project:shop", FACT)
    return {"decision": "reject", "learning": named, "reason": "The provider masks it.", **fields}


def five_ways(shop: Shop) -> None:
    shop.says("mara", "0", FACT, CUT + FACT, file="read-again")  # the same records, and the words once more
    (shop.folder / "memory" / ".gitmem" / "learnings.json").write_text(
        json.dumps([{
            "id": "3d9b1f60-8e27-4c5a-9f14-6b0d2e7c8a91", "learning_type": "pattern", "title": FACT,
            "description": FACT, "project": "shop", "created_at": "2026-03-06T15:40:12.000Z",
        }]), encoding="utf-8",
    )  # fmt: skip
    shop.says("jonas", "2", TWIN)  # near enough to be one cluster with it
    (shop.folder / "store" / "learnings" / "shop" / "logging.md").write_text(  # somebody's summary derives it again
        f'---\ntitle: What we log\nauthor: jonas\ndate: "2026-03-12"\n---\n\n# What we log\n\n## Do\n\n{REWORDED}\n',
        encoding="utf-8",
    )
    for name, words in (("endorse-fact", FACT), ("endorse-twin", TWIN)):  # and praise would promote the copies
        shop.decides(name, decision="endorse", learning=claim_id("project:shop", words), reason="So it is.")
    shop.says("jonas", "3", f"Yes: {TWIN}")


def nothing_of_it(shop: Shop) -> None:
    """No index, answer or active learning has a word of it; its neighbour is served as before."""
    text = shop.indexed()
    assert [mark for mark in MARKS if mark in text.casefold()] == []
    assert "upload handler" in text.casefold()
    for question in (FACT, REWORDED, "payment handler card numbers"):
        assert not any(mark in said.casefold() for said in shop.shown(question) for mark in MARKS)
    assert shop.shown("request body in the upload handler") == [NEIGHBOUR]
    found = shop.rows('select "do", state, state_reason from learnings')
    assert {row["state"] for row in found if any(mark in row["do"].casefold() for mark in MARKS)} <= {
        "rejected", "candidate",
    }  # fmt: skip
    # Held, not dropped: in other words it waits for a person, and says why.
    waiting = shop.rows("select title from review_queue where why = 'near_tombstone'")
    assert waiting
    (tombstone,) = shop.rows("select suppressed, held, reach, signature from tombstones")
    assert tombstone["suppressed"] >= 2
    assert tombstone["held"] >= 1
    assert tombstone["reach"] == "team"
    assert all(len(entry) == 10 for entry in tombstone["signature"])


def test_none_of_the_five_ways_serves_it_again_and_a_restore_does_once(call, tmp_path, without_suites) -> None:
    shop = Shop(tmp_path / "shop", call)
    first_night(shop)
    shop.night("2026-03-14")
    assert shop.shown(FACT)[0] == FACT
    earlier = shop.served.name
    (signed,) = [
        json.loads(path.read_bytes())[claim_id("project:shop", FACT)]
        for path in shop.served.glob("review/*/signatures.json")
    ]

    shop.decides("reject", **rejected(signed))
    five_ways(shop)
    for name in ("events", "evidence", "learnings", "state"):  # a rebuild from nothing but what was kept
        shutil.rmtree(shop.lake / name)
    shop.night("2026-03-15")
    nothing_of_it(shop)
    with open_release(shop.lake, release=earlier, projects=["shop"]) as reader:
        assert not any(mark in hit.do for hit in reader.recall(FACT, limit=9).hits for mark in MARKS)
    back = call("release", "rollback", earlier, "--settings", shop.folder / "lorelake.toml")
    assert back.code == 1
    assert "taken out since" in back.err

    shop.decides("restore", decision="restore", learning=claim_id("project:shop", FACT),
                 content_key=signed["content_key"], reason="They stopped masking it.")  # fmt: skip
    shop.night("2026-03-16")
    assert [said for said in shop.shown(FACT) if "payment handler" in said].count(FACT) == 1
    assert shop.rows("select content_key from tombstones") == []


def test_the_decision_and_all_of_it_may_come_in_one_night(call, tmp_path, without_suites) -> None:
    """Into a lake that never saw the fact: the decision has its content key, and no signature."""
    from lorelake.content.normalise import content_key

    shop = Shop(tmp_path / "shop", call)
    first_night(shop)
    shop.decides("reject", **rejected({"content_key": content_key(FACT)}))
    five_ways(shop)
    shop.night("2026-03-16")
    nothing_of_it(shop)
