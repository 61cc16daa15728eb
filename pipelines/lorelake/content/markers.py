"""The marker grammar: how recall says what it showed, and an agent what it used. Standard library only.

    <!-- lorelake:shown release=2026-03-20-1a2b3c4d ids=lrn_abcdef123456,lrn_0123456789ab -->
    <!-- lorelake:cited ids=lrn_abcdef123456 -->

One line each. An id is `lrn_` and 12 to 32 hex digits; a release is its as-of day and 8 hex digits. A marker that
does not fit is text. Where a marker counts is the reader's affair: text that was merely stored is neutralised
before it is shown, so that nothing stored can speak for us.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from lorelake.content.normalise import INVISIBLE
from lorelake.errors import ContractError

_ID = r"lrn_[0-9a-f]{12,32}"
_RELEASE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}-[0-9a-f]{8}"
_IDS = rf"{_ID}(?:,[ ]?{_ID})*"
_MARKER = re.compile(
    rf"<!--[ ]lorelake:(?:shown[ ]release=(?P<release>{_RELEASE})[ ]ids=(?P<shown>{_IDS})"
    rf"|cited[ ]ids=(?P<cited>{_IDS}))[ ]-->"
)

_HIDDEN = re.compile(f"[{INVISIBLE}\u2028\u2029\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_ROLES = (
    "lorelake|system|assistant|user|human|developer|instructions?|function|tool|invoke|thinking|antml|important|"
    "memor(?:y|ies)|learnings?|hook|task"
)
_TAG = re.compile(rf"<(?=!--|\||/?(?:{_ROLES})\b)|(?<=--)>", re.IGNORECASE)
_FENCE = re.compile(r"`{3,}|~{3,}")


@dataclass(frozen=True)
class Marker:
    """One marker: `release_id` is None for a citation; ids in the order written, each once."""

    kind: Literal["shown", "cited"]
    release_id: str | None
    ids: tuple[str, ...]


def shown_marker(release_id: str, ids: list[str] | tuple[str, ...]) -> str:
    """The line that says which items of which release were shown. ContractError if it would not parse."""
    return _checked(f"<!-- lorelake:shown release={release_id} ids={','.join(ids)} -->")


def cited_marker(ids: list[str] | tuple[str, ...]) -> str:
    """The line with which an agent says which items it used. ContractError if it would not parse."""
    return _checked(f"<!-- lorelake:cited ids={','.join(ids)} -->")


def parse(text: str) -> list[Marker]:
    """Every well-formed marker, in order of place."""
    found = []
    for match in _MARKER.finditer(text):
        ids = re.findall(_ID, match["shown"] or match["cited"])
        kind: Literal["shown", "cited"] = "shown" if match["shown"] else "cited"
        found.append(Marker(kind, match["release"], tuple(dict.fromkeys(ids))))
    return found


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
