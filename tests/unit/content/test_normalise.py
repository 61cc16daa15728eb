"""The words of a text, and that ids turn on meaning and not on how it was typed."""

from __future__ import annotations

import string
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorelake.content import normalise as normalising
from lorelake.content.normalise import claim_id, content_key, normalise, shingles, words

TOKENS = st.one_of(
    st.text(string.ascii_letters + string.digits, min_size=1, max_size=8),
    st.sampled_from(
        ["never", "don't", "get_user_name", "src/app.py", "v1.2.3", "--force", "C++", "-1", "!=", "不要", "使用缓存"]
    ),
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Use **UV**, not `pip`!", ["use", "uv", "not", "pip"]),
        ("Don’t retry 3 times", ["don't", "retry", "3", "times"]),
        ("get_user_name in", ["get_user_name", "get", "user", "name", "in"]),
        ("src/app/main.py:12", ["src/app/main.py:12", "src", "app", "main", "py", "12"]),
        ("getUserName", ["getusername"]),
        ("run pytest-xdist 3.6.1", ["run", "pytest-xdist", "pytest", "xdist", "3.6.1", "3", "6", "1"]),
        ("src/__init__.py", ["src/__init__.py", "src", "init", "py"]),
        ("C# not C++ or C.", ["c#", "not", "c++", "or", "c"]),
        ("return -1, not 1", ["return", "-1", "not", "1"]),
        ("## Title\n- a point\n> quoted | cell", ["title", "a", "point", "quoted", "cell"]),
        ("if (a != b && c <= 3)", ["if", "a", "!=", "b", "&&", "c", "<=", "3"]),
        (".env over env, ~/.ssh, --no-verify", [".env", "over", "env", "~/.ssh", "--no-verify", "no", "verify"]),
        ("不要使用 Redis 缓存", ["不要", "要使", "使用", "redis", "缓存"]),
        ("编辑.env文件", ["编辑", ".env", "文件"]),
        ("テストを書く", ["テス", "スト", "トを", "を書", "書く"]),
        ("금", ["금"]),
        ("हिन्दी पाठ", ["हिन्दी", "पाठ"]),
        ("key [redacted:github_token:0a1b2c3d], ok", ["key", "redacted:github_token:0a1b2c3d", "ok"]),
        ("zero\u200bwidth so\u00adft", ["zerowidth", "soft"]),
        ("👍 …", []),
        ("", []),
    ],
)  # fmt: skip
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_algorithm_is_pinned() -> None:
    """These ids are in lakes: whoever changes them raises ALGORITHM."""
    assert content_key("Use **uv**, not `pip`") == "ac681f3ced78093b85db2a9cdc8fa9b5938a3f12c89b323080ea87bdb7d98b05"
    assert claim_id("team", "Use uv, not pip") == "lrn_e55ac6540f5342db4236d39f93e82e32"


@given(st.lists(TOKENS, min_size=1, max_size=12), st.data())
def test_ids_do_not_turn_on_white_space_case_or_wrapping(tokens: list[str], data: st.DataObject) -> None:
    gaps = [data.draw(st.sampled_from([" ", "\n", "  ", "\r\n", "\t", "\n\n    "])) for _ in tokens]
    wrapped = "".join(token + gap for token, gap in zip(tokens, gaps, strict=True))
    plain = " ".join(tokens)
    assert content_key(wrapped) == content_key(plain)
    assert content_key(wrapped.upper()) == content_key(plain)
    assert claim_id("team", wrapped) == claim_id("team", plain)


def test_chinese_may_wrap_anywhere() -> None:
    assert content_key("不要使用\n全局变量") == content_key("不要使用全局变量")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("use uv not pip", "use pip not uv"),
        ("use == not ===", "use === not =="),
        ("retry if x > 5", "retry if x < 5"),
        ("always force push", "never force push"),
        ("do commit", "don't commit"),
        ("wait 30 seconds", "wait 300 seconds"),
        ("return -1 not 1", "return 1 not -1"),
        ("if !ready stop", "if ready stop"),
        ("edit .env", "edit env"),
        ("read /etc/hosts", "read etc/hosts"),
        ("prefer C++", "prefer C"),
        ("不要重试", "要重试"),
        ("key is [redacted:secret:00000000]", "key is [redacted:secret:00000001]"),
    ],
)
def test_what_means_something_else_has_another_key(one: str, other: str) -> None:
    assert content_key(one) != content_key(other)


def test_the_audience_is_part_of_a_claim_and_not_of_a_content_key() -> None:
    assert claim_id("team", "x y") != claim_id("project:a", "x y")
    assert len(claim_id("team", "x")) == 36
    assert len(content_key("x")) == 64


@given(st.text())
def test_normalise_is_idempotent_and_takes_any_text(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once
    assert words(once) == words(text)
    assert "\n" not in once


def test_lone_surrogates_do_no_harm() -> None:
    assert len(content_key("a\ud800b")) == 64


def test_shingles() -> None:
    assert shingles("a b c", n=2) == {"a b", "b c"}
    assert shingles("a b", n=5) == {"a b"}
    assert shingles("!!", n=5) == set()


def test_the_light_modules_need_the_standard_library_only() -> None:
    """Hooks import these on every prompt."""
    code = (
        "import sys\n"
        "from lorelake.content import markers, normalise, quotes, search_words\n"
        "heavy = {'polars', 'pyarrow', 'msgspec', 'yaml', 'numpy', 'duckdb'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


MIXED = st.lists(
    st.sampled_from(
        ["use", "--flag", "src/a.py", "C#", "`x`", "not", "!==", "->", "a|b", "||", "\u200b", "\u00ad", "e\u0301",
         "\u0301", "\u4e2d\u6587", "\u306e", "\ud55c", "\u2014", "\u2019s", "-5", "[redacted:email:1a2b3c4d]", "#",
         "_x_", "\u0130", "x" * 80]
    )
    | st.text(max_size=4),
    max_size=12,
)  # fmt: skip
SPACES = st.sampled_from(["", " ", "\n", "\t", "\u00a0", "\u2003", "\x1c", "\x85", "\u3000"])


@given(MIXED, st.data())
def test_words_read_token_by_token_are_those_of_the_whole_text(parts: list[str], data: st.DataObject) -> None:
    """Claim ids are made of words: however they are read, they may not change."""
    text = "".join(part + data.draw(SPACES) for part in parts)
    assert words(text) == normalising._read(text)
    assert words(text) == normalising._read(text)  # from memory


@given(st.text(st.characters(max_codepoint=127), max_size=60))
def test_the_short_way_of_ascii_ends_where_the_long_way_does(text: str) -> None:
    """A word of another script at the end takes the whole text the long way."""
    assert normalise(f"{text} é") == f"{normalise(text)} é".lstrip()
