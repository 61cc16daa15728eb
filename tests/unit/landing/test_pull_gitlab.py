from __future__ import annotations

import io
import logging
from datetime import UTC, datetime, timedelta

import pytest
from fake_forge import MARKER, FakeGitLab, Killed, documents, stamp, traces
from fake_forge_pulls import PullGitLab, busy_gitlab

from lorelake.formats import gitlab
from lorelake.formats.record import Capture, Member, Record, Unit, UnitRecord


@pytest.fixture
def lab():
    with FakeGitLab() as forge:
        yield forge


@pytest.fixture
def pull(lab, tmp_path):
    return PullGitLab(lab, tmp_path / "gitlab" / "host" / "harbour" / "web")


def test_a_first_pull_brings_everything_as_the_api_gave_it(lab, pull):
    busy_gitlab(lab, 1)
    lab.requests[1]["diffs"] = lab.diffs[f"{1:040x}"]
    report = pull()
    assert (report.seen, report.changed, report.complete) == (1, {1}, True)
    (document,) = documents(pull.folder).values()
    there = lab.requests[1]
    assert list(document) == [
        "type", "merge_request", "discussions", "commits", "diffs", "commit_diffs",
        "resource_state_events", "approvals",
    ]  # fmt: skip
    assert document["type"] == "merge_request"
    assert document["merge_request"] == there["request"]
    for part in ("discussions", "commits", "diffs", "resource_state_events", "approvals"):
        assert document[part] == there[part]


def test_only_commits_that_can_answer_a_note_are_fetched_with_their_diffs_and_once(lab, pull):
    busy_gitlab(lab, 1)
    lab.requests[1]["discussions"][1]["notes"][0]["created_at"] = stamp(lab.now - timedelta(seconds=30))
    pull()
    sha = f"{501:040x}"
    assert documents(pull.folder)[1]["commit_diffs"] == [{"id": sha, "diffs": lab.diffs[sha]}]
    lab.tick()
    lab.note(1, "thanks")
    assert pull().changed == {1}
    assert [path for path in lab.paths() if "/repository/" in path] == [
        f"/api/v4/projects/harbour/web/repository/commits/{sha}/diff"
    ]
    assert documents(pull.folder)[1]["commit_diffs"] == [{"id": sha, "diffs": lab.diffs[sha]}]


def test_faults_21_the_first_page_is_not_everything(lab, pull):
    """faults 21: 45 requests of which one has 130 notes; a 429 on page 3, waited for, then one that never ends."""
    for number in range(1, 46):
        lab.add(number)
        lab.tick()
    for count in range(130):
        lab.note(23, f"remark {count}")
    lab.tick()
    lab.trouble("/merge_requests$", 429, {"Retry-After": "7"}, {"message": "Retry later"}, skip=2)
    report = pull(page_size=20)
    assert (report.seen, len(report.changed), report.complete) == (45, 45, True)
    assert pull.texts(23) == [f"remark {count}" for count in range(130)]
    assert (pull.slept, report.requests) == ([7.0], len(lab.asked))

    stored, bookmarks = documents(pull.folder), pull.bookmarks()
    lab.tick(7200)
    for number in range(1, 9):
        lab.tick()
        lab.note(number, "one more")
    lab.trouble("/merge_requests$", 429, {"Retry-After": "7"}, {"message": "Retry later"}, skip=2, times=None)
    report = pull(page_size=3)
    assert not report.complete
    assert "429 Retry later (tried 6 times)" in report.faults[0]
    assert pull.bookmarks() == bookmarks
    assert documents(pull.folder).keys() == stored.keys()

    lab.troubles.clear()
    assert pull(page_size=3).complete
    assert all(pull.texts(number)[-1] == "one more" for number in range(1, 9))
    assert pull.bookmarks()["requests"] == stamp(lab.now)


