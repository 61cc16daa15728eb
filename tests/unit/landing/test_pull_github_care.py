"""What a pull must not do: leak its token, follow to strangers, take an absence for a deletion, or lose a record."""

from __future__ import annotations

import io
import logging
import stat

import pytest
from fake_forge import MARKER, FakeGitHub, documents, stamp, traces
from fake_forge_pulls import PullGitHub, busy_github

from lorelake.errors import LakeBusyError, UsageError
from lorelake.formats import github
from lorelake.formats.record import Capture, Member, Record, Unit, UnitRecord
from lorelake.landing.forge_client import checked_url, token_from
from lorelake.landing.forge_files import folder_of, held
from lorelake.landing.pull_github import api_base


@pytest.fixture
def hub():
    with FakeGitHub() as forge:
        yield forge


@pytest.fixture
def pull(hub, tmp_path):
    return PullGitHub(hub, tmp_path / "github" / "host" / "harbour" / "api")


def test_the_token_is_in_no_file_and_no_word_even_where_the_host_echoes_it(hub, pull, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    busy_github(hub, 3)
    hub.edit(hub.pulls[1]["issue_comments"][0], f"you sent {MARKER}, is that so?")
    hub.trouble("/pulls/2/reviews$", 500, {"X-Echo": MARKER}, {"message": f"bad token {MARKER}"}, times=None)
    hub.trouble("/pulls/3$", 403, {"Retry-After": "99999"}, {"message": f"{MARKER} must wait"})
    report = pull()
    assert report.incomplete.keys() == {2, 3}
    assert "bad token [token]" in report.incomplete[2]
    assert pull.texts(1)[-1] == "you sent [token], is that so?"
    hub.troubles.clear()
    hub.trouble("/repos/harbour/api$", 401, {}, {"message": f"Bad credentials {MARKER}"})
    refused = pull()
    assert "401 Bad credentials [token]" in refused.faults[0]
    assert all(MARKER in str(seen.get("Authorization")) for seen in hub.headers_seen)
    said = "".join([*pull.told, caplog.text, *capfd.readouterr()])
    for text in (repr(report), repr(refused), said, *(path.read_text() for path in traces(pull.folder.parent))):
        assert MARKER not in text


def test_a_refused_token_ends_the_project_at_once(hub, pull):
    busy_github(hub, 4)
    hub.trouble("/pulls/", 401, {}, {"message": "Bad credentials"}, times=None, skip=2)
    report = pull()
    assert report.incomplete.keys() == {1}
    assert report.faults[-1].startswith("stopped")


def test_a_redirect_to_another_host_is_not_followed(hub, pull):
    with FakeGitHub() as stranger:
        away = {"Location": f"http://localhost:{stranger.server_port}/api/v3/repos/harbour/api"}
        hub.trouble("/repos/harbour/api$", 301, away, {})
        report = pull()
        assert "redirected" in report.faults[0]
        hub.trouble("/repos/harbour/api$", 302, away, {"message": "Found"})
        pull()
        assert stranger.asked == []


def test_pages_are_asked_of_the_host_we_know_whatever_the_link_says(hub, pull):
    busy_github(hub, 5)
    hub.link_host = "http://localhost:1"
    assert pull(page_size=2).complete
    assert len(documents(pull.folder)) == 5


def test_a_proxy_that_drops_the_links_hides_nothing(hub, pull):
    for number in range(1, 8):
        hub.add(number)
        hub.tick()
    for count in range(6):
        hub.comment(7, f"remark {count}")
    hub.no_links = True
    assert pull(page_size=2).complete
    assert len(documents(pull.folder)) == 7
    assert len(pull.texts(7)) == 6


def test_a_renamed_repository_is_read_under_its_new_name_and_says_so(hub, pull):
    busy_github(hub, 1)
    hub.full_name = "harbour/quay"
    report = pull()
    assert report.notes == ["is harbour/quay today; pull it by that name"]
    assert report.complete
    assert "/api/v3/repos/harbour/quay/pulls/1" in hub.paths()


def test_pages_that_lead_in_a_circle_are_an_error_not_a_loop(hub, pull):
    hub.add(1)
    same = {"Link": f'<{hub.url}/api/v3/repos/harbour/api/issues/1/timeline?page=1>; rel="next"'}
    hub.trouble("/timeline$", 200, same, [{"event": "labeled"}], times=None)
    assert "lead in a circle" in pull().incomplete[1]


def test_a_vanished_request_is_told_of_and_kept(hub, pull):
    busy_github(hub, 3)
    pull()
    hub.tick(7200)
    hub.comment(2, "last words")
    hub.comment(3, "news")
    hub.trouble("/pulls/2$", 404, {}, {"message": "Not Found"}, times=None)
    report = pull()
    assert (report.gone.keys(), report.changed, report.complete) == ({2}, {3}, True)
    assert pull.texts(2) == ["first words on 2"]
    assert pull.bookmarks()["requests"] == stamp(hub.now)


@pytest.mark.parametrize("status", [404, 410])
def test_a_vanished_project_is_told_of_and_its_files_stand(hub, pull, status):
    busy_github(hub, 2)
    pull()
    before = traces(pull.folder)
    hub.trouble("/repos/harbour/api", status, {}, {"message": "Not Found"}, times=None)
    report = pull()
    assert "an absence is no deletion" in report.faults[0]
    assert traces(pull.folder) == before


def test_a_project_that_never_was_leaves_no_folder(hub, pull, tmp_path):
    report = pull(project="harbour/nothing")
    assert "no such project" in report.faults[0]
    assert list(tmp_path.iterdir()) == []


def test_a_list_shorter_than_the_host_says_is_incomplete_and_puts_nothing_shorter_in_place(hub, pull):
    for number in (1, 2):
        hub.add(number)
        hub.comment(number, "first")
        hub.comment(number, "second")
    pull()
    hub.tick(7200)
    hub.comment(1, "news")
    del hub.pulls[1]["issue_comments"][:2]
    hub.commit(2, f"{2:040x}")
    hub.pulls[2]["pull"]["commits"] = 400  # of which GitHub lists 250
    report = pull()
    assert "the host says 3, its list has 1" in report.incomplete[1]
    assert "the host says 250, its list has 1" in report.incomplete[2]
    assert pull.texts(1) == ["first", "second"]


def test_a_short_list_is_asked_for_again_however_old_its_request_is(hub, pull):
    for number in (1, 2):
        hub.add(number)
        hub.comment(number, "first")
        hub.comment(number, "second")
        hub.tick(7200)
    hidden = hub.pulls[1]["issue_comments"].pop()
    report = pull()
    assert (report.incomplete.keys(), report.changed) == ({1}, {2})
    assert pull.texts(1) == ["first"]
    assert pull().incomplete.keys() == {1}
    hub.pulls[1]["issue_comments"].append(hidden)
    report = pull()
    assert (report.changed, report.complete) == ({1}, True)
    assert pull.texts(1) == ["first", "second"]
    assert pull().seen == 1


def test_a_comment_removed_while_we_turn_the_page_hides_no_other(hub, pull):
    hub.add(1)
    for count in range(6):
        hub.comment(1, f"remark {count}")
    once = iter([1])

    def disturb(path, query):
        if path.endswith("/issues/1/comments") and query.get("page") == "2" and next(once, None):
            hub.pulls[1]["issue_comments"].pop(0)
            hub.pulls[1]["pull"]["comments"] = 5

    hub.before = disturb
    pull(page_size=2)
    pull(page_size=2)
    assert pull.texts(1) == [f"remark {count}" for count in range(1, 6)]


def test_deleted_authors_and_a_huge_body_pass(hub, pull):
    hub.add(1, author=None)
    huge = "a long log line\n" * 500_000
    hub.comment(1, huge, login=None)
    hub.remark(1, "by a ghost", login="ghost")
    assert pull().complete
    document = documents(pull.folder)[1]
    assert document["pull"]["user"] is None
    assert document["issue_comments"][0]["body"] == huge


def test_files_are_for_their_owner_only_and_a_second_pull_waits_its_turn(hub, pull, tmp_path):
    busy_github(hub, 1)
    pull()
    for path in tmp_path.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)
    with held(pull.folder, dry_run=False), pytest.raises(LakeBusyError):
        pull()
    assert pull().complete


