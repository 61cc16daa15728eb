from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
from pathlib import Path

import msgspec
import pytest

from lorelake.errors import SourceError
from lorelake.formats import documents, history, registry, teamai
from lorelake.formats.record import Capture, Record
from lorelake.lake import Lake
from lorelake.landing import discover, repository, stores
from lorelake.settings import Settings, Source, Team

NOTE = "---\ntitle: Retry\ndate: 2026-03-02\n---\n# Retry\n\nRetry the upload with the same key.\n"
VOTES = "version: 2\nvotes:\n  a: {recalled_count: 1, upvoted_count: 0}\ndeltas: {}\n"
PROJECTS = "version: 1\nprojects:\n  - id: web\n    resources: {learnings: [alpha]}\n"
SCAR: dict[str, object] = {
    "id": "0b6f3a52", "learning_type": "scar", "title": "Back up first", "description": "A column was dropped.",
    "created_at": "2026-03-01T10:00:00Z",
}  # fmt: skip
TABLE = 'id,learning_type,title,description,keywords\ne1,win,Ask first,"Ask, then act on it.","{a,b}"\n'


class Clone:
    """A repository whose commits are a minute apart."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.now = folder, 1_772_000_000
        folder.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str, who: str = "ann") -> str:
        role = {f"GIT_{role}_{part}": value for role in ("AUTHOR", "COMMITTER") for part, value in (
            ("NAME", who), ("EMAIL", f"{who}@team.example"), ("DATE", f"{self.now} +0000"))}  # fmt: skip
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "GIT_CONFIG_NOSYSTEM": "1", **role}
        done = subprocess.run(["git", *arguments], cwd=self.folder, env=environment, capture_output=True, check=True)
        return done.stdout.decode().strip()

    def commit(self, files: dict[str, str | None], message: str = "change", who: str = "ann") -> None:
        self.now += 60
        for name, text in files.items():
            path = self.folder / name
            if text is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        self.git("add", "--all", ".")
        self.git("commit", "--quiet", "--allow-empty", "-m", message, who=who)


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    """A team's repository: code, learnings on both branches, projects, votes on the branch of reports."""
    made = Clone(tmp_path / "team-memory")
    made.commit({"learnings/a.md": NOTE, "src/secret.py": "x = 1\n", "manifest/projects.yaml": PROJECTS})
    made.git("checkout", "--quiet", "-b", teamai.LEARNINGS_BRANCH)
    made.commit({"learnings/alpha/b.md": "# B\n\nBuild it with the pinned compiler.\n"})
    made.git("checkout", "--quiet", "main")
    made.commit({"learnings/a.md": NOTE + "\nTwice at most.\n", "decisions/1.yaml": "decision: approve\nlearning: x\n"})
    made.git("checkout", "--quiet", "--orphan", teamai.REPORTS_BRANCH)
    made.git("rm", "-rqf", ".")
    made.commit({"votes/ann.yaml": VOTES})
    made.commit({"votes/ann.yaml": VOTES.replace("1", "2")})
    made.git("checkout", "--quiet", "main")
    return made


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake")


def take(lake: Lake, kind: str, place: Path, project: str | None = None, person: str | None = None) -> stores.Import:
    plan = stores.plan(lake, kind, place, "main", project, person)
    if plan.new or plan.assumes_else:
        stores.take(lake, plan, "main", {"by": "ann"})
    return plan


def landed(lake: Lake, tmp_path: Path) -> discover.Discovery:
    """What the next night finds."""
    return discover.captures(Settings(Team("t"), home=str(lake.root), folder=str(tmp_path)))


