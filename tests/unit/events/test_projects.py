"""Project identity: one function, from what records state, never from a store folder's name."""

from __future__ import annotations

import pytest

from lorelake.events.projects import UNKNOWN, canonical_remote, checkout, resolve
from lorelake.settings import Project

APP = Project(id="harbour-api", remotes=("git@github.com:tidewater/harbour-api.git",), folders=("src/harbour-api",))


@pytest.mark.parametrize(
    "remote",
    [
        "git@github.com:tidewater/harbour-api.git",
        "https://github.com/tidewater/harbour-api",
        "https://token@github.com/Tidewater/harbour-api.git/",
        "ssh://git@github.com/tidewater/harbour-api.git",
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
    assert checkout(("/home/a/src/app", "/home/a")) == "/home/a"
    assert checkout(("/home/a/src/app", "/home/a/src/application")) == "/home/a/src/app"


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
