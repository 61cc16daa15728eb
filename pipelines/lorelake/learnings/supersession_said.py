"""Where a document says that one record replaces another, whole or in part, and which way: English and Chinese.

"Supersedes X" is about this record and X; "superseded by X" the other way round; "X supersedes this ADR's layout" names
the part. What is denied, asked, planned or one of a template's choices is not said. A verb of change that is no
replacement (amend, update, correct) and a softened one (refines/supersedes) replace a part at most.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from lorelake.learnings import supersession_wording as wording
from lorelake.learnings.supersession_names import GAP, NAME, THIS, Name, mask
from lorelake.learnings.supersession_passages import BODY, STATUS, Passage, passages, said

LONGEST_PART = 160

Side = tuple[tuple[Name, ...], ...]
"""The names on one side, as lists of what each may stand for; empty: this record."""


class Statement(NamedTuple):
    """One statement: `newer` replaces `older`, or the named `part` of it; empty sides are this record."""

    older: Side
    newer: Side
    is_partial: bool
    part: str | None
    verb: str
    zone: str
    start: int
    end: int


class _Found(NamedTuple):
    """A statement in one sentence. A side is the range of its names among the sentence's, None for this record."""

    older: tuple[int, int] | None
    newer: tuple[int, int] | None
    is_partial: bool
    part: str | None
    verb: str


def statements(text: str, titles: Collection[str], start: int = 0) -> Iterator[Statement]:
    """Every statement of a document, in order.

    Args:
        text: the whole text; offsets of the statements count in it.
        titles: normalised titles that name a record.
        start: where the body starts.
    """
    if not wording.CHEAP.search(text, start):
        return
    lead = ""
    for passage in passages(said(text), start):
        words = text[passage.start : passage.end]
        if wording.LEAD_ONLY.match(wording.BULLET.sub("", words)):
            lead = re.sub(r"\W+$", "", wording.MARKUP.sub("", wording.BULLET.sub("", words)))
            continue
        yield from _of_passage(text, passage, titles, lead)
        if not passage.is_item:
            lead = ""


def stated_in(words: str, titles: Collection[str]) -> Iterator[Statement]:
    """The statements of one value of the frontmatter, such as its `status`; offsets count in it."""
    yield from _of_passage(words, Passage(0, len(words), STATUS, "", False, False), titles, "")


def _of_passage(text: str, passage: Passage, titles: Collection[str], lead: str) -> Iterator[Statement]:
    words = said(text[passage.start : passage.end])
    if not (lead or wording.CHEAP.search(words)) or wording.CHOICE.search(words):
        return
    masked, names = mask(words, titles, bare=passage.zone == STATUS)
    at, used = 0, 0
    about = ""
    for end in [*(match.end() for match in wording.SENTENCE_END.finditer(masked)), len(masked)]:
        piece = masked[at:end]
        here = names[used : used + piece.count(NAME)]
        sentence = _plain(piece)
        if lead and not at:
            sentence = f"{lead}: {sentence}"
        elif not about:
            about = _opening(words, passage) if at else ""
        if (here or THIS in piece) and not sentence.endswith(("?", "？")):
            first, last = _trimmed(words, at, end)
            for found in _in_sentence(sentence, passage.zone):
                yield _whole(found, here, about or passage.heading, passage, first, last)
        at, used = end, used + len(here)


def _plain(piece: str) -> str:
    plain = " ".join(wording.MARKUP.sub("", piece).split())
    cells = [cell.strip() for cell in plain.strip("|").split("|")] if plain.startswith("|") else []
    return ": ".join(cell for cell in cells if cell) if cells else wording.BULLET.sub("", plain)


def _trimmed(words: str, start: int, end: int) -> tuple[int, int]:
    inner = words[start:end]
    return start + len(inner) - len(inner.lstrip()), end - (len(inner) - len(inner.rstrip()))


def _opening(words: str, passage: Passage) -> str:
    """What a list entry is about: its first sentence, where it is short."""
    first = " ".join(wording.MARKUP.sub("", wording.BULLET.sub("", words)).split()).split(". ")[0]
    return first if passage.is_item and len(first) <= LONGEST_PART else ""


def _whole(
    found: _Found, names: list[tuple[Name, ...]], about: str, passage: Passage, start: int, end: int
) -> Statement:
    older, newer = (tuple(names[slice(*side)]) if side else () for side in (found.older, found.newer))
    is_partial, part = found.is_partial, found.part
    if passage.zone == BODY and not older and found.verb.endswith("*"):
        # "Superseded by X" below a heading, or after a list entry's opening, is about that and not about the record.
        is_partial, part = True, part or about or None
    shown = _shown(part, names) if part else None
    verb = found.verb.rstrip("*").lower()
    return Statement(older, newer, is_partial, shown, verb, passage.zone, passage.start + start, passage.start + end)


