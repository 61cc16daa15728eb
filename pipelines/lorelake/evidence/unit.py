"""One unit's events as typed rows, the signal an extractor gives back, and what both need to know of an event.

An extractor is `extract(events: Sequence[EventRow]) -> list[Signal]` over the events of ONE unit in `seq` order.
It never looks at another unit, a clock or a file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any

import msgspec

from lorelake.evidence.machine_text import is_machine_text

if TYPE_CHECKING:
    import polars

POSTED_KINDS = frozenset({"message", "review", "review_comment", "comment"})
"""Kinds that a program may post under a person's account."""

SAID_KINDS = POSTED_KINDS | {"prompt", "queued_prompt", "answer"}
"""Kinds whose text a person may have said; `answer` is a person's only where the actor is human."""

EDIT_TOOLS = frozenset(
    """
    edit write multiedit notebookedit apply_patch applypatch str_replace str_replace_editor create write_file replace
    update_file search_replace edit_file
    """.split()  # noqa: SIM905 - a list of words is read more easily as text
)
"""Tools that change a file, in lower case."""

_WORKTREE = re.compile(r"^.*/(?:\.worktrees|\.claude/worktrees|worktrees)/[^/]+/")
_ABSOLUTE_PARTS = 3
_ONE_OFF = re.compile(r"\s+(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{20,64})\b")


class EventRow(msgspec.Struct, frozen=True, kw_only=True):
    """One row of `tables.EVENTS`; `attributes` is the decoded object."""

    event_id: str
    unit_id: str
    unit_kind: str
    source: str
    seq: int
    ts: datetime
    day: date
    actor: str
    actor_class: str
    kind: str
    text: str
    text_sha256: str
    on_live_path: bool
    project: str
    audience: str
    source_uri: str
    first_kept: date
    attributes: dict[str, Any] = {}
    tool: str | None = None
    call_id: str | None = None
    reply_to: str | None = None
    is_error: bool | None = None
    exit_code: int | None = None
    command: str | None = None
    path: str | None = None
    line: int | None = None
    revision: str | None = None


class Signal(msgspec.Struct, kw_only=True):
    """What one rule saw in one event.

    `quote` is `text[quote_start:quote_end]` of the event. `item` holds any of title, when, do, because, rejected,
    not_when, kind, severity, applies_to, self_check, tags, document, trust_basis, witness (the text the claim id
    is made of; the quote where absent), in the words of the source: the learnings stage phrases it. An empty item
    is an observation that becomes no claim. `seen` tells what the rule saw, for a person who asks why. `support` are
    further places that words of the item were taken from: (event id, start, end) in the same unit. `known_from` is
    the as-of day on which it was first known, where that is later than the record's.
    """

    kind: str
    event_id: str
    quote: str
    quote_start: int
    quote_end: int
    item: dict[str, Any]
    seen: dict[str, Any]
    support: tuple[tuple[str, int, int], ...] = ()
    known_from: date | None = None


def quoted(kind: str, event: EventRow, start: int, end: int, item: dict[str, Any], seen: dict[str, Any]) -> Signal:
    """A signal whose quote is `event.text[start:end]`."""
    return Signal(
        kind=kind,
        event_id=event.event_id,
        quote=event.text[start:end],
        quote_start=start,
        quote_end=end,
        item=item,
        seen=seen,
    )


def event_row(row: Mapping[str, Any]) -> EventRow:
    """A row of `tables.EVENTS` as an EventRow. `attributes` may be JSON text or already an object."""
    values = {name: row[name] for name in EventRow.__struct_fields__ if name in row}
    attributes = values.get("attributes")
    if isinstance(attributes, str):
        values["attributes"] = json.loads(attributes) if attributes else {}
    return EventRow(**values)


def units_in(events: polars.DataFrame) -> Iterator[tuple[str, list[EventRow]]]:
    """Each unit's events in `seq` order, from rows of `tables.EVENTS`."""
    ordered = events.sort("unit_id", "seq").iter_rows(named=True)
    for unit_id, rows in groupby(ordered, key=lambda row: str(row["unit_id"])):
        yield unit_id, [event_row(row) for row in rows]


