from __future__ import annotations

import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from gitlab_samples import SETTINGS, export, note, on_line, read, request, told, units

from lorelake.formats import gitlab
from lorelake.formats.bots import is_bot, is_bot_name
from lorelake.formats.record import Capture, Member

REAL = Path(__file__).resolve().parents[4] / "shared" / "data" / "gitlab" / "handbook-sample"


def test_a_request_from_opening_to_merge() -> None:
    diff = {
        "head_commit_sha": "c" * 40,
        "merge_request_diff_commits": [
            {"sha": "c" * 40, "message": "Cache rates", "committed_date": "2026-03-02T07:00:00.000Z",
             "authored_date": "2026-03-01T07:00:00.000Z",
             "commit_author": {"name": "Ana", "email": "ana@example.com"}},
        ],
        "merge_request_diff_files": [
            {"new_path": "src/rates.py", "old_path": "src/rates.py", "utf8_diff":
             "@@ -1,2 +1,3 @@\n a\n+secret sauce\n b"},
        ],
    }  # fmt: skip
    merged = request(
        note("approved this merge request", 1, 3, system=True, system_note_metadata={"action": "approved"}),
        state="merged", merge_request_diff=diff, approvals=[{"user_id": 3, "created_at": "2026-03-02T09:01:00.000Z"}],
        metrics={"merged_at": "2026-03-02T10:00:00.000Z", "merged_by_id": 3},
    )  # fmt: skip
    records, refusals = read(export([merged]))
    assert not refusals
    assert "secret sauce" not in json.dumps([one.value for one in records])
    events = told(export([merged]))
    assert [(event.kind, event.actor_alias, event.actor_class, event.text) for event in events] == [
        ("commit", "ana@example.com", "human", "Cache rates"),
        ("merge_request_opened", "id:1", "human", "Cache rates\n\nFor an hour."),
        ("review", "id:3", "human", ""),
        ("system_note", "id:3", "system", "approved this merge request"),
        ("merge_request_merged", "id:3", "human", ""),
    ]
    files = [{"path": "src/rates.py", "hunks": [[2, 2]]}]
    assert events[0].attributes["files"] == events[1].attributes["files"] == files
    assert (events[2].attributes["state"], events[4].attributes["name"]) == ("APPROVED", "Person 3")
    found = units([("2026-03-02", records)])["77!4"]
    assert (gitlab.facts(found).remote, gitlab.facts(found).branch) == ("77", "cache")


@pytest.mark.parametrize(
    "more",
    [
        {"metrics": {"latest_closed_at": "2026-03-02T10:00:00.000Z", "latest_closed_by_id": 3}},
        {"events": [{"action": "closed", "author_id": 3, "created_at": "2026-03-02T10:00:00.000Z"}]},
        {"events": [{"action": 3, "author_id": 3, "created_at": "2026-03-02T10:00:00.000Z"}]},
        {"notes": [note("closed", by=3, system=True, created_at="2026-03-02T10:00:00.000Z",
                        system_note_metadata={"action": "closed"})]},
    ],
)  # fmt: skip
def test_who_closed_it_is_found_where_the_export_has_it(more: dict[str, Any]) -> None:
    closed = [event for event in told(export([request(state="closed") | more])) if event.kind == "merge_request_closed"]
    assert [(event.actor_alias, event.ts.hour) for event in closed] == [("id:3", 10)]


def test_thread_states_and_a_reopening() -> None:
    settled = {"resolved_at": "2026-03-02T10:00:00.000Z", "resolved_by_id": 1}
    moved = {"new_path": "src/rates.py", "old_path": "src/rates.py", "new_line": 25, "head_sha": "e" * 40}
    first = on_line("Use Decimal.", 19, 1, **settled)
    reply = note("Done in 09bd59e.", 2, 1, discussion_id="d1", type="DiscussionNote")
    outdated = on_line("Name it.", 19, 3, change_position=moved) | {"position": None}
    still = on_line("Why an hour?", 19, 4) | {"position": moved}
    night = export([request(first, reply, outdated, still)])
    events = [event for event in told(night) if event.kind == "review_comment"]
    states = [(event.attributes["resolved"], event.attributes["outdated"]) for event in events]
    assert states == [(True, False), (True, False), (False, True), (False, False)]
    assert {(event.path, event.line, event.revision) for event in events} == {("src/rates.py", 19, "a" * 40)}
    assert events[3].attributes["line_now"] == 25
    assert (events[1].reply_to, events[1].attributes["resolved_by"]) == (events[0].record_id, "id:1")
    reopened = first | {"resolved_at": None, "resolved_by_id": None, "updated_at": "2026-03-03T10:00:00.000Z"}
    for order in ([night, export([request(reopened, reply, outdated, still)])], None):
        nights = order or [export([request(reopened, reply, outdated, still)]), night]
        again = [event for event in told(*nights) if event.kind == "review_comment"]
        assert [event.record_id for event in again] == [event.record_id for event in events], "no new remark"
        assert again[0].attributes["resolved"] is False


