from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from github_samples import ANA, API, PAGE, answer, comment, file, pull, read, remark, thread, told, units

from lorelake.formats import github
from lorelake.formats.patches import changed_lines
from lorelake.formats.record import Record, Refusal

REAL = Path(__file__).resolve().parents[4] / "shared" / "data" / "github"


# --- what a request says ----------------------------------------------------------------------------------------


def test_a_request_is_opened_reviewed_and_merged() -> None:
    merged = pull(
        state="closed", merged_at="2026-03-03T08:00:00Z", closed_at="2026-03-03T08:00:00Z", merged_by={"login": "bo"}
    )
    review = {
        "id": 99, "pull_request_url": f"{API}/pulls/12", "state": "CHANGES_REQUESTED", "body": "Not in SQL.",
        "submitted_at": "2026-03-02T09:30:00Z", "user": {"login": "bo", "type": "User"}, "commit_id": "a" * 40,
    }  # fmt: skip
    commit = {
        "sha": "c" * 40, "url": f"{API}/commits/{'c' * 40}", "author": ANA, "parents": [],
        "commit": {"message": "Round half to even", "author": {"name": "Ana", "email": "a@example.com", "date":
                   "2026-03-02T07:00:00Z"}, "committer": {"name": "Ana", "date": "2026-03-02T09:45:00Z"}},
        "files": [{"filename": "src/rates.py", "patch": "@@ -17,3 +17,3 @@\n a\n-b\n+B\n c"}],
    }  # fmt: skip
    events = told(
        file([merged]), file([review]), file([commit], "pulls/12/commits.json"), file([remark(1, "Why 2 digits?")])
    )
    assert [(event.kind, event.actor_alias, event.text) for event in events] == [
        ("merge_request_opened", "ana-r", "Round rates half to even\n\nBanks do."),
        ("review_comment", "ana-r", "Why 2 digits?"),
        ("review", "bo", "Not in SQL."),
        ("commit", "ana-r", "Round half to even"),
        ("merge_request_merged", "bo", ""),
    ]
    assert events[2].attributes["state"] == "CHANGES_REQUESTED"
    assert events[3].attributes["files"] == [{"path": "src/rates.py", "hunks": [[18, 18]]}]
    assert events[3].revision == "c" * 40
    facts = github.facts(units([("2026-03-02", read(file([merged]))[0])])["harbour/api#12"])
    assert (facts.kind, facts.remote, facts.branch) == ("merge_request", PAGE, "rates")


def test_a_request_closed_without_merge_says_so() -> None:
    closed = pull(state="closed", closed_at="2026-03-03T08:00:00Z")
    assert [event.kind for event in told(file(closed))] == ["merge_request_opened", "merge_request_closed"]


def test_a_pending_review_is_not_said_yet() -> None:
    pending = {"id": 5, "pull_request_url": f"{API}/pulls/12", "state": "PENDING", "body": "draft", "user": ANA}
    records, refusals = read(file([pending]))
    assert ([one.ts for one in records], refusals, told(file([pending]))) == ([None], [], [])


# --- review threads ---------------------------------------------------------------------------------------------


def test_after_a_forced_push_a_remark_is_the_same_remark() -> None:
    before = [remark(1, "Use Decimal.", 0), remark(2, "Agreed, fixed in 09bd59e.", 1, in_reply_to_id=1)]
    after = [one | {"line": None, "position": None, "commit_id": "e" * 40} for one in before]
    first, second = told(file(before)), told(file(before), file(after))
    assert len(first) == len(second) == 2
    for event in second:
        assert (event.path, event.line, event.revision) == ("src/rates.py", 19, "a" * 40)
    assert [event.attributes["outdated"] for event in first] == [False, False]
    assert [event.attributes["outdated"] for event in second] == [True, True]
    assert [event.reply_to for event in second] == [None, "review_comment:1"]
    assert {event.first_kept for event in second} == {"2026-03-02"}, "the words are those of the first night"


