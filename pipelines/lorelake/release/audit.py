"""Look at exactly what will be served, through the reader that will serve it, and say what must hold it back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from lorelake import served
from lorelake.errors import UnreachableError
from lorelake.formats.record import digest
from lorelake.recall import lance
from lorelake.recall.reader import ReleaseReader
from lorelake.release.audit_tables import Frames, check_tables, error, read_tables, some
from lorelake.release.audit_words import Items, check_words
from lorelake.release.build import TABLES_FOLDER, redactor
from lorelake.release.index import index_text
from lorelake.release.verdict import Finding
from lorelake.settings import Settings

GOLDEN_SAMPLE = 50
GOLDEN_WITHIN = 3
GOLDEN_FLOOR = 0.95
"""Share of the searches by an item's own title and own quote that must find it, in each index."""


def invariants(
    candidate: Path, previous: Path | None, settings: Settings, *, allow_shrink: bool = False
) -> list[Finding]:
    """Every check of a candidate that applies, errors first.

    Args:
        candidate: the folder build wrote.
        previous: the served release's folder, or None before the first publish.
        settings: team id and redaction policy.
        allow_shrink: do not ask where the served release's rows went.
    """
    frames, findings = read_tables(candidate / TABLES_FOLDER)
    if findings:
        return findings
    before = read_tables(previous / TABLES_FOLDER)[0] if previous else {}
    findings += check_tables(frames, before, allow_shrink)
    findings += _check_indexes(candidate, frames, settings)
    return sorted(findings, key=lambda finding: (finding.severity, finding.code, finding.message))


def served_items(release: Path) -> dict[str, list[served.Item]]:
    """What a release serves, by audience, as its readers get it.

    Raises:
        UnreachableError: an index cannot be read.
    """
    found: dict[str, list[served.Item]] = {}
    for card in sorted((release / served.INDEX_FOLDER).glob(f"*/{served.AUDIENCE_CARD}")):
        audience = msgspec.json.decode(card.read_bytes(), type=served.AudienceCard).audience
        with ReleaseReader(release, [audience]) as reader:
            found[audience] = [item for index in reader.indexes for item in index.items()]
    return found


def _check_indexes(candidate: Path, frames: Frames, settings: Settings) -> list[Finding]:
    team = settings.team.id
    expected: dict[str, set[str]] = {}
    active = frames["learnings"].filter(pl.col("state") == "active")
    for audience, learning in active.select("audience", "learning_id").iter_rows():
        expected.setdefault(audience, set()).add(learning)
    findings = list(_folders(candidate, expected, team))
    with ExitStack() as opened:
        try:
            readers = {a: opened.enter_context(ReleaseReader(candidate, [a])) for a in sorted(expected)}
            tables = {i.audience: lance.open_table(i.folder) for reader in readers.values() for i in reader.indexes}
        except UnreachableError as problem:
            return [*findings, error("index_unreadable", str(problem))]
        items: Items = {a: [item for i in reader.indexes for item in i.items()] for a, reader in readers.items()}
        for audience, ids in expected.items():
            findings += _rows(served.audience_id(team, audience), ids, items[audience], tables.get(audience))
        findings += check_words(candidate, items, frames, team, redactor(settings).values)
        findings += _golden(readers, items, tables)
    return findings


def _folders(candidate: Path, audiences: Mapping[str, set[str]], team: str) -> Iterator[Finding]:
    """One folder per audience with active items, holding that audience's card, and no other."""
    expected = {served.audience_id(team, audience): audience for audience in audiences}
    root = candidate / served.INDEX_FOLDER
    here = {path.name for path in root.iterdir()} if root.is_dir() else set()
    if here != expected.keys():
        yield error("index_folders", f"index folders differ from the audiences: {some(here ^ expected.keys())}")
    for name in sorted(here & expected.keys()):
        card = msgspec.json.decode((root / name / served.AUDIENCE_CARD).read_bytes(), type=served.AudienceCard)
        if card != served.AudienceCard(expected[name], len(audiences[expected[name]])):
            yield error("index_folders", f"the card of {name} is another audience's, or counts other items")


def _rows(name: str, ids: set[str], items: Sequence[served.Item], table: Any) -> Iterator[Finding]:
    """Both indexes hold exactly the active learnings, with the same text, each behind the words of a witness."""
    in_sqlite = {item.learning_id: index_text(item) for item in items}
    in_lance = {row["learning_id"]: row["text"] for row in table.to_arrow().to_pylist()} if table else {}
    for engine, here in (("SQLite", in_sqlite), ("Lance", in_lance)):
        if here.keys() != ids:
            yield error("index_rows", f"{name}: {engine} differs from the active learnings: {some(here.keys() ^ ids)}")
    other = {id_ for id_ in in_lance.keys() & in_sqlite.keys() if in_lance[id_] != in_sqlite[id_]}
    if other:
        yield error("index_twins", f"{name}: Lance and SQLite hold different texts: {some(other)}")
    statistics = table.index_stats("text_idx") if table else None
    if statistics is None or statistics.num_unindexed_rows:
        yield error("index_rows", f"{name}: rows of the Lance table are not in its text index")
    bare = {item.learning_id for item in items if not any(quote.words for quote in item.quotes)}
    if bare:
        yield error("no_witness", f"{name}: served without the words of a quote: {some(bare)}")


def _golden(readers: Mapping[str, ReleaseReader], items: Items, tables: Mapping[str, Any]) -> Iterator[Finding]:
    """Sampled items are found by their own title and by their own quote, in SQLite and in Lance."""
    every = [(audience, item) for audience, found in sorted(items.items()) for item in found]
    sample = sorted(every, key=lambda pair: digest("golden", pair[1].learning_id))[:GOLDEN_SAMPLE]
    asked = 0
    missed: dict[str, list[str]] = {"lexical": [], "lance": []}
    for audience, item in sample:
        for question in (item.title, *(quote.words for quote in item.quotes[:1])):
            asked += 1
            hits = readers[audience].recall(question, limit=GOLDEN_WITHIN).hits
            if not _found(item, [hit.learning_id for hit in hits], items[audience]):
                missed["lexical"].append(item.learning_id)
            rows = lance.search(tables[audience], question, GOLDEN_WITHIN)
            if not _found(item, [learning_id for learning_id, _ in rows], items[audience]):
                missed["lance"].append(item.learning_id)
    for engine, ids in missed.items():
        if ids:
            message = f"{engine}: {len(ids)} of {asked} searches by an item's own words miss it: {some(set(ids))}"
            blocks = len(ids) > (1 - GOLDEN_FLOOR) * asked
            yield Finding("golden_recall", "error" if blocks else "warning", message)


def _found(item: served.Item, ids: Sequence[str], items: Sequence[served.Item]) -> bool:
    """Itself, or an item with the same title or the same quote."""
    if item.learning_id in ids:
        return True
    same = {item.title, *(quote.words for quote in item.quotes)}
    by_id = {other.learning_id: other for other in items}
    return any(same & {by_id[id_].title, *(q.words for q in by_id[id_].quotes)} for id_ in ids if id_ in by_id)
