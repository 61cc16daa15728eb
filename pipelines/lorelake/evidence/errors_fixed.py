"""A command that failed with a signature and passed later in the same session, with what changed in between.

Mechanical: nobody's words, and no proof that the change is the cure. Red, edited, green in one session is a
candidate; the same in three session families is a lesson.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from lorelake.content.signatures import ErrorSignature, error_signature, mask
from lorelake.evidence.edits import Change, essence
from lorelake.evidence.said import matter
from lorelake.evidence.unit import (
    EventRow,
    Signal,
    changes_files,
    failed,
    first_command,
    quoted,
    repository_path,
    results,
)

_MOST_PATHS = 4
_LONGEST_QUOTE = 400
_LEADING_CD = re.compile(r"^\s*(?:cd\s+\S+\s*(?:&&|;)\s*)+")
_TRAILING = re.compile(r"\s*(?:2>&1|\|\s*(?:tail|head|tee)\b[^|;&]*)\s*$")
_PLACE = re.compile(r"^(?:E\s+)?(?:[^\s:]+:\d+(?::\d+)?:\s*)?")
_LOOKS_ONLY = re.compile(
    r"^\s*(?:lorelake|cd|ls|cat|head|tail|grep|rg|find|fd|wc|pwd|echo|which|type|stat|file|tree|diff|sed -n|awk|jq|ps"
    r"|env|sleep|git (?:status|log|diff|show|branch|blame|ls-\w+|rev-parse|remote)"
    r"|gh (?:pr|run|issue) (?:view|list|diff|checks))\b"
)
"""Commands that read, memory's own among them: they neither fail a build nor mend one."""

_MENDS = re.compile(
    r"^\s*(?:\w+=\S*\s+|sudo\s+)*(?:"
    r"(?:\S+\s+){1,4}?(?:install|add|sync|update|upgrade|remove|uninstall|tidy|generate|gen|format|fmt|fix|migrate|restart"
    r"|start|up|build|enable|trust|init|login|prune|restore|checkout|switch|reset|stash|pull|merge|rebase|clean)\b"
    r"|(?:mv|cp|rm|mkdir|ln|chmod|chown|touch|patch|kill|pkill|export|gofmt|corepack|createdb|dropdb)\b|sed\s+-i"
    r"|\S+\s[^|;&]*--(?:fix|write|force-recreate)\b)"
)
"""Commands that change something a later run may depend on; other commands between two runs only looked or tried."""


class _Run(msgspec.Struct, frozen=True):
    """One run of a command: where its result stands, and how it ended."""

    position: int
    call: EventRow
    result: EventRow
    signature: ErrorSignature | None


def extract(events: Sequence[EventRow]) -> list[Signal]:
    """One signal for each failure that the same command later passed, and no other failure of it in between."""
    runs: dict[str, list[_Run]] = {}
    for position, result, call in results(events):
        if call is not None and call.command and not _LOOKS_ONLY.match(_LEADING_CD.sub("", call.command)):
            signature = error_signature(result.text) if result.text else None
            runs.setdefault(same_command(call.command), []).append(_Run(position, call, result, signature))
    pairs = [pair for of_command in runs.values() for pair in _fixes(of_command)]
    pairs.sort(key=lambda pair: pair[0].position)
    return [signal for failing, passing in pairs if (signal := _signal(events, failing, passing))]


def same_command(command: str) -> str:
    """The command as compared with later runs: without leading `cd`, and without a pipe that only cuts output."""
    command = _LEADING_CD.sub("", " ".join(command.split()))
    while _TRAILING.search(command):
        command = _TRAILING.sub("", command)
    return command


def _fixes(runs: list[_Run]) -> list[tuple[_Run, _Run]]:
    """(first failing run, passing run) of each stretch of failures with one signature right before a pass.

    Another failure in between, with another signature or with none, means that the first one was not what the pass
    cured: the stretch begins anew with it.
    """
    found = []
    first: _Run | None = None
    for run in runs:
        if failed(run.result):
            if first is None or run.signature is None or run.signature.key != _key(first):
                first = run if run.signature else None
        elif _passed(run):
            if first:
                found.append((first, run))
            first = None
    return found


def _key(run: _Run) -> str:
    return run.signature.key if run.signature else ""


def _passed(run: _Run) -> bool:
    """Whether a run says it passed. A pipe hides the exit code, so an error in the output speaks against it."""
    return (run.result.is_error is False or run.result.exit_code == 0) and run.signature is None


