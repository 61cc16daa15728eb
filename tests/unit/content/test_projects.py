"""Project identity: one function, from what records state, never from a store folder's name."""

from __future__ import annotations

import pytest

from lorelake.content.projects import UNKNOWN, canonical_remote, checkout, resolve
from lorelake.settings import Project

APP = Project(id="harbour-api", remotes=("git@github.com:tidewater/harbour-api.git",), folders=("src/harbour-api",))
ROOT_HOME = "/root"


@pytest.mark.parametrize(
    "remote",
    [
        "git@github.com:tidewater/harbour-api.git",
        "https://github.com/tidewater/harbour-api",
        "https://token@github.com/Tidewater/harbour-api.git/",
        "ssh://git@github.com/tidewater/harbour-api.git",
        "https://ann:p@ss@github.com/tidewater/harbour-api.git?private_token=abc#x",
    ],
)
def test_every_spelling_of_a_remote_is_one_project(remote: str) -> None:
    assert canonical_remote(remote) == "github.com/tidewater/harbour-api"
    assert resolve(remote, (), None, [APP]) == ("harbour-api", False)


def test_hyphen_and_space_are_two_projects() -> None:
    spaced, _ = resolve(None, ("/home/a/open source/app",), None, [])
    hyphened, _ = resolve(None, ("/home/a/open-source/app",), None, [])
    assert spaced != hyphened


@pytest.mark.parametrize(
    "cwd",
    [
        "/home/a/src/app/.worktrees/fix-login",
        "/home/a/src/app/.claude/worktrees/fix-login/web",
        "/home/a/src/app/.git/worktrees/x",
    ],
)
def test_a_worktree_belongs_to_its_checkout(cwd: str) -> None:
    assert checkout((cwd,)) == "/home/a/src/app"


def test_a_cd_into_a_subfolder_makes_no_second_project() -> None:
    assert checkout(("/home/a/src/app/web", "/home/a/src/app", "/tmp")) == "/home/a/src/app"
    assert checkout(("/home/a/src/app", "/home/a/src")) == "/home/a/src"
    assert checkout(("/home/a/src/app", "/home/a/src/application")) == "/home/a/src/app"


@pytest.mark.parametrize("home", ["/home/a", "/Users/a", ROOT_HOME])
def test_a_home_folder_is_a_project_only_where_the_session_began_in_it(home: str) -> None:
    assert checkout((f"{home}/src/app", home, f"{home}/src/app")) == f"{home}/src/app"
    assert checkout((home, f"{home}/src/app")) == home


@pytest.mark.parametrize(
    "kept", ["/home/a/.codex/worktrees/{}", "/Users/a/.cursor/worktrees/{}", f"{ROOT_HOME}/worktrees/{{}}"]
)
def test_worktrees_that_a_tool_keeps_in_the_home_folder_are_not_one_project(kept: str) -> None:
    """faults 8: what lies above the marker is no checkout, and two repositories would meet in it."""
    harbour, lantern = checkout((kept.format("7f3a/harbour"),)), checkout((kept.format("91bc/lantern"),))
    assert harbour.endswith("/harbour")
    assert lantern.endswith("/lantern")


@pytest.mark.parametrize(
    ("remote", "name"),
    [
        ("git@forge.example:1024/harbour-api.git", "forge.example/1024/harbour-api"),
        ("ssh://git@forge.example:2222/tidewater/harbour-api.git", "forge.example/tidewater/harbour-api"),
        ("https://forge.example:8443/tidewater/harbour-api", "forge.example/tidewater/harbour-api"),
        ("https://mara:p@ss@forge.example/tidewater/harbour-api.git", "forge.example/tidewater/harbour-api"),
    ],
)
def test_a_port_is_none_of_a_name_and_an_owner_of_digits_is(remote: str, name: str) -> None:
    assert canonical_remote(remote) == name


def test_a_renamed_checkout_keeps_its_remote() -> None:
    before = resolve("git@github.com:tidewater/harbour-api.git", ("/home/a/old-name",), None, [APP])
    after = resolve("git@github.com:tidewater/harbour-api.git", ("/home/a/new-name",), None, [APP])
    assert before == after == ("harbour-api", False)


def test_a_folder_of_the_settings_comes_before_a_hint_and_a_hint_is_assumed() -> None:
    assert resolve(None, ("/home/a/src/harbour-api",), "other", [APP]) == ("harbour-api", False)
    assert resolve(None, ("/home/a/elsewhere",), "other", [APP]) == ("other", True)


def test_nothing_recorded_is_unknown_and_not_guessed() -> None:
    assert resolve(None, (), None, [APP]) == (UNKNOWN, False)
    assert resolve("", ("",), None, [APP]) == (UNKNOWN, False)


@pytest.mark.parametrize("name", ["/home/a/two\nlines", "/home/a/\x1b[31mred"])
def test_what_holds_a_control_character_names_no_project(name: str) -> None:
    """An audience of two lines would hold back the whole release."""
    assert resolve(None, (name,), None, []) == (UNKNOWN, False)
    assert resolve(None, (), name, []) == (UNKNOWN, False)
    assert resolve(f"github.com/a{name}", ("/home/a/app",), None, [APP]) == ("/home/a/app", False)
    assert resolve(f"github.com/a{name}", (name,), "shop", []) == ("shop", True)
