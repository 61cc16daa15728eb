"""Not one of the things that fill transcripts and only look random is hidden: `look_alikes.txt`, a thing a line.

Commit ids, lockfile integrity strings, image digests, UUIDs, ids of messages and calls, public keys, fingerprints,
Slack ids, minified code, versions, small pictures, test names with `password` in them, and marks of our own.
"""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest

from lorelake.content.redaction import MARK, RULES, Redactor

REDACTOR = Redactor(b"k" * 32)
LOOK_ALIKES = (Path(__file__).parent / "look_alikes.txt").read_text(encoding="utf-8").splitlines()
PLANTED = [(rule, text) for rule in RULES for text in rule.positive]


def test_the_list_is_long_and_without_repeats() -> None:
    assert len(LOOK_ALIKES) >= 200
    assert len(set(LOOK_ALIKES)) == len(LOOK_ALIKES)


def test_none_is_hidden_by_itself() -> None:
    assert [text for text in LOOK_ALIKES if REDACTOR.text(text) != text] == []


def test_none_is_hidden_among_the_others() -> None:
    """As one text, as values of an object, and as JSON inside a string, as tool results have them."""
    values = [{"out": "\n".join(LOOK_ALIKES)}, {"rows": LOOK_ALIKES}, {"inner": json.dumps(LOOK_ALIKES)}]
    assert REDACTOR.values(values) == values


@pytest.mark.parametrize("seed", range(3))
def test_every_planted_secret_is_found_among_them_and_nothing_else(seed: int) -> None:
    chance = random.Random(seed)
    texts, secrets = [], []
    for rule, example in PLANTED:
        before, secret, after = re.split("[«»]", example)
        lines = [*chance.sample(LOOK_ALIKES, 40), before + secret + after, *chance.sample(LOOK_ALIKES, 40)]
        texts.append("\n".join(lines))
        secrets.append((rule, secret))
    for text, (rule, secret) in zip(REDACTOR.values(texts), secrets, strict=True):
        marks = [mark for mark in MARK.findall(text) if mark not in "\n".join(LOOK_ALIKES)]
        assert [mark.split(":")[1] for mark in marks] == [rule.marked]
        assert secret not in text


def test_headers_and_a_command_stay_records_with_their_neighbours() -> None:
    """faults 11: masking works on decoded values; structure and neighbours survive, the mark says what was hidden."""
    cloud = "AKIA" + "Q3EGR5WX" * 2
    lines = [
        '{"type":"log","headers":{"cookie":{"sid":"s%3Aq8Zr5TfX0aWb9f8e","theme":{"name":"dark-9f8e7d6c5b"}},'
        '"authorization":["Bearer q8Zr5TfX0aWb9f8e7d6c"],"api_key":40512783391},"say":"kept",'
        '"commit":"' + "0a1b2c3d" * 5 + '"}',
        '{"type":"call","command":"aws configure set key \\"' + cloud + '\\" && echo \\"done\\"","after":"kept too"}',
    ]  # fmt: skip
    before = [json.loads(line) for line in lines]
    first, second = REDACTOR.values(before)
    out = json.dumps([first, second])
    for secret in ("q8Zr5TfX0aWb9f8e", "9f8e7d6c5b", "40512783391", cloud):
        assert secret not in out
    assert (first["say"], first["commit"], second["after"]) == ("kept", "0a1b2c3d" * 5, "kept too")
    assert list(first["headers"]) == ["cookie", "authorization", "api_key"]
    assert list(first["headers"]["cookie"]) == ["sid", "theme"]
    assert MARK.findall(second["command"]) == [REDACTOR.mark("aws_access_key", cloud)]
    assert second["command"].replace(MARK.findall(second["command"])[0], cloud) == before[1]["command"]
    assert {mark.split(":")[1] for mark in MARK.findall(out)} == {
        "cookie", "authorization", "secret", "aws_access_key",
    }  # fmt: skip
