"""Which files are read together: pages of Slack's API, with the users and names that lie beside them."""

from __future__ import annotations

from lorelake.landing.grouping import Group, groups

PAGES = (
    "jl/messages/C1/1.json", "jl/messages/C1/2.json", "jl/names.json", "jl/threads/C1/1772442000.000100.json",
    "jl/users/U1.json",
)  # fmt: skip


def as_slack(name: str) -> str | None:
    return "slack" if name == "jl/messages/C1/2.json" else None


def test_pages_of_the_api_are_one_capture() -> None:
    """One page that tells is enough: an empty one tells nothing."""
    others = ("jl/users/U1.png", "jl/messages/C1/plan.png", "jl/notes.md", "jl/messages/readme.json", "names.json")
    assert groups([*PAGES, *others], as_slack) == [Group("slack", "jl", PAGES)]
    assert groups(reversed([*PAGES, *others]), as_slack) == [Group("slack", "jl", PAGES)]


def test_lists_and_day_files_beside_pages_belong_to_them() -> None:
    more = ("jl/channels.json", "jl/general/2026-03-02.json")
    assert groups([*PAGES, *more], as_slack) == [Group("slack", "jl", tuple(sorted([*PAGES, *more])))]


def test_folders_of_such_names_are_no_slack_by_themselves() -> None:
    assert groups(PAGES, lambda name: None) == []
    assert groups(["app/names.json", "app/daily/2026-03-02.json"], lambda name: None) == []


def test_pages_without_a_folder_above() -> None:
    names = ("messages/C1/1.json", "names.json", "users/U1.json")
    assert groups(names, lambda name: "slack") == [Group("slack", "", names)]