def _signal(events: Sequence[EventRow], failing: _Run, passing: _Run) -> Signal | None:
    signature = failing.signature
    if signature is None:
        return None
    place = _quote(failing.result.text, signature)
    if place is None:
        return None
    start, end = place
    edits, commands = _changes(events, failing, passing)
    paths = list(edits)
    command = first_command(failing.call.command or "")
    told = _named(failing.result.text[start:end], signature)
    seen: dict[str, Any] = {
        "signature": signature.key, "passed_in": passing.result.event_id, "paths": paths, "commands": commands,
    }  # fmt: skip
    item: dict[str, Any] = {}
    if paths or commands:
        item = {
            "title": told,
            "when": f"`{command}` fails with: {told}",
            "do": _did(edits, commands, command, told),
            "kind": "procedure",
            "trust_basis": "mechanical",
            "applies_to": sorted({*paths, command, signature.key}),
            "witness": f"{signature.type or ''} {signature.frame or ''} {signature.message} {signature.key}".strip(),
        }
    return quoted("error_fixed", failing.result, start, end, item, seen)


def _quote(text: str, signature: ErrorSignature) -> tuple[int, int] | None:
    """Where the line stands that tells of the error: that says its message, else names its place, else its type."""
    lines: list[tuple[int, str]] = []
    start = 0
    for line in text.splitlines(keepends=True):
        if line.strip():
            lines.append((start + len(line) - len(line.lstrip()), line.strip()))
        start += len(line)
    place = signature.frame.rpartition(":")[2]
    saying = [line for line in lines if signature.message and signature.message in mask(line[1])]
    candidates = (
        [line for line in saying if signature.type in line[1]],
        saying,
        [line for line in lines if place and place in line[1]],
        [line for line in lines if signature.type and signature.type in line[1]],
    )
    at, line = next((found[0] for found in candidates if found), (-1, ""))
    return (at, at + min(len(line), _LONGEST_QUOTE)) if at >= 0 else None


def _named(told: str, signature: ErrorSignature) -> str:
    """The error as a person names it: the line that tells of it without its place; of a test, the test first."""
    plain = _PLACE.sub("", told)
    if signature.type == "TestFailed" and signature.frame and signature.frame not in plain:
        return f"{signature.frame} fails: {plain}"
    return plain


def _changes(events: Sequence[EventRow], failing: _Run, passing: _Run) -> tuple[dict[str, list[EventRow]], list[str]]:
    """The edits of each path and the mending commands between two runs, in order.

    What failed, was refused, or ran the failing command again is left out.
    """
    undone = {event.call_id for event in events if event.call_id and _came_to_nothing(event)}
    edits: dict[str, list[EventRow]] = {}
    commands: list[str] = []
    for event in events[failing.position + 1 : passing.position]:
        if event.kind != "tool_call" or not event.on_live_path or event.call_id in undone:
            continue
        path = repository_path(event)
        if changes_files(event) and path:
            edits[path] = [*edits.pop(path, []), event]
        elif event.command and _MENDS.match(_LEADING_CD.sub("", event.command)) and not _is_rerun(event, failing):
            commands.append(first_command(event.command))
    return dict(list(edits.items())[-_MOST_PATHS:]), commands[-1:]


def _is_rerun(call: EventRow, failing: _Run) -> bool:
    return same_command(call.command or "") == same_command(failing.call.command or "")


def _came_to_nothing(event: EventRow) -> bool:
    return event.kind in ("rejection", "denial") or (event.kind == "tool_result" and failed(event))


def _did(edits: dict[str, list[EventRow]], commands: list[str], command: str, told: str) -> str:
    """What changed, as one would tell it: the file and its telling line, other files, the command; then what passes."""
    steps = []
    if edits:
        path, change = _most_telling(edits, told)
        steps.append(_edited(path, change))
        others = ", ".join(f"`{other}`" for other in edits if other != path)
        steps += [f"also change {others}"] if others else []
    steps += [f"run `{one}`" for one in commands]
    done = "; ".join(steps)
    return f"{done[0].upper()}{done[1:]}. Then `{command}` passes."


def _most_telling(edits: dict[str, list[EventRow]], told: str) -> tuple[str, Change | None]:
    """Path and change of the edit that has most words in common with the error; of equals the last."""
    about = matter(told)
    changes = [(path, change) for path, calls in edits.items() for call in calls if (change := essence(call))]
    if not changes:
        return list(edits)[-1], None
    shared = [len(about & matter(f"{change.written} {change.replaced}")) for _, change in changes]
    return max(zip(shared, range(len(changes)), changes, strict=True))[2]


def _edited(path: str, change: Change | None) -> str:
    if change is None:
        return f"change `{path}`"
    instead = f" instead of `{change.replaced}`" if change.replaced else ""
    return f"in `{path}`, write `{change.written}`{instead}"
