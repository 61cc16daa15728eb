"""A quote is found where it stands, in the text as it is, or not at all."""

from __future__ import annotations

import hashlib
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorelake.content.quotes import fold, locate, verify

TEXT = st.text(
    st.sampled_from("ab é e\u0301o\u0308\u0323각ᄀ\u1161\u11a8\u212b \t\n\r\u00a0\u3000日か\u3099") | st.characters(),
    max_size=40,
)


@pytest.mark.parametrize(
    ("text", "quote", "found"),
    [
        ("Never push to main.", "push to main", "push to main"),
        ("Never push\r\n   to main.", "push to main", "push\r\n   to main"),
        ("Never push to main.", "push\nto  main", "push to main"),
        ("cafe\u0301 rules", "café rules", "cafe\u0301 rules"),
        ("café rules", "cafe\u0301", "café"),
        ("  padded  ", "  padded ", "padded"),
        ("x x", "x", "x"),
    ],
)
def test_found_in_the_original(text: str, quote: str, found: str) -> None:
    place = locate(text, quote)
    assert place is not None
    assert text[slice(*place)] == found


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("Never push to main.", "never push"),
        ("Never push to main.", "push main"),
        ("retry 30 times", "retry 3 times"),
        ("cafe\u0301", "cafe"),
        ("anything", ""),
        ("anything", " \n"),
        ("", "a"),
    ],
)
def test_not_found(text: str, quote: str) -> None:
    assert locate(text, quote) is None


def test_the_first_of_several_places() -> None:
    assert locate("a b a b", "a b") == (0, 3)


def test_a_letter_inside_a_composed_one_is_passed_over() -> None:
    """`e` does not stand in a decomposed `é`; the later plain one is meant."""
    assert locate("e\u0301 e", "e") == (3, 4)


@given(TEXT, st.data())
def test_any_cut_of_a_text_is_found_again(text: str, data: st.DataObject) -> None:
    folded = fold(text)
    start = data.draw(st.integers(0, len(folded)))
    quote = folded[start : data.draw(st.integers(start, len(folded)))]
    place = locate(text, quote)
    if place is not None:
        assert fold(text[slice(*place)]) == fold(quote)
    if (
        fold(quote) == quote
        and quote
        and all(unicodedata.normalize("NFD", c)[0] == c for c in folded)
        and not any(map(unicodedata.combining, folded))
    ):
        assert place is not None


@given(TEXT, TEXT)
def test_what_is_returned_says_the_same(text: str, quote: str) -> None:
    place = locate(text, quote)
    if place is not None:
        assert 0 <= place[0] < place[1] <= len(text)
        assert fold(text[slice(*place)]) == fold(quote)
    elif fold(quote):
        assert quote not in text or unicodedata.normalize("NFC", text) != text


@given(TEXT)
def test_the_whole_is_found_in_itself(text: str) -> None:
    assert (locate(text, text) is not None) == bool(fold(text))


def test_verify() -> None:
    text = "Never push to main."
    sha = hashlib.sha256(b"push").hexdigest()
    assert verify(text, 6, 10, sha)
    assert not verify(text, 5, 10, sha)
    assert not verify(text, 6, 99, sha)
    assert not verify(text, 6, 6, hashlib.sha256(b"").hexdigest())
    assert not verify(text, -13, 10, sha)