def _shown(part: str, names: list[tuple[Name, ...]]) -> str | None:
    """The part as a person reads it: names put back are left out, a long one is cut at a word."""
    plain = re.sub(rf"[{NAME}{THIS}{GAP}]", "", part)
    plain = re.sub(r"^(?:(?:the|its|our|both|only)\s+)+", "", " ".join(plain.split()).strip(" ,.;:()*"), flags=re.I)
    if len(plain) > LONGEST_PART:
        plain = plain[:LONGEST_PART].rsplit(" ", 1)[0] + "…"
    return plain or None


def _in_sentence(sentence: str, zone: str) -> Iterator[_Found]:
    for match in wording.VERB.finditer(sentence):
        found = _of_verb(sentence, match, zone)
        if found:
            yield found
    for pattern in (wording.GIVEN_UP, wording.IN_FAVOUR):
        for match in pattern.finditer(sentence):
            subject = _subject(sentence[: match.start()], zone, True)
            if (zone == STATUS or pattern is wording.GIVEN_UP) and subject is not None and subject.side is None:
                by = _range(sentence, match.start("by"), match.end("by"))
                yield _Found(None, by, subject.is_partial, subject.part, match["verb"] + subject.mark)
    yield from _in_chinese(sentence)


def _range(sentence: str, start: int, end: int) -> tuple[int, int] | None:
    """Which of the sentence's names stand in [start, end); None where this record stands there."""
    first = sentence.count(NAME, 0, start)
    count = sentence.count(NAME, start, end)
    return (first, first + count) if count else None


class _Subject(NamedTuple):
    """Who does it or whom it befalls: a range of names or this record (None); `mark` is * where nobody is named."""

    side: tuple[int, int] | None
    is_partial: bool
    part: str | None
    mark: str = ""


def _of_verb(sentence: str, match: re.Match[str], zone: str) -> _Found | None:
    stem, form = match["stem"].lower(), (match["form"] or "").lower()
    done = form in ("ed", "d", "ied") or (stem == "obsolet" and form == "e")
    softly = stem in wording.IN_PART_VERBS
    lead, rest = sentence[: match.start()], sentence[match.end() :]
    if done and (found := _passive(sentence, lead, rest, match, zone)):
        return found._replace(is_partial=found.is_partial or softly)
    if form in ("e", "y", "") and not re.search(r"\bwe\s+(?:(?:hereby|now|therefore|thus)\s+)*$", lead, re.I):
        return None  # "Replace the cache" is a task
    subject = _subject(lead, zone, False) if form != "ing" else _doing(lead)
    if subject is None or (done and subject.mark):
        return None
    target = re.match(
        rf"^\s*:?\s*(?P<phrase>[^{NAME}{THIS};:]{{0,200}}?)(?P<of>{wording.LIST}|{THIS})(?P<tail>.*)$", rest, re.S
    )
    if target is None:
        return None
    part = _object_part(target["phrase"])
    if part is None:
        return None
    offset = match.end()
    older = _range(sentence, offset + target.start("of"), offset + target.end("of"))
    if older is None and subject.side is None:
        return None
    partial, words = _by_tail(target["of"], target["tail"], part)
    return _Found(older, subject.side, partial or softly or subject.is_partial, words, match["verb"])


def _passive(sentence: str, lead: str, rest: str, match: re.Match[str], zone: str) -> _Found | None:
    by = re.match(
        rf"^(?P<mid>[^{NAME}{THIS};:]{{0,160}}?)\s*\b(?:by|in favou?r of|with)\b\s*:?\s*"
        rf"(?P<filler>[^{NAME}{THIS};:]{{0,120}}?)(?P<by>{wording.LIST}|{THIS})(?P<tail>.*)$",
        rest,
        re.I | re.S,
    )
    if by is None or not wording.FILLER.match(by["filler"]):
        return None
    between = _between(by["mid"])
    subject = _subject(lead, zone, True)
    if between is None or subject is None:
        return None
    offset = match.end()
    newer = _range(sentence, offset + by.start("by"), offset + by.end("by"))
    if newer is None and subject.side is None:
        return None
    partial, part = between
    if not part:
        tail_partial, part = _by_tail(by["by"], by["tail"], "" if not partial else "in part")
        partial, part = partial or tail_partial, None if part == "in part" else part
    partial = partial or subject.is_partial
    return _Found(subject.side, newer, partial, subject.part or part, match["verb"] + subject.mark)


def _between(mid: str) -> tuple[bool, str | None] | None:
    """(in part, which part) from the words between "superseded" and "by"; None where they say something else."""
    if wording.WHEN.match(mid):
        return False, None
    if wording.IN_PART.match(mid):
        return True, None
    inside = re.fullmatch(r"\s*\((?P<part>[^()]*)\)\s*", mid)
    if inside:
        return (True, inside["part"]) if wording.OF_A_PART.search(inside["part"]) else (False, None)
    limited = wording.FOR.match(mid) or re.match(r"^\W*(?:in part|partially|partly)\W+for\s+(?P<part>.+)$", mid, re.I)
    if limited:
        return (False, None) if wording.REASON.search(limited["part"]) else (True, limited["part"])
    return None


