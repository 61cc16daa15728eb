"""Archives: real bytes are counted, nothing is written outside, and damage is a refusal. faults 20 throughout."""

from __future__ import annotations

import gzip
import io
import os
import random
import stat
import struct
import tarfile
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

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


@pytest.mark.parametrize("make", [zipped, tarred])
def test_an_export_two_levels_down_is_read_as_it_lies(tmp_path: Path, make) -> None:  # type: ignore[no-untyped-def]
    """faults 20: an honest archive of an odd shape passes untouched."""
    archive = check(
        make(tmp_path / "x", {f"Team/export/{name}": b"[]" for name in ("users.json", "a/2026-03-01.json")})
    )
    assert [entry.name for entry in archive.entries] == ["Team/export/a/2026-03-01.json", "Team/export/users.json"]


def test_thirty_megabytes_declared_as_one_kilobyte_are_counted_not_believed(tmp_path: Path) -> None:
    """faults 20: in little memory, and with the limit named."""
    path = zipped(tmp_path / "x.zip", {"zeros.json": b"\0" * 30 * 1024**2})
    data = bytearray(path.read_bytes())
    central = data.index(b"PK\x01\x02")
    struct.pack_into("<I", data, 22, 1024)
    struct.pack_into("<I", data, central + 24, 1024)
    path.write_bytes(data)
    with zipfile.ZipFile(path) as archive:
        assert archive.infolist()[0].file_size == 1024
    tracemalloc.start()
    reason, detail = refused(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert reason == "too_large"
    assert "200 times" in detail
    assert "`ratio`" in detail
    assert peak < 8 * 1024**2


@pytest.mark.parametrize(("declared", "packed"), [(1 << 50, None), (10, None), (None, 1 << 50), (1 << 50, 1 << 50)])
def test_long_sizes_that_lie_are_counted_not_believed(tmp_path: Path, declared: int | None, packed: int | None) -> None:
    """faults 20: zip64 fields say what they like; the bytes are counted, or the archive is torn."""
    path, content = tmp_path / "x.zip", b"[]" * 3000
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.json", content)
    data = bytearray(path.read_bytes())
    at, end = data.index(b"PK\x01\x02"), data.index(b"PK\x05\x06")
    real_packed, real_size = struct.unpack_from("<II", data, at + 20)
    extra = struct.pack("<HHQQ", 1, 16, declared or real_size, packed or real_packed)
    struct.pack_into("<II", data, at + 20, 0xFFFFFFFF, 0xFFFFFFFF)
    struct.pack_into("<H", data, at + 30, len(extra))
    data[at + 46 + 6 : at + 46 + 6] = extra
    (listed,) = struct.unpack_from("<I", data, end + len(extra) + 12)
    struct.pack_into("<I", data, end + len(extra) + 12, listed + len(extra))
    path.write_bytes(data)
    with zipfile.ZipFile(path) as archive:
        assert archive.infolist()[0].file_size == (declared or real_size)
    opened = check(path)
    assert [(entry.name, entry.size) for entry in opened.entries] == [("a.json", len(content))]
    with opened.open("a.json") as stream:
        assert stream.read() == content


@pytest.mark.parametrize("make", [zipped, tarred])
def test_many_small_members_are_stopped_by_the_ratio_of_the_whole(tmp_path: Path, make) -> None:  # type: ignore[no-untyped-def]
    path = make(tmp_path / "x", {f"{number}.json": b"\0" * 900_000 for number in range(40)})
    assert refused(path)[0] == "too_large"
    assert "`ratio`" in refused(path)[1]


def test_a_tar_of_zeros_is_stopped_by_its_ratio(tmp_path: Path) -> None:
    assert refused(tarred(tmp_path / "x.tar.gz", {"zeros.json": b"\0" * 30 * 1024**2}))[0] == "too_large"


def test_a_tar_of_holes_is_stopped_by_its_ratio(tmp_path: Path) -> None:
    """A sparse member costs nothing in the archive and is read as zeros."""
    info = tarfile.TarInfo("holes.json")
    info.pax_headers = {"GNU.sparse.map": "0,512", "GNU.sparse.size": str(64 * 1024**2), "GNU.sparse.numblocks": "1"}
    info.size = 512
    with tarfile.open(tmp_path / "x", "w:gz", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(info, io.BytesIO(b"x" * 512))
    assert refused(tmp_path / "x")[0] == "too_large"


def test_a_tar_that_says_too_much_of_a_member_is_refused(tmp_path: Path) -> None:
    info = tarfile.TarInfo("a.json")
    info.pax_headers = {"comment": random.Random(1).randbytes(2 * 1024**2).hex()}
    with tarfile.open(tmp_path / "x", "w:gz", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(info)
    assert refused(tmp_path / "x") == (
        "too_large", "a member is described by more than 1048576 bytes (limit `header`)",
    )  # fmt: skip
    assert len(check(tmp_path / "x", Limits(header=8 * 1024**2)).entries) == 1


def test_one_member_too_many_is_refused(tmp_path: Path) -> None:
    """The directory of 100,001 empty members, written by hand since zipfile takes seconds for it."""
    path = tmp_path / "x.zip"
    entry = struct.pack("<4s6H3I5H2I", b"PK\x01\x02", 20, 20, 0, 0, 0, 33, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0)
    directory = b"".join(entry + f"{number:06}".encode() for number in range(100_001))
    local = b"PK\x03\x04".ljust(36, b"\0")
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, len(directory), len(local), 0)
    path.write_bytes(local + directory + end)
    assert refused(path) == ("too_large", "100001 members; at most 100000 are read (limit `members`)")


@pytest.mark.parametrize("long", [False, True])
def test_a_list_of_members_too_long_to_hold_is_not_read(tmp_path: Path, long: bool) -> None:
    path = zipped(tmp_path / "x.zip", {"a.json": b"[]"})
    data = bytearray(path.read_bytes())
    end = data.index(b"PK\x05\x06")
    struct.pack_into("<I", data, end + 12, 0xFFFFFFFF if long else 33 * 1024**2)
    if long:
        data[end:end] = struct.pack(
            "<4sQHHIIQQQQ", b"PK\x06\x06", 44, 45, 45, 0, 0, 1, 1, 33 * 1024**2, 0
        ) + struct.pack("<4sIQI", b"PK\x06\x07", 0, end, 1)
    path.write_bytes(data)
    reason, detail = refused(path)
    assert reason == "too_large"
    assert "34603008 bytes" in detail
    assert "`directory`" in detail


@pytest.mark.parametrize("make", [zipped, tarred])
def test_each_limit_is_named(tmp_path: Path, make) -> None:  # type: ignore[no-untyped-def]
    path = make(tmp_path / "x", {"a": os.urandom(3000), "b": os.urandom(3000)})
    assert "`members`" in refused(path, Limits(members=1))[1]
    assert "`member`" in refused(path, Limits(member=2999))[1]
    assert "5999 bytes" in refused(path, Limits(total=5999))[1]
    assert "`total`" in refused(path, Limits(total=5999))[1]
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


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_packings_whose_memory_nobody_bounds_are_refused_unread(tmp_path: Path, method: int) -> None:
    """A megabyte of bzip2 can be twenty gigabytes in one call; an LZMA member says itself how much memory it takes."""
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("a.json", b"\0" * 1000)
    reason, detail = refused(path)
    assert reason == "unreadable"
    assert "'a.json' is neither stored nor deflated" in detail


def test_names_that_are_no_text_are_shown_and_read(tmp_path: Path) -> None:
    info = tarfile.TarInfo("notes-\udcff.md")
    info.size = 3
    with tarfile.open(tmp_path / "x", "w:gz", format=tarfile.GNU_FORMAT, errors="surrogateescape") as tar:
        tar.addfile(info, io.BytesIO(b"# A"))
    archive = check(tmp_path / "x")
    (entry,) = archive.entries
    assert entry.name == "notes-\\xff.md"
    with archive.open(entry.name) as stream:
        assert stream.read() == b"# A"
    path = zipped(tmp_path / "y", {"é.md": b"# A"})
    path.write_bytes(path.read_bytes().replace("é".encode(), b"\xff\xff"))
    assert refused(path)[0] == "unreadable"


def seeds() -> list[bytes]:
    members: dict[str, Any] = {
        "a/users.json": b'[{"id": "U1"}]' * 20,
        "a/" + "x" * 120 + ".json": b"[]",
        "é.md": b"# A",
    }
    found = []
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        target = io.BytesIO()
        with zipfile.ZipFile(target, "w", method) as archive:
            for name, data in members.items():
                with archive.open(name, "w", force_zip64=name == "é.md") as stream:
                    stream.write(data)
        found.append(target.getvalue())
    for format_ in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT):
        target = io.BytesIO()
        with tarfile.open(fileobj=target, mode="w", format=format_) as tar:
            for name, data in members.items():
                info = tarfile.TarInfo(name)
                info.size, info.mtime = len(data), 1.5
                tar.addfile(info, io.BytesIO(data))
        found.append(target.getvalue())
    return found


@pytest.mark.parametrize("number", range(4))
def test_damage_is_a_refusal_and_what_passes_can_be_read(tmp_path: Path, number: int) -> None:
    """zipfile and tarfile raise a dozen kinds of errors over damage; one that came through would end the night."""
    seed, dice = seeds()[number], random.Random(number)
    path = tmp_path / "x"
    outcomes = set()
    for _ in range(200):
        data = bytearray(seed)
        for _ in range(dice.randint(1, 4)):
            place = dice.randrange(4, len(data))
            if dice.random() < 0.2:
                del data[place : place + dice.randint(1, 20)]
            else:
                data[place] = dice.choice([dice.randrange(256), 0, 0xFF, data[place] ^ 1])
        path.write_bytes(data if number < 2 else gzip.compress(data, 1))
        try:
            archive = check(path)
        except RefusedArchiveError as error:
            outcomes.add(error.reason)
            continue
        outcomes.add("read")
        for entry in archive.entries:
            with archive.open(entry.name) as stream:
                assert len(stream.read()) == entry.size
            assert entry.name.encode()
    assert {"read", "unreadable"} <= outcomes


def test_the_first_bytes_tell_an_archive() -> None:
    assert kind(b"PK\x03\x04rest") == "zip"
    assert kind(b"\x1f\x8b\x08\x00") == "gzip"
    assert kind(b'{"type":"user"}') is None
