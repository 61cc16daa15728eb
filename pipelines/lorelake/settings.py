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
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from lorelake.errors import SettingsError

FILE_NAME = "lorelake.toml"
HOME_VARIABLE = "LORELAKE_HOME"
LOGIC_VERSION = "4"
"""Part of every input hash: a change of any derivation rule raises it and rebuilds all days."""

CONSTANTS: dict[str, int | float] = {
    "candidate_silent_days": 90,  # a candidate nobody reviewed or repeated for so long expires
    "corroborating_people": 2,
    "corroborating_families": 2,
    "refuting_people": 2,  # one person's word asks for a ruling, it takes away nothing for good
    "mechanical_families": 3,  # a machine's word needs more sessions than a person's
    "confidence_half_life_days": 180,
    "degraded_share": 0.02,  # refused records, apart from those refused by policy, above which a source is degraded
    "failed_share": 0.5,
    "silent_after_days": 7,  # a source that paused no longer than this is never called silent
    "silent_gap_factor": 3,  # else it is, once its pause is so many times its longest of the four weeks before
}


class Team(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who the lake belongs to; another team's settings are refused by a lake that has an id."""

    id: Annotated[str, Meta(description="short name of the team; stands in the manifest of every release")]
    name: Annotated[str, Meta(description="the team's name as people write it")] = ""


class Source(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file or folder to read. `project` and `person` are assumptions for files that state neither."""

    path: Annotated[
        str,
        Meta(description="file, folder, archive, Git repository or `s3://bucket/prefix`; content decides the format"),
    ]
    project: Annotated[str | None, Meta(description="project assumed, and marked so, where a record states none")] = (
        None
    )
    person: Annotated[str | None, Meta(description="person assumed, and marked so, where a record states none")] = None


class Person(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One person (or bot) and the names under which sources know them."""

    id: Annotated[str, Meta(description="the name every table uses for this person")]
    name: Annotated[str, Meta(description="the name as people write it")] = ""
    kind: Annotated[
        Literal["human", "agent", "bot"], Meta(description="only a human's words make a learning active")
    ] = "human"
    emails: Annotated[tuple[str, ...], Meta(description="addresses in commits and sources, in any case")] = ()
    logins: Annotated[
        tuple[str, ...],
        Meta(description="logins at GitHub and GitLab, in any case; `id:<number>` as GitLab exports name people"),
    ] = ()
    slack: Annotated[tuple[str, ...], Meta(description="Slack user ids (`U…`)")] = ()


class Project(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One project and the remotes or folder names under which sources know it."""

    id: Annotated[str, Meta(description="the name every table uses for this project")]
    remotes: Annotated[tuple[str, ...], Meta(description="its Git remotes, as SSH or HTTPS address")] = ()
    folders: Annotated[tuple[str, ...], Meta(description="names of checkouts whose remote is not recorded")] = ()


class Slack(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which conversations of an export are read; what is not listed here is skipped and counted."""

    include: Annotated[
        tuple[Literal["public", "private", "dm"], ...],
        Meta(description="kinds of conversation; unknown privacy counts as private"),
    ] = ("public",)


class Archives(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a zip or tar.gz among the sources may hold; one that holds more is refused whole, naming the limit."""

    members: Annotated[int, Meta(description="files in it", ge=1)] = 100_000
    total_mib: Annotated[int, Meta(description="size of all that comes out, in MiB", ge=1)] = 4096
    member_mib: Annotated[int, Meta(description="size of one file that comes out, in MiB", ge=1)] = 512
    ratio: Annotated[int, Meta(description="how many times its packed size may come out, above 1 MiB", ge=1)] = 200


class Redaction(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How personal data is masked. Secrets are always masked."""

    emails: Annotated[Literal["mask", "keep"], Meta(description="what happens to e-mail addresses in texts")] = "mask"
    phones: Annotated[Literal["mask", "keep"], Meta(description="what happens to telephone numbers in texts")] = "mask"
    key_file: Annotated[
        str, Meta(description="key of the marks; made on first use with mode 0600, outside the lake; keep a copy")
    ] = ".lorelake.key"


class Ledger(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where decisions come from: the protected ref of the repositories that hold `decisions/`."""

    ref: Annotated[str, Meta(description="branch whose commits count, here and for documents in Git")] = "main"
    local_person: Annotated[str | None, Meta(description="who decides where decisions lie outside Git")] = None
    folder: Annotated[
        str | None,
        Meta(description="checkout to whose `decisions/` decisions are written; default: the only source that has one"),
    ] = None
    require_signature: Annotated[
        bool, Meta(description="decisions count only from signed commits; that the key is theirs, the forge must check")
    ] = False


class Review(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who may decide, and what must wait for them."""

    require: Annotated[
        Literal["none", "risky", "all"],
        Meta(description="what waits for a person: nothing, what could do harm, everything"),
    ] = "risky"
    reviewers: Annotated[tuple[str, ...], Meta(description="ids of [[people]] whose decisions count")] = ()
    batch_ceiling: Annotated[
        int, Meta(description="how many items of low risk `review approve --low-risk` takes at once, at most", ge=1)
    ] = 20


RevalidateDays = Annotated[
    int, Meta(description="days without new evidence, approval or endorsement after which it expires; 0: never", ge=0)
]


class Revalidate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How long items of each kind hold without support. A decision may set a day of its own."""

    scar: RevalidateDays = 0
    win: RevalidateDays = 0
    pattern: RevalidateDays = 0
    anti_pattern: RevalidateDays = 0
    decision: RevalidateDays = 0
    procedure: RevalidateDays = 0
    preference: RevalidateDays = 0
    fact: RevalidateDays = 0

    def days(self) -> dict[str, int]:
        """Kind to days, of the kinds that expire."""
        named: dict[str, int] = msgspec.to_builtins(self)
        return {kind: days for kind, days in named.items() if days}


class Recall(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What this reader is given: the team's memory and that of these projects. Narrows, never widens."""

    projects: Annotated[
        tuple[str, ...], Meta(description="projects read beside the team's memory; `--project` replaces them")
    ] = ()
    limit: Annotated[int, Meta(description="items in one answer", ge=1)] = 3


class Collect(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where people's machines deliver transcripts to; nothing is sent before a person there enables a project."""

    deliver_to: Annotated[
        str | None,
        Meta(description="folder or `s3://bucket/prefix` offered to who enables a project; by default the lake's own"),
    ] = None


class Extract(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A model that proposes items beside the rules; off without `endpoint` or `command`. Its items wait for review."""

    endpoint: Annotated[
        str | None, Meta(description="base URL of an OpenAI-compatible server, such as `http://localhost:11434/v1`")
    ] = None
    command: Annotated[
        tuple[str, ...],
        Meta(
            description="a local program instead: it reads a question as JSON on stdin and writes its answer to stdout"
        ),
    ] = ()
    model: Annotated[
        str, Meta(description="the model's name, as the endpoint knows it; part of what an answer is kept by")
    ] = ""
    key_variable: Annotated[str | None, Meta(description="environment variable that holds the endpoint's API key")] = (
        None
    )
    private: Annotated[
        bool, Meta(description="also ask about private channels, direct messages and what belongs to one person")
    ] = False
    calls: Annotated[int, Meta(description="questions asked in one night at most", ge=0)] = 200
    tokens: Annotated[
        int, Meta(description="tokens used in one night at most, questions and answers together", ge=0)
    ] = 1_000_000
    concurrency: Annotated[int, Meta(description="questions asked at a time", ge=1, le=64)] = 4
    timeout_seconds: Annotated[float, Meta(description="how long one try may take", gt=0)] = 120
    retries: Annotated[
        int, Meta(description="tries after the first, where the endpoint is busy, failing or silent", ge=0)
    ] = 3


HalfLife = Annotated[
    int,
    Meta(description="days without a word, a decision or a use in which it fades by half; 0: it does not age", ge=0),
]


class Ageing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How fast items of each kind fade in rank; no state and no confidence depends on it."""

    scar: HalfLife = 0
    win: HalfLife = 365
    pattern: HalfLife = 365
    anti_pattern: HalfLife = 730
    decision: HalfLife = 0
    procedure: HalfLife = 365
    preference: HalfLife = 0
    fact: HalfLife = 180


class Nightly(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The day a run looks at."""

    as_of: Annotated[
        date | None, Meta(description="a fixed day (UTC), for examples and tests; without it the last complete UTC day")
    ] = None


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole of lorelake.toml. `folder` is where the file lies; relative paths start there."""

    team: Team
    sources: tuple[Source, ...] = ()
    people: tuple[Person, ...] = ()
    projects: tuple[Project, ...] = ()
    slack: Slack = Slack()
    archives: Archives = Archives()
    redaction: Redaction = Redaction()
    ledger: Ledger = Ledger()
    review: Review = Review()
    recall: Recall = Recall()
    collect: Collect = Collect()
    extract: Extract = Extract()
    ageing: Ageing = Ageing()
    revalidate: Revalidate = Revalidate()
    nightly: Nightly = Nightly()
    home: Annotated[str, Meta(description="the lake's folder; `LORELAKE_HOME` goes before it")] = "lake"
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
        reason = error.strerror if isinstance(error, OSError) else "the text is not UTF-8"
        remedy = "it must be a text file that this user may read"
        raise SettingsError(f"cannot be read: {reason}", where=str(path), remedy=remedy) from None
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(
            f"not valid TOML: {error}",
            where=str(path),
            remedy="mend that line; `lorelake init --force` writes a new file",
        ) from None
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
                f"reviewer `{reviewer}` is not a human in [[people]]",
                where=f"{path}: review.reviewers",
                remedy="add an entry of [[people]] with this id, or take the name out",
            )
