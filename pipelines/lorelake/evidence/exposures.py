"""What memory showed and what an agent cited, read from transcripts by their markers.

A marker counts as `shown` only inside the result of a memory tool's call, and as `cited` only in an agent's own
answer, of an item its session family was shown before. Anywhere else (a person's text, a file that was read, another
program's output) it is text, whoever wrote it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from lorelake.content import markers
from lorelake.evidence.unit import EventRow, results
from lorelake.formats.record import digest

MEMORY_COMMANDS = frozenset(("recall", "check", "show"))
_MCP_TOOL = re.compile(r"^mcp__(?:[\w-]*[_-])?lorelake(?:[_-][\w-]*?)?__\w+$|^lorelake[.:/]\w+$", re.I)
_OPERATORS = frozenset((";", "&&", "||", "|", "&"))
_PASSES_THROUGH = frozenset(("head", "tail", "cd", "true"))


def is_memory_call(call: EventRow) -> bool:
    """Whether everything a call prints comes from memory: `lorelake recall | check | show`, or our MCP server's tool.

    A line that also runs another program could print a forged marker, so it is no memory call.
    """
    if call.command is not None:
        return _only_memory(call.command)
    return bool(call.tool and _MCP_TOOL.match(call.tool))


def _only_memory(command: str) -> bool:
    if any(sign in command for sign in ("$(", "`", "<(", "<<", "\n")):
        return False
    try:
        lexer = shlex.shlex(command.replace("2>&1", " "), posix=True, punctuation_chars=";&|<>")
        lexer.whitespace_split = True
        tokens = list(lexer)
    except ValueError:
        return False
    programs: list[list[str]] = [[]]
    for token in tokens:
        if token in _OPERATORS:
            programs.append([])
        elif re.fullmatch(r"[;&|<>]+", token):
            return False
        else:
            programs[-1].append(token)
    found = [_is_memory_program(words) for words in programs if words]
    return any(found) and all(
        ours or _is_harmless(words) for ours, words in zip(found, filter(None, programs), strict=True)
    )


def _is_memory_program(words: Sequence[str]) -> bool:
    while words and re.fullmatch(r"[A-Za-z_]\w*=.*", words[0]):
        words = words[1:]
    arguments = [word for word in words[1:] if not word.startswith("-")]
    return bool(words) and words[0].rsplit("/", 1)[-1] == "lorelake" and bool(MEMORY_COMMANDS & set(arguments[:1]))


def _is_harmless(words: Sequence[str]) -> bool:
    """A program that prints only what it is piped, or nothing."""
    return words[0] in _PASSES_THROUGH and (
        words[0] == "cd" or all(w.startswith("-") or w.isdigit() for w in words[1:])
    )


def memory_texts(events: Sequence[EventRow]) -> list[str]:
    """What memory gave a unit: the results of its memory calls. The self-echo gate compares with them."""
    return [result.text for _, result, call in results(events) if call is not None and is_memory_call(call)]


def exposure_rows(
    sessions: Iterable[Mapping[str, Any]], events_of: Mapping[str, Sequence[EventRow]]
) -> list[dict[str, Any]]:
    """Rows of `tables.EXPOSURES`, computed whole: a citation may stand in another file of the family.

    Args:
        sessions: rows of `tables.SESSIONS`.
        events_of: unit id to its events in `seq` order.
    """
    families: dict[str, list[Mapping[str, Any]]] = {}
    for session in sessions:
        families.setdefault(str(session["family_id"]), []).append(session)
    rows: dict[str, dict[str, Any]] = {}
    for family in families.values():
        shown = [row for unit in family for row in _shown(unit, events_of.get(unit["unit_id"], ()))]
        cited = [row for unit in family for row in _cited(unit, events_of.get(unit["unit_id"], ()), shown)]
        for row in (*shown, *cited):
            rows.setdefault(row["exposure_id"], row)
    return [rows[key] for key in sorted(rows)]


def _shown(session: Mapping[str, Any], events: Sequence[EventRow]) -> Iterator[dict[str, Any]]:
    for _, result, call in results(events):
        if call is None or not is_memory_call(call):
            continue
        for marker in markers.parse(result.text):
            if marker.kind == "shown":
                for claim in marker.ids:
                    yield _row(session, result, claim, "shown", marker.release_id)


def _cited(
    session: Mapping[str, Any], events: Sequence[EventRow], shown: Sequence[Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    for event in events:
        if event.kind != "answer" or event.actor_class != "agent" or not event.on_live_path:
            continue
        known = [row["claim_id"] for row in shown if row["ts"] <= event.ts]
        for marker in markers.parse(event.text):
            if marker.kind == "cited":
                for claim in marker.ids:
                    if any(claim.startswith(other) or other.startswith(claim) for other in known):
                        yield _row(session, event, claim, "cited", None)


def _row(session: Mapping[str, Any], event: EventRow, claim: str, act: str, release: str | None) -> dict[str, Any]:
    return {
        "exposure_id": digest(event.event_id, claim, act)[:32],
        "claim_id": claim,
        "unit_id": event.unit_id,
        "family_id": str(session["family_id"]),
        "person": str(session["person"]),
        "act": act,
        "release_id": release,
        "ts": event.ts,
    }
