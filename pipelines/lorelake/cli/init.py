"""`lorelake init`: look at what there is to read, and write lorelake.toml."""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lorelake.errors import LorelakeError, UsageError
from lorelake.settings import FILE_NAME, Ledger, Person, Recall, Review, Settings, Source, Team, load

if TYPE_CHECKING:
    from lorelake.landing.discover import Discovery

POINTER = """\
# What else can be set: more [[sources]], [[people]] with their e-mails, logins and Slack ids, [[projects]] with
# their remotes, [slack] include, [redaction], [ledger] ref, [review] require. docs/settings.md lists every key.
"""

HOME = "lake"
"""The default of `home`."""


@click.command()
@click.option("--from", "places", multiple=True, metavar="FOLDER", help="Folder or file to read; may be repeated.")
@click.option(
    "--project", metavar="P", help="Project assumed for what states none; by default the name of its --from folder."
)
@click.option("--person", metavar="W", help="Person assumed for what states none, who also decides.")
@click.option("--team", metavar="ID", help="Id of the team; by default the name of this folder.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--force", is_flag=True, help="Replace an existing lorelake.toml.")
def init(
    places: tuple[str, ...], project: str | None, person: str | None, team: str | None, yes: bool, force: bool
) -> None:
    """Write lorelake.toml for this folder, from the agents' stores on this machine or from given folders.

    What belongs to no project is served to nobody. Transcripts tell theirs; notes and exports often do not, so a
    project is assumed for what lies in a given folder.
    """
    person = person or None
    target = Path.cwd() / FILE_NAME
    if target.exists() and not force:
        raise LorelakeError("there is one already", where=str(target), remedy="edit it, or replace it with --force")
    if not (yes or _at_terminal()):
        raise UsageError("nobody is here to confirm what will be read", remedy="look first, then run it with --yes")
    sources = tuple(
        Source(path, project or (_id(Path(path).expanduser().resolve().stem) if places else None), person)
        for path in _places(places)
    )
    settings = _settings(team or _id(target.parent.name), sources, person)
    for line in _told(_look(settings), settings, person):
        click.echo(line)
    if not yes and not click.confirm(f"Write {FILE_NAME} to read this every night?", default=True):
        raise LorelakeError("nothing was written", remedy="name other folders with --from")
    _write(target, settings)
    click.echo(f"\nWrote {FILE_NAME}. Next: lorelake nightly")


def _at_terminal() -> bool:
    return sys.stdin.isatty()


def _places(places: Sequence[str]) -> list[str]:
    """The paths to read as the settings file will hold them."""
    missing = [place for place in places if not Path(place).expanduser().exists()]
    if missing:
        raise UsageError(f"no such file or folder: {', '.join(missing)}", where="--from")
    if places:
        return list(dict.fromkeys(places))
    from lorelake.landing.agent_stores import stores

    found = []
    for store in stores():
        state = f"{store.files} transcripts, {store.size / 1e6:.1f} MB" if store.found else "not on this machine"
        click.echo(f"{store.agent:<12} {store.path}: {state}")
        if store.files:
            found.append(str(store.path))
    if not found:
        raise LorelakeError("no agent transcripts were found on this machine", remedy="name folders with --from FOLDER")
    return found


def _home(team: str) -> str:
    """`lake`, or a name of its own where another team's lies there, as after a first look at the example."""
    from lorelake.lake import Lake

    return HOME if Lake(Path.cwd() / HOME).team() in (None, team) else f"{HOME}-{team}"


def _settings(team: str, sources: tuple[Source, ...], person: str | None) -> Settings:
    if person is None:
        people: tuple[Person, ...] = ()
    else:
        people = (Person(person, emails=(person,) if "@" in person else ()),)
    return Settings(
        team=Team(team),
        sources=sources,
        people=people,
        recall=Recall(projects=tuple(dict.fromkeys(source.project for source in sources if source.project))),
        ledger=Ledger(local_person=person),
        review=Review(reviewers=(person,) if person else ()),
        home=_home(team),
        folder=str(Path.cwd()),
    )


