"""`topics`: what a reader sees of the tree, and that it is only theirs."""

from __future__ import annotations

import json
import sqlite3

import pytest

from lorelake.cli import run
from lorelake.errors import UsageError
from lorelake.recall.reader import open_release
from lorelake.recall.topic_list import to_text, topic_list


@pytest.fixture(scope="module")
def home(tmp_path_factory, make_night, publish_night, settings):
    """A release whose items are filed: two of the team's, one of a project, one of a channel."""
    from lorelake.lake import Lake

    night = make_night()
    night.file_under("paths", "path/scripts/deploy", "path")
    night.file_under("paths", "topic/shell")
    night.file_under("review", "topic/review")
    night.file_under("pnpm", "topic/shell")
    night.file_under("pnpm", "project/harbour", "project")
    night.file_under("secret_plan", "topic/ochremark")
    night.file_under("waits", "topic/worker")
    root = tmp_path_factory.mktemp("topics") / "lake"
    publish_night(Lake(root), settings, night)
    return root


def listed(home, path="", limit=20, **more):
    with open_release(home, **more) as reader:
        return topic_list(reader, path, limit)


def counts(found):
    return {topic.path: topic.items for topic in found.topics}


def test_the_topmost_list_is_of_kinds_and_counts_each_item_once(home):
    assert counts(listed(home)) == {"path": 1, "topic": 2}
    assert counts(listed(home, projects=["harbour"])) == {"topic": 3, "path": 1, "project": 1}


def test_below_a_topic_are_its_children_with_what_lies_below_them(home, ids):
    found = listed(home, "path")
    assert counts(found) == {"path/scripts": 1}
    assert (found.items, found.items_at_and_below) == ((), 1)
    leaf = listed(home, "PATH/scripts/deploy/")
    assert (leaf.topics, [item.learning_id for item in leaf.items]) == ((), [ids("paths")])


def test_a_reader_sees_no_topic_of_an_audience_that_is_not_theirs(home):
    assert "topic/ochremark" not in counts(listed(home, "topic", projects=["harbour", "lantern"]))
    with pytest.raises(UsageError, match="nothing is filed under `topic/ochremark`"):
        listed(home, "topic/ochremark")
    assert counts(listed(home, "topic", audiences=["channel:C0PRIVATE"])) == {"topic/ochremark": 1}


def test_a_topic_with_nothing_served_is_not_listed(home):
    assert "topic/worker" not in counts(listed(home, "topic", projects=["harbour"]))


def test_one_path_in_two_audiences_is_one_line(home):
    assert counts(listed(home, "topic"))["topic/shell"] == 1
    assert counts(listed(home, "topic", projects=["harbour"]))["topic/shell"] == 2


def test_a_cut_list_says_so(home):
    whole, cut = listed(home, "topic"), listed(home, "topic", limit=1)
    assert (whole.total_matching, whole.returned, whole.truncated) == (2, 2, False)
    assert (cut.total_matching, cut.returned, cut.truncated) == (2, 1, True)
    assert "(cut; raise --limit for more)" in to_text(cut)
    assert "cut" not in to_text(whole)


def test_items_under_no_topic_are_counted(home):
    found = listed(home, projects=["lantern"])
    assert found.without_topic == 1
    assert "1 item under no topic" in to_text(found)


def test_the_command_lists_and_says_what_is_wrong(home, capsys):
    assert run(["topics", "topic", "--home", str(home), "--project", "harbour"]) == 0
    out = capsys.readouterr().out
    assert "topic: 3 items" in out
    assert "2  topic/shell" in out
    assert run(["topics", "--json", "--home", str(home)]) == 0
    assert json.loads(capsys.readouterr().out)["total_matching"] == 2
    assert run(["topics", "topic/none", "--home", str(home)]) == 2
    assert "`lorelake topics` lists what there is" in capsys.readouterr().err


def test_a_title_cannot_step_out_of_its_line(tmp_path, make_night, publish_night, settings):
    from lorelake.lake import Lake

    night = make_night()
    night.learning("paths")["title"] = "Quote\x1b[2J\n2 topics"
    night.file_under("paths", "topic/shell")
    publish_night(Lake(tmp_path / "lake"), settings, night)
    text = to_text(listed(tmp_path / "lake", "topic/shell"))
    assert "\x1b" not in text
    assert [line for line in text.splitlines() if line.startswith("2 topics")] == []


def test_a_release_older_than_topics_is_unreachable_and_no_empty_list(published, capsys):
    for path in published.releases.rglob("lexical.db"):
        path.chmod(0o640)
        path.parent.chmod(0o750)
        with sqlite3.connect(path) as db:
            db.executescript("DROP TABLE topics; DROP TABLE topic_items;")
    assert run(["topics", "--home", str(published.root)]) == 1
    out = capsys.readouterr().out
    assert out.split()[0] == "UNREACHABLE"
    assert "this release has no topics" in out
