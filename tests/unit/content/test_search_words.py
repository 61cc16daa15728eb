"""Index and query are cut by one function."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorelake.content.search_words import index_text, query_terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("getUserName", "getusername get user name"),
        ("get_user_name", "getusername get user name"),
        ("pytest-xdist", "pytestxdist pytest xdist"),
        ("HTTPServer", "httpserver http server"),
        ("src/app/main.py:12", "src app main py 12"),
        ("sha256 ERROR", "sha256 error"),
        ("不要使用 Redis缓存", "不要 要使 使用 redis 缓存"),
        ("ＡＢＣ", "abc"),
        ("[redacted:github_token:0a1b2c3d] leaked", "githubtoken github token leaked"),
        ("[blob:image/png:12:" + "0" * 64 + "] shown", "shown"),
        ("", ""),
    ],
)
def test_index_text(text: str, expected: str) -> None:
    assert index_text(text) == expected


def test_query_terms_come_once() -> None:
    assert query_terms("retry, Retry getUser get") == ["retry", "getuser", "get", "user"]


@given(st.text())
def test_terms_survive_the_tokenizer_behind_them(text: str) -> None:
    """Every term of a text finds that text, and a query is cut as the index is."""
    terms = query_terms(text)
    assert terms == list(dict.fromkeys(index_text(text).split(" "))) or not terms
    assert not any(character in term for term in terms for character in "\"'*:()^-_ ")


@pytest.mark.parametrize("query", ["user name", "getUserName", "get_user_name", "缓存", "テスト", "연결"])
def test_sqlite_finds_what_was_indexed(query: str) -> None:
    base = sqlite3.connect(":memory:")
    base.execute("create virtual table t using fts5(body, tokenize='unicode61')")
    base.execute("insert into t values (?)", [index_text("getUserName 使用缓存 テストを書く 연결을 닫는다")])
    match = " AND ".join(f'"{term}"' for term in query_terms(query))
    assert base.execute("select count(*) from t where t match ?", [match]).fetchone() == (1,)
