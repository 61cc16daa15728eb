"""How hard a session went: interruptions, denials, rejections, errors and repeated failures, as a score with its parts.

An observation, one for each session; a sub-agent's events count in its own. Points follow teamai's share hint
(interruption and rejection 20 each, errors in steps), to which denials and failures repeated are added; what a hint
gives for skills or recalls is not friction and is left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from lorelake.evidence.commands import same_command
from lorelake.evidence.runs import FAILED, Run, came_to_no_end, runs
from lorelake.evidence.telling import telling_line
from lorelake.evidence.unit import EventRow, Signal, failed, quoted, results

POINTS = {"interrupts": 20, "rejections": 20, "denials": 10, "retries": 5}
"""Points for each of them."""

ERRORS = ((8, 25), (5, 18), (3, 10))
"""From so many failed results on, so many points."""

_MOST_RETRY_POINTS = 25
_LONGEST_QUOTE = 300


def extract(events: Sequence[EventRow]) -> list[Signal]:
    """One signal of a session that met any friction, quoting the most telling event of it that has words."""
    live = [event for event in events if event.on_live_path]
    if not any(event.kind in ("tool_result", "rejection", "denial", "interrupt") for event in live):
        return []
    all_runs = runs(events)
    parts = {
        "interrupts": len(_interrupts(live)),
        "rejections": sum(event.kind == "rejection" for event in live),
        "denials": sum(event.kind == "denial" for event in live),
        "errors": len(_errors(events, all_runs)),
        "retries": _retries(all_runs),
    }
    points = {name: each * parts[name] for name, each in POINTS.items()}
    points["retries"] = min(points["retries"], _MOST_RETRY_POINTS)
    points["errors"] = next((given for least, given in ERRORS if parts["errors"] >= least), 0)
    score = sum(points.values())
    told = _telling(events, live, all_runs) if score else None
    if told is None:
        return []
    event, start, end = told
    return [quoted("friction", event, start, end, {}, {"score": score, **parts})]


def _interrupts(live: Sequence[EventRow]) -> list[int]:
    """Where a person stopped the agent. A stop written right after a rejection or denial is the same stop."""
    found = []
    before = ""
    for position, event in enumerate(live):
        if event.kind == "interrupt" and before not in ("rejection", "denial", "interrupt"):
            found.append(position)
        if event.kind != "usage":
            before = event.kind
    return found


def _errors(events: Sequence[EventRow], all_runs: Sequence[Run]) -> list[EventRow]:
    """Results that failed, looking apart: a search that finds nothing has not failed."""
    of_commands = [run.result for run in all_runs if run.ending == FAILED]
    of_tools = [
        result
        for _, result, call in results(events)
        if (call is None or not call.command) and failed(result) and not came_to_no_end(result)
    ]
    known = {event.event_id for event in of_commands}
    return of_commands + [event for event in of_tools if event.event_id not in known]


def _retries(all_runs: Sequence[Run]) -> int:
    """Failures that followed a failure of the same command with nothing but failures between."""
    failing: set[str] = set()
    count = 0
    for run in all_runs:
        command = same_command(run.command)
        if run.ending == FAILED:
            count += command in failing
            failing.add(command)
        else:
            failing.discard(command)
    return count


def _telling(
    events: Sequence[EventRow], live: Sequence[EventRow], all_runs: Sequence[Run]
) -> tuple[EventRow, int, int] | None:
    """A rejection's words, else a person's next words after a stop, a denial, an error, the event that was stopped."""
    stops = _interrupts(live) + [n for n, e in enumerate(live) if e.kind == "rejection"]
    said = [n for n, e in enumerate(live) if e.kind in ("prompt", "queued_prompt")]
    after = [live[next_] for stop in sorted(stops) for next_ in said if next_ > stop][:1]
    rejections, denials = ([e for e in live if e.kind == kind] for kind in ("rejection", "denial"))
    for event in (*rejections, *after, *denials):
        if event.text.strip():
            return event, *_first_line(event.text)
    for run in all_runs:
        place = telling_line(run.result.text, run.signature) if run.signature else None
        if run.ending == FAILED and place:
            return run.result, *place
    others = [*_errors(events, all_runs), *(live[stop - 1] for stop in sorted(stops) if stop), *live]
    return next(((event, *_first_line(event.text)) for event in others if event.text.strip()), None)


def _first_line(text: str) -> tuple[int, int]:
    start = len(text) - len(text.lstrip())
    end = text.find("\n", start)
    return start, min(end if end > 0 else len(text.rstrip()), start + _LONGEST_QUOTE)
