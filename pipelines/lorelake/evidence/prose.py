"""Which characters of a text are its author's own words, and where its sentences lie.

Quoted code, pasted logs, plans and documents, quotations of others and injected tags are not the author's words.
They are blanked, character for character, so that every offset still points into the text as stored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

import msgspec

from lorelake.evidence.pasted import pasted_spans

LONGEST_MESSAGE = 20_000
LONGEST_TYPED = 6_000
_BLANKED = (
    re.compile(r"```.*?(?:```|\Z)", re.S),
    re.compile(r"~~~.*?(?:~~~|\Z)", re.S),
    re.compile(r"<!--.*?(?:-->|\Z)", re.S),
    re.compile(r"<([a-z][\w-]*)\b[^<>]*>.{0,4000}?</\1>", re.S),
    re.compile(r"^[ \t]*(?:>|&gt;).*$", re.M),
    re.compile(r"^[ \t]*\|.*$", re.M),
    re.compile(r"https?://\S+"),
    re.compile(r"\[\[ ## \w+ ## \]\]|^@\[\w+\]:.*$|\[(?:Image|Pasted text)[^\]\n]{0,60}\]", re.M),
    re.compile(r"\{[^{}\n]{0,400}[\"'][^{}\n]{0,400}\}"),
)
_QUOTATION = re.compile(
    r"\"[^\"\n]{1,1200}\"|“[^”\n]{6,1200}”|„[^“”\n]{12,1200}[“”]|«[^»\n]{12,1200}»|「[^」\n]{6,1200}」|『[^』\n]{6,1200}』"
    r"|(?<!\w)'[^'\n]{20,1200}'(?!\w)|‘[^’\n]{20,1200}’(?!\w)"
)
_INLINE_CODE = re.compile(r"`[^`\n]{1,400}`")
"""Of any length, so that the words between two short names (`a` … `b`) are not taken for one."""

_IS_COMMAND = re.compile(r"[/=\\$({<|]|(?:^|\s)-{1,2}\w")
_FEWEST_QUOTED_WORDS = 4
_FEWEST_QUOTED_SIGNS = 6
_NO_PROSE = (_BLANKED[0], _BLANKED[2], _BLANKED[4], _BLANKED[5])
_MESSAGE_END = re.compile(r"(?:[.!?]+[\"')\]]*(?=\s|$))|[。！？]+|\n+")
_DOCUMENT_END = re.compile(
    r"(?:[.!?]+[\"')\]*_]*(?=\s|$))|[。！？]+|\n[ \t]*\n\s*|\n(?=[ \t]*(?:[-*+•][ \t]|\d{1,2}[.)][ \t]|#{1,6}[ \t]))"
)
_BULLET = re.compile(r"\s*(?:[-*•]\s+|\(?\d{1,2}[.)]\s+|\[[ x]\]\s+)?")
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf|approx|no)\.$", re.I)
_FULL_WIDTH = re.compile("[\u4e00-\u9fff]{4}")
_INDENT = 12
_SHORTEST_WRAPPED = 50
"""A shorter line was ended on purpose: people type a thought a line, often all in lower case."""

_LIST_NUMBER = re.compile(r"\s*\(?\d{1,2}[.)]")
_CLAUSE = re.compile(
    r"\s+[-–—]+\s+|——|;\s+|；|\s*[,，]?\s+(?=because\b|since (?:we|it|they)\b|so that\b)|,\s+(?=since\b)"
    r"|,?\s+(?=as (?:we|it|they|there)(?:'s|'re)?(?: (?:is|are|can|do|does|will|has|have))? ?"
    r"(?:n'?t|not|never|no longer|no)\b)"
    r"|,\s+(?=otherwise\b(?! (?:just |we )?(?:return|use|fall|run|skip|keep|do|call|raise|fail|log|show|print|take)\b))"
    r"|，(?=因为|因為|由于|由於|否则|否則|不然|免得|以免|以便)"
)
_NEXT_ORDER = re.compile(
    r",?\s+(?=(?:and|but) (?:don'?t|do not|never|always|make sure|we(?:'d| would) (?:also )?like|we (?:also )?want)\b)"
    r"|,\s+(?=(?:don'?t|do not|never|always)\b)"
    r"|,\s+(?=(?:so |instead |please |just |rather |then )?(?:use|put|keep|prefer|call|run|take|make|move|leave)\s)"
    r"|,\s+(?=(?:just|please) \w+ (?:the|all|every|each|our)\b)"
    r"|,?\s+(?=and then (?:let'?s|we can|you can|open|commit|push|create|make|start|continue|go|check|do)\b)"
    r"|,?\s+(?=before (?:you|we) (?:start|begin|continue|go on|proceed)\b)"
    r"|，(?=不要|别|別|请|請|用|改用|应该|應該|必须|必須|都|一律)"
)
_CONDITION = re.compile(
    r"^\W*(?:(?:and|but|so|no|ok|please|also)[,]? )*(?:if|when|whenever|unless|for|in|to|while|since|as|after|before"
    r"|instead|on|once|where|rather|whatever|如果|当|當|除非|要是|每次|在|以后|以後|今后|今後|从现在起|從現在起|任何)",
    re.I,
)


class Sentence(msgspec.Struct, frozen=True):
    """One sentence: `text` as stored at `start:end`, `own` the same with what is not the author's blanked."""

    start: int
    end: int
    text: str
    own: str

    @property
    def is_question(self) -> bool:
        """Whether it ends with a question mark."""
        return self.text.rstrip("\"')]} ").endswith(("?", "？"))


