"""What the job is made of, as a text: a change of the graph is a change of this file, seen in review."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

GRAPH = Path(__file__).with_name("asset_graph.txt")

STRICT = """
import warnings
import dagster as dg
for category in (dg.BetaWarning, dg.PreviewWarning, dg.SupersessionWarning, DeprecationWarning):
    warnings.filterwarnings("error", category=category, module="lorelake" if category is DeprecationWarning else "")
from lorelake_assets.definitions import defs
dg.Definitions.validate_loadable(defs)
print(*sorted(job.name for job in defs.resolve_all_job_defs() if not job.name.startswith("__")))
print(*sorted(schedule.name for schedule in defs.schedules))
"""


def test_the_graph_is_the_one_in_the_text() -> None:
    from lorelake_assets.docs import graph_lines

    assert GRAPH.read_text(encoding="utf-8").splitlines() == graph_lines(), (
        "if the change is meant, write lorelake_assets.docs.graph_lines() into asset_graph.txt"
    )


def test_the_definitions_load_without_a_warning_of_things_to_come() -> None:
    """In a process of its own: a module that was imported before warns no more."""
    call = [sys.executable, "-c", STRICT]
    done = subprocess.run(call, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["nightly", "nightly_schedule"]
