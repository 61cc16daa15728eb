"""What teamai and GitMem counted of their own use: one row per item and voter, and nothing more is made of it."""

from __future__ import annotations

import json
import os
import random
import subprocess
from collections.abc import Callable
from datetime import UTC, date, datetime
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from lorelake.content.redaction import Redactor
from lorelake.events import people
from lorelake.events.imported_votes import Found, of_lake, totals
from lorelake.events.people import People
from lorelake.formats import registry
from lorelake.formats.record import Capture, Member, digest
from lorelake.lake import Lake, frame, write_table
from lorelake.settings import Person, Settings, Team
from lorelake.tables import EVENTS, IMPORTED_VOTES, PEOPLE, SESSIONS

ROOT = Path(__file__).resolve().parents[3]
NIGHTS = Callable[..., Any]
ANN = Person(id="ann", logins=("ann-w", "annw"))
PEOPLE_ROWS = people.directory(
    Settings(team=Team("t"), people=(ANN,)), [], Redactor(b"a key for tests, nothing more 32")
)

V1 = "votes:\n  pin: {at: '2026-03-01T10:00:00Z'}\n  old: {at: '2026-03-01T10:00:00Z'}\n"
V2 = """\
version: 2
votes:
  alpha/pin: {recalled_count: 3, upvoted_count: 0, last_recalled_at: "2026-03-09T10:00:00Z"}
  pin: {recalled_count: 0, upvoted_count: 2, last_upvoted_at: "2026-03-10T10:00:00Z"}
deltas: {alpha/pin: {recalled_delta: 4, upvoted_delta: 0}}
"""
LEARNING = "# {0}\n\nAlways {0} before the release.\n"
USAGE: dict[str, Any] = {
    "id": "u-1", "scar_id": "a1", "agent": "cli", "surfaced_at": "2026-03-05T10:00:00Z", "reference_type": "explicit",
    "created_at": "2026-03-05T10:00:30Z",
}  # fmt: skip


def captures(files: dict[str, str]) -> list[tuple[str, Capture]]:
    """Files without Git, each a capture of its own, as a folder of them is read."""
    found = []
    for name, text in files.items():
        data = text.encode()
        member = Member(name, len(data), partial(BytesIO, data))
        source = registry.sniff_member(name, member.head())
        assert source, name
        found.append((source, Capture(name, (member,), digest(text), project="shop")))
    return found


def counted(night: Any) -> Found:
    """The totals of a lake after its nights."""
    events = pl.scan_parquet(night.lake.days(EVENTS))
    return totals(events, night.sessions(), People(PEOPLE_ROWS))


def told(rows: list[dict[str, Any]], *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in names) for row in rows]


@pytest.fixture
def of_files(nights: NIGHTS) -> Callable[[dict[str, str]], list[dict[str, Any]]]:
    """The rows of one night over some files."""

    def made(files: dict[str, str]) -> list[dict[str, Any]]:
        night = nights()
        night.night(captures(files))
        return counted(night).rows

    return made


def votes(entry: str) -> str:
    return f"version: 2\nvotes:\n  {entry}\n"


def item(name: str, recalled: int = 1, upvoted: int = 0) -> str:
    return f"{name}: {{recalled_count: {recalled}, upvoted_count: {upvoted}}}"


# teamai


