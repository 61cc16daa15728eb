"""The runs of shell commands in one unit: where each result stands, and how it ended, if that is known.

An exit code is believed where it is the command's own. A pipe, `|| true`, a time-out, an interruption or the background
hide it: then only what the output itself says counts, and a run that says nothing ended unknown, never well.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

import msgspec

from lorelake.content.signatures import ErrorSignature, error_signature
from lorelake.evidence.commands import checks, hides_end, looks_only
from lorelake.evidence.unit import EventRow, failed, results, tool_name

FAILED, PASSED, UNKNOWN = "failed", "passed", "unknown"

_HEAD = 1500
_STOPPED = (
    "Request interrupted", "imed out", "Sibling tool", "Cancelled: par", "doesn't want", "Permission to use",
    "<status>running",
)  # fmt: skip
"""One of these stands in every output that `_NOT_ITS_END` finds something in."""

_RUNNING = re.compile(r"Process running with session ID (\d+)|[Cc]ommand (?:is )?running in (?:the )?background")
_NOT_ITS_END = re.compile(
    r"\[Request interrupted by user|Command timed out|command timed out|timed out after \d+|Sibling tool call errored"
    r"|Cancelled: parallel tool call|The user doesn't want|Permission to use \w+ has been|<status>running</status>"
)
_SAYS_PASSED = re.compile(
    r"^(?:ok\s+\S+\s+(?:[\d.]+s|\(cached\))|PASS\b|OK \(\d+ tests?|test result: ok|All checks passed|BUILD SUCCESS"
    r"|Success: no issues|Found 0 errors|0 issues\b|No issues found|✓ |All matched files use Prettier)"
    r"|\b[1-9]\d* (?:tests? )?pass(?:ed|ing)\b|\b0 fail(?:ed|ures)?\b|\b0 errors?\b",
    re.M,
)
_SAYS_FAILED = re.compile(r"\b[1-9]\d* (?:tests? )?(?:fail(?:ed|ing|ures?)?|errors?)\b|^FAIL\b|BUILD FAILED", re.M)


class Run(msgspec.Struct, frozen=True):
    """One run of a command. `ending` is `failed`, `passed` or `unknown`; `signature` that of the error it told of."""

    position: int
    call: EventRow
    result: EventRow
    ending: str
    signature: ErrorSignature | None

    @property
    def command(self) -> str:
        """The command as it was run."""
        return self.call.command or ""


def runs(events: Sequence[EventRow]) -> list[Run]:
    """Every run of a command that does more than look, in the order of their results.

    A run that went on in the background is told where its end is told.
    """
    return [
        _run(position, call, result) for position, call, result in _ended(events) if not looks_only(call.command or "")
    ]


def _ended(events: Sequence[EventRow]) -> Iterator[tuple[int, EventRow, EventRow]]:
    running: dict[str, EventRow] = {}
    for position, result, call in results(events):
        if call is None:
            continue
        started: EventRow | None = call if call.command else None
        if started is None and tool_name(call) == "write_stdin":
            started = running.get(_session(call))
        if started is None:
            continue
        head = result.text[:_HEAD]
        session = _RUNNING.search(head) if "running" in head else None
        if session is None:
            yield position, started, result
        elif session[1]:
            running[session[1]] = started


def _session(call: EventRow) -> str:
    try:
        arguments = json.loads(call.text)
    except ValueError:
        return ""
    return str(arguments.get("session_id", "")) if isinstance(arguments, dict) else ""


def _run(position: int, call: EventRow, result: EventRow) -> Run:
    command = call.command or ""
    if came_to_no_end(result):
        return Run(position, call, result, UNKNOWN, None)
    if failed(result):
        return Run(position, call, result, FAILED, error_signature(result.text, True) if result.text else None)
    is_told = result.is_error is False or result.exit_code == 0
    if is_told and not hides_end(command):
        return Run(position, call, result, PASSED, None)
    ending, signature = _as_it_says(command, result.text)
    return Run(position, call, result, ending, signature)


def came_to_no_end(result: EventRow) -> bool:
    """Whether a result tells that the tool was stopped, refused or never run: no failure of what was tried."""
    head = result.text[:_HEAD]
    return any(word in head for word in _STOPPED) and bool(_NOT_ITS_END.search(head))


def _as_it_says(command: str, text: str) -> tuple[str, ErrorSignature | None]:
    if not text or not checks(command):
        return UNKNOWN, None
    signature = error_signature(text)
    if signature is not None:
        return FAILED, signature
    says_passed = _SAYS_PASSED.search(text) and not _SAYS_FAILED.search(text)
    return (PASSED if says_passed else UNKNOWN), None