def test_a_plain_list_does_not_say_whether_a_thread_is_settled() -> None:
    (event,) = told(file([remark(1, "Use Decimal.")]))
    assert "resolved" not in event.attributes


def test_thread_states_and_a_reopening() -> None:
    night = file(answer(thread("resolved", 1), thread("outdated", 2), thread("open", 3)))
    events = {event.record_id: event.attributes for event in told(night) if event.kind == "review_comment"}
    states = {key[-1]: (one.get("resolved"), one.get("outdated")) for key, one in events.items()}
    assert states == {"1": (True, False), "2": (False, True), "3": (False, False)}
    assert events["review_comment:1"]["resolved_by"] == "bo"
    later = file(answer(thread("open", 1), thread("outdated", 2), thread("open", 3)))
    again = [event for event in told(night, later) if event.kind == "review_comment"]
    assert len(again) == 3
    assert {event.record_id[-1]: event.attributes["resolved"] for event in again} == {
        "1": False,
        "2": False,
        "3": False,
    }


def test_a_comment_fetched_two_ways_is_one() -> None:
    events = told(file([remark(1, "remark 1")]), file(answer(thread("resolved", 1))))
    found = [(event.record_id, event.attributes["resolved"]) for event in events if event.kind == "review_comment"]
    assert found == [("review_comment:1", True)]


def test_node_ids_hold_the_number() -> None:
    rest = {"id": 3737537349, "node_id": "PRR_kwDOQyo98M7exktF", "pull_request_url": f"{API}/pulls/12", "user": ANA,
            "state": "APPROVED", "body": "", "submitted_at": "2026-03-02T09:00:00Z"}  # fmt: skip
    view = {"number": 12, "url": f"{PAGE}/pull/12", "comments": [], "reviews": [
        {"id": "PRR_kwDOQyo98M7exktF", "author": {"login": "ana-r"}, "state": "APPROVED", "body": "",
         "submittedAt": "2026-03-02T09:00:00Z", "commit": {"oid": "a" * 40}},
    ]}  # fmt: skip
    old = {"event": "commented", "node_id": "MDEyOklzc3VlQ29tbWVudDI5MzM5OTAwOQ==", "actor": ANA, "user": ANA,
           "body": "hi", "created_at": "2026-03-02T09:00:00Z", "html_url": f"{PAGE}/pull/12#c"}  # fmt: skip
    ids = [one.id for one in read(file([rest]), file(view), file([old]))[0]]
    assert ids == ["review:3737537349", "pull:12", "review:3737537349", "comment:293399009"]


def test_suggestions_are_marked() -> None:
    (event,) = told(file([remark(1, "```suggestion\nreturn quantize(x)\n```")]))
    assert event.attributes["suggestion"] is True


# --- later changes ----------------------------------------------------------------------------------------------


def test_an_edit_is_seen_once_whatever_comes_first() -> None:
    a, b, c = comment(1, "A", 0), comment(2, "B", 1), comment(3, "C", 2)
    edited = comment(1, "A, with reasons", 0, updated_at="2026-03-05T09:00:00Z")
    for nights in ([[a, b], [edited, b, c]], [[edited, b, c], [a, b]], [[b, c], [a], [edited]]):
        assert [event.text for event in told(*map(file, nights))] == ["A, with reasons", "B", "C"]


def test_a_poorer_view_does_not_take_away_what_a_list_stated() -> None:
    poor = {"number": 12, "title": "Round rates half to even", "url": f"{PAGE}/pull/12", "headRefName": "rates"}
    (event,) = told(file([pull()]), file(poor))
    assert (event.kind, event.text) == ("merge_request_opened", "Round rates half to even\n\nBanks do.")


# --- who speaks -------------------------------------------------------------------------------------------------


