from __future__ import annotations

import io
import random
from datetime import UTC, datetime
from functools import partial
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorelake.formats import documents, history, registry, teamai
from lorelake.formats.record import REASONS, Capture, Event, Member, Record, Refusal, Unit, UnitRecord

ANN, BOB = history.Name("Ann", "ann@team.example"), history.Name("Bob", "bob@team.example")
ROOT = "0123456789ab" + "0" * 28
VOTES = """\
version: 2
votes:
  alpha/pin:
    recalled_count: 3
    upvoted_count: 0
    last_recalled_at: "2026-03-09T10:00:00.000Z"
  pin:
    recalled_count: 0
    upvoted_count: 2
    last_upvoted_at: 2026-03-10T10:00:00Z
deltas: {}
"""
PROJECTS = """\
version: 1
projects:
  - id: web
    resources: {learnings: [alpha, shared]}
  - id: shop
    resources: {learnings: [shared], skills: [x]}
"""


def member(name: str, data: bytes | str) -> Member:
    raw = data.encode() if isinstance(data, str) else data
    return Member(name, len(raw), partial(io.BytesIO, raw))


def plain(name: str, data: bytes | str) -> Record | Refusal:
    (item,) = documents.read(Capture(name, (member(name, data),), ""))
    return item


def units(*captures: Capture, kept: str = "2026-03-10") -> dict[str, Unit]:
    found: dict[str, Unit] = {}
    for capture in captures:
        for item in documents.read(capture):
            assert isinstance(item, Record), item
            unit = found.setdefault(item.unit, Unit("documents", f"documents:{item.unit}", [], None, None))
            when = item.ts or datetime.fromisoformat(kept).replace(tzinfo=UTC)
            value = msgspec.json.decode(msgspec.json.encode(item.value))
            unit.records.append(UnitRecord(item.id, item.type, when, value, item.member, kept))
    return found


def version(path: str, position: int, line: str = "0", **more: Any) -> history.Version:
    """One version, a minute after the one before; `line` keeps the commits of two branches apart."""
    landed = f"{line}{position:039x}"
    given: dict[str, Any] = {
        "path": path, "member": f"{path}@{landed}", "deleted": False, "position": position, "commit": landed,
        "author": ANN, "landed": landed, "landed_at": 1_772_323_200 + 60 * position, "actor": ANN, "merged_by": None,
    } | more  # fmt: skip
    return history.Version(**given)


def branch(texts: dict[history.Version, str | None], ref: str = "main", projects: str = "", at: int = -1) -> Capture:
    told = history.History(ROOT, ref, "f" * 40, None, tuple(texts), projects, at)
    files = [member(v.member, text) for v, text in texts.items() if text is not None]
    return Capture(f"store@{ref}", (member(history.MEMBER, msgspec.json.encode(told)), *files), "", ref="main")


def events(*captures: Capture) -> list[Event]:
    (unit,) = units(*captures).values()
    return documents.events(unit)


def votes(text: str) -> dict[str, Any]:
    (event,) = events(Capture("c", (member("votes/ann.yaml", text),), ""))
    assert (event.kind, event.actor_class, event.text) == ("other", "system", ""), "no evidence, and nothing to echo"
    return event.attributes


def test_recalls_and_upvotes_of_one_namespaced_learning_are_one_entry() -> None:
    told = votes(VOTES)
    assert told["votes"] == [
        {
            "document_id": "alpha/pin", "recalled": 3, "upvoted": 2, "also": "pin",
            "last_recalled_at": "2026-03-09T10:00:00+00:00", "last_upvoted_at": "2026-03-10T10:00:00+00:00",
        }
    ]  # fmt: skip
    assert (told["apart"], told["unread"], told["unsynced"]) == ([], [], 0)


@pytest.mark.parametrize(
    "text",
    [
        VOTES.replace("recalled_count: 0", "recalled_count: 1"),
        VOTES.replace("deltas: {}", "") + "  beta/pin: {recalled_count: 1, upvoted_count: 0}\n",
    ],
)
def test_an_id_that_may_be_either_stays_apart_and_is_told_of(text: str) -> None:
    """The flat learning was recalled itself, or two namespaces have one of that name."""
    told = votes(text)
    assert told["apart"] == ["pin"]
    assert {"alpha/pin", "pin"} <= {entry["document_id"] for entry in told["votes"]}


