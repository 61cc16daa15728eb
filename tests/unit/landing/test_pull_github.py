from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from fake_forge import BEGAN, FakeGitHub, Killed, documents, stamp, traces
from fake_forge_pulls import PullGitHub, busy_github

from lorelake.landing.forge_client import ATTEMPTS, LONGEST_WAIT

SECONDARY = {"message": "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}


@pytest.fixture
def hub():
    with FakeGitHub() as forge:
        yield forge


@pytest.fixture
def pull(hub, tmp_path):
    return PullGitHub(hub, tmp_path / "github" / "host" / "harbour" / "api")


def test_a_first_pull_brings_everything_as_the_api_gave_it(hub, pull):
    busy_github(hub, 1)
    hub.issues.append({"number": 77, "updated_at": stamp(hub.now)})
    remark = hub.pulls[1]["review_comments"][0]["id"]
    hub.pulls[1]["threads"] = [
        {"id": "PRRT_1", "isResolved": True, "resolvedBy": {"login": "mara"}, "comments": [{"databaseId": remark}]}
    ]
    report = pull()
    assert (report.seen, report.changed, report.complete) == (1, {1}, True)
    (document,) = documents(pull.folder).values()
    there = hub.pulls[1]
    assert list(document) == [
        "type", "pull", "issue_comments", "review_comments", "reviews", "commits", "files", "events", "review_threads",
    ]  # fmt: skip
    assert document["type"] == "pull"
    assert document["pull"] == there["pull"]
    for part in ("issue_comments", "review_comments", "reviews", "files", "events"):
        assert document[part] == there[part]
    thread = document["review_threads"][0]
    assert (thread["isResolved"], thread["comments"]) == (True, {"nodes": [{"databaseId": remark}]})


def test_only_commits_that_can_answer_a_remark_are_fetched_with_their_files_and_once(hub, pull):
    busy_github(hub, 1)
    hub.pulls[1]["review_comments"][0]["created_at"] = stamp(BEGAN + timedelta(seconds=61))
    pull()
    before, after = documents(pull.folder)[1]["commits"]
    assert "files" not in before
    assert after["files"][0]["filename"] == "src/price.py"
    assert [path for path in hub.paths() if "/commits/" in path] == [f"/api/v3/repos/harbour/api/commits/{501:040x}"]
    hub.tick()
    hub.comment(1, "thanks")
    pull()
    assert len([path for path in hub.paths() if "/commits/" in path]) == 1
    assert documents(pull.folder)[1]["commits"] == [before, after]


def test_threads_and_their_comments_come_from_all_pages_of_graphql(hub, pull):
    busy_github(hub, 1)
    hub.pulls[1]["threads"] = [
        {"id": f"PRRT_{n}", "isResolved": n == 3, "comments": [{"databaseId": 10 * n + m} for m in range(5)]}
        for n in range(5)
    ]
    assert pull().complete
    threads = documents(pull.folder)[1]["review_threads"]
    assert [thread["id"] for thread in threads] == [f"PRRT_{n}" for n in range(5)]
    assert [one["databaseId"] for one in threads[4]["comments"]["nodes"]] == [40, 41, 42, 43, 44]


@pytest.mark.parametrize("kind", ["FORBIDDEN", "NOT_FOUND", "INSUFFICIENT_SCOPES"])
def test_threads_a_token_may_not_read_are_left_out(hub, pull, kind):
    busy_github(hub, 1)
    hub.graph_errors = [{"type": kind, "message": "not for you"}]
    assert pull().complete
    assert "review_threads" not in documents(pull.folder)[1]


def test_a_graphql_rate_limit_is_waited_for_and_any_other_error_is_no_answer(hub, pull):
    busy_github(hub, 1)
    limit = {"data": None, "errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}]}
    reset = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(hub.now.timestamp()) + 90)}
    hub.trouble("graphql", 200, reset, limit)
    assert pull().complete
    assert pull.slept == [91.0]
    hub.tick()
    hub.comment(1, "again")
    hub.graph_errors = [{"message": "Something went wrong"}]
    assert "Something went wrong" in pull().incomplete[1]