def test_robots_are_told_from_people() -> None:
    spoken = [
        comment(1, "I prefer the first.", 0), comment(2, "Me too.", 1, user={"login": "bo", "type": "User"}),
        *(comment(3 + n, "Scan passed", 2 + n, user={"login": "scan-it", "type": "Bot"}) for n in range(3)),
        comment(6, "Consider a guard", 6, user={"login": "coderabbitai", "type": "User"}),
        comment(7, "> Consider a guard\n\nAgreed with the assistant", 7),
        comment(8, "Deps", 8, user={"login": "renovate[bot]"}), comment(9, "who was it", 9, user=None),
        comment(10, "Reviewed", 10, performed_via_github_app={"slug": "claude"}),
        comment(11, "From my phone", 11, performed_via_github_app={"slug": "nice-mobile-client"}),
    ]  # fmt: skip
    events = told(file(spoken))
    assert [event.actor_class for event in events] == [
        "human", "human", "bot", "bot", "bot", "bot", "human", "bot", "human", "bot", "human",
    ]  # fmt: skip
    assert events[8].actor_alias == "ghost"


def test_a_view_marks_its_robots() -> None:
    view = {"number": 12, "url": f"{PAGE}/pull/12", "author": {"login": "app/dependabot", "is_bot": True},
            "title": "Bump", "createdAt": "2026-03-02T09:00:00Z"}  # fmt: skip
    assert [event.actor_class for event in told(file(view))] == ["bot"]


# --- bundles, views, links --------------------------------------------------------------------------------------


def test_a_backup_bundle_gives_the_same_ids_as_lists() -> None:
    at = {"actor": {"login": "bo", "type": "User"}, "commit_id": None}
    bundle = {
        "type": "pull",
        "pull": pull(state="closed", merged_at="2026-03-03T08:00:00Z", closed_at="2026-03-03T08:00:00Z"),
        "events": [
            {"event": "commented", "node_id": "x", **comment(1, "ACK")},
            {"event": "committed", "sha": "d" * 40, "node_id": "x", "url": f"{API}/git/commits/d", "message": "wip",
             "author": {"name": "Ana", "email": "a@example.com", "date": "2026-03-02T07:00:00Z"}},
            {"event": "reviewed", "id": 99, "node_id": "x", "user": ANA, "state": "approved", "body": "utACK",
             "submitted_at": "2026-03-02T11:00:00Z", "pull_request_url": f"{API}/pulls/12"},
            {"event": "mentioned", "id": 4, "created_at": "2026-03-02T11:01:00Z", **at},
            {"event": "renamed", "id": 5, "created_at": "2026-03-02T11:02:00Z",
             "rename": {"from": "a", "to": "b"}, **at},
            {"event": "merged", "id": 6, "created_at": "2026-03-03T08:00:00Z", **at},
            {"event": "closed", "id": 7, "created_at": "2026-03-03T08:00:00Z", **at},
        ],
        "comments": [remark(1, "Use Decimal.")],
    }  # fmt: skip
    records, refusals = read(file(bundle))
    assert not refusals
    assert {one.unit for one in records} == {"harbour/api#12"}
    assert [one.id for one in records] == [
        "pull:12", "comment:1", f"commit:{'d' * 40}", "review:99", "timeline:4", "timeline:5", "timeline:6",
        "timeline:7", "review_comment:1",
    ]  # fmt: skip
    events = told(file(bundle), file([comment(1, "ACK")]))
    assert Counter(event.kind for event in events) == {
        "merge_request_opened": 1, "comment": 1, "commit": 1, "review": 1, "system_note": 1, "merge_request_merged": 1,
        "review_comment": 1,
    }  # fmt: skip
    assert [event.actor_alias for event in events if event.kind == "merge_request_merged"] == ["bo"]
    assert [event.attributes["action"] for event in events if event.actor_class == "system"] == ["renamed"]


