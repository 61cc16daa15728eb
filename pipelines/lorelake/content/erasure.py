"""What was erased, as keyed hashes only: enough to keep it out for ever, too little to tell what it was.

Four things stand as HMAC-SHA256 under the team's key: a record by (source, native id), a whole unit, a whole text in
whatever record it returns, and the names of a person. Raw asks of every record it meets and `collect` of every line it
would send. Without the key nothing can be asked, and nothing be guessed.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from lorelake.content import values as decoded

LABEL = "erased:"
"""What stands in the place of an erased person's name, with 8 hex that tell two of them apart."""
SHORTEST_TEXT = 24
"""Characters below which a text by itself is too common to be kept out of other records."""
SHORTEST_NAME, LONGEST_NAME = 3, 200

_SPACE = re.compile(r"\s+")
_MARK = re.compile(r"\[(?:redacted|quoted):([a-z0-9_]+):[0-9a-f]{8}\]")
_TOKEN = re.compile(r"\[(?:redacted|quoted):[a-z0-9_]+:[0-9a-f]{8}\]|[\w.+-]+@[\w.-]+\w|@?\w[\w.-]*\w(?:\[bot\])?")
"""Where an alias may stand in a text: a mark, an e-mail address, a login with or without its `@`, a Slack id."""
_WORD = re.compile(r"[^\W_]+")
_FULL_NAME = re.compile(r"\b[^\W\d_a-z][^\W\d_]*(?: [^\W\d_a-z][^\W\d_]*){1,4}")
"""Words that begin like a name, one after the other: an alias of several words may be among them."""

_AUTHOR = ("user", "author", "commit_author", "user_id", "author_id", "author_name", "author_email")
"""Keys under which an object says whose words it is, in whatever format: a name, a number, or a person's object."""
_NAMES = ("id", "user_id", "login", "username", "name", "real_name", "display_name", "email", "public_email")
"""Keys under which a person's own object says who it is."""
_CALLED = ("login", "username", "name", "real_name", "display_name")
_PERSONAL = frozenset(("login", "username", "real_name", "display_name", "email", "profile"))
"""Keys of which a person's own object has one, since other things have a name and a number too."""
_SPOKEN = ("message", "comment", "note")
"""Keys below which an object carries what it is about. It goes with the author of that."""
_WORDS = frozenset(
    (
        "text", "body", "note", "reason", "title", "description", "message", "blocks", "attachments", "files",
        "previous_message", "root", "name", "real_name", "display_name", "user_profile", "names",
    )
)  # fmt: skip
"""Keys whose value is left out of an erased person's object where the object itself must stay."""
_DECIDED = "decisions"
"""What a person decided for the team stays, under their label."""
_STAYS = ("deleted", "tombstone")
"""In the types of records that take something away: whoever deleted it, it stays deleted."""


