"""What was erased is not delivered again by `collect`, and lies in no landing file once raw has read them."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

from lorelake.content.erasure import NOTHING, Erased, label_of, person_hmacs, record_hmac
from lorelake.formats import registry
from lorelake.lake import Lake
from lorelake.landing import erased, kept_out
from lorelake.landing.delivery import Folder, deliver
from lorelake.landing.redacted import Redacted
from lorelake.settings import Settings, Team

KEY = b"k" * 32
HERON = Erased(KEY, frozenset((record_hmac(KEY, "claude_code", "u-2"),)))
HMACS = person_hmacs(KEY, ["mara"])
MARA = Erased(KEY, persons=dict.fromkeys(HMACS, label_of(HMACS)))


def line(number: int, text: str) -> bytes:
    said = {"role": "user", "content": text}
    record = {
        "type": "user", "uuid": f"u-{number}", "sessionId": "5a898d6a-a0f4-4e29-8865-e01ca3b1129a", "cwd": "/src/shop",
        "timestamp": f"2026-03-02T10:00:0{number}.000Z", "message": said, "parentUuid": None, "version": "2.1.0",
    }  # fmt: skip
    return json.dumps(record).encode() + b"\n"


SESSION = line(1, "egret") + line(2, "heron") + line(3, "stork")


def settings(folder: Path) -> Settings:
    return Settings(Team("t"), home="lake", folder=str(folder))


def clean(folder: Path, what: Erased) -> erased.Cleaned:
    return erased.clean(Lake(folder / "lake"), settings(folder), what, registry.by_name)


def test_the_list_tells_a_machine_with_the_key_and_no_other(tmp_path: Path) -> None:
    place = Folder(tmp_path)
    kept_out.write(place, HERON)
    assert kept_out.read(place, KEY).records == HERON.records
    assert kept_out.read(place, b"o" * 32) is NOTHING
    assert kept_out.read(Folder(tmp_path / "elsewhere"), KEY) is NOTHING
    assert not registry.sniff_member("erased.json", (tmp_path / kept_out.LIST).read_bytes())


def test_a_delivery_leaves_out_the_lines_that_were_erased() -> None:
    made = Redacted(SESSION, 3, {}, {}, True)
    sent = kept_out.without(made, "claude_code", "a.jsonl", HERON, "jonas")
    assert (sent.data, sent.lines, sent.left_out) == (line(1, "egret") + line(3, "stork"), 2, {"erased": 1})
    assert kept_out.without(made, "claude_code", "a.jsonl", MARA, "mara").data == b""
    assert kept_out.without(made, "claude_code", "a.jsonl", MARA, "jonas") is made


def test_landing_loses_the_lines_of_a_session_and_no_others(tmp_path: Path) -> None:
    session = tmp_path / "lake" / "landing" / "share" / "a.jsonl"
    session.parent.mkdir(parents=True)
    session.write_bytes(SESSION + b'{"broken": "heron\n')
    assert clean(tmp_path, HERON).rewritten == ["landing/share/a.jsonl"]
    assert session.read_bytes() == line(1, "egret") + line(3, "stork")
    assert clean(tmp_path, HERON) == erased.Cleaned(), "a file that was found clean is not looked at again"


def test_an_archive_and_a_persons_delivery_go_whole_with_their_notes(tmp_path: Path) -> None:
    landing = tmp_path / "lake" / "landing"
    landing.mkdir(parents=True)
    with zipfile.ZipFile(landing / "some.zip", "w") as archive:
        archive.writestr("a.jsonl", SESSION)
    note = {"person": "mara", "machine": "m", "projects": []}
    deliver(Folder(landing), "transcripts/m/claude_code/0123456789abcdef/a.jsonl", SESSION, note)
    deliver(Folder(landing), "transcripts/n/claude_code/0123456789abcdef/b.jsonl", SESSION, note | {"person": "jonas"})
    assert clean(tmp_path, HERON).deleted == ["landing/some.zip"]
    named = with_people(tmp_path)
    erased.clean(Lake(tmp_path / "lake"), named, Erased(KEY, HERON.records, MARA.persons), registry.by_name)
    left = sorted(path.name for path in landing.rglob("*") if path.is_file())
    assert left == ["b.jsonl", "b.jsonl.collect.json", "erased.json"]
    assert b"heron" not in b"".join(path.read_bytes() for path in landing.rglob("*") if path.is_file())


def with_people(folder: Path) -> Settings:
    """Settings in which the notes' names are people."""
    from lorelake.settings import Person

    people = (Person("mara"), Person("jonas"))
    return Settings(Team("t"), people=people, home="lake", folder=str(folder))
