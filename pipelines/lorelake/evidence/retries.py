"""A call that failed by the way it was called, and right after it the same call in another way that worked.

The lesson is the difference: a flag, a setting before the command, the runner, the folder, the subcommand. A failing
test or build is what the code is, not how it was called; where something was edited or a person spoke in between,
the difference is not what helped; another target (file, package, test) is another question.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any

import msgspec

from lorelake.content.signatures import COMMAND_NOT_FOUND, WRONG_CALL, ErrorSignature, error_signature
from lorelake.evidence.commands import checks, directory, same_command
from lorelake.evidence.runs import FAILED, PASSED, Run, came_to_no_end, runs
from lorelake.evidence.telling import named, seen_of, telling_line, witnesses
from lorelake.evidence.unit import EventRow, Signal, changes_files, failed, is_service_tool, quoted, results

_MOST_CALLS_BETWEEN = 3
_MOST_MINUTES = 15
_LONGEST_COMMAND = 160
_MOST_CHANGED = 3
_LONGEST_VALUE = 60
_WITHIN = frozenset(("TestFailed", "CompileError", "AssertionError", "panic", "CONFLICT"))
"""Errors of what was tested, built or merged, whatever the command."""

_STOPS = frozenset(("prompt", "queued_prompt", "rejection", "denial", "interrupt"))
_DODGES = re.compile(
    r"--(?:no-verify|exit-zero|force(?!-recreate)|passwithnotests|no-check|allow-dirty|skip\S*|ignore\S*|no-fail\S*"
    r"|legacy-peer-deps|insecure|no-gpg-sign|yes-really|dangerously\S*)\b|(?:^|\s)-(?:f|n|k)(?=\s|$)|\|\|",
    re.I,
)
"""Ways around a check: that a command passes so teaches nothing good."""

_SETTING = re.compile(r"[A-Za-z_]\w*=\S*$")
_PLACE = re.compile(r"[/.:› ]")
"""In the frame of an error of the code or of a test; of a tool's own error it is the tool's name."""

_SHOWS = re.compile(
    r"--?(?:v+|verbose|q|quiet|x|k|t|run|lf|ff|bail|grep|filter|only|count|json|stat|format|limit|tail|debug|trace|help|list"
    r"|dry-run|testnamepattern|watch|color)\b",
    re.I,
)
"""Flags that show or select: that such a run passes does not make them a way to call it."""

_TYPO = 0.8
_COMPOUND = re.compile(r"&&|\|\||[|;\n]|<<|\$\(")
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'")
_TARGET = re.compile(r"[\w@.-]*[/\\]|\.\w{1,5}$|^[0-9a-f]{7,40}$|^\d|https?:")
_RUNNERS = frozenset(
    """
    sudo npx bunx pnpm yarn bun uv uvx poetry pipenv pdm hatch rye run exec dlx x python python3 py -m mise nix bundle
    docker compose direnv corepack node deno php ruby env --
    """.split()  # noqa: SIM905 - a list of words is read more easily as text
)
"""Words that start another command."""


class _Difference(msgspec.Struct, frozen=True):
    """Words that only the failing or only the passing call has."""

    gone: tuple[str, ...]
    new: tuple[str, ...]
    way: str


def extract(events: Sequence[EventRow]) -> list[Signal]:
    """One signal for each failing call whose changed repetition worked."""
    found = [*_commands(events), *_services(events)]
    return [signal for _, signal in sorted(found, key=lambda pair: pair[0])]


def _commands(events: Sequence[EventRow]) -> list[tuple[int, Signal]]:
    all_runs = runs(events)
    found = []
    for number, failing in enumerate(all_runs):
        if failing.ending != FAILED or failing.signature is None or not _is_of_the_call(failing.signature):
            continue
        for passing in all_runs[number + 1 : number + 2 + _MOST_CALLS_BETWEEN]:
            if not _is_close(events, failing.position, passing.position):
                break
            difference = _difference(failing, passing) if passing.ending == PASSED else None
            if difference is not None:
                signal = _signal(failing, passing, difference)
                found += [(failing.position, signal)] if signal else []
                break
    return found


def _is_of_the_call(signature: ErrorSignature) -> bool:
    if signature.type == COMMAND_NOT_FOUND:
        return True
    return signature.type not in _WITHIN and not _PLACE.search(signature.frame)


def _is_close(events: Sequence[EventRow], failing: int, passing: int) -> bool:
    """Whether nothing came between two results that would explain the change: an edit, a person, or much else."""
    between = [event for event in events[failing + 1 : passing] if event.on_live_path]
    calls = [event for event in between if event.kind == "tool_call"]
    if len(calls) > _MOST_CALLS_BETWEEN + 1 or any(changes_files(call) for call in calls):
        return False
    minutes = (events[passing].ts - events[failing].ts).total_seconds() / 60
    return minutes <= _MOST_MINUTES and not any(event.kind in _STOPS for event in between)


def _difference(failing: Run, passing: Run) -> _Difference | None:
    """How the passing call differs, if that is a way of calling and not another question."""
    before, after = same_command(failing.command), same_command(passing.command)
    if before == after:
        here, there = directory(failing.command), _in_project(passing.call)
        return _Difference((), (there,), "folder") if there and here != directory(passing.command) else None
    if _is_compound(before) or _is_compound(after) or max(len(before), len(after)) > _LONGEST_COMMAND:
        return None
    old, new = _words(before), _words(after)
    if old == new:
        return _Difference((), (), "quotes")
    told = failing.result.text[:2000]
    return _changed(old, new, told, failing.signature)


def _in_project(call: EventRow) -> str:
    """The folder a command first goes to, as the project names it; "" where that is not known."""
    there = directory(call.command or "")
    cwd = call.attributes.get("cwd")
    if isinstance(cwd, str) and cwd and there.startswith(cwd.rstrip("/") + "/"):
        there = there[len(cwd.rstrip("/")) + 1 :]
    return "" if re.match(r"/|~|\$|\.\.|[A-Za-z]:", there) else there


def _changed(old: list[str], new: list[str], told: str, signature: ErrorSignature | None) -> _Difference | None:
    gone = tuple(word for word in old if word not in new)
    fresh = tuple(word for word in new if word not in old)
    shared = [word for word in old if word in new]
    if _DODGES.search(" ".join(fresh)) or len(gone) > _MOST_CHANGED or len(fresh) > _MOST_CHANGED:
        return None
    if signature is not None and signature.type == COMMAND_NOT_FOUND:
        is_runner = all(word in _RUNNERS or word == signature.frame for word in (*gone, *fresh[1:]))
        same_rest = len(shared) >= len(old) - 1
        return _Difference(gone, fresh, "command") if fresh and same_rest and is_runner else None
    if not shared or not _is_same_program(old, new):
        return None
    if all(_SETTING.match(word) for word in (*gone, *fresh)):
        return _Difference(gone, fresh, "setting")
    is_wrong_call = signature is not None and signature.type == WRONG_CALL
    if all(word.startswith("-") for word in (*gone, *fresh)):
        asked = is_wrong_call or any(_is_named(word, told) for word in (*gone, *fresh))
        is_way = asked or not (checks(" ".join(old)) or any(_SHOWS.match(word) for word in fresh))
        return _Difference(gone, fresh, "flag") if is_way else None
    is_named = all(_is_named(word, told) for word in gone)
    if is_wrong_call and gone and is_named and not any(_TARGET.search(w) for w in (*gone, *fresh)):
        return None if _is_typo(gone, fresh) else _Difference(gone, fresh, "word")
    return None


def _is_typo(gone: Sequence[str], fresh: Sequence[str]) -> bool:
    """Whether one word was only spelled wrong: no lesson for anybody else."""
    return len(gone) == len(fresh) == 1 and SequenceMatcher(None, gone[0], fresh[0]).ratio() >= _TYPO


def _is_same_program(old: Sequence[str], new: Sequence[str]) -> bool:
    programs = [
        next((word for word in words if not _SETTING.match(word) and word != "sudo"), "") for words in (old, new)
    ]
    return programs[0] == programs[1] or (bool(_RUNNERS & {programs[1]}) and programs[0] in new)


def _is_named(word: str, told: str) -> bool:
    return word.split("=")[0] in told


def _is_compound(command: str) -> bool:
    return bool(_COMPOUND.search(_QUOTED.sub("''", command)))


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def _signal(failing: Run, passing: Run, difference: _Difference) -> Signal | None:
    signature = failing.signature
    text = failing.result.text
    place = telling_line(text, signature) if signature else None
    if signature is None or place is None:
        return None
    tried, works = same_command(failing.command), same_command(passing.command)
    if difference.way == "folder":
        works = f"cd {difference.new[0]} && {works}"
    told = named(text[slice(*place)], signature)
    return _told(failing.result, place, signature, tried, works, told, _seen(passing.result, difference))


def _seen(passed_in: EventRow, difference: _Difference) -> dict[str, Any]:
    gone, new = list(difference.gone), list(difference.new)
    return {"passed_in": passed_in.event_id, "way": difference.way, "gone": gone, "new": new}


def _told(
    result: EventRow, place: tuple[int, int], signature: ErrorSignature, tried: str, works: str, told: str, seen: Any
) -> Signal:
    item = {
        "title": told,
        "when": f"`{tried}` fails with: {told}",
        "do": f"Run `{works}` instead of `{tried}`.",
        "rejected": f"`{tried}`",
        "kind": "procedure",
        "trust_basis": "mechanical",
        "applies_to": sorted({tried, works, signature.key}),
        **witnesses(signature, result.text),
    }
    return quoted("retry_worked", result, *place, item, seen_of(signature, result.text) | seen)


def _services(events: Sequence[EventRow]) -> list[tuple[int, Signal]]:
    """The same for a server's tool: the argument that was added, left out, or corrected where the error names it."""
    asked = [(place, result, call) for place, result, call in results(events) if call and is_service_tool(call)]
    found = []
    for number, (place, result, call) in enumerate(asked):
        signature = error_signature(result.text, True) if failed(result) and not came_to_no_end(result) else None
        if signature is None or not _is_of_the_call(signature):
            continue
        for later, again, other in asked[number + 1 : number + 2 + _MOST_CALLS_BETWEEN]:
            if other.tool != call.tool or failed(again) or again.is_error is None:
                continue
            signal = _service_signal(result, call, signature, again, other) if _is_close(events, place, later) else None
            found += [(place, signal)] if signal else []
            break
    return found


