"""One reading of a text as words, and the keys that are made from it. Standard library only.

The algorithm is part of every claim id: a change of any step raises `ALGORITHM` and re-keys the lake.

1. Drop invisible characters (soft hyphen, joiners, zero-width, direction marks, variation selectors), so that
   an invisible character cannot make a second text out of one.
2. Unicode NFC, case-fold, NFC. Control characters become spaces; curly quotes and the dashes become ASCII ones,
   a long dash a spaced one.
3. Fold Markdown: backticks, ``*``, ``~~``, ``|`` standing alone, ``>`` that is no operator, ``#`` that does not end
   a word (C# stays), underscores at the edge of a word. Folding looks at characters, never at line starts: a number
   or dash that re-wrapping moves to a line start must not change an id. `||` and the comparison operators stay.
4. Runs of white space become one space; none is left between two Chinese or Japanese characters (they wrap anywhere).

`normalise` is the text after step 4. `words` reads it from left to right:

- a mark of redaction or of a blob is one word, brackets left off;
- an identifier, path, flag, address, version or number is one word (`_ - . / : @ '` and `\\` inside it stay; so do
  a leading ``--``, ``.``, ``./``, ``../``, ``/``, ``~/``, ``$``, ``@``, ``!``, the sign of a number, and ``++`` or
  ``#`` at its end), followed by its parts where it has several;
- a run of Chinese, Japanese or Korean characters is its character bigrams (one character alone is itself), set apart
  from what touches it;
- a comparison, logic or arrow operator is a word, because `use == not ===` says something else the other way round.

Everything else is punctuation and is left out. No word is: negations and numbers are what a claim turns on. CamelCase
is not split here (that would make the id depend on case); `search_words` does it for search.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from functools import cache
from itertools import chain

ALGORITHM = "words-1"

INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff"
)
"""Characters a reader cannot see, as the inside of a character class."""

UNSPACED = (
    "\u3005-\u3007\u3040-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003fffd"
)
"""Chinese and Japanese characters, written without spaces, as the inside of a character class."""

CJK = UNSPACED + "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"
"""The same with Korean, whose words carry their particles and are matched better by bigrams."""

_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0971-\u109f\u1780-\u17d3"
)
REDACTED = r"\[redacted:[a-z0-9_]{1,40}:[0-9a-f]{8}\]"
"""What redaction leaves in a text, as a regular expression."""

MARK = rf"(?:{REDACTED}|\[blob:[a-z0-9.+/-]{{1,80}}:[0-9]{{1,20}}:[0-9a-f]{{64}}\])"
"""What redaction or blob stripping leaves in a text, as a regular expression."""

_DROP = re.compile(f"[{INVISIBLE}]+")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
_ASCII = str.maketrans(dict.fromkeys("‘’‚‛", "'") | dict.fromkeys("“”„‟", '"') | dict.fromkeys("‐‑", "-"))
_ASCII |= str.maketrans(dict.fromkeys("‒–—―", " - "))
_MARKUP = re.compile(
    r"[`*]+|~~+|(?<!\|)\|(?!\|)|(?<![-=>])>(?![=>])|(?<![^\W_])#+|(?<=#)#+|(?<![\w/.:\\-])_+|_+(?![\w/.:\\-])"
)
_SPACE = re.compile(r"\s+")
_PREFIX = r"(?<![^\s\"'(\[{<,;=|])(?:--|(?:~|\.{1,2})?/\.?|[.$@!]|-(?=[0-9]))"
_OPERATOR = r"[!=]==?|[<>]=|[-=]>|<-|&&|\|\||\?\?|[:+-]=|<(?=[\s0-9]|$)"


def letter(ascii_only: bool) -> str:
    """A letter, digit or vowel sign as a regular expression. The wide classes take milliseconds to compile."""
    return r"[^\W_]" if ascii_only else rf"(?:[^\W_]|[{_MARKS}])"


@cache
def _word_pattern(ascii_only: bool) -> re.Pattern[str]:
    one = letter(ascii_only)
    core = rf"{one}+(?:(?:'|[-_./:\\@]{{1,4}}){one}+)*"
    name = rf"(?:{_PREFIX})?{core}(?:(?:\+\+|\#)(?!\w))?"
    return re.compile(rf"(?P<mark>{MARK})|(?P<name>{name})|(?P<operator>{_OPERATOR})")


@cache
def _part_pattern(ascii_only: bool) -> re.Pattern[str]:
    one = letter(ascii_only)
    return re.compile(rf"{one}+(?:'{one}+)*")


@cache
def _cjk_pattern() -> re.Pattern[str]:
    return re.compile(f"[{CJK}]+")


@cache
def _wrap_pattern() -> re.Pattern[str]:
    return re.compile(rf"(?<=[{UNSPACED}])\s+(?=[{UNSPACED}])")


def normalise(text: str) -> str:
    """The text after steps 1 to 4: one line, folded case, no Markdown, punctuation kept. Idempotent."""
    if text.isascii():  # most texts are, and half of the steps find nothing in them
        text = text.lower() if text.isprintable() else _CONTROL.sub(" ", text.lower())
        return " ".join(_MARKUP.sub(" ", text).split())
    text = unicodedata.normalize("NFC", _DROP.sub("", text)).casefold()
    text = unicodedata.normalize("NFC", text).translate(_ASCII)
    text = _SPACE.sub(" ", _MARKUP.sub(" ", _CONTROL.sub(" ", text))).strip()
    return text if text.isascii() else unicodedata.normalize("NFC", _wrap_pattern().sub("", text))


def words(text: str) -> list[str]:
    """The words of a text in their order, as the module says; identifiers whole and then in parts."""
    if text.isascii() or not _cjk_pattern().search(text):
        return list(chain.from_iterable(map(_tokens.__getitem__, text.split())))
    return _read(text)


class _Tokens(dict[str, list[str]]):
    """The words of tokens that were met. No step looks past white space, but for Chinese and Japanese."""

    def __missing__(self, token: str) -> list[str]:
        found = _read(token)
        if len(token) < 64:
            if len(self) >= 1 << 16:
                self.clear()
            self[token] = found
        return found


_tokens = _Tokens()


def _read(text: str) -> list[str]:
    text = normalise(text)
    plain = text.isascii()
    found: list[str] = []
    for match in _word_pattern(plain).finditer(text if plain else cjk_apart(text)):
        word = match[0]
        if match.lastgroup == "mark":
            found.append(word[1:-1])
        elif not plain and is_cjk(word):
            found.extend(bigrams(word))
        elif match.lastgroup == "operator" or word.isalnum():
            found.append(word)
        else:
            parts = _part_pattern(plain).findall(word)
            found += [word, *parts] if len(parts) > 1 else [word]
    return found


def cjk_apart(text: str) -> str:
    """The text with a space around every run of Chinese, Japanese or Korean characters."""
    return _cjk_pattern().sub(r" \g<0> ", text)


def is_cjk(word: str) -> bool:
    """Whether a word is a run of Chinese, Japanese or Korean characters."""
    return bool(_cjk_pattern().match(word))


def bigrams(run: str) -> list[str]:
    """Overlapping pairs of characters; a single character is itself."""
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def shingles(text: str, n: int = 5) -> set[str]:
    """Every run of n words, joined by spaces. A text of fewer words is one shingle; one without words has none."""
    found = words(text)
    return {" ".join(found[i : i + n]) for i in range(max(len(found) - n, 0) + 1)} if found else set()


def content_key(text: str) -> str:
    """sha256 hex of the words: equal for texts that differ in case, wrapping or Markdown only."""
    return _sha256(" ".join(words(text)))


def claim_id(audience: str, text: str) -> str:
    """`lrn_` and 32 hex over the audience and the words of the witness."""
    return "lrn_" + _sha256(audience + "\x1f" + " ".join(words(text)))[:32]


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