def test_views_name_their_request_or_are_refused() -> None:
    wrapped = [
        {"cmd": "gh pr view --json number,title,url", "json": {"number": 12, "title": "t", "url": f"{PAGE}/pull/12"}},
        {"cmd": "gh pr view 13 --repo harbour/api --json title,number", "json": {"number": 13, "title": "u"}},
        {"cmd": "gh pr view --json number,title", "json": {"number": 14, "title": "of what?"}},
    ]
    records, refusals = read(file(wrapped))
    assert [(one.unit, one.id, one.ts) for one in records] == [
        ("harbour/api#12", "pull:12", None), ("harbour/api#13", "pull:13", None),
    ]  # fmt: skip
    assert [(one.reason, one.line) for one in refusals] == [("no_unit", 3)]
    assert [(event.kind, event.actor_class) for event in told(file(wrapped))] == [("merge_request_link", "system")] * 2


def test_a_view_without_its_number_is_known_by_its_command() -> None:
    said = [{"id": "IC_1", "author": {"login": "bo"}, "body": "ship it", "createdAt": "2026-03-02T10:00:00Z"}]
    asked = [
        {"cmd": "gh pr view 12 --repo harbour/api --json comments", "json": {"comments": said}},
        {"cmd": f"gh pr view {PAGE}/pull/13 --json title", "json": {"title": "u"}},
        {"cmd": "gh pr view --json comments", "json": {"comments": said}},
        {"cmd": "gh pr view 14 -R harbour/api --json author,createdAt",
         "json": {"author": {"login": "ana"}, "createdAt": "2026-03-02T09:00:00Z"}},
    ]  # fmt: skip
    records, refusals = read(file(asked))
    assert [(one.unit, one.type) for one in records] == [
        ("harbour/api#12", "pull"), ("harbour/api#12", "comment"), ("harbour/api#13", "pull"),
        ("harbour/api#14", "pull"),
    ]  # fmt: skip
    assert len(refusals) == 1


def test_a_link_of_a_transcript_names_its_session() -> None:
    link = {"type": "pr-link", "sessionId": "s-1", "prNumber": 12, "prUrl": f"{PAGE}/pull/12",
            "prRepository": "Harbour/API", "timestamp": "2026-03-02T09:00:00.5Z"}  # fmt: skip
    (event,) = told(file([link]))
    assert (event.kind, event.text, event.attributes) == (
        "merge_request_link", f"{PAGE}/pull/12", {"session_id": "s-1"},
    )  # fmt: skip


def test_names_differ_in_case_and_host() -> None:
    loud = pull(html_url="https://github.com/Harbour/API/pull/12")
    own = pull(html_url="https://git.harbour.example/harbour/api/pull/12")
    records = read(file([loud, own]))[0]
    assert [one.unit for one in records] == ["harbour/api#12", "git.harbour.example/harbour/api#12"]
    assert github.facts(units([("2026-03-02", records)])[records[1].unit]).remote == (
        "https://git.harbour.example/harbour/api"
    )


# --- refusals ---------------------------------------------------------------------------------------------------


def test_bad_records_are_refused_alone_with_a_reason() -> None:
    rows = [
        comment(1, "kept"),
        comment(2, "on an issue", html_url=f"{PAGE}/issues/12#issuecomment-2"),
        comment(3, "when?", created_at="2026-13-02T09:00:00Z"),
        remark(4, "x", original_line="nineteen"),
        {"sha": "d" * 40, "commit": {"message": "whose?"}, "url": f"{API}/commits/d"},
        {"hello": "world"},
        "text",
    ]
    records, refusals = read(file(rows))
    assert [one.id for one in records] == ["comment:1"]
    assert [one.reason for one in refusals] == [
        "no_unit", "bad_time", "wrong_shape", "no_unit", "wrong_shape", "wrong_shape",
    ]  # fmt: skip
    assert "original_line" in refusals[2].detail
    assert len(records) + len(refusals) == len(rows)


