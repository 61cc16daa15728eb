"""The marker grammar: how recall says what it answered and showed, and an agent what it used. Standard library only.

    <!-- lorelake:recall release=2026-03-20-1a2b3c4d verdict=WEAK score=0.310 threshold=0.450 returned=1 total=4
         audiences=team -->
    <!-- lorelake:shown release=2026-03-20-1a2b3c4d ids=lrn_abcdef123456,lrn_0123456789ab -->
    <!-- lorelake:opened release=2026-03-20-1a2b3c4d ids=lrn_abcdef123456 -->
    <!-- lorelake:cited ids=lrn_abcdef123456 -->

One line each (the first is broken here to fit). An id is `lrn_` and 12 to 32 hex digits; a release is its as-of day
and 8 hex digits. A marker that does not fit is text. Where a marker counts is the reader's affair: text that was
merely stored is neutralised before it is shown, so that nothing stored can speak for us.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from lorelake.content.normalise import INVISIBLE
from lorelake.errors import ContractError

Kind = Literal["recall", "shown", "opened", "cited"]

_ID = r"lrn_[0-9a-f]{12,32}"
_RELEASE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}-[0-9a-f]{8}"
_IDS = rf"{_ID}(?:,[ ]?{_ID})*"
_NUMBER = r"[0-9]{1,6}\.[0-9]{3}"
_COUNT = r"(?:0|[1-9][0-9]{0,8})"
_LABEL = r"(?:[A-Za-z0-9_.:/@+~-]|%[0-9A-F]{2})+"
_MARKER = re.compile(
    rf"<!--[ ]lorelake:(?:(?P<handed>shown|opened)[ ]release=(?P<release>{_RELEASE})[ ]ids=(?P<ids>{_IDS})"
    rf"|cited[ ]ids=(?P<cited>{_IDS})"
    rf"|recall[ ](?:verdict=(?P<unreachable>UNREACHABLE)"
    rf"|release=(?P<searched>{_RELEASE})[ ]verdict=(?P<verdict>RELEVANT|WEAK|NOT_RELEVANT)"
    rf"[ ]score=(?P<score>{_NUMBER})[ ]threshold=(?P<threshold>{_NUMBER})"
    rf"[ ]returned=(?P<returned>{_COUNT})[ ]total=(?P<total>{_COUNT})"
    rf"[ ]audiences=(?P<audiences>{_LABEL}(?:,{_LABEL})*|-)))[ ]-->"
)
_FIELD = re.compile(r'^  "marker": ("(?:[^"\\]|\\.)*"),?$', re.MULTILINE)
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9_.:/@+~-]")
_ESCAPED = re.compile(r"(?:%[0-9A-F]{2})+")

_HIDDEN = re.compile(f"[{INVISIBLE}\u2028\u2029\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_ROLES = (
    "lorelake|system|assistant|user|human|developer|instructions?|function|tool|invoke|thinking|antml|important|"
    "memor(?:y|ies)|learnings?|hook|task"
)
_TAG = re.compile(rf"<(?=!--|\||/?(?:{_ROLES})\b)|(?<=--)>", re.IGNORECASE)
_FENCE = re.compile(r"`{3,}|~{3,}")


@dataclass(frozen=True)
class Verdict:
    """What recall said of a question. Of an UNREACHABLE one nothing is known, so everything else is None or empty.

    Attributes:
        verdict: RELEVANT, WEAK, NOT_RELEVANT or UNREACHABLE.
        score: of the best match, as recall prints it; comparable with `threshold` alone.
        returned: items in the answer.
        total: items that matched.
        audiences: labels of what was searched.
    """

    verdict: str
    score: float | None = None
    threshold: float | None = None
    returned: int | None = None
    total: int | None = None
    audiences: tuple[str, ...] = ()


@dataclass(frozen=True)
class Marker:
    """One marker: `release_id` is None for a citation; ids in the order written, each once; `verdict` of a recall."""

    kind: Kind
    release_id: str | None
    ids: tuple[str, ...] = ()
    verdict: Verdict | None = None


def recall_marker(release_id: str | None, verdict: Verdict) -> str:
    """The line that says what recall answered. ContractError if it would not parse."""
    if verdict.verdict == "UNREACHABLE":
        return _checked("<!-- lorelake:recall verdict=UNREACHABLE -->")
    if verdict.score is None or verdict.threshold is None:
        raise ContractError("a verdict has a score and a threshold")
    return _checked(
        f"<!-- lorelake:recall release={release_id} verdict={verdict.verdict} score={verdict.score:.3f} "
        f"threshold={verdict.threshold:.3f} returned={verdict.returned} total={verdict.total} "
        f"audiences={','.join(map(_label, verdict.audiences)) or '-'} -->"
    )


def shown_marker(release_id: str, ids: list[str] | tuple[str, ...]) -> str:
    """The line that says which items of which release were shown. ContractError if it would not parse."""
    return _checked(f"<!-- lorelake:shown release={release_id} ids={','.join(ids)} -->")


def opened_marker(release_id: str, ids: list[str] | tuple[str, ...]) -> str:
    """The line that says which item of which release was asked for by its id. ContractError if it would not parse."""
    return _checked(f"<!-- lorelake:opened release={release_id} ids={','.join(ids)} -->")


def cited_marker(ids: list[str] | tuple[str, ...]) -> str:
    """The line with which an agent says which items it used. ContractError if it would not parse."""
    return _checked(f"<!-- lorelake:cited ids={','.join(ids)} -->")


def parse(text: str) -> list[Marker]:
    """Every well-formed marker, in order of place."""
    return [_marker(match) for match in _MARKER.finditer(text)]


def standing(text: str) -> list[Marker]:
    """The markers by which an answer of ours speaks for itself: each alone on its line, or in `marker` of its JSON.

    Whatever else holds one is what the answer quotes. An answer may stand among a harness's own lines.
    """
    return [_marker(match) for line in _own_lines(text) if (match := _MARKER.fullmatch(line))]


def _own_lines(text: str) -> Iterator[str]:
    if text.startswith("{"):
        try:
            value = json.loads(text)
        except ValueError:
            value = None
        if isinstance(value, dict):
            marker = value.get("marker")
            yield from marker.splitlines() if isinstance(marker, str) else ()
            return
    position = 0
    for match in _FIELD.finditer(text):
        yield from (line.rstrip() for line in text[position : match.start()].split("\n"))
        yield from json.loads(match[1]).split("\n")
        position = match.end()
    yield from (line.rstrip() for line in text[position:].split("\n"))


def _marker(match: re.Match[str]) -> Marker:
    if match["unreachable"]:
        return Marker("recall", None, verdict=Verdict("UNREACHABLE"))
    if match["verdict"]:
        return Marker("recall", match["searched"], verdict=_verdict(match))
    ids = tuple(dict.fromkeys(re.findall(_ID, match["ids"] or match["cited"])))
    if match["cited"]:
        return Marker("cited", None, ids)
    return Marker("shown" if match["handed"] == "shown" else "opened", match["release"], ids)


def _verdict(match: re.Match[str]) -> Verdict:
    labels = () if match["audiences"] == "-" else tuple(map(_from_label, match["audiences"].split(",")))
    return Verdict(
        match["verdict"],
        float(match["score"]),
        float(match["threshold"]),
        int(match["returned"]),
        int(match["total"]),
        labels,
    )


def _label(audience: str) -> str:
    """An audience's label in the characters a marker may hold, the others as `%` and two hex digits a byte."""
    label = _NOT_PLAIN.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), audience)
    return "%2D" if label == "-" else label


def _from_label(label: str) -> str:
    return _ESCAPED.sub(lambda match: bytes.fromhex(match[0].replace("%", "")).decode(errors="replace"), label)


def neutralise(text: str) -> str:
    """The text with everything that could act on a reader or a terminal made visible and without effect.

    Control characters become their pictures (ESC is shown as `␛`), invisible and direction-changing characters
    `[U+200B]`; the brackets of comments, and the opening one of `<|…|>` tokens and of tags named like ours or like
    a role, become `&lt;` and `&gt;`; three or more backticks or tildes get backslashes. Line feed and tab stay.
    Idempotent, and no marker is left: `parse(neutralise(text)) == []`.
    """
    text = _HIDDEN.sub(_picture, text.replace("\r\n", "\n"))
    text = _TAG.sub(lambda match: "&lt;" if match[0] == "<" else "&gt;", text)
    return _FENCE.sub(lambda match: "".join("\\" + character for character in match[0]), text)


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"[U+{code:04X}]"


def _checked(marker: str) -> str:
    if len(parse(marker)) != 1 or not _MARKER.fullmatch(marker):
        raise ContractError(f"not a marker that can be read back: {marker[:200]}")
    return marker
