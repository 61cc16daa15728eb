"""Errors that commands and services ran into, by signature, so that their recurrence can be counted over sessions.

An observation: it becomes no claim. What a command printed of a log or a source is no error of that session.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lorelake.content.signatures import ErrorSignature, error_signature
from lorelake.evidence.commands import same_command
from lorelake.evidence.runs import FAILED, came_to_no_end, runs
from lorelake.evidence.telling import seen_of, telling_line
from lorelake.evidence.unit import EventRow, Signal, failed, is_service_tool, quoted, results

_LONGEST_COMMAND = 200


def extract(events: Sequence[EventRow]) -> list[Signal]:
    """One signal for each signature seen, quoting its first occurrence, with the count and the time of the last."""
    seen: dict[str, list[tuple[EventRow, str, ErrorSignature]]] = {}
    for result, tried, signature in sorted(_failures(events), key=lambda found: found[0].seq):
        seen.setdefault(signature.key, []).append((result, tried, signature))
    found = []
    for occurrences in seen.values():
        result, tried, signature = occurrences[0]
        place = telling_line(result.text, signature)
        if place is not None:
            what = {
                "command": tried[:_LONGEST_COMMAND],
                "count": len(occurrences),
                "last": occurrences[-1][0].ts.isoformat(),
            }
            found.append(quoted("error_seen", result, *place, {}, seen_of(signature, result.text) | what))
    return found


def _failures(events: Sequence[EventRow]) -> Iterator[tuple[EventRow, str, ErrorSignature]]:
    for run in runs(events):
        if run.ending == FAILED and run.signature is not None:
            yield run.result, same_command(run.command), run.signature
    for _, result, call in results(events):
        if call is not None and is_service_tool(call) and failed(result) and not came_to_no_end(result):
            signature = error_signature(result.text, True)
            if signature is not None:
                yield result, call.tool or "", signature
