"""`lorelake explain`: everything behind one item or one refused signal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lorelake import settings as all_settings
from lorelake.errors import LorelakeError
from lorelake.recall.reader import ReleaseReader, find_home, find_settings, open_release, release_folder


@click.command()
@click.argument("item_id", metavar="ID")
@click.option("--project", "projects", multiple=True, help="Read this project's memory beside the team's.")
@click.option("--audience", "audiences", multiple=True, help="Exactly these audiences instead, as `channel:C024BE91L`.")
@click.option("--release", "release_id", help="A release id; default the one that is served.")
@click.option("--home", type=click.Path(path_type=Path), help="The lake; default LORELAKE_HOME or the settings'.")
@click.option("--json", "as_json", is_flag=True, help="Answer as JSON.")
def explain(
    item_id: str,
    projects: tuple[str, ...],
    audiences: tuple[str, ...],
    release_id: str | None,
    home: Path | None,
    as_json: bool,
) -> None:
    """Trace ID back to where it comes from: its claims, their signals with the words, the record, the file.

    \b
    lorelake explain lrn_3f9a41c07be2     an item: why it is trusted, why it stands where it stands, what replaced it
    lorelake explain lrn_91d2             any of its aliases, or a prefix that only one id has
    lorelake explain 5be07c11ad3e9f20     a signal, refused ones too: which gate refused it, and what the others saw

    Ids of items are in every answer of recall; ids of signals in the table `admissions`, by rule:
    `lorelake sql "select signal_id, detail from admissions where rule = 'volatile_fact'"`.

    Where the lake is, all of it is told. A copy of a release tells what its tables hold; a synced copy, which has
    indexes alone, what agents are given. What you may read is the team's memory and that of your projects.
    """
    import msgspec

    root = (home or find_home()).expanduser()
    folder = release_folder(root, release_id)
    found = find_settings()
    chosen = all_settings.load(found) if found else None
    named = projects or (chosen.recall.projects if chosen else ())
    if not (folder / "tables" / "learnings.parquet").exists():
        _from_index(item_id, root, release_id, named, audiences, as_json)
        return
    from lorelake.cli.explain_text import to_text
    from lorelake.cli.explain_trace import Tracer, here_of
    from lorelake.cli.text_table import on_terminal

    traced = Tracer(here_of(root, folder, chosen, named, audiences)).trace(item_id)
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(traced), indent=2).decode())
    else:
        click.echo(on_terminal(to_text(traced)))


def _from_index(
    item_id: str, root: Path, release_id: str | None, projects: tuple[str, ...], audiences: tuple[str, ...],
    as_json: bool,
) -> None:  # fmt: skip
    """What an index alone tells."""
    from lorelake.cli.text_table import on_terminal
    from lorelake.recall import answer

    with open_release(root, release_id, projects, audiences or None) as reader:
        shown = reader.show(item_id) if item_id.strip().lower().startswith("lrn_") else None
        topics = _topics(reader, shown.learning_id) if shown else set()
        searched = ", ".join(reader.audiences) or "nothing"
    if shown is None:
        raise LorelakeError(
            f"nothing of `{item_id}` is in this copy, which holds what agents read",
            where=f"searched {searched}",
            remedy="signals and what is not served are explained where the lake is; `--project` names another one",
        )
    if as_json:
        import msgspec

        whole: dict[str, Any] = {"read_from": "an index", "shown": shown, "topics": sorted(topics)}
        click.echo(msgspec.json.format(msgspec.json.encode(whole), indent=2).decode())
        return
    click.echo(on_terminal(answer.shown_to_text(shown)))
    click.echo(_about_index(sorted(topics)))


def _topics(reader: ReleaseReader, learning: str) -> set[str]:
    return {path for index in reader.indexes for path, filed in index.filed() if filed == learning}


def _about_index(topics: list[str]) -> str:
    lines = [f"\nfiled under: {', '.join(topics)}"] if topics else [""]
    lines += [
        "This copy holds what agents read: the item, its verified quotes and where they lie.",
        "Signals, gates and history are told by `lorelake explain` where the lake is.",
    ]
    return "\n".join(lines)
