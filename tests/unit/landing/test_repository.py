from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lorelake.formats import history
from lorelake.formats.record import Capture
from lorelake.landing import repository

ANN, BOB, GITHUB = ("Ann", "ann@team.example"), ("Bob", "Bob@Team.example"), ("GitHub", "noreply@github.com")
START = 1_772_000_000


class Repository:
    """A scratch repository; every commit is one minute later than the one before unless told otherwise."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.now = folder, START
        folder.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str, author: tuple[str, str] = ANN, committer: tuple[str, str] | None = None) -> str:
        who = committer or author
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": author[0],
            "GIT_AUTHOR_EMAIL": author[1],
            "GIT_COMMITTER_NAME": who[0],
            "GIT_COMMITTER_EMAIL": who[1],
            "GIT_AUTHOR_DATE": f"{self.now} +0200",
            "GIT_COMMITTER_DATE": f"{self.now} +0200",
        }
        done = subprocess.run(
            ["git", *arguments], cwd=self.folder, env=environment, capture_output=True, check=True, text=True
        )
        return done.stdout.strip()

    def commit(
        self,
        files: dict[str, str | None],
        author: tuple[str, str] = ANN,
        committer: tuple[str, str] | None = None,
        minutes: int = 1,
    ) -> str:
        self.now += 60 * minutes
        for name, text in files.items():
            path = self.folder / name
            if text is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        self.git("add", "--all", ".")
        self.git("commit", "--quiet", "--allow-empty", "-m", "change", author=author, committer=committer)
        return self.git("rev-parse", "HEAD")

    def merge(self, branch: str, author: tuple[str, str], committer: tuple[str, str] | None = None) -> str:
        self.now += 60
        self.git("merge", "--quiet", "--no-ff", "-m", "merge", branch, author=author, committer=committer)
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "memory")


def documents(place: Path, ref: str = "main") -> Capture:
    found = repository.read(place, "memory", ref)
    assert found.refusal is None
    return dict(found.captures)["documents"]


def versions(capture: Capture) -> list[history.Version]:
    found = history.of(capture)
    assert found is not None
    return list(found[0].versions)


def test_versions_are_what_stood_on_the_ref_with_writer_and_merger(repo: Repository) -> None:
    first = repo.commit({"learnings/a.md": "# A\n"})
    repo.git("checkout", "--quiet", "-b", "topic")
    repo.commit({"learnings/a.md": "# A draft\n"}, author=BOB)
    written = repo.commit({"learnings/a.md": "# A final\n"}, author=BOB)
    repo.commit({"other.txt": "x"}, author=BOB)
    repo.git("checkout", "--quiet", "main")
    merged = repo.merge("topic", ANN)
    capture = documents(repo.folder)
    one, two = versions(capture)
    assert (one.commit, one.landed, one.merged_by, one.actor.email) == (first, first, None, "ann@team.example")
    assert (two.commit, two.author.email) == (written, "bob@team.example")
    assert (two.landed, two.actor.email, two.merged_by) == (merged, "ann@team.example", two.actor)
    assert history.landed_at(two) == datetime.fromtimestamp(repo.now, UTC)
    texts = {member.name: member.read() for member in capture.members}
    assert texts[f"learnings/a.md@{merged}"] == b"# A final\n"
    assert not any(b"draft" in text for text in texts.values())


def test_on_a_forge_the_person_who_pressed_merge_is_the_merges_author(repo: Repository) -> None:
    repo.commit({"README.md": "# Memory\n"})
    repo.git("checkout", "--quiet", "-b", "topic")
    repo.commit({"learnings/a.md": "# A\n"}, author=BOB)
    repo.git("checkout", "--quiet", "main")
    repo.merge("topic", ANN, committer=GITHUB)
    squashed = repo.commit({"learnings/b.md": "# B\n"}, author=BOB, committer=GITHUB)
    by_path = {version.path: version for version in versions(documents(repo.folder))}
    assert by_path["learnings/a.md"].actor.email == "ann@team.example"
    assert by_path["learnings/b.md"].landed == squashed
    assert by_path["learnings/b.md"].actor.email == "noreply@github.com", "a squash names no person"


def test_committing_anothers_work_is_a_second_pair_of_eyes_and_ones_own_is_not(repo: Repository) -> None:
    repo.commit({"a.md": "# A\n"}, author=BOB, committer=ANN)
    repo.commit({"b.md": "# B\n"}, author=BOB)
    a, b = versions(documents(repo.folder))
    assert a.merged_by == history.Name("Ann", "ann@team.example")
    assert b.merged_by is None


def test_a_conflict_solved_in_the_merge_is_the_mergers_text(repo: Repository) -> None:
    repo.commit({"a.md": "# A\n"})
    repo.git("checkout", "--quiet", "-b", "topic")
    repo.commit({"a.md": "# A by Bob\n"}, author=BOB)
    repo.git("checkout", "--quiet", "main")
    repo.commit({"a.md": "# A by Ann\n"})
    repo.now += 60
    with pytest.raises(subprocess.CalledProcessError):
        repo.git("merge", "--quiet", "topic")
    merged = repo.commit({"a.md": "# A by both\n"})
    last = versions(documents(repo.folder))[-1]
    assert (last.commit, last.landed, last.author.email) == (merged, merged, "ann@team.example")


def test_deletions_and_links_and_mode_changes(repo: Repository) -> None:
    repo.commit({"a.md": "# A\n", "b.md": "# B\n"})
    (repo.folder / "b.md").chmod(0o755)
    (repo.folder / "link.md").symlink_to("/etc/passwd")
    repo.commit({"a.md": None})
    found = [(version.path, version.deleted, version.position) for version in versions(documents(repo.folder))]
    assert found == [("a.md", False, 0), ("b.md", False, 0), ("a.md", True, 1)]


def test_order_comes_from_the_graph_not_from_the_clock(repo: Repository) -> None:
    repo.commit({"a.md": "# one\n"}, minutes=0)
    repo.commit({"a.md": "# two\n"}, minutes=0)
    repo.commit({"a.md": "# three\n"}, minutes=-60)
    capture = documents(repo.folder)
    texts = {member.name: member.read() for member in capture.members}
    assert [texts[version.member] for version in versions(capture)] == [b"# one\n", b"# two\n", b"# three\n"]


def test_a_clone_is_read_as_its_origin_has_it(repo: Repository, tmp_path: Path) -> None:
    repo.commit({"a.md": "# A\n"})
    repo.git("clone", "--quiet", str(repo.folder), str(tmp_path / "clone"))
    clone = Repository.__new__(Repository)
    clone.folder, clone.now = tmp_path / "clone", repo.now
    clone.commit({"b.md": "# not pushed\n"})
    assert [version.path for version in versions(documents(clone.folder))] == ["a.md"]


def test_checkout_bare_and_stream_are_the_same_repository(repo: Repository, tmp_path: Path) -> None:
    repo.commit({"learnings/a.md": "# A\n", "decisions/x.yaml": "decision: approve\n"})
    repo.commit({"learnings/ü b.md": "# Ü\n"}, author=BOB, committer=ANN)
    bare = tmp_path / "bare.git"
    repo.git("clone", "--quiet", "--bare", str(repo.folder), str(bare))
    stream = tmp_path / "memory.export"
    stream.write_text(repo.git("fast-export", "--all") + "\n", encoding="utf-8")
    assert repository.is_repository(bare)
    assert repository.is_stream(stream.read_bytes()[:100])
    places = [repository.read(place, "memory", "main") for place in (repo.folder, bare, stream)]
    units = []
    for found in places:
        assert [name for name, _ in found.captures] == ["documents", "decisions"]
        told = [history.of(capture) for _, capture in found.captures]
        units.append([(history.unit(h, v.path), v.landed, v.author) for h, _ in filter(None, told) for v in h.versions])
    assert units[0] == units[1] == units[2]
    assert len({capture.sha256 for found in places for _, capture in found.captures}) == 2
    assert [path for path in stream.parent.iterdir() if "lorelake-" in path.name] == []


@pytest.mark.parametrize("ref", ["trunk", "refs/heads/trunk", "--all"])
def test_a_ref_that_is_not_there_is_told(repo: Repository, ref: str) -> None:
    repo.commit({"a.md": "# A\n"})
    found = repository.read(repo.folder, "memory", ref)
    assert found.captures == []
    assert found.refusal is not None
    assert found.refusal.reason == "no_history"
    assert "ledger.ref" in found.refusal.detail


def test_an_empty_repository_and_a_shallow_clone_have_no_history(repo: Repository, tmp_path: Path) -> None:
    empty = repository.read(repo.folder, "memory", "main").refusal
    repo.commit({"a.md": "# A\n"})
    repo.commit({"a.md": "# B\n"}, author=BOB)
    repo.git("clone", "--quiet", "--depth=1", f"file://{repo.folder}", str(tmp_path / "shallow"))
    shallow = repository.read(tmp_path / "shallow", "memory", "main").refusal
    assert empty is not None
    assert shallow is not None
    assert (empty.reason, shallow.reason) == ("no_history", "no_history")
    assert "--unshallow" in shallow.detail


def test_a_broken_repository_is_not_its_parents(repo: Repository) -> None:
    repo.commit({"a.md": "# A\n"})
    inner = repo.folder / "inner"
    (inner / ".git").mkdir(parents=True)
    refusal = repository.read(inner, "inner", "main").refusal
    assert refusal is not None
    assert refusal.reason == "unreadable"


def test_a_broken_stream_is_unreadable(tmp_path: Path) -> None:
    stream = tmp_path / "x"
    stream.write_bytes(b"blob\nmark :1\ndata 500\nshort")
    refusal = repository.read(stream, "x", "main").refusal
    assert refusal is not None
    assert refusal.reason == "unreadable"


def test_nothing_a_repository_configures_is_run(repo: Repository, tmp_path: Path) -> None:
    """Settings and hooks of a repository that somebody handed over must not act."""
    repo.commit({"a.md": "# A\n", ".gitattributes": "*.md diff=evil filter=evil\n"})
    ran = tmp_path / "ran"
    script = tmp_path / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch {ran}\n")
    script.chmod(0o755)
    for key in (
        "core.fsmonitor", "core.pager", "core.sshCommand", "diff.external", "diff.evil.command", "diff.evil.textconv",
        "filter.evil.smudge", "gpg.program",
    ):  # fmt: skip
        repo.git("config", key, str(script))
    repo.git("config", "log.showSignature", "true")
    capture = documents(repo.folder)
    for member in capture.members:
        member.read()
    assert not ran.exists()


def test_the_origin_is_told_without_its_password(repo: Repository) -> None:
    repo.commit({"a.md": "# A\n"})
    repo.git("config", "remote.origin.url", "https://ann:se@cret@git.team.example/team/memory.git?key=x")
    found = history.of(documents(repo.folder))
    assert found is not None
    assert found[0].remote == "https://git.team.example/team/memory.git"


def test_of_a_decision_it_is_told_whether_its_commit_carries_a_signature(repo: Repository) -> None:
    """No key is here, and none is asked for: the header alone tells."""
    repo.commit({"decisions/a.yaml": "decision: retire\n"})
    repo.commit({"decisions/b.yaml": "decision: retire\n"})
    whole = repo.git("cat-file", "commit", "HEAD")
    head, words = whole.split("\n\n", 1)
    signature = "gpgsig -----BEGIN SSH SIGNATURE-----\n gpgsig\n -----END SSH SIGNATURE-----"
    (repo.folder / "signed").write_text(f"{head}\n{signature}\n\n{words}\n", encoding="utf-8")
    repo.git("update-ref", "HEAD", repo.git("hash-object", "-t", "commit", "-w", "signed"))
    repo.commit({"decisions/c.yaml": "decision: retire\n"})
    repo.git("commit", "--quiet", "--amend", "-m", "Retire it", "-m", "gpgsig stands in words alone")
    captures = dict(repository.read(repo.folder, "memory", "main").captures)
    signed = {version.path: version.signed for version in versions(captures["decisions"])}
    assert signed == {"decisions/a.yaml": False, "decisions/b.yaml": True, "decisions/c.yaml": False}
