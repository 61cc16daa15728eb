from __future__ import annotations

import json
import os
import shutil
import tempfile
from contextlib import contextmanager
from datetime import date
from pathlib import Path

import msgspec
import pytest

from lorelake import open_release, served
from lorelake.content import markers
from lorelake.errors import UnreachableError, UsageError
from lorelake.lake import Lake
from lorelake.recall import answer

TODAY = date(2026, 3, 22)
TOPIC = "ochremark lanternmark harbourmark"
"""Words of the three narrower audiences: whoever asks for all of them sees what they are entitled to."""


@pytest.fixture
def reading(published):
    """Opens readers on the published lake and closes them."""
    opened = []

    def open_(**options):
        opened.append(open_release(published.root, **options))
        return opened[-1]

    yield open_
    for reader in opened:
        reader.close()


@pytest.mark.parametrize(
    ("entitled", "seen"),
    [
        ({"projects": ["harbour"]}, {"pnpm"}),
        ({"projects": ["lantern"]}, {"cache"}),
        ({"projects": ["harbour", "lantern"]}, {"pnpm", "cache"}),
        ({}, set()),
        ({"projects": ["unknown", "nowhere", ""]}, set()),
        ({"audiences": []}, set()),
        ({"audiences": ["channel:C0PRIVATE"]}, {"secret_plan"}),
        ({"projects": ["C0PRIVATE"]}, set()),
    ],
)
def test_a_reader_sees_its_own_audiences_only_on_every_path(reading, ids, entitled, seen):
    reader = reading(**entitled)
    names = {"pnpm": "harbourmark", "cache": "lanternmark", "secret_plan": "ochremark"}
    for name, marker in names.items():
        found = reader.recall(marker)
        assert {hit.learning_id for hit in found.hits} == ({ids(name)} if name in seen else set())
        assert (reader.check(marker).verdict == "RELEVANT") is (name in seen)
        assert (reader.show(ids(name)) is not None) is (name in seen)
        if name not in seen:
            told = answer.to_json(found) + answer.to_text(found)
            for hidden in ("pnpm", "tile", "figures", "project:lantern", "C0PRIVATE"):
                assert hidden not in told or hidden in " ".join(reader.audiences)


def test_team_memory_is_read_beside_the_project_and_nothing_without_an_audience(reading, ids):
    question = "quote paths in shell scripts"
    assert reading(projects=["nowhere"]).recall(question).hits[0].learning_id == ids("paths")
    nothing = reading(audiences=[]).recall(question)
    assert (nothing.verdict, nothing.searched.items, nothing.searched.audiences) == ("NOT_RELEVANT", 0, ())


def test_an_answer_says_what_it_rests_on(reading, ids, published):
    found = reading(projects=["harbour"]).recall("which pnpm install zeppelin", today=TODAY)
    assert found.verdict == "RELEVANT"
    assert found.searched == answer.Searched(
        ("team", "project:harbour"), 3, published.current_release(), "2026-03-20", 2, "lexical"
    )
    assert found.missing_terms == ("zeppelin",)
    assert set(found.matched_terms) == {"pnpm", "install"}
    (hit,) = found.hits
    assert (hit.trust, hit.state, hit.confidence, hit.confidence_interval) == ("stated", "active", 0.7, (0.4, 0.9))
    assert hit.quotes[0].words == "no, we use pnpm here, not npm: harbourmark"
    assert hit.quotes[0].source == "claude-code/pnpm.jsonl:7"
    assert hit.why == "holds 2 of 2 searched terms (pnpm, install)"
    asked, shown = markers.parse(found.marker)
    assert shown == markers.Marker("shown", published.current_release(), (ids("pnpm"),))
    assert (asked.release_id, asked.verdict) == (
        published.current_release(),
        markers.Verdict("RELEVANT", found.score, found.threshold, 1, 1, ("team", "project:harbour")),
    )


def test_a_cut_answer_says_so(reading):
    reader = reading(projects=["harbour"])
    whole = reader.recall("quote paths, schema migrations, pnpm install", limit=5)
    cut = reader.recall("quote paths, schema migrations, pnpm install", limit=1)
    assert (whole.total_matching, whole.returned, whole.truncated) == (3, 3, False)
    assert (cut.total_matching, cut.returned, cut.truncated) == (3, 1, True)
    assert cut.hits == whole.hits[:1]


def test_nothing_matched_shows_nothing(reading):
    found = reading().recall("how do I tune the kubernetes autoscaler")
    assert (found.verdict, found.hits, found.returned) == ("NOT_RELEVANT", (), 0)
    assert [marker.kind for marker in markers.parse(found.marker)] == ["recall"]
    assert "NOT_RELEVANT" in answer.to_text(found)