def _id(name: str) -> str:
    """A short name of what a folder is called."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "team"


def _look(settings: Settings) -> Discovery:
    from lorelake.landing.discover import captures

    if sys.stderr.isatty():
        click.echo("Looking through " + ", ".join(source.path for source in settings.sources) + " …", err=True)
    return captures(settings)


def _told(found: Discovery, settings: Settings, person: str | None) -> Iterator[str]:
    """What was found, by format; what is refused, by reason; and what is assumed."""
    from lorelake.cli.text_table import count, plain
    from lorelake.formats.record import REASONS
    from lorelake.formats.registry import FORMATS, by_name

    captures: Counter[str] = Counter(name for name, _ in found.captures)
    files: Counter[str] = Counter()
    for name, capture in found.captures:
        files[name] += len(capture.members)
    yield "" if captures else "Nothing here is in a format that is read."
    for name in sorted(captures, key=FORMATS.index):
        yield f"{name:<12} {count(captures[name], 'capture')} of {count(files[name], 'file')}: {by_name(name).SEEN}"
    refused: dict[str, list[str]] = defaultdict(list)
    for _, name, refusal in found.refusals:
        refused[refusal.reason].append(name)
    if refused:
        yield "\nNot read:"
    for reason, names in sorted(refused.items()):
        yield f"  {reason} ({REASONS[reason]}): {count(len(names), 'file')}, such as {plain(names[0])}"
    assumed = [f"project {project}" for project in settings.recall.projects] + ([f"person {person}"] if person else [])
    if settings.home != HOME:
        yield f"\n./{HOME} belongs to another team; this one's memory will lie in ./{settings.home}"
    if assumed:
        yield f"\nWhere a source states neither, this is assumed, and marked so: {', '.join(assumed)}"


def _write(target: Path, settings: Settings) -> None:
    """Write the file and read it back: what cannot be loaded is never left behind."""
    from lorelake.lake import write_bytes

    draft = target.with_name(f".{target.name}.draft")
    try:
        write_bytes(draft, render(settings).encode())
        load(draft)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def render(settings: Settings) -> str:
    """The settings that `init` makes, as TOML."""
    lines = [f"home = {_quoted(settings.home)}", ""] if settings.home != HOME else []
    lines += ["[team]", f"id = {_quoted(settings.team.id)}", ""]
    for source in settings.sources:
        lines += ["[[sources]]", f"path = {_quoted(source.path)}"]
        lines += [f"project = {_quoted(source.project)}"] if source.project else []
        lines += [f"person = {_quoted(source.person)}"] if source.person else []
        lines.append("")
    for person in settings.people:
        lines += ["[[people]]", f"id = {_quoted(person.id)}"]
        lines += [f"emails = {_listed(person.emails)}"] if person.emails else []
        lines.append("")
    if settings.recall.projects:
        lines += ["[recall]", f"projects = {_listed(settings.recall.projects)}", ""]
    if settings.ledger.local_person:
        lines += ["[ledger]", f"local_person = {_quoted(settings.ledger.local_person)}", ""]
    if settings.review.reviewers:
        lines += ["[review]", f"reviewers = {_listed(settings.review.reviewers)}", ""]
    return "\n".join(lines) + "\n" + POINTER


def _listed(values: Sequence[str]) -> str:
    return f"[{', '.join(map(_quoted, values))}]"


def _quoted(text: str) -> str:
    """A TOML basic string.

    Raises:
        UsageError: the text holds bytes that are not UTF-8, which TOML cannot say.
    """
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise UsageError(f"{text!r} is not UTF-8, so a settings file cannot name it", remedy="rename it")
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda found: f"\\u{ord(found[0]):04x}", escaped) + '"'