def test_a_dry_run_writes_nothing_and_says_what_it_would_fetch(hub, pull, tmp_path):
    busy_github(hub, 3)
    report = pull(dry_run=True)
    assert report.changed == {1, 2, 3}
    assert list(tmp_path.iterdir()) == []
    assert not [path for path in hub.paths() if "/pulls/1" in path]


def test_since_limits_a_first_pull_and_widens_a_later_one(hub, pull):
    moments = []
    for number in range(1, 5):
        moments.append(hub.now)
        hub.add(number)
        hub.tick(90_000)
    pull(since=moments[2])
    assert documents(pull.folder).keys() == {3, 4}
    pull()
    assert documents(pull.folder).keys() == {3, 4}
    pull(since=moments[1])
    assert documents(pull.folder).keys() == {2, 3, 4}


@pytest.mark.parametrize("damage", ["[", "[1]", '{"type": [1]}', '{"type": "pull", "pull": {}, "commits": [5]}'])
def test_damaged_files_are_made_again(hub, pull, damage):
    busy_github(hub, 2)
    pull()
    wanted = documents(pull.folder)
    (pull.folder / "1.json").write_text(damage)
    (pull.folder / "pull.json").write_text("{")
    assert pull().complete
    assert documents(pull.folder) == wanted


def test_a_host_that_states_the_year_1_stops_nothing(hub, pull):
    hub.add(1)["updated_at"] = "0001-01-01T00:00:00Z"
    assert pull().complete
    assert pull().complete
    assert documents(pull.folder).keys() == {1}


