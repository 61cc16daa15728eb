"""Which words tell what was erased: those that stand in it and in nothing that stays.

They are found while the text is still there, held in memory for the proof that follows, and stored nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from lorelake.release.proof import found_in

SHORTEST = 6
PHRASE = 80
MOST = 4_000
"""Words at most; the longest, which are the rarest, come first."""
PROGRAM = frozenset((".py", ".sql", ".yml", ".json", ".toml", ".md"))
"""Files of the program itself, whose words stand in tables' descriptions and checks."""

_WORD = re.compile(rf"[^\W\d_]{{{SHORTEST},}}")
_BATCH = 20_000


class Words:
    """Candidates, from which what stays takes away.

    Args:
        names: words that are looked for whatever stays: logins and ids of an erased person.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names = {name.lower() for name in names}
        self._words: set[str] = set()
        self._texts: set[str] = set()

    def gone(self, texts: Iterable[str]) -> None:
        """Add what was erased."""
        for text in texts:
            words = {word.lower() for word in _WORD.findall(text)}
            self._words |= words
            line = max(text.splitlines() or [""], key=len).strip()[:PHRASE]
            if len(line) >= 24 and " " in line:  # ids and paths are no words
                self._texts.add(line.lower())

    def stays(self, texts: Iterable[str]) -> None:
        """Take away what stands in what is left, also within a longer word."""
        held: list[str] = []
        for text in texts:
            held.append(text.lower())
            if len(held) >= _BATCH:
                self._take(held)
                held = []
        self._take(held)

    def program(self, roots: Iterable[Path]) -> None:
        """Take away what the program itself says."""
        files = (path for root in roots for path in sorted(root.rglob("*")) if path.suffix in PROGRAM)
        self.stays(path.read_text(encoding="utf-8", errors="replace") for path in files if path.is_file())

    def words(self) -> list[str]:
        """The words of the proof, longest first."""
        found = sorted(self._words, key=lambda word: (-len(word), word))[:MOST]
        covered = found_in(sorted(self._texts), found)
        bare = [text for number, text in enumerate(sorted(self._texts)) if number not in covered]
        return sorted(self._names) + found + bare[:MOST]

    def _take(self, held: list[str]) -> None:
        for kind in (self._words, self._texts):
            for found in found_in(held, sorted(kind)).values():
                kind -= found
