"""Bad files beside a good one; wrong settings; nothing to read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("flow")]

CALL = "from lorelake.cli import main; main()"
GIB = 1024**3
WANTED = "Always run the contract tests before you merge a change to the public API."


def line(session: str, text: str, number: int = 1) -> bytes:
    """One prompt of a transcript."""
    record = {
        "type": "user", "sessionId": session, "uuid": f"{session[:8]}-0000-4000-8000-{number:012d}", "parentUuid": None,
        "timestamp": f"2026-03-10T09:{number:02d}:00.000Z", "cwd": "/home/mara/src/harbour-api", "version": "2.1.30",
        "gitBranch": "main", "isSidechain": False, "userType": "external",
        "message": {"role": "user", "content": text},
    }  # fmt: skip
    return json.dumps(record).encode() + b"\n"


def bad_folder(folder: Path) -> None:
    def name(digit: int) -> str:
        return f"{digit}0000000-1111-4222-8333-444444444444"

    folder.mkdir()
    (folder / "good.jsonl").write_bytes(line(name(1), WANTED))
    (folder / "torn.jsonl").write_bytes(line(name(2), "Is the build green?") + line(name(2), "cut off", 2)[:90])
    (folder / "latin.jsonl").write_bytes(
        line(name(3), "What failed?") + line(name(3), "caf?", 2).replace(b"caf?", b"caf\xe9")
    )
    (folder / "lone.jsonl").write_bytes(
        line(name(4), "And now?") + line(name(4), "half ?", 2).replace(b"half ?", b"half \\ud83d")
    )
    (folder / "huge.jsonl").write_bytes(
        line(name(5), "Look at this log. ") + line(name(5), "E 502 bad gateway\n" * 1_165_000, 2)
    )
    (folder / "empty.jsonl").write_bytes(b"")
    (folder / "folder.jsonl").mkdir()
    (folder / "folder.jsonl" / "inside.jsonl").write_bytes(
        line(name(6), "A folder is looked through, whatever its name.")
    )
    with zipfile.ZipFile(folder / "up.zip", "w") as archive:
        archive.writestr("../../escaped.jsonl", line(name(7), "outside"))
    os.mkfifo(folder / "pipe.jsonl")


def write_settings(folder: Path, more: str = "", sources: str = '[[sources]]\npath = "in"\n') -> Path:
    path = folder / "lorelake.toml"
    people = '[[people]]\nid = "mara"\nemails = ["mara@example.com"]\n'
    path.write_text(f'{more}[team]\nid = "harbour"\n[nightly]\nas_of = 2026-03-20\n{sources}{people}', encoding="utf-8")
    return path


def test_bad_files_are_refused_by_name_and_the_good_one_is_in(tmp_path, environment, call) -> None:
    bad_folder(tmp_path / "in")
    assert (tmp_path / "in" / "huge.jsonl").stat().st_size > 20_000_000
    settings = write_settings(tmp_path, sources='[[sources]]\npath = "in"\nproject = "harbour-api"\nperson = "mara"\n')
    errors = tmp_path / "stderr"
    with errors.open("w") as err:
        process = subprocess.Popen(
            [sys.executable, "-c", CALL, "nightly", "--settings", str(settings)],
            env=environment(), cwd=tmp_path, stdout=err, stderr=err,
        )  # fmt: skip
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, errors.read_text()
    peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    assert peak <= GIB, f"{peak / GIB:.2f} GiB"

    home = tmp_path / "lake"
    refused = call("quarantine", "--home", home, "--limit", "100", "--json")
    assert refused.code == 0
    rows: list[dict[str, Any]] = [json.loads(row) for row in refused.out.splitlines()]
    reasons = {row["source_uri"]: row["reason"] for row in rows}
    assert reasons == {
        "in/torn.jsonl:2": "incomplete_tail", "in/latin.jsonl:2": "not_utf8", "in/lone.jsonl:2": "lone_surrogate",
        "in/empty.jsonl": "empty", "in/up.zip": "unsafe_name", "in/pipe.jsonl": "not_a_file",
    }  # fmt: skip
    assert all(row["detail"] for row in rows)
    assert not list(tmp_path.rglob("escaped.jsonl"))

    shown = call("quarantine", "--home", home)
    for place in reasons:
        assert place in shown.out
    kept = call("sql", "--home", home, "--csv", "select unit_id from sessions order by 1")
    assert [f"claude_code:{digit}0000000" in kept.out for digit in range(1, 8)] == [True] * 6 + [False]
    learned = call("sql", "--home", home, "--csv", "select quote from learning_evidence")
    assert WANTED in learned.out

    # Mended: the empty file is filled, the archive and the pipe are gone. Their refusals go with them.
    (tmp_path / "in" / "empty.jsonl").write_bytes(line("80000000-1111-4222-8333-444444444444", "No longer empty."))
    (tmp_path / "in" / "up.zip").unlink()
    (tmp_path / "in" / "pipe.jsonl").unlink()
    from lorelake_assets import prepare
    from lorelake_assets.resources import Night

    plan = prepare.prepare(Night(settings_path=str(settings), as_of="2026-03-20")).plan
    assert sorted(plan.quarantine["source_uri"]) == ["in/latin.jsonl:2", "in/lone.jsonl:2", "in/torn.jsonl:2"]
    assert "unknown" not in set(plan.intake["source"])


@pytest.mark.parametrize(
    ("more", "sources", "said"),
    [
        ("nights = 3\n", '[[sources]]\npath = "in"\n', "unknown key `nights`"),
        ("", "[[sources]]\npath = 3\n", "Expected `str`, got `int` at `sources[0].path`"),
        ("", '[[sources]]\npath = "in"\n[slack]\ninclude = ["public", "everything"]\n', "slack.include"),
        ("", "", "no [[sources]], so there is nothing to read"),
        ("[team\n", "", "not valid TOML"),
    ],
)
def test_wrong_settings_are_told_and_nothing_is_written(tmp_path, call, more, sources, said) -> None:
    (tmp_path / "in").mkdir()
    settings = write_settings(tmp_path, more, sources)
    answer = call("nightly", "--settings", settings)
    assert answer.code == 2
    assert said in answer.err
    assert str(settings) in answer.err
    left = {path.name for path in tmp_path.rglob("*")} - {"in", "lorelake.toml"}
    assert left <= {"lake", ".writer"}, "a key, a state or a release was written"


def test_sources_that_hold_nothing_are_told_and_nothing_is_published(tmp_path, call) -> None:
    """Most likely a path is wrong; and memory without a first release is not memory without an answer."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "photo.jpg").write_bytes(b"\xff\xd8\xff\xe0 no format of ours")
    settings = write_settings(tmp_path, sources='[[sources]]\npath = "in"\n[[sources]]\npath = "not-there"\n')
    said = call("nightly", "--settings", settings)
    assert said.code == 1
    assert "no source holds a record that can be read" in said.err
    assert "in/photo.jpg: unknown_format" in said.err
    assert "not-there: not_a_file: nothing is there" in said.err
    assert not (tmp_path / "lake" / "CURRENT").exists()
    asked = call("recall", "how do we deploy", "--home", tmp_path / "lake")
    assert asked.code == 1
    assert "UNREACHABLE" in asked.out + asked.err
