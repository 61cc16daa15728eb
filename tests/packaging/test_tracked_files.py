"""What is in version control tells of no machine, and installs from hashes alone."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
INVENTED = "a|ann|ngozi|aiko|mara|jonas|me|u|user|you|dev|sam|w|x"
"""Homes of the people in samples and tests; none of them has a machine."""
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def tracked() -> dict[str, str]:
    """Every file of the index that is text, by name."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("this is no Git checkout")
    found = {}
    for name in filter(None, listed.stdout.split("\0")):
        path = ROOT / name
        if path.is_file() and not path.is_symlink():
            found[name] = path.read_bytes().decode("utf-8", errors="replace")
    return found


def test_no_file_names_this_checkout_or_this_home(tracked):
    here = [f"{ROOT}/", f"{Path.home()}/"]
    assert [(name, place) for name, text in tracked.items() for place in here if place in text] == []


def test_no_file_names_somebodys_home(tracked):
    """Samples tell of invented people; anything else below /home or /Users was copied from a machine."""
    home = re.compile(rf"/(?:home|Users)/(?!(?:{INVENTED})\b)[a-z][\w.-]*/")
    found = {(name, match[0]) for name, text in tracked.items() for match in home.finditer(text)}
    assert found == set()


def test_no_file_names_a_place_that_only_a_build_machine_has(tracked):
    places = re.compile(r"(?<![\w./-])/(?:work|builds|workspace|github/workspace|opt/pypi[\w-]*)/")
    assert [
        name
        for name, text in tracked.items()
        if name != "tests/packaging/test_tracked_files.py" and places.search(text)
    ] == []


def test_nothing_big_or_binary_is_tracked(tracked):
    big = [name for name, text in tracked.items() if len(text) > 400_000]
    binary = [name for name, text in tracked.items() if "\0" in text and not name.startswith("tests/samples/")]
    assert (big, binary) == ([], [])


def test_every_locked_requirement_has_a_hash_and_a_version():
    entries = re.split(r"\n(?=[A-Za-z0-9])", LOCK.strip())
    assert len(entries) > 50
    assert [entry.split()[0] for entry in entries if "--hash=sha256:" not in entry or "==" not in entry] == []


def test_the_lock_names_no_index():
    assert (
        re.findall(
            r"https?://\S+|(?:--|-)(?:extra-)?(?:index-url|find-links|trusted-host)\S*|^-[if]\b.*", LOCK, re.MULTILINE
        )
        == []
    )