@dataclass(frozen=True)
class Erased:
    """Everything that was erased from one lake. Pickles, so that any process may ask.

    Args:
        key: the team's key.
        records: HMACs of records, units and texts.
        persons: HMAC of an alias or plain name to the label that stands for that person.
        deciders: labels of persons whose decisions go on counting.
    """

    key: bytes = b""
    records: frozenset[str] = frozenset()
    persons: Mapping[str, str] = field(default_factory=dict)
    deciders: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.records or self.persons)

    @property
    def digest(self) -> str:
        """sha256 over everything that is kept out; part of the fingerprint of every capture and of the release."""
        parts = [*sorted(self.records), *sorted(self.persons.items()), *sorted(self.deciders)]
        return hashlib.sha256(repr(parts).encode()).hexdigest() if self else ""

    def keeps_out(
        self, source: str, unit: str, record_id: str, type_: str, value: Any, person: str | None = None
    ) -> bool:
        """Whether a record may not come (back) into the lake.

        Args:
            unit: native id of its unit, without the source.
            type_: the source's name for this kind of record.
            value: its decoded content, redacted or not.
            person: whose file it came in, where the settings or a note say so.
        """
        if self.records:
            named = record_hmac(self.key, source, record_id), unit_hmac(self.key, f"{source}:{unit}")
            if not self.records.isdisjoint(named):
                return True
        if self.persons and source != _DECIDED and not any(word in type_ for word in _STAYS):
            if (person and self.label(person)) or self._is_theirs(value) or self._is_person(value):
                return True
            if isinstance(value, dict) and any(self._is_theirs(value.get(key)) for key in _SPOKEN):
                return True
        return bool(self.records) and not self.records.isdisjoint(text_hmacs(self.key, value))

    def masked(self, value: Any) -> Any:
        """A decoded value without what erased persons said or left in it; the same object where there is nothing.

        Their own objects in a list (a nested note, a reply, an approval) go, and so do the words of one that stands by
        itself; their names become labels.
        """
        if not self.persons:
            return value
        try:
            rest = self._rest(value)
        except RecursionError:  # nested deeper than any record of a person's; its names go all the same
            rest = value
        changed = rest is not value

        def leaf(old: Any, key: str | None) -> Any:
            nonlocal changed
            new = self._leaf(old, key)
            changed = changed or new != old
            return new

        def rename(old: str) -> str:
            nonlocal changed
            new = self.text(old)
            changed = changed or new != old
            return new

        fresh = decoded.rebuild(rest, leaf, lambda key, node, context: key, rename)
        return fresh if changed else value

    def text(self, text: str) -> str:
        """A text with the erased persons' aliases as labels; plain names too, where those were erased by name."""
        if not self.persons or len(text) < SHORTEST_NAME:
            return text
        if label := self.label(text):
            return label
        text = _TOKEN.sub(self._token, _FULL_NAME.sub(self._full_name, text))
        return _WORD.sub(lambda found: self._mention(found[0]) or found[0], text)

    def path(self, path: str) -> str:
        """The name of a file or folder, in which an alias of one word stands between any signs."""
        if not self.persons:
            return path
        return _WORD.sub(self._part, _TOKEN.sub(self._part, path))

    def own_names(self, value: Any) -> Iterator[str]:
        """What else the erased persons are called, by their own objects in a decoded value."""
        if isinstance(value, list):
            for item in value:
                yield from self.own_names(item)
        elif isinstance(value, dict):
            if self._is_person(value):
                for part in (value, value.get("profile")):
                    names = (part.get(key) for key in _CALLED) if isinstance(part, dict) else ()
                    yield from (name for name in names if isinstance(name, str) and name)
            for child in value.values():
                yield from self.own_names(child)

    def hidden(self, path: str) -> str:
        """What stands for the name of a file of which nothing is left: such a name may be made of its words."""
        return LABEL + _name_hmac(self.key, "file", path)[:16]

    def label(self, alias: str) -> str | None:
        """What stands for an erased person's alias; None where it is nobody's that was erased."""
        if len(alias) < SHORTEST_NAME or len(alias) > LONGEST_NAME:
            return None
        return self.persons.get(_name_hmac(self.key, "alias", alias.lower()))

    def is_anywhere(self, alias: str) -> bool:
        """Whether an alias is an erased person's and is taken out wherever it stands in a text."""
        return bool(self._mention(alias))

    def _part(self, found: re.Match[str]) -> str:
        """Each alias has a mark of its own here, so that two files never get one name."""
        name = found[0].lower()
        if self.label(name) or self._mention(name):
            return LABEL + _name_hmac(self.key, "alias", name)[:8]
        return found[0]

    def _mention(self, word: str) -> str | None:
        if len(word) < SHORTEST_NAME or len(word) > LONGEST_NAME:
            return None
        return self.persons.get(_name_hmac(self.key, "mention", word.lower()))

    def _full_name(self, found: re.Match[str]) -> str:
        """The words with a full name among them replaced; the first and longest that is one."""
        words = found[0].split(" ")
        for start in range(len(words) - 1):
            for end in range(len(words), start + 1, -1):
                if label := self.label(" ".join(words[start:end])):
                    return " ".join((*words[:start], label, *words[end:]))
        return found[0]

    def _token(self, found: re.Match[str]) -> str:
        name = found[0].removeprefix("@")
        label = self.label(name) if name != found[0] or "@" in name or name.startswith("[") else None
        label = label or self._mention(name)
        return found[0][: len(found[0]) - len(name)] + label if label else found[0]

    def _leaf(self, leaf: Any, key: str | None) -> Any:
        if isinstance(leaf, str):
            return self.text(leaf)
        if isinstance(leaf, int) and not isinstance(leaf, bool) and key and key.endswith("_id"):
            label = self.label(f"id:{leaf}")
            return _number(label) if label else leaf
        return leaf

    def _called(self, name: Any) -> str | None:
        if isinstance(name, int) and not isinstance(name, bool):
            name = f"id:{name}"
        return self.label(name) if isinstance(name, str) else None

    def _is_theirs(self, value: Any) -> bool:
        """Whether an object says that it is an erased person's words or act."""
        if not isinstance(value, dict):
            return False
        return any(self._called(value.get(key)) or self._person(value.get(key)) for key in _AUTHOR)

    def _is_person(self, value: Any) -> bool:
        """Whether an object is an erased person's own entry in a list of people."""
        return isinstance(value, dict) and not _PERSONAL.isdisjoint(value) and bool(self._person(value))

    def _person(self, value: Any) -> str | None:
        """The label of the erased person whom an object under an author's key names."""
        if not isinstance(value, dict):
            return None
        return next((label for key in _NAMES if (label := self._called(value.get(key)))), None)

    def _rest(self, value: Any) -> Any:
        """A value without the erased persons' objects in its lists, and without the words of any other of theirs.

        The same object where nothing of it goes.
        """
        if isinstance(value, list):
            stay = [item for item in value if not (self._is_theirs(item) or self._is_person(item))]
            row = [self._rest(item) for item in stay]
            same = len(row) == len(value) and all(new is old for new, old in zip(row, value, strict=True))
            return value if same else row
        if not isinstance(value, dict):
            return value
        if self._is_person(value):
            label = self._person(value) or LABEL
            names = {key: value[key] for key in _NAMES if key in value}
            return {key: _number(label) if isinstance(name, int) else label for key, name in names.items()}
        stays = {key: child for key, child in value.items() if key not in _WORDS} if self._is_theirs(value) else value
        fresh = {key: self._rest(child) for key, child in stays.items()}
        same = len(fresh) == len(value) and all(fresh[key] is value[key] for key in fresh)
        return value if same else fresh