def test_faults_21_the_first_page_is_not_everything(hub, pull):
    """faults 21: 45 requests of which one has 130 notes; a 403 on page 3, waited for, then one that never ends."""
    for number in range(1, 46):
        hub.add(number)
        hub.tick()
    for count in range(130):
        hub.comment(23, f"remark {count}")
    hub.tick()
    hub.trouble("/issues$", 403, {"Retry-After": "7"}, SECONDARY, skip=2)
    report = pull(page_size=20)
    assert (report.seen, len(report.changed), report.complete) == (45, 45, True)
    assert pull.texts(23) == [f"remark {count}" for count in range(130)]
    assert pull.slept == [7.0]
    assert (report.waited, report.requests) == (7.0, len(hub.asked))

    stored, bookmarks = documents(pull.folder), pull.bookmarks()
    hub.tick(7200)
    for number in range(1, 9):
        hub.tick()
        hub.comment(number, "one more")
    hub.trouble("/issues$", 403, {"Retry-After": "7"}, SECONDARY, skip=2, times=None)
    report = pull(page_size=3)
    assert not report.complete
    assert "secondary rate limit" in report.faults[0]
    assert pull.bookmarks() == bookmarks
    assert documents(pull.folder).keys() == stored.keys()

    hub.troubles.clear()
    assert pull(page_size=20).complete
    assert all(len(one["issue_comments"]) == one["pull"]["comments"] for one in documents(pull.folder).values())
    assert pull.bookmarks()["requests"] == stamp(hub.now)


def test_faults_22_an_edit_is_seen_whenever_the_run_before_stopped(hub, tmp_path):
    """faults 22: comments A (created first, edited last), B, C; stop after B at every request; run again."""
    for number in (1, 2):
        hub.add(number)
        hub.tick(7200)
    made = {}
    for name, number in (("A", 1), ("B", 2), ("C", 2)):
        made[name] = hub.comment(number, f"{name} as written")
        hub.tick(7200)  # further apart than the overlap, so that only a bookmark can tell
    stops = 0
    for lives in range(99):
        pull = PullGitHub(hub, tmp_path / str(lives))
        made["A"]["body"], made["C"]["body"] = "A as written", "C as written"
        try:
            pull(lives=lives, page_size=2)
            break
        except Killed:
            stops += 1
        hub.tick(7200)
        hub.edit(made["A"], "A as edited")
        hub.tick(7200)
        hub.edit(made["C"], "C as edited")  # so that the newest of all comments does not lead to A
        assert pull(page_size=2).complete
        assert pull.texts(1) == ["A as edited"]
        assert pull.texts(2) == ["B as written", "C as edited"]
    assert stops > 15


def test_a_comment_edited_between_two_runs_moves_its_request_though_the_request_did_not_move(hub, pull):
    busy_github(hub, 3)
    pull()
    hub.tick(7200)
    hub.edit(hub.pulls[1]["issue_comments"][0], "second thoughts")
    hub.edit(hub.pulls[2]["review_comments"][0], "Use integers.")
    assert pull().changed == {1, 2}
    assert pull.texts(1) == ["second thoughts"]
    assert documents(pull.folder)[2]["review_comments"][0]["body"] == "Use integers."


def test_a_first_comment_of_the_repository_and_its_edit_are_seen(hub, pull):
    hub.add(1)
    pull()
    comment = hub.comment(1, "hello")
    pull()
    hub.tick(9000)
    hub.edit(comment, "hello again")
    pull()
    assert pull.texts(1) == ["hello again"]


def test_a_pull_killed_before_any_request_leaves_nothing_missing_or_doubled(hub, tmp_path):
    busy_github(hub, 2)
    whole = PullGitHub(hub, tmp_path / "whole")
    whole(page_size=2)
    wanted = documents(whole.folder)
    for lives in range(len(hub.asked)):
        pull = PullGitHub(hub, tmp_path / str(lives))
        with pytest.raises(Killed):
            pull(lives=lives, page_size=2)
        assert documents(pull.folder).items() <= wanted.items()
        assert pull(page_size=2).complete
        assert documents(pull.folder) == wanted
        assert pull.bookmarks() == whole.bookmarks()