def test_a_note_without_id_stays_the_same_note_when_edited() -> None:
    before, other = note("Twice.", 1), note("Twice.", 2)
    after = note("Thrice.", 1, updated_at="2026-03-03T09:00:00.000Z", award_emoji=[{"name": "thumbsup"}])
    events = [one for one in told(export([request(before, other)]), export([request(after, other)])) if
              one.kind == "comment"]  # fmt: skip
    assert [event.text for event in events] == ["Thrice.", "Twice."]
    assert events[0].first_kept == "2026-03-03"
    assert events[1].first_kept == "2026-03-02"


def test_a_note_with_id_keeps_it() -> None:
    assert [one.id for one in read(export([request(note("hi", id=345))]))[0] if one.type == "note"] == ["note:345"]


def test_a_position_written_as_text_is_read() -> None:
    place = json.dumps({"new_path": "a.py", "old_path": "a.py", "new_line": 3, "head_sha": "a" * 40})
    old = note("Hm", type="DiffNote", position=place, original_position=place)
    (event,) = [one for one in told(export([request(old)])) if one.kind == "review_comment"]
    assert (event.path, event.line) == ("a.py", 3)


def test_suggestions_and_whether_they_were_taken() -> None:
    taken = on_line("```suggestion:-0+0\nx\n```", 3, suggestions=[{"applied": True}])
    (event,) = [one for one in told(export([request(taken)])) if one.kind == "review_comment"]
    assert (event.attributes["suggestion"], event.attributes["suggestion_applied"]) == (True, True)


def test_speakers() -> None:
    notes = [
        note("I prefer the first.", 1), note("bundle size 412 kB", 2, 8, author={"name": "Tugboat CI"}),
        note("added 1 commit", 3, system=True), note("gone", 4, None),
        note("scan", 5, 9, author={"name": "project_77_bot_5a"}), note("Hello", 6, 10, author={"name": "Claude"}),
    ]  # fmt: skip
    events = told(export([request(*notes)]))[1:]
    assert [(event.actor_alias, event.actor_class) for event in events] == [
        ("id:2", "human"), ("id:8", "bot"), ("id:2", "system"), ("ghost", "human"), ("id:9", "bot"), ("id:10", "human"),
    ]  # fmt: skip
    assert events[0].attributes["name"] == "Person 2"


@pytest.mark.parametrize(
    "login", ["renovate[bot]", "coderabbitai", "Copilot", "project_12_bot_ab12", "snyk-bot", "houndci-bot", "my_Bot"]
)
def test_robots_by_login(login: str) -> None:
    assert is_bot(login)


@pytest.mark.parametrize("name", ["botond", "Abbot", "talbot", "ci-fan", "Claude", "Linear"])
def test_people_whose_names_look_odd(name: str) -> None:
    assert not is_bot_name(name)
    assert name in ("Claude", "Linear") or not is_bot(name)


def test_an_export_without_any_project_id_is_known_by_its_first_request() -> None:
    def unnamed(iid: int) -> dict[str, Any]:
        value = request(iid=iid, created_at=f"2026-03-0{iid}T08:00:00.000Z")
        del value["target_project_id"]
        return value

    early, late = read(export([unnamed(2), unnamed(1)]))[0], read(export([unnamed(3), unnamed(2), unnamed(1)]))[0]
    keys = [{one.unit for one in records if one.type == "merge_request"} for records in (early, late)]
    assert keys[0] < keys[1]
    assert len(keys[1]) == 3
    found = units([("2026-03-02", late)])
    assert {gitlab.facts(unit).remote for unit in found.values()} == {None}


def test_the_number_is_the_key_and_the_path_the_project() -> None:
    """REST tells the number always, an export hardly ever the path: only the number makes both one unit."""
    records = read(export([request()], {"tree/project.json": SETTINGS | {"path_with_namespace": "Harbour/Web"}}))[0]
    assert {one.unit for one in records} == {"project:77", "77!4"}
    assert gitlab.facts(units([("2026-03-02", records)])["77!4"]).remote == "harbour/web"


def test_internal_notes_and_confidential_issues_stay_out() -> None:
    hidden = [note("the walrus plan", confidential=True), note("otter plan", 1, internal=True)]
    issues = [{"iid": 1, "title": "magpie", "confidential": True}, {"iid": 2, "title": "open issue"}]
    records, refusals = read(export([request(*hidden)], {"tree/project/issues.ndjson": issues}))
    everything = json.dumps([one.value for one in records]) + "".join(one.head + one.detail for one in refusals)
    assert not any(mark in everything for mark in ("walrus", "otter", "magpie"))
    assert Counter(one.reason for one in refusals) == {"private": 3}
    assert "open issue" in everything
    assert not read(export([request(*hidden)], include=("public", "private")))[1]


def test_other_relations_are_kept_without_events() -> None:
    other = {"tree/project/labels.ndjson": [{"id": 5, "title": "bug"}], "tree/project/auto_devops.ndjson": [None],
             "tree/project/milestones.ndjson": b""}  # fmt: skip
    records, refusals = read(export([], other))
    assert not refusals
    assert sorted((one.id, one.unit.partition(":")[0]) for one in records) == [
        ("labels:5", "project"),
        ("project", "project"),
    ]
    assert told(export([], other)) == []


