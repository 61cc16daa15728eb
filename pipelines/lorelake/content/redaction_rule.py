"""What a redaction rule is, and the checks on a match that a pattern cannot make.

Patterns keep to what Rust's `regex` and Python's `re` read alike: no look-around, no back-reference, no repeat over
1,000, ASCII classes written out (a Unicode `\\b` or `\\w` is slow in one and differs in the other). What such a
pattern cannot say (nothing may touch the token, enough entropy, not a placeholder) is a check on the match.

The group `secret`, if there is one, is what is hidden; else the whole match. Examples hold the secret between « and »
and are put together from pieces, so that no scanner takes this file for a leak. A literal `\\n` before a token is
common (JSON inside a string), so a token may follow an escape. The tables are `redaction_tokens` and
`redaction_surroundings`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

CHECKS_VERSION = 1
"""Raised when a check or canonical form below changes its verdicts."""


@dataclass(frozen=True)
class Rule:
    """One kind of secret.

    Args:
        name: unique; also the kind in the mark unless `kind` says otherwise.
        pattern: what to look for.
        positive: texts with the secret between « and ».
        negative: texts that look alike and must be left as they are.
        kind: the kind in the mark, where several rules find the same thing in different surroundings.
        hint: a quicker pattern that matches wherever `pattern` does, in a text and in its JSON text, where quotes,
            backslashes and tabs are two characters; rules that share one share its search.
        literals: one of these stands in every match, or nothing does; saves the search where none does.
        bounded: a letter or digit touching the secret makes it something else.
        entropy: least Shannon entropy of the secret, in bits a character.
        accept: a last check of the secret.
        canonical: what the mark is computed over, so that one value written in two ways has one mark.
    """

    name: str
    pattern: str
    positive: tuple[str, ...]
    negative: tuple[str, ...]
    kind: str = ""
    hint: str = ""
    literals: tuple[str, ...] = ()
    bounded: bool = False
    entropy: float = 0.0
    accept: Callable[[str], bool] | None = None
    canonical: Callable[[str], str] | None = None

    @property
    def marked(self) -> str:
        """The kind as it stands in a mark."""
        return self.kind or self.name


def entropy(text: str) -> float:
    """Shannon entropy over the characters, in bits a character; 0 for the empty text."""
    size = len(text)
    return -sum(n / size * math.log2(n / size) for n in Counter(text).values()) if size else 0.0


_PLACEHOLDER = re.compile(
    r"://|example|placeholder|changeme|change_me|dummy|redacted|your[_-]|my[_-]|insert|xxxx|\*\*\*|\.\.\.|"
    r"^[a-z_]+(?:[./][a-z0-9_-]+)+$|^(?:test|none|null|true|false|undefined|string|required|optional)",
    re.IGNORECASE,
)


def is_password(value: str) -> bool:
    """Whether a value given as a password is one: not a word of prose or code, not a placeholder."""
    kinds = [re.search(kind, value) for kind in ("[A-Za-z]", "[0-9]", "[^A-Za-z0-9._-]")]
    return sum(map(bool, kinds)) >= 2 and entropy(value) >= 2.25 and not _PLACEHOLDER.search(value)


def is_token(value: str) -> bool:
    """Whether a value given as a token is one: letters and digits mixed, near random, not a placeholder."""
    mixed = re.search("[A-Za-z]", value) and re.search("[0-9]", value)
    return bool(mixed) and entropy(value) >= 3.0 and not _PLACEHOLDER.search(value)


def is_email(value: str) -> bool:
    """Whether local@domain is an address: not a remote (git@host), not a picture for a dense screen."""
    return not _NO_EMAIL.search(value)


_NO_EMAIL = re.compile(
    r"^git@|\.(?:png|jpe?g|gif|svg|webp|ico|avif|css|s[ac]ss|[cm]?[jt]sx?|json|md|py|tgz|ya?ml|html?|local|internal)$",
    re.IGNORECASE,
)


def is_phone(value: str) -> bool:
    """Whether digits and joints can be dialled: 10 to 15 digits, grouped, or 11 and more after a plus."""
    digits = sum(map(str.isdigit, value))
    grouped = len(re.findall("[0-9]+", value)) >= 3
    return 10 <= digits <= 15 and (grouped or digits >= 11)


def digits_of(value: str) -> str:
    """A phone number without its joints; one without a country code stays as it is told."""
    return re.sub("[^0-9]", "", value)


def key_body(value: str) -> str:
    """A private key without line ends, real or escaped."""
    return re.sub(r"\\+[nr]|\s", "", value)


ASSIGN = r"""["'\\]{0,4}[ \t]{0,4}(?::=|=>|=|:)[ \t]{0,4}["'\\`]{0,4}"""
"""What stands between a name and its value, in code, configuration, JSON and JSON inside a string."""

# Examples are made of these: long and mixed enough for every rule, and obviously nobody's.
MIXED_16 = "a1B2c3D4e5F6g7H8"
MIXED_36 = MIXED_16 + "i9J0k1L2m3N4o5P6q7R8"
MIXED_64 = MIXED_36 + "s9T0u1V2w3X4y5Z6a7B8c9D0e1F2"
HEX_32 = "0a1b2c3d4e5f60718293a4b5c6d7e8f9"