def test_the_first_form_of_votes_is_one_recall_each() -> None:
    told = votes("votes:\n  alpha/pin: {at: 2026-03-09 10:00:00}\n  foo: {at: '2026-03-01'}\n  bad: {}\n")
    assert [(entry["document_id"], entry["recalled"], entry["upvoted"]) for entry in told["votes"]] == [
        ("alpha/pin", 1, 0),
        ("foo", 1, 0),
    ]
    assert told["votes"][0]["last_recalled_at"] == "2026-03-09T10:00:00+00:00"
    assert told["unread"] == ["bad"]


@pytest.mark.parametrize("entry", ["7", "{recalled_count: -1}", "{recalled_count: yes}", "{upvoted_count: 1.5}", "[]"])
def test_an_entry_that_counts_nothing_is_told_of_beside_its_neighbours(entry: str) -> None:
    told = votes(f"version: 2\nvotes:\n  a: {{recalled_count: 1}}\n  b: {entry}\n")
    assert [one["document_id"] for one in told["votes"]] == ["a"]
    assert told["unread"] == ["b"]


def test_deltas_that_were_never_synced_are_in_no_total() -> None:
    told = votes(VOTES.replace("deltas: {}", "deltas: {alpha/pin: {recalled_delta: 4, upvoted_delta: 0}}"))
    assert told["unsynced"] == 1
    assert told["votes"][0]["recalled"] == 3


IDS = st.sampled_from(["pin", "alpha/pin", "beta/pin", "foo", "alpha/foo"])
COUNTS = st.fixed_dictionaries({"recalled_count": st.integers(0, 9), "upvoted_count": st.integers(0, 9)})


@given(st.dictionaries(IDS, COUNTS))
def test_folding_loses_and_adds_no_count(given_votes: dict[str, dict[str, int]]) -> None:
    told = teamai.votes({"version": 2, "votes": given_votes})
    for name in ("recalled", "upvoted"):
        assert sum(entry[name] for entry in told["votes"]) == sum(one[f"{name}_count"] for one in given_votes.values())
    assert sorted(told["apart"]) == told["apart"]


@pytest.mark.parametrize(
    ("path", "data", "reason"),
    [
        ("votes/ann.yaml", "votes: 3\n", "wrong_shape"),
        ("votes/ann.yaml", "version: 2\n", "wrong_shape"),
        ("votes/ann.yaml", "votes: {a: 1\n", "bad_document"),
        ("votes/ann.yaml", b"votes: \xff", "not_utf8"),
        ("manifest/projects.yaml", "projects: {}\n", "wrong_shape"),
        ("votes/ann.yaml", " \n", "empty"),
    ],
)
def test_a_damaged_file_of_teamais_is_refused_with_its_place(path: str, data: bytes | str, reason: str) -> None:
    refusal = plain(path, data)
    assert isinstance(refusal, Refusal)
    assert (refusal.reason, refusal.member) == (reason, path)


@pytest.mark.parametrize(
    ("name", "head", "source"),
    [
        ("votes/ann.yaml", VOTES, "documents"),
        (".teamai/manifest/projects.yaml", PROJECTS, "documents"),
        ("skills/.removed", "old-skill\n", "documents"),
        ("votes/ann.yaml", "answer: yes\n", None),
        ("config/projects.yaml", PROJECTS, None),
        (".removed", "x\n", None),
    ],
)
def test_sniff(name: str, head: str, source: str | None) -> None:
    assert registry.sniff_member(name, head.encode()) == source


def test_lists_of_removed_resources_are_kept() -> None:
    (event,) = events(Capture("c", (member("skills/.removed", "b\n a \n\nb\n"),), ""))
    assert (event.kind, event.attributes) == ("other", {"teamai": "removed", "removed": ["a", "b"]})


@pytest.mark.parametrize(
    ("folder", "audience", "kind"),
    [
        ("alpha", "project:web", "document_version"),
        ("shared", "project:shared", "document_version"),
        ("beta", "project:beta", "other"),
    ],
)
def test_the_list_of_projects_says_whose_a_namespace_is(folder: str, audience: str, kind: str) -> None:
    """A namespace of two projects reaches neither through the other; one that no project lists is not read."""
    one = version(f"learnings/{folder}/a.md", 0)
    (unit,) = units(branch({one: "# A"}, projects=PROJECTS, at=0)).values()
    assert documents.facts(unit).audience == audience
    (event,) = documents.events(unit)
    assert (event.kind, event.on_live_path) == (kind, kind != "other")


