"""Hide secrets and personal data in decoded values, before anything is stored outside landing.

A hidden value becomes `[redacted:<kind>:<8 hex>]`, the hex from an HMAC-SHA256 of the value under the team's key: equal
values stay equal wherever they stand, and nobody without the key can test a guess. Redaction works on the strings of
decoded JSON, never on its serialised text, so structure and neighbours survive. It is idempotent: marks are passed
over, and what a pass leaves has nothing more to hide.

Finding is vectorised and runs over the JSON text of whole values (`redaction_search`); replacing runs in Python on the
strings of the few that were found.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import stat
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from lorelake.content import values as decoded
from lorelake.content.normalise import REDACTED
from lorelake.content.redaction_rule import CHECKS_VERSION, Rule, entropy, is_password, is_token
from lorelake.content.redaction_search import Search
from lorelake.content.redaction_surroundings import PERSONAL, SURROUNDED
from lorelake.content.redaction_tokens import KEY_BLOCKS, TOKENS
from lorelake.errors import SettingsError

if TYPE_CHECKING:
    import polars

__all__ = ["MARK", "RULES", "RULES_VERSION", "Redactor", "Rule", "column_of", "disown", "load_key"]

RULES: tuple[Rule, ...] = KEY_BLOCKS + TOKENS + SURROUNDED + PERSONAL
"""In the order they are applied: a token known by its own form is named by that, whatever stands around it."""


def _version() -> str:
    parts = [
        (rule.name, rule.pattern, rule.marked, rule.literals, rule.bounded, rule.entropy, *checks)
        for rule in RULES
        for checks in [[check.__qualname__ if check else "" for check in (rule.accept, rule.canonical)]]
    ]
    return hashlib.sha256(repr((CHECKS_VERSION, parts)).encode()).hexdigest()[:12]


RULES_VERSION = _version()
"""Part of the input hash of every day: other rules are another logic version."""

MARK = re.compile(f"({REDACTED})")
SHORTEST = 6
"""No rule hides anything in a shorter text (a@b.co)."""
FEW = 4096
"""Characters below which starting a vectorised search costs more than it saves."""

_LETTER = re.compile("[A-Za-z0-9]")
_ESCAPE = re.compile(r"\\[abfnrtv0]")
_SCHEME = re.compile(r"^(?:bearer|basic|token|bot|digest|apikey)[ \t]+", re.IGNORECASE)
_PASSWORD_NAMES = frozenset({"password", "passwd", "pwd", "passphrase", "userpassword", "dbpassword", "pgpassword"})
_SECRET_NAMES = frozenset(
    {
        "secret", "clientsecret", "secretkey", "token", "accesstoken", "refreshtoken", "idtoken", "authtoken",
        "bearertoken", "sessiontoken", "apikey", "xapikey", "apitoken", "xauthtoken", "privatetoken", "accesskey",
        "privatekey", "credentials",
    }
)  # fmt: skip
_HEADER_NAMES = {
    "authorization": "authorization", "proxyauthorization": "authorization",
    "cookie": "cookie", "cookies": "cookie", "setcookie": "cookie",
}  # fmt: skip
_JOINT = "[-_ .]*"
_NAMED_KEY = (
    "(?i)(?:"
    + "|".join(
        _JOINT.join(end)
        for end in (
            "word", "passwd", "pwd", "phrase", "secret", "token", "key", "credentials", "authorization", "cookie",
            "cookies",
        )
    )
    + f"){_JOINT}\":"
)  # fmt: skip
"""In JSON text: what follows any key that `_named` knows."""


def load_key(path: Path) -> bytes:
    """The team's key; made on first use, readable by its owner only.

    Raises:
        SettingsError: others may read it, it is too short to be a key, or it cannot be read or made.
    """
    try:
        if not path.exists():
            _make_key(path)
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & 0o077:
            raise SettingsError(
                f"the redaction key may be read by others (mode {mode:04o})",
                where=str(path),
                remedy=f"chmod 600 {path}; make a new key if somebody may have copied it",
            )
        key = path.read_bytes().strip()
    except OSError as error:
        raise SettingsError(
            f"the redaction key cannot be read: {error.strerror}", where=str(path), remedy="see redaction.key_file"
        ) from None
    if len(key) < 32:
        raise SettingsError(
            f"the redaction key has {len(key)} bytes, 32 are needed",
            where=str(path),
            remedy="restore it from a backup; or remove the file, and marks made so far no longer equal new ones",
        )
    return key


def _make_key(path: Path) -> None:
    """Written aside and linked into place: never half a key, never over another's."""
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(secrets.token_hex(32).encode() + b"\n")
            stream.flush()
            os.fsync(stream.fileno())
        os.link(aside, path)
    except FileExistsError:
        pass
    finally:
        aside.unlink()


