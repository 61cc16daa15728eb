"""The served indexes of one audience: a LanceDB table and its SQLite twin over the same rows.

Lance serves the resident server and what SQL on vectors will need; SQLite serves hooks and one-shot commands, which
cannot pay for Lance's import. Both index one text column. There are no vectors yet: recall is lexical and says so.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import polars as pl

from lorelake import served
from lorelake.content import search_words
from lorelake.lake import write_bytes
from lorelake.release.parts import served_words

INDEXED_QUOTES = 3
INDEXED_QUOTE_CHARS = 600
"""How much of an item's evidence is searchable beside its words: error text is found by the quote that holds it."""


class Filing(NamedTuple):
    """Topics of one audience: path to label, and (path, learning) of what is filed right at a path."""

    labels: Mapping[str, str]
    items: Sequence[tuple[str, str]]


NO_TOPICS = Filing({}, ())


def filing_of(ids: Collection[str], topics: pl.DataFrame, members: pl.DataFrame) -> Filing:
    """The topics under which some learnings of one audience lie, with those above them, and nothing else of any."""
    columns = topics.select("topic_id", "path", "label", "parent_id")
    paths = {topic: (path, label, parent) for topic, path, label, parent in columns.iter_rows()}
    items: list[tuple[str, str]] = []
    labels: dict[str, str] = {}
    for learning, topic in members.select("learning_id", "topic_id").iter_rows():
        if learning in ids and topic in paths:
            items.append((paths[topic][0], learning))
            above: str | None = topic
            while above in paths:
                path, label, above = paths[above]
                labels[path] = label
    return Filing(labels, items)


def items_by_audience(
    learnings: pl.DataFrame, evidence: pl.DataFrame, decay: pl.DataFrame
) -> dict[str, list[served.Item]]:
    """Active learnings as they are served, per audience, in order of id."""
    quotes = quotes_by_learning(evidence)
    items: dict[str, list[served.Item]] = defaultdict(list)
    faded = learnings.join(decay.select("learning_id", "decay"), on="learning_id", how="left")
    faded = faded.with_columns(pl.col("decay").fill_null(1.0))
    for row in faded.filter(pl.col("state") == "active").sort("learning_id").iter_rows(named=True):
        items[row["audience"]].append(item_of(served_words(row), quotes.get(row["learning_id"], ())))
    return dict(sorted(items.items()))


def quotes_by_learning(evidence: pl.DataFrame) -> dict[str, tuple[served.Quote, ...]]:
    """Verified quotes per learning, earliest first; the same words are given once."""
    found: dict[str, dict[str, served.Quote]] = defaultdict(dict)
    for row in evidence.filter("quote_verified").sort("ts", "signal_id").iter_rows(named=True):
        quote = served.Quote(row["quote"], row["actor"], row["actor_class"], _day(row["ts"]), row["source_uri"])
        found[row["learning_id"]].setdefault(quote.words, quote)
    return {learning_id: tuple(quotes.values()) for learning_id, quotes in found.items()}


def item_of(row: Mapping[str, Any], quotes: Sequence[served.Quote]) -> served.Item:
    """One row of `learnings` as an item."""
    days = {name: _day(row[name]) for name in ("first_said", "last_said")}
    return msgspec.convert({**row, **days, "quotes": list(quotes)}, served.Item)


def _day(moment: datetime) -> str:
    return moment.date().isoformat()


def index_text(item: served.Item) -> str:
    """The one searchable text of an item: its words, what it applies to, the start of its first quotes."""
    parts = [item.title, item.when, item.do, item.because or "", *item.applies_to]
    parts += [quote.words[:INDEXED_QUOTE_CHARS] for quote in item.quotes[:INDEXED_QUOTES]]
    return search_words.index_text("\n".join(part for part in parts if part))


def write_audience(
    folder: Path,
    items: Sequence[served.Item],
    aliases: Mapping[str, str],
    retired: Sequence[tuple[str, str, str | None]],
    filing: Filing = NO_TOPICS,
) -> None:
    """Write one audience's folder fresh.

    Args:
        folder: `index/<audience id>`, which must not exist.
        items: its active learnings, at least one.
        aliases: claim id to the served learning it counts for.
        retired: (learning id, state, superseded by) of its learnings that are not served.
        filing: its topics, and which of its active learnings lie right at each.
    """
    folder.mkdir(parents=True)
    texts = [index_text(item) for item in items]
    card = served.AudienceCard(items[0].audience, len(items))
    write_bytes(folder / served.AUDIENCE_CARD, msgspec.json.encode(card))
    write_lexical(folder / served.LEXICAL_DB, items, texts, aliases, retired, filing)
    write_lance(folder, items, texts)


def write_lexical(
    path: Path,
    items: Sequence[served.Item],
    texts: Sequence[str],
    aliases: Mapping[str, str],
    retired: Sequence[tuple[str, str, str | None]],
    filing: Filing = NO_TOPICS,
) -> None:
    """Write the SQLite twin so that it can be opened immutable: no journal file is left, no free page."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode=DELETE")
        db.execute("PRAGMA synchronous=OFF")  # publish makes every file durable before it is served
        db.executescript(f"BEGIN; {served.LEXICAL_SCHEMA}")
        numbered = list(enumerate(zip(items, texts, strict=True), start=1))
        db.executemany(
            "INSERT INTO items VALUES (?, ?, ?)",
            [(number, item.learning_id, msgspec.json.encode(item).decode()) for number, (item, _) in numbered],
        )
        db.executemany("INSERT INTO search(rowid, text) VALUES (?, ?)", [(n, text) for n, (_, text) in numbered])
        db.executemany("INSERT INTO aliases VALUES (?, ?)", sorted(aliases.items()))
        db.executemany("INSERT INTO retired VALUES (?, ?, ?)", sorted(retired))
        db.executemany("INSERT INTO topics VALUES (?, ?)", sorted(filing.labels.items()))
        db.executemany("INSERT INTO topic_items VALUES (?, ?)", sorted(filing.items))
        db.execute("INSERT INTO search(search) VALUES ('optimize')")
        db.commit()
        db.execute("VACUUM")


def write_lance(folder: Path, items: Sequence[served.Item], texts: Sequence[str]) -> None:
    """Write `learnings.lance` with its text index: `icu/split` also cuts Chinese and Japanese, and keeps stemming."""
    import lancedb
    import pyarrow as pa
    from lancedb.index import FTS

    rows = pa.table(
        {
            "learning_id": pa.array([item.learning_id for item in items], pa.string()),
            "title": pa.array([item.title for item in items], pa.string()),
            "text": pa.array(texts, pa.string()),
        }
    )
    table = lancedb.connect(str(folder)).create_table(served.LANCE_TABLE, rows)
    table.create_index("text", config=FTS(base_tokenizer="icu/split", with_position=True))
