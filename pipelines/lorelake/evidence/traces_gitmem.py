"""What GitMem 1.8 answered, and which verdicts an agent handed in on it.

Results are text for a terminal. A scar's own text stands between the lines that GitMem writes, so a line that looks
like theirs counts only if there are as many of them as the answer says it holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from lorelake.content.markers import Verdict
from lorelake.evidence.memory_answers import Answered, Given
from lorelake.evidence.memory_calls import MemoryCall
from lorelake.evidence.unit import EventRow, failed

SYSTEM = "gitmem:"
ASKING = frozenset(("recall", "search", "prepare_context"))
LONGEST_EVIDENCE = 2000
_ANSI = re.compile(r"(?:\x1b|␛)\[[0-9;]{0,12}m")
_HEAD = re.compile(r"(\d{1,3}) scars? to review|Found (\d{1,3}) (?:relevant )?scars?")
_SCAR = re.compile(r"^\S{1,4} \*\*(.+?)\*\* \(\w+, (\d\.\d{1,3})\)[ ]+id:([0-9a-f]{8})\b.*$", re.MULTILINE)
_NOTHING = re.compile(
    r"^[^A-Za-z\n]{0,8}No relevant scars found|^[^A-Za-z\n]{0,8}No (?:matching )?results", re.MULTILINE | re.IGNORECASE
)
_ACCEPTED = re.compile(r"^[^A-Za-z\n]{0,8}(?:ok\s+)?SCAR (?:CONFIRMATIONS|REFLECTIONS) ACCEPTED", re.MULTILINE)
_REJECTED = re.compile(r"^[^A-Za-z\n]{0,8}(?:REJECTED\s+)?SCAR (?:CONFIRMATIONS|REFLECTIONS) REJECTED", re.MULTILINE)
_NEAR = 200
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{8}")
_SEPARATED = re.compile(r"(?:---|to review.*|Found .*|\[!!\].*)\s*\Z")
_VERDICTS = {"APPLYING": "applying", "N_A": "n_a", "REFUTED": "refuted", "OBEYED": "applying"}


class Confirmed(msgspec.Struct, frozen=True):
    """What an agent said of one item: applying, n_a or refuted, with its evidence in its own words."""

    event: EventRow
    reference: str
    verdict: str
    evidence: str


def answers(asked: Sequence[MemoryCall], result: EventRow) -> list[Answered]:
    """The answer of one result; none for a call that asks nothing."""
    (question,) = asked
    if question.verb not in ASKING:
        return []
    text = plain(result.text)
    items, score = _scars(text)
    if items:
        threshold = question.arguments.get("similarity_threshold")
        stated = float(threshold) if isinstance(threshold, int | float) else None
        verdict = Verdict("", score, stated, len(items))
    elif _NOTHING.search(text):
        verdict = Verdict("NOT_RELEVANT", returned=0)
    elif failed(result) or text.lstrip().startswith('{"error"') or "Error querying institutional memory" in text:
        verdict = Verdict("UNREACHABLE")
    else:
        return []
    return [Answered(result, 0, "gitmem", question.query, verdict, items=tuple(items))]


def confirmed(asked: Sequence[MemoryCall], call: EventRow, result: EventRow) -> Iterator[Confirmed]:
    """The verdicts of a batch that GitMem took; a batch it refused says nothing."""
    (question,) = asked
    if question.verb not in ("confirm_scars", "reflect_scars") or failed(result):
        return
    text = plain(result.text)
    if not _ACCEPTED.search(text) or _REJECTED.search(text):
        return
    listed = question.arguments.get("confirmations") or question.arguments.get("reflections")
    for entry in listed if isinstance(listed, list) else ():
        if not isinstance(entry, dict):
            continue
        id_, said = str(entry.get("scar_id", "")).lower(), entry.get("decision", entry.get("outcome"))
        if _ID.fullmatch(id_) and said in _VERDICTS:
            evidence = str(entry.get("evidence") or "").strip()[:LONGEST_EVIDENCE]
            yield Confirmed(call, SYSTEM + id_, _VERDICTS[said], evidence)


def plain(text: str) -> str:
    """A result without the colours of a terminal."""
    return _ANSI.sub("", text)


def _scars(text: str) -> tuple[list[Given], float | None]:
    """The scars of an answer in order, and the best score. Where stored text mimics their lines, none."""
    stated = [int(match[1] or match[2]) for match in _HEAD.finditer(text)]
    found = list(_SCAR.finditer(text))
    if not stated or not found:
        return [], None
    if len(found) != stated[0]:
        found = [match for match in found if _SEPARATED.search(text[max(0, match.start() - _NEAR) : match.start()])]
    if len(found) != stated[0]:
        return [], None
    ends = [match.start() for match in found[1:]] + [len(text)]
    items = [
        Given(SYSTEM + match[3], match[1], match[1] + text[match.end() : end])
        for match, end in zip(found, ends, strict=True)
    ]
    return items, max(float(match[2]) for match in found)
