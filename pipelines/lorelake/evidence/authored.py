"""A document somebody wrote down on purpose: a learning, or an accepted decision record; a lesson in a merge request.

Every version gives a signal: an older one shows since when it was said, and what a newer one replaced.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from lorelake.content.normalise import UNSPACED, normalise
from lorelake.evidence import lesson_sections, notes
from lorelake.evidence.prose import Sentence, document_sentences
from lorelake.evidence.unit import EventRow, Signal, quoted
from lorelake.formats import markdown

_LIST_ITEM = re.compile(r"^[ \t]*(?:[-*+]|\d+[.)])[ \t]+(.+(?:\n(?![ \t]*(?:[-*+]|\d+[.)])[ \t])[ \t]*\S.*)*)", re.M)
_METADATA = re.compile(r"[*_]{0,2}[A-Z][\w -]{1,20}[*_]{0,2}:[*_]{0,2}\s+\S{1,40}(?:\s\S{1,20})?")
_ONE_LINE_OF_CODE = re.compile(r"\s*(```[^\n]*\n[^\n]{1,120}\n[ \t]*```)")
_FENCED = re.compile(r"(?:```|~~~)[^\n]*\n(?:\s*#[^\n]*\n)*\s*(?:(?:\$|%|❯|>{1,3})[ \t]+)?(.*?)\s*(?:```|~~~|\Z)", re.S)
_OPTION = re.compile(r"^[ \t]*(?:#{2,5}[ \t]+(.+)|(?:[-*+][ \t]+|\d+\.[ \t]+)?\*\*(.+?)\*\*)", re.M)
_LONGEST_QUOTE = 1200
_ABOUT_IT = ("status", "context")
_FRAGMENT = re.compile(r"[a-z]+[ ,:(-]")
_ITEM_SENTENCES = 3
_FEWEST_WORDS = 3
_UNSPACED = re.compile(f"[{UNSPACED}]")
_REASON_SENTENCES = 2
_MOST_OPTIONS = 3
_STATUS_WORD = re.compile(r"\W*([a-z]+)", re.I)
_OPEN_STATUS = frozenset(("proposed", "draft", "pending", "wip"))
_DEAD_STATUS = frozenset(("rejected", "withdrawn", "declined"))
_PAST_STATUS = frozenset(("superseded", "deprecated", "obsolete", "replaced"))
_NOT_IN_FORCE = _OPEN_STATUS | _DEAD_STATUS | _PAST_STATUS
_KINDS = frozenset(("scar", "win", "pattern", "anti_pattern", "decision", "procedure", "preference", "fact"))


def extract(events: Sequence[EventRow]) -> list[Signal]:
    """One signal for each version of a document that says something beyond its title, and each lesson's section."""
    found = lesson_sections.extract(events)
    versions = [event for event in events if event.kind == "document_version" and event.on_live_path]
    now = _status(versions[-1]) if versions else ""
    by_machine: list[str] = []
    for event in versions:
        signal = _signal(event, now, by_machine)
        if signal:
            found.append(signal)
        if _is_machine(event):
            by_machine.append(normalise(event.text))
    return found


def _signal(event: EventRow, now: str, by_machine: Sequence[str]) -> Signal | None:
    """`by_machine` is what machines wrote into it before: who commits a sentence of that again did not say it."""
    sections = _sections(event)
    chosen = _advice(event, sections)
    if not chosen:
        return None
    start, end = chosen[0].start, chosen[-1].end
    status = _status(event)
    seen = {"sections": sorted(sections), "status": status, "version": event.revision or ""}
    item = {} if status in _DEAD_STATUS else _item(event, sections, now, chosen)
    if item and any(normalise(sentence.text) in text for sentence in chosen for text in by_machine):
        item["trust_basis"] = "proposed"
    return quoted("authored", event, start, end, item, seen)


def _sections(event: EventRow) -> dict[str, tuple[int, int]]:
    """Name to [start, end) of the sections the format found."""
    stated = event.attributes.get("sections") or {}
    return {name: (int(start), int(end)) for name, (start, end) in stated.items()}


def _front(event: EventRow) -> dict[str, Any]:
    front = event.attributes.get("frontmatter")
    return front if isinstance(front, dict) else {}


def _advice(event: EventRow, sections: dict[str, tuple[int, int]]) -> list[Sentence]:
    """The sentences that advise: of the section that says what to do, else the first under the title.

    Where the source keeps steps apart, the first of them, however short.
    """
    text = event.text
    if steps := event.attributes.get("steps"):
        return [Sentence(start, end, text[start:end], text[start:end]) for start, end in steps[:_ITEM_SENTENCES]]
    for name in ("do", "because"):
        if name in sections and (chosen := _first(text, *sections[name])):
            return chosen
    start = int(event.attributes.get("body_start") or 0)
    heading = next(markdown.headings(text, start), None)
    if heading and not text[start : heading.start].strip():
        start = heading.end
    start = max([start, *(sections[name][1] for name in _ABOUT_IT if name in sections)])
    standing = list(_standing(text, start, len(text)))
    title = str(event.attributes.get("title") or "")
    found = notes.advising(text, title, standing, start, len(text)) or _first(text, start, len(text))
    return found or standing[:1]  # all there is may be the announcement of a long block of code


