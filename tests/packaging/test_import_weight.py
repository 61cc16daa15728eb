"""What agents and hooks call must not pay for what the pipeline needs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {
    "polars", "pyarrow", "duckdb", "dagster", "lancedb", "pandas", "numpy", "yaml", "dbt", "great_expectations", "rich",
    "lorelake_assets",
}  # fmt: skip


def loaded_after(code: str, home: Path) -> set[str]:
    """Top-level modules of a fresh interpreter after running some code there; its output is dropped."""
    report = "\nimport json, sys; sys.__stderr__.write(json.dumps(sorted({m.split('.')[0] for m in sys.modules})))"
    child = subprocess.run(
        [sys.executable, "-c", code + report],
        capture_output=True, text=True, check=True, cwd=home, env={**os.environ, "LORELAKE_HOME": str(home)},
    )  # fmt: skip
    return set(json.loads(child.stderr.splitlines()[-1]))


def calling(*arguments: str) -> str:
    return f"from lorelake.cli import run; run({list(arguments)!r})"


@pytest.mark.parametrize(
    "code",
    [
        "import lorelake",
        "import lorelake.cli",
        "from lorelake import open_release",
        "import lorelake.tables, lorelake.settings, lorelake.served, lorelake.errors",
        "import lorelake.recall.lance",
        calling("--help"),
        calling("--version"),
        calling("recall", "quote paths"),
        calling("check", "quote paths"),
        calling("show", "lrn_00000000"),
        calling("topics"),
        calling("explain", "--help"),
        calling("recall", "--help"),
    ],
)
def test_reading_loads_nothing_of_the_pipeline(code, tmp_path):
    assert loaded_after(code, tmp_path) & HEAVY == set()


def test_recall_over_a_release_loads_nothing_of_the_pipeline(tmp_path):
    """A release written here by hand, since the real writer is the pipeline."""
    import sqlite3

    from lorelake import served

    folder = tmp_path / "releases" / "2026-03-20-1a2b3c4d"
    name = served.audience_id("t", "team")
    (folder / "index" / name).mkdir(parents=True)
    (tmp_path / "CURRENT").write_text(folder.name)
    head = {
        "release_id": folder.name,
        "team": "t",
        "as_of": "2026-03-20",
        "content_hash": "1a2b3c4d",
        "active": {name: 1},
    }
    (folder / "manifest.json").write_text(json.dumps(head))
    item = dict.fromkeys(("not_when", "applies_to", "self_check", "tags", "quotes"), ()) | dict.fromkeys(
        ("audience", "project", "trust", "state", "kind", "when", "do", "said_by", "text_sha256", "content_key"), "x"
    )
    item |= {
        "learning_id": "lrn_" + "a" * 32,
        "title": "Quote paths",
        "severity": None,
        "because": None,
        "rejected": None,
    }
    item |= {"people": 1, "families": 1, "confidence": 0.5, "confidence_low": 0.1, "confidence_high": 0.9}
    item |= {"first_said": "2026-03-01", "last_said": "2026-03-01"}
    with sqlite3.connect(folder / "index" / name / "lexical.db") as db:
        db.executescript(served.LEXICAL_SCHEMA)
        db.execute("INSERT INTO items VALUES (1, ?, ?)", (item["learning_id"], json.dumps(item)))
        db.execute("INSERT INTO search(rowid, text) VALUES (1, 'quote paths')")
    db.close()
    code = calling("recall", "quote paths", "--json")
    child = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "LORELAKE_HOME": str(tmp_path)}
    )
    assert json.loads(child.stdout)["verdict"] == "RELEVANT"
    assert loaded_after(code, tmp_path) & HEAVY == set()
