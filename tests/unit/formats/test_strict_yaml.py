from __future__ import annotations

import json

import pytest

from lorelake.formats.strict_yaml import YamlError, load


def test_values_are_jsonable() -> None:
    text = "a: 2026-03-01\nb: 2026-03-01 10:00:00\nc: .nan\n2026-01-02: x\nd: !!set {y, x}\ne: [1, null, true]\n"
    text += "f: [no, on, Yes]\n"
    assert json.loads(json.dumps(load(text), allow_nan=False)) == {
        "a": "2026-03-01", "b": "2026-03-01T10:00:00", "c": "nan", "2026-01-02": "x", "d": ["x", "y"],
        "e": [1, None, True], "f": ["no", "on", "Yes"],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("a: 1\nb: [1, 2\n", 3, ""),
        ("a: 1\nc:\n  x: 1\n  x: 2\n", 4, "`x` is given twice"),
        ("a: 1\nb: &anchor x\n", 2, "anchors"),
        ("a: 1\nb: 2026-13-40\n", 2, "month"),
        ("a: 1\nb: !!python/name:os.system x\n", 2, "constructor"),
        ("a: 1\nb: \x07\n", 2, "not allowed"),
        ("a: " + "9" * 5000 + "\n", 1, ""),
        ("a: " + "[" * 3000, 1, ""),
        ("a: " + "[" * 60 + "]" * 60, 1, "deeper"),
        ("x" * 300_000, 1, "longer"),
        ('a: "\\ud83d"\n', 1, "surrogate"),
        ('"\\ude00": 1\n', 1, "surrogate"),
    ],
)
def test_surprises_are_refused_with_their_line(text: str, line: int, what: str) -> None:
    with pytest.raises(YamlError) as caught:
        load(text)
    assert caught.value.line == line
    assert what in caught.value.what


def test_a_character_escaped_in_two_halves_is_one() -> None:
    assert load('"\\ud83d\\ude00": "\\ud83d\\ude00 词"') == {"😀": "😀 词"}


def test_a_bomb_of_anchors_does_not_unfold() -> None:
    bomb = "a: &a [x, x]\n" + "".join(f"{n}: &{n} [*{p}, *{p}]\n" for p, n in zip("abcdefgh", "bcdefghi", strict=True))
    with pytest.raises(YamlError, match="anchors"):
        load(bomb)