def records(found: discover.Discovery, source: str = "documents") -> list[Record]:
    items = [
        item for name, capture in found.captures if name == source for item in registry.by_name(name).read(capture)
    ]
    kept = [item for item in items if isinstance(item, Record)]
    assert len(kept) == len(items), items
    return kept


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_both_branches_and_the_newest_totals_are_read(clone: Clone) -> None:
    found = repository.read(clone.folder, "store", "main")
    captures = {capture.name: capture for name, capture in found.captures if name == "documents"}
    assert set(captures) == {"store", "store@teamai-learnings", "store@teamai-reports"}
    assert {capture.ref for capture in captures.values()} == {"main"}, "the protected one"
    main, own, reports = (told(captures[name]) for name in sorted(captures))
    assert [(version.path, version.position) for version in own.versions] == [
        ("learnings/a.md", 0),
        ("learnings/alpha/b.md", 1),
    ]
    assert {version.path for version in main.versions} == {"learnings/a.md", "manifest/projects.yaml"}
    assert own.root == main.root == reports.root, "one repository, whatever its orphan branches begin with"
    assert [version.path for version in reports.versions] == ["votes/ann.yaml"]
    assert (own.projects, own.projects_position) == (PROJECTS, 0)
    units = {item.unit for capture in captures.values() for item in documents.read(capture) if isinstance(item, Record)}
    assert len(units) == 4


def told(capture: Capture) -> history.History:
    found = history.of(capture)
    assert found is not None
    return found[0]


def test_a_branch_that_is_the_protected_ref_is_read_once(clone: Clone) -> None:
    names = [capture.name for _, capture in repository.read(clone.folder, "store", teamai.LEARNINGS_BRANCH).captures]
    assert names == ["store", "store@teamai-reports"]


def test_a_commits_own_words_come_whole(clone: Clone) -> None:
    clone.commit({"learnings/a.md": None}, "Gone\n\nBecause of\x1e #12.", "bob")
    (_, capture) = repository.read(clone.folder, "store", "main").captures[0]
    (gone,) = [version for version in told(capture).versions if version.deleted]
    assert (gone.message, gone.actor.email) == ("Gone\n\nBecause of\x1e #12.", "bob@team.example")


def test_a_list_of_projects_that_changes_is_read_again(clone: Clone) -> None:
    before = repository.read(clone.folder, "store", "main").captures
    clone.commit({"manifest/projects.yaml": PROJECTS.replace("web", "app")})
    after = repository.read(clone.folder, "store", "main").captures
    same = [one.sha256 == other.sha256 for (_, one), (_, other) in zip(before, after, strict=True)]
    assert same == [False] * 4
    assert told(after[2][1]).projects_position == 2


def test_a_repository_is_taken_with_its_history_and_without_its_code(clone: Clone, lake: Lake, tmp_path: Path) -> None:
    wanted = stores.look("teamai", clone.folder, "store", "main")
    plan = take(lake, "teamai", clone.folder, project="web")
    copied = plan.folder / stores.HISTORY
    listed = subprocess.run(
        ["git", "cat-file", "--batch-all-objects", "--batch-check"], cwd=copied, capture_output=True, check=True
    ).stdout.decode()
    assert clone.git("rev-parse", "main:src/secret.py") not in listed
    assert clone.git("rev-parse", "main:decisions/1.yaml") not in listed, "who decides is nobody's to bring along"
    found = landed(lake, tmp_path)
    assert not found.refusals
    assert {name for name, _ in found.captures} == {"documents"}
    assert {(item.unit, item.id) for item in records(found)} == {(e.record.unit, e.record.id) for e in wanted.entries}
    assert {capture.project for _, capture in found.captures} == {"web"}


def test_only_the_owner_may_look_into_the_copy(clone: Clone, lake: Lake) -> None:
    take(lake, "teamai", clone.folder)
    modes = {(path.is_dir(), stat.S_IMODE(path.stat().st_mode)) for path in [lake.landing, *lake.landing.rglob("*")]}
    assert modes == {(True, 0o700), (False, 0o600)}


