"""The one resource: a night, that is which settings, as of which day. Plain library objects come out of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl

from lorelake import settings as settings_module
from lorelake.content import erasure_log
from lorelake.content.erasure import NOTHING, Erased
from lorelake.content.redaction import Redactor, load_key
from lorelake.events import copies, visibility
from lorelake.events import days as event_days
from lorelake.events.days import Inputs
from lorelake.events.people import directory
from lorelake.formats import registry
from lorelake.lake import Lake
from lorelake.settings import Settings


class Night(dg.ConfigurableResource[Any]):
    """Run config of a nightly run.

    Args:
        settings_path: lorelake.toml.
        home: the lake, where it is not the one the settings name.
        as_of: ISO day the run looks at.
        allow_shrink: publish even if more than a fifth of the rows are gone.
        inputs_sha256: hash of everything this night depends on; kept in the manifest, so that an equal night is known.
    """

    settings_path: str
    as_of: str
    home: str = ""
    allow_shrink: bool = False
    inputs_sha256: str = ""

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Iterator[Night]:
        """Hold the lake for the whole run: one writer, whoever started it.

        Raises:
            LakeBusyError: another run holds it.
        """
        with self.lake.writing():
            yield self

    @property
    def settings(self) -> Settings:
        """The typed settings."""
        return settings_module.load(Path(self.settings_path))

    @property
    def lake(self) -> Lake:
        """The lake this night writes."""
        return Lake(Path(self.home) if self.home else self.settings.lake_root)

    @property
    def day(self) -> date:
        """The as-of day."""
        return date.fromisoformat(self.as_of)


def team_key(settings: Settings) -> bytes:
    """The team's key, under which marks and signatures are made."""
    return load_key(settings.resolve(settings.redaction.key_file))


def redactor(settings: Settings) -> Redactor:
    """The redactor of a team: its key and policies."""
    return Redactor(team_key(settings), emails=settings.redaction.emails, phones=settings.redaction.phones)


def erased(lake: Lake, settings: Settings) -> Erased:
    """What was erased from the lake, and is kept out of it. Raises LakeBusyError: an erasure was stopped halfway."""
    erasure_log.check(lake)
    if not erasure_log.read(lake):
        return NOTHING
    return erasure_log.load(lake, load_key(settings.resolve(settings.redaction.key_file)))


def day_inputs(lake: Lake, settings: Settings, as_of: date, raw: pl.LazyFrame | None = None) -> Inputs:
    """What every day of a run shares.

    Args:
        raw: all raw rows, where they are not yet those of the lake (before the intake plan is applied).
    """
    rows = event_days.scan_raw(lake) if raw is None else raw
    people = directory(settings, event_days.slack_users(rows), redactor(settings), erased(lake, settings))
    index = rows.select(event_days.INDEX).collect()
    narrowed = visibility.narrowed(rows, settings.slack.include)
    copied = {**copies.owned_elsewhere(rows), **visibility.deleted_elsewhere(rows)}
    return Inputs(index, people, settings, as_of, narrowed, copied)


def format_of(name: str) -> Any:
    """The format module of a source."""
    return registry.by_name(name)
