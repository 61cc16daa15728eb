"""Who collects, where to, and which project a person means."""

from __future__ import annotations

import getpass
import secrets
import subprocess
from collections.abc import Collection, Sequence
from pathlib import Path

import msgspec

from lorelake.cli.text_table import plain
from lorelake.content.projects import UNKNOWN, canonical_remote
from lorelake.errors import LorelakeError, UsageError
from lorelake.lake import Lake
from lorelake.landing import consent, delivery, sessions
from lorelake.landing.agent_stores import stores
from lorelake.landing.bucket import Bucket, is_url
from lorelake.landing.collect_run import Folders
from lorelake.landing.consent import Personal
from lorelake.landing.survey import Surveyed
from lorelake.settings import FILE_NAME, Settings, load


def identity(given: str, named: Collection[str]) -> str:
    """The identity of a project that a person named.

    Args:
        named: identities of which the last parts are enough, where only one has them.

    Raises:
        UsageError: it is none of these, no checkout and no address.
    """
    if given in named:
        return given
    folder = Path(given).expanduser()
    if folder.is_dir():
        found = sessions.identity(None, [str(folder.resolve())]).project
        if found == UNKNOWN:
            raise UsageError("no project can be called after that folder", where=given, remedy="name a checkout")
        return found
    remote = canonical_remote(given)
    near = sorted(name for name in named if name.endswith("/" + given))
    if remote not in named and len(near) == 1:
        return near[0]
    if remote in named or ("/" in remote and not near):
        return remote
    if near:
        raise UsageError(f"{len(near)} projects end in {given!r}", remedy=f"write its whole name: {', '.join(near)}")
    raise UsageError(
        f"no project of this machine is called {given!r}", remedy="`lorelake collect status` lists what there is"
    )


def projects_of(found: Sequence[Surveyed]) -> set[str]:
    """Identities of the projects that have transcripts here."""
    return {each.place.project for each in found if each.place}


def proposed(folders: Folders, before: Personal | None, deliver_to: str | None, person: str | None) -> Personal:
    """The person's configuration as the options and, at first, the team's settings in this folder would make it."""

    place = _place(deliver_to, Path.cwd(), "--to") if deliver_to else None
    if before is None:
        team = load(Path(FILE_NAME)) if Path(FILE_NAME).exists() else None
        place = place or (_team_place(team) if team else None)
        if place is None:
            raise UsageError("nothing says where to deliver to", remedy="--to FOLDER, or --to s3://bucket/prefix")
        key = team.resolve(team.redaction.key_file) if team else None
        return Personal(
            deliver_to=place,
            person=person or (team and team.ledger.local_person) or _who(),
            machine=secrets.token_hex(4),
            key_file=str(key if key and key.exists() else folders.config / consent.KEY_NAME),
            emails=team.redaction.emails if team else "mask",
            phones=team.redaction.phones if team else "mask",
        )
    if place and place != before.deliver_to and (before.projects or before.withdrawing):
        names = ", ".join(sorted({*before.enabled(), *before.withdrawing}))
        raise LorelakeError(
            f"all that is enabled goes to one place, {shown(before.deliver_to)}",
            remedy=f"disable or withdraw first: {names}",
        )
    place = place or before.deliver_to
    former = tuple(dict.fromkeys((*before.former, before.deliver_to))) if place != before.deliver_to else before.former
    return msgspec.structs.replace(before, deliver_to=place, person=person or before.person, former=former)


def _place(given: str, base: Path, where: str) -> str:
    """A place to deliver to, as it is remembered.

    Raises:
        UsageError, SettingsError: it is none, or one that `collect` reads, and would deliver its own copies from.
    """
    if is_url(given):
        Bucket(given)
        return given
    if not given or "://" in given or plain(given) != given:
        raise UsageError("not a place to deliver to", where=where, remedy="name a folder, or s3://bucket/prefix")
    folder = (base / Path(given).expanduser()).resolve()
    for store in stores():
        if folder.is_relative_to(store.path.resolve()):
            raise UsageError(
                f"that is within the folder that {store.agent} keeps its own transcripts in",
                where=str(folder),
                remedy="name another folder",
            )
    return str(folder)


def _team_place(team: Settings) -> str:
    given = team.collect.deliver_to
    if given is None:
        return str(Lake(team.lake_root).landing)
    return _place(given, Path(team.folder), f"{FILE_NAME} [collect] deliver_to")


def shown(place: str) -> str:
    """A place as it may be printed."""

    return delivery.shown(place)


def _who() -> str:
    asked = subprocess.run(["git", "config", "user.email"], capture_output=True, text=True, check=False)
    return asked.stdout.strip() or getpass.getuser()