def test_faults_22_an_edit_is_seen_whenever_the_run_before_stopped(lab, tmp_path):
    """faults 22: notes A (created first, edited last), B, C; stop after B at every request; run again."""
    for number in (1, 2):
        lab.add(number)
        lab.tick()
    made = {}
    for name, number in (("A", 1), ("B", 2), ("C", 2)):
        made[name] = lab.note(number, f"{name} as written")
        lab.tick()
    stops = 0
    for lives in range(60):
        pull = PullGitLab(lab, tmp_path / str(lives))
        made["A"]["body"] = "A as written"
        try:
            pull(lives=lives, page_size=2)
            break
        except Killed:
            stops += 1
        lab.tick(7200)
        lab.edit(1, made["A"], "A as edited")
        assert pull(page_size=2).complete
        assert pull.texts(1) == ["A as edited"]
        assert pull.texts(2) == ["B as written", "C as written"]
    assert stops > 15


def test_a_pull_killed_before_any_request_leaves_nothing_missing_or_doubled(lab, tmp_path):
    busy_gitlab(lab, 2)
    whole = PullGitLab(lab, tmp_path / "whole")
    whole(page_size=2)
    wanted = documents(whole.folder)
    for lives in range(len(lab.asked)):
        pull = PullGitLab(lab, tmp_path / str(lives))
        with pytest.raises(Killed):
            pull(lives=lives, page_size=2)
        assert documents(pull.folder).items() <= wanted.items()
        assert pull(page_size=2).complete
        assert documents(pull.folder) == wanted
        assert pull.bookmarks() == whole.bookmarks()


def test_a_run_without_changes_writes_nothing(lab, pull):
    busy_gitlab(lab)
    pull()
    before = traces(pull.folder)
    for one in lab.requests.values():
        one["request"]["merge_status"] = "can_be_merged"
    lab.tick(86400)
    report = pull()
    assert (report.changed, report.complete) == (set(), True)
    assert traces(pull.folder) == before


def test_a_page_that_shrinks_while_we_turn_it_loses_nothing(lab, pull):
    for number in range(1, 9):
        lab.add(number)
        lab.tick(7200)  # further apart than the overlap, which would heal it
    moved = iter([1, 2, 3])

    def disturb(path, query):
        if path.endswith("/merge_requests"):
            number = next(moved, None)
            if number:
                lab.tick()
                lab.touch(number)

    lab.before = disturb
    pull(page_size=3)
    lab.before = lambda path, query: None
    pull(page_size=3)
    assert {n: one["merge_request"] for n, one in documents(pull.folder).items()} == {
        n: one["request"] for n, one in lab.requests.items()
    }


def test_equal_times_across_pages_lose_nothing_even_where_they_move(lab, pull):
    for number in range(1, 12):
        lab.add(number)
    turned = []

    def disturb(path, query):
        if path.endswith("/merge_requests"):
            turned.append(query.get("page"))
            if len(turned) == 3:
                lab.tick()
                lab.touch(1)

    lab.before = disturb
    assert pull(page_size=3).complete
    assert documents(pull.folder).keys() == set(range(1, 12))
    assert pull.bookmarks()["requests"] == stamp(lab.now)


def test_times_in_milliseconds_are_kept(lab, pull):
    lab.add(1)["updated_at"] = "2026-03-01T10:00:00.123Z"
    lab.add(2)["updated_at"] = "2026-03-01T10:00:00.124Z"
    pull()
    assert pull.bookmarks()["requests"] == "2026-03-01T10:00:00.124Z"
    pull()
    since = [query["updated_after"] for path, query in lab.asked if "updated_after" in query]
    assert since == ["2026-03-01T09:00:00.124Z"]


@pytest.mark.parametrize("hours", [-30_000, 30_000])
def test_our_clock_decides_nothing(lab, pull, hours):
    lab.now = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=hours)
    busy_gitlab(lab, 2)
    reset = {"RateLimit-Reset": str(int(lab.now.timestamp()) + 30), "RateLimit-Remaining": "0"}
    lab.trouble("/merge_requests/1$", 429, reset, b"Retry later\n")
    assert pull().complete
    assert pull.slept == [31.0]
    assert pull.bookmarks()["requests"] == lab.requests[2]["request"]["updated_at"]