def test_what_was_taken_is_not_taken_again_and_what_is_new_is_added(clone: Clone, lake: Lake, tmp_path: Path) -> None:
    first = take(lake, "teamai", clone.folder)
    before = snapshot(lake.landing)
    again = take(lake, "teamai", clone.folder)
    assert (again.new, again.folder) == (frozenset(), first.folder)
    assert snapshot(lake.landing) == before
    shutil.copytree(clone.folder, tmp_path / "elsewhere")
    assert not stores.plan(lake, "teamai", tmp_path / "elsewhere", "main", None, None).new, "a copy holds nothing new"
    clone.commit({"learnings/c.md": "# C\n\nAsk before you delete a bucket.\n"})
    more = take(lake, "teamai", clone.folder)
    assert (len(more.new), more.folder) == (1, first.folder)
    assert {item.value["path"] for item in records(landed(lake, tmp_path))} >= {"learnings/c.md"}


def test_a_stream_of_a_repository_is_the_same_store(clone: Clone, lake: Lake, tmp_path: Path) -> None:
    stream = tmp_path / "memory.stream"
    stream.write_bytes((clone.git("fast-export", "--all") + "\n").encode())
    take(lake, "teamai", clone.folder)
    assert not stores.plan(lake, "teamai", stream, "main", None, None).new


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "export"
    for name, text in {
        "learnings/a.md": NOTE, "learnings/_archive/b.md": NOTE, "votes/ann.yaml": VOTES, "skills/.removed": "x\n",
        "rules/go.md": "# Go\n\nUse tabs.\n", "session-logs/2026-03.md": "# Log\n", "agents/x.md": "# Reviewer\n",
    }.items():  # fmt: skip
        path = made / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return made


def test_a_folder_is_taken_file_by_file_without_logs(folder: Path, lake: Lake, tmp_path: Path) -> None:
    plan = take(lake, "teamai", folder)
    assert plan.store.left == ("store/session-logs/2026-03.md",)
    found = landed(lake, tmp_path)
    kinds = sorted((item.type, item.member.rpartition("/")[2]) for item in records(found))
    assert kinds == [
        ("document", "a.md"), ("document_archived", "b.md"), ("known_text", "go.md"), ("known_text", "x.md"),
        ("teamai_removed", ".removed"), ("teamai_votes", "ann.yaml"),
    ]  # fmt: skip
    (folder / "learnings" / "a.md").unlink()
    assert not take(lake, "teamai", folder).new
    assert (plan.folder / "learnings" / "a.md").exists(), "what is gone there is not gone here"
    (folder / "learnings" / "n.md").write_text("# N\n\nNew.\n")
    assert len(take(lake, "teamai", folder).new) == 1
    assert (plan.folder / "learnings" / "n.md").exists()


def gitmem_store(folder: Path, *rows: dict[str, object]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "learnings.json").write_text(json.dumps(rows, indent=2))
    (folder / "agent-briefing.md").write_text("# Always check the three scars\n")
    (folder / "config.json").write_text('{"project": "default"}')
    return folder


def test_a_collection_that_lost_rows_shortens_nothing(lake: Lake, tmp_path: Path) -> None:
    """Above 10 MB GitMem drops the oldest fifth of its rows at the next write."""
    other = SCAR | {"id": "1b6f3a52", "title": "Ask first"}
    store = gitmem_store(tmp_path / ".gitmem", SCAR, other)
    first = take(lake, "gitmem", store)
    gitmem_store(store, other)
    assert not take(lake, "gitmem", store).new
    gitmem_store(store, other, SCAR | {"id": "2b6f3a52", "title": "Look first"})
    second = take(lake, "gitmem", store)
    assert (len(second.new), second.folder) == (1, first.folder)
    found = landed(lake, tmp_path)
    assert {item.id for item in records(found, "gitmem")} == {"0b6f3a52", "1b6f3a52", "2b6f3a52"}
    assert {name for name, _ in found.captures} == {"gitmem"}
    assert not found.refusals


