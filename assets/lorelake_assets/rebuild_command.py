"""`lorelake rebuild`: derive everything again; with `--verify` elsewhere, to see that the same comes out."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from lorelake import settings as settings_module
from lorelake.cli.text_table import count, terminal_width, text_table
from lorelake.errors import UsageError
from lorelake.events import days as event_days
from lorelake.lake import Lake
from lorelake.release.comparison import Part, compare
from lorelake.release.manifest import read_manifest
from lorelake.settings import Settings
from lorelake.tables import EVENTS, SIGNALS
from lorelake_assets import rebuild as rebuilding
from lorelake_assets import second_process
from lorelake_assets.command import nightly, settings_and_home
from lorelake_assets.resources import Night

ONLY_A_FAULT = "code, settings and captures are those of the release: the same should have come of them"


@click.command()
@click.option(
    "--settings", "settings_path", type=click.Path(dir_okay=False, path_type=Path), help="lorelake.toml to use."
)
@click.option("--verify", is_flag=True, help="Rebuild the served release elsewhere and compare; changes nothing.")
@click.option(
    "--into", type=click.Path(path_type=Path), help="With --verify: an empty folder to rebuild in, and to keep."
)
@click.option("--example", is_flag=True, help="The bundled example team, whatever lies here.")
@click.pass_context
def rebuild(context: click.Context, settings_path: Path | None, verify: bool, into: Path | None, example: bool) -> None:
    """Derive every day again, and publish what comes of it if it is new.

    With --verify nothing here is touched: from raw, ledger and history alone, in another folder, everything is derived
    as of the served release's day, and every table and index is compared with what is served. Sources and landing
    need not be there any more. Exits 0 where all is the same, else 1.
    """
    path, home = settings_and_home(settings_path, example)
    settings = settings_module.load(path)
    lake = Lake(Path(home) if home else settings.lake_root)
    if not verify:
        if into is not None:
            raise UsageError("--into goes with --verify")
        with lake.writing():
            for derived in (EVENTS, SIGNALS):
                event_days.remember(lake, derived.name, {})
        context.invoke(nightly, settings_path=settings_path, example=example)
        return
    with _place(into) as place, second_process.running():
        rebuilding.refuse_place(lake, place)
        same = _verify(lake, settings, path, Lake(place))
    if into is not None:
        click.echo(f"kept in {into}: it holds raw records; delete it when you have looked")
    if not same:
        context.exit(1)


@contextmanager
def _place(into: Path | None) -> Iterator[Path]:
    if into is not None:
        yield into
        return
    with tempfile.TemporaryDirectory(prefix="lorelake-rebuild-") as folder:
        yield Path(folder)


def _verify(lake: Lake, settings: Settings, path: Path, into: Lake) -> bool:
    """Whether the rebuilt release is the served one; prints every table."""
    with lake.reading():
        release = rebuilding.served_manifest(lake, settings)
        source = rebuilding.lay_out(lake, into, release)
    click.echo(
        f"rebuilding {release.release_id} from {count(source.rows, 'raw record')} of {count(len(source.days), 'day')},"
        f" {source.size / 1e6:.1f} MB; takes about {_told(source.seconds)}"
    )
    night = Night(settings_path=str(path), home=str(lake.root), as_of=release.as_of.isoformat())
    folder = rebuilding.derive(night, into, source.days)
    parts = compare(lake.releases / release.release_id, folder)
    columns = ("table", "", "served", "rebuilt", "what differs")
    click.echo(text_table(columns, [_row(part) for part in parts], terminal_width()))
    hashed = read_manifest(folder).content_hash
    differing = [part for part in parts if not part.same and part.hashed]
    if not differing and hashed == release.content_hash:
        click.echo(f"\nthe same: content hash {hashed}")
        return True
    for part in differing:
        click.echo(f"\n{part.name}: {part.differing} differ")
        for key in part.keys:
            click.echo(f"  {key}")
    if not differing:
        click.echo("\nwhat is shown is the same, the content hash is not: rows of private audiences differ")
    for why in rebuilding.why_differing(lake, release, settings) or [ONLY_A_FAULT]:
        click.echo(f"note: {why}")
    return False


def _row(part: Part) -> tuple[object, ...]:
    told = "same" if part.same else "differs" if part.hashed else "differs (not hashed)"
    return part.name, told, *part.rows, part.keys[0] if part.keys else None


def _told(seconds: int) -> str:
    return count(seconds, "second") if seconds < 90 else count(round(seconds / 60), "minute")