@pytest.mark.parametrize(
    ("trouble", "waits"),
    [
        ({"status": 429, "headers": {"Retry-After": "3"}}, [3.0]),
        ({"status": 429, "times": 2}, [60.0, 120.0]),
        ({"status": 502, "body": b"<html>Bad Gateway</html>", "times": 3}, [1.0, 2.0, 4.0]),
        ({"how": "reset", "times": 2}, [1.0, 2.0]),
        ({"how": "cut", "body": b"["}, [1.0]),
        ({"body": b"[{"}, [1.0]),
        ({"body": {"message": "no list"}}, [1.0]),
        ({"body": ["no objects"]}, [1.0]),
    ],
)
def test_what_passes_is_waited_for(lab, pull, trouble, waits):
    lab.add(1)
    lab.trouble("/discussions$", **trouble)
    assert pull().complete
    assert pull.slept == waits


@pytest.mark.parametrize(
    ("trouble", "why"),
    [
        ({"status": 500, "body": {"message": "boom"}}, "500 boom (tried 6 times)"),
        ({"how": "reset"}, "(tried 6 times)"),
        ({"body": b"{"}, "not the JSON it should be"),
        ({"status": 403, "body": {"message": "403 Forbidden"}}, "403 Forbidden"),
    ],
)
def test_what_never_passes_holds_the_bookmark_and_no_other_request(lab, pull, trouble, why):
    busy_gitlab(lab, 2)
    pull()
    stored, bookmarks = documents(pull.folder), pull.bookmarks()
    lab.tick(7200)
    for number in (1, 2):
        lab.note(number, "news")
        lab.tick()
    lab.trouble("/merge_requests/1/discussions$", times=None, **trouble)
    report = pull()
    assert report.incomplete.keys() == {1}
    assert why in report.incomplete[1]
    assert report.changed == {2}
    assert documents(pull.folder)[1] == stored[1]
    assert pull.bookmarks() == bookmarks
    lab.troubles.clear()
    report = pull()
    assert (report.changed, report.complete) == ({1}, True)


def test_totals_the_host_states_are_compared_with_what_came(lab, pull):
    for number in range(1, 6):
        lab.add(number)
        lab.tick()
    lab.note(2, "one of three")
    lab.no_links = True
    lab.trouble("/merge_requests/2/discussions$", 200, {"X-Total": "3"}, lab.requests[2]["discussions"], times=None)
    lab.trouble(
        "/merge_requests$", 200, {"X-Total": "9"}, [one["request"] for one in lab.requests.values()], times=None
    )
    report = pull()
    assert "the host says 3, its list has 1" in report.incomplete[2]
    assert "the host says 9, its list has 5" in report.faults[0]
    assert "requests" not in pull.bookmarks()
    lab.troubles.clear()
    assert pull(page_size=2).complete
    assert documents(pull.folder).keys() == {1, 2, 3, 4, 5}


def test_what_a_host_or_a_token_does_not_have_is_left_out(lab, pull):
    busy_gitlab(lab, 1)
    lab.trouble("/approvals$", 403, {}, {"message": "403 Forbidden"})
    lab.trouble("/resource_state_events$", 404, {}, {"message": "404 Not Found"})
    lab.trouble("/diffs$", 404, {}, {"error": "404 Not Found"})
    lab.requests[1]["changes"] = {"changes": [{"old_path": "a", "new_path": "a", "diff": "@@ -1 +1 @@"}]}
    assert pull().complete
    document = documents(pull.folder)[1]
    assert "approvals" not in document
    assert "resource_state_events" not in document
    assert document["diffs"] == lab.requests[1]["changes"]["changes"]


def test_a_redirect_within_the_host_is_followed_and_one_to_another_is_not(lab, pull):
    """requests would take its own header off a redirect, and leave GitLab's on."""
    lab.add(1)
    lab.trouble("/projects/harbour/web$", 301, {"Location": f"{lab.url}/api/v4/projects/harbour%2Fweb"}, {})
    assert pull().complete
    with FakeGitLab() as stranger:
        lab.trouble("/projects/harbour/web$", 302, {"Location": f"{stranger.url}/api/v4/projects/harbour%2Fweb"}, {})
        report = pull()
        assert "the token stays here" in report.faults[0]
        assert stranger.asked == []