def test_a_torn_collection_stays_behind_and_the_rest_is_taken(lake: Lake, tmp_path: Path) -> None:
    store = gitmem_store(tmp_path / ".gitmem", SCAR)
    (store / "decisions.json").write_text('[{"id": "x", ')
    plan = take(lake, "gitmem", store)
    assert [(refusal.reason, refusal.member) for refusal in plan.store.refusals] == [
        ("not_json", "store/decisions.json")
    ]
    assert sorted(path.name.partition("-")[0] for path in plan.folder.iterdir()) == ["import.json", "learnings"]


def test_one_exported_table_is_a_store(lake: Lake, tmp_path: Path) -> None:
    exported = tmp_path / "gitmem_learnings_rows.csv"
    exported.write_text(TABLE)
    plan = take(lake, "gitmem", exported)
    assert len(plan.new) == 1
    (record,) = records(landed(lake, tmp_path), "gitmem")
    assert (record.id, record.value["keywords"]) == ("e1", ["a", "b"])
    gitmem_store(tmp_path / ".gitmem", SCAR)
    assert not take(lake, "gitmem", exported).new


def test_a_file_that_cannot_be_opened_costs_none_of_its_neighbours(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = stores.look("teamai", folder, "store", "main")
    source = stores._source

    def locked(kind: str, relative: str, path: Path) -> str | None:
        if relative == "learnings/a.md":
            raise PermissionError(13, "Permission denied", str(path))
        return source(kind, relative, path)

    monkeypatch.setattr(stores, "_source", locked)
    partly = stores.look("teamai", folder, "store", "main")
    assert [(refusal.reason, refusal.member) for refusal in partly.refusals] == [("unreadable", "store/learnings/a.md")]
    assert len(partly.entries) == len(whole.entries) - 1


def test_the_note_says_who_and_when_for_each_import(lake: Lake, tmp_path: Path) -> None:
    store = gitmem_store(tmp_path / ".gitmem", SCAR)
    take(lake, "gitmem", store, project="shop", person="ann")
    gitmem_store(store, SCAR, SCAR | {"id": "n"})
    plan = take(lake, "gitmem", store)
    note = msgspec.json.decode((plan.folder / stores.NOTE).read_bytes())
    assert next(iter(note)) == "lorelake", "what marks it as a note of ours"
    told = ("import", "gitmem", "shop", "ann", 2)
    assert (note["lorelake"], note["store"], note["project"], note["person"], len(note["imports"])) == told
    assert not plan.assumes_else, "what was assumed before holds"


def test_a_folder_with_clones_in_it_names_the_clone(clone: Clone) -> None:
    with pytest.raises(SourceError) as caught:
        stores.look("teamai", clone.folder.parent, "store", "main")
    assert str(clone.folder) in str(caught.value)


def test_a_store_in_a_users_sources_is_one_capture(tmp_path: Path) -> None:
    store = gitmem_store(tmp_path / "home" / ".gitmem", SCAR)
    (store / "threads.json").write_text("[]")
    (store / "sessions" / "s1").mkdir(parents=True)
    (store / "sessions" / "s1" / "session.json").write_text('{"session_id": "s1"}')
    settings = Settings(Team("t"), sources=(Source(str(tmp_path / "home")),), folder=str(tmp_path))
    found = discover.captures(settings)
    ((source, capture),) = found.captures
    assert (source, capture.name) == ("gitmem", "home/.gitmem")
    assert {member.name for member in capture.members} == {
        "agent-briefing.md", "config.json", "learnings.json", "sessions/s1/session.json", "threads.json",
    }  # fmt: skip


def test_a_commit_is_the_same_however_the_list_of_projects_reads_later(clone: Clone, lake: Lake) -> None:
    take(lake, "teamai", clone.folder)
    clone.commit({"manifest/projects.yaml": PROJECTS.replace("web", "shop")})
    plan = take(lake, "teamai", clone.folder)
    assert [entry.record.value["path"] for entry in plan.store.entries if entry.key in plan.new] == [
        "manifest/projects.yaml"
    ]
