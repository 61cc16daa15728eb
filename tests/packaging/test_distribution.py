"""What is built is whole and nothing else, and an installed wheel runs a night without the checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.metadata import requires
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "tests" / "samples" / "team"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

pytestmark = pytest.mark.xdist_group("packaging")


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """A folder with the wheel and the sdist, made by the build backend without a network."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def wheel(built) -> set[str]:
    (path,) = built.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        return set(archive.namelist())


@pytest.mark.slow
def test_the_wheel_holds_both_packages_with_their_data(wheel):
    needed = {
        "lorelake/py.typed", "lorelake/cli/__init__.py", "lorelake/evidence/cue_lists/en.toml",
        "lorelake_assets/py.typed", "lorelake_assets/definitions.py",
        "lorelake_assets/_dbt/dbt_project.yml", "lorelake_assets/_dbt/profiles.yml",
        "lorelake_assets/_expectations/learnings.json",
    }  # fmt: skip
    assert needed - wheel == set()
    models = {path.relative_to(ROOT / "models").as_posix() for path in (ROOT / "models").rglob("*.sql")}
    models = {name for name in models if not name.startswith("target/")}
    assert {f"lorelake_assets/_dbt/{name}" for name in models} - wheel == set()
    suites = {path.name for path in (ROOT / "expectations").glob("*.json")}
    assert {f"lorelake_assets/_expectations/{name}" for name in suites} - wheel == set()


@pytest.mark.slow
def test_the_wheel_holds_nothing_else(wheel):
    tops = {name.split("/")[0] for name in wheel}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"lorelake", "lorelake_assets"}
    left_over = ("/target/", "/logs/", "__pycache__", ".pyc", "/test_", ".duckdb", ".msgpack")
    assert [name for name in wheel if any(part in name for part in left_over)] == []


@pytest.mark.slow
def test_the_wheel_carries_the_licence_notice_and_the_commands(built):
    (path,) = built.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        (info,) = {name.split("/")[0] for name in archive.namelist() if ".dist-info/" in name}
        metadata = archive.read(f"{info}/METADATA").decode()
        entry_points = archive.read(f"{info}/entry_points.txt").decode()
        assert f"{info}/licenses/NOTICE" in archive.namelist()
    assert "License-Expression: Apache-2.0\n" in metadata
    assert "lorelake = lorelake.cli:main" in entry_points
    assert "nightly = lorelake_assets.command:nightly" in entry_points


@pytest.mark.slow
def test_the_sdist_holds_what_a_night_and_the_tests_need(built):
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    needed = {
        "pyproject.toml", "Makefile", "requirements.lock", "workspace.yaml", "NOTICE", "README.md",
        "models/dbt_project.yml", "expectations/learnings.json", "tests/samples/team/lorelake.toml",
    }  # fmt: skip
    assert needed - names == set()
    assert [
        name for name in names if name.startswith((".venv", "lake", "models/target")) or "__pycache__" in name
    ] == []


@pytest.mark.slow
def test_an_installed_wheel_runs_a_night_by_itself(built, tmp_path):
    """Installed in front of the checkout on the path, so that its dbt project and its suites are the ones found."""
    (path,) = built.glob("*.whl")
    site = tmp_path / "site"
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-index",
        "--no-deps",
        "--target",
        str(site),
        str(path),
    ]
    subprocess.run(pip, check=True, capture_output=True)
    team = shutil.copytree(SAMPLE, tmp_path / "team")
    environment = {**os.environ, "PYTHONPATH": str(site), "LORELAKE_HOME": str(tmp_path / "lake")}

    def call(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", code, *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True
        )

    places = call(
        "import lorelake; from lorelake_assets import checks, dbt; "
        "print(lorelake.__file__, dbt.models_dir(), checks.suites_dir(), sep='\\n')"
    ).stdout.splitlines()
    assert len(places) == 3
    assert [place for place in places if not place.startswith(str(site))] == []
    night = call("from lorelake.cli import main; main()", "nightly", "--settings", str(team / "lorelake.toml"))
    assert night.returncode == 0, night.stderr
    assert " published\n" in night.stdout
    answer = call("from lorelake.cli import main; main()", "release", "verify")
    assert (answer.returncode, answer.stdout) == (0, "1 release verified\n")


def test_the_base_install_needs_two_packages():
    needed = [requirement for requirement in requires("lorelake") or [] if "extra ==" not in requirement]
    assert sorted(requirement.partition(">")[0] for requirement in needed) == ["click", "msgspec"]


def test_ci_passes_every_test():
    steps = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert "make test" in steps
    assert "make check" in steps
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
