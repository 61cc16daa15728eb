"""The ledger's decision files: `decisions/*.yaml`, one decision each.

Who decided is never a field: it is the committer or merger on the protected ref, or the local person. So an
unknown field is refused, and with it any claim to an actor or a time.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import msgspec

from lorelake.formats import history as git
from lorelake.formats.record import Capture, Event, Member, Record, Refusal, Unit, UnitFacts, digest, refuse
from lorelake.formats.strict_yaml import YamlError, load

NAME = "decisions"
SEEN = "lorelake decision files (docs/decision.schema.json)"

MAX_BYTES = 256 * 1024
_FOLDER = re.compile(r"(?:^|/)decisions/[^/]+\.ya?ml\Z", re.IGNORECASE)
_FIELD = re.compile(rb"^decision[ \t]*:", re.MULTILINE)
_ITEM = re.compile(rb"^learning[ \t]*:", re.MULTILINE)

ItemId = Annotated[str, msgspec.Meta(pattern=r"^lrn_[0-9a-f]{8,32}$", description="claim id, or a prefix only one has")]
Sha256 = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$")]
Words = Annotated[str, msgspec.Meta(min_length=1, max_length=5000)]


class NewText(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The item's fields as the person wants them; what is left out stays as it is."""

    title: Annotated[str, msgspec.Meta(min_length=1, max_length=80)] | None = None
    when: Words | None = None
    do: Words | None = None
    because: Words | None = None
    rejected: Words | None = None
    not_when: tuple[Words, ...] | None = None
    kind: Literal["scar", "win", "pattern", "anti_pattern", "decision", "procedure", "preference", "fact"] | None = None
    severity: Literal["low", "medium", "high", "critical"] | None = None
    applies_to: tuple[Words, ...] | None = None
    self_check: tuple[Words, ...] | None = None
    tags: tuple[Words, ...] | None = None


class Decision(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One decision by a person on one item, as `lorelake review` writes it."""

    decision: Literal["approve", "reject", "edit", "retire", "restore", "supersede", "endorse", "dispute", "forget"]
    learning: ItemId
    reason: Words
    other: ItemId | None = None
    content_key: Sha256 | None = None
    signature: tuple[Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{1,64}$")], ...] = ()
    text_sha256: Sha256 | None = None
    new_text: NewText | None = None


NEEDS: dict[str, tuple[str, str]] = {
    "approve": ("text_sha256", "an approval holds for one text"),
    "edit": ("new_text", "an edit says what the item should read"),
    "reject": ("content_key", "a rejection keeps the content out, in whatever words it returns"),
    "forget": ("content_key", "forgetting keeps the content out, in whatever words it returns"),
    "supersede": ("other", "superseding names the item that replaces it"),
}
"""What a decision cannot do without, beyond what every decision has, and why."""


def decision_schema() -> dict[str, Any]:
    """The JSON Schema of a decision file, what single decisions need included."""
    schema = msgspec.json.schema(Decision)
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["$defs"]["Decision"]["allOf"] = [
        {
            "if": {"properties": {"decision": {"const": decision}}, "required": ["decision"]},
            "then": {"required": [field]},
        }
        for decision, (field, _) in sorted(NEEDS.items())
    ]
    return schema


def sniff(member: str, head: bytes) -> bool:
    """A `decision:` and a `learning:` line; in a `decisions/` folder YAML by name, so that a broken one is told of."""
    if _FOLDER.search(member):
        return b"\x00" not in head
    return member.lower().endswith((".yaml", ".yml")) and bool(_FIELD.search(head) and _ITEM.search(head))


def read(capture: Capture) -> Iterator[Record | Refusal]:
    """One record for each version of each decision file, deletions included."""
    found = git.of(capture)
    if found is None:
        for member in capture.members:
            decision = _decision(member)
            if isinstance(decision, Refusal):
                yield decision
                continue
            value = {"path": member.name, "decision": decision}
            yield Record(member.name, digest(member.name, _text(decision)), "decision", None, value, member.name)
        return
    history, members = found
    for version in history.versions:
        yield _committed(history, version, members)


def _committed(history: git.History, version: git.Version, members: Mapping[str, Member]) -> Record | Refusal:
    place = f"{version.path}@{version.landed}"
    ts = git.landed_at(version)
    if ts is None:
        return refuse(place, b"", "bad_time", f"commit {version.landed} states the time {version.landed_at}")
    value: dict[str, Any] = {
        "path": version.path,
        "landed": version.landed,
        "position": version.position,
        "actor": {"name": version.actor.name, "email": version.actor.email},
    }
    if not version.deleted:
        if version.member not in members:
            return refuse(place, b"", "unreadable", "the repository lacks this file's content: a partial clone")
        decision = _decision(members[version.member])
        if isinstance(decision, Refusal):
            return decision
        value["decision"] = decision
    kind = "decision_deleted" if version.deleted else "decision"
    return Record(git.unit(history, version.path), f"{version.landed}:{version.path}", kind, ts, value, place)


def _decision(member: Member) -> dict[str, Any] | Refusal:
    if member.size > MAX_BYTES:
        return refuse(member.name, member.head(), "too_large", f"{member.size} bytes; at most {MAX_BYTES} are read")
    raw = member.read()
    if not raw.strip():
        return refuse(member.name, raw, "empty", "the file is empty")
    try:
        return parse(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        return refuse(member.name, raw, "not_utf8", f"byte {error.start} is not UTF-8")
    except YamlError as error:
        return refuse(member.name, raw, "bad_document", str(error), error.line)


def parse(text: str) -> dict[str, Any]:
    """The text of one decision file as plain values, checked.

    Raises:
        YamlError: not YAML, an unknown or missing field, or a value that does not fit.
    """
    values = load(text)
    try:
        decision = msgspec.convert(values, Decision)
    except msgspec.ValidationError as error:
        raise YamlError(str(error), _line_of(text, str(error))) from None
    needed = NEEDS.get(decision.decision)
    if needed and not getattr(decision, needed[0]):
        raise YamlError(f"`{decision.decision}` needs `{needed[0]}`: {needed[1]}", 1)
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(decision))
    return plain


def _line_of(text: str, message: str) -> int:
    """Where the field that a validation message names stands, or 1."""
    named = re.search(r"unknown field `([^`]+)`|at `\$\.(\w+)", message)
    field = named and (named[1] or named[2])
    for number, line in enumerate(text.splitlines(), 1):
        if field and re.match(rf"\s*{re.escape(field)}\s*:", line):
            return number
    return 1


def _text(decision: Mapping[str, Any]) -> str:
    return hashlib.sha256(msgspec.json.encode(decision, order="sorted")).hexdigest()


def facts(unit: Unit) -> UnitFacts:
    """A decision is the team's."""
    return UnitFacts("decision", audience="team")


def events(unit: Unit) -> list[Event]:
    """None: the ledger is decoded as a whole, by `events.ledger`, which knows who may decide."""
    return []
