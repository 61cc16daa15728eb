"""Every rule against its own examples, and all rules against what only looks like a secret."""

from __future__ import annotations

import base64
import hashlib
import random
import re
import uuid

import polars as pl
import pytest

from lorelake.content.redaction import FEW, RULES, Redactor
from lorelake.content.redaction_rule import Rule

REDACTOR = Redactor(b"k" * 32)
POSITIVE = [pytest.param(rule, text, id=f"{rule.name}-{i}") for rule in RULES for i, text in enumerate(rule.positive)]
NEGATIVE = [pytest.param(rule, text, id=f"{rule.name}-{i}") for rule in RULES for i, text in enumerate(rule.negative)]


def test_there_are_thirty_kinds_and_each_has_examples_both_ways() -> None:
    assert len({rule.marked for rule in RULES}) >= 30
    assert len({rule.name for rule in RULES}) == len(RULES)
    assert all(rule.positive for rule in RULES)
    assert all(rule.negative for rule in RULES)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_patterns_stay_in_the_subset_that_rust_and_python_share(rule: Rule) -> None:
    assert not re.search(r"\(\?(?:=|!|<=|<!)|\\[1-9bBwWdD]|\(\?P=", rule.pattern)
    assert all(int(n) <= 1000 for bounds in re.findall(r"\{([0-9,]+)\}", rule.pattern) for n in bounds.split(",") if n)
    pl.Series(["x"]).str.contains(rule.pattern)
    re.compile(rule.pattern)


@pytest.mark.parametrize(("rule", "example"), POSITIVE)
def test_the_secret_and_nothing_else_is_hidden(rule: Rule, example: str) -> None:
    before, secret, after = re.split("[«»]", example)
    text = before + secret + after
    result = REDACTOR.text(text)
    mark = rf"\[redacted:{rule.marked}:[0-9a-f]{{8}}\]"
    assert re.fullmatch(re.escape(before) + mark + re.escape(after), result), result
    assert not rule.literals or any(literal in text for literal in rule.literals)


@pytest.mark.parametrize(("rule", "text"), NEGATIVE)
def test_the_near_miss_of_a_rule_is_left_alone(rule: Rule, text: str) -> None:
    assert REDACTOR.text(text) == text


def test_finding_by_column_and_finding_by_text_agree() -> None:
    """Both engines read every pattern alike: the vectorised way gives what Python's `re` gives."""
    texts = [re.sub("[«»]", "", text) for rule in RULES for text in rule.positive + rule.negative]
    assert sum(map(len, texts)) > FEW
    assert REDACTOR.values(texts) == [REDACTOR.text(text) for text in texts]


def look_alikes() -> list[str]:
    """Ordinary things of a developer's day that are random to look at, made from a fixed seed."""
    chance = random.Random(20260320)
    texts = []
    for i in range(30):
        noise = chance.randbytes(64)
        sha1, sha256 = hashlib.sha1(noise).hexdigest(), hashlib.sha256(noise).hexdigest()  # noqa: S324
        texts += [
            f"commit {sha1}",
            f"fixed in {sha1[:7]}",
            f"sha256:{sha256}",
            f"session {uuid.UUID(bytes=noise[:16])}",
            f'"integrity": "sha512-{base64.b64encode(noise).decode()}",',
            f"{sha256}  dist/pkg-{i}.tar.gz",
            f"lrn_{sha256[:32]} lrn_{sha1[:12]}",
            f"[redacted:github_token:{sha1[:8]}] and [redacted:password:{sha1[8:16]}]",
            f"<!-- lorelake:shown release=2026-03-20-{sha1[:8]} ids=lrn_{sha256[:32]} -->",
            f"[blob:image/png:{i}:{sha256}]",
            "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n" + noise * 40).decode(),
            f"github.com/org/repo v0.0.0-20260101{i:06d}-{sha1[:12]} h1:{base64.b64encode(noise[:32]).decode()}",
            f"pkg@{i}.{i + 1}.{i + 2}-rc.{i}+build.{sha1[:7]}",
            f"/home/dev/code/module_{i}/src/{sha1[:10]}/index.ts:{i}:{i + 7}",
            f"toolu_01{base64.b64encode(noise[:15], b'ab').decode()}",
            f"msg_01{base64.b64encode(noise[:15], b'ab').decode()}",
            f"req_011C{base64.b64encode(noise[15:30], b'ab').decode()}",
            f"2026-03-{i % 28 + 1:02d}T12:00:{i:02d}.{i:06d}Z 1783514459.{i:06d}",
            f"input_tokens: {10**5 + i}, cache_read_input_tokens: {10**9 + i}",
            f"@@ -{i},7 +{i * 37},{i + 9} @@ def test_token_{i}():",
            f"token_count={i}; const apiKeyHeader = 'X-Api-Key'; secretName: my-team/prod-{i}",
        ]
    return texts


def test_nothing_that_only_looks_random_is_hidden() -> None:
    texts = look_alikes()
    assert len(texts) >= 200
    assert [text for text in texts if REDACTOR.text(text) != text] == []
    assert REDACTOR.values(texts) == texts
