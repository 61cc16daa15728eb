"""`lorelake forget --apply`: erase what decisions on the protected ref say, whole or not at all, and prove it."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import click
import msgspec
import polars as pl

import lorelake
from lorelake.cli.text_table import count
from lorelake.content import erasure_log
from lorelake.content.erasure import Erased, label_of
from lorelake.errors import LorelakeError, UsageError
from lorelake.formats.record import canonical, digest
from lorelake.lake import Lake, read_table
from lorelake.raw import erased as raw
from lorelake.release import erase
from lorelake.release.decoding import decode
from lorelake.release.erased_words import Words
from lorelake.release.proof import Look, prove
from lorelake.settings import Settings
from lorelake.tables import EVENTS, LEDGER, PEOPLE, QUARANTINE, RAW_RECORDS


class Pending(NamedTuple):
    """Decisions to erase that apply and were not carried out: their digests, hashes and places."""

    decisions: tuple[str, ...]
    records: tuple[str, ...]
    persons: tuple[tuple[str, ...], ...]
    places: tuple[str, ...]


def pending(lake: Lake) -> Pending:
    """What waits. A decision counts as the last night's ledger says: on the protected ref, by somebody who may."""
    ledger = read_table(LEDGER, lake.table(LEDGER))
    counts = ledger.filter(pl.col("erase"), pl.col("decision") == "forget", pl.col("verdict") == "applies")
    files = [path for path in lake.days(RAW_RECORDS) if path.parent.parent.name == "decisions"]
    done = {decision for erasure in erasure_log.read(lake) for decision in erasure.decisions}
    found: dict[str, tuple[dict[str, Any], str]] = {}
    for row in read_table(RAW_RECORDS, files).iter_rows(named=True):
        decision = msgspec.json.decode(row["body"]).get("decision") or {}
        name = digest(canonical(decision))[:32]
        if decision.get("erase") and row["source_uri"] in set(counts["source_uri"]) and name not in done:
            found[name] = decision, row["source_uri"]
    return Pending(
        tuple(sorted(found)),
        tuple(sorted({record for decision, _ in found.values() for record in decision.get("records", ())})),
        tuple(sorted({tuple(sorted(d["persons"])) for d, _ in found.values() if d.get("persons")})),
        tuple(sorted(place for _, place in found.values())),
    )


def apply(settings: Settings, path: Path, key: bytes, yes: bool) -> None:
    """Go on with an erasure that was stopped, else begin one with everything that waits.

    Raises:
        LorelakeError: nothing waits; or something of it is left, or cannot be looked into.
    """
    lake = Lake(settings.lake_root)
    begun = erasure_log.unfinished(lake)
    words: list[str] = []
    in_git: set[str] = set()
    if begun is None:
        waits = pending(lake)
        if not waits.decisions:
            raise LorelakeError(
                "no decision waits that says `erase: true`",
                where=str(lake.root),
                remedy="`lorelake forget --erase` writes one; it counts once a night has seen it on the protected ref",
            )
        kept_out = _all(lake, key, waits)
        found = raw.survey(lake, kept_out)
        in_git = found.in_git
        _show(lake, waits, found)
        _confirm(yes)
        words = _words(lake, settings, kept_out)
        begun = erasure_log.begin(
            lake, key, waits.decisions, waits.records, waits.persons, kept_out.deciders, datetime.now(UTC)
        )
    elif begun.taken is None:
        click.echo(f"going on with erasure {begun.number}, begun {begun.begun:%Y-%m-%d %H:%M} UTC")
        words = _words(lake, settings, erasure_log.load(lake, key))
    begun = carry_out(lake, path, key, begun)
    erasure_log.end(lake, begun, datetime.now(UTC))
    tell_what_is_left(lake, settings, erasure_log.load(lake, key), in_git)
    if words:
        report(prove(lake.root, words), lake.root, len(words), every=False)
    else:
        click.echo("what was erased is gone, words and all, so give words to prove it by: lorelake forget --prove")


