from __future__ import annotations

import io
import os
import stat
import struct
import tarfile
import zipfile
from pathlib import Path

import pytest

from lorelake.landing.archive import LIMITS, Limits, RefusedArchiveError, check, kind


def zipped(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def tarred(path: Path, members: dict[str, bytes | tarfile.TarInfo]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, data in members.items():
            if isinstance(data, tarfile.TarInfo):
                archive.addfile(data)
                continue
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def refused(path: Path, limits: Limits = LIMITS) -> tuple[str, str]:
    with pytest.raises(RefusedArchiveError) as caught:
        check(path, limits)
    return caught.value.reason, caught.value.detail


@pytest.mark.parametrize("make", [zipped, tarred])
def test_a_plain_archive_is_read_as_it_is(tmp_path: Path, make) -> None:  # type: ignore[no-untyped-def]
    members = {"export/users.json": b"[]", "export/general/2026-03-01.json": b'[{"ts": "1"}]' * 1000, "./a.md": b"# A"}
    archive = check(make(tmp_path / "x", members))
    assert [entry.name for entry in archive.entries] == ["a.md", "export/general/2026-03-01.json", "export/users.json"]
    for name in ("export/general/2026-03-01.json", "export/users.json", "export/general/2026-03-01.json"):
        with archive.open(name) as stream:
            assert stream.read() == members[name]
    with archive.open("a.md") as stream:
        assert stream.read(2) == b"# "


@pytest.mark.parametrize("make", [zipped, tarred])
@pytest.mark.parametrize("name", ["../evil.md", "a/../../evil.md", "/etc/evil.md", "C:/evil.md", "a\\..\\evil.md", "."])
def test_a_name_that_leaves_the_folder_refuses_the_archive(tmp_path: Path, make, name: str) -> None:  # type: ignore[no-untyped-def]
    place = tmp_path / "in" / "deep"
    place.mkdir(parents=True)
    reason, detail = refused(make(place / "x", {"good.md": b"# fine", name: b"# evil"}))
    assert reason == "unsafe_name"
    assert repr(name) in detail
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["x"]


def test_links_and_devices_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        link = zipfile.ZipInfo("users.json")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    assert refused(path)[0] == "unsafe_name"
    for number, type_ in enumerate((tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE)):
        info = tarfile.TarInfo("users.json")
        info.type, info.linkname = type_, "/etc/passwd"
        assert refused(tarred(tmp_path / f"{number}.tar.gz", {"users.json": info}))[0] == "unsafe_name"


def test_thirty_megabytes_declared_as_one_kilobyte_are_counted_not_believed(tmp_path: Path) -> None:
    path = zipped(tmp_path / "x.zip", {"zeros.json": b"\0" * 30 * 1024**2})
    data = bytearray(path.read_bytes())
    central = data.index(b"PK\x01\x02")
    struct.pack_into("<I", data, 22, 1024)
    struct.pack_into("<I", data, central + 24, 1024)
    path.write_bytes(data)
    with zipfile.ZipFile(path) as archive:
        assert archive.infolist()[0].file_size == 1024
    reason, detail = refused(path)
    assert reason == "too_large"
    assert "200 times" in detail
    assert "`ratio`" in detail


def test_a_tar_of_zeros_is_stopped_by_its_ratio(tmp_path: Path) -> None:
    assert refused(tarred(tmp_path / "x.tar.gz", {"zeros.json": b"\0" * 30 * 1024**2}))[0] == "too_large"


def test_one_member_too_many_is_refused(tmp_path: Path) -> None:
    """The directory of 100,001 empty members, written by hand since zipfile takes seconds for it."""
    path = tmp_path / "x.zip"
    entry = struct.pack("<4s6H3I5H2I", b"PK\x01\x02", 20, 20, 0, 0, 0, 33, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0)
    directory = b"".join(entry + f"{number:06}".encode() for number in range(100_001))
    local = b"PK\x03\x04".ljust(36, b"\0")
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, len(directory), len(local), 0)
    path.write_bytes(local + directory + end)
    assert refused(path) == ("too_large", "100001 members; at most 100000 are read (limit `members`)")


@pytest.mark.parametrize("make", [zipped, tarred])
def test_each_limit_is_named(tmp_path: Path, make) -> None:  # type: ignore[no-untyped-def]
    path = make(tmp_path / "x", {"a": os.urandom(3000), "b": os.urandom(3000)})
    assert "`members`" in refused(path, Limits(members=1))[1]
    assert "`member`" in refused(path, Limits(member=2999))[1]
    assert "5999 bytes" in refused(path, Limits(total=5999))[1]
    assert len(check(path, Limits(members=2, member=3000, total=1_000_000)).entries) == 2


def test_torn_damaged_and_encrypted_archives_are_unreadable(tmp_path: Path) -> None:
    whole = zipped(tmp_path / "whole.zip", {"a.json": os.urandom(5000)}).read_bytes()
    torn = tmp_path / "torn.zip"
    for cut in (10, len(whole) // 2, len(whole) - 1):
        torn.write_bytes(whole[:cut])
        assert refused(torn)[0] == "unreadable"
    damaged = bytearray(whole)
    damaged[200] ^= 0xFF
    torn.write_bytes(damaged)
    assert refused(torn)[0] == "unreadable"
    encrypted = bytearray(whole)
    encrypted[6] |= 1
    encrypted[encrypted.index(b"PK\x01\x02") + 8] |= 1
    torn.write_bytes(encrypted)
    assert refused(torn)[0] == "unreadable"
    tar = tarred(tmp_path / "x.tar.gz", {"a.json": os.urandom(50_000)}).read_bytes()
    torn.write_bytes(tar[: len(tar) // 2])
    assert refused(torn)[0] == "unreadable"


def test_two_members_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.json", b"1")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("a.json", b"2")
    assert refused(path)[0] == "unsafe_name"


def test_the_first_bytes_tell_an_archive() -> None:
    assert kind(b"PK\x03\x04rest") == "zip"
    assert kind(b"\x1f\x8b\x08\x00") == "gzip"
    assert kind(b'{"type":"user"}') is None
