"""Likeness of texts, exact and from sketches."""

from __future__ import annotations

import random

import pytest

from lorelake.content.similarity import (
    SIZE,
    jaccard,
    shingle_share,
    shingles_of,
    signature,
    signature_similarity,
)

WORDS = [f"{a}{b}{c}" for a in "bdfgk" for b in "aeiou" for c in "lmnrst"]


def pairs() -> list[tuple[str, str]]:
    """Texts of 30 to 150 words and copies with 0 to 60 % of the words replaced, from a fixed seed."""
    chance = random.Random(7)
    made = []
    for i in range(120):
        text = chance.choices(WORDS, k=chance.randint(30, 150))
        copy = [word if chance.random() > i % 7 / 10 else chance.choice(WORDS) for word in text]
        made.append((" ".join(text), " ".join(copy)))
    return made


def test_jaccard_counts_shared_word_pairs() -> None:
    assert jaccard("a b c", "A  b, c!") == 1.0
    assert jaccard("a b c", "a b d") == pytest.approx(1 / 3)
    assert jaccard("use uv not pip", "use pip not uv") == 0.0
    assert jaccard("one", "one") == 1.0
    assert jaccard("", "") == 0.0


def test_sketches_estimate_jaccard() -> None:
    errors = [abs(jaccard(a, b) - signature_similarity(signature(a), signature(b))) for a, b in pairs()]
    assert sum(errors) / len(errors) < 0.05
    assert max(errors) < 0.25


def test_sketches_of_short_texts_are_exact() -> None:
    one, other = "never push to main without review", "never push to main without tests"
    assert signature_similarity(signature(one), signature(other)) == jaccard(one, other)


def test_a_sketch_is_sorted_short_and_the_same_each_time() -> None:
    text = " ".join(WORDS)
    assert signature(text) == sorted(signature(text))
    assert len(signature(text)) == SIZE
    assert signature("never push to main") == ["10a942d3617d5776", "bdfdf0b0041eaa2f", "f257b3ce1db4f288"]
    assert signature("") == []
    assert signature_similarity([], []) == 0.0


def test_a_sketch_under_a_key_tells_nothing_without_it() -> None:
    text = "never push to main"
    assert set(signature(text, b"key" * 11)).isdisjoint(signature(text))
    assert signature_similarity(signature(text, b"key" * 11), signature(text, b"key" * 11)) == 1.0
    assert not any(word in "".join(signature(text)) for word in text.split())


def test_the_share_of_a_text_is_counted_in_its_own_shingles_over_all_others_together() -> None:
    first, second = "never run the seed script twice", "script twice or it hangs"
    whole = "never run the seed script twice or it hangs"
    assert shingle_share(whole, shingles_of([first])) == pytest.approx(2 / 5)
    assert shingle_share(whole, shingles_of([first, second])) == pytest.approx(3 / 5)
    assert shingle_share("", shingles_of([first])) == 0.0


def test_a_short_statement_is_found_as_a_whole_line_only() -> None:
    assert shingle_share("Pin the image", shingles_of(["Rules:\nPin the image\nand more"])) == 1.0
    assert shingle_share("Pin the image", shingles_of(["Rules: pin the image and more"])) == 0.0