def own_words(text: str) -> str:
    """The text with everything that is not its author's own words blanked. Same length, same line ends.

    What follows the first `LONGEST_MESSAGE` characters was pasted, not typed; of more than `LONGEST_TYPED` characters
    that are left only the first line counts.
    """
    kept = text[:LONGEST_MESSAGE]
    for pattern in _BLANKED:
        kept = pattern.sub(lambda match: _blank(match[0]), kept)
    kept = _INLINE_CODE.sub(_blank_if_said, _QUOTATION.sub(_blank_if_others, kept))
    for start, end in pasted_spans(kept):
        kept = kept[:start] + " " * (end - start) + kept[end:]
    if len(kept) > LONGEST_TYPED and len(" ".join(kept.split())) > LONGEST_TYPED:
        cut = max(kept.find("\n", len(kept) - len(kept.lstrip()), LONGEST_TYPED), 0)
        kept = kept[:cut] + _blank(kept[cut:])
    return kept + _blank(text[LONGEST_MESSAGE:])


def _blank_if_others(quotation: re.Match[str]) -> str:
    """A quoted name or value belongs to the sentence; several quoted words are somebody else's."""
    inner = quotation[0][1:-1]
    many = len(inner.split()) >= _FEWEST_QUOTED_WORDS or (
        not inner.isascii() and len(inner) >= _FEWEST_QUOTED_SIGNS and _FULL_WIDTH.search(inner)
    )
    return _blank(quotation[0]) if many else quotation[0]


def _blank_if_said(code: re.Match[str]) -> str:
    """Several plain words between backticks are a text that is spoken about; a command belongs to the sentence."""
    inner = code[0][1:-1]
    said = len(inner.split()) >= _FEWEST_QUOTED_WORDS and not _IS_COMMAND.search(inner)
    return _blank(code[0]) if said else code[0]


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def sentences(text: str) -> list[Sentence]:
    """The sentences of a message that hold a word of the author's own, in order, without bullets and outer space.

    A line end is a sentence end, unless a hard-wrapped line goes on in lower case.
    """
    return list(_read(text))


@lru_cache(maxsize=256)
def _read(text: str) -> tuple[Sentence, ...]:
    """Kept for the next rule: each rule of a unit reads the same messages."""
    return tuple(_found(text, own_words(text), 0, len(text), _MESSAGE_END))


def document_sentences(text: str, start: int, end: int) -> list[Sentence]:
    """The sentences of a passage of a Markdown document, code, tables and quotations left out.

    A line end inside a paragraph is a space; an empty line, a list item and a heading begin a new sentence.
    """
    own = text[start:end]
    for pattern in _NO_PROSE:
        own = pattern.sub(lambda match: _blank(match[0]), own)
    return _found(text, text[:start] + own, start, end, _DOCUMENT_END)


def _found(text: str, own: str, start: int, end: int, ends: re.Pattern[str]) -> list[Sentence]:
    found = []
    for first, last in _spans(own, start, end, ends):
        bullet = _BULLET.match(own, first, last)
        first = bullet.end() if bullet else first
        while last > first and own[last - 1].isspace():
            last -= 1
        while first < last and own[first].isspace():
            first += 1
        if any(character.isalnum() for character in own[first:last]):
            found.append(Sentence(first, last, text[first:last], own[first:last]))
    return found


def _spans(own: str, start: int, end: int, ends: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    for match in ends.finditer(own, start, end):
        if _ABBREVIATION.search(own, start, match.end()) or _LIST_NUMBER.fullmatch(own, start, match.end()):
            continue
        if ends is _MESSAGE_END and match[0] == "\n" and _goes_on(own, start, match):
            continue
        yield start, match.end()
        start = match.end()
    yield start, end


def _goes_on(own: str, start: int, line_end: re.Match[str]) -> bool:
    following = own[line_end.end() : line_end.end() + _INDENT]
    after = following.lstrip(" \t")
    line = own[max(start, own.rfind("\n", 0, line_end.start()) + 1) : line_end.start()].strip()
    return after[:1].islower() and bool(line) and (after != following or len(line) >= _SHORTEST_WRAPPED)


def clauses(sentence: str) -> list[str]:
    """A sentence cut at spaced dashes, semicolons, reason words and before a next order; a reason word stays.

    "If the pool is full, use the queue" is one clause: an order is not parted from its condition.
    """
    found = []
    for part in _CLAUSE.split(sentence):
        start = 0
        for order in _NEXT_ORDER.finditer(part):
            if not _CONDITION.match(part[start : order.start()]) and order.start() > start:
                found.append(part[start : order.start()])
                start = order.end()
        found.append(part[start:])
    return [part.strip(" ,，") for part in found if part.strip(" ,，")]
