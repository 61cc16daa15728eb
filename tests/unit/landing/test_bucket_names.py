"""What needs no server: addresses, names of objects, and what a withdrawal may delete."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import pytest

from lorelake.errors import SettingsError
from lorelake.landing import bucket
from lorelake.landing.bucket import Object


class FakeBucket:
    """Objects in memory, where a store's own answers are not the point."""

    objects_: ClassVar[dict[str, bytes]] = {}

    def __init__(self, url: str) -> None: ...

    def objects(self, below: str = "") -> list[Object]:
        return [Object(name, len(data), 1) for name, data in sorted(self.objects_.items())]

    def fetch(self, name: str, target: Path) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(self.objects_[name])


@pytest.fixture
def objects(monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    monkeypatch.setattr(bucket, "Bucket", FakeBucket)
    monkeypatch.setattr(FakeBucket, "objects_", found)
    return found


def test_an_address_with_a_key_in_it_is_refused_and_never_printed() -> None:
    with pytest.raises(SettingsError) as refused:
        bucket.Bucket("s3://AKIAEXAMPLE:verysecret@land/x")
    assert "verysecret" not in str(refused.value)
    assert bucket.shown("s3://a:verysecret@land/x?secret=1") == "s3://land/x"


@pytest.mark.parametrize("url", ["s3://", "s3:///x"])
def test_an_address_without_a_bucket_is_refused(url: str) -> None:
    with pytest.raises(SettingsError):
        bucket.Bucket(url)


def test_mirrors_of_two_buckets_never_share_a_folder(tmp_path: Path) -> None:
    urls = ["s3://land/a-b", "s3://land/a/b", "s3://land-a/b", "s3://other/a/b", "s3://land"]
    assert len({bucket.mirror_folder(tmp_path, url) for url in urls}) == len(urls)
    assert bucket.mirror_folder(tmp_path, urls[0]) == bucket.mirror_folder(tmp_path, urls[0] + "?region=x")


@pytest.mark.parametrize("name", ["../out", "a/../../out", "/etc/x", "a//b", "a/", "a/./b", "n" * 300])
def test_an_object_that_would_leave_the_mirror_is_refused(tmp_path: Path, objects: dict[str, bytes], name: str) -> None:
    objects[name] = b"out"
    objects["good"] = b"in"
    (refusal,) = bucket.mirror("s3://land", tmp_path / "m" / "m", "land")
    assert refusal.reason == "unsafe_name"
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["good", "m.mirror.json"]


def test_a_name_that_is_both_file_and_folder_costs_one_object(tmp_path: Path, objects: dict[str, bytes]) -> None:
    objects |= {"a": b"file", "a/b": b"below", "c": b"other"}
    (refusal,) = bucket.mirror("s3://land", tmp_path / "m", "land")
    assert (refusal.reason, refusal.member) == ("unreadable", "land/a/b")
    assert (tmp_path / "m" / "c").read_bytes() == b"other"


def withdrawn(*ids: str) -> bytes:
    return json.dumps({"lorelake": "withdrawn", "withdrawals": [{"ids": list(ids)}]}).encode()


def mirrored(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_a_withdrawal_deletes_what_its_sender_deleted_and_nothing_else(
    tmp_path: Path, objects: dict[str, bytes]
) -> None:
    own, other = "transcripts/0a1b", "transcripts/2c3d"
    objects |= dict.fromkeys(
        [f"{own}/claude_code/c0/x.jsonl", f"{own}/claude_code/c1/y.jsonl", f"{other}/claude_code/c0/z.jsonl"], b"x"
    )
    folder = tmp_path / "m"
    bucket.mirror("s3://land", folder, "land")
    del objects[f"{own}/claude_code/c0/x.jsonl"]
    objects[f"{own}/withdrawn.json"] = withdrawn(
        "claude_code/c0", "claude_code/c1", "../2c3d/claude_code/c0", "", ".", "/"
    )
    del objects[f"{other}/claude_code/c0/z.jsonl"]
    bucket.mirror("s3://land", folder, "land")
    assert mirrored(folder) == {
        f"{own}/claude_code/c1/y.jsonl", f"{other}/claude_code/c0/z.jsonl", f"{own}/withdrawn.json",
    }, "c1 is still there, and another machine's folder is not its to name"  # fmt: skip


@pytest.mark.parametrize("data", [b"{}", b'{"lorelake": "withdrawn"', b'{"lorelake": "withdrawn", "withdrawals": 7}'])
def test_a_damaged_record_of_withdrawals_deletes_nothing(
    tmp_path: Path, objects: dict[str, bytes], data: bytes
) -> None:
    objects |= {"t/a/x.jsonl": b"x", "t/withdrawn.json": data}
    bucket.mirror("s3://land", tmp_path / "m", "land")
    del objects["t/a/x.jsonl"]
    bucket.mirror("s3://land", tmp_path / "m", "land")
    assert "t/a/x.jsonl" in mirrored(tmp_path / "m")


def test_a_missing_pyarrow_is_told_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    import builtins

    from lorelake.errors import UsageError

    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("pyarrow"):
            raise ModuleNotFoundError(name="pyarrow")
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UsageError, match="pyarrow"):
        bucket.Bucket("s3://land/x")