def is_said_by_human(event: EventRow) -> bool:
    """Whether a person said this, here and for good: not injected, not rewound, not a machine's words.

    An option picked from an agent's question is the agent's wording.
    """
    return (
        event.actor_class == "human"
        and event.on_live_path
        and event.kind in SAID_KINDS
        and bool(event.text.strip())
        and event.attributes.get("picked_option") is not True
        and not is_posted_by_program(event)
    )


def is_posted_by_program(event: EventRow) -> bool:
    """Whether a program signed what stands under a person's account: a review assistant that uses its owner's token."""
    return event.kind in POSTED_KINDS and is_machine_text(event.text)


def is_agent_act(event: EventRow) -> bool:
    """Whether the agent did or said something here."""
    return event.on_live_path and (
        event.kind == "tool_call" or (event.kind == "answer" and event.actor_class == "agent")
    )


def calls(events: Sequence[EventRow]) -> dict[str, EventRow]:
    """Call id to tool call, live ones only."""
    return {e.call_id: e for e in events if e.kind == "tool_call" and e.call_id is not None and e.on_live_path}


def results(events: Sequence[EventRow]) -> Iterator[tuple[int, EventRow, EventRow | None]]:
    """Position, tool result and its call (None where the call is not in the unit), live ones only."""
    by_id = calls(events)
    for position, event in enumerate(events):
        if event.kind == "tool_result" and event.on_live_path:
            yield position, event, by_id.get(event.call_id or "")


def failed(result: EventRow) -> bool:
    """Whether a tool result says it failed: an error flag or an exit code other than 0."""
    return result.is_error is True or (result.exit_code is not None and result.exit_code != 0)


def tool_name(event: EventRow) -> str:
    """The tool's name in lower case, `""` where there is none."""
    return (event.tool or "").lower()


def is_service_tool(call: EventRow) -> bool:
    """Whether a call goes to a server's tool, as `mcp__server__tool` or `server.tool`, not to an agent's own."""
    return call.command is None and call.tool is not None and ("__" in call.tool or "." in call.tool.strip("."))


def changes_files(call: EventRow) -> bool:
    """Whether a call edits a file by tool (not by command)."""
    return call.command is None and tool_name(call).rsplit(".", 1)[-1] in EDIT_TOOLS


def repository_path(event: EventRow) -> str | None:
    """The event's path as the repository would name it.

    Relative to the recorded working directory where the event states it, else cut after a worktree marker, else
    the last parts of an absolute path: a home folder or checkout name is nobody's lesson.
    """
    path = event.path
    if not path:
        return None
    cwd = event.attributes.get("cwd")
    if isinstance(cwd, str) and cwd and path.startswith(cwd.rstrip("/") + "/"):
        return path[len(cwd.rstrip("/")) + 1 :]
    path = _WORKTREE.sub("", path)
    if path.startswith(("/", "~")):
        parts = [part for part in path.split("/") if part and part != "~"]
        return "/".join(parts[-_ABSOLUTE_PARTS:])
    return path


def changed_paths(event: EventRow, most: int = 5) -> list[str]:
    """The first files a merge request or commit states as changed: `attributes.files = [{path, …}, …]`, by name."""
    files = event.attributes.get("files")
    paths = {f["path"] for f in files if isinstance(f, dict) and isinstance(f.get("path"), str)} if files else set()
    return sorted(paths)[:most]


def first_command(command: str) -> str:
    """The first line of a shell command, without a leading `cd … &&` and ids of one run, at most 120 characters."""
    one = next((line.strip() for line in command.splitlines() if line.strip()), "")
    one = _ONE_OFF.sub("", re.sub(r"^cd\s+\S+\s*(?:&&|;)\s*", "", one))
    return one[:120].rstrip()


def describe_act(call: EventRow | None) -> str:
    """What the agent was doing, as a trigger a person would write: ``editing `settings.go` ``."""
    if call is None:
        return ""
    if call.command:
        return f"running `{first_command(call.command)}`"
    path = repository_path(call)
    if path:
        verb = "editing" if changes_files(call) else "reading" if tool_name(call) == "read" else "working on"
        return f"{verb} `{path}`"
    return f"calling `{call.tool}`" if call.tool else ""


def applies_to(call: EventRow | None) -> list[str]:
    """Path and command of an act, as later acts can be compared with them."""
    if call is None:
        return []
    found = [repository_path(call), first_command(call.command) if call.command else None]
    return sorted({value for value in found if value})
