"""The cues of `cue_lists/`, a file for each language: loaded once, on first use, and searched one sentence at a time.

English comes first, then the other languages by name; within a language the order of its file. A language with signs
of its own names them (`script`): a sentence without one of them is not searched for its cues.
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
    """One cue: its family, name, pattern, sentences that it must and must not find; language and script of its file."""

    family: str
    name: str
    pattern: str
    positive: tuple[str, ...]
    negative: tuple[str, ...]
    language: str = ""
    script: str = ""
    """Characters as the inside of a class, of which each sentence of the language has one; empty for any sentence."""


class _List(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    cue: list[Cue]
    script: str = ""


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
        found = msgspec.convert(tomllib.loads(file.read_text(encoding="utf-8")), _List)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise ContractError(f"no cue list: {error}", where=file.name) from error
    language = file.name.removesuffix(".toml")
    cues = [msgspec.structs.replace(cue, language=language, script=found.script) for cue in found.cue]
    for cue in cues:
        _check(cue, file.name)
    return cues


def _check(cue: Cue, where: str) -> None:
    name = f"{cue.family}.{cue.name}"
    try:
        _compiled(cue.pattern)
        script = _script(cue.script)
    except re.error as error:
        raise ContractError(f"the pattern of {name} is none: {error}", where=where) from error
    if not cue.positive or not cue.negative:
        raise ContractError(f"{name} needs examples of both sorts", where=where)
    if script and not all(map(script.search, cue.positive)):
        raise ContractError(f"{name} has an example without a character of the script", where=where)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


@cache
def _script(signs: str) -> re.Pattern[str] | None:
    return re.compile(f"[{signs}]") if signs else None


@cache
def family(name: str) -> tuple[tuple[Cue, re.Pattern[str]], ...]:
    """The compiled cues of one family, in the order of the file. Raises KeyError for an unknown family."""
    found = tuple((cue, _compiled(cue.pattern)) for cue in all_cues() if cue.family == name)
    if not found:
        raise KeyError(name)
    return found


@cache
def _written_in(name: str, scripts: frozenset[str]) -> tuple[tuple[Cue, re.Pattern[str]], ...]:
    """The cues of one family that a sentence in these scripts may have."""
    return tuple((cue, pattern) for cue, pattern in family(name) if cue.script in scripts)


@lru_cache(maxsize=8192)
def _scripts_in(sentence: str) -> frozenset[str]:
    return frozenset(signs for signs in _scripts() if not (script := _script(signs)) or script.search(sentence))


@cache
def _scripts() -> frozenset[str]:
    return frozenset(cue.script for cue in all_cues())


@lru_cache(maxsize=8192)
def find(name: str, sentence: str) -> Found | None:
    """The first cue of a family in a sentence of the speaker's own words, or None.

    A sentence past `LONGEST_SENTENCE` characters is no statement; searching it would also be slow.
    """
    if len(sentence) > LONGEST_SENTENCE:
        return None
    scripts = _scripts_in(sentence)
    sentence = sentence.replace("’", "'")
    for cue, pattern in _written_in(name, scripts):
        match = pattern.search(sentence)
        if match:
            named = {key.rstrip("23"): value.strip() for key, value in match.groupdict().items() if value}
            return Found(cue, match.start(), named)
    return None
