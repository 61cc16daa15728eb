"""`release list` and `release verify`: what is published, and whether it is still what was published."""

from __future__ import annotations

from pathlib import Path

import click

from lorelake.cli.text_table import terminal_width, text_table
from lorelake.errors import ReleaseError, UsageError
from lorelake.lake import Lake
from lorelake.recall.reader import find_home

NONE_HERE = "no release is published here"
MAKE_ONE = "set LORELAKE_HOME or give --home; a first `lorelake nightly` publishes a release"


@click.group()
def release() -> None:
    """List and verify releases."""


_home = click.option(
    "--home", type=click.Path(path_type=Path), help="The lake; default LORELAKE_HOME or the settings'."
)


def _lake(home: Path | None) -> Lake:
    return Lake((home or find_home()).resolve())


@release.command("list")
@_home
@click.option("--json", "as_json", is_flag=True, help="Manifests as JSON, one a line.")
def list_(home: Path | None, as_json: bool) -> None:
    """Every published release, oldest first; `*` marks the one that is served."""
    import msgspec

    from lorelake.release.history import switches
    from lorelake.release.publish import list_releases

    lake = _lake(home)
    manifests = list_releases(lake)
    if as_json:
        for manifest in manifests:
            click.echo(msgspec.json.encode(msgspec.structs.replace(manifest, files={})))
        return
    if not manifests:
        raise ReleaseError(NONE_HERE, where=str(lake.root), remedy=MAKE_ONE)
    served = lake.current_release()
    past = switches(lake)
    rows = [
        (
            "*" if manifest.release_id == served else "",
            manifest.release_id,
            manifest.as_of,
            past[manifest.release_id].published_at.strftime("%Y-%m-%d %H:%M") if manifest.release_id in past else "",
            sum(manifest.active.values()),
            len(manifest.active),
            manifest.quarantined,
            ", ".join(manifest.warnings),
            past[manifest.release_id].told if manifest.release_id in past else "",
        )
        for manifest in manifests
    ]
    names = ("", "release", "as of", "published (UTC)", "active", "audiences", "quarantined", "warnings", "changed")
    click.echo(text_table(names, rows, terminal_width()))


@release.command()
@click.argument("release_id", required=False)
@_home
def verify(release_id: str | None, home: Path | None) -> None:
    """Hash every file of a release (default: of all, and look at CURRENT) against its manifest."""
    from lorelake.release import publish

    lake = _lake(home)
    if not publish.list_ids(lake):
        raise ReleaseError(NONE_HERE, where=str(lake.root), remedy=MAKE_ONE)
    if release_id is None:
        looked_at = publish.list_ids(lake)
        problems = publish.verify_lake(lake)
    else:
        if release_id not in publish.list_ids(lake):
            raise UsageError(f"no release `{release_id}`", where=str(lake.root), remedy="`lorelake release list`")
        looked_at = [release_id]
        found = publish.verify(lake.releases / release_id)
        problems = {release_id: found} if found else {}
    for name, found in problems.items():
        for problem in found:
            click.echo(f"{name}: {problem}", err=True)
    if problems:
        raise ReleaseError(
            f"not what was published: {', '.join(problems)}",
            where=str(lake.root),
            remedy="the next `lorelake nightly` with anything new publishes a whole one; restore this one from a copy",
        )
    click.echo(f"{len(looked_at)} release{'' if len(looked_at) == 1 else 's'} verified")


@release.command()
@click.argument("release_id")
@click.option("--settings", "settings_path", type=click.Path(path_type=Path), help="Default: ./lorelake.toml.")
def rollback(release_id: str, settings_path: Path | None) -> None:
    """Serve an earlier release again; refused where it says what was rejected or forgotten since."""
    from lorelake import settings as settings_module
    from lorelake.release.rollback import rollback as roll_back

    settings = settings_module.load(settings_path or Path(settings_module.FILE_NAME))
    lake = Lake(settings.lake_root)
    with lake.writing():
        done = roll_back(lake, settings.team.id, release_id)
    click.echo(f"release {done.release_id} is served" + ("" if done.new else ", as before"))
