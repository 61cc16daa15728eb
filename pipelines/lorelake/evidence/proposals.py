"""What an agent itself wants remembered: the call by which it hands an item to a memory, in the agent's own words.

Nothing here is anybody's evidence: a proposal is a candidate until a person looks at it. A call that was refused, or
whose result is not there, proposed nothing. The same words proposed twice in a unit are one proposal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from lorelake.content.normalise import content_key
from lorelake.evidence.memory_calls import arguments, may_ask, own_program, programs
from lorelake.evidence.proposal_tools import Proposal, of_arguments
from lorelake.evidence.prose import document_sentences
from lorelake.evidence.unit import EventRow, Signal, changes_files, failed, quoted, results
from lorelake.formats.record import canonical

_REFUSED = re.compile(
    r"[^A-Za-z{\n]{0,8}(?:\{\s*\"(?:error|success\"\s*:\s*false)|(?:error|failed|failure|rejected|refused|denied|invalid"
    r"|missing|unknown|unauthorized|forbidden|validation|could not|cannot|unable"
    r"|not (?:stored|saved|added|allowed))\b)",
    re.IGNORECASE,
)
_CONTRIBUTE = re.compile(r"(?:^|[;&|\n]\s*|\s)(?:teamai|teamai-cli)\s+contribute\b(?P<rest>[^\n;&|]*)")
_FILE = re.compile(r"--file[= ]\s*(?:'([^'\n]+)'|\"([^\"\n]+)\"|(\S+))")
_TITLE = re.compile(r"--title[= ]\s*(?:'([^'\n]+)'|\"([^\"\n]+)\"|(\S+))")
_HERE = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?[^\n]*\n(.*?)\n\s*\1\b", re.DOTALL)
_FRONT = re.compile(r"\A\s*---\n(.*?)\n---\n", re.DOTALL)
_FRONT_TITLE = re.compile(r"^title:\s*(?P<quote>['\"]?)(.+?)(?P=quote)\s*$", re.MULTILINE)
_SENTENCES = 3


def extract(events: Sequence[EventRow]) -> list[Signal]:
    """One signal for each item handed to a memory, quoting the words of the call."""
    if not any(event.kind == "tool_call" and may_ask(event) for event in events):
        return []
    found: list[Signal] = []
    met: set[str] = set()
    for call in _taken(events):
        for event, proposal in _proposals(events, call):
            signal = _signal(event, proposal)
            key = content_key(proposal.witness)
            if signal and key not in met:
                met.add(key)
                found.append(signal)
    return found


def _taken(events: Sequence[EventRow]) -> Iterator[EventRow]:
    """Calls that may hand something to a memory, with a result that does not refuse it."""
    met: set[str] = set()
    for _, result, call in results(events):
        if call is None or call.seq > result.seq or str(result.call_id) in met or not may_ask(call):
            continue
        met.add(str(result.call_id))
        if not failed(result) and not _REFUSED.match(result.text[:400].lstrip()):
            yield call


def _proposals(events: Sequence[EventRow], call: EventRow) -> Iterator[tuple[EventRow, Proposal]]:
    """The proposals of a call, each with the event in which its words stand."""
    if call.command is None:
        yield from ((call, proposal) for proposal in of_arguments(call.tool or "", arguments(call)))
        return
    for words in programs(call.command) or ():
        ours = own_program(words, "lorelake")
        if ours and ours[0][:1] == ["propose"] and (text := " ".join(ours[0][1:])):
            yield call, Proposal(text, {"do": text})
    if "contribute" in call.command:
        yield from _contributed(events, call)


def _contributed(events: Sequence[EventRow], call: EventRow) -> Iterator[tuple[EventRow, Proposal]]:
    """What `teamai contribute --file` hands in: the file as the agent wrote it in this unit."""
    match = _CONTRIBUTE.search(call.command or "")
    named = _FILE.search(match["rest"]) if match else None
    if match is None or named is None:
        return
    path = next(filter(None, named.groups()))
    told = _TITLE.search(match["rest"])
    for event in reversed([event for event in events if event.seq <= call.seq and event.kind == "tool_call"]):
        text = _written(event, path)
        if text:
            title = next(filter(None, told.groups())) if told else ""
            proposal = _of_document(text, title)
            if proposal:
                yield event, proposal
            return


def _written(event: EventRow, path: str) -> str:
    """The text an event writes into a file, `""` where it writes none."""
    if event.command is not None:
        here = _HERE.search(event.command) if path in event.command else None
        return here[2] if here else ""
    if not changes_files(event) or not event.path or not (event.path.endswith(path) or path.endswith(event.path)):
        return ""
    given = arguments(event)
    return next((text for name in ("content", "file_text", "contents", "text") if (text := _text(given.get(name)))), "")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _of_document(text: str, title: str) -> Proposal | None:
    front = _FRONT.match(text)
    stated = _FRONT_TITLE.search(front[1]) if front else None
    start = front.end() if front else 0
    chosen = [s for s in document_sentences(text, start, len(text)) if not s.text.startswith("#")][:_SENTENCES]
    if not chosen:
        return None
    witness = " ".join(" ".join(s.text.split()) for s in chosen)
    name = title or (stated[2] if stated else "")
    return Proposal(witness, {"title": name, "do": witness}, text[chosen[0].start : chosen[-1].end])


def _signal(event: EventRow, proposal: Proposal) -> Signal | None:
    """The signal with its quote; None where the words were cut off what is stored of the call."""
    spelled = (proposal.quote or proposal.witness, canonical(proposal.quote or proposal.witness)[1:-1])
    for words in spelled:
        start = event.text.find(words) if words else -1
        if start >= 0:
            item = {name: value for name, value in proposal.fields.items() if value}
            item |= {"trust_basis": "proposed", "witness": proposal.witness}
            seen = {"tool": event.tool or "", "by": proposal.by}
            return quoted("proposed", event, start, start + len(words), item, seen)
    return None
