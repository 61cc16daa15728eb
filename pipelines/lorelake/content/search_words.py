"""The terms of a text as the index holds them and a query asks for them: one function for both.

Standard library only, because recall imports it on every prompt. Terms are lower case and hold only letters and
digits, so that no tokenizer behind it (SQLite's unicode61, LanceDB's) cuts them again: `getUserName` and
`get_user_name` both give `getusername get user name`, a path its parts, Chinese, Japanese and Korean runs their
character bigrams. The hash inside a mark of redaction is no term; its kind is.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from lorelake.content.normalise import INVISIBLE, MARK, bigrams, cjk_apart, is_cjk, letter

_DROP = re.compile(f"[{INVISIBLE}]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[_-]+")


def index_text(text: str) -> str:
    """The terms of a text in their order, joined by spaces: what is written into the index."""
    return " ".join(_terms(text))


def query_terms(text: str) -> list[str]:
    """The terms of a question, each once, in the order they first occur."""
    return list(dict.fromkeys(_terms(text)))


@cache
def _term_pattern(ascii_only: bool) -> re.Pattern[str]:
    one = letter(ascii_only)
    return re.compile(rf"(?P<mark>{MARK})|{one}+(?:[_-]+{one}+)*")


def _terms(text: str) -> list[str]:
    plain = text.isascii()
    if not plain:
        text = cjk_apart(unicodedata.normalize("NFKC", _DROP.sub("", text)))
    found: list[str] = []
    for match in _term_pattern(plain).finditer(text):
        term = match[0]
        if match["mark"]:
            found.extend(_split(term[1:-1].split(":")[1]) if term.startswith("[redacted:") else [])
        else:
            found.extend(_split(term) if plain or not is_cjk(term) else bigrams(term))
    return found


def _split(name: str) -> list[str]:
    """`name` without its joints, then its parts if it has several."""
    parts = [part.casefold() for part in _HUMP.split(name) if part]
    return ["".join(parts), *parts] if len(parts) > 1 else parts
