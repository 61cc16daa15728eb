"""What a night has to do: look at every source, decode what is new, name the days to derive.

Needs no orchestrator. The command and the schedule both start here, and hand the outcome to the job.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import lorelake
from lorelake.errors import SettingsError, SourceError
from lorelake.events import days as event_days
from lorelake.formats import registry
from lorelake.formats.record import digest
from lorelake.lake import Lake, read_table, write_bytes
from lorelake.landing import discover
from lorelake.landing.archive import limits_of
from lorelake.landing.hash_cache import HashCache
from lorelake.raw import intake
from lorelake.release.build import check_team
from lorelake.release.manifest import config_sha256, read_manifest
from lorelake.release.publish import refuse_older, verify
from lorelake.settings import Settings
from lorelake.tables import INTAKE, RAW_RECORDS
from lorelake_assets.dbt import project_dir
from lorelake_assets.resources import Night, day_inputs, erased, redactor

Progress = Callable[[str, int, int], None]

SHOWN = 5
"""Refusals that an error lists; the rest is counted."""


def quiet(what: str, done: int, of: int) -> None:
    """No progress."""


@dataclass(frozen=True)
class Work:
    """What a night has to do: its plan, the days to derive, and the hash of everything it depends on."""

    plan: intake.Plan
    days: tuple[date, ...]
    inputs_sha256: str


def today() -> date:
    """The day it is in UTC. The only place that reads a clock for a night."""
    return datetime.now(UTC).date()


def default_as_of(settings: Settings) -> date:
    """The pinned day of the settings, else the last complete UTC day."""
    return settings.nightly.as_of or today() - timedelta(days=1)


def prepare(night: Night, progress: Progress = quiet) -> Work:
    """Look at every source, decode what is new, and stage it for the run. Needs no orchestrator.

    Raises:
        SettingsError: no sources and no landing folder; the lake belongs to another team; or the key file can be read
            by others.
        SourceError: there is nothing to derive a release from.
        ReleaseError: the served release is of a later day; said before anything is derived.
    """
    settings, lake = night.settings, night.lake
    if not settings.sources and not lake.landing.is_dir():
        raise SettingsError(
            "no [[sources]], so there is nothing to read",
            where=night.settings_path,
            remedy="`lorelake init` finds some; docs/settings.md tells how to add one",
        )
    check_team(lake, settings.team.id)
    refuse_older(lake, night.day)
    lake.sweep()
    hashes = lake.state / "capture_hashes.json"
    cache = HashCache(hashes.read_bytes() if hashes.exists() else None, limits_of(settings.archives))
    found = discover.captures(settings, cache)
    write_bytes(hashes, cache.dumps())
    kept_out = erased(lake, settings)
    plan = intake.plan(
        lake, night.day, found.captures, found.refusals, redactor(settings), registry.by_name, progress, kept_out
    )
    _refuse_nothing(lake, plan)
    intake.save(lake, plan)
    inputs = day_inputs(lake, settings, night.day, intake.after(lake, plan))
    days = event_days.stale_days(lake, inputs, plan.days)
    return Work(plan, tuple(days), inputs_sha256(settings, night.day, plan))


def _refuse_nothing(lake: Lake, plan: intake.Plan) -> None:
    """A first night that reads nothing has wrong paths or unknown formats: an audit could only say so later.

    Raises:
        SourceError: naming what was met, and why it was refused.
    """
    if plan.rows or lake.days(RAW_RECORDS):
        return
    met = [
        f"{uri}: {reason}: {detail}"
        for uri, reason, detail in plan.quarantine.select("source_uri", "reason", "detail").rows()
    ]
    more = [f"and {len(met) - SHOWN} more"] if len(met) > SHOWN else []
    raise SourceError(
        "\n    ".join(["no source holds a record that can be read", *met[:SHOWN], *more]),
        remedy="mend the paths of [[sources]]; docs/flow.md lists the formats that are read",
    )


def inputs_sha256(settings: Settings, as_of: date, plan: intake.Plan) -> str:
    """Hash of everything a night depends on: equal hashes end in the same release.

    Covers the as-of day, the settings, every capture's fingerprint, and the code itself (a developer who changes
    a rule without raising LOGIC_VERSION gets a new night all the same).
    """
    return digest(as_of.isoformat(), config_sha256(settings), *sorted(plan.intake["fingerprint"]), code_sha256())


def told_apart(lake: Lake) -> dict[str, str]:
    """Hashes by which it is told, later, why a release differs: of the code, and of the captures that were read."""
    books = read_table(INTAKE, lake.table(INTAKE))
    return {"code": code_sha256(), "captures": digest(*sorted(books["fingerprint"]))}


def code_sha256() -> str:
    """Hash of the library's, the orchestration's, dbt's and the suites' files."""
    roots = [
        Path(lorelake.__file__).parent,
        Path(__file__).parent,
        project_dir("_dbt", "models"),
        project_dir("_expectations", "expectations"),
    ]
    total = hashlib.sha256()
    for root in roots:
        for path in sorted(root.rglob("*")):
            if path.suffix in {".py", ".sql", ".yml", ".json", ".csv", ".toml"} and "target" not in path.parts:
                total.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return total.hexdigest()


def served_already(lake: Lake, work: Work) -> str | None:
    """The served release, if it was made from exactly these inputs and nothing is left to derive."""
    current = lake.current_release()
    if current is None or work.days or work.plan.days or verify(lake.releases / current):
        return None
    return current if read_manifest(lake.releases / current).inputs.get("night") == work.inputs_sha256 else None