@pytest.mark.parametrize(
    ("content", "reason"), [(b"", "empty"), (b'[{"id": 1, "bo', "not_json"), (b'["\xff"]', "not_utf8")]
)
def test_a_file_that_is_no_json_is_one_refusal(content: bytes, reason: str) -> None:
    assert [one.reason for one in read(file(content))[1]] == [reason]


def test_half_a_surrogate_costs_one_comment() -> None:
    text = json.dumps([comment(1, "fine"), comment(2, "\ud83d cut"), comment(3, "fine too")]).encode()
    records, refusals = read(file(text))
    assert ([one.id for one in records], [one.reason for one in refusals]) == (
        ["comment:1", "comment:3"], ["lone_surrogate"],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("content", "ours"),
    [
        ([remark(1, "x" * 9000)], True),
        ([comment(1, "x")], True),
        (pull(), True),
        ({"type": "pull", "pull": pull(), "events": []}, True),
        ([{"cmd": "gh pr view --json number", "json": {"number": 1}}], True),
        ([{"prNumber": 1, "prUrl": f"{PAGE}/pull/1"}], True),
        (answer(thread("open", 1)), True),
        ({"number": 3, "title": "a room", "floor": 2}, False),
        ([{"ts": "1772442000.000100", "user": "U1", "text": "hi"}], False),
        ({"sessionId": "1", "messages": []}, False),
    ],
)
def test_content_tells_what_is_github(content: Any, ours: bool) -> None:
    assert github.sniff("any.json", json.dumps(content).encode()[:8192]) is ours


def test_a_transcript_with_a_link_is_no_list_of_links() -> None:
    lines = b'{"type":"pr-link","prNumber":1,"prUrl":"https://github.com/a/b/pull/1"}\n{"type":"user"}\n'
    assert not github.sniff("session.jsonl", lines)


@pytest.mark.parametrize(
    ("patch", "ranges"),
    [
        ("@@ -2,6 +2,7 @@ base\n a\n b\n+new\n c", [[4, 4]]),
        ("@@ -1,3 +1,3 @@\n-a\n-b\n+A\n+B\n c", [[1, 2]]),
        ("@@ -5,3 +5,2 @@\n a\n-gone\n b", [[6, 6]]),
        ("@@ -5,2 +5 @@\n a\n-last", [[6, 6]]),
        ("@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n@@ -40,0 +41,2 @@\n+x\n+y", [[1, 1], [41, 42]]),
        ("@@ -1 +0,0 @@\n-all", [[1, 1]]),
        ("Binary files differ", []),
    ],
)
def test_touched_lines(patch: str, ranges: list[list[int]]) -> None:
    assert changed_lines(patch) == ranges


# --- real captures ----------------------------------------------------------------------------------------------


def test_real_captures_close_their_books() -> None:
    if not REAL.exists():
        pytest.skip("shared/data/github is not here")
    records: list[Record] = []
    refusals: list[Refusal] = []
    rows = 0
    for path in sorted(REAL.rglob("*.json")):
        assert github.sniff(path.name, path.read_bytes()[:8192]), path.name
        document = json.loads(path.read_bytes())
        views = [row["json"] for row in document if "json" in row]
        rows += len(document) + sum(
            len(view.get(key) or []) for view in views for key in ("comments", "reviews", "commits")
        )
        kept, refused = read(file(path.read_bytes(), str(path.relative_to(REAL))))
        records += kept
        refusals += refused
    assert len(records) + len(refusals) == rows == 159
    assert Counter(one.type for one in records) == {
        "review_comment": 94, "review": 32, "pr_link": 15, "pull": 9, "comment": 3, "commit": 1,
    }  # fmt: skip
    assert Counter(one.reason for one in refusals) == {"no_unit": 5}
    events = [event for unit in units([("2026-03-02", records)]).values() for event in github.events(unit)]
    spoken = Counter((event.kind, event.actor_class) for event in events)
    assert spoken["review_comment", "bot"] == 9
    assert spoken["review_comment", "human"] == 85
    assert sum(event.attributes.get("outdated", False) for event in events) == 30
