"""A command that failed with a signature and passed later in the same session, with what changed in between.

Mechanical: nobody's words, and no proof that the change is the cure. Red, edited, green in one session is a
candidate; the same in three session families is a lesson. What the agent says was the cause proves nothing, so no
item gives a reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lorelake.evidence.commands import mends, same_command
from lorelake.evidence.edits import Change, essence
from lorelake.evidence.runs import FAILED, PASSED, Run, runs
from lorelake.evidence.said import matter
from lorelake.evidence.telling import named, seen_of, telling_line, witnesses
from lorelake.evidence.unit import (
    EventRow,
    Signal,
    changes_files,
    failed,
    first_command,
    quoted,
    repository_path,
)

_MOST_PATHS = 4


def extract(events: Sequence[EventRow]) -> list[Signal]:
    """One signal for each failure that the same command later passed, and no other failure of it in between."""
    by_command: dict[str, list[Run]] = {}
    for run in runs(events):
        by_command.setdefault(same_command(run.command), []).append(run)
    pairs = [pair for of_command in by_command.values() for pair in _fixes(of_command)]
    pairs.sort(key=lambda pair: pair[0].position)
    return [signal for failing, passing in pairs if (signal := _signal(events, failing, passing))]


def _fixes(of_command: list[Run]) -> list[tuple[Run, Run]]:
    """(first failing run, passing run) of each stretch of failures with one signature right before a pass.

    Another failure in between, with another signature or with none, means that the first one was not what the pass
    cured: the stretch begins anew with it. A run whose end is not known says nothing either way.
    """
    found = []
    first: Run | None = None
    for run in of_command:
        if run.ending == FAILED:
            if first is None or run.signature is None or run.signature != first.signature:
                first = run if run.signature else None
        elif run.ending == PASSED:
            if first:
                found.append((first, run))
            first = None
    return found


def _signal(events: Sequence[EventRow], failing: Run, passing: Run) -> Signal | None:
    signature = failing.signature
    if signature is None:
        return None
    text = failing.result.text
    place = telling_line(text, signature)
    if place is None:
        return None
    edits, commands = _changes(events, failing, passing)
    paths = list(edits)
    seen = seen_of(signature, text) | {"passed_in": passing.result.event_id, "paths": paths, "commands": commands}
    item: dict[str, Any] = {}
    if paths or commands:
        line = text[slice(*place)]
        told = named(line, signature)
        command = first_command(same_command(failing.command))
        item = {
            "title": told,
            "when": f"`{command}` fails with: {told}",
            "do": _did(edits, commands, command, line),
            "kind": "procedure",
            "trust_basis": "mechanical",
            "applies_to": sorted({*paths, command, signature.key}),
            **witnesses(signature, text),
        }
    return quoted("error_fixed", failing.result, *place, item, seen)


def _changes(events: Sequence[EventRow], failing: Run, passing: Run) -> tuple[dict[str, list[EventRow]], list[str]]:
    """The edits of each path and the mending commands between two runs, in order.

    What failed, was refused, or ran the failing command again is left out.
    """
    between = events[failing.position + 1 : passing.position]
    undone = {event.call_id for event in between if event.call_id and _came_to_nothing(event)}
    edits: dict[str, list[EventRow]] = {}
    commands: list[str] = []
    again = same_command(failing.command)
    for event in between:
        if event.kind != "tool_call" or not event.on_live_path or event.call_id in undone:
            continue
        path = repository_path(event)
        if changes_files(event) and path:
            edits[path] = [*edits.pop(path, []), event]
        elif event.command and mends(event.command) and same_command(event.command) != again:
            commands.append(first_command(same_command(event.command)))
    return dict(list(edits.items())[-_MOST_PATHS:]), commands[-1:]


def _came_to_nothing(event: EventRow) -> bool:
    return event.kind in ("rejection", "denial") or (event.kind == "tool_result" and failed(event))


def _did(edits: dict[str, list[EventRow]], commands: list[str], command: str, line: str) -> str:
    """What changed, as one would tell it: the file and its telling line, other files, the command; then what passes."""
    steps = []
    if edits:
        path, change = _most_telling(edits, line)
        steps.append(_edited(path, change))
        others = ", ".join(f"`{other}`" for other in edits if other != path)
        steps += [f"also change {others}"] if others else []
    steps += [f"run `{one}`" for one in commands]
    done = "; ".join(steps)
    return f"{done[0].upper()}{done[1:]}. Then `{command}` passes."


def _most_telling(edits: dict[str, list[EventRow]], line: str) -> tuple[str, Change | None]:
    """Path and change of the edit that has most words in common with the error; of equals the last.

    An edit of the file that the error names comes before others.
    """
    about = matter(line)
    changes = [(path, change) for path, calls in edits.items() for call in calls if (change := essence(call))]
    if not changes:
        return list(edits)[-1], None
    shared = [
        (path.rpartition("/")[2] in line, len(about & matter(f"{change.written} {change.replaced}")))
        for path, change in changes
    ]
    return max(zip(shared, range(len(changes)), changes, strict=True))[2]


def _edited(path: str, change: Change | None) -> str:
    if change is None:
        return f"change `{path}`"
    instead = f" instead of `{change.replaced}`" if change.replaced else ""
    return f"in `{path}`, write `{change.written}`{instead}"
