"""What a model is asked about one unit: what people said in it, numbered, and what the agent did in between.

Only people's own words are given, without what they pasted, and only they may be quoted; lines of the agent are
context. The text of the question is an input of memory: while a unit says nothing new, it is asked about once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from lorelake.evidence.prose import own_words
from lorelake.evidence.unit import EventRow, describe_act, is_agent_act, is_said_by_human, repository_path
from lorelake.formats.record import digest
from lorelake.tables import ITEM_KINDS

PROMPT = """\
You read what people said while they worked on software, and pick out the few things their team should remember: a
rule of the project, a decision with what was turned down, a trap and the way around it, a preference that will come
up again.

Leave out: the task of the moment, questions, status, what is true only today, praise, and whatever a machine said.
Most conversations hold nothing to remember; then give an empty list.

Each item needs `statement`, the number of the statement it rests on, and `quote`, words copied from that statement
exactly. Write `title` in at most 80 characters as a colleague would, `when` as the situation in which it matters,
`do` as one to three sentences that tell what to do, `because` and `rejected` (the option turned down) only where they
were said, `not_when` only for exceptions that were said. Use names, numbers and paths as they stand. Add nothing that
was not said.
"""

SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["items"],
    "properties": {
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["statement", "quote", "title", "when", "do", "because", "rejected", "not_when", "kind"],
                "properties": {
                    "statement": {"type": "integer"},
                    "quote": {"type": "string"},
                    "title": {"type": "string"},
                    "when": {"type": "string"},
                    "do": {"type": "string"},
                    "because": {"type": ["string", "null"]},
                    "rejected": {"type": ["string", "null"]},
                    "not_when": {"type": "array", "items": {"type": "string"}},
                    "kind": {"type": "string", "enum": list(ITEM_KINDS)},
                },
            },
        }
    },
}
"""The answer as JSON schema, for endpoints that can be held to one."""

MOST_CHARS = 24_000
"""Length of a question. What people said last stays; that something was left out is said in the question."""

_STATEMENT_CHARS = 2_000
_CONTEXT_CHARS = 300
_ACTS_SHOWN = 3
_FEWEST_WORDS = 4
_SPACE = re.compile(r"\s+")


class Question(msgspec.Struct, frozen=True):
    """One unit's question. `statements` are the ids of the events that its numbers, from 1, stand for."""

    unit_id: str
    text: str
    statements: tuple[str, ...]

    def key(self, model: str) -> str:
        """What an answer is kept by: sha256 hex of prompt, model, unit and question."""
        return digest(PROMPT, model, self.unit_id, self.text)


def question(events: Sequence[EventRow]) -> Question | None:
    """The question about a unit's events in `seq` order; None where nobody said a sentence."""
    entries = _entries(events)
    if not any(len(text.split()) >= _FEWEST_WORDS for event, text in entries if event is not None):
        return None
    kept: list[tuple[EventRow | None, str]] = []
    left = MOST_CHARS
    for event, text in reversed(entries):
        left -= len(text)
        if left < 0:
            break
        kept.append((event, text))
    kept.reverse()
    lines = [] if len(kept) == len(entries) else ["(what was said before this is left out)"]
    statements: list[str] = []
    for event, text in kept:
        if event is None:
            lines.append(f"    agent: {text}")
        else:
            statements.append(event.event_id)
            place = f" on `{path}`" if (path := repository_path(event)) else ""
            lines.append(f"[{len(statements)}] {event.actor} ({event.kind.replace('_', ' ')}{place}): {text}")
    return Question(events[0].unit_id, "\n".join(lines), tuple(statements)) if statements else None


def spoken(event: EventRow) -> bool:
    """Whether an event may be quoted: a person's words, here and for good, a refusal's among them."""
    refused = event.kind == "rejection" and event.actor_class == "human" and event.on_live_path
    return is_said_by_human(event) or (refused and bool(event.text.strip()))


def _entries(events: Sequence[EventRow]) -> list[tuple[EventRow | None, str]]:
    """(statement, its words) and (None, what the agent did or said last) in order."""
    entries: list[tuple[EventRow | None, str]] = []
    acts: list[str] = []
    for event in events:
        if spoken(event):
            words = _one_line(own_words(event.text), _STATEMENT_CHARS)
            if words:
                entries += [(None, act) for act in acts[-_ACTS_SHOWN:]]
                entries.append((event, words))
                acts = []
        elif is_agent_act(event):
            told = describe_act(event) if event.kind == "tool_call" else _one_line(event.text, _CONTEXT_CHARS)
            acts += [told] if told else []
    return entries


def _one_line(text: str, limit: int) -> str:
    return _SPACE.sub(" ", text).strip()[:limit]