def _object_part(phrase: str) -> str | None:
    """The part that "supersedes … X" names: empty for the whole, None where X is not what is replaced."""
    if wording.GENERIC.match(phrase):
        return ""
    if wording.NO_OBJECT.search(phrase) or wording.VERB.search(phrase):
        return None
    words = wording.WITHIN.sub("", phrase)
    if words == phrase:
        return None
    return "" if wording.GENERIC.match(words) else words


def _by_tail(names: str, tail: str, part: str) -> tuple[bool, str | None]:
    """(in part, which part) with what stands after the names. `part` is what is known of it, "" for nothing."""
    if part:
        which = wording.TAIL_FOR.match(tail) or wording.TAIL_WHICH.match(tail)
        return True, which["part"] if which and part == "in part" else part
    owned = wording.POSSESSIVE.match(tail)
    if owned:
        return (False, None) if wording.GENERIC.match(owned["part"]) else (True, owned["part"])
    inside = re.search(r"\((?P<part>[^()]*)\)\s*$", names)
    if inside and wording.OF_A_PART.search(inside["part"]):
        return True, inside["part"]
    limited = wording.TAIL_FOR.match(tail)
    if limited and not wording.REASON.search(limited["part"]) and not _when(limited["part"]):
        return True, limited["part"]
    return bool(wording.TAIL_PART.match(tail)), None


def _when(words: str) -> bool:
    """Whether "on …" goes on with a day."""
    return bool(
        re.match(r"\W*(?:\d|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*\W+\d|\w+day\b)", words, re.I)
    )


def _subject(lead: str, zone: str, passive: bool) -> _Subject | None:
    """Who stands before the verb; None where the sentence denies it, or somebody else does it."""
    partial = False
    while True:
        soft = wording.SOFTENED.search(lead)
        auxiliary = soft or wording.AUXILIARY.search(lead)
        if auxiliary is None:
            break
        partial = partial or bool(soft) or bool(not soft and auxiliary["soft"])
        lead = lead[: auxiliary.start()].rstrip()
    if wording.NOT.search(" ".join(re.split(r"[,:;]", lead)[-1].split()[-5:])):
        return None
    rest = lead[match.end() :] if (match := wording.PREFIX.match(lead)) else lead
    if not rest.strip():
        named = re.search(r"\b(?:it|we|they|this)\W*$", lead, re.I)
        return _Subject(None, partial, None, "" if named else "*")
    listed = re.search(
        rf"(?P<before>(?:\b(?:in|of|from|to|with|see|by)\s+)?)(?P<names>{wording.LIST}|{THIS})\s*[:,]?$", lead
    )
    if listed is None:
        return _other(lead, rest, zone, passive, partial)
    side = _range(lead, listed.start("names"), listed.end("names"))
    if not listed["before"]:
        return _Subject(side, partial, None)
    if passive and listed["before"].split()[0].lower() in ("in", "of", "from"):
        return _Subject(side, True, rest[: max(len(rest) - len(lead) + listed.start(), 0)])
    return None


def _other(lead: str, rest: str, zone: str, passive: bool, partial: bool) -> _Subject | None:
    """A subject that is neither a name nor this record: in its own status, a part of this record."""
    owned = re.search(rf"{THIS}\s*['’]s?\s+(?P<part>[^{NAME}{THIS}]{{2,160}})$", lead)
    if owned and passive:
        return _Subject(None, True, owned["part"])
    if passive and zone == STATUS and re.match(r"(?:its|the|our|these|those|all)\b", rest, re.I):
        return _Subject(None, True, rest)
    return None


def _doing(lead: str) -> _Subject | None:
    """Who does it in "…, superseding X": this record, unless others are named before it or it is no deed."""
    if NAME in lead or re.search(
        r"\b(?:by|for|of|after|before|when|from|without|than|avoid|instead of|not)\W*$", lead, re.I
    ):
        return None
    return _Subject(None, bool(wording.SOFTENED.search(lead)), None)


def _in_chinese(sentence: str) -> Iterator[_Found]:
    for match in wording.CHINESE_BY.finditer(sentence):
        if not match["not"]:
            older = _range(sentence, *match.span("subject")) if match["subject"] else None
            newer = _range(sentence, *match.span("by"))
            softly = bool(match["part"]) or match["verb"] in ("修订", "修改", "更新")
            if (older or newer) and older != newer:
                yield _Found(older, newer, softly, None, match["verb"])
    for match in wording.CHINESE_SEE.finditer(sentence):
        yield _Found(None, _range(sentence, *match.span("by")), False, None, match["verb"])
    for match in wording.CHINESE_OF.finditer(sentence):
        before = sentence[: match.start()]
        if match["not"] or re.search(r"(?:被|由)\s*$", before):
            continue
        named = re.search(rf"(?P<names>{wording.LIST}|{THIS})\s*(?:已经?|将)?\s*$", before)
        newer = _range(before, *named.span("names")) if named else None
        softly = bool(match["soft"] or match["part"]) or match["verb"] in ("修订", "修改", "更新")
        yield _Found(_range(sentence, *match.span("of")), newer, softly, match["part"], match["verb"])