def carry_out(lake: Lake, path: Path, key: bytes, begun: erasure_log.Erasure) -> erasure_log.Erasure:
    """Every step but the last, in the order that `release.erase` gives; each may be done again."""
    kept_out = erasure_log.load(lake, key)
    if begun.taken is None:
        with lake.writing():
            taken = raw.take_out(lake, kept_out)
            erase.remove_derived(lake)
            begun = erasure_log.took(lake, begun, datetime.now(UTC))
        click.echo(f"raw: {count(taken.records, 'record')} erased, {count(taken.masked, 'record')} without a name now")
    current = lake.current_release()
    if current is None or erase.erased_since(lake, current):
        _night(path)
    with lake.writing():
        gone = erase.remove_outdated(lake)
        dropped = erase.rewrite_history(lake, kept_out)
        shutil.rmtree(lake.root / "scratch", ignore_errors=True)
    if gone:
        click.echo(f"releases deleted: {', '.join(gone)}")
    click.echo(f"history: {count(dropped, 'row')} dropped; releases older than this erasure are gone")
    home = erase.run_storage()
    if home:
        click.echo(f"Dagster's run storage rewritten: {count(len(erase.rewrite_run_storage(home)), 'file')} in {home}")
    return begun


def _night(path: Path) -> None:
    """The whole job, as `lorelake nightly` runs it; the library does not know who brings that command."""
    context = click.get_current_context().find_root()
    group = context.command
    nightly = group.get_command(context, "nightly") if isinstance(group, click.Group) else None
    if nightly is None:
        remedy = "pip install 'lorelake[pipeline]'"
        raise UsageError("a release must be built anew, and this install cannot", remedy=remedy)
    context.invoke(nightly, settings_path=path, as_of=None, example=False, allow_shrink=True)


def _all(lake: Lake, key: bytes, waits: Pending) -> Erased:
    """What was erased before and what is to be, with whose decisions go on counting."""
    before = erasure_log.load(lake, key)
    labels = {hmac: label_of(person) for person in waits.persons for hmac in person}
    both = Erased(key, before.records | set(waits.records), {**before.persons, **labels}, before.deciders)
    people = read_table(PEOPLE, lake.table(PEOPLE)).filter(pl.col("is_reviewer"))["alias"]
    deciders = {label for alias in people if (label := both.label(alias))}
    return Erased(key, both.records, both.persons, before.deciders | deciders)


def _words(lake: Lake, settings: Settings, kept_out: Erased) -> list[str]:
    """Words to prove it by, while they are still there."""
    aliases = set(read_table(PEOPLE, lake.table(PEOPLE))["alias"])
    aliases |= {name for person in settings.people for name in (*person.emails, *person.logins, *person.slack)}
    if files := lake.days(EVENTS):
        actors = pl.scan_parquet(files).select(pl.col("actor").unique()).collect()["actor"]
        aliases |= {actor.rpartition(":")[2] for actor in actors}
    words = Words(alias for alias in aliases if kept_out.is_anywhere(alias))
    raw.survey(lake, kept_out, lambda found: words.gone(found.lost))
    raw.survey(lake, kept_out, lambda found: words.stays(_texts(found.stay)))
    words.stays([repr(msgspec.structs.replace(settings, people=()))])
    words.stays(_of_programs(lake))
    package = Path(lorelake.__file__).parent
    checkout = [package.parents[1] / name for name in ("models", "expectations", "assets")]
    words.program(root for root in (package, package.parent / "lorelake_assets", *checkout) if root.is_dir())
    return words.words()


def _of_programs(lake: Lake) -> Iterator[str]:
    """What other programs say of themselves in a lake: the parsed SQL project, and how Lance made its indexes."""
    for path in sorted(lake.releases.rglob("metadata.lance")):
        yield path.read_bytes().decode("latin-1")
    for path in sorted(lake.state.glob("manifest-*.msgpack")):
        yield from (text for text in decode(path.name, path.read_bytes()) if isinstance(text, str))


