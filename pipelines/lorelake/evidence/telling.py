"""How an error is told to a person: the line of the output that says it, and the words its claim's id is made of."""

from __future__ import annotations

import re
from typing import Any

from lorelake.content import signature_1
from lorelake.content.signatures import ALGORITHM, ErrorSignature

_LONGEST_QUOTE = 400
_MASK = re.compile(r"<[a-z]+>")
_FEWEST = 3
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_PLACE = re.compile(r"^(?:E\s+)?(?:\[[\w:.-]+\]\s+)?(?:[^\s:]+:\d+(?::\d+)?:\s*)?")
_RUNNERS = re.compile(r"^(?:error|ERROR|Error|fatal):\s+(?=\S+\s\S)|^[❌✘✗⨯×✖│┃]\s+")


def telling_line(text: str, signature: ErrorSignature) -> tuple[int, int] | None:
    """Where the line stands that tells of the error: that says its message, else names its type or place."""
    chunks = [chunk for part in _MASK.split(signature.message) if len(chunk := part.strip()) >= _FEWEST]
    place = signature.frame.rpartition(":")[2]
    best: tuple[int, int, int] | None = None
    start = 0
    for line in text.splitlines(keepends=True):
        said = " ".join(line.split())
        rank = _rank(said, chunks, signature.type, place) if said else 0
        if rank and (best is None or rank > best[0]):
            at = start + len(line) - len(line.lstrip())
            best = rank, at, at + min(len(line.strip()), _LONGEST_QUOTE)
        start += len(line)
    return best[1:] if best else None


def _rank(line: str, chunks: list[str], type_: str, place: str) -> int:
    says_all = bool(chunks) and all(chunk in line for chunk in chunks)
    says_type = bool(type_) and type_ in line
    if says_all:
        return 6 if says_type else 5
    if says_type and f"{type_}: " in f"{line} ":
        return 4
    if chunks and chunks[0] in line:
        return 3
    if place and place in line:
        return 2
    return 1 if says_type else 0


def named(told: str, signature: ErrorSignature) -> str:
    """The error as a person names it: the line that tells of it without its place; of a test, the test first."""
    plain = " ".join(_RUNNERS.sub("", _PLACE.sub("", _ESCAPE.sub("", told))).split())
    if signature.type == "TestFailed" and signature.frame and signature.frame not in plain:
        return f"{signature.frame} fails: {plain}"
    return plain


def former_signatures(text: str) -> list[ErrorSignature]:
    """The signatures of the same output under each algorithm before, that gave one."""
    before = signature_1.error_signature(text)
    return [before] if before else []


def seen_of(signature: ErrorSignature, text: str) -> dict[str, Any]:
    """What a signal tells of its error: the signature, its parts, and the keys it had under former algorithms."""
    former = {before.key.partition(":")[0]: before.key for before in former_signatures(text)}
    return {
        "signature": signature.key, "algorithm": ALGORITHM, "type": signature.type, "frame": signature.frame,
        "message": signature.message, "former": former,
    }  # fmt: skip


def witnesses(signature: ErrorSignature, text: str) -> dict[str, Any]:
    """The item's fields that its claim's id is made of, and those it was made of before."""
    return {"witness": signature.witness, "former_witnesses": [before.witness for before in former_signatures(text)]}
