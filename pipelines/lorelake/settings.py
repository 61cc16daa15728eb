"""lorelake.toml as typed settings, and every constant that more than one stage needs.

Unknown keys and wrong types are refused with the path inside the file. A setting exists once something
reads it. Constants that SQL needs too are in `CONSTANTS` and are rendered into dbt vars from here.
"""

from __future__ import annotations

import os
import re
import tomllib
from datetime import date
from pathlib import Path
from typing import Literal

import msgspec

from lorelake.errors import SettingsError

FILE_NAME = "lorelake.toml"
HOME_VARIABLE = "LORELAKE_HOME"
LOGIC_VERSION = "1"
"""Part of every input hash: a change of any derivation rule raises it and rebuilds all days."""

CONSTANTS: dict[str, int | float] = {
    "candidate_silent_days": 90,  # a candidate nobody reviewed or repeated for so long expires
    "corroborating_people": 2,
    "corroborating_families": 2,
    "mechanical_families": 3,  # a machine's word needs more sessions than a person's
    "confidence_half_life_days": 180,
}


class Team(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who the lake belongs to; another team's settings are refused by a lake that has an id."""

    id: str
    name: str = ""


class Source(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file or folder to read. `project` and `person` are assumptions for files that state neither."""

    path: str
    project: str | None = None
    person: str | None = None


class Person(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One person (or bot) and the names under which sources know them."""

    id: str
    name: str = ""
    kind: Literal["human", "agent", "bot"] = "human"
    emails: tuple[str, ...] = ()
    logins: tuple[str, ...] = ()
    slack: tuple[str, ...] = ()


class Project(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One project and the remotes or folder names under which sources know it."""

    id: str
    remotes: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


class Slack(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which conversations of an export are read; what is not listed here is skipped and counted."""

    include: tuple[Literal["public", "private", "dm"], ...] = ("public",)


class Redaction(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How personal data is masked, and where the key of the marks lies (0600, outside the lake)."""

    emails: Literal["mask", "keep"] = "mask"
    phones: Literal["mask", "keep"] = "mask"
    key_file: str = ".lorelake.key"


class Ledger(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where decisions come from: the protected ref of the repositories that hold `decisions/`."""

    ref: str = "main"
    local_person: str | None = None


class Review(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who may decide, and what must wait for them."""

    require: Literal["none", "risky", "all"] = "risky"
    reviewers: tuple[str, ...] = ()


class Recall(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What this reader is given: the team's memory and that of these projects. Narrows, never widens."""

    projects: tuple[str, ...] = ()
    limit: int = 3


class Nightly(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`as_of` pins the day a run looks at; without it the last complete UTC day is taken."""

    as_of: date | None = None


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole of lorelake.toml. `folder` is where the file lies; relative paths start there."""

    team: Team
    sources: tuple[Source, ...] = ()
    people: tuple[Person, ...] = ()
    projects: tuple[Project, ...] = ()
    slack: Slack = Slack()
    redaction: Redaction = Redaction()
    ledger: Ledger = Ledger()
    review: Review = Review()
    recall: Recall = Recall()
    nightly: Nightly = Nightly()
    home: str = "lake"
    folder: str = "."

    def resolve(self, path: str) -> Path:
        """A path of the settings file as an absolute path."""
        return (Path(self.folder) / Path(path).expanduser()).resolve()

    @property
    def lake_root(self) -> Path:
        """`LORELAKE_HOME` if set, else `home` beside the settings file."""
        chosen = os.environ.get(HOME_VARIABLE)
        return Path(chosen).expanduser().resolve() if chosen else self.resolve(self.home)


def load(path: Path) -> Settings:
    """Read one settings file.

    Raises:
        SettingsError: with file, place and remedy, when it is missing, not TOML, or does not fit.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise SettingsError("no settings file", where=str(path), remedy="run `lorelake init` first") from None
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"cannot be read: {error}", where=str(path)) from None
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"not valid TOML: {error}", where=str(path)) from None
    if "folder" in values:
        raise SettingsError("unknown key `folder`", where=str(path), remedy="remove it")
    values["folder"] = str(path.resolve().parent)
    try:
        settings = msgspec.convert(values, Settings)
    except msgspec.ValidationError as error:
        raise SettingsError(
            _plain(str(error)), where=str(path), remedy="docs/settings.md lists every key with its type"
        ) from None
    _check_names(settings, path)
    return settings


def _plain(message: str) -> str:
    """msgspec's message in the words of a settings file: ``unknown key `x` in `slack` ``."""
    unknown = re.match(r"Object contains unknown field `([^`]+)`(?: - at `\$\.?([^`]*)`)?", message)
    if unknown:
        inside = f" in `{unknown[2]}`" if unknown[2] else ""
        return f"unknown key `{unknown[1]}`{inside}"
    return re.sub(r" - at `\$\.?([^`]*)`", r" at `\1`", message).replace("Object missing", "missing")


def _check_names(settings: Settings, path: Path) -> None:
    seen: dict[str, str] = {}
    for person in settings.people:
        for name in (*person.emails, *person.logins, *person.slack):
            if seen.setdefault(name.lower(), person.id) != person.id:
                raise SettingsError(
                    f"`{name}` belongs to two people: {seen[name.lower()]} and {person.id}",
                    where=str(path),
                    remedy="give each e-mail, login and Slack id to one entry of [[people]]",
                )
    listed = {person.id for person in settings.people if person.kind == "human"}
    for reviewer in settings.review.reviewers:
        if reviewer not in listed:
            raise SettingsError(
                f"reviewer `{reviewer}` is not a human in [[people]]", where=f"{path}: review.reviewers"
            )
