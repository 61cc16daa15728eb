"""Notes beside files: what they tell of project and person, and that they are never material themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lorelake.formats.record import REASONS
from lorelake.landing import discover
from lorelake.landing.hints import is_note, read_note
from lorelake.settings import Person, Project, Settings, Source, Team

SESSION = (
    '{"sessionId":"5d0c","uuid":"1","type":"user","timestamp":"2026-03-10T09:00:00Z",'
    '"message":{"role":"user","content":"hello"}}\n'
)
PEOPLE = (Person("ann", emails=("Ann@tidewater.example",), logins=("annb",)),)
PROJECTS = (
    Project("harbour-api", remotes=("git@github.com:tidewater/harbour-api.git",), folders=("/home/ann/src/plain",)),
)


def note(kind: str, **values: Any) -> str:
    return json.dumps({"lorelake": kind, **values})


def look(folder: Path, files: dict[str, str], sources: tuple[Source, ...] | None = None) -> discover.Discovery:
    """What is found in a lake's landing folder, or in given sources."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    given = (Source("files"),) if sources is None else sources
    return discover.captures(
        Settings(team=Team("t"), sources=given, people=PEOPLE, projects=PROJECTS, folder=str(folder))
    )


def hints(found: discover.Discovery) -> dict[str, tuple[str | None, str | None]]:
    return {capture.name: (capture.project, capture.person) for _, capture in found.captures}


def test_a_note_is_known_by_its_first_key_and_by_nothing_else() -> None:
    assert is_note(b'\xef\xbb\xbf {\n "lorelake" : "pull", "x": 1}')
    assert not is_note(b'{"x": 1, "lorelake": "pull"}')
    assert not is_note(b'{"lorelake": "recall"}')
    assert read_note(b'{"lorelake": "import", "project": 7}') is None


def test_a_collected_file_has_the_person_and_project_of_its_note(tmp_path: Path) -> None:
    found = look(
        tmp_path,
        {
            "files/a.jsonl": SESSION,
            "files/a.jsonl.collect.json": note(
                "collect", person="ANN@tidewater.example", machine="0a1b", remote="github.com/tidewater/harbour-api",
                project="github.com/tidewater/harbour-api",
            ),
            "files/b.jsonl": SESSION.replace("5d0c", "6e1d"),
        },
    )  # fmt: skip
    assert hints(found) == {"files/a.jsonl": ("harbour-api", "ann"), "files/b.jsonl": (None, None)}
    assert found.refusals == []


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"project": "/home/ann/src/plain"}, "harbour-api"),
        ({"project": "/home/ann/src/other"}, "/home/ann/src/other"),
        ({"remote": "github.com/tidewater/quay", "project": "github.com/tidewater/quay"}, "github.com/tidewater/quay"),
        ({}, "assumed"),
    ],
)
def test_a_project_is_looked_up_as_it_is_when_it_was_recorded(
    tmp_path: Path, values: dict[str, str], expected: str
) -> None:
    files = {"files/a.jsonl": SESSION, "files/a.jsonl.collect.json": note("collect", **values)}
    found = look(tmp_path, files, (Source("files", project="assumed"),))
    assert hints(found) == {"files/a.jsonl": (expected, None)}


def test_two_people_who_call_themselves_alike_are_not_one(tmp_path: Path) -> None:
    files = {}
    for machine in ("0a1b", "2c3d"):
        files[f"files/{machine}.jsonl"] = SESSION.replace("5d0c", machine)
        files[f"files/{machine}.jsonl.collect.json"] = note("collect", person="sam", machine=machine)
    assert {person for _, person in hints(look(tmp_path, files)).values()} == {"machine-0a1b", "machine-2c3d"}


def test_a_folders_note_holds_below_it_and_the_nearest_wins(tmp_path: Path) -> None:
    files = {
        "files/import.json": note("import", project="outer", person="ann"),
        "files/deep/pull.json": note("pull", project="inner"),
        "files/deep/er/a.jsonl": SESSION,
        "files/b.jsonl": SESSION.replace("5d0c", "6e1d"),
    }
    assert hints(look(tmp_path, files)) == {
        "files/deep/er/a.jsonl": ("inner", "ann"),
        "files/b.jsonl": ("outer", "ann"),
    }