def _texts(rows: pl.DataFrame) -> list[str]:
    names = ("unit_id", "record_id", "source_uri", "project_hint", "person_hint")
    about = [text for name in names for text in rows[name].drop_nulls().unique()]
    about += list(rows["body"])  # as it is stored, where an escape stands before a word
    return about + [text for body in rows["body"] for text in raw.texts_of(msgspec.json.decode(body))]


def _show(lake: Lake, waits: Pending, taken: raw.Taken) -> None:
    click.echo(f"{count(len(waits.decisions), 'decision')} to erase:")
    for place in waits.places:
        click.echo(f"  {place}")
    sources = ", ".join(f"{number} {source}" for source, number in sorted(taken.by_source.items())) or "none"
    click.echo(f"raw: {count(taken.records, 'record')} of {count(len(taken.units), 'unit')} go ({sources})")
    click.echo(f"raw: {count(taken.masked, 'record')} of others lose a name")
    releases = sum(1 for _ in lake.releases.glob("[0-9]*")) if lake.releases.is_dir() else 0
    click.echo(f"a new release is built and published, and then {count(releases, 'release')} deleted")
    click.echo("landing, raw, events, evidence, quarantine, caches, history and run storage are rewritten")
    for uri in sorted(taken.in_git):
        click.echo(f"yours to rewrite in its repository: {uri}")
    click.echo("none of this can be undone")


def _confirm(yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError("nobody is here to confirm an erasure", remedy="give --yes")
    if click.prompt("Type `erase` to go on", default="", show_default=False) != "erase":
        raise LorelakeError("nothing was erased")


def tell_what_is_left(lake: Lake, settings: Settings, kept_out: Erased, in_git: set[str]) -> None:
    """Name what lies outside the lake, which is the team's own to rewrite."""
    refused = read_table(QUARANTINE, lake.table(QUARANTINE)).filter(pl.col("reason") == raw.ERASED)
    outside = refused.filter(~pl.col("capture").str.starts_with("landing"))
    if outside.height:
        click.echo("\noutside the lake, these still hold it; they are kept out of every night, and yours to rewrite:")
        for capture, found in sorted(Counter(outside["capture"]).items()):
            click.echo(f"  {capture}: {count(found, 'record')}")
    if in_git:
        click.echo("of these in repositories, whose history you rewrite, as with git filter-repo:")
        for uri in sorted(in_git):
            click.echo(f"  {uri}")
    listed = [person.id for person in settings.people if kept_out.label(person.id)]
    if listed:
        click.echo(f"lorelake.toml still names {', '.join(listed)} under [[people]]; take the entry out")
    click.echo("Git history of the ledger holds ids and content keys of what was forgotten; it is yours to rewrite")


def report(looks: list[Look], root: Path, words: int, *, every: bool) -> None:
    """Print what a proof looked at.

    Raises:
        LorelakeError: a word was found, or a file could not be decoded.
    """
    shown = looks if every else [look for look in looks if not look.clean]
    for look in shown:
        told = ", ".join([f"word {number}" for number in sorted(look.found)] + look.faults) or "clean"
        where = look.path.relative_to(root).as_posix()
        click.echo(f"  {look.format:<14} {look.texts:>8} texts  {where}: {told}")
    kinds = Counter(look.format for look in looks)
    decoded = ", ".join(f"{number} {form}" for form, number in sorted(kinds.items()))
    click.echo(f"proof: {count(words, 'word')} looked for in {count(len(looks), 'file')}: {decoded}")
    bad = [look for look in looks if not look.clean]
    if bad:
        found, faulty = sum(bool(look.found) for look in bad), sum(bool(look.faults) for look in bad)
        raise LorelakeError(
            f"not proven: {count(found, 'file')} with a word, {count(faulty, 'file')} that cannot be read",
            where=str(root),
            remedy="the list above names them",
        )
    click.echo("proven: every file was decoded, and none of the words is in any")
