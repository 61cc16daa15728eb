"""How much of what is admitted is worth keeping, and how much of what is worth keeping is admitted.

    python tests/labels/quality.py            both corpora; `../shared/data` is left out where it is not there
    python tests/labels/quality.py sample     the example team alone

`kept.csv` holds one judgement a line: of an event (by its id) or of a whole thread or document (by a hash of its unit),
whether a maintainer would keep a lesson from it. Judged by reading; the sentences themselves are not in the file.
"""

from __future__ import annotations

import csv
import hashlib
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import click

from lorelake import settings as settings_module
from lorelake.content.redaction import Redactor
from lorelake.events import days as event_days
from lorelake.events.people import directory
from lorelake.evidence import days as evidence_days
from lorelake.evidence.gates import admit
from lorelake.formats import registry
from lorelake.lake import Lake, frame, read_table, write_table
from lorelake.landing import discover
from lorelake.raw import intake
from lorelake.settings import Settings, Source, Team
from lorelake.tables import LEDGER, SESSIONS, SIGNALS
from lorelake_assets.resources import day_inputs

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
SAMPLE = ROOT / "tests" / "samples" / "team" / "lorelake.toml"
LABELS = Path(__file__).with_name("kept.csv")
Row = Mapping[str, Any]


def labels(corpus: str) -> dict[str, bool]:
    """Id (of an event, or `unit_key`) to whether it is worth keeping."""
    with LABELS.open(encoding="utf-8", newline="") as file:
        return {row["id"]: row["keep"] == "1" for row in csv.DictReader(file) if row["corpus"] == corpus}


def unit_key(unit_id: str) -> str:
    """What a label calls a unit by: 32 hex of the sha256 of its id."""
    return hashlib.sha256(unit_id.encode()).hexdigest()[:32]


@dataclass
class Score:
    """Labelled ids that were kept rightly, kept wrongly, and missed; admitted signals by kind, right and wrong."""

    right: int = 0
    wrong: int = 0
    missed: list[str] = field(default_factory=list)
    wrongly: list[str] = field(default_factory=list)
    by_kind: Counter[tuple[str, bool]] = field(default_factory=Counter)
    unlabelled: int = 0

    @property
    def precision(self) -> float:
        """Of the labelled ids that were kept, the share worth keeping."""
        return self.right / max(1, self.right + self.wrong)

    @property
    def recall(self) -> float:
        """Of the labelled ids worth keeping, the share that was kept."""
        return self.right / max(1, self.right + len(self.missed))


def score(signals: Sequence[Row], admissions: Sequence[Row], judged: Mapping[str, bool]) -> Score:
    """Hold what the gates admitted against judgements."""
    admitted = {row["signal_id"] for row in admissions if row["admitted"]}
    found = Score()
    kept: set[str] = set()
    for row in signals:
        if row["signal_id"] not in admitted:
            continue
        names = [name for name in _names(row) if name in judged]
        kept.update(names)
        if names:
            found.by_kind[row["kind"], judged[names[0]]] += 1
        else:
            found.unlabelled += 1
    found.right = sum(judged[name] for name in kept)
    found.wrong = len(kept) - found.right
    found.wrongly = sorted(name for name in kept if not judged[name])
    found.missed = sorted(name for name, keep in judged.items() if keep and name not in kept)
    return found


def _names(row: Row) -> list[str]:
    """What a label may call the thing a signal was drawn from, the most exact first."""
    seen = json.loads(row["payload"]).get("seen") or {}
    names = [row["event_id"], seen.get("comment"), *(seen.get("events") or ()), unit_key(row["unit_id"])]
    return [name for name in names if isinstance(name, str)]


def derive(settings: Settings, as_of: date, root: Path) -> tuple[list[Row], list[Row]]:
    """(signals, admissions) of some sources: a night's stages up to the gates, without an orchestrator."""
    lake, redactor = Lake(root), Redactor(b"a key for measuring, nothing else")
    found = discover.captures(settings)
    intake.save(lake, intake.plan(lake, as_of, found.captures, found.refusals, redactor, registry.by_name))
    plan = intake.load(lake)
    for day in plan.days:
        intake.apply_day(lake, day, plan)
    intake.close(lake, plan)
    inputs = day_inputs(lake, settings, as_of)
    event_days.derive_days(lake, event_days.stale_days(lake, inputs), inputs, registry.by_name)
    sessions = event_days.sessions(lake, inputs)
    write_table(SESSIONS, sessions, lake.table(SESSIONS))
    names = directory(settings, event_days.slack_users(event_days.scan_raw(lake)), redactor)
    ledger = frame(LEDGER, event_days.ledger(lake, names, settings, as_of))
    evidence_days.derive_days(lake, sessions)
    signals = read_table(SIGNALS, lake.days(SIGNALS))
    rows = signals.to_dicts()
    return rows, admit(rows, evidence_days.gate_context(lake, sessions, ledger, signals))


def corpus(name: str, root: Path) -> tuple[list[Row], list[Row]]:
    """(signals, admissions) of `data` or `sample`."""
    if name == "sample":
        settings = settings_module.load(SAMPLE)
        return derive(settings, settings.nightly.as_of or date.max, root)
    source = Source(str(DATA), project="cli", person="sam")
    return derive(Settings(team=Team("t"), sources=(source,), folder=str(DATA.parent)), date(2026, 11, 29), root)


def main(names: Sequence[str]) -> None:
    """Print the figures of each corpus."""
    for name in names or ("sample", *(("data",) if DATA.is_dir() else ())):
        with tempfile.TemporaryDirectory() as folder:
            signals, admissions = corpus(name, Path(folder))
        judged = labels(name)
        found = score(signals, admissions, judged)
        click.echo(f"{name}: {len(judged)} labels, {sum(judged.values())} worth keeping")
        click.echo(f"  precision {found.precision:.2f} ({found.right} of {found.right + found.wrong})")
        click.echo(f"  recall {found.recall:.2f} ({found.right} of {found.right + len(found.missed)})")
        for kind in sorted({kind for kind, _ in found.by_kind}):
            right, wrong = found.by_kind[kind, True], found.by_kind[kind, False]
            click.echo(f"  {kind:<18}{right:>4} right{wrong:>4} wrong")
        click.echo(f"  admitted without a label: {found.unlabelled}")
        click.echo(f"  missed: {' '.join(found.missed)}\n  wrongly kept: {' '.join(found.wrongly)}")


if __name__ == "__main__":
    main(sys.argv[1:])