class Repository:
    """A store in Git; each commit is an hour after the one before."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.commits = folder, 0
        folder.mkdir(parents=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *command: str) -> str:
        when = f"2026-03-02T{self.commits:02}:00:00Z"
        names = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in (
            ("NAME", "Ann"), ("EMAIL", "ann@team.example"), ("DATE", when))}  # fmt: skip
        given = {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "HOME": str(self.folder.parent)}
        return subprocess.run(
            ["git", "-C", str(self.folder), *command], check=True, capture_output=True, text=True, env=given | names
        ).stdout.strip()

    def commit(self, branch: str, files: dict[str, str | None]) -> None:
        """Write, or with None remove, files on a branch; an unknown branch begins without a parent."""
        self.commits += 1
        known = self.git("branch", "--list", branch) or branch == "main"
        self.git(
            *(("checkout", "-q", branch) if self.commits > 1 and known else ("checkout", "-q", "--orphan", branch))
        )
        if not known:
            self.git("rm", "-rfq", ".")
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink() if text is None else path.write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "x")


def test_the_newest_version_counts_whichever_branch_it_stood_on(tmp_path: Path, nights: NIGHTS) -> None:
    """teamai moved votes to a branch without a common commit; recalls and upvotes stand under two ids."""
    store = Repository(tmp_path / "stores" / "memory")
    store.commit("main", {"votes/annw.yaml": V1, "learnings/alpha/pin.md": LEARNING.format("pin")})
    store.commit("teamai-reports", {"votes/annw.yaml": V2.replace("3,", "1,")})
    store.commit("teamai-reports", {"votes/annw.yaml": V2})
    store.git("checkout", "-q", "main")
    root = store.git("rev-list", "--max-parents=0", "main")[:12]
    night = nights()
    night.folder(store.folder.parent)
    (row,) = counted(night).rows
    assert row == {
        "total_id": digest("teamai", root, "alpha/pin", "ann")[:32], "system": "teamai", "store": root,
        "item_id": "alpha/pin", "also": ["pin"], "voter": "ann", "unit_id": f"documents:learnings/alpha/pin.md@{root}",
        "recalled": 3, "upvoted": 2, "refuted": 0, "last_recalled": datetime(2026, 3, 9, 10, tzinfo=UTC),
        "last_upvoted": datetime(2026, 3, 10, 10, tzinfo=UTC), "unsynced": 1, "is_apart": False, "is_deleted": False,
        "counted_at": datetime(2026, 3, 2, 3, tzinfo=UTC), "audience": row["audience"],
    }  # fmt: skip


@pytest.mark.parametrize("back", [False, True])
def test_a_file_that_was_deleted_keeps_its_counts_and_says_so(tmp_path: Path, nights: NIGHTS, back: bool) -> None:
    store = Repository(tmp_path / "stores" / "memory")
    store.commit("main", {"votes/annw.yaml": V2})
    store.commit("main", {"votes/annw.yaml": None, "README.md": "# Memory"})
    if back:
        store.commit("main", {"votes/annw.yaml": V2})
    night = nights()
    night.folder(store.folder.parent)
    assert told(counted(night).rows, "recalled", "is_deleted") == [(3, not back)]


def test_the_first_form_is_one_recall_each(of_files: Callable[..., Any]) -> None:
    rows = of_files({"m/votes/bo.yaml": V1})
    assert told(rows, "store", "item_id", "voter", "recalled", "upvoted", "last_upvoted") == [
        ("m", "old", "unknown:documents:bo", 1, 0, None),
        ("m", "pin", "unknown:documents:bo", 1, 0, None),
    ]


@pytest.mark.parametrize(
    ("entry", "learnings", "unit"),
    [
        (item("pin"), ["pin"], "pin"),
        (item("alpha/pin"), ["pin", "alpha/pin"], "alpha/pin"),
        (item("pin", 0, 2), ["alpha/pin"], "alpha/pin"),
        (item("pin", 0, 2), ["pin", "alpha/pin"], "pin"),
        (item("pin", 0, 2), ["alpha/pin", "beta/pin"], None),
        (item("pin", 1, 2), ["alpha/pin"], None),
        (item("gone"), ["pin"], None),
        (item("alpha/deep/pin"), ["alpha/deep/pin"], "alpha/deep/pin"),
    ],
)
def test_which_learning_an_id_means(
    of_files: Callable[..., Any], entry: str, learnings: list[str], unit: str | None
) -> None:
    """An upvote of a namespaced learning lands on its bare name; what was recalled under a name is that name's own."""
    files = {f"m/learnings/{name}.md": LEARNING.format(name) for name in learnings}
    (row,) = of_files({"m/votes/bo.yaml": votes(entry), **files})
    assert row["unit_id"] == (unit and f"documents:m/learnings/{unit}.md")


def test_counts_that_may_be_anothers_stay_apart_and_say_so(of_files: Callable[..., Any]) -> None:
    rows = of_files(
        {
            "m/votes/bo.yaml": votes(item("alpha/pin", 3) + "\n  " + item("pin", 1, 2)),
            "m/learnings/alpha/pin.md": LEARNING.format("pin"),
        }
    )
    assert told(rows, "item_id", "recalled", "upvoted", "is_apart", "unit_id") == [
        ("alpha/pin", 3, 0, False, "documents:m/learnings/alpha/pin.md"),
        ("pin", 1, 2, True, None),
    ]


def test_two_names_of_one_person_have_one_sum_and_two_stores_two(of_files: Callable[..., Any]) -> None:
    rows = of_files(
        {
            "m/votes/ann-w.yaml": votes(item("pin", 2, 1)),
            "m/votes/annw.yaml": votes(item("pin", 3)),
            "m/votes/bo.yaml": votes(item("pin", 5)),
            "n/.teamai/votes/annw.yaml": votes(item("pin", 7)),
            "n/.teamai/learnings/pin.md": LEARNING.format("pin"),
        }
    )
    assert sorted(told(rows, "store", "voter", "recalled", "upvoted", "unit_id"), key=str) == [
        ("m", "ann", 5, 1, None),
        ("m", "unknown:documents:bo", 5, 0, None),
        ("n", "ann", 7, 0, "documents:n/.teamai/learnings/pin.md"),
    ]


