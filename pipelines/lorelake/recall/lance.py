"""The same questions over `learnings.lance`. LanceDB is imported on call: it costs seconds, which a hook has not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lorelake import served
from lorelake.content import search_words
from lorelake.errors import UnreachableError
from lorelake.recall import ranking
from lorelake.recall.lexical import LexicalIndex


def open_table(folder: Path) -> Any:
    """The LanceDB table of one audience's folder.

    Raises:
        UnreachableError: LanceDB is not installed, or the table cannot be opened.
    """
    try:
        import lancedb
    except ImportError:
        raise UnreachableError("LanceDB is not installed", remedy="pip install 'lorelake[mcp]'") from None
    try:
        return lancedb.connect(str(folder)).open_table(served.LANCE_TABLE)
    except (ValueError, OSError, RuntimeError) as error:
        where = str(folder / f"{served.LANCE_TABLE}.lance")
        raise UnreachableError(f"the index cannot be opened: {error}", where=where) from None


def search(table: Any, question: str, limit: int) -> list[tuple[str, float]]:
    """(learning id, BM25) of the best rows of one table, best first; equal scores go by id."""
    words = " ".join(search_words.query_terms(question))
    if not words:
        return []
    rows = table.search(words, query_type="fts").select(["learning_id", "_score"]).limit(limit).to_list()
    return sorted(((row["learning_id"], row["_score"]) for row in rows), key=lambda row: (-row[1], row[0]))


def candidates(question: str) -> ranking.Candidates:
    """Candidates for the common ranking from Lance's own full-text search."""

    def from_lance(index: LexicalIndex, terms: Sequence[str]) -> list[int]:
        found = search(open_table(index.folder), question, ranking.CANDIDATES)
        rowids = (index.rowid(learning_id) for learning_id, _ in found)
        return [rowid for rowid in rowids if rowid is not None]

    return from_lance
