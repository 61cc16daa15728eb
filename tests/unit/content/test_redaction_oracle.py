"""A second detector, written by others, looks for secrets in what ours let through.

`detect-secrets` has a detector for each of some services, one for assignments to secret names, and two for entropy. The
entropy ones see a secret in every hash, so what they find has to be one of the things explained below.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
from detect_secrets.core.scan import scan_line
from detect_secrets.settings import transient_settings

from lorelake.content import values as decoded
from lorelake.content.blobs import strip_blobs
from lorelake.content.redaction import RULES, Redactor
from lorelake.content.redaction_rule import entropy

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
REDACTOR = Redactor(b"k" * 32)
DETECTORS = sorted(kind.__name__ for kind in get_mapping_from_secret_type_to_class().values())
ENTROPY = {"Base64 High Entropy String": 4.5, "Hex High Entropy String": 3.0}
"""The limits that the detector itself has for files; on a single line it reports every word."""
SHORTEST = 20

EXPLAINED = {
    "an address of a machine, no secret": lambda kind, value: kind == "Public IP (ipv4)",
    "a commit, digest, checksum or fingerprint": lambda kind, value: re.fullmatch("(?:[0-9a-fA-F]{2}:?){20,64}", value),
    "a UUID or part of one": lambda kind, value: re.fullmatch("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", value),
    "an id that an agent gives a message or call": lambda kind, value: re.match(
        "(?:toolu|msg|req|call|resp|fc|lrn)_", value
    ),
    "a path, an address or a name in words": lambda kind, value: len(re.findall("[A-Za-z]{3,}", value)) >= 3,
}
"""Why something that is found in redacted text may stay, and how it is recognised."""


class Found(NamedTuple):
    kind: str
    value: str


def found_in(lines: Iterable[str]) -> Iterator[Found]:
    for line in lines:
        for secret in scan_line(line):
            kind, value = secret.type, secret.secret_value or ""
            if kind not in ENTROPY or (len(value) >= SHORTEST and entropy(value) > ENTROPY[kind]):
                yield Found(kind, value)


def detecting(names: Iterable[str]) -> AbstractContextManager[Any]:
    return transient_settings({"plugins_used": [{"name": name} for name in names]})


def unexplained(found: Iterable[Found]) -> list[Found]:
    return [one for one in found if not any(reason(*one) for reason in EXPLAINED.values())]


def named(found: Iterable[Found]) -> list[Found]:
    return [one for one in found if one.kind not in ENTROPY and one.kind != "Public IP (ipv4)"]


def test_what_we_plant_the_second_detector_sees_before_and_not_after() -> None:
    chance = random.Random(11)
    words = ["the", "deploy", "reads", "settings", "from", "vault", "and", "then", "restarts", "every", "worker"]
    before, after = [], []
    for example in (example for rule in RULES for example in rule.positive):
        prose = " ".join(chance.choices(words, k=9))
        text = f"{prose}\n{re.sub('[«»]', '', example)}\n{prose}"
        before += text.splitlines()
        after += REDACTOR.values([text])[0].splitlines()
    with detecting(DETECTORS):
        seen = named(found_in(before))
        assert len({one.kind for one in seen}) >= 12, "the second detector is asleep"
        assert unexplained(found_in(after)) == []


@pytest.mark.parametrize(
    "line", ["api_key = '0a1b2c3d4e5f60718293a4b5'", "x AKIA" + "Q3EGR5WX" * 2, "password = 'Tr0ub4dor&3'"]
)
def test_the_second_detector_would_tell_of_a_secret_that_is_left(line: str) -> None:
    with detecting(DETECTORS):
        assert named(found_in([line]))


@pytest.mark.skipif(not DATA.exists(), reason="the collection of real files is not here")
def test_real_transcripts_hold_nothing_for_it_after_redaction() -> None:
    """Every line in which we hid something, and some thousand others."""
    values = []
    for path in sorted(DATA.rglob("*.jsonl")):
        for line in path.read_bytes().splitlines():
            try:
                values.append(strip_blobs(msgspec.json.decode(line)))
            except msgspec.DecodeError:
                continue
    assert values
    texts, _ = decoded.strings(REDACTOR.values(values))
    lines = sorted({line for text in texts for line in text.splitlines() if SHORTEST <= len(line) < 1000})
    masked = [line for line in lines if "[redacted:" in line]
    sample = random.Random(5).sample(lines, min(4000, len(lines)))
    assert masked
    with detecting(name for name in DETECTORS if "HighEntropy" not in name):
        assert unexplained(found_in([*masked[:500], *sample])) == []