def test_a_run_without_changes_writes_nothing(hub, pull):
    busy_github(hub)
    pull()
    before = traces(pull.folder)
    for one in hub.pulls.values():
        one["pull"]["mergeable"] = True
        one["pull"]["base"]["repo"] = {"stargazers_count": 4}
    hub.tick(86400)
    report = pull()
    assert (report.changed, report.complete) == (set(), True)
    assert traces(pull.folder) == before


def test_what_is_fetched_again_is_the_overlap_only(hub, pull):
    for number in range(1, 7):
        hub.add(number)
        hub.tick(1800)
    pull()
    assert pull().unchanged == {4, 5, 6}
    assert pull(overlap=timedelta(hours=2)).unchanged == {2, 3, 4, 5, 6}
    assert pull(overlap=timedelta(0)).unchanged == {6}


def test_a_request_of_the_overlap_is_fetched_again_whatever_its_time_says(hub, pull):
    """Times have seconds: what changed in the second it was fetched in shows no later time."""
    hub.add(1)
    hub.tick(7200)
    hub.add(2)
    pull()
    for number in (1, 2):
        hub.pulls[number]["pull"]["body"] = "in the same second"
    assert pull().changed == {2}


def test_what_an_interrupted_run_has_stored_is_not_fetched_again(hub, pull):
    for number in range(1, 7):
        hub.add(number)
        hub.tick(7200)
    with pytest.raises(Killed):
        pull(lives=28, page_size=2)
    stored = documents(pull.folder).keys()
    assert len(stored) == 3
    hub.asked.clear()
    assert pull(page_size=2).complete
    assert not [path for path in hub.paths() if path.endswith("/pulls/1")]
    assert documents(pull.folder).keys() == set(range(1, 7))


def test_what_the_host_shows_late_lies_within_the_overlap(hub, pull):
    hub.add(1)
    hub.tick(600)
    hub.add(2)
    late = hub.pulls.pop(1)
    pull()
    hub.pulls[1] = late
    assert pull().changed == {1}


def test_a_page_that_shrinks_while_we_turn_it_loses_nothing(hub, pull):
    """A request of a page already read is updated and moves to the end, so that the later pages move up."""
    for number in range(1, 9):
        hub.add(number)
        hub.tick(7200)  # further apart than the overlap, which would heal it
    moved = iter([1, 2, 3])

    def disturb(path, query):
        if path.endswith("/issues"):
            number = next(moved, None)
            if number:
                hub.tick()
                hub.touch(number)

    hub.before = disturb
    assert pull(page_size=3).complete
    hub.before = lambda path, query: None
    pull(page_size=3)
    assert {n: one["pull"] for n, one in documents(pull.folder).items()} == {
        n: one["pull"] for n, one in hub.pulls.items()
    }


def test_equal_times_across_pages_lose_nothing_even_where_they_move(hub, pull):
    for number in range(1, 12):
        hub.add(number)
    turned = []

    def disturb(path, query):
        if path.endswith("/issues"):
            turned.append(query.get("page"))
            if len(turned) == 3:
                hub.tick()
                hub.touch(1)

    hub.before = disturb
    report = pull(page_size=3)
    assert report.complete
    assert documents(pull.folder).keys() == set(range(1, 12))
    assert pull.bookmarks()["requests"] == stamp(hub.now)


def test_a_host_that_means_since_exclusively_loses_nothing(hub, pull):
    hub.exclusive = True
    for number in range(1, 9):
        hub.add(number)
        hub.tick(2 * (number % 2))  # pairs of equal times, one of them across the edge of a page
    assert pull(page_size=3).complete
    assert documents(pull.folder).keys() == set(range(1, 9))


