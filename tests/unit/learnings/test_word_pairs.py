"""Word bigrams as numbers: the same ones as sets of strings have, and every pair of texts that is near by them."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorelake.content.normalise import words
from lorelake.learnings.word_pairs import sharing_rare_pairs, word_pairs

TEXTS = st.lists(st.lists(st.sampled_from("abcdef"), max_size=7), min_size=1, max_size=12)


def pairs(text):
    return list(pairwise(text)) or [(word, "") for word in text]


@given(TEXTS)
def test_every_pair_has_one_number_and_every_number_one_pair(texts):
    rows = word_pairs(texts).rows()
    wanted = [(place, pair) for place, text in enumerate(texts) for pair in pairs(text)]
    assert [place for place, _ in rows] == [place for place, _ in wanted]
    both = {(pair, number) for (_, pair), (_, number) in zip(wanted, rows, strict=True)}
    assert len(both) == len({pair for pair, _ in both}) == len({number for _, number in both})


def slow(texts, groups, share, rare_in):
    """Pair by pair: near, of one group, and with a bigram in common that is rare there."""
    sets = [set(pairs(text)) for text in texts]
    spread = Counter((group, pair) for group, own in zip(groups, sets, strict=True) for pair in own)
    for one, other in combinations(range(len(texts)), 2):
        common = sets[one] & sets[other]
        is_rare = any(spread[groups[one], pair] <= rare_in for pair in common)
        if groups[one] == groups[other] and is_rare and len(common) >= share * len(sets[one] | sets[other]):
            yield one, other


@given(TEXTS, st.data(), st.sampled_from([0.2, 0.5, 0.6, 0.8]), st.integers(2, 6))
def test_no_near_pair_is_missed_and_none_of_another_group_is_met(texts, data, share, rare_in):
    groups = data.draw(st.lists(st.sampled_from(["team", "project:a"]), min_size=len(texts), max_size=len(texts)))
    found = sharing_rare_pairs(texts, groups, share, rare_in)
    assert set(slow(texts, groups, share, rare_in)) <= set(found)
    assert found == sorted(set(found), key=lambda pair: pair[::-1])
    assert all(one < other and groups[one] == groups[other] for one, other in found)


def test_what_stands_in_too_many_texts_brings_none_together():
    texts = [["close", "the", "pool"]] * 4
    assert len(sharing_rare_pairs(texts, ["team"] * 4, 0.5, 4)) == 6
    assert sharing_rare_pairs(texts, ["team"] * 4, 0.5, 3) == []


def test_groups_neither_meet_nor_make_common_what_is_rare_in_one():
    texts, groups = [["close", "the", "pool"]] * 4, ["team", "project:a", "team", "project:a"]
    assert sharing_rare_pairs(texts, groups, 0.5, 2) == [(0, 2), (1, 3)]


def test_texts_that_share_little_are_not_compared():
    """One bigram of six in common is below a half, and it is not among the rarest of either."""
    one = words("keep the pool of workers quite small")
    other = words("close the pool before any other thing")
    assert sharing_rare_pairs([one, other], ["team", "team"], 0.5, 20) == []


@pytest.mark.parametrize("texts", [[], [[]], [[], []]])
def test_no_words_are_no_pairs(texts):
    assert word_pairs(texts).is_empty()
    assert sharing_rare_pairs(texts, ["team"] * len(texts), 0.5, 20) == []