def test_pages_are_asked_of_the_host_we_know_whatever_the_link_says(lab, pull):
    for number in range(1, 6):
        lab.add(number)
    with FakeGitLab() as stranger:
        lab.link_host = stranger.url
        assert pull(page_size=2).complete
        assert stranger.asked == []
    assert len(documents(pull.folder)) == 5


def test_the_token_is_in_no_file_and_no_word_even_where_the_host_echoes_it(lab, pull, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    busy_gitlab(lab, 3)
    lab.requests[1]["request"]["description"] = f"curl -H 'PRIVATE-TOKEN: {MARKER}'"
    lab.trouble("/merge_requests/2/commits$", 500, {"X-Echo": MARKER}, {"message": f"bad {MARKER}"}, times=None)
    lab.trouble("/merge_requests/3$", 200, {}, f'{{"iid": "{MARKER}'.encode(), times=None)
    report = pull()
    assert report.incomplete.keys() == {2, 3}
    assert documents(pull.folder)[1]["merge_request"]["description"] == "curl -H 'PRIVATE-TOKEN: [token]'"
    lab.trouble("/projects/harbour/web$", 401, {}, {"message": f"401 Unauthorized {MARKER}"})
    refused = pull()
    assert "401 Unauthorized [token]" in refused.faults[0]
    assert all(seen["PRIVATE-TOKEN"] == MARKER for seen in lab.headers_seen)
    said = "".join([*pull.told, caplog.text, *capfd.readouterr()])
    for text in (repr(report), repr(refused), said, *(path.read_text() for path in traces(pull.folder.parent))):
        assert MARKER not in text


def test_a_vanished_request_is_told_of_and_kept(lab, pull):
    busy_gitlab(lab, 2)
    pull()
    lab.tick(7200)
    lab.note(2, "last words")
    lab.trouble("/merge_requests/2$", 404, {}, {"message": "404 Not found"}, times=None)
    report = pull()
    assert (report.gone.keys(), report.complete) == ({2}, True)
    assert pull.texts(2) == ["first words on 2", "Do not draw what is not moored."]


def test_deleted_authors_pass(lab, pull):
    lab.add(1, author=None)
    lab.note(1, "by nobody", author=None)
    assert pull().complete
    assert documents(pull.folder)[1]["discussions"][0]["notes"][0]["author"] is None


def test_the_format_reads_what_was_pulled(lab, pull):
    busy_gitlab(lab, 1)
    thread = lab.requests[1]["discussions"][1]["notes"][0]
    thread |= {"resolved": True, "resolved_by": lab.user("aiko"), "resolved_at": stamp(lab.now)}
    lab.requests[1]["diffs"] = lab.diffs[f"{1:040x}"]
    pull()
    data = (pull.folder / "1.json").read_bytes()
    assert gitlab.sniff("1.json", data[:8192])
    member = Member("1.json", len(data), lambda: io.BytesIO(data))
    records = list(gitlab.read(Capture("landing/merge_requests/1.json", (member,), "0" * 64)))
    kept = [record for record in records if isinstance(record, Record)]
    assert len(kept) == len(records)
    (native,) = {record.unit for record in kept}
    versions = [
        UnitRecord(one.id, one.type, one.ts or lab.now, one.value, f"1.json:{place}", "2026-03-02")
        for place, one in enumerate(kept)
    ]
    unit = Unit("gitlab", f"gitlab:{native}", versions, None, None)
    facts = gitlab.facts(unit)
    assert (facts.remote, facts.branch) == ("gitlab.example.com/harbour/web", "map-1")
    events = gitlab.events(unit)
    words = [event.text for event in events if event.kind in ("comment", "review_comment")]
    assert sorted(words) == ["Do not draw what is not moored.", "first words on 1"]
    (on_line,) = [event for event in events if event.kind == "review_comment"]
    assert (on_line.path, on_line.line, on_line.attributes["resolved"]) == ("src/map.ts", 4, True)
    assert [event.kind for event in events].count("merge_request_opened") == 1
    commits = {event.revision: event.attributes.get("files") for event in events if event.kind == "commit"}
    assert commits.keys() == {f"{1:040x}", f"{501:040x}"}
    assert commits[f"{501:040x}"] == [{"path": "src/map.ts", "hunks": [[4, 5]]}]