def _standing(text: str, start: int, end: int) -> Iterator[Sentence]:
    """The sentences of a passage without headings, lines of metadata ("Date: …") and remains of a few words."""
    for here in document_sentences(text, start, end):
        if not (here.text.startswith("#") or _METADATA.fullmatch(here.text) or _length(here.text) < _FEWEST_WORDS):
            yield here


def _length(text: str) -> int:
    """How many words, those of Chinese or Japanese taken as two characters each, since nothing stands between them."""
    return len(text.split()) + len(_UNSPACED.findall(text)) // 2


def _first(text: str, start: int, end: int) -> list[Sentence]:
    """The first sentences of a passage that stand by themselves.

    A sentence that only announces a list or a block of code is left out; with one line of code it is kept, and the
    line with it.
    """
    chosen: list[Sentence] = []
    for here in _standing(text, start, end):
        if here.text.endswith((":", "：")):
            line = _ONE_LINE_OF_CODE.match(text, here.end, end)
            if line is None and chosen:
                break
            if line is None:
                continue
            here = Sentence(here.start, line.end(1), text[here.start : line.end(1)], here.own)
        if chosen and here.end - chosen[0].start > _LONGEST_QUOTE:
            break
        chosen.append(here)
        if len(chosen) == _ITEM_SENTENCES:
            break
    return chosen


def _item(event: EventRow, sections: dict[str, tuple[int, int]], now: str, chosen: list[Sentence]) -> dict[str, Any]:
    text, front = event.text, _front(event)
    part = {name: text[start:end] for name, (start, end) in sections.items()}
    item: dict[str, Any] = {
        "title": str(event.attributes.get("title") or ""),
        "do": " ".join(
            _closed(_one_line(s.text)) if "steps" in event.attributes else _one_line(s.text) for s in chosen
        ),
        "kind": _kind(event, front),
        "trust_basis": _trust(event, now),
        "document": event.path or "",
        "not_when": [f"author: {words}" for words in _entries(part.get("not_when", ""))],
        "self_check": _entries(part.get("self_check", "")),
        "tags": _strings(front.get("tags", front.get("Tags"))),
        "applies_to": _strings(front.get("applies_to", front.get("paths"))),
    }
    if isinstance(front.get("severity"), str):
        item["severity"] = front["severity"].lower()
    advised_by = next((name for name, (start, end) in sections.items() if start <= chosen[0].start < end), "")
    for name, source in (("when", "when"), ("because", "because"), ("because", "context")):
        if source in part and source != advised_by and name not in item:
            words = _brief(part[source])
            item |= {name: words} if words else {}
    if "rejected" in part:
        item["rejected"] = _options(part["rejected"])
    if "when" not in item and isinstance(front.get("when"), str):
        item["when"] = front["when"]
    stated = event.attributes.get("stated")
    return item | stated if isinstance(stated, dict) else item


def _closed(step: str) -> str:
    """A step as a sentence."""
    return step if step.endswith((".", "!", "?", ":", "。", "`")) else f"{step}."


def _one_line(text: str) -> str:
    """A passage on one line, a fenced line of code as inline code, without its comment lines and its prompt."""
    return " ".join(_FENCED.sub(r"`\1`", text).split())


def _brief(text: str) -> str:
    """The first sentences of a passage on one line; an entry of a list that is no sentence does not stand alone."""
    whole = [s for s in _first(text, 0, len(text)) if not _FRAGMENT.match(s.text)]
    return " ".join(_one_line(s.text) for s in whole[:_REASON_SENTENCES])


def _options(text: str) -> str:
    """What was turned down: the headings or bold openings of a list of alternatives, else its first sentences."""
    named = [" ".join((match[1] or match[2]).strip(" .:").split()) for match in _OPTION.finditer(text)]
    return "; ".join(named[:_MOST_OPTIONS]) or _brief(text)


def _entries(text: str) -> list[str]:
    """The entries of a list, else the whole passage as one."""
    items = [" ".join(match[1].split()) for match in _LIST_ITEM.finditer(text)]
    return items or ([" ".join(text.split())] if text.strip() else [])


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        value = re.split(r"[,，]", value)
    found = value if isinstance(value, list) else []
    return sorted({str(v).strip() for v in found if v is not None and str(v).strip()})


def _status(event: EventRow) -> str:
    """The status of a decision record, or the one a note's frontmatter states, in lower case; else `""`."""
    stated = event.attributes.get("adr_status") or _front(event).get("status")
    match = _STATUS_WORD.match(stated) if isinstance(stated, str) else None
    return match[1].lower() if match else ""


def _kind(event: EventRow, front: dict[str, Any]) -> str:
    stated = str(front.get("kind", front.get("type", ""))).lower().replace("-", "_")
    if stated in _KINDS:
        return stated
    return "decision" if "adr_status" in event.attributes else "pattern"


def _trust(event: EventRow, now: str) -> str:
    """What the document's history proves: a second pair of eyes, one person's word, or neither.

    What its latest version calls proposed, turned down or past acts on nobody, whatever earlier versions said.
    """
    if _is_machine(event) or now in _NOT_IN_FORCE:
        return "proposed"
    author = event.attributes.get("author_person") or event.actor
    merger = event.attributes.get("merged_by_person")
    known = isinstance(merger, str) and bool(merger) and not merger.startswith("unknown:")
    return "reviewed" if known and merger != author else "stated"


def _is_machine(event: EventRow) -> bool:
    return event.actor_class != "human" or event.attributes.get("machine_written") is True
