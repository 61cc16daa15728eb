"""The ledger's decision files: `decisions/*.yaml`, one decision each.

Who decided is never a field: it is the committer or merger on the protected ref, or the local person. So an
unknown field is refused, and with it any claim to an actor or a time.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Annotated, Any, Literal, NamedTuple

import msgspec

from lorelake.formats import history as git
from lorelake.formats.record import Capture, Event, Member, Record, Refusal, Unit, UnitFacts, digest, refuse
from lorelake.formats.strict_yaml import YamlError, load

NAME = "decisions"
SEEN = "lorelake decision files (docs/decision.schema.json)"

MAX_BYTES = 256 * 1024
_FOLDER = re.compile(r"(?:^|/)decisions/[^/]+\.ya?ml\Z", re.IGNORECASE)
_FIELD = re.compile(rb"^decision[ \t]*:", re.MULTILINE)
_ITEM = re.compile(rb"^(?:learning|items|target|experiment|records|persons)[ \t]*:", re.MULTILINE)

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


Signature = tuple[Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{1,64}$")], ...]
Target = Annotated[
    str,
    msgspec.Meta(pattern=r"^(thr_|pro_)?[0-9a-f]{8,32}$", description="dismiss and restore: thread, proposal or topic"),
]
Reach = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^(team|(project|channel|dm|person):.{1,200})$",
        description="reject and forget: whose memory it is kept out of; the whole team's if left out",
    ),
]


class Item(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One of several items that a decision names, with what it needs of each."""

    learning: ItemId
    content_key: Sha256 | None = None
    signature: Signature = ()
    text_sha256: Sha256 | None = None


class Experiment(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A hold-out as a person registered it: which items, which share of the units does without, and on which days."""

    name: Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]
    learnings: Annotated[tuple[ItemId, ...], msgspec.Meta(min_length=1, max_length=200)]
    share: Annotated[float, msgspec.Meta(gt=0, lt=1, description="share of the units that do without")]
    starts: date
    ends: date


class Decision(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One decision by a person, as `lorelake review` writes it."""

    decision: Literal[
        "approve", "reject", "edit", "retire", "restore", "supersede", "endorse", "dispute", "forget",
        "pin", "merge", "split", "dismiss", "experiment",
    ]  # fmt: skip
    reason: Words
    learning: ItemId | None = None
    items: Annotated[tuple[Item, ...], msgspec.Meta(max_length=500, description="several items in place of one")] = ()
    other: ItemId | None = None
    target: Target | None = None
    claims: Annotated[tuple[ItemId, ...], msgspec.Meta(max_length=500, description="split: what leaves the item")] = ()
    content_key: Sha256 | None = None
    signature: Signature = ()
    text_sha256: Sha256 | None = None
    new_text: NewText | None = None
    revalidate_by: Annotated[date, msgspec.Meta(description="day by which it must be looked at again")] | None = None
    reach: Reach | None = None
    erase: Annotated[bool, msgspec.Meta(description="forget: out of every file, not only out of memory")] = False
    records: Annotated[tuple[Sha256, ...], msgspec.Meta(max_length=1000, description="erase: keyed marks")] = ()
    persons: Annotated[tuple[Sha256, ...], msgspec.Meta(max_length=1000, description="erase: keyed marks")] = ()
    experiment: Experiment | None = None


class Need(NamedTuple):
    """What a decision cannot do without: one of these fields, and why."""

    fields: tuple[str, ...]
    why: str


_ITEM_NEED = Need(("learning",), "it is a decision on one item")
_ITEMS_NEED = Need(("learning", "items"), "it is a decision on items")
_OUT = "keeps the content out, in whatever words it returns"

NEEDS: dict[str, tuple[Need, ...]] = {
    "approve": (_ITEMS_NEED, Need(("text_sha256", "items"), "an approval holds for one text")),
    "edit": (_ITEM_NEED, Need(("new_text",), "an edit says what the item should read")),
    "reject": (_ITEMS_NEED, Need(("content_key", "items"), f"a rejection {_OUT}")),
    "forget": (
        Need(("learning", "items", "records", "persons"), "forgetting names what is forgotten"),
        Need(("content_key", "items", "records", "persons"), f"forgetting {_OUT}"),
    ),
    "retire": (_ITEMS_NEED,),
    "restore": (Need(("learning", "target"), "restoring names what comes back"),),
    "supersede": (_ITEM_NEED, Need(("other",), "superseding names the item that replaces it")),
    "endorse": (_ITEM_NEED,),
    "dispute": (_ITEM_NEED,),
    "pin": (_ITEM_NEED,),
    "merge": (_ITEM_NEED, Need(("other",), "merging names the item it goes into")),
    "split": (_ITEM_NEED, Need(("claims",), "splitting names the claims that leave")),
    "dismiss": (Need(("target",), "dismissing names a thread, a topic or a proposal"),),
    "experiment": (Need(("experiment",), "registering says what is tried"),),
}
"""What each decision cannot do without."""

ONLY: dict[str, tuple[str, ...]] = {
    "items": ("approve", "reject", "forget", "retire"),
    "target": ("dismiss", "restore"),
    "claims": ("split",),
    "revalidate_by": ("approve", "edit", "endorse"),
    "reach": ("reject", "forget"),
    "erase": ("forget",),
    "records": ("forget",),
    "persons": ("forget",),
    "experiment": ("experiment",),
}
"""Fields that mean something in these decisions alone: elsewhere a person meant something that would not happen."""

_PER_ITEM = {"approve": "text_sha256", "reject": "content_key", "forget": "content_key"}


def decision_schema() -> dict[str, Any]:
    """The JSON Schema of a decision file, what single decisions need included."""
    schema = msgspec.json.schema(Decision)
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    rules = schema["$defs"]["Decision"].setdefault("allOf", [])
    for decision, needs in sorted(NEEDS.items()):
        given = [{"anyOf": [{"required": [field]} for field in need.fields]} for need in needs]
        rules.append({"if": _is_one_of((decision,)), "then": {"allOf": given}})
    for decision, field in sorted(_PER_ITEM.items()):
        each = {"properties": {"items": {"items": {"required": [field]}}}}
        rules.append({"if": _is_one_of((decision,)), "then": each})
    for field, allowed in sorted(ONLY.items()):
        rules.append({"if": {"required": [field]}, "then": _is_one_of(allowed)})
    rules.append({"not": {"required": ["learning", "items"]}})
    return schema


def _is_one_of(decisions: tuple[str, ...]) -> dict[str, Any]:
    return {"properties": {"decision": {"enum": list(decisions)}}, "required": ["decision"]}


def sniff(member: str, head: bytes) -> bool:
    """A `decision:` line and one that says on what; in a `decisions/` folder YAML by name: a broken one is told of."""
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
        **({"signed": True} if version.signed else {}),
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
    fault = _fault(decision)
    if fault:
        raise YamlError(fault[1], _line_at(text, fault[0]))
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(decision))
    return plain