def test_check_gives_the_verdict_and_no_item(reading):
    reader = reading(projects=["harbour"])
    told = reader.check("pnpm install")
    assert (told.verdict, told.hits, told.total_matching) == ("RELEVANT", (), 1)
    assert [(marker.kind, marker.verdict.returned, marker.verdict.total) for marker in markers.parse(told.marker)] == [
        ("recall", 0, 1)
    ]
    assert told.score == reader.recall("pnpm install").score


def test_what_is_not_active_is_never_found(reading):
    reader = reading(projects=["harbour"])
    for question in ("escape blanks backslash", "restart the worker after config change", "forgetmark number"):
        assert reader.recall(question).verdict == "NOT_RELEVANT"


def test_an_old_id_answers_with_what_replaced_it(reading, ids):
    shown = reading().show(ids("paths_old"))
    assert (shown.state, shown.superseded_by, shown.hit.learning_id) == ("superseded", ids("paths"), ids("paths"))
    text = answer.shown_to_text(shown)
    assert "is superseded and not served" in text
    assert "backslash" not in text


def test_an_id_that_waits_or_is_gone_says_its_state_without_words(reading, ids):
    reader = reading(projects=["harbour"])
    for name, state in (("waits", "candidate"), ("gone", "forgotten")):
        shown = reader.show(ids(name))
        assert (shown.state, shown.hit, shown.marker) == (state, None, None)
        assert "worker" not in answer.shown_to_text(shown)


def test_an_id_of_an_earlier_release_answers_with_what_holds_it_now(lake, settings, night, ids, publish_night):
    """Its project was folded into another, or it was erased; a reader of another project is told nothing."""
    moved, erased = "lrn_" + "1" * 32, "lrn_" + "2" * 32
    night.put("aliases", reference=moved, learning_id=ids("pnpm"), basis="served_before", audience="project:dock")
    night.put("aliases", reference=erased, basis="forgotten", audience="project:harbour")
    publish_night(lake, settings, night)
    with open_release(lake.root, projects=["harbour"]) as reader:
        shown = reader.show(moved[:16])
        assert (shown.learning_id, shown.hit.learning_id) == (ids("pnpm"), ids("pnpm"))
        gone = reader.show(erased)
        assert (gone.state, gone.hit) == ("forgotten", None)
    with open_release(lake.root, projects=["lantern"]) as reader:
        assert reader.show(moved) is None
        assert reader.show(erased) is None


def test_an_id_is_found_by_a_prefix_that_is_the_only_one(reading, ids, published):
    reader = reading()
    assert reader.show(ids("paths")[:16].upper().replace("LRN", "lrn")).hit.learning_id == ids("paths")
    assert reader.show("lrn_" + "0" * 12) is None
    with pytest.raises(UsageError, match="too short"):
        reader.show("lrn_")
    with pytest.raises(UsageError, match="begins 2 ids"):
        _with_two_ids_that_begin_alike(published).show("lrn_aaaaaaaa")


def _with_two_ids_that_begin_alike(published):
    import sqlite3

    folder = published.releases / published.current_release()
    path = folder / "index" / served.audience_id("harbour-team", "team") / "lexical.db"
    path.chmod(0o640)
    with sqlite3.connect(path) as db:
        db.executemany("INSERT INTO retired VALUES (?, 'expired', NULL)", [("lrn_" + "a" * 31 + c,) for c in "12"])
    return open_release(published.root)


def test_no_lake_no_release_or_a_broken_one_is_unreachable(tmp_path, published):
    with pytest.raises(UnreachableError, match="no release is published"):
        open_release(tmp_path / "nowhere")
    (tmp_path / "CURRENT").write_text("2026-03-20-0123abcd\n")
    with pytest.raises(UnreachableError, match="cannot be read"):
        open_release(tmp_path)
    (tmp_path / "CURRENT").write_text("../../etc\n")
    with pytest.raises(UnreachableError, match="names no release"):
        open_release(tmp_path)
    with pytest.raises(UsageError, match="not a release id"):
        open_release(published.root, release="../..")
    index = published.releases / published.current_release() / "index" / served.audience_id("harbour-team", "team")
    shutil.move(index / "lexical.db", index / "elsewhere")
    with pytest.raises(UnreachableError, match="index"):
        open_release(published.root)
    with open_release(published.root, audiences=["project:harbour"]) as reader:
        assert reader.recall("pnpm").verdict == "RELEVANT", "another audience's fault is not this reader's"


@pytest.mark.parametrize("content", [b"", b"not a database at all, but long enough to be read as one" * 20])
def test_a_damaged_index_is_unreachable_and_not_empty(published, content):
    index = published.releases / published.current_release() / "index" / served.audience_id("harbour-team", "team")
    (index / "lexical.db").chmod(0o640)
    (index / "lexical.db").write_bytes(content)
    with pytest.raises(UnreachableError):
        open_release(published.root)


