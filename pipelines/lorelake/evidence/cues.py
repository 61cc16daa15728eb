"""The cues of `cue_lists/`, a file for each language: loaded once, on first use, and searched in one sentence at a time.

English comes first, then the other languages by name; within a language the order of its file.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable

import msgspec

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
    files = [file for file in resources.files(__package__).joinpath(FOLDER).iterdir() if file.name.endswith(".toml")]
    files.sort(key=lambda file: (file.name != "en.toml", file.name))
    return tuple(cue for file in files for cue in _cues_of(file))


def _cues_of(file: Traversable) -> list[Cue]:
    found = msgspec.convert(tomllib.loads(file.read_text(encoding="utf-8"))["cue"], list[Cue])
    return [msgspec.structs.replace(cue, language=file.name.removesuffix(".toml")) for cue in found]


@cache
def family(name: str) -> tuple[tuple[Cue, re.Pattern[str]], ...]:
    """The compiled cues of one family, in the order of the file. Raises KeyError for an unknown family."""
    found = tuple((cue, re.compile(cue.pattern, re.IGNORECASE)) for cue in all_cues() if cue.family == name)
    if not found:
        raise KeyError(name)
    return found


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