def _service_signal(
    result: EventRow, call: EventRow, signature: ErrorSignature, again: EventRow, other: EventRow
) -> Signal | None:
    before, after = _arguments(call), _arguments(other)
    place = telling_line(result.text, signature)
    if before is None or after is None or place is None:
        return None
    difference = _other_arguments(before, after, result.text[:2000])
    if difference is None:
        return None
    told = named(result.text[slice(*place)], signature)
    with_ = " and ".join(f"`{name}: {json.dumps(after[name], ensure_ascii=False)}`" for name in difference.new)
    without = " and ".join(f"`{name}`" for name in difference.gone if name not in difference.new)
    how = " and ".join(filter(None, (with_ and f"with {with_}", without and f"without {without}")))
    item = {
        "title": told,
        "when": f"`{call.tool}` fails with: {told}",
        "do": f"Call `{call.tool}` {how}.",
        "kind": "procedure",
        "trust_basis": "mechanical",
        "applies_to": sorted({str(call.tool), signature.key}),
        **witnesses(signature, result.text),
    }
    return quoted("retry_worked", result, *place, item, seen_of(signature, result.text) | _seen(again, difference))


def _arguments(call: EventRow) -> dict[str, Any] | None:
    try:
        found = json.loads(call.text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _other_arguments(before: dict[str, Any], after: dict[str, Any], told: str) -> _Difference | None:
    changed = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    new = [name for name in changed if name in after]
    gone = [name for name in changed if name not in after]
    if not changed or len(changed) > 2 or len(changed) == len({**before, **after}) > 1:
        return None
    if any(len(json.dumps(after[name])) > _LONGEST_VALUE for name in new):
        return None
    is_corrected = all(name in told or name not in before for name in new)
    return _Difference(tuple(gone), tuple(new), "argument") if is_corrected else None