def write(values: Mapping[str, Any]) -> str:
    """A decision as the text of its file; fields without a value are left out.

    Raises:
        YamlError: it is none that would be read again.
    """
    import yaml

    given = {name: value for name, value in values.items() if value not in (None, (), [], {}, False)}
    text: str = yaml.safe_dump(given, sort_keys=False, allow_unicode=True, width=100)
    parse(text)
    return text


def _fault(decision: Decision) -> tuple[str | None, str] | None:
    """(field, what is wrong) of a decision whose fields fit each by itself, but not each other."""
    for need in NEEDS[decision.decision]:
        if not any(getattr(decision, field) for field in need.fields):
            return None, f"`{decision.decision}` needs {' or '.join(f'`{name}`' for name in need.fields)}: {need.why}"
    for field, allowed in ONLY.items():
        if getattr(decision, field) and decision.decision not in allowed:
            return field, f"`{field}` says nothing in `{decision.decision}`: it belongs to {', '.join(allowed)}"
    if decision.items and decision.learning:
        return "items", "`learning` names one item, `items` several: give one of them"
    needed = _PER_ITEM.get(decision.decision)
    lacking = [item.learning for item in decision.items if needed and not getattr(item, needed)]
    if lacking:
        return "items", f"`{decision.decision}` needs `{needed}` of each item: {lacking[0]} has none"
    if decision.experiment and decision.experiment.ends <= decision.experiment.starts:
        return "experiment", "the experiment ends before it starts"
    return None


def _line_of(text: str, message: str) -> int:
    """Where the field that a validation message names stands, or 1."""
    named = re.search(r"unknown field `([^`]+)`|at `\$\.(\w+)", message)
    return _line_at(text, named and (named[1] or named[2]))


def _line_at(text: str, field: str | None) -> int:
    """Where a field stands, or 1."""
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