def disown(value: Any) -> Any:
    """A fresh decoded value with marks that already stand in it taken apart; one without any is returned as it is.

    Whoever writes `[redacted:email:…]`, copied from a release, as their e-mail would otherwise be the person that
    mark belongs to. Only what the redactor puts in place of a value may look like a mark.
    """
    texts, _ = decoded.strings([value])
    if not any(MARK.search(text) for text in texts):
        return value

    def apart(leaf: Any, _: None) -> Any:
        return MARK.sub(lambda mark: mark[0].replace("[redacted:", "[quoted:"), leaf) if isinstance(leaf, str) else leaf

    return decoded.rebuild(value, apart, lambda key, node, context: None, lambda key: str(apart(key, None)))


class Redactor:
    """Replaces secrets, and by policy e-mail addresses and phone numbers, with marks under one key.

    Args:
        key: what `load_key` gives.
        emails, phones: `mask` or `keep`.
    """

    def __init__(
        self, key: bytes, emails: Literal["mask", "keep"] = "mask", phones: Literal["mask", "keep"] = "mask"
    ) -> None:
        kept = {"email"} if emails == "keep" else set()
        kept |= {"phone"} if phones == "keep" else set()
        self._key, self._policies = key, (emails, phones)
        self._rules = tuple((rule, re.compile(rule.pattern)) for rule in RULES if rule.marked not in kept)
        self._search = Search([rule for rule, _ in self._rules])

    def __reduce__(self) -> tuple[type[Redactor], tuple[Any, ...]]:
        return Redactor, (self._key, *self._policies)

    def mark(self, kind: str, value: str) -> str:
        """The mark of a value that is known to be of that kind; e-mail addresses are equal in any case."""
        if kind == "email":
            value = value.lower()
        digest = hmac.new(self._key, value.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
        return f"[redacted:{kind}:{digest[:8]}]"

    def text(self, text: str) -> str:
        """One text with everything hidden that a rule finds."""
        while (changed := self._hide(text, self._rules)) != text:
            text = changed
        return text

    def values(self, values: Sequence[Any], texts: polars.Series | None = None) -> list[Any]:
        """Decoded JSON values with every string and key redacted; what a key names as secret is hidden too.

        Values without a hit are returned as they are, not copied. A value under a key such as `password`,
        `api_key`, `authorization` or `cookie` is hidden by its name, numbers of six and more digits included.

        Args:
            texts: the values as JSON text, where the caller has them.
        """
        done = list(values)
        suspects = self._suspects(values, texts)
        found = {row: decoded.strings([values[row]]) for row in suspects}
        wanted = {text: None for texts_of, _ in found.values() for text in texts_of if len(text) >= SHORTEST}
        hidden = self._hidden(list(wanted), sorted({rule for rules in suspects.values() for rule in rules}))

        def change(leaf: Any, name: str | None) -> Any:
            if isinstance(leaf, str):
                leaf = hidden.get(leaf, leaf)
            return self._hide_named(leaf, name) if name else leaf

        for row, (texts_of, keys) in found.items():
            if not hidden.keys().isdisjoint(texts_of) or any(map(_named, keys)):
                done[row] = decoded.rebuild(values[row], change, _enter, lambda key: hidden.get(key, key))
        return done

    def _suspects(self, values: Sequence[Any], texts: polars.Series | None) -> dict[int, Sequence[int]]:
        """The values in which something may have to be hidden, each with the positions of the rules to try."""
        if texts is None and (texts := _json_texts(values)) is None:
            return dict.fromkeys(range(len(values)), range(len(self._rules)))
        named = texts.str.contains(_NAMED_KEY).arg_true()
        return {**dict.fromkeys(named, ()), **self._search.json_texts(texts)}

    def _hidden(self, texts: list[str], rules: Sequence[int]) -> dict[str, str]:
        """Each text in which something was hidden, with what became of it."""
        changed = self._pass(texts, rules)
        latest = changed
        while latest := self._pass(list(latest.values()), range(len(self._rules))):
            changed = {text: latest.get(hidden, hidden) for text, hidden in changed.items()}
        return changed

    def _pass(self, texts: list[str], rules: Sequence[int]) -> dict[str, str]:
        found = self._find(texts, rules).items() if texts else ()
        return {
            text: hidden
            for text, positions in found
            if (hidden := self._hide(text, [self._rules[position] for position in positions])) != text
        }

    def _find(self, texts: list[str], rules: Sequence[int]) -> dict[str, Sequence[int]]:
        """The texts in which a pattern matches, each with the positions of the rules to try on it."""
        if sum(map(len, texts)) < FEW:
            return dict.fromkeys(texts, rules)
        import polars as pl

        try:
            column = pl.Series(texts, dtype=pl.String)
        except UnicodeEncodeError:
            return dict.fromkeys(texts, rules)
        return {texts[row]: found for row, found in self._search.texts(column, rules).items()}

    def _hide(self, text: str, rules: Iterable[_Compiled]) -> str:
        """One pass of the rules, each over what lies between marks."""
        for rule, pattern in rules:
            if rule.literals and not any(literal in text for literal in rule.literals):
                continue
            pieces = MARK.split(text)
            pieces[::2] = [self._replace(piece, rule, pattern) for piece in pieces[::2]]
            text = "".join(pieces)
        return text

    def _replace(self, text: str, rule: Rule, pattern: re.Pattern[str]) -> str:
        parts: list[str] = []
        group = "secret" if "secret" in pattern.groupindex else 0
        done = at = 0
        while match := pattern.search(text, at):
            start, end = match.span(group)
            secret = text[start:end].rstrip(".")
            end = start + len(secret)
            at = max(end, start + 1)
            if not _holds(rule, text, start, end):
                at = start + 1
                continue
            parts += (text[done:start], self.mark(rule.marked, rule.canonical(secret) if rule.canonical else secret))
            done = end
        return "".join((*parts, text[done:]))

    def _hide_named(self, leaf: Any, name: str) -> Any:
        """A leaf under a key that says it is secret."""
        if isinstance(leaf, int) and not isinstance(leaf, bool):
            return self.mark(name, str(leaf)) if abs(leaf) >= 100_000 else leaf
        if not isinstance(leaf, str) or len(leaf) < SHORTEST or MARK.search(leaf):
            return leaf
        scheme = _SCHEME.match(leaf)
        start = scheme.end() if scheme else 0
        secret = leaf[start:]
        is_secret = is_token(secret) if name == "secret" else is_password(secret) or bool(scheme)
        return leaf[:start] + self.mark(name, secret) if is_secret else leaf


def _json_texts(values: Sequence[Any]) -> polars.Series | None:
    """The values as a column of JSON texts, or None where that cannot be had or does not pay."""
    try:
        return column_of([msgspec.json.encode(value) for value in values])
    except UnicodeEncodeError:  # a lone surrogate somewhere: rare, and not worth a second way of finding
        return None


def column_of(texts: Sequence[bytes]) -> polars.Series | None:
    """JSON texts as a column to search; None where starting a search costs more than it saves."""
    if sum(map(len, texts)) < FEW:
        return None
    import polars as pl

    return pl.Series(texts, dtype=pl.Binary).cast(pl.String)


_Compiled = tuple[Rule, re.Pattern[str]]


def _holds(rule: Rule, text: str, start: int, end: int) -> bool:
    """What the pattern could not say about a match."""
    secret = text[start:end]
    if rule.bounded:
        before, after = text[max(start - 2, 0) : start], text[end : end + 1]
        if _LETTER.match(after) or (_LETTER.match(before[-1:]) and not _ESCAPE.fullmatch(before)):
            return False
    return entropy(secret) >= rule.entropy and (rule.accept is None or rule.accept(secret))


def _enter(key: str, _: dict[str, Any], context: str | None) -> str | None:
    """The kind of secret that a key announces; all of a header belongs to it, however it is taken apart."""
    return _named(key) or (context if context in ("authorization", "cookie") else None)


@lru_cache(maxsize=4096)
def _named(key: str) -> str | None:
    name = re.sub("[-_ .]", "", key).lower()
    if name in _PASSWORD_NAMES:
        return "password"
    if name in _SECRET_NAMES:
        return "secret"
    return _HEADER_NAMES.get(name)
