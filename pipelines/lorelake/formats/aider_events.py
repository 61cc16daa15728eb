"""From the blocks of an aider session to events, in the order of the file; all at the session's start."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from lorelake.formats.record import Event, Unit, UnitRecord
from lorelake.formats.transcripts import latest, typed

AGENT = "aider"
SESSION = "session"

_COMMAND = re.compile(r"(?P<name>/[a-z][a-z-]*|!)(?=\s|$|(?<=!))[ \t]*")
_SPEAKING = frozenset({"/ask", "/code", "/architect", "/context"})
"""Commands whose argument is a prompt."""

_CONFIRMED = re.compile(r".*\(Y\)es/\(N\)o[^\n]*\]: ?\w*\Z", re.DOTALL)
_BLANK = "<blank>"
_INTERRUPT = re.compile(r"^\^C (?:KeyboardInterrupt|again to exit)\b", re.MULTILINE)
_TOKENS = re.compile(
    r"^Tokens: (?P<sent>[\d.,]+[kM]?) sent(?:, (?P<written>[\d.,]+[kM]?) cache write)?"
    r"(?:, (?P<read>[\d.,]+[kM]?) cache hit)?, (?P<received>[\d.,]+[kM]?) received\."
    r"(?: Cost: \$(?P<cost>\d{1,9}(?:\.\d{1,9})?) message)?",
    re.MULTILINE,
)
_MODEL = re.compile(r"^(?:Main model|Model): (?P<model>\S+)(?: with .*)?$", re.MULTILINE)
_SCALE = {"k": 1000, "M": 1_000_000}


class _Value(msgspec.Struct):
    text: str
    position: int = 0


class _Block(msgspec.Struct):
    record: UnitRecord
    value: _Value

    def event(self, part: str, kind: str, actor_class: str, text: str, **attributes: Any) -> Event:
        alias = "" if actor_class == "human" else AGENT
        return Event(
            self.record.id, part, self.record.ts, alias, actor_class, kind, text,
            self.record.source_uri, self.record.first_kept, attributes=attributes,
        )  # fmt: skip


def events(unit: Unit) -> list[Event]:
    """The events of one session; none of a launch that was left at once."""
    blocks = [
        _Block(record, value)
        for record in latest(unit.records, _length)
        if record.type != SESSION and (value := typed(record.value, _Value)) is not None
    ]
    if not any(block.record.type == "user" for block in blocks):
        return []
    found: list[Event] = []
    model: str | None = None
    for block in sorted(blocks, key=lambda block: (block.value.position, block.record.id)):
        match block.record.type:
            case "user":
                found.extend(_said(block))
            case "assistant":
                found.append(block.event("answer", "answer", "agent", block.value.text, model=model))
            case "tool":
                named = _MODEL.findall(block.value.text)
                model = named[-1] if named else model
                found.extend(_told(block, model))
    return found


def _length(value: Any) -> tuple[int, ...]:
    """The file only grows, so of two states of a block the longer is the later."""
    text = value.get("text") if isinstance(value, dict) else None
    return (len(text) if isinstance(text, str) else 0,)


def _said(block: _Block) -> Iterator[Event]:
    """What the user typed. Commands to aider are theirs too, but state nothing, except those that carry a prompt."""
    text = block.value.text
    if text.strip() in ("", _BLANK):
        return
    if _CONFIRMED.match(text):
        yield block.event("text", "injected", "injected", text, confirmed=True)
        return
    command = _COMMAND.match(text)
    if command is None:
        yield block.event("text", "prompt", "human", text)
    elif command["name"] in _SPEAKING and text[command.end() :].strip():
        yield block.event("text", "prompt", "human", text[command.end() :], command=command["name"])
    else:
        yield block.event("text", "injected", "injected", text, command=command["name"])


def _told(block: _Block, model: str | None) -> Iterator[Event]:
    text = block.value.text
    yield block.event("text", "other", "tool", text)
    if (stop := _INTERRUPT.search(text)) is not None:
        yield block.event("interrupt", "interrupt", "human", "", marker=stop[0])
    for number, line in enumerate(_TOKENS.finditer(text)):
        stated = {
            "input": line["sent"], "output": line["received"],
            "cache_write": line["written"], "cache_read": line["read"],
        }  # fmt: skip
        tokens = {name: _count(words) for name, words in stated.items() if words}
        cost = float(line["cost"]) if line["cost"] else None
        # Aider rounds what it prints.
        yield block.event(f"usage:{number}", "usage", "system", "", tokens=tokens, cost=cost, model=model, rounded=True)


def _count(words: str) -> int:
    scale = _SCALE.get(words[-1], 1)
    number = words.rstrip("kM").replace(",", "")
    try:
        return round(float(number) * scale)
    except (ValueError, OverflowError):
        return 0