@pytest.mark.parametrize("newest", ["n/votes/annw.yaml", "n/.teamai/votes/annw.yaml"])
def test_of_two_places_of_one_store_the_newer_file_counts(nights: NIGHTS, newest: str) -> None:
    """A business repository that moved teamai's folders below `.teamai/`, or out of it."""
    files = {name: votes(item("pin", 9)) for name in ("n/votes/annw.yaml", "n/.teamai/votes/annw.yaml")}
    night = nights()
    night.night(captures(files), as_of=date(2026, 3, 10))
    night.night(captures({newest: votes(item("pin", 4))}), as_of=date(2026, 3, 12))
    assert told(counted(night).rows, "store", "recalled") == [("n", 4)]


@pytest.mark.parametrize("bad", ["bad: 7", item("bad", 10**12), item("bad", 1, 10**18), item("bad", 10**26)])
def test_an_entry_that_counts_nothing_is_counted_as_unread(nights: NIGHTS, bad: str) -> None:
    night = nights()
    night.night(captures({"votes/bo.yaml": votes(item("pin") + "\n  " + bad)}))
    found = counted(night)
    assert (told(found.rows, "store", "item_id"), found.unread) == ([(".", "pin")], 1)


# GitMem


def usage(**changes: Any) -> dict[str, Any]:
    return USAGE | changes


def test_usage_rows_are_summed_by_item_and_agent(of_files: Callable[..., Any]) -> None:
    scar = {"id": "a1", "learning_type": "scar", "title": "Back up first", "created_at": "2026-03-01T10:00:00Z"}
    rows = of_files(
        {
            "learnings.json": json.dumps([scar]),
            "scar_usage.json": json.dumps(
                [
                    usage(),
                    usage(id="u-2", reference_type="none", surfaced_at="2026-03-07T10:00:00Z"),
                    usage(id="u-3", reference_type="refuted", surfaced_at="2026-03-06T10:00:00Z"),
                    usage(id="u-4", agent="desktop", reference_type="acknowledged"),
                    usage(id="u-5", scar_id="Back up first"),
                    usage(id="u-6", scar_id="gone"),
                ]
            ),
        }
    )
    assert told(rows, "store", "item_id", "voter", "unit_id", "recalled", "upvoted", "refuted") == [
        ("shop", "Back up first", "unknown:gitmem:cli", "gitmem:learning:a1", 1, 1, 0),
        ("shop", "a1", "unknown:gitmem:cli", "gitmem:learning:a1", 3, 1, 1),
        ("shop", "a1", "unknown:gitmem:desktop", "gitmem:learning:a1", 1, 0, 0),
        ("shop", "gone", "unknown:gitmem:cli", None, 1, 1, 0),
    ]
    assert (rows[1]["last_recalled"].day, rows[1]["last_upvoted"].day, rows[2]["last_upvoted"]) == (7, 5, None)


def test_a_title_of_two_learnings_names_neither(of_files: Callable[..., Any]) -> None:
    scar = {"id": "a1", "learning_type": "scar", "title": "Back up first", "created_at": "2026-03-01T10:00:00Z"}
    files = {"learnings.json": json.dumps([scar, scar | {"id": "a2"}])}
    (row,) = of_files({**files, "scar_usage.json": json.dumps([usage(scar_id="Back up first")])})
    assert row["unit_id"] is None


def test_a_usage_row_counts_once_in_its_newest_version(nights: NIGHTS) -> None:
    night = nights()
    night.night(captures({"scar_usage.json": json.dumps([usage(reference_type="none")])}), as_of=date(2026, 3, 10))
    night.night(captures({"copy/scar_usage.json": json.dumps([usage(), usage()])}), as_of=date(2026, 3, 12))
    assert told(counted(night).rows, "recalled", "upvoted") == [(1, 1)]


# all


