"""What one person agreed to on one machine: which projects may be collected, where to, and under which name.

It lies in the person's own configuration folder. No repository and no team's settings can widen it: a project is
consented to by its recorded remote or folder, never by a name that somebody else's settings give it.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from lorelake.content.erasure import Erased
from lorelake.content.redaction import RULES_VERSION, Redactor, load_key
from lorelake.errors import SettingsError
from lorelake.lake import write_bytes
from lorelake.landing import kept_out
from lorelake.landing.delivery import Place

FILE_NAME = "collect.json"
KEY_NAME = "collect.key"


class Consent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One project a person enabled: its identity, the folders known as its checkouts, and since when (UTC)."""

    project: str
    folders: tuple[str, ...]
    since: str


class Personal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole of collect.json.

    `machine` is a random name, so that a delivered file tells machines apart and not what they are called. `key_file`
    is the team's redaction key where the person has it, else one of this machine. `former` are places delivered to
    before; `withdrawing` are projects whose delivered files are still to be deleted there and here.
    """

    deliver_to: str
    person: str
    machine: str
    key_file: str
    emails: Literal["mask", "keep"] = "mask"
    phones: Literal["mask", "keep"] = "mask"
    projects: tuple[Consent, ...] = ()
    former: tuple[str, ...] = ()
    withdrawing: tuple[str, ...] = ()

    def consent(self, project: str) -> Consent | None:
        """What was agreed for a project, or None."""
        return next((given for given in self.projects if given.project == project), None)

    def enabled(self) -> frozenset[str]:
        """Identities of the enabled projects."""
        return frozenset(given.project for given in self.projects)

    def without(self, project: str) -> Personal:
        """The same without one project."""
        rest = tuple(given for given in self.projects if given.project != project)
        return msgspec.structs.replace(self, projects=rest)


class Secret:
    """The keys of one machine, both from one file: for marks in texts, and for names that must not be guessed back.

    Raises:
        SettingsError: the key may be read by others, or cannot be read or made; or it is the team's, and gone.
    """

    def __init__(self, personal: Personal) -> None:
        path = Path(personal.key_file).expanduser()
        if not path.exists() and path.name != KEY_NAME:
            raise SettingsError(
                "the team's redaction key is not there any more",
                where=str(path),
                remedy=f"put it back; or name {KEY_NAME} as key_file in {FILE_NAME}, and everything is delivered again",
            )
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._key = load_key(path)
        self.redactor = Redactor(self._key, personal.emails, personal.phones)
        policy = f"{RULES_VERSION} {personal.emails} {personal.phones} {personal.machine}"
        self.how = self.name("how", policy)
        """Changes with the key, the rules and the policy: what was delivered under another is delivered again."""

    def kept_out(self, place: Place) -> Erased:
        """What the team erased, by the list that lies where this person delivers to; nothing where that is not under
        this key: then raw alone keeps it out."""
        return kept_out.read(place, self._key)

    def name(self, kind: str, value: str | bytes) -> str:
        """16 hex characters that stand for a value and do not tell it."""
        data = value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass")
        return hmac.new(self._key, kind.encode() + b"\0" + data, hashlib.sha256).hexdigest()[:16]


def config_folder(environment: Mapping[str, str] | None = None) -> Path:
    """Where the person's configuration lies: `XDG_CONFIG_HOME`, else ~/.config, and `lorelake` in it."""
    return _base("XDG_CONFIG_HOME", ".config", environment) / "lorelake"


def state_folder(environment: Mapping[str, str] | None = None) -> Path:
    """Where collect remembers what it did: `XDG_STATE_HOME`, else ~/.local/state, and `lorelake/collect` in it."""
    return _base("XDG_STATE_HOME", ".local/state", environment) / "lorelake" / "collect"


def _base(variable: str, default: str, environment: Mapping[str, str] | None) -> Path:
    given = os.environ if environment is None else environment
    stated = given.get(variable, "")
    return Path(stated) if os.path.isabs(stated) else Path(given.get("HOME") or Path.home()) / default


def load(folder: Path) -> Personal | None:
    """The person's configuration, or None where none was made yet.

    Raises:
        SettingsError: it cannot be read. Nothing is collected on the strength of a damaged consent.
    """
    path = folder / FILE_NAME
    try:
        return msgspec.json.decode(path.read_bytes(), type=Personal)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise SettingsError(
            f"cannot be read: {why}",
            where=str(path),
            remedy="mend it, or remove it and enable your projects again; nothing is sent meanwhile",
        ) from None


def save(folder: Path, personal: Personal) -> None:
    """Write the configuration, readable by its owner only."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    data = msgspec.json.format(msgspec.json.encode(personal), indent=2) + b"\n"
    write_bytes(folder / FILE_NAME, data, mode=0o600)


def stamp(folder: Path) -> tuple[int, int] | None:
    """What changes whenever the configuration does: a run asks before each file whether it still holds."""
    try:
        status = (folder / FILE_NAME).stat()
    except FileNotFoundError:
        return None
    return status.st_mtime_ns, status.st_ino
