"""What lorelake answered, by the markers in the results of its own calls."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from lorelake.content import markers
from lorelake.evidence.memory_answers import Answered, Given
from lorelake.evidence.memory_calls import MemoryCall
from lorelake.evidence.unit import EventRow

_FIRST_LINE = re.compile(r"^> (?:\d+\. )?(.+?)  \[(lrn_[0-9a-f]{12,32})\]$")


def answers(asked: Sequence[MemoryCall], result: EventRow) -> list[Answered]:
    """The answers of one result in their order. A verdict and the items right after it are one answer."""
    found: list[tuple[markers.Marker | None, markers.Marker | None]] = []
    for marker in markers.standing(result.text):
        if marker.kind == "recall":
            found.append((marker, None))
        elif marker.kind in ("shown", "opened"):
            last = found[-1] if found else (None, None)
            if last[0] and last[1] is None and last[0].release_id == marker.release_id:
                found[-1] = last[0], marker
            else:
                found.append((None, marker))
    told = _texts(result.text) if any(handed for _, handed in found) else {}
    return [
        _answered(result, number, _question(asked, number, len(found)), judged, handed, told)
        for number, (judged, handed) in enumerate(found)
    ]


def _question(asked: Sequence[MemoryCall], number: int, count: int) -> MemoryCall:
    """Which question an answer belongs to; where that cannot be told, one without words."""
    if len(asked) == count:
        return asked[number]
    return asked[0] if len(asked) == 1 else MemoryCall(asked[0].surface, asked[0].verb, None, {})


def _answered(
    result: EventRow,
    number: int,
    question: MemoryCall,
    judged: markers.Marker | None,
    handed: markers.Marker | None,
    told: dict[str, tuple[str, str]],
) -> Answered:
    items = [Given(id_, *_of(id_, told)) for id_ in handed.ids] if handed else []
    marker = judged or handed
    return Answered(
        event=result,
        number=number,
        surface=question.surface,
        query=question.query,
        verdict=judged.verdict if judged else None,
        release_id=marker.release_id if marker else None,
        items=tuple(items),
        opened=bool(handed and handed.kind == "opened"),
    )


def _of(id_: str, told: dict[str, tuple[str, str]]) -> tuple[str, str]:
    return next((words for prefix, words in told.items() if id_.startswith(prefix) or prefix.startswith(id_)), ("", ""))


def _texts(text: str) -> dict[str, tuple[str, str]]:
    """Id as the answer shows it to title and whole text of the item."""
    if found := _of_json(text):
        return found
    title, id_, lines = "", "", [""]
    for line in text.split("\n"):
        if match := _FIRST_LINE.fullmatch(line.rstrip()):
            title, id_ = match[1], match[2]
            lines = [title]
            found[id_] = title, title
        elif id_ and line.startswith(">"):
            lines.append(line[1:].strip())
            found[id_] = title, "\n".join(lines)
        else:
            id_ = ""
    return found


def _of_json(text: str) -> dict[str, tuple[str, str]]:
    start = 0 if text.startswith("{") else text.find("\n{") + 1
    try:
        value, _ = json.JSONDecoder().raw_decode(text, start)
    except ValueError:
        return {}
    if not isinstance(value, dict):
        return {}
    hits = value.get("hits") or ([value["hit"]] if value.get("hit") else [])
    return {hit["learning_id"]: _words(hit) for hit in hits if isinstance(hit, dict) and "learning_id" in hit}


def _words(hit: dict[str, Any]) -> tuple[str, str]:
    names = ("title", "when", "do", "because", "rejected")
    return str(hit.get("title") or ""), "\n".join(str(hit[name]) for name in names if hit.get(name))