def test_the_audience_is_the_narrowest_of_counts_and_document() -> None:
    """Private counts of a team's document, and a team's counts of a private one, are both private."""
    stated = {"teamai": "votes", "apart": [], "unread": [], "unsynced": 0}
    entry = {"recalled": 1, "upvoted": 0, "last_recalled_at": None, "last_upvoted_at": None}
    plain: dict[str, Any] = {c.name: None for c in EVENTS.columns} | {
        "source": "documents", "kind": "other", "unit_kind": "document", "seq": 0, "project": "shop",
        "ts": datetime(2026, 3, 1, tzinfo=UTC),
    }  # fmt: skip
    events, units = [], []
    for store, counts, document in (
        ("a", "person:ann", "team"), ("b", "project:shop", "person:ann"), ("c", "project:shop", "team"),
        ("d", "team", "project:shop"), ("e", "team", "team"),
    ):  # fmt: skip
        told_of = json.dumps(stated | {"votes": [entry | {"document_id": "pin"}]}, separators=(",", ":"))
        unit = f"documents:{store}/votes/bo.yaml"
        events.append(plain | {"unit_id": unit, "path": unit[10:], "audience": counts, "attributes": told_of})
        for name, audience in ((unit, counts), (f"documents:{store}/learnings/pin.md", document)):
            units.append({"unit_id": name, "unit_kind": "document", "audience": audience})
    frames = pl.DataFrame(events, schema=EVENTS.polars_schema()).lazy(), pl.DataFrame(units)
    found = totals(*frames, People([])).rows
    assert told(found, "store", "audience") == [
        ("a", "person:ann"), ("b", "person:ann"), ("c", "project:shop"), ("d", "project:shop"), ("e", "team"),
    ]  # fmt: skip


FILES = {
    "m/votes/annw.yaml": V2,
    "m/votes/bo.yaml": V1,
    "m/learnings/alpha/pin.md": LEARNING.format("pin"),
    "scar_usage.json": json.dumps([usage(), usage(id="u-2")]),
}


def test_any_order_and_twice_give_the_same_rows(nights: NIGHTS) -> None:
    night = nights()
    night.night(captures(FILES))
    once = counted(night)
    assert len(once.rows) == 4
    chance = random.Random(7)
    events, units = pl.concat([pl.read_parquet(path) for path in night.lake.days(EVENTS)]), night.sessions()
    for seed in range(5):
        mixed = events.sample(fraction=1, shuffle=True, seed=seed), units.sample(fraction=1, shuffle=True, seed=seed)
        assert totals(mixed[0].lazy(), mixed[1], People(chance.sample(PEOPLE_ROWS, len(PEOPLE_ROWS)))) == once
    night.night(captures(FILES), as_of=date(2026, 3, 21))
    assert counted(night) == once
    other = nights("other")
    for name in reversed(FILES):
        other.night(captures({name: FILES[name]}))
    assert counted(other) == once


def test_a_lake_of_nothing_has_none_and_one_with_votes_keeps_the_contract(tmp_path: Path, nights: NIGHTS) -> None:
    empty = Lake(tmp_path / "empty")
    for table in (PEOPLE, SESSIONS):
        write_table(table, frame(table, []), empty.table(table))
    assert of_lake(empty) == Found([], 0)
    night = nights()
    night.night(captures(FILES))
    write_table(PEOPLE, frame(PEOPLE, PEOPLE_ROWS), night.lake.table(PEOPLE))
    write_table(SESSIONS, night.sessions(), night.lake.table(SESSIONS))
    found = of_lake(night.lake)
    assert frame(IMPORTED_VOTES, found.rows).height == len(found.rows) == 4


def test_only_the_other_memorys_own_figure_reads_what_it_counted() -> None:
    """They are nobody's vote and no showing here, so no trust, state, confidence or answer may rest on them."""
    places = [
        ROOT / "models",
        *(ROOT / "pipelines" / "lorelake" / stage for stage in ("evidence", "learnings", "recall")),
    ]
    read = [path for place in places for path in place.rglob("*") if path.suffix in (".sql", ".py")]
    assert len(read) > 40
    readers = {path.name for path in read if IMPORTED_VOTES.name in path.read_text(encoding="utf-8")}
    assert readers == {"stg_imported_votes.sql", "trust.sql"}
    macros = (ROOT / "models/macros/trust.sql").read_text(encoding="utf-8").split("{% macro ")
    (macro,) = (macro for macro in macros if IMPORTED_VOTES.name in macro)
    used = [line for line in macro.splitlines() if "counted_elsewhere." in line and " as " in line]
    fed = {line.rsplit(" as ", 1)[1].strip(",") for line in used}
    assert fed == {"recalled", "upvoted", "since_recall"}
    after = macro[macro.index("rounded as (") :].splitlines()
    reading = [line for line in after if any(name in line for name in fed)]
    assert ["teamai_formula" in line for line in reading] == [True]
