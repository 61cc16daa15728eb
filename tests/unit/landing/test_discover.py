from __future__ import annotations

import io
import json
import os
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from lorelake.formats import history, registry
from lorelake.formats.record import REASONS, Capture
from lorelake.landing import archive, discover
from lorelake.landing.hash_cache import HashCache
from lorelake.settings import Archives, Settings, Slack, Source, Team, load

TRANSCRIPT = b'{"sessionId":"5d0c","uuid":"1","type":"user"}\n'


@pytest.fixture(autouse=True)
def _plain_sniffing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Formats by one mark each, so that this tests the search and not the formats."""

    def sniff(member: str, head: bytes) -> str | None:
        if head.startswith(b'{"sessionId"'):
            return "claude_code"
        if b'"is_channel"' in head:
            return "slack"
        return "documents" if member.endswith(".md") else None

    monkeypatch.setattr(registry, "sniff_member", sniff)


def settings(folder: Path, *sources: str | Source, **more: object) -> Settings:
    given = tuple(source if isinstance(source, Source) else Source(source) for source in sources)
    return Settings(team=Team("t"), sources=given, folder=str(folder), **more)  # type: ignore[arg-type]


def write(folder: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def names(found: discover.Discovery) -> list[tuple[str, str]]:
    return [(format_name, capture.name) for format_name, capture in found.captures]


def reasons(found: discover.Discovery) -> dict[str, str]:
    assert all(refusal.reason in REASONS for _, _, refusal in found.refusals)
    assert len({name for _, name, _ in found.refusals}) == len(found.refusals)
    return {name: refusal.reason for _, name, refusal in found.refusals}


def members(found: discover.Discovery, name: str) -> dict[str, bytes]:
    capture = next(capture for _, capture in found.captures if capture.name == name)
    return {member.name: member.read() for member in capture.members}


SLACK = {
    "channels.json": b'[{"id": "C1", "name": "general"}]',
    "users.json": b"[]",
    "general/2026-03-01.json": b'[{"ts": "1772323200.000100", "text": "hi"}]',
}
GITLAB = {
    "VERSION": b"0.2.4",
    "tree/project.json": b"{}",
    "tree/project/merge_requests.ndjson": b"{}\n",
    "tree/project/labels.ndjson": b"",
}


def test_every_file_is_in_one_capture_or_refused_with_a_reason(tmp_path: Path) -> None:
    write(
        tmp_path / "in",
        {
            "projects/-home-ann-app/5d0c.jsonl": TRANSCRIPT,
            "notes/a.md": b"# A\n",
            "notes/empty.md": b"",
            "notes/.DS_Store": b"\0\0\0\1Bud1",
            "clip.bin": b"\0\1\2",
            **{f"export/{name}": data for name, data in SLACK.items()},
            **{f"gitlab/{name}": data for name, data in GITLAB.items()},
        },
    )
    found = discover.captures(settings(tmp_path, "in"))
    assert sorted(names(found)) == [
        ("claude_code", "in/projects/-home-ann-app/5d0c.jsonl"),
        ("documents", "in/notes/a.md"),
        ("gitlab", "in/gitlab"),
        ("slack", "in/export"),
    ]
    assert reasons(found) == {
        "in/clip.bin": "unknown_format",
        "in/notes/.DS_Store": "unknown_format",
        "in/notes/empty.md": "empty",
    }
    assert not any(refusal.head for _, _, refusal in found.refusals), "what nobody can read may be a key"
    seen = sum(len(capture.members) for _, capture in found.captures) + len(found.refusals)
    assert seen == sum(1 for path in tmp_path.rglob("*") if path.is_file())
    assert members(found, "in/export") == SLACK
    assert members(found, "in/gitlab") == GITLAB
    assert list(members(found, "in/notes/a.md")) == ["in/notes/a.md"]
    assert str(tmp_path) not in repr((names(found), found.refusals))


def test_what_is_no_file_is_told_and_stops_nothing(tmp_path: Path) -> None:
    write(tmp_path, {"outside/secret.md": b"# secret", "in/a.md": b"# A", "in/sub/b.md": b"# B"})
    source = tmp_path / "in"
    os.mkfifo(source / "pipe.jsonl")
    (source / "folder.jsonl").mkdir()
    (source / "broken.md").symlink_to("nowhere.md")
    (source / "out.md").symlink_to(tmp_path / "outside" / "secret.md")
    (source / "outs").symlink_to(tmp_path / "outside")
    (source / "loop").symlink_to(source)
    (source / "same.md").symlink_to("a.md")
    found = discover.captures(settings(tmp_path, "in", "gone", "in/pipe.jsonl"))
    assert [name for _, name in names(found)] == ["in/a.md", "in/same.md", "in/sub/b.md"]
    assert set(reasons(found)) == {
        "in/broken.md", "in/loop", "in/out.md", "in/outs", "in/pipe.jsonl", "gone", "pipe.jsonl",
    }  # fmt: skip
    assert set(reasons(found).values()) == {"not_a_file"}


def test_a_file_the_system_refuses_is_unreadable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"in/a.md": b"# A", "in/b.md": b"# B"})

    def deny(path: Path) -> io.BytesIO:
        if path.name == "a.md":
            raise PermissionError(13, "Permission denied", str(path))
        return io.BytesIO(path.read_bytes())

    monkeypatch.setattr(discover, "_open", deny)
    found = discover.captures(settings(tmp_path, "in"))
    assert reasons(found) == {"in/a.md": "unreadable"}
    assert found.refusals[0][2].detail == "Permission denied"
    assert names(found) == [("documents", "in/b.md")]


def test_the_order_of_the_file_system_does_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "in", {f"{folder}/{name}.md": b"# x" for folder in "cab" for name in ("2", "10", "1")})
    write(tmp_path / "in" / "export", SLACK)
    scandir = os.scandir
    here = discover.captures(settings(tmp_path, "in"))
    monkeypatch.setattr(os, "scandir", lambda path: sorted(scandir(path), key=lambda entry: entry.name, reverse=True))
    there = discover.captures(settings(tmp_path, "in"))
    assert names(here) == names(there)
    assert [capture.sha256 for _, capture in here.captures] == [capture.sha256 for _, capture in there.captures]


def test_one_slack_export_as_folder_zip_and_nested_zip(tmp_path: Path) -> None:
    write(tmp_path / "in" / "folder", SLACK)
    for name, prefix in (("flat.zip", ""), ("nested.zip", "Team Slack export/"), ("deep.zip", "a/b/")):
        with zipfile.ZipFile(tmp_path / "in" / name, "w") as target:
            for member, data in SLACK.items():
                target.writestr(prefix + member, data)
    found = discover.captures(settings(tmp_path, "in", slack=Slack(("public", "private"))))
    assert names(found) == [
        ("slack", "in/folder"),
        ("slack", "in/deep.zip/a/b"),
        ("slack", "in/flat.zip"),
        ("slack", "in/nested.zip/Team Slack export"),
    ]
    assert len({capture.sha256 for _, capture in found.captures}) == 1
    assert all(capture.include == ("public", "private") for _, capture in found.captures)
    for _, name in names(found):
        assert members(found, name) == SLACK
    assert reasons(found) == {}


def test_lists_without_any_day_are_an_export_only_if_they_look_like_slack(tmp_path: Path) -> None:
    write(tmp_path / "tv", {"channels.json": b'[{"frequency": 88}]'})
    write(tmp_path / "quiet", {"channels.json": b'[{"id": "C1", "is_channel": true}]', "dms.json": b"[]"})
    found = discover.captures(settings(tmp_path, "tv", "quiet"))
    assert names(found) == [("slack", "quiet")]
    assert reasons(found) == {"tv/channels.json": "unknown_format"}


def test_a_gitlab_export_as_tar(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    with tarfile.open(tmp_path / "in" / "export.tar.gz", "w:gz") as target:
        for name, data in {**GITLAB, "project.bundle": b"# v2 git bundle\n"}.items():
            info = tarfile.TarInfo(f"./{name}")
            info.size = len(data)
            target.addfile(info, io.BytesIO(data))
    found = discover.captures(settings(tmp_path, "in"))
    assert names(found) == [("gitlab", "in/export.tar.gz")]
    assert members(found, "in/export.tar.gz") == GITLAB
    assert reasons(found) == {"in/export.tar.gz/project.bundle": "unknown_format"}


def test_a_bad_archive_is_refused_whole_and_the_rest_goes_on(tmp_path: Path) -> None:
    write(tmp_path, {"in/a.md": b"# A", "victim.md": b"# untouched"})
    with zipfile.ZipFile(tmp_path / "in" / "evil.zip", "w") as target:
        target.writestr("good.md", b"# good")
        target.writestr("../../victim.md", b"# overwritten")
    (tmp_path / "in" / "torn.zip").write_bytes((tmp_path / "in" / "evil.zip").read_bytes()[:-5])
    found = discover.captures(settings(tmp_path, "in"))
    assert names(found) == [("documents", "in/a.md")]
    assert reasons(found) == {"in/evil.zip": "unsafe_name", "in/torn.zip": "unreadable"}
    assert (tmp_path / "victim.md").read_bytes() == b"# untouched"


def test_what_lorelake_itself_wrote_is_never_its_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LORELAKE_HOME", raising=False)
    write(tmp_path, {"lake/raw/x.md": b"# x", "a.md": b"# A", ".lorelake.key": b"k" * 32})
    (tmp_path / "lorelake.toml").write_text('[team]\nid = "t"\n[[sources]]\npath = "."\n')
    (tmp_path / "link.md").symlink_to(".lorelake.key")
    found = discover.captures(load(tmp_path / "lorelake.toml"))
    assert names(found) == [("documents", f"{tmp_path.name}/a.md")]
    assert found.refusals == []


def test_sources_of_one_name_stay_apart_and_carry_their_assumptions(tmp_path: Path) -> None:
    write(tmp_path, {"web/docs/a.md": b"# A", "api/docs/a.md": b"# A"})
    given = settings(tmp_path, Source("web/docs", "web", "ann"), Source("api/docs"), Source("web/docs/a.md", "x"))
    found = discover.captures(given)
    assert names(found) == [("documents", "web/docs/a.md"), ("documents", "api/docs/a.md"), ("documents", "a.md")]
    told = [(capture.project, capture.person) for _, capture in found.captures]
    assert told == [("web", "ann"), (None, None), ("x", None)]


def git(folder: Path, *arguments: str) -> None:
    who = {f"GIT_{role}_{what}": "ann@x" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), **who}
    subprocess.run(["git", *arguments], cwd=folder, env=environment, check=True, capture_output=True)


def test_a_checkout_gives_its_history_and_the_transcripts_in_it(tmp_path: Path) -> None:
    repo = tmp_path / "in" / "memory"
    write(repo, {"learnings/a.md": b"# A", "code.c": b"int x;", "logs/5d0c.jsonl": TRANSCRIPT})
    git(repo, "init", "--quiet", "--initial-branch=main")
    git(repo, "add", ".")
    git(repo, "commit", "--quiet", "-m", "first")
    write(repo, {"learnings/draft.md": b"# not committed"})
    found = discover.captures(settings(tmp_path, "in"))
    assert names(found) == [("documents", "in/memory"), ("claude_code", "in/memory/logs/5d0c.jsonl")]
    told = history.of(found.captures[0][1])
    assert told is not None
    assert [version.path for version in told[0].versions] == ["learnings/a.md"]
    assert reasons(found) == {"in/memory": "unknown_format"}
    assert "1 files" in found.refusals[0][2].detail
    assert "code.c" in found.refusals[0][2].detail


def test_a_repository_without_the_ref_is_refused_by_name(tmp_path: Path) -> None:
    repo = tmp_path / "memory"
    repo.mkdir()
    git(repo, "init", "--quiet", "--initial-branch=trunk")
    found = discover.captures(settings(tmp_path, "memory"))
    assert [(source, name, refusal.reason) for source, name, refusal in found.refusals] == [
        ("documents", "memory", "no_history")
    ]


def test_a_file_whose_name_is_no_text_is_read_and_remembered(tmp_path: Path) -> None:
    write(tmp_path, {"in/a.md": b"# A"})
    os.rename(tmp_path / "in" / "a.md", os.fsencode(tmp_path) + b"/in/\xff\xfe\n.md")
    cache = HashCache()
    first = discover.captures(settings(tmp_path, "in"), cache)
    again = HashCache(cache.dumps())
    assert discover.captures(settings(tmp_path, "in"), again).captures[0][1].sha256 == first.captures[0][1].sha256
    assert again.dumps() == cache.dumps()


def test_unchanged_files_are_not_hashed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"in/a.md": b"# A", "in/b.md": b"# B"})
    with zipfile.ZipFile(tmp_path / "in" / "x.zip", "w") as target:
        target.writestr("c.md", b"# C")
    cache = HashCache()
    first = discover.captures(settings(tmp_path, "in"), cache)
    kept = cache.dumps()
    write(tmp_path, {"in/b.md": b"# changed"})
    monkeypatch.setattr("lorelake.landing.hash_cache.check", lambda path, limits: pytest.fail("read again"))
    again = HashCache(kept)
    second = discover.captures(settings(tmp_path, "in"), again)
    before, after = ({c.name: c.sha256 for _, c in found.captures} for found in (first, second))
    assert {name for name in before if before[name] != after[name]} == {"in/b.md"}
    assert members(second, "in/x.zip/c.md") == {"in/x.zip/c.md": b"# C"}
    assert json.loads(again.dumps()).keys() == json.loads(kept).keys()
    assert discover.captures(settings(tmp_path, "gone"), HashCache(b"\xff damaged")).captures == []


def test_the_settings_limit_an_archive_and_narrower_ones_are_asked_again(tmp_path: Path) -> None:
    """faults 20: limits are stated, configurable and named in the refusal."""
    write(tmp_path, {"in/a.md": b"# A"})
    with zipfile.ZipFile(tmp_path / "in" / "x.zip", "w") as target:
        for number in range(3):
            target.writestr(f"{number}.md", b"# C")
    wide, narrow = settings(tmp_path, "in"), settings(tmp_path, "in", archives=Archives(members=2))
    cache = HashCache(limits=archive.limits_of(wide.archives))
    assert len(discover.captures(wide, cache).captures) == 4
    again = HashCache(cache.dumps(), archive.limits_of(narrow.archives))
    found = discover.captures(narrow, again)
    assert reasons(found) == {"in/x.zip": "too_large"}
    assert "3 members; at most 2 are read (limit `members`)" in found.refusals[0][2].detail
    assert reasons(discover.captures(narrow)) == {"in/x.zip": "too_large"}


def test_an_archive_that_changes_while_it_is_read_is_an_error_of_the_system(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as target:
        target.writestr("c.md", b"# C")
    opened = archive.check(path)
    with zipfile.ZipFile(path, "w") as target:
        target.writestr("d.md", b"# D")
    with pytest.raises(OSError, match="changed"):
        opened.open("c.md")


def test_all_shared_data_is_read_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data = Path(__file__).resolve().parents[4] / "shared" / "data"
    if not data.is_dir():
        pytest.skip("../shared/data is not here")
    monkeypatch.undo()
    found = discover.captures(settings(data.parent, "data"))
    files = sum(1 for path in data.rglob("*") if path.is_file())
    assert sum(len(capture.members) for _, capture in found.captures) + len(found.refusals) == files
    formats: dict[str, list[Capture]] = {}
    for name, capture in found.captures:
        formats.setdefault(name, []).append(capture)
    assert {name: len(captures) for name, captures in formats.items()} == {
        "claude_code": 24, "codex": 3, "copilot_cli": 5, "documents": 248, "gemini_cli": 4, "github": 12, "gitlab": 1,
        "slack": 7, "specstory": 9,
    }  # fmt: skip
    assert reasons(found) == {}


def test_a_source_is_named_by_as_much_of_its_path_as_no_other_shares_in_any_order(tmp_path: Path) -> None:
    write(tmp_path, {f"{place}/a.md": b"# A" for place in ("codex/ann", "copilot/ann", "notes", "landing")})
    expected = ["codex/ann/a.md", "copilot/ann/a.md", f"{tmp_path.name}/landing/a.md", "notes/a.md"]
    sources = ["codex/ann", "copilot/ann", "notes", "landing"]
    for order in (sources, sources[::-1], sources[2:] + sources[:2]):
        found = discover.captures(settings(tmp_path, *order, home="elsewhere"))
        assert sorted(capture.name for _, capture in found.captures) == sorted(expected)
    twice = [Source("notes", project="b"), Source("notes", project="a")]
    for order in (twice, twice[::-1]):
        found = discover.captures(settings(tmp_path, *order))
        named = {capture.project: capture.name for _, capture in found.captures}
        assert named["a"] == f"{'/'.join(tmp_path.parts[-2:])}/notes/a.md"
        assert named["b"] == f"{'/'.join(tmp_path.parts[-2:])}/notes-2/a.md"
