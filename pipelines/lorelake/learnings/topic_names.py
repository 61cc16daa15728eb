"""What a topic is called: from words to a key, from a key to a `/` path, and which keys of one kind are one topic.

A path begins with its kind, and only what has one kind may be one topic. Names of people and channels, paths,
packages, projects and errors are what they are: nothing but their spelling is evened out. Only free tags are also
merged by their words, and each merge says by which rule, so that it can be taken back.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

LONGEST_KEY = 128
LONGEST_LABEL = 80
FREE_TAG = "topic"
"""The kind of a tag that names no other kind."""

_ONCE = re.compile(r"_{2,}")
_LANGUAGES = ((re.compile(r"(?<=[^\W_])\+\+"), "pp"), (re.compile(r"(?<=[^\W\d_])#(?!\w)"), "sharp"))
"""C++ and C# would both be `c`."""

_GENERIC = frozenset((
    "app", "application", "backend", "bug", "code", "common", "data", "doc", "docs", "feature", "fix", "general",
    "guide", "issue", "learning", "lesson", "misc", "note", "notes", "plan", "project", "service", "system", "task",
    "team", "tip", "tips", "tool", "topic", "work",
))  # fmt: skip
"""Words that are in tags of any subject; having one in common says nothing."""
_SHORTEST_SHARED = 3
_SHORTEST_STEM = 4
_ENDING = re.compile(r"(?:e?s|e?d|ing|e?rs?|ments?|ations?|able|al|ly)")
"""What may follow the same stem. A common beginning alone would make `post` and `postgres` one."""


class Named(NamedTuple):
    """One key with the words it was made of, both cut at `/`: as many labels as the key has parts."""

    key: str
    labels: tuple[str, ...]


class Merge(NamedTuple):
    """Why a key is not a topic of its own. `evidence` names what the two have in common."""

    into: str
    rule: str
    evidence: str


@lru_cache(maxsize=1 << 16)
def named(words: str) -> Named | None:
    """The key of some words: lower case, letters and digits of any script, all else `_`, parts between `/`.

    At most 128 characters: whole parts are left out at the end where it is longer. None where no letter is left.
    """
    parts = [(_key(part), " ".join(part.split())) for part in words.split("/")]
    parts = [(key, label) for key, label in parts if key]
    while len(parts) > 1 and len("/".join(key for key, _ in parts)) > LONGEST_KEY:
        parts.pop()
    if not parts:
        return None
    return Named("/".join(key for key, _ in parts)[:LONGEST_KEY].rstrip("_"), tuple(shortened(w) for _, w in parts))


@lru_cache(maxsize=1 << 16)
def _key(part: str) -> str:
    part = unicodedata.normalize("NFKC", part)
    for pattern, spoken in _LANGUAGES:
        part = pattern.sub(spoken, part)
    kept = (c if c.isalnum() or unicodedata.category(c)[0] == "M" else "_" for c in part.lower())
    return _ONCE.sub("_", unicodedata.normalize("NFC", "".join(kept))).strip("_")


def shortened(label: str) -> str:
    """A label of at most 80 characters; a longer one ends in `…`."""
    return label if len(label) <= LONGEST_LABEL else label[: LONGEST_LABEL - 1].rstrip() + "…"


def without_kind(tag: str, kinds: tuple[str, ...]) -> tuple[str, str]:
    """(kind, the rest) of a tag that names its kind first, as `person_ana`, `error/timeout` or `package: requests`."""
    found = re.match(rf"\s*({'|'.join(kinds)})\s*[_/:]\s*(?=\S)", tag, re.IGNORECASE)
    return (found[1].lower(), tag[found.end() :]) if found else (FREE_TAG, tag)


def merged(uses: Mapping[str, int]) -> dict[str, Merge]:
    """Which free tags of one audience are another one's topic: key to what it is merged into.

    Two keys are one if they differ in nothing but where their words are parted (`pre_commit`, `precommit`), or if
    every word of the one stands in the other, at least one of three letters that is not in tags of any subject. A
    key is compared with topics only, never with what was merged into them, so that no chain drifts away.

    Args:
        uses: key to the number of learnings that carry it. The key of fewer words stays, then the more used one.
    """
    topics: dict[str, frozenset[str]] = {}
    by_core: dict[str, str] = {}
    by_start: dict[str, list[str]] = defaultdict(list)
    found: dict[str, Merge] = {}
    order = {key: (len(_telling(key)), -uses[key], len(key), key) for key in uses}
    for key in sorted(uses, key=order.__getitem__):
        core, words = _core(key), _telling(key)
        if core in by_core:
            found[key] = Merge(by_core[core], "same_core", core)
            continue
        near = dict.fromkeys(topic for word in words for topic in by_start.get(word[:_SHORTEST_SHARED], ()))
        shared = ((topic, _shared(topics[topic], words)) for topic in sorted(near, key=order.__getitem__))
        topic, evidence = next(((topic, common) for topic, common in shared if common), ("", ""))
        if topic:
            found[key] = Merge(topic, "shared_words", evidence)
            continue
        topics[key] = words
        by_core[core] = key
        for word in words:
            by_start[word[:_SHORTEST_SHARED]].append(key)
    return found


def _core(key: str) -> str:
    return key.replace("_", "").replace("/", "")


def _telling(key: str) -> frozenset[str]:
    return frozenset(word for word in re.split(r"[_/]", key) if word and word not in _GENERIC)


def _shared(fewer: frozenset[str], more: frozenset[str]) -> str:
    """The words of `fewer` if `more` has them all, else nothing."""
    pairs = [(word, next((other for other in sorted(more) if _same_word(word, other)), "")) for word in sorted(fewer)]
    if not pairs or not all(other for _, other in pairs) or not any(len(w) >= _SHORTEST_SHARED for w, _ in pairs):
        return ""
    return ", ".join(word if word == other else f"{word} ~ {other}" for word, other in pairs)


def _same_word(one: str, other: str) -> bool:
    if one == other:
        return True
    stem, longer = sorted((one, other), key=len)
    return len(stem) >= _SHORTEST_STEM and longer.startswith(stem) and bool(_ENDING.fullmatch(longer[len(stem) :]))
