"""Which formats there are, in the order in which they are asked. A module is loaded when it is first needed."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Protocol, cast

from lorelake.formats.record import Capture, Event, Record, Refusal, Unit, UnitFacts

FORMATS = (
    "claude_code", "codex", "copilot_cli", "gemini_cli", "opencode", "github", "gitlab", "slack",
    "specstory", "aider", "gitmem", "documents", "decisions",
)  # fmt: skip
"""Module names, which are the formats' names. Text formats come last: they recognise by less."""


class Format(Protocol):
    """What every format module offers; `formats.record` tells what each part means."""

    NAME: str
    SEEN: str

    def sniff(self, member: str, head: bytes) -> bool:
        """Whether the content is this format's."""

    def read(self, capture: Capture) -> Iterator[Record | Refusal]:
        """One Record or Refusal for each native record."""

    def facts(self, unit: Unit) -> UnitFacts:
        """What the unit says about itself."""

    def events(self, unit: Unit) -> list[Event]:
        """What happened in it."""


def by_name(name: str) -> Format:
    """The module of a format.

    Raises:
        KeyError: no format has that name.
    """
    if name not in FORMATS:
        raise KeyError(name)
    return cast(Format, import_module(f"lorelake.formats.{name}"))


def sniff_member(member: str, head: bytes) -> str | None:
    """Name of the first format that recognises the first `record.HEAD_BYTES` of a file, or None."""
    return next((name for name in FORMATS if by_name(name).sniff(member, head)), None)
