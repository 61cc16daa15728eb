"""`lorelake nightly`: the whole pipeline once, in this process."""

from __future__ import annotations

import os
import sys
from datetime import date, datetime
from pathlib import Path

import click

from lorelake import settings as settings_module
from lorelake.errors import UsageError
from lorelake.lake import Lake, damaged
from lorelake.settings import FILE_NAME, HOME_VARIABLE, Settings
from lorelake_assets import second_process

EXAMPLE = Path("tests") / "samples" / "team" / FILE_NAME


@click.command()
@click.option(
    "--settings", "settings_path", type=click.Path(dir_okay=False, path_type=Path), help="lorelake.toml to use."
)
@click.option("--as-of", type=click.DateTime(["%Y-%m-%d"]), help="Day to look at. Default: the last complete UTC day.")
@click.option("--example", is_flag=True, help="Run on the bundled example team, whatever lies here.")
@click.option("--allow-shrink", is_flag=True, help="Publish even if more than a fifth of the rows are gone.")
def nightly(settings_path: Path | None, as_of: datetime | None, example: bool, allow_shrink: bool) -> None:
    """Run the whole pipeline once and publish a release.

    Reads the sources in ./lorelake.toml (make one with `lorelake init`); without that file, those of the
    bundled example team. What is refused is counted with a reason; a failed check leaves the served release
    as it was. Running it again for the same day with nothing new publishes nothing.
    """
    path, home = settings_and_home(settings_path, example)
    settings = settings_module.load(path)
    with second_process.running():
        try:
            _night(settings, path, home, as_of.date() if as_of else None, allow_shrink)
        except Exception as error:
            bad = Lake(Path(home) if home else settings.lake_root).damaged()
            raise (damaged(bad) if bad else error) from None


def settings_and_home(settings_path: Path | None, example: bool) -> tuple[Path, str]:
    """(settings file, lake folder or ""). The example's lake lies where its reader looks: here, not in the samples."""
    if settings_path and example:
        raise UsageError("--settings and --example exclude each other")
    bundled = Path(__file__).resolve().parents[2] / EXAMPLE
    own = (settings_path or Path(FILE_NAME)).resolve()
    if bundled.exists():
        (bundled.parent / "example.key").chmod(0o600)  # Git keeps no such mode, and the redactor insists on it
    if not example and (settings_path or own.exists()):
        return own, ""
    if not bundled.exists():
        raise UsageError(
            f"no {FILE_NAME} here, and no example team in this install", remedy="run `lorelake init` first"
        )
    return bundled, os.environ.get(HOME_VARIABLE) or str(Path("lake").resolve())


def _night(settings: Settings, path: Path, home: str, as_of: date | None, allow_shrink: bool) -> None:
    from lorelake_assets import prepare, run, summary
    from lorelake_assets.resources import Night

    day = as_of or prepare.default_as_of(settings)
    if day > prepare.today():
        raise UsageError(f"{day} lies ahead", where="--as-of", remedy="leave it out to look at the last complete day")
    night = Night(settings_path=str(path), home=home, as_of=day.isoformat(), allow_shrink=allow_shrink)
    summary.opening(night, pinned=as_of is None and settings.nightly.as_of is not None)
    with night.lake.writing():
        work = prepare.prepare(night, summary.progress(sys.stderr.isatty()))
    served = prepare.served_already(night.lake, work)
    if served is None:
        run.run(night, work)
    summary.closing(night, work.plan, new=served is None, example=path.parts[-4:] == (*EXAMPLE.parts[:-1], FILE_NAME))