@pytest.mark.parametrize("text", ["", "projects: 3", "projects: [", "version: 1"])
def test_without_a_valid_list_a_namespace_is_its_own_project(text: str) -> None:
    assert teamai.namespace_projects(text) is None
    (unit,) = units(branch({version("learnings/alpha/a.md", 0): "# A"}, projects=text)).values()
    assert documents.facts(unit).audience == "project:alpha"


def test_a_newer_list_of_projects_counts_whichever_was_read_first() -> None:
    text: dict[history.Version, str | None] = {version("learnings/alpha/a.md", 0): "# A"}
    older, newer = branch(text, projects=PROJECTS, at=0), branch(text, projects=PROJECTS.replace("web", "app"), at=4)
    for captures in ((older, newer), (newer, older)):
        (unit,) = units(*captures).values()
        assert documents.facts(unit).audience == "project:app"


LEARNINGS = teamai.LEARNINGS_BRANCH


def stood(*captures: Capture) -> list[tuple[str, str, str | None]]:
    return [(event.kind, event.text, event.attributes.get("shadowed_by")) for event in events(*captures)]


def test_the_learnings_branch_shadows_what_lands_elsewhere_under_its_name() -> None:
    """Of two files of one relative name teamai reads the branch's. What stood before is history."""
    first, later = version("learnings/a.md", 0), version("learnings/a.md", 3)
    own = version("learnings/a.md", 1, "b")
    main, contributed = branch({first: "# 1", later: "# 3"}), branch({first: "# 1", own: "# 2"}, LEARNINGS)
    expected = [
        ("document_version", "# 1", None),
        ("document_version", "# 2", None),
        ("other", "# 3", LEARNINGS),
    ]
    assert stood(main, contributed) == stood(contributed, main) == stood(main, contributed, main) == expected


@given(st.permutations(range(6)), st.lists(st.integers(0, 5), max_size=3))
def test_records_of_both_branches_in_any_order_and_twice_give_the_same_events(
    order: list[int], again: list[int]
) -> None:
    both = version("learnings/a.md", 0)
    contributed: dict[history.Version, str | None] = {
        both: "# 1",
        version("learnings/a.md", 1, "b"): "# 2",
        version("learnings/a.md", 4, "b"): "# 5",
    }
    landed: dict[history.Version, str | None] = {
        both: "# 1",
        version("learnings/a.md", 2): "# 3",
        version("learnings/a.md", 5): "# 5",
    }
    (unit,) = units(branch(landed), branch(contributed, LEARNINGS)).values()
    expected = documents.events(unit)
    records = unit.records
    unit.records = [records[number] for number in (*order, *again)]
    assert documents.events(unit) == expected
    assert [event.attributes.get("shadowed_by") for event in expected] == [None, None, LEARNINGS, None, None]


def test_a_business_repositorys_own_folder_is_the_same_place() -> None:
    own, later = version("learnings/a.md", 1, "b"), version(".teamai/learnings/a.md", 3)
    told = stood(branch({later: "# 3"}), branch({own: "# 2"}, LEARNINGS))
    assert told == [("document_version", "# 2", None), ("other", "# 3", LEARNINGS)]


def test_once_the_branch_gave_a_file_up_what_lands_elsewhere_stands() -> None:
    own, gone = version("learnings/a.md", 1, "b"), version("learnings/a.md", 2, "b", deleted=True, member="")
    main = branch({version("learnings/a.md", 3): "# 3"})
    told = stood(main, branch({own: "# 2", gone: None}, LEARNINGS))
    assert [kind for kind, _, _ in told] == ["document_version", "document_deleted", "document_version"]


def test_a_shadowed_deletion_retires_nothing() -> None:
    own, gone = version("learnings/a.md", 1, "b"), version("learnings/a.md", 2, deleted=True, member="")
    told = stood(branch({gone: None}), branch({own: "# 2"}, LEARNINGS))
    assert told == [("document_version", "# 2", None), ("other", "", LEARNINGS)]


