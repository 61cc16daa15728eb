"""One step of the derivation after evidence, in a fresh interpreter: `python derive.py STEP LAKE [CLAIMS]`.

Steps: `generate` writes what the stages before leave; the others are the assets of a night, by name. Prints seconds and
peak memory as JSON, and for SQL the seconds of every model.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import dagster as dg

from lorelake.lake import Lake, write_bytes
from lorelake_assets import dbt, learnings
from lorelake_assets.resources import Night

SETTINGS = """
[team]
id = "bench"
[redaction]
key_file = "team.key"
[review]
reviewers = {reviewers}
"""
STEPS = {"claims": learnings.claims, "trust": learnings.trust, "topics": learnings.topics}


def generate(lake: Lake, claims: int) -> None:
    from team_of_years import REVIEWERS, Years

    Years(claims).write(lake)
    people = "".join(f'[[people]]\nid = "{name}"\n' for name in REVIEWERS)
    write_bytes(lake.root / "lorelake.toml", (SETTINGS.format(reviewers=json.dumps(REVIEWERS)) + people).encode())
    write_bytes(lake.root / "team.key", b"a key for the bench, 32 bytes long", mode=0o600)


def step(name: str, lake: Lake) -> dict[str, Any]:
    """Seconds and memory of one asset, as the night runs it; rows of every table it wrote."""
    from team_of_years import AS_OF

    night = Night(settings_path=str(lake.root / "lorelake.toml"), home=str(lake.root), as_of=AS_OF.isoformat())
    models = timed_models()
    began, cpu = time.perf_counter(), time.process_time()
    done = dg.materialize([STEPS[name]], resources={"night": night})
    took = {"wall": time.perf_counter() - began, "cpu": time.process_time() - cpu}
    written = [event.step_materialization_data.materialization for event in done.get_asset_materialization_events()]
    rows = {one.asset_key.path[-1]: one.metadata["rows"].value for one in written}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    return {**took, "mb": peak, "rows": rows, "models": models}


def timed_models() -> dict[str, dict[str, float]]:
    """Seconds of every model and test, by command, filled in while dbt runs."""
    invoke, found = dbt.Project.invoke, {}

    def timed(project: dbt.Project, command: str, *arguments: str) -> Sequence[Any]:
        began = time.perf_counter()
        results = invoke(project, command, *arguments)
        found[command] = {result.node.name: round(result.execution_time, 3) for result in results}
        found[command]["= all"] = round(time.perf_counter() - began, 3)
        return results

    mock.patch.object(dbt.Project, "invoke", timed).start()
    return found


def main(name: str, home: str, claims: str = "0") -> None:
    lake = Lake(Path(home))
    if name == "generate":
        generate(lake, int(claims))
    else:
        json.dump(step(name, lake), sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