@contextmanager
def without_rights():
    """Root may write anywhere: give that up for a while, so that modes mean something."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


@pytest.fixture
def open_to_all(published):
    """The published lake in a folder that everybody may pass through; pytest's own are their owner's alone."""
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)  # noqa: S103
        root = Path(place) / "lake"
        shutil.copytree(published.root, root)
        root.chmod(0o755)
        yield Lake(root)


def test_reading_writes_nothing_and_needs_no_right_to(open_to_all, ids):
    published = open_to_all
    folder = published.releases / published.current_release()
    everything = [published.current, published.releases, folder, *folder.rglob("*")]
    for path in everything:
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = [(path, path.stat().st_mtime_ns, path.stat().st_size) for path in everything]
    with without_rights():
        with pytest.raises(PermissionError):
            (folder / "written").touch()
        with open_release(published.root, projects=["harbour"]) as reader:
            assert reader.recall("pnpm install").hits[0].learning_id == ids("pnpm")
            assert reader.recall("pnpm install", engine="lance").hits[0].learning_id == ids("pnpm")
            assert reader.show(ids("paths")).hit is not None
    assert sorted(folder.rglob("*")) == sorted(path for path in everything if folder in path.parents)
    assert [(path, path.stat().st_mtime_ns, path.stat().st_size) for path in everything] == before


def test_an_open_reader_stays_on_its_release(published, publish_night, settings, night, ids):
    with open_release(published.root, projects=["harbour"]) as reader:
        first = published.current_release()
        night.learning("pnpm")["state"] = "archived"
        night.learning("waits")["state"] = "active"
        publish_night(published, settings, night, date(2026, 3, 21))
        assert published.current_release() != first
        assert reader.recall("pnpm").searched.release == first
        assert reader.recall("pnpm").hits[0].learning_id == ids("pnpm")
    with open_release(published.root, projects=["harbour"]) as reader:
        assert reader.recall("pnpm").verdict == "NOT_RELEVANT"
    with open_release(published.root, release=first, projects=["harbour"]) as reader:
        assert reader.recall("pnpm").verdict == "RELEVANT"


def test_an_earlier_release_does_not_show_what_was_taken_out_since(published, publish_night, settings, night, ids):
    """Read by its id, on every path; what was only archived is still there to be looked at."""
    first = published.current_release()
    night.learning("paths")["state"] = "rejected"
    night.learning("review")["state"] = "archived"
    night.add("third", "team", "Write the date of a deploy into the log", "Write it.", "write the date of the deploy")
    night.rows["supersession"] = []
    night.learning("paths_old")["superseded_by"] = None
    publish_night(published, settings, night, date(2026, 3, 21), allow_shrink=True)
    with open_release(published.root, release=first) as reader:
        for engine in ("lexical", "lance"):
            assert ids("paths") not in [hit.learning_id for hit in reader.recall("quote paths", engine=engine).hits]
            assert reader.recall("second reader migrations", engine=engine).hits[0].learning_id == ids("review")
        shown = reader.show(ids("paths"))
        assert (shown.hit, shown.state) == (None, "rejected")
        assert reader.show(ids("review")).hit is not None


def test_an_audience_that_serves_nothing_tonight_shows_nothing_of_an_earlier_release(
    published, publish_night, settings, night
):
    """Its index is not there any more, and with it what could tell that nothing was taken out."""
    first = published.current_release()
    night.learning("cache")["state"] = "rejected"
    publish_night(published, settings, night, date(2026, 3, 21), allow_shrink=True)
    with open_release(published.root, release=first, projects=["lantern"]) as reader:
        assert reader.recall("lanternmark").hits == ()


def test_home_is_the_variable_then_the_settings_then_here(tmp_path, monkeypatch):
    from lorelake.recall.reader import find_home

    monkeypatch.delenv("LORELAKE_HOME", raising=False)
    below = tmp_path / "team" / "src"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert find_home().name == "lake"
    (tmp_path / "team" / "lorelake.toml").write_text('home = "memory"\n[team]\nid = "t"\n')
    assert find_home() == (tmp_path / "team" / "memory").resolve()
    monkeypatch.setenv("LORELAKE_HOME", str(tmp_path / "set"))
    assert find_home() == tmp_path / "set"


def test_both_engines_find_the_same_and_say_which_they_are(reading, ids):
    reader = reading(projects=["harbour"])
    for question, name in (
        ("pnpm install", "pnpm"),
        ("quoting paths", "paths"),
        ("ERR_PNPM_OUTDATED_LOCKFILE", "pnpm"),
    ):
        for engine in ("lexical", "lance"):
            found = reader.recall(question, engine=engine)
            assert (found.hits[0].learning_id, found.searched.engine) == (ids(name), engine)
    assert reader.recall("kubernetes autoscaler", engine="lance").verdict == "NOT_RELEVANT"
    with pytest.raises(UsageError, match="unknown engine"):
        reader.recall("pnpm", engine="grep")


def test_an_answer_is_one_json_value(reading):
    found = reading(projects=["harbour"]).recall("pnpm")
    assert msgspec.convert(json.loads(answer.to_json(found)), answer.Answer) == found
