from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from lorelake.cli import run

sys.path.insert(0, str(Path(__file__).parents[1] / "landing"))  # fake_forge lies beside the tests of pulling
from fake_forge import MARKER, FakeGitHub, FakeGitLab, documents
from fake_forge_pulls import busy_github, busy_gitlab


@pytest.fixture
def hub():
    with FakeGitHub() as forge:
        yield forge


@pytest.fixture
def lab():
    with FakeGitLab() as forge:
        yield forge


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A lake, tokens, and no waiting: every wait is written down instead."""
    monkeypatch.setenv("LORELAKE_HOME", str(tmp_path / "lake"))
    monkeypatch.setenv("GITHUB_TOKEN", MARKER)
    monkeypatch.setenv("GITLAB_TOKEN", MARKER)
    monkeypatch.delenv("HTTP_PROXY", raising=False)
    waits: list[float] = []
    monkeypatch.setattr("lorelake.cli.pull.wait", waits.append)
    monkeypatch.chdir(tmp_path)
    return waits


def landed(tmp_path, *parts):
    return tmp_path.joinpath("lake", "landing", "merge_requests", *parts)


def host(forge):
    return f"127.0.0.1_{forge.server_port}"


def test_pulled_requests_land_in_the_lake_and_a_line_a_project_tells_of_them(hub, tmp_path, capsys):
    busy_github(hub, 2)
    assert run(["pull", "github", "harbour/api", "--url", hub.url]) == 0
    out, err = capsys.readouterr()
    heads, _, line = out.splitlines()
    assert heads.split() == ["project", "seen", "changed", "unchanged", "incomplete", "gone", "requests", "waited", "s"]
    assert line.split()[:6] == ["harbour/api", "2", "2", "0", "0", "0"]
    assert err == ""
    assert documents(landed(tmp_path, "github", host(hub), "harbour", "api")).keys() == {1, 2}
    assert run(["pull", "github", "harbour/api", "--url", hub.url]) == 0
    assert capsys.readouterr().out.splitlines()[2].split()[:4] == ["harbour/api", "2", "0", "2"]


def test_pulling_from_gitlab(lab, tmp_path, capsys):
    busy_gitlab(lab, 3)
    assert run(["pull", "gitlab", "Harbour/Web", "--url", lab.url, "--overlap", "30m"]) == 1
    assert "404" in capsys.readouterr().err
    assert run(["pull", "gitlab", "harbour/web", "--url", lab.url, "--into", "elsewhere"]) == 0
    assert documents(tmp_path / "elsewhere" / "gitlab" / host(lab) / "harbour" / "web").keys() == {1, 2, 3}


def test_a_folder_that_no_night_reads_is_told_of_with_the_line_to_add(lab, tmp_path, capsys):
    lab.add(1)
    call = ["pull", "gitlab", "harbour/web", "--url", lab.url, "--into", str(tmp_path / "mine" / "requests")]
    assert run(call) == 0
    assert f'[[sources]] path = "{tmp_path}/mine/requests"' in capsys.readouterr().err
    Path("lorelake.toml").write_text('[team]\nid = "harbour"\n[[sources]]\npath = "mine"\n')
    assert run(call) == 0
    assert capsys.readouterr().err == ""


def test_the_next_night_finds_what_was_pulled_and_not_what_pull_remembers(hub, lab, tmp_path):
    from lorelake.landing import discover
    from lorelake.settings import Settings, Team

    busy_github(hub, 2)
    busy_gitlab(lab, 1)
    assert run(["pull", "github", "harbour/api", "--url", hub.url]) == 0
    assert run(["pull", "gitlab", "harbour/web", "--url", lab.url]) == 0
    found = discover.captures(Settings(Team("harbour"), folder=str(tmp_path)))
    assert sorted((source, capture.name.rpartition("/")[2]) for source, capture in found.captures) == [
        ("github", "1.json"), ("github", "2.json"), ("gitlab", "1.json"),
    ]  # fmt: skip
    assert found.refusals == []


def test_one_project_that_fails_stops_no_other_and_the_exit_code_tells(hub, home, tmp_path, capsys):
    busy_github(hub, 1)
    hub.trouble("/pulls/1/reviews", 502, times=None)
    assert run(["pull", "github", "harbour/nothing", "harbour/api", "--url", hub.url]) == 1
    out, err = capsys.readouterr()
    assert out.splitlines()[3].split()[:5] == ["harbour/api", "1", "0", "0", "1"]
    assert "harbour/nothing: GET /repos/harbour/nothing: 404" in err
    assert "harbour/api 1: incomplete: GET /repos/harbour/api/pulls/1/reviews: 502" in err
    assert "2 of 2 projects not complete: harbour/nothing, harbour/api" in err
    assert "remedy: run it again" in err
    assert home == [1.0, 2.0, 4.0, 8.0, 16.0]
    assert out.splitlines()[3].split()[-1] == "31"


def test_the_token_is_never_said(hub, tmp_path, capsys):
    hub.trouble("/repos", 401, {}, {"message": f"Bad credentials: {MARKER}"}, times=None)
    assert run(["pull", "github", "harbour/api", "--url", hub.url]) == 1
    out, err = capsys.readouterr()
    assert "Bad credentials: [token]" in err
    assert MARKER not in out + err
    assert not (tmp_path / "lake").exists()


def test_what_a_host_says_moves_no_cursor(hub, capsys):
    hub.trouble("/repos", 403, {}, {"message": "no\x1b[2J\r entry"})
    assert run(["pull", "github", "harbour/api", "--url", hub.url]) == 1
    assert "403 no [2J entry" in capsys.readouterr().err


def test_on_a_terminal_one_line_counts_on(hub, capsys, monkeypatch):
    busy_github(hub, 2)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert run(["pull", "github", "harbour/api", "--url", hub.url]) == 0
    assert "harbour/api: 2 seen, 2 changed" in capsys.readouterr().err


def test_a_dry_run_writes_nothing(hub, tmp_path, capsys):
    busy_github(hub, 2)
    assert run(["pull", "github", "harbour/api", "--url", hub.url, "--dry-run"]) == 0
    assert "to fetch" in capsys.readouterr().out
    assert not (tmp_path / "lake").exists()


def test_since_is_a_day_of_update(hub, tmp_path):
    hub.add(1)
    hub.tick(3 * 86400)
    hub.add(2)
    assert run(["pull", "github", "harbour/api", "--url", hub.url, "--since", "2026-03-03"]) == 0
    folder = landed(tmp_path, "github", host(hub), "harbour", "api")
    assert documents(folder).keys() == {2}
    assert json.loads((folder / "pull.json").read_text())["lorelake"] == "pull"


def test_another_variable_may_hold_the_token(hub, monkeypatch, capsys):
    monkeypatch.delenv("GITHUB_TOKEN")
    assert run(["pull", "github", "harbour/api", "--url", hub.url]) == 2
    assert "GITHUB_TOKEN is not set" in capsys.readouterr().err
    monkeypatch.setenv("HARBOUR_TOKEN", MARKER)
    assert run(["pull", "github", "harbour/api", "--url", hub.url, "--token-env", "HARBOUR_TOKEN"]) == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["github"], "Missing argument"),
        (["github", "harbour"], "`harbour` is not a project"),
        (["github", "https://github.com/harbour/api"], "is not a project"),
        (["github", "../api"], "is not a project"),
        (["gitlab", "harbour/../api"], "is not a project"),
        (["gitlab", "a/b", "--url", "http://gitlab.example.com"], "in the clear"),
        (["gitlab", "a/b", "--url", "https://me:hidden@gitlab.example.com"], "password"),
        (["gitlab", "a/b", "--url", "https://[::1"], "not an http(s) address"),
        (["gitlab", "a/b", "--url", "https://host:0"], "not an http(s) address"),
        (["gitlab", "a/b", "--url", "https://host:99999"], "not an http(s) address"),
        (["gitlab", "a/b", "--overlap", "soon"], "is no duration"),
        (["gitlab", "a/b", "--since", "9999-01-01"], "has not come yet"),
        (["gitlab", "a/b", "--since", "yesterday"], "does not match"),
    ],
)
def test_a_wrong_call_is_2(arguments, told, capsys):
    assert run(["pull", *arguments]) == 2
    err = capsys.readouterr().err
    assert told in err
    assert "hidden" not in err


@pytest.mark.parametrize("forge", ["github", "gitlab"])
def test_help_has_examples_and_names_the_variable(forge, capsys):
    assert run(["pull", forge, "--help"]) == 0
    told = capsys.readouterr().out
    assert f"  lorelake pull {forge} harbour/api" in told
    assert f"{forge.upper()}_TOKEN" in told