def test_bad_records_are_refused_alone_with_a_reason() -> None:
    good, later = request(note("kept")), request(iid=5)
    broken = request("no object", note("when", created_at="yesterday"), note("who", author_id="nobody"), iid=6)  # type: ignore[arg-type]
    lines = [json.dumps(one) for one in (good, broken, request(iid=None), later)]
    lines.insert(1, '{"iid": 9, "title"')
    records, refusals = read(export([], {"tree/project/merge_requests.ndjson": "\n".join(lines).encode()}))
    assert [(one.reason, one.line) for one in refusals] == [
        ("not_json", 2), ("wrong_shape", 3), ("bad_time", 3), ("wrong_shape", 3), ("no_unit", 4),
    ]  # fmt: skip
    assert [one.id for one in records if one.type != "project"] == [
        "merge_request:4", next(one.id for one in records if one.type == "note"), "merge_request:6", "merge_request:5",
    ]  # fmt: skip


def test_an_export_of_one_file_is_read_like_its_lines() -> None:
    """GitLab before 13: every relation is a list in `project.json`, and a diff's parts had other names."""
    commit = {"id": "c" * 40, "message": "Cache rates", "author_name": "Ana", "author_email": "ana@harbour.example",
              "authored_date": "2016-03-02T08:00:00+00:00"}  # fmt: skip
    diff = {
        "state": "collected",
        "st_commits": [commit],
        "utf8_st_diffs": [{"new_path": "src/rates.py", "old_path": "src/rates.py", "diff": "@@ -1 +1,2 @@\n a\n+b"}],
    }
    whole = {
        "description": "d", "visibility_level": 10, "archived": False, "labels": [{"id": 3, "title": "bug"}],
        "issues": [{"id": 9, "title": "slow", "confidential": True}, {"id": 8, "title": "\ud800"}],
        "milestones": [], "merge_requests": [request(note("Use the cache.", id=5), merge_request_diff=diff), "odd"],
    }  # fmt: skip
    data = json.dumps(whole).encode()
    assert gitlab.sniff("project.json", data[:400])
    assert not gitlab.sniff("x.json", json.dumps({**whole, "web_url": "https://forge.example/x"}).encode())
    capture = Capture("e", (Member("project.json", len(data), lambda: io.BytesIO(data)),), "0" * 64)
    records, refusals = read(capture)
    assert [(one.unit, one.id) for one in records] == [
        ("project:77", "project"), ("project:77", "labels:3"), ("77!4", "merge_request:4"), ("77!4", "note:5"),
        ("77!4", f"commit:{'c' * 40}"),
    ]  # fmt: skip
    assert [one.reason for one in refusals] == ["private", "lone_surrogate", "wrong_shape"]
    (opened,) = (event for event in told(capture) if event.kind == "merge_request_opened")
    assert opened.attributes["files"] == [{"path": "src/rates.py", "hunks": [[2, 2]]}]
    lines = export([request(note("Use the cache.", id=5), merge_request_diff=diff)])
    assert [event.text for event in told(lines)] == [event.text for event in told(capture)]


def test_content_tells_what_is_gitlab() -> None:
    assert gitlab.sniff("any.ndjson", json.dumps(request()).encode() + b"\n" + json.dumps(request()).encode())
    assert gitlab.sniff("project.json", json.dumps(SETTINGS).encode())
    assert not gitlab.sniff("issues.ndjson", b'{"iid": 1, "title": "an issue"}')
    assert not gitlab.sniff("merge_requests.ndjson", b'{"type": "user", "uuid": "1"}')


def test_the_same_export_twice_changes_nothing() -> None:
    night = export([request(note("a"), on_line("b", 3, 1))])
    assert told(night, night) == told(night)


def test_a_real_export_closes_its_books() -> None:
    if not REAL.exists():
        pytest.skip("shared/data/gitlab is not here")
    files = sorted(path for path in REAL.rglob("*") if path.is_file())
    members = [
        Member(str(path.relative_to(REAL)), path.stat().st_size, lambda path=path: path.open("rb")) for path in files
    ]
    lines = [json.loads(line) for path in files if path.suffix == ".ndjson" for line in path.read_bytes().splitlines()]
    requests = [line for line in lines if line and "source_branch" in line]
    nested = sum(len(one["notes"]) + len(one["merge_request_diff"]["merge_request_diff_commits"]) for one in requests)
    records, refusals = read(Capture("handbook", tuple(members), "0" * 64))
    assert not refusals
    assert len(records) == 1 + sum(line is not None for line in lines) + nested == 38
    assert {one.unit for one in records if one.type == "merge_request"} == {"17756799!2", "17756799!3", "17756799!4"}
    events = [event for unit in units([("2026-03-02", records)]).values() for event in gitlab.events(unit)]
    assert Counter(event.kind for event in events) == {
        "merge_request_opened": 3, "merge_request_merged": 2, "merge_request_closed": 1, "comment": 1, "commit": 4,
        "system_note": 9,
    }  # fmt: skip