def test_a_note_does_not_change_what_a_capture_is(tmp_path: Path) -> None:
    before = look(tmp_path, {"files/a.jsonl": SESSION}).captures[0][1].sha256
    after = look(tmp_path, {"files/a.jsonl.collect.json": note("collect", project="p")}).captures[0][1]
    assert (after.sha256, after.project) == (before, "p")


def test_what_collect_left_out_is_in_the_books(tmp_path: Path) -> None:
    """Nothing is dropped silently: the lines that stayed on the person's machine are told of by one refusal."""
    left_out = {"not_json": 3, "not_utf8": 1, "made up": 9}
    files = {"files/a.jsonl": SESSION, "files/a.jsonl.collect.json": note("collect", left_out=left_out)}
    ((_, name, refusal),) = look(tmp_path, files).refusals
    assert name == "files/a.jsonl.collect.json"
    assert refusal.reason in REASONS
    assert "3 not_json, 1 not_utf8" in refusal.detail


def test_a_damaged_note_is_refused_and_the_file_is_read_without_it(tmp_path: Path) -> None:
    found = look(tmp_path, {"files/a.jsonl": SESSION, "files/a.jsonl.collect.json": note("collect", project="p")[:-3]})
    assert hints(found) == {"files/a.jsonl": (None, None)}
    assert [(name, refusal.reason) for _, name, refusal in found.refusals] == [
        ("files/a.jsonl.collect.json", "not_json")
    ]


def test_the_landing_folder_is_read_without_an_entry_in_the_settings(tmp_path: Path) -> None:
    files = {
        "lake/landing/transcripts/0a1b/claude_code/c0ffee/x.jsonl": SESSION,
        "lake/landing/transcripts/0a1b/withdrawn.json": note("withdrawn", withdrawals=[]),
        "lake/landing/documents/notes/import.json": note("import", project="harbour-api"),
        "lake/landing/documents/notes/a.md": "# Quote paths\n\nAlways quote paths in scripts.\n",
        "lake/raw/claude_code/leftover.jsonl": SESSION.replace("5d0c", "7f2e"),
    }
    found = look(tmp_path, files, ())
    assert hints(found) == {
        "landing/transcripts/0a1b/claude_code/c0ffee/x.jsonl": (None, None),
        "landing/documents/notes/a.md": ("harbour-api", None),
    }
    assert found.refusals == []


@pytest.mark.parametrize(("path", "name"), [("lake/landing", "lake/landing"), ("lake/landing/documents", "documents")])
def test_landing_is_read_once_where_the_settings_name_it_or_a_part_of_it(tmp_path: Path, path: str, name: str) -> None:
    files = {"lake/landing/documents/a.md": "# One\n\nText.\n", "lake/landing/transcripts/b.jsonl": SESSION}
    found = look(tmp_path, files, (Source(path, project="p"),))
    assert len(hints(found)) == 2
    (document,) = [capture for format_name, capture in found.captures if format_name == "documents"]
    assert document.name.startswith(name + "/")
    assert document.project == "p"


def test_landing_is_read_beside_a_source_that_holds_the_lake(tmp_path: Path) -> None:
    files = {"lake/landing/transcripts/b.jsonl": SESSION, "files/a.jsonl": SESSION.replace("5d0c", "6e1d")}
    found = look(tmp_path, files, (Source("."),))
    names = sorted(name.partition("/")[2] for name in hints(found))
    assert names == ["files/a.jsonl", "transcripts/b.jsonl"]


def test_half_written_files_of_a_killed_writer_are_passed_over(tmp_path: Path) -> None:
    files = {"files/a.jsonl": SESSION, "files/.a.jsonl.4711.tmp": SESSION[:30], "files/.b.tmp": SESSION}
    found = look(tmp_path, files)
    assert sorted(hints(found)) == ["files/.b.tmp", "files/a.jsonl"]
