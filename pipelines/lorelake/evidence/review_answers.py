"""What an answer in a review says was done, and why: the words after "Good catch. Fixed in <commit> —"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lorelake.evidence import cues
from lorelake.evidence.prose import Sentence, sentences
from lorelake.evidence.review_lessons import gives_reason, is_long, tells_why
from lorelake.evidence.review_threads import COMMIT, substance
from lorelake.evidence.said import reason_in
from lorelake.evidence.unit import EventRow

_MOST_SENTENCES = 3
_FEWEST_WORDS = 5
_ANNOUNCES = re.compile(r",?(?:\s+(?:which|that|as follows|to|and))?\s*[:：]$", re.I)
_RESULT = re.compile(r",? so (?!that\b).*$|[，,]\s*(?:这样|所以|于是).*$", re.I | re.S)
"""What came of the change: no reason for it."""

_IN_COMMIT = re.compile(rf"\s+(?:in|by|with|as of) (?:commit )?{COMMIT}", re.I)
_EXPLAINED = re.compile(r"\s[–—-]\s+(?=(?:\S+\s+){5})")
_NOW = re.compile(r"^(?:(?:now|we now|it now|this now|we) )?(\w+)\b", re.I)
_DOES = {
    "uses": "use", "using": "use", "returns": "return", "returning": "return", "logs": "log", "logging": "log",
    "checks": "check", "closes": "close", "clears": "clear", "sets": "set", "passes": "pass", "keeps": "keep",
    "wraps": "wrap", "raises": "raise", "validates": "validate", "handles": "handle", "skips": "skip", "reads": "read",
    "writes": "write", "falls": "fall", "calls": "call", "ensures": "ensure", "switched": "switch", "made": "make",
}  # fmt: skip
"""How an answer tells what the code does now, and the same as advice."""


def done_in(answer: EventRow) -> list[Sentence]:
    """The sentences of an answer that tell what was done, at most three.

    One that only names the commit ("Added a warning in <commit>.") is left out where more is said.
    """
    at = substance(answer.text)
    found = []
    for sentence in sentences(answer.text):
        if sentence.end <= at:
            continue
        if sentence.start < at:
            cut = at - sentence.start
            sentence = Sentence(at, sentence.end, sentence.text[cut:], sentence.own[cut:])
        if not sentence.is_question and any(c.isalnum() for c in sentence.own):
            found.append(sentence)
    bare = _IN_COMMIT.sub("", found[0].text) if found else ""
    if len(found) > 1 and bare != found[0].text and len(bare.split()) < _FEWEST_WORDS:
        found = found[1:]
    return found[:_MOST_SENTENCES]


def is_told_with_reason(done: Sequence[Sentence]) -> bool:
    """Whether what was done is told with its reason, and is no matter of names, comments and tests.

    "Now clears X, consistent with Y" and "checks X first, so …" only report the change: the sentence that reports it
    has to give a reason proper, or what was turned down. A sentence beside it may explain in any words.
    """
    if cues.find("cosmetic", done[0].own):
        return False
    if any(tells_why(s) and not cues.find("cosmetic", s.own) for s in done[1:]):
        return True
    return is_long(done[0]) and gives_reason(_RESULT.sub("", done[0].own))


def told(done: Sequence[Sentence]) -> dict[str, str]:
    """`do` and, where there is one, `because`: of the first sentence, or of those that follow it."""
    parts = [" ".join(s.text.split()) for s in done]
    do = _NOW.sub(_advised, _IN_COMMIT.sub("", _ANNOUNCES.sub("", parts[0])), count=1)
    because = reason_in(done[0].own)
    explained = _EXPLAINED.search(do)
    if explained:
        do, because = do[: explained.start()], do[explained.end() :]
    rest = [part for part in parts[1:] if not part.endswith((":", "："))]
    because = because or " ".join(rest)
    return {"do": do} | ({"because": because} if because else {})


def _advised(opening: re.Match[str]) -> str:
    verb = opening[1].lower()
    return _DOES.get(verb) or (opening[1] if opening[0].lower().startswith("now ") else opening[0])
