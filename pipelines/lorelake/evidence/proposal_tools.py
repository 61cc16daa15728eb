"""The tools by which agents hand items to memories, and which of their arguments say what.

Facts of GitMem 1.8, mem0's MCP server, the reference `memory` server, Copilot CLI, Gemini CLI and Serena. A tool of
another server that is named like one of theirs is read the same way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from lorelake.evidence.memory_calls import GITMEM_TOOLS, tool_of

_NAMED = re.compile(
    r"(?:^|__|[._/:-])((?:add|create|store|save|write|upsert|record|insert)[-_](?:a[-_])?(?:memor(?:y|ies)|learnings?|lessons?"
    r"|facts?|observations?)|memory[-_](?:add|create|store|save|write|insert)|remember(?:[-_](?:this|fact))?|create_entities"
    r"|add_observations)$",
    re.IGNORECASE,
)
_MEMORY_SERVER = re.compile(
    r"^(?:mcp__?)?[\w-]*?(?:memor(?:y|ies)|mem0)[\w-]*?(?:__|[./:])(add|store|save|create|write)$", re.I
)
_TEXTS = ("do", "fact", "text", "content", "memory", "observation", "note", "lesson", "learning", "value", "data")
_TITLES = ("title", "subject", "name", "memory_name", "key", "topic")
_REASONS = ("because", "reason", "why", "rationale", "why_this_matters")
_LEARNING_KINDS = frozenset(("scar", "win", "pattern", "anti_pattern"))


class Proposal(msgspec.Struct, frozen=True):
    """One item an agent hands in.

    Attributes:
        witness: the agent's words, as the item's id is made of them.
        fields: item fields.
        quote: the words as one run of the call's text; the witness where empty.
        by: the tool's own name.
    """

    witness: str
    fields: dict[str, Any]
    quote: str = ""
    by: str = ""


def of_arguments(tool: str, given: Mapping[str, Any]) -> Iterator[Proposal]:
    """The proposals of one call; none where the tool adds nothing to a memory."""
    theirs = GITMEM_TOOLS.get(tool_of("gitmem", tool), "")
    named = _NAMED.search(tool) or _MEMORY_SERVER.match(tool)
    name = theirs or ("propose" if tool_of("lorelake", tool) == "propose" else named[1].lower() if named else "")
    if name in ("create_learning", "create_decision") and theirs:
        found = [_gitmem(name, given)]
    elif name in ("create_entities", "add_observations"):
        found = list(_graph(given))
    elif theirs or not name:
        found = []
    else:
        found = [_plain(given)]
    yield from (msgspec.structs.replace(proposal, by=name) for proposal in found if proposal and proposal.witness)


def _gitmem(name: str, given: Mapping[str, Any]) -> Proposal | None:
    if name == "create_decision":
        text = _said(given, "decision") or _said(given, "title")
        fields: dict[str, Any] = {
            "because": _said(given, "rationale"),
            "rejected": "; ".join(_listed(given, "alternatives_considered")),
            "kind": "decision",
        }
    else:
        steps = _listed(given, "action_protocol")
        text = (
            _said(given, "solution_approach") or _said(given, "description") or " ".join(steps) or _said(given, "title")
        )
        kind = _said(given, "learning_type")
        fields = {
            "when": "; ".join(_listed(given, "applies_when")) or _said(given, "problem_context"),
            "because": _said(given, "why_this_matters"),
            "kind": kind if kind in _LEARNING_KINDS else "pattern",
            "severity": _said(given, "severity").lower(),
            "not_when": [f"agent: {words}" for words in _listed(given, "counter_arguments")],
            "self_check": _listed(given, "self_check_criteria"),
            "tags": sorted({*_listed(given, "keywords"), *_listed(given, "domain")}),
        }
    return Proposal(text, {"title": _said(given, "title"), "do": text, **fields}) if text else None


def _graph(given: Mapping[str, Any]) -> Iterator[Proposal]:
    """Observations about entities, as the reference memory server takes them: an entity's are one item."""
    entries = given.get("entities") or given.get("observations")
    for entry in entries if isinstance(entries, list) else ():
        if not isinstance(entry, dict):
            continue
        told = _listed(entry, "observations") or _listed(entry, "contents")
        if told:
            title = _said(entry, "name") or _said(entry, "entityName")
            text = " ".join(words if words.endswith((".", "。", "!")) else f"{words}." for words in told)
            yield Proposal(text, {"title": title, "do": text, "kind": "fact"}, told[0])


def _plain(given: Mapping[str, Any]) -> Proposal | None:
    text = next((words for name in _TEXTS if (words := _said(given, name))), "") or _message(given)
    because = next((words for name in _REASONS if (words := _said(given, name))), "")
    title = next((words for name in _TITLES if (words := _said(given, name))), "")
    return Proposal(text, {"title": title, "do": text, "because": because, "kind": "fact"}) if text else None


def _message(given: Mapping[str, Any]) -> str:
    """The last message of a conversation that is handed in whole."""
    messages = given.get("messages")
    told = (
        [_said(entry, "content") for entry in messages if isinstance(entry, dict)] if isinstance(messages, list) else []
    )
    return next((words for words in reversed(told) if words), "")


def _said(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name)
    return value.strip() if isinstance(value, str) else ""


def _listed(given: Mapping[str, Any], name: str) -> list[str]:
    value = given.get(name)
    entries = value if isinstance(value, list) else [value]
    return list(dict.fromkeys(entry.strip() for entry in entries if isinstance(entry, str) and entry.strip()))