@pytest.mark.parametrize("hours", [-30_000, 30_000])
def test_our_clock_decides_nothing(hub, pull, hours):
    """The host's clock is years off; bookmarks are its times, and a reset is measured against its own date."""
    hub.now = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=hours)
    busy_github(hub, 2)
    reset = str(int(hub.now.timestamp()) + 120)
    limit = {"message": "API rate limit exceeded for user ID 1."}
    hub.trouble("/pulls/1$", 403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset}, limit)
    assert pull().complete
    assert pull.slept == [121.0]
    assert pull.told == ["waiting 121 s, as the host asks (GET /repos/harbour/api/pulls/1)"]
    hub.tick()
    hub.comment(2, "later")
    assert 2 in pull().changed
    assert pull.bookmarks()["requests"] == stamp(hub.now)


@pytest.mark.parametrize(
    ("trouble", "waits"),
    [
        ({"status": 429, "headers": {"Retry-After": "3"}, "body": {"message": "slow down"}}, [3.0]),
        ({"status": 403, "body": SECONDARY}, [60.0]),
        ({"status": 403, "body": SECONDARY, "times": 3}, [60.0, 120.0, 240.0]),
        ({"status": 502, "body": b"<html>Bad Gateway</html>", "times": 3}, [1.0, 2.0, 4.0]),
        ({"status": 503, "headers": {"Retry-After": "20"}, "body": {"message": "down"}}, [20.0]),
        ({"how": "reset", "times": 2}, [1.0, 2.0]),
        ({"how": "cut", "body": b'{"number": 1, '}, [1.0]),
        ({"body": b'{"number": 1, "title": '}, [1.0]),
        ({"body": b"<html>a login page</html>"}, [1.0]),
        ({"body": [1, 2]}, [1.0]),
    ],
)
def test_what_passes_is_waited_for(hub, pull, trouble, waits):
    hub.add(1)
    hub.trouble("/issues/1/comments$", **trouble)
    assert pull().complete
    assert pull.slept == waits
    assert documents(pull.folder).keys() == {1}


@pytest.mark.parametrize(
    ("trouble", "why"),
    [
        ({"status": 500, "body": {"message": "boom"}}, "500 boom (tried 6 times)"),
        ({"how": "reset"}, "(tried 6 times)"),
        ({"body": b"{"}, "not the JSON it should be"),
        ({"status": 403, "body": {"message": "Resource not accessible"}}, "403 Resource not accessible"),
    ],
)
def test_what_never_passes_holds_the_bookmark_and_no_other_request(hub, pull, trouble, why):
    busy_github(hub, 2)
    pull()
    stored, bookmarks = documents(pull.folder), pull.bookmarks()
    hub.tick(7200)
    for number in (1, 2):
        hub.comment(number, "news")
        hub.tick()
    hub.trouble("/pulls/1/reviews$", times=None, **trouble)
    report = pull()
    assert report.incomplete.keys() == {1}
    assert why in report.incomplete[1]
    assert report.changed == {2}
    assert documents(pull.folder)[1] == stored[1]
    assert pull.bookmarks() == bookmarks
    hub.troubles.clear()
    report = pull()
    assert (report.changed, report.complete) == ({1}, True)
    assert len(pull.slept) in (0, ATTEMPTS - 1)


def test_a_host_that_is_down_is_not_asked_for_each_of_the_rest(hub, pull):
    busy_github(hub, 9)
    hub.trouble(r"/pulls/\d", 503, times=None)
    report = pull()
    assert len(report.incomplete) == 3
    assert report.faults[-1].startswith("stopped")


def test_a_limit_longer_than_our_patience_stops_at_once(hub, pull):
    busy_github(hub, 3)
    hub.trouble("/pulls/2$", 429, {"Retry-After": str(int(LONGEST_WAIT) + 1)}, {"message": "see you tomorrow"})
    report = pull()
    assert report.changed == {1}
    assert "asks to wait 3901 s" in report.incomplete[2]
    assert pull.slept == []
    assert pull().complete
    assert len(documents(pull.folder)) == 3
