"""What teamai answered and what an agent says it used of it, as teamai-cli 0.25 and later print and ask for it.

A path in an answer is `File: <path>` of an entry between the two banners; ids are `<namespace>/<name>` or `<name>`.
An answer's snippets are stored text: of each entry only the lines that teamai itself writes are read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lorelake.content.markers import Verdict
from lorelake.evidence.memory_answers import Answered, Given
from lorelake.evidence.memory_calls import MemoryCall
from lorelake.evidence.unit import EventRow, failed

SYSTEM = "teamai:"
_START, _END = "--- [teamai:recall:start] ---", "--- [teamai:recall:end] ---"
_ENTRY = re.compile(r"\[(\d+)/(\d+)\] (?:\[([a-z]+)\] )?(.*?)(?: ★\d+)?(?: \[(?:user|project)\])?")
_SCORE = re.compile(r"Author: .*\| Score: (\d{1,4}\.\d)")
_CHECKED = re.compile(r"(RELEVANT|NOT_RELEVANT) score=(\d{1,4}\.\d)(?: threshold=(\d{1,4}\.\d))?(?: .*)?")
_NOTHING = re.compile(r"^[^A-Za-z\n]{0,8}No matching learnings found for ", re.MULTILINE)
_DASHES = r"(?:--|[—–]-?|-[—–])"
_IDS = re.compile(
    rf"<!{_DASHES}\s*teamai:(recalled|referenced)-doc-ids\s*:\s*\[([^\]\n]{{0,4000}})\]\s*{_DASHES}>", re.I
)
_LONGEST_ID = 300


def answers(asked: Sequence[MemoryCall], result: EventRow) -> list[Answered]:
    """The answer of one result; none where teamai said nothing that can be read."""
    question = asked[0] if len(asked) == 1 else MemoryCall("teamai", "recall", None, {})
    items, score = _entries(result.text)
    held = {item.reference for item in items}
    items += [
        Given(reference)
        for line in result.text.split("\n")
        if (match := _IDS.fullmatch(line.strip())) and match[1].lower() == "recalled"
        for reference in references(match[2])
        if reference not in held and not any(same_document(reference, other) for other in held)
    ]
    verdict = _verdict(result, items, score)
    if verdict is None:
        return []
    return [Answered(result, 0, "teamai", question.query, verdict, items=tuple(items))]


def cited(text: str) -> list[str]:
    """References an agent's answer says it used, each once."""
    found = (references(match[2]) for match in _IDS.finditer(text) if match[1].lower() == "referenced")
    return list(dict.fromkeys(reference for named in found for reference in named))


def references(listed: str) -> list[str]:
    """The ids of a list in a comment, as references; what teamai itself drops is dropped."""
    ids = (entry.strip().strip("\"'`“”‘’").strip().removesuffix(".md") for entry in re.split(r"[,，]", listed))
    return [SYSTEM + id_ for id_ in dict.fromkeys(ids) if _is_id(id_)]


def _is_id(id_: str) -> bool:
    return bool(id_) and id_ != "..." and len(id_) <= _LONGEST_ID and not re.search(r"[<>\s\x00-\x1f]", id_)


def same_document(one: str, other: str) -> bool:
    """Whether two references may name one document: teamai counts some by `<namespace>/<name>`, some by `<name>`."""
    if one == other:
        return True
    one, other = one.removeprefix(SYSTEM), other.removeprefix(SYSTEM)
    return ("/" in one) != ("/" in other) and one.rpartition("/")[2] == other.rpartition("/")[2]


def document_reference(path: str) -> str | None:
    """The reference of a learning by its file; None for a path that cannot be one."""
    path = path.strip().replace("\\", "/")
    _, learnings, rest = path.rpartition("/learnings/")
    if not learnings:
        rest = path.removeprefix("learnings/") if path.startswith("learnings/") else path.rpartition("/")[2]
    id_ = rest.removesuffix(".md")
    return SYSTEM + id_ if path.endswith(".md") and _is_id(id_) else None


def _entries(text: str) -> tuple[list[Given], float | None]:
    """The learnings of an answer in order, and the score of the first."""
    found: list[Given] = []
    inside, expected, score = False, 1, None
    head: tuple[str, str] | None = None
    lines: list[str] = []
    for line in text.split("\n"):
        if line.startswith(_START):
            inside, expected, head = True, 1, None
        elif line.startswith(_END):
            inside = False
        elif inside and (match := _ENTRY.fullmatch(line.rstrip())) and int(match[1]) == expected <= int(match[2]):
            head, expected, lines = (match[3] or "learnings", match[4]), expected + 1, [match[4]]
        elif inside and head and line.startswith("File: "):
            reference = document_reference(line[6:])
            if reference and (head[0] == "learnings" or "/learnings/" in line):
                found.append(Given(reference, head[1], "\n".join(lines), line[6:].strip()))
            head = None
        elif inside and head:
            lines.append(line)
            if score is None and (match := _SCORE.fullmatch(line.rstrip())):
                score = float(match[1])
    return found, score


def _verdict(result: EventRow, items: Sequence[Given], score: float | None) -> Verdict | None:
    for line in result.text.split("\n"):
        if match := _CHECKED.fullmatch(line.rstrip()):
            return Verdict(match[1], float(match[2]), float(match[3]) if match[3] else None, len(items))
    if items:
        return Verdict("", score, None, len(items))
    if _NOTHING.search(result.text):
        return Verdict("NOT_RELEVANT", returned=0)
    if failed(result) or "Nothing was searched" in result.text:
        return Verdict("UNREACHABLE")
    return None
