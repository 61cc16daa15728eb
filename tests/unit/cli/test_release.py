from __future__ import annotations

import json

import pytest

from lorelake.cli import run


@pytest.fixture
def call(published, capsys):
    def called(*arguments: str, home: str | None = None) -> tuple[int, str, str]:
        code = run(["release", *arguments, "--home", home or str(published.root)])
        return code, *capsys.readouterr()

    return called


def test_list_marks_what_is_served(call, published):
    code, out, _ = call("list")
    assert code == 0
    heading, _, line = out.splitlines()
    assert heading.split()[:6] == ["release", "as", "of", "published", "(UTC)", "active"]
    assert line.split()[:3] == ["*", published.current_release(), "2026-03-20"]
    assert line.split()[5:8] == ["5", "4", "0"]
    assert "+5 active" in line
    code, out, _ = call("list", "--json")
    assert json.loads(out)["release_id"] == published.current_release()


@pytest.mark.parametrize("command", ["list", "verify"])
def test_an_empty_lake_says_so(call, tmp_path, command):
    code, out, err = call(command, home=str(tmp_path / "none"))
    assert (code, out) == (1, "")
    assert "no release is published here" in err
    assert "remedy: " in err


def test_verify_is_0_on_a_sound_release_and_1_on_a_harmed_one(call, published):
    name = published.current_release()
    assert call("verify")[:2] == (0, "1 release verified\n")
    assert call("verify", name)[0] == 0
    assert call("verify", "2026-01-01-00000000")[0] == 2
    victim = published.releases / name / "tables/votes.parquet"
    victim.chmod(0o640)
    victim.write_bytes(b"")
    for arguments in (("verify",), ("verify", name)):
        code, out, err = call(*arguments)
        assert (code, out) == (1, "")
        assert f"{name}: tables/votes.parquet is not the file that was published" in err
