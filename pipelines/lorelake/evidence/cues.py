"""The cues of `cue_lists/`, a file for each language: loaded once, on first use, and searched one sentence at a time.

English comes first, then the other languages by name; within a language the order of its file.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache, lru_cache
from importlib import resources
from importlib.resources.abc import Traversable

import msgspec

from lorelake.errors import ContractError

FOLDER = "cue_lists"
LONGEST_SENTENCE = 1000


class Cue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One cue: its family, name, pattern, sentences that it must and must not find, and the language of its file."""

    family: str
    name: str
    pattern: str
    positive: tuple[str, ...]
    negative: tuple[str, ...]
    language: str = ""


class Found(msgspec.Struct, frozen=True):
    """A cue met in a sentence, and the words its pattern names (`rejected`, `because`, `object`)."""

    cue: Cue
    start: int
    named: dict[str, str]


@cache
def all_cues() -> tuple[Cue, ...]:
    """Every cue of every language."""
    return read_lists(resources.files(__package__).joinpath(FOLDER))


def read_lists(folder: Traversable) -> tuple[Cue, ...]:
    """The cues of a folder's lists. Raises ContractError naming the list and, where one is at fault, the cue.

    A pattern that does not compile, a cue without examples, or a family and name that two cues share is refused.
    """
    files = [file for file in folder.iterdir() if file.name.endswith(".toml")]
    files.sort(key=lambda file: (file.name != "en.toml", file.name))
    found: dict[tuple[str, str], Cue] = {}
    for file in files:
        for cue in _cues_of(file):
            if (cue.family, cue.name) in found:
                raise ContractError(f"two cues are called {cue.family}.{cue.name}", where=file.name)
            found[cue.family, cue.name] = cue
    return tuple(found.values())


def _cues_of(file: Traversable) -> list[Cue]:
    try:
        found = msgspec.convert(tomllib.loads(file.read_text(encoding="utf-8"))["cue"], list[Cue])
    except (KeyError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise ContractError(f"no cue list: {error}", where=file.name) from error
    for cue in found:
        _check(cue, file.name)
    return [msgspec.structs.replace(cue, language=file.name.removesuffix(".toml")) for cue in found]


def _check(cue: Cue, where: str) -> None:
    try:
        re.compile(cue.pattern)
    except re.error as error:
        raise ContractError(f"the pattern of {cue.family}.{cue.name} is none: {error}", where=where) from error
    if not cue.positive or not cue.negative:
        raise ContractError(f"{cue.family}.{cue.name} needs examples of both sorts", where=where)


@cache
def family(name: str) -> tuple[tuple[Cue, re.Pattern[str]], ...]:
    """The compiled cues of one family, in the order of the file. Raises KeyError for an unknown family."""
    found = tuple((cue, re.compile(cue.pattern, re.IGNORECASE)) for cue in all_cues() if cue.family == name)
    if not found:
        raise KeyError(name)
    return found


@lru_cache(maxsize=8192)
def find(name: str, sentence: str) -> Found | None:
    """The first cue of a family in a sentence of the speaker's own words, or None.

    A sentence past `LONGEST_SENTENCE` characters is no statement; searching it would also be slow.
    """
    if len(sentence) > LONGEST_SENTENCE:
        return None
    sentence = sentence.replace("’", "'")
    for cue, pattern in family(name):
        match = pattern.search(sentence)
        if match:
            named = {key.rstrip("23"): value.strip() for key, value in match.groupdict().items() if value}
            return Found(cue, match.start(), named)
    return None