def test_nothing_counts_as_merged_on_the_learnings_branch() -> None:
    """teamai pushes there without review, and its sync commits for others."""
    own = version("learnings/a.md", 1, "b", actor=BOB, merged_by=BOB)
    (event,) = events(branch({own: "# 2"}, LEARNINGS))
    assert event.attributes["merged_by"] is None
    merged = version("learnings/a.md", 4, actor=BOB, merged_by=BOB)
    contributed = branch({own: "# 2"}, LEARNINGS)
    told = events(branch({merged: "# 2"}), contributed)
    assert [event.attributes["merged_by"] for event in told] == [None, "bob@team.example"], "the same text, merged"
    assert {event.kind for event in told} == {"document_version"}


def test_a_commit_on_both_branches_is_one_version_and_keeps_its_merge() -> None:
    both = version("learnings/a.md", 1, actor=BOB, merged_by=BOB)
    for captures in ((branch({both: "# 1"}), branch({both: "# 1"}, LEARNINGS)),):
        for order in (captures, captures[::-1]):
            (event,) = events(*order)
            assert event.attributes["merged_by"] == "bob@team.example"


def test_archiving_ends_a_learning_with_who_and_why_and_is_no_known_text() -> None:
    first = version("learnings/a.md", 0)
    moved, gone = version("learnings/_archive/a.md", 2, actor=BOB, message="nobody uses it"), version(
        "learnings/a.md", 2, deleted=True, member="", actor=BOB
    )  # fmt: skip
    said, ended = events(branch({first: "# A", moved: "# A", gone: None}))
    assert (said.kind, ended.kind, ended.actor_alias) == ("document_version", "document_deleted", "bob@team.example")
    assert ended.attributes == {"deleted": True, "archived": True, "reason": "nobody uses it"}
    assert ended.text == ""
    back = version("learnings/a.md", 4)
    emptied = version("learnings/_archive/a.md", 4, deleted=True, member="")
    kinds = [e.kind for e in events(branch({first: "# A", moved: "# A", gone: None, back: "# A", emptied: None}))]
    assert kinds == ["document_version", "document_deleted", "other", "document_version"]


def test_an_archived_file_without_git_ends_what_was_met_before_it() -> None:
    live = units(Capture("c", (member("m/learnings/a.md", "---\ndate: 2026-03-02\n---\n# A"),), ""), kept="2026-03-05")
    put_away = Capture("c", (member("m/learnings/_archive/a.md", "---\ndate: 2026-03-02\n---\n# A"),), "")
    away = units(put_away, kept="2026-03-09")
    (unit,) = live.values()
    unit.records = [*away["m/learnings/a.md"].records, *unit.records]
    said, ended = documents.events(unit)
    assert (said.kind, ended.kind) == ("document_version", "document_deleted")
    assert (said.ts.day, ended.ts.day) == (2, 9)
    same_day = units(Capture("c", (member("m/learnings/a.md", "# A"),), ""), put_away)["m/learnings/a.md"]
    said, ended = documents.events(same_day)
    assert said.ts < ended.ts


def test_a_file_that_is_missing_from_a_folder_retires_nothing() -> None:
    """Absence is never a deletion: without Git only what is there speaks."""
    both = units(Capture("a", (member("m/learnings/a.md", "# A"),), ""), Capture("b", (member("m/b.md", "# B"),), ""))
    again = units(Capture("b", (member("m/b.md", "# B"),), ""), kept="2026-03-12")
    assert set(again) == {"m/b.md"}
    assert [event.kind for event in documents.events(both["m/learnings/a.md"])] == ["document_version"]


def test_a_deletion_in_git_has_actor_time_and_reason() -> None:
    one = version("docs/a.md", 0)
    gone = version("docs/a.md", 2, deleted=True, member="", actor=BOB, message="Replaced by the handbook.\n\nSee #12.")
    _, ended = events(branch({one: "# A", gone: None}))
    assert (ended.kind, ended.actor_alias) == ("document_deleted", "bob@team.example")
    assert ended.ts == datetime.fromtimestamp(1_772_323_320, UTC)
    assert ended.attributes["reason"] == "Replaced by the handbook.\n\nSee #12."


