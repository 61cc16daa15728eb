"""What every format speaks: captures in, records and refusals out, then events.

A format module offers a name, the versions it has seen, and four functions:

    NAME: str                                                       a member of tables.SOURCES
    SEEN: str                                                       versions met in real files, for the docs
    sniff(member: str, head: bytes) -> bool                         by content; the name is a hint at most
    read(capture: Capture) -> Iterator[Record | Refusal]            decodes; never interprets
    facts(unit: Unit) -> UnitFacts                                  what the unit says about itself
    events(unit: Unit) -> list[Event]                               from redacted records of one unit
    place_of(unit_id: str) -> str | None                            optional: its conversation or repository

`read` yields exactly one Record or Refusal for each native record it meets, so that seen = kept + refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any, BinaryIO

import msgspec

HEAD_BYTES = 8192
"""How much of a member `sniff` is given."""


class Member(msgspec.Struct, frozen=True):
    """One file of a capture. `open` gives a fresh binary stream each time."""

    name: str
    size: int
    open: Callable[[], BinaryIO]

    def read(self) -> bytes:
        """The whole content."""
        with self.open() as stream:
            return stream.read()

    def head(self) -> bytes:
        """The first `HEAD_BYTES`."""
        with self.open() as stream:
            return stream.read(HEAD_BYTES)


class Capture(msgspec.Struct, frozen=True):
    """What is read as one: a file, a Slack export, a project export, a repository.

    `name` is relative to its configured source and never an absolute path. `project` and `person` are the
    assumptions the settings make for it. `include` lists the Slack conversation kinds that may be read. `extent` is
    what landing knows of how much the capture covers (ref, commit), for the books.
    """

    name: str
    members: tuple[Member, ...]
    sha256: str
    project: str | None = None
    person: str | None = None
    include: tuple[str, ...] = ("public",)
    ref: str = "main"
    extent: dict[str, Any] = {}


class Record(msgspec.Struct):
    """One native record, decoded and not yet redacted.

    `unit` is the native id of what it belongs to, `id` its own native id (or the hash of its canonical
    content), `value` any JSON-able value. `ts` is UTC, or None where the record states no time.
    """

    unit: str
    id: str
    type: str
    ts: datetime | None
    value: Any
    member: str
    line: int = 0
    ts_assumed: bool = False


class Refusal(msgspec.Struct):
    """One record that could not be kept. `reason` is a code of `REASONS`; `head` is masked before it is stored."""

    reason: str
    detail: str
    member: str
    line: int = 0
    offset: int = 0
    sha256: str = ""
    head: str = ""


REASONS: dict[str, str] = {
    "incomplete_tail": "the last line has no end yet; it is read again when the file grows",
    "not_utf8": "the bytes are not UTF-8",
    "not_json": "the text is not JSON",
    "lone_surrogate": "a \\ud800-\\udfff escape without its partner",
    "wrong_shape": "JSON of another shape than this format's records",
    "no_unit": "nothing says which session, thread or request it belongs to",
    "no_time": "neither the record nor its unit states a time",
    "bad_time": "the stated time is not a finite, possible time",
    "empty": "the file is empty",
    "unknown_format": "no format recognises the content",
    "not_a_transcript": "a bookkeeping file of the agent, not a transcript",
    "private": "a private conversation that the settings do not include",
    "unsafe_name": "an archive member that would leave its folder, or is a link",
    "too_large": "past the stated limit of size, count or ratio",
    "not_a_file": "a directory or device where a file should be, or a link that is broken or leads out of its source",
    "unreadable": "the system refused to read it",
    "bad_document": "frontmatter or decision file that is not valid YAML or lacks what it must have",
    "no_history": "the repository has no commit on the configured ref",
    "shipped_entry": "a starter entry shipped with a tool, nobody's experience",
    "erased": "a person had it erased; it is kept out wherever it comes from, and nothing of it is told",
    "placeholder": "a stock sentence the source leaves where a message was deleted",
}


class Unit(msgspec.Struct):
    """The redacted records of one unit, every version of each, in order of time then record id.

    A record that exists in several versions (an edited message, a re-exported request) comes once per version;
    what the format makes of them is its own affair. Hints are the settings' assumptions for this unit.
    """

    source: str
    unit_id: str
    records: list[UnitRecord]
    project_hint: str | None
    person_hint: str | None


class UnitRecord:
    """One stored version of a record; `value` is the redacted body, decoded when it is first asked for.

    Args:
        value: left out where `body` is given.
        body: the JSON text of the value, which a format may rather decode into its own types.
    """

    __slots__ = ("_body", "_value", "first_kept", "id", "source_uri", "ts", "ts_assumed", "type")

    def __init__(
        self,
        id: str,  # noqa: A002  (the name of the field, given by keyword)
        type: str,  # noqa: A002  (likewise)
        ts: datetime,
        value: Any = msgspec.UNSET,
        source_uri: str = "",
        first_kept: str = "",
        ts_assumed: bool = False,
        body: str | None = None,
    ) -> None:
        self.id, self.type, self.ts, self.ts_assumed = id, type, ts, ts_assumed
        self.source_uri, self.first_kept = source_uri, first_kept
        self._value, self._body = value, body

    @property
    def value(self) -> Any:
        """The decoded body."""
        if self._value is msgspec.UNSET and self._body is not None:
            self._value = msgspec.json.decode(self._body)
        return self._value

    @property
    def body(self) -> str | bytes:
        """The JSON text of the value."""
        return msgspec.json.encode(self._value) if self._body is None else self._body

    def __eq__(self, other: object) -> bool:
        names = ("id", "type", "ts", "value", "source_uri", "first_kept", "ts_assumed")
        return isinstance(other, UnitRecord) and all(getattr(self, name) == getattr(other, name) for name in names)

    def __repr__(self) -> str:
        return f"UnitRecord({self.id!r}, {self.type!r}, {self.ts!r}, {self.value!r}, {self.source_uri!r})"


class Event(msgspec.Struct):
    """One thing that happened, before people, project and order are resolved.

    `actor_alias` is the source's own name of the speaker (login, Slack id, e-mail mark), or "" for the person
    of the session. `remote`/`cwd` are what the record says about the project. Offsets and quotes later point
    into `text`, so it must be what was really said, not a rendering.
    """

    record_id: str
    part: str
    ts: datetime
    actor_alias: str
    actor_class: str
    kind: str
    text: str
    source_uri: str
    first_kept: str
    tool: str | None = None
    call_id: str | None = None
    reply_to: str | None = None
    is_error: bool | None = None
    exit_code: int | None = None
    command: str | None = None
    path: str | None = None
    line: int | None = None
    revision: str | None = None
    on_live_path: bool = True
    attributes: dict[str, Any] = {}


class UnitFacts(msgspec.Struct):
    """What a format knows about a whole unit: `kind` of tables.UNIT_KINDS, and raw material for identity."""

    kind: str
    remote: str | None = None
    cwds: tuple[str, ...] = ()
    branch: str | None = None
    person_alias: str | None = None
    agent: str | None = None
    parent_unit: str | None = None
    audience: str | None = None
    """Set where the source itself decides it (Slack channels, team documents); else the project's."""


def canonical(value: Any) -> str:
    """Any JSON-able value as text that does not depend on key order. UTF-8 safe; raises ValueError on NaN."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(*parts: str) -> str:
    """sha256 hex over parts joined by a byte no text holds."""
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def parse_time(text: object) -> datetime | None:
    """An ISO 8601 instant as UTC, or None where it is missing or impossible. Zoneless means None."""
    if not isinstance(text, str) or not text:
        return None
    try:
        value = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None
    if value.tzinfo is None:
        return None
    try:
        return value.astimezone(UTC)
    except OverflowError:
        return None


def refuse(member: str, raw: bytes, reason: str, detail: str, line: int = 0, offset: int = 0) -> Refusal:
    """A Refusal with the hash and first characters of what was refused."""
    head = raw[:800].decode("utf-8", "replace")[:200]
    return Refusal(reason, detail, member, line, offset, hashlib.sha256(raw).hexdigest(), head)


def in_order(records: Iterable[UnitRecord]) -> list[UnitRecord]:
    """By time, then id: the order that does not depend on files."""
    return sorted(records, key=lambda record: (record.ts, record.id))
