"""What a merge request, or a person's comment on one, puts under a heading that promises a lesson.

`## Root cause`, `**Gotchas**`, `Lessons learned:` and the like. A heading that a template left empty, a checklist and a
placeholder are no lesson.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from lorelake.evidence.machine_text import is_machine_text
from lorelake.evidence.prose import Sentence, document_sentences
from lorelake.evidence.review_lessons import is_long
from lorelake.evidence.said import kind_of
from lorelake.evidence.unit import EventRow, Signal, changed_paths, quoted

_KINDS = frozenset(("merge_request_opened", "comment", "review_comment", "review"))
_LESSON = (
    r"lessons?(?:[ -]learn(?:ed|t))?|what (?:we|i)(?:'ve| have)? learn(?:ed|t)|learnings?|take-?aways?|gotchas?"
    r"|pitfalls?|post-?mortem|retrospective|(?:经验)?教训|经验总结|踩坑(?:记录|总结)?|复盘"
)
_CAUSE = r"root[ -]causes?(?: analysis)?|rca|根(?:本原)?因(?:分析)?"
_HEADING = re.compile(
    rf"^[ \t]{{0,3}}(?:\#{{1,6}}[ \t]+(?:\d+[.)][ \t]*)?)?[^\w\n#]{{0,6}}(?:(?P<lesson>{_LESSON})|(?P<cause>{_CAUSE}))"
    r"(?P<end>[^\w\n]{0,8})(?P<rest>[^\n]*)$",
    re.I | re.M,
)
_NEXT = re.compile(r"^[ \t]{0,3}(?:#{1,6}[ \t]+\S|\*\*[^*\n]{2,60}\*\*:?[ \t]*$|(?:---+|\*\*\*+|___+)[ \t]*$)", re.M)
_NOT_READ = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[^\n]*$|\Z)|<!--.*?(?:-->|\Z)", re.M | re.S)
_PLACEHOLDER = re.compile(
    r"^\W*(?:n/?a\b|none\b|nil\b|tb[da]\b|todo\b|not applicable|same as|see (?:above|below|the)|无$|暂无"
    r"|(?:please )?(?:describe|explain|list|add|write|fill|delete|provide)\b.{0,60}"
    r"\b(?:here|below|section|change|if (?:any|applicable))"
    r"|what (?:was|is|went|did)\b|if applicable)|^\W*\[[ xX]\]",
    re.I,
)
_MOST_SENTENCES = 3


class _Section(msgspec.Struct, frozen=True):
    """The sentences under one heading, and whether it promised a lesson or a cause."""

    is_cause: bool
    heading: str
    said: tuple[Sentence, ...]


def extract(events: Sequence[EventRow]) -> list[Signal]:
    """One signal for each section that says something; of a text with a lesson the root cause is its reason."""
    opened = next((e for e in events if e.kind == "merge_request_opened"), None)
    found = []
    for event in events:
        if event.kind in _KINDS and event.unit_kind == "merge_request" and event.on_live_path:
            found += _signals(event, opened)
    return found


def _signals(event: EventRow, opened: EventRow | None) -> list[Signal]:
    sections = _sections(event.text)
    lessons = [section for section in sections if not section.is_cause]
    causes = [section for section in sections if section.is_cause]
    if not lessons:
        return [_signal(event, opened, section, None) for section in causes]
    return [_signal(event, opened, section, causes[0] if causes else None) for section in lessons]


def _sections(text: str) -> list[_Section]:
    found = []
    read = _NOT_READ.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    for heading in _HEADING.finditer(read):
        if not _is_heading(heading):
            continue
        start = heading.start("rest") if heading["rest"].strip() else heading.end()
        following = _NEXT.search(read, heading.end())
        end = following.start() if following else len(text)
        said = [s for s in document_sentences(text, start, end) if is_long(s) and not _PLACEHOLDER.search(s.text)]
        said = [s for s in said if not s.is_question and not s.text.endswith((":", "："))]
        if said:
            name = (heading["lesson"] or heading["cause"]).lower()
            found.append(_Section(heading["cause"] is not None, name, tuple(said[:_MOST_SENTENCES])))
    return found


def _is_heading(match: re.Match[str]) -> bool:
    """Whether the words stand alone on a line of Markdown made a heading, or are followed by a colon."""
    end, rest = match["end"], match["rest"].strip()
    marked = match[0].lstrip().startswith(("#", "*", "_"))
    return (
        ":" in end or "：" in end or (marked and not rest) or (match[0].lstrip().startswith("#") and end.strip() != "")
    )


def _signal(event: EventRow, opened: EventRow | None, section: _Section, cause: _Section | None) -> Signal:
    do = " ".join(" ".join(s.text.split()) for s in section.said)
    is_persons = event.actor_class == "human" and not is_machine_text(event.text)
    paths = changed_paths(opened) if opened is not None else []
    item: dict[str, Any] = {
        "do": do,
        "kind": "fact" if section.is_cause else kind_of(do),
        "trust_basis": "stated" if is_persons else "proposed",
        "applies_to": paths,
    }
    item |= {"when": f"changing `{paths[0]}`"} if len(paths) == 1 else {}
    item |= {"because": " ".join(" ".join(s.text.split()) for s in cause.said)} if cause else {}
    seen = {"sections": [section.heading]}
    signal = quoted("authored", event, section.said[0].start, section.said[-1].end, item, seen)
    signal.support = ((event.event_id, cause.said[0].start, cause.said[-1].end),) if cause else ()
    return signal
