"""One opened lexical.db: the SQLite twin of one audience's index. Standard library only, read only."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

import msgspec

from lorelake import served
from lorelake.errors import UnreachableError

_BM25_FLOOR = 1e-6
"""What FTS5 takes for the idf of a term that half or more of the rows hold."""


class LexicalIndex:
    """The served items of one audience.

    Args:
        folder: `index/<audience id>`, resolved: the release stays the one it was when opened.
        audience: its label.

    Raises:
        UnreachableError: the file is missing, locked away or damaged.
    """

    def __init__(self, folder: Path, audience: str) -> None:
        self.folder = folder
        self.audience = audience
        self.path = folder / served.LEXICAL_DB
        try:
            uri = f"file:{quote(str(self.path))}?mode=ro&immutable=1"
            self._db = sqlite3.connect(uri, uri=True, check_same_thread=False)
            self.size: int = self._db.execute("SELECT count(*) FROM items").fetchone()[0]
        except sqlite3.Error as error:
            raise UnreachableError(
                f"an index of this release cannot be read: {error}",
                where=str(self.path),
                remedy="`lorelake release verify` tells what is damaged; publish again or sync anew",
            ) from None

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def holding(self, term: str) -> int:
        """How many items hold a term."""
        row = self._db.execute("SELECT count(*) FROM search WHERE search MATCH ?", (phrase(term),)).fetchone()
        return int(row[0])

    def matching(self, terms: Sequence[str], joiner: str, limit: int) -> list[int]:
        """Rowids of the items that hold all (`AND`) or any (`OR`) of the terms, best first."""
        expression = f" {joiner} ".join(phrase(term) for term in terms)
        rows = self._db.execute(
            "SELECT rowid FROM search WHERE search MATCH ? ORDER BY bm25(search), rowid LIMIT ?", (expression, limit)
        )
        return [row[0] for row in rows]

    def strengths(self, term: str, held_by: int, rowids: Sequence[int]) -> dict[int, float]:
        """BM25 of one term in some items with the idf taken out, so that folders of any size can be compared.

        A term that is in half of a folder's rows counts for nothing in FTS5's own figure, and in a folder of one
        item every term is: its exact match would lose to anything. `held_by` is `holding(term)`.
        """
        idf = math.log((self.size - held_by + 0.5) / (held_by + 0.5))
        idf = idf if idf > 0 else _BM25_FLOOR
        marks = ",".join("?" * len(rowids))
        # `+rowid`: one pass over the term's rows; as a key, FTS5 would count the whole term anew for every rowid.
        rows = self._db.execute(
            f"SELECT rowid, bm25(search) FROM search WHERE search MATCH ? AND +rowid IN ({marks})",  # noqa: S608
            (phrase(term), *rowids),
        )
        return {rowid: -score / idf for rowid, score in rows}

    def rowid(self, learning_id: str) -> int | None:
        """The rowid of a served item, or None."""
        row = self._db.execute("SELECT rowid FROM items WHERE learning_id = ?", (learning_id,)).fetchone()
        return None if row is None else int(row[0])

    def item(self, rowid: int) -> served.Item:
        """One served item."""
        row = self._db.execute("SELECT item FROM items WHERE rowid = ?", (rowid,)).fetchone()
        return msgspec.json.decode(row[0], type=served.Item)

    def items(self) -> list[served.Item]:
        """Every served item, in order of id."""
        rows = self._db.execute("SELECT item FROM items ORDER BY learning_id")
        return [msgspec.json.decode(row[0], type=served.Item) for row in rows]

    def learning_ids(self) -> list[str]:
        """Ids of every served item, in order."""
        return [row[0] for row in self._db.execute("SELECT learning_id FROM items ORDER BY learning_id")]

    def ids(self, prefix: str) -> dict[str, str]:
        """Every id this audience knows that begins so, mapped to the learning it stands for."""
        within = (prefix, prefix + "\x7f")
        found: dict[str, str] = {}
        for statement in (
            "SELECT learning_id, learning_id FROM items WHERE learning_id >= ? AND learning_id < ?",
            "SELECT learning_id, learning_id FROM retired WHERE learning_id >= ? AND learning_id < ?",
            "SELECT claim_id, learning_id FROM aliases WHERE claim_id >= ? AND claim_id < ?",
        ):
            for known, learning in self._db.execute(statement, within):
                found.setdefault(known, learning)
        return found

    def topics(self) -> dict[str, str]:
        """Path to label of every topic with a served item at it or below.

        Raises:
            UnreachableError: the release was published before there were topics.
        """
        return dict(self._of_topics("SELECT path, label FROM topics"))

    def filed(self) -> list[tuple[str, str]]:
        """(path, learning id) of every served item and each topic it lies right at. Raises as `topics`."""
        return self._of_topics("SELECT path, learning_id FROM topic_items")

    def _of_topics(self, statement: str) -> list[tuple[str, str]]:
        try:
            return [(row[0], row[1]) for row in self._db.execute(statement)]
        except sqlite3.OperationalError as error:
            raise UnreachableError(
                f"this release has no topics: {error}",
                where=str(self.path),
                remedy="it was published by an older lorelake; the next `lorelake nightly` publishes them",
            ) from None

    def retired(self, learning_id: str) -> tuple[str, str | None] | None:
        """State and successor of a learning that is not served, or None."""
        row = self._db.execute(
            "SELECT state, superseded_by FROM retired WHERE learning_id = ?", (learning_id,)
        ).fetchone()
        return None if row is None else (row[0], row[1])


def phrase(term: str) -> str:
    """A term as an FTS5 string: whatever it holds is text, never an operator."""
    return '"' + term.replace('"', '""') + '"'
