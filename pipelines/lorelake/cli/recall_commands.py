"""`recall`, `check`, `show` and `topics`: what agents and their people ask. Standard library, click, msgspec only."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NoReturn, TypeVar

import click

from lorelake import settings
from lorelake.cli.text_table import on_terminal
from lorelake.content import markers
from lorelake.errors import LorelakeError, UnreachableError
from lorelake.recall import answer
from lorelake.recall.reader import ENGINES, ReleaseReader, find_settings, open_release

Result = TypeVar("Result")


def _reading(command: Callable[..., None]) -> Callable[..., None]:
    """The options that every reading command has."""
    options = [
        click.option("--project", "projects", multiple=True, help="Read this project's memory beside the team's."),
        click.option("--home", type=click.Path(path_type=Path), help="The lake or a synced copy of it."),
        click.option("--json", "as_json", is_flag=True, help="Answer as JSON."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


_engine = click.option(
    "--engine", type=click.Choice(ENGINES), default="lexical", show_default=True, help="Which index to search."
)


@click.command()
@click.argument("question", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(min=1), help="Items to show; default `recall.limit` of the settings, 3.")
@_engine
@_reading
def recall(
    question: tuple[str, ...],
    limit: int | None,
    engine: str,
    projects: tuple[str, ...],
    home: Path | None,
    as_json: bool,
) -> None:
    """Ask memory a question: free text, error output, identifiers.

    Answers RELEVANT, WEAK or NOT_RELEVANT (exit code 0), or UNREACHABLE (exit code 1).
    """
    preferred = _preferred()
    with _open(home, projects, preferred, as_json) as reader:
        found = _reached(lambda: reader.recall(" ".join(question), limit or preferred.limit, engine), as_json)
    click.echo(answer.to_json(found) if as_json else on_terminal(answer.to_text(found)))


@click.command()
@click.argument("question", nargs=-1, required=True)
@_engine
@_reading
def check(question: tuple[str, ...], engine: str, projects: tuple[str, ...], home: Path | None, as_json: bool) -> None:
    """Tell whether memory has an answer, without giving it: nothing counts as shown."""
    with _open(home, projects, _preferred(), as_json) as reader:
        found = _reached(lambda: reader.check(" ".join(question), engine), as_json)
    click.echo(answer.to_json(found) if as_json else on_terminal(answer.verdict_to_text(found)))


@click.command()
@click.argument("item_id")
@_reading
def show(item_id: str, projects: tuple[str, ...], home: Path | None, as_json: bool) -> None:
    """Show one item whole, by its id or a prefix of it; an item that was replaced shows what replaced it."""
    with _open(home, projects, _preferred(), as_json) as reader:
        shown = _reached(lambda: reader.show(item_id), as_json)
        searched = ", ".join(index.audience for index in reader.indexes) or "nothing"
    if shown is None:
        named = " ".join(markers.neutralise(item_id).split())
        raise LorelakeError(f"no item `{named}`", where=f"searched {searched}", remedy="`--project` names another one")
    click.echo(answer.to_json(shown) if as_json else on_terminal(answer.shown_to_text(shown)))


@click.command()
@click.argument("path", default="")
@click.option(
    "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="Topics, and items, to show at most."
)
@_reading
def topics(path: str, limit: int, projects: tuple[str, ...], home: Path | None, as_json: bool) -> None:
    """List what lies under a topic: the topics right below PATH with their counts, and the items right there.

    \b
    lorelake topics                   the kinds: project, path, package, channel, error, person, topic
    lorelake topics path/src/billing  what is known of one folder
    lorelake topics topic/deploy      what is tagged so

    A count is of active items, those further below included, each once. An item may lie under several topics.
    """
    from lorelake.recall import topic_list

    with _open(home, projects, _preferred(), as_json) as reader:
        listed = _reached(lambda: topic_list.topic_list(reader, path, limit), as_json)
    click.echo(topic_list.to_json(listed) if as_json else on_terminal(topic_list.to_text(listed)))


def _preferred() -> settings.Recall:
    """What lorelake.toml here or above says of recall; its defaults where there is none."""
    found = find_settings()
    return settings.load(found).recall if found else settings.Recall()


def _open(home: Path | None, projects: tuple[str, ...], preferred: settings.Recall, as_json: bool) -> ReleaseReader:
    return _reached(lambda: open_release(home, projects=projects or preferred.projects), as_json)


def _reached(ask: Callable[[], Result], as_json: bool) -> Result:
    try:
        return ask()
    except UnreachableError as error:
        _unreachable(error, as_json)


def _unreachable(error: UnreachableError, as_json: bool) -> NoReturn:
    """The fourth answer goes where the others go; the exit code says that it is not one of them."""
    told = answer.Unreachable(error.what, error.where, error.remedy)
    click.echo(answer.to_json(told) if as_json else on_terminal(answer.unreachable_to_text(told)))
    click.get_current_context().exit(1)