@pytest.mark.parametrize(
    ("url", "base"),
    [
        (None, "https://api.github.com"),
        ("https://github.com", "https://api.github.com"),
        ("https://github.example.com/", "https://github.example.com/api/v3"),
        ("https://harbour.ghe.com", "https://api.harbour.ghe.com"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080/api/v3"),
    ],
)
def test_where_the_api_lies(url, base):
    assert api_base(url)[0] == base


@pytest.mark.parametrize(
    "url",
    [
        "http://github.example.com",
        "github.example.com",
        "ftp://x",
        "https://me:pw@x.org",
        "https://x.org?t=1",
        "https://",
    ],
)
def test_addresses_no_token_is_sent_to(url):
    with pytest.raises(UsageError) as refused:
        checked_url(url)
    assert "pw" not in str(refused.value)


@pytest.mark.parametrize("value", ["", "  ", "short", "two words here", "line\nbreak-in-token", "schlüssel-zum-hafen"])
def test_what_is_no_token_is_refused_without_being_shown(value):
    with pytest.raises(UsageError) as refused:
        token_from({"FORGE": value}, "FORGE")
    assert "FORGE" in str(refused.value)
    assert not value.strip() or value not in str(refused.value)


def test_a_project_has_one_folder_whatever_the_case(tmp_path):
    there = folder_of(tmp_path, "github", "Git.Example.com:8443", "Harbour/API")
    assert there == tmp_path / "github" / "git.example.com_8443" / "harbour" / "api"


def test_the_format_reads_what_was_pulled(hub, pull):
    """Seen = kept + refused, and the people's words come out once, though the timeline repeats them."""
    busy_github(hub, 1)
    there = hub.pulls[1]
    remark = there["review_comments"][0]
    said = there["issue_comments"][0]
    there["threads"] = [{"id": "PRRT_1", "isResolved": True, "resolvedBy": {"login": "mara"}, "isOutdated": False,
                         "comments": [{"databaseId": remark["id"]}]}]  # fmt: skip
    there["events"].append({**said, "event": "commented", "actor": said["user"]})
    there["files"] = [{"sha": "c" * 40, "filename": "src/price.py", "status": "modified", "patch": "@@ -1 +1 @@"}]
    pull()
    data = (pull.folder / "1.json").read_bytes()
    assert github.sniff("1.json", data[:8192])
    member = Member("1.json", len(data), lambda: io.BytesIO(data))
    records = list(github.read(Capture("landing/merge_requests/1.json", (member,), "0" * 64)))
    kept = [record for record in records if isinstance(record, Record)]
    assert {record.unit for record in kept} == {"git.example.com/harbour/api#1"}
    versions = [
        UnitRecord(one.id, one.type, one.ts or hub.now, one.value, f"1.json:{place}", "2026-03-02")
        for place, one in enumerate(kept)
    ]
    unit = Unit("github", "github:git.example.com/harbour/api#1", versions, None, None)
    facts = github.facts(unit)
    assert (facts.remote, facts.branch) == ("https://git.example.com/harbour/api", "cents-1")
    events = github.events(unit)
    words = [event.text for event in events if event.kind in ("comment", "review_comment")]
    assert sorted(words) == ["Do not use floats for money.", "first words on 1"]
    (on_line,) = [event for event in events if event.kind == "review_comment"]
    assert (on_line.path, on_line.line, on_line.attributes["resolved"]) == ("src/price.py", 12, True)
    commits = [event for event in events if event.kind == "commit"]
    assert [c.attributes.get("files") for c in commits][-1] == [{"path": "src/price.py", "hunks": [[12, 13]]}]
    assert [event.kind for event in events].count("merge_request_opened") == 1