@pytest.mark.parametrize("landed_at", [1_772_323_200, 1_772_323_100])
def test_an_end_comes_after_what_it_ends_whatever_the_clock_says(landed_at: int) -> None:
    """Commits made by a script share a second, and a clock may have gone back; the ref's order stands."""
    one, gone = version("a.md", 0), version("a.md", 1, deleted=True, member="", landed_at=landed_at)
    back = version("a.md", 2, landed_at=landed_at)
    found = events(branch({one: "# A", gone: None, back: "# A"}))
    assert [event.kind for event in found] == ["document_version", "document_deleted", "document_version"]
    assert found[0].ts < found[1].ts < found[2].ts


def test_a_merge_does_not_hide_who_wrote() -> None:
    merged = version("learnings/a.md", 0, message="Merge branch 'x'", written="[teamai] CI extract knowledge from MR")
    (event,) = events(branch({merged: "# A"}))
    assert event.attributes["machine_written"] is True


@pytest.mark.parametrize(
    ("front", "when", "tags"),
    [
        ("date: 2026-03-02", "2026-03-02T00:00:00+00:00", None),
        ('date: "2026-03-02"', "2026-03-02T00:00:00+00:00", None),
        ("date: 2026-03-02T10:00:00+08:00", "2026-03-02T02:00:00+00:00", None),
        ("date: 2026-03-02 10:00:00", "2026-03-02T10:00:00+00:00", None),
        ("date: soon", None, None),
        ("date: [2026]", None, None),
        ("Tags: a，b, c", None, "a，b, c"),
        ("tags: [no, 2, ~]", None, ["no", 2, None]),
        ("author: [ann]\ntitle: {a: 1}\ntags: 7", None, 7),
    ],
)
@pytest.mark.parametrize("line", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_frontmatter_as_people_and_tools_write_it(
    front: str, when: str | None, tags: Any, line: str, mark: str
) -> None:
    """Both date forms: teamai's template leaves the date bare, so YAML makes a time of it."""
    text = mark + f"---\n{front}\n---\n# A\n\nKeep it small.\n".replace("\n", line)
    record = plain("learnings/a.md", text)
    assert isinstance(record, Record)
    assert (record.ts and record.ts.isoformat()) == when
    (event,) = events(Capture("c", (member("learnings/a.md", text),), ""))
    stated = event.attributes["frontmatter"]
    assert stated.get("tags", stated.get("Tags")) == tags
    assert event.attributes["title"] == "A"
    assert event.text[event.attributes["body_start"] :].lstrip().startswith("# A")


@pytest.mark.parametrize(
    ("text", "message", "machine"),
    [
        ("# A", "", False),
        ("---\nsource_mr: https://git.team.example/mr/1\n---\n# A", "", True),
        ("---\nauthor: github-actions[bot]\n---\n# A", "", True),
        ("---\nconfidence: 0.85\n---\n# A", "", False),
        ("# A", "[teamai] CI extract knowledge from MR", True),
        ("# A", "Explain [teamai] CI extract", False),
    ],
)
def test_what_a_model_drew_from_a_merge_request_is_a_machines(text: str, message: str, machine: bool) -> None:
    """Its author is whoever opened the request, so the name proves nothing; `confidence` is written to any file."""
    (event,) = events(branch({version("learnings/2026-03-04-a.md", 0, message=message): text}))
    assert event.attributes["machine_written"] is machine


def test_a_file_of_teamais_cut_anywhere_or_changed_is_kept_or_refused() -> None:
    chance = random.Random(20260302)
    for path, text in (
        ("votes/ann.yaml", VOTES),
        ("manifest/projects.yaml", PROJECTS),
        ("learnings/a.md", "---\ntitle: x\ndate: 2026-03-02\ntags: [a, b]\n---\n# A\n\n## 背景\n词。\n"),
    ):
        raw = text.encode()
        changed = []
        for _ in range(300):
            copy = bytearray(raw)
            copy[chance.randrange(len(copy))] = chance.randrange(256)
            changed.append(bytes(copy))
        for data in [*(raw[:end] for end in range(len(raw))), *changed]:
            item = plain(path, data)
            if isinstance(item, Refusal):
                assert item.reason in REASONS
            else:
                value = msgspec.json.decode(msgspec.json.encode(item.value))
                record = UnitRecord(item.id, item.type, datetime(2026, 3, 2, tzinfo=UTC), value, "", "2026-03-02")
                found = Unit("documents", "u", [record], None, None)
                assert len(documents.events(found)) == 1
                documents.facts(found)
                teamai.namespace_projects(data.decode()) if path.startswith("manifest") else None
