"""Walking and rebuilding decoded JSON."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lorelake.content.values import rebuild, strings

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON)
def test_rebuilding_without_a_change_gives_an_equal_copy(value: Any) -> None:
    same = rebuild(value, lambda leaf, _: leaf, lambda *_: None)
    assert same == value
    assert repr(same) == repr(value)
    assert same is not value or not isinstance(value, list | dict)


def test_every_string_and_key_once() -> None:
    texts, keys = strings([{"a": ["x", "x", {"b": "y"}]}, "z", 1])
    assert set(texts) == {"a", "b", "x", "y", "z"}
    assert set(keys) == {"a", "b"}


def test_context_reaches_what_lies_below_its_key() -> None:
    value = {"secret": ["a", {"open": "b"}], "kept": "c"}

    def enter(key: str, _: dict[str, Any], context: str | None) -> str | None:
        return "hide" if key == "secret" else context

    assert rebuild(value, lambda leaf, context: context or leaf, enter) == {
        "secret": ["hide", {"open": "hide"}],
        "kept": "c",
    }


def test_keys_that_become_equal_lose_no_value() -> None:
    value = {"A@x.org": 1, "a@x.org": 2}
    assert rebuild(value, lambda leaf, _: leaf, lambda *_: None, str.lower) == {"a@x.org": 1, "a@x.org#2": 2}
