"""JSON text is searched in place of the strings in it; what it says no to must hold nothing."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorelake.content.redaction import FEW, RULES, Redactor
from lorelake.content.redaction_rule import Rule
from lorelake.content.redaction_search import Search, is_plain

REDACTOR = Redactor(b"k" * 32)
FILLER = "nothing is hidden in these words. " * (FEW // 30)
EXAMPLES = [(rule, re.sub("[«»]", "", text)) for rule in RULES for text in rule.positive]
AROUND = st.text(alphabet=st.sampled_from("\"'\\\t\n\r\x00\x1f\x7f /<é\u2028ab1 =:"), max_size=6)
NAMES = ["password", "api_key", "Set-Cookie", "p-a_s.s word", "AUTHORIZATION", "client-secret", "credentials", "x"]


def column(*values: Any) -> pl.Series:
    return pl.Series([msgspec.json.encode(value).decode() for value in values])


@pytest.mark.parametrize(("rule", "text"), EXAMPLES, ids=[f"{rule.name}-{i}" for i, (rule, _) in enumerate(EXAMPLES)])
def test_a_rule_is_found_in_json_text_wherever_its_pattern_matches(rule: Rule, text: str) -> None:
    values = [{"a": text}, {text: 1}, ["x", json.dumps({"in": text})], "nothing"]
    matching = [
        row for row, value in enumerate([text, text, json.dumps({"in": text})]) if re.search(rule.pattern, value)
    ]
    assert set(matching) <= set(Search([rule]).json_texts(column(*values)))


@given(example=st.sampled_from(EXAMPLES), before=AROUND, after=AROUND)
def test_no_character_around_a_secret_hides_it_from_the_search(
    example: tuple[Rule, str], before: str, after: str
) -> None:
    rule, text = example
    whole = before + text + after
    if re.search(rule.pattern, whole):
        assert Search([rule]).json_texts(column({"a": whole})) == {0: [0]}


@given(
    st.recursive(
        st.one_of(st.sampled_from([text for _, text in EXAMPLES]), AROUND, st.integers(0, 10**12), st.none()),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
        ),
        max_leaves=6,
    )
)
def test_a_value_among_many_is_redacted_as_it_is_alone(value: Any) -> None:
    """A value alone is too small for a search, so that every string of it meets every rule."""
    assert REDACTOR.values([FILLER, value])[1] == REDACTOR.values([value])[0]


@pytest.mark.parametrize("text", ["\ud800 half a pair", "x"])
def test_text_that_no_column_can_hold_is_redacted_all_the_same(text: str) -> None:
    token = "ghp_" + "a1B2" * 9
    assert token not in repr(REDACTOR.values([FILLER, [text, token]]))


@pytest.mark.parametrize("pattern", ['a"b', r"a\\b", r"a\sb", "[^x]", "a$", "^a", "a\nb", r"\\[nr]a"])
def test_a_pattern_that_an_escape_could_change_is_not_plain(pattern: str) -> None:
    assert not is_plain(pattern)


def test_most_patterns_are_plain_and_every_other_has_a_hint_or_literals() -> None:
    assert sum(is_plain(rule.pattern) for rule in RULES) > len(RULES) // 2
    assert all(is_plain(rule.pattern) or rule.hint or min(map(len, rule.literals)) >= 3 for rule in RULES)


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.hint], ids=lambda rule: rule.name)
def test_a_hint_never_says_no_to_what_its_pattern_finds(rule: Rule) -> None:
    for text in rule.positive:
        plain = re.sub("[«»]", "", text)
        assert re.search(rule.hint, plain)
        assert re.search(rule.hint, json.dumps(plain))
        assert re.search(rule.hint, json.dumps(json.dumps(plain)))