NOTHING = Erased()


def record_hmac(key: bytes, source: str, record_id: str) -> str:
    """What stands for a record, whichever capture, file or unit brings it."""
    return _hmac(key, "record", source, record_id)


def unit_hmac(key: bytes, unit_id: str) -> str:
    """What stands for a whole unit, source included: all that is in it, and all that is added to it later."""
    return _hmac(key, "unit", unit_id)


def text_hmac(key: bytes, text: str) -> str | None:
    """What stands for a whole text, whatever its spacing, case and marks; None where it is too short to be one."""
    plain = _SPACE.sub(" ", _MARK.sub(r"[\1]", text)).strip().lower()
    return _hmac(key, "text", plain) if len(plain) >= SHORTEST_TEXT else None


def text_hmacs(key: bytes, value: Any) -> Iterator[str]:
    """`text_hmac` of every text in a decoded value."""
    for text in decoded.strings([value])[0]:
        found = text_hmac(key, text) if len(text) >= SHORTEST_TEXT else None
        if found:
            yield found


def person_hmacs(key: bytes, aliases: Iterable[str], mentions: Iterable[str] = ()) -> tuple[str, ...]:
    """What stands for a person, sorted: names that stand for them where a name is asked for, in any case, and those
    (logins, ids) that do so wherever they stand in a text."""
    found = {_name_hmac(key, "alias", alias.lower()) for alias in aliases if len(alias) >= SHORTEST_NAME}
    found |= {_name_hmac(key, "mention", word.lower()) for word in mentions if len(word) >= SHORTEST_NAME}
    return tuple(sorted(found))


def label_of(hmacs: Iterable[str]) -> str:
    """The label of the person whose HMACs these are."""
    return LABEL + min(hmacs)[:8]


def _number(label: str) -> int:
    """What stands where a person's name is a number."""
    return int(label.removeprefix(LABEL) or "0", 16)


@lru_cache(maxsize=500_000)
def _name_hmac(key: bytes, kind: str, name: str) -> str:
    return _hmac(key, kind, name)


def _hmac(key: bytes, kind: str, *parts: str) -> str:
    text = "\x1f".join((f"lorelake erasure {kind}", *parts))
    return hmac.new(key, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
