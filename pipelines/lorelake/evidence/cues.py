"""The cues of `cues.toml`: loaded once, on first use, and searched in one sentence at a time."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib import resources

import msgspec

FILE_NAME = "cues.toml"
LONGEST_SENTENCE = 1000


class Cue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One cue: its family, name, language, pattern, and sentences that it must and must not find."""

    family: str
    name: str
    language: str
    pattern: str
    positive: tuple[str, ...]
    negative: tuple[str, ...]


class Found(msgspec.Struct, frozen=True):
    """A cue met in a sentence, and the words its pattern names (`rejected`, `because`, `object`)."""

    cue: Cue
    start: int
    named: dict[str, str]


@cache
def all_cues() -> tuple[Cue, ...]:
    """Every cue, in the order of the file."""
    text = resources.files(__package__).joinpath(FILE_NAME).read_text(encoding="utf-8")
    return tuple(msgspec.convert(tomllib.loads(text)["cue"], list[Cue]))


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
