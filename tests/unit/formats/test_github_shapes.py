"""The many shapes in which one GitHub request reaches a file, and the state that only some of them tell."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any

import pytest
from github_samples import ANA, API, PAGE, answer, comment, file, pull, read, remark, thread, told, units
from hypothesis import given, settings
from hypothesis import strategies as st

from lorelake.formats import github, registry
from lorelake.formats.record import Capture, Event, Record, Refusal

BO = {"login": "bo", "id": 8, "type": "User"}


def review(number: int, state: str, **more: Any) -> dict[str, Any]:
    return {
        "id": number, "pull_request_url": f"{API}/pulls/12", "state": state, "body": "", "user": BO,
        "submitted_at": "2026-03-02T09:30:00Z", "commit_id": "a" * 40, **more,
    }  # fmt: skip


def pushed(**more: Any) -> dict[str, Any]:
    """What `lorelake pull` lands of one request."""
    return {
        "type": "pull", "pull": pull(), "issue_comments": [], "review_comments": [], "reviews": [], "commits": [],
        "files": [], "events": [], "review_threads": [], **more,
    }  # fmt: skip


def told_thread(number: int, resolved: bool, outdated: bool, by: str | None = None) -> dict[str, Any]:
    return {
        "id": f"PRRT_{number}", "isResolved": resolved, "isOutdated": outdated, "path": "src/rates.py",
        "line": None if outdated else 19, "resolvedBy": {"login": by} if by else None,
        "comments": {"nodes": [{"databaseId": number}]},
    }  # fmt: skip


# --- state with who and when ------------------------------------------------------------------------------------


def test_settled_outdated_open_then_pushed_and_opened_again() -> None:
    """faults 24: three threads keep their state, place and count over a forced push and a reopening."""
    remarks = [remark(number, f"remark {number}", number) for number in (1, 2, 3)]
    gone = {"line": None, "position": None}
    night = file(pushed(
        pull=pull(updated_at="2026-03-02T12:00:00Z"), review_comments=[remarks[0], remarks[1] | gone, remarks[2]],
        review_threads=[told_thread(1, True, False, "bo"), told_thread(2, False, True), told_thread(3, False, False)],
    ))  # fmt: skip
    events = told(night)
    first = [event for event in events if event.kind == "review_comment"]
    assert [(event.attributes["resolved"], event.attributes["outdated"]) for event in first] == [
        (True, False), (False, True), (False, False),
    ]  # fmt: skip
    (closing,) = [event for event in events if event.attributes.get("action") == "thread_resolved"]
    assert (closing.actor_alias, closing.ts.day, closing.reply_to) == ("bo", 2, "review_comment:1")

    moved = {"commit_id": "e" * 40, "line": 31}
    later = file(pushed(
        pull=pull(updated_at="2026-03-03T12:00:00Z"),
        review_comments=[remarks[0] | moved, remarks[1] | gone | {"commit_id": "e" * 40}, remarks[2] | moved],
        review_threads=[told_thread(1, False, False), told_thread(2, False, True), told_thread(3, False, False)],
        events=[{"event": "head_ref_force_pushed", "id": 70, "actor": ANA, "commit_id": "e" * 40,
                 "created_at": "2026-03-03T11:00:00Z"}],
    ))  # fmt: skip
    assert told(night, later)[1].attributes["line_now"] == 31
    for nights in ([night, later], [later, night]):
        again = told(*nights)
        second = [event for event in again if event.kind == "review_comment"]
        assert [event.record_id for event in second] == [event.record_id for event in first], "no new remark"
        assert [(event.attributes["resolved"], event.attributes["outdated"]) for event in second] == [
            (False, False), (False, True), (False, False),
        ]  # fmt: skip
        assert {(event.path, event.line, event.revision) for event in second} == {("src/rates.py", 19, "a" * 40)}
        notes = [(event.attributes["action"], event.ts.day, event.actor_alias) for event in again
                 if event.kind == "system_note"]  # fmt: skip
        assert notes == [
            ("thread_resolved", 2, "bo"), ("head_ref_force_pushed", 3, "ana-r"), ("thread_reopened", 3, ""),
        ]  # fmt: skip


def test_a_reply_is_settled_with_its_thread() -> None:
    """The thread lists its first comments only; a reply beyond them belongs to it all the same."""
    rows = pushed(
        review_comments=[remark(1, "Use Decimal."), remark(2, "Done.", 1, in_reply_to_id=1)],
        review_threads=[told_thread(1, True, False, "bo")],
    )
    found = [event.attributes["resolved"] for event in told(file(rows)) if event.kind == "review_comment"]
    assert found == [True, True]


def test_an_answer_that_states_no_time_counts_by_its_day() -> None:
    """A query that did not ask for `updatedAt` is as new as the day it was kept, not the oldest of all."""
    whole = file(pushed(
        pull=pull(updated_at="2026-03-02T12:00:00Z"), review_comments=[remark(1, "remark 1")],
        review_threads=[told_thread(1, True, False, "bo")],
    ))  # fmt: skip
    for nights, resolved in (([whole, file(answer(thread("open", 1)))], False),
                             ([file(answer(thread("open", 1))), whole], True)):  # fmt: skip
        (event,) = [event for event in told(*nights) if event.kind == "review_comment"]
        assert event.attributes["resolved"] is resolved


def test_a_review_that_was_dismissed_says_so() -> None:
    first, second = file([review(99, "CHANGES_REQUESTED")]), file([review(99, "DISMISSED")])
    assert [event.attributes["state"] for event in told(first, second) if event.kind == "review"] == ["DISMISSED"]


def test_suggestions_are_kept_with_their_words() -> None:
    body = "Rather:\n```suggestion\nreturn quantize(x)\n```\nor nothing:\n```suggestion\n```\n```python\nx\n```"
    (event,) = told(file([remark(1, body)]))
    assert event.attributes["suggestions"] == [{"text": "return quantize(x)"}, {"text": ""}]


# --- shapes -----------------------------------------------------------------------------------------------------


def test_the_bundle_of_pull_tells_each_thing_once() -> None:
    commit = {
        "sha": "c" * 40, "url": f"{API}/commits/{'c' * 40}", "author": ANA, "parents": [],
        "commit": {"message": "Round", "author": {"name": "Ana", "date": "2026-03-02T09:45:00Z"}},
        "files": [{"filename": "src/rates.py", "patch": "@@ -1 +1 @@\n-secret\n+sauce"}],
    }  # fmt: skip
    touched = {"sha": "x", "filename": "src/rates.py", "status": "modified", "patch": "@@ -1 +1 @@\n-secret\n+sauce"}
    whole = pushed(
        issue_comments=[comment(5, "ACK")], review_comments=[remark(1, "Use Decimal.")], files=[touched],
        reviews=[review(99, "APPROVED")], commits=[commit],
        events=[
            {"event": "commented", "node_id": "x", **comment(5, "ACK")},
            {"event": "line-commented", "node_id": "x", "comments": [remark(1, "Use Decimal.")]},
            {"event": "reviewed", "node_id": "x", **review(99, "approved")},
            {"event": "committed", "sha": "c" * 40, "node_id": "x", "message": "Round",
             "author": {"name": "Ana", "email": "a@example.com", "date": "2026-03-02T09:45:00Z"}},
            {"event": "cross-referenced", "actor": BO, "created_at": "2026-03-02T11:00:00Z", "source": {}},
        ],
    )  # fmt: skip
    records, refusals = read(file(whole, "landing/merge_requests/github/github.com/harbour/api/12.json"))
    assert ({one.unit for one in records}, refusals) == ({"harbour/api#12"}, [])
    assert "sauce" not in json.dumps([one.value for one in records]), "what was changed is kept as lines"
    events = told(file(whole))
    assert Counter(event.kind for event in events) == {
        "merge_request_opened": 1, "comment": 1, "review_comment": 1, "review": 1, "commit": 1, "system_note": 1,
    }  # fmt: skip
    files = [{"path": "src/rates.py", "hunks": [[1, 1]]}]
    assert [event.attributes["files"] for event in events if "files" in event.attributes] == [files, files]


@pytest.mark.parametrize(
    "content",
    [
        pushed(),
        {"total_count": 1, "incomplete_results": False, "items": [pull()]},
        json.dumps([remark(1, "a")]).encode() + json.dumps([remark(2, "b")]).encode(),
        "\n".join(json.dumps(remark(number, "a line")) for number in (1, 2)).encode(),
        [[remark(1, "a")], [remark(2, "b")]],
        {"data": {"search": {"nodes": [{"number": 12, "title": "t", "url": f"{PAGE}/pull/12"}]}}},
        [{"number": 12, "title": "t", "url": f"{PAGE}/pull/12", "repository": {"nameWithOwner": "Harbour/API"}}],
        [{"cmd": "gh api repos/harbour/api/pulls/12/comments --jq '.[] | {user: .user.login, body}'",
          "json": [{"user": "ana-r", "body": "Use Decimal."}, {"user": "bo", "body": "Why?"}]}],
        [{"cmd": f"gh pr view {PAGE}/pull/12 --json title", "json": {"title": "t", "number": 12}}],
    ],
)  # fmt: skip
def test_every_shape_is_recognised_and_read(content: Any) -> None:
    capture = file(content)
    assert registry.sniff_member("x.json", capture.members[0].head()) == "github"
    records, refusals = read(capture)
    assert ({one.unit for one in records}, refusals) == ({"harbour/api#12"}, [])


def test_an_answer_without_a_request_is_refused() -> None:
    failed = {"data": {"repository": {"pullRequest": None}}, "errors": [{"message": "Could not resolve"}]}
    assert [one.reason for one in read(file(failed))[1]] == ["wrong_shape"]


def test_graphql_tells_reviews_remarks_and_the_timeline() -> None:
    request = {
        "number": 12, "url": f"{PAGE}/pull/12", "title": "t", "createdAt": "2026-03-02T08:00:00Z",
        "author": {"login": "renovate", "__typename": "Bot"}, "updatedAt": "2026-03-02T12:00:00Z",
        "mergedAt": "2026-03-04T08:00:00Z", "mergedBy": {"login": "bo"}, "mergeCommit": {"oid": "f" * 40},
        "commits": {"nodes": [{"commit": {"oid": "c" * 40, "message": "m", "committedDate": "2026-03-02T07:00:00Z"}}]},
        "reviews": {"nodes": [{
            "id": "PRR_kwDOQyo98M7exktF", "state": "COMMENTED", "body": "", "author": None,
            "submittedAt": "2026-03-02T09:00:00Z", "comments": {"nodes": [{
                "databaseId": 1, "body": "Use Decimal.", "author": {"login": "ana-r"}, "path": "src/rates.py",
                "createdAt": "2026-03-02T09:00:00Z", "outdated": True, "originalLine": 19,
                "originalCommit": {"oid": "a" * 40}, "commit": {"oid": "c" * 40},
                "reactionGroups": [{"content": "THUMBS_UP", "users": {"totalCount": 2}},
                                   {"content": "HEART", "users": {"totalCount": 0}}],
            }]},
        }]},
        "timelineItems": {"nodes": [
            {"__typename": "HeadRefForcePushedEvent", "id": "x", "actor": {"login": "ana-r"}, "createdAt":
             "2026-03-02T10:00:00Z", "beforeCommit": {"oid": "a" * 40}, "afterCommit": {"oid": "c" * 40}},
            {"__typename": "RenamedTitleEvent", "id": "y", "actor": None, "createdAt": "2026-03-02T10:01:00Z"},
        ]},
    }  # fmt: skip
    events = told(file({"data": {"repository": {"pullRequest": request}}}))
    assert [(event.kind, event.actor_alias, event.actor_class) for event in events] == [
        ("commit", "", "system"), ("merge_request_opened", "renovate[bot]", "bot"), ("review", "ghost", "human"),
        ("review_comment", "ana-r", "human"), ("system_note", "ana-r", "system"), ("system_note", "ghost", "system"),
        ("merge_request_merged", "bo", "human"),
    ]  # fmt: skip
    about = events[3].attributes
    assert (about["reactions"], about["outdated"], events[3].revision) == ({"+1": 2}, True, "a" * 40)
    assert [event.attributes["action"] for event in events if event.kind == "system_note"] == [
        "head_ref_force_pushed", "renamed",
    ]  # fmt: skip
    assert (events[4].attributes["before"], events[-1].revision) == ("a" * 40, "f" * 40)


def test_a_projection_without_numbers_meets_the_whole_comment() -> None:
    asked = {"cmd": "gh api repos/harbour/api/pulls/12/comments", "json": [
        {"user": "ana-r", "body": "Use Decimal.", "created_at": "2026-03-02T09:00:00Z"},
        {"user": "ana-r", "body": "Name it.", "created_at": "2026-03-02T09:00:00Z"},
    ]}  # fmt: skip
    listed = [remark(1, "Use Decimal."), remark(2, "Something else.")]
    for nights in ([file([asked]), file(listed)], [file(listed), file([asked])]):
        assert sorted(event.text for event in told(*nights)) == ["Name it.", "Something else.", "Use Decimal."]
    assert sorted(event.text for event in told(file([asked]), file(listed[:1]))) == ["Name it.", "Use Decimal."]
    alone = read(file([asked, asked]))[0]
    assert len({one.id for one in alone}) == 2


def test_one_bot_has_one_name_in_every_dialect() -> None:
    rows = [
        comment(1, "a", 0, user={"login": "dependabot[bot]", "id": 49, "type": "Bot"}),
        comment(2, "b", 1, user={"login": "dependabot", "__typename": "Bot"}),
        comment(3, "c", 2, user={"login": "app/dependabot", "is_bot": True}),
    ]
    assert {(event.actor_alias, event.actor_class) for event in told(file(rows))} == {("dependabot[bot]", "bot")}


def test_a_unit_tells_its_repository() -> None:
    assert github.place_of("github:git.x/harbour/api#12") == "git.x/harbour/api"


def test_hidden_comments_say_why() -> None:
    view = {"number": 12, "url": f"{PAGE}/pull/12", "comments": [
        {"id": "IC_kwDOABCD1234", "author": {"login": "bo"}, "body": "buy", "createdAt": "2026-03-02T09:00:00Z",
         "isMinimized": True, "minimizedReason": "spam"},
    ]}  # fmt: skip
    (event,) = [event for event in told(file(view)) if event.kind == "comment"]
    assert event.attributes["hidden_as"] == "spam"


# --- properties -------------------------------------------------------------------------------------------------


def pieces() -> list[Capture]:
    asked = {"cmd": "gh api repos/harbour/api/issues/12/comments", "json": [{"user": "ana-r", "body": "ACK"}]}
    return [
        file([remark(1, "Use Decimal."), remark(2, "Name it.", 1)]), file(answer(thread("resolved", 1))),
        file(pushed(review_threads=[told_thread(1, False, False)], pull=pull(updated_at="2026-03-05T09:00:00Z"))),
        file([comment(5, "ACK")]), file([asked]), file([comment(5, "ACK!", updated_at="2026-03-04T09:00:00Z")]),
    ]  # fmt: skip


@settings(deadline=None)  # a busy machine is no finding
@given(st.permutations(range(6)), st.lists(st.integers(0, 5), max_size=3))
def test_any_order_and_twice_is_the_same(order: list[int], twice: list[int]) -> None:
    """With equal first_kept, as a rebuild has it."""
    captures = pieces()

    def all_of(numbers: list[int]) -> list[Event]:
        records = [one for number in numbers for one in read(captures[number])[0]]
        return github.events(units([("2026-03-02", records)])["harbour/api#12"])

    assert all_of([*order, *twice]) == all_of([0, 1, 2, 3, 4, 5])


def test_a_list_cut_anywhere_keeps_what_is_whole() -> None:
    rows = [comment(number, f"remark {number} – ünïcode") for number in range(1, 5)]
    data = json.dumps(rows, ensure_ascii=False).encode()
    ends = [len(json.dumps(rows[: count + 1], ensure_ascii=False).encode()) - 1 for count in range(4)]
    for cut in range(len(data) - 200, len(data)):
        records, refusals = read(file(data[:cut]))
        assert len(records) == sum(end <= cut for end in ends), cut
        assert len(refusals) <= 1


def test_damaged_bytes_never_raise() -> None:
    source = random.Random(24)
    samples = [
        json.dumps(pushed(
            review_comments=[remark(1, "x")], reviews=[review(9, "APPROVED")], issue_comments=[comment(3, "y")],
            review_threads=[told_thread(1, True, False, "bo")],
            files=[{"filename": "a", "status": "added", "patch": "@@"}],
        )).encode(),
        json.dumps(answer(thread("resolved", 1), thread("outdated", 2))).encode(),
    ]  # fmt: skip
    for turn in range(2000):
        broken = bytearray(samples[turn % 2])
        for _ in range(source.randint(1, 3)):
            broken[source.randrange(len(broken))] = source.choice(b'0{}[]",:xn\x00\xff ')
        found = list(github.read(file(bytes(broken))))
        assert all(isinstance(one, Record | Refusal) for one in found)
        records = [one for one in found if isinstance(one, Record)]
        for unit in units([("2026-03-02", records)]).values():
            github.events(unit)
            github.facts(unit)
