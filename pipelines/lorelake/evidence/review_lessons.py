"""What a review comment teaches: the sentences that ask and tell why, and whether they outlive the one change."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lorelake.evidence import cues
from lorelake.evidence.prose import Sentence, document_sentences, sentences
from lorelake.evidence.said import advice

_MOST_SENTENCES = 3
_REASON_SENTENCES = 2
_FURTHEST_REQUEST = 12
_FEWEST_WORDS = 5
_FEWEST_CHARACTERS = 12
_LIKENESS = "likeness"
_BECAUSE = "because"
"""Endings of the names of cues: of a likeness, which explains nothing by itself, and of a stated reason."""

_TEACHES_NOTHING = ("nit", "praise", "accepted", "declined", "moot")
_LABEL = re.compile(
    r"[*_`\s]*(?:(?:low|medium|high|critical) severity|severity: \w+|suggestion|issue|warning)[*_`\s.:]*", re.I
)
_MARKUP = re.compile(r"<[a-z/!][^>]*>|!?\[[^\]]*\]\([^)]*\)", re.I)
_POINTS_HERE = re.compile(
    r"\b(?:here|above|below|line \d+)\b|^\W*if (?:so|not)\b"
    r"|\b(?:this|that|these|those) (?:line|comment|name|variable|function|method|block|one|file|call|test|field)s?\b"
    r"|\b(?:it|this|that|these|those|them)\b\W*$|^\W*\w+ (?:this|that|these|those|it|them)\b"
    r"|这里|这行|这个(?:变量|函数|文件|名字)|上面|下面",
    re.I,
)
"""Words that only the diff beside the comment explains."""

_SOFTENED = re.compile(
    r"^\W*(?:hm+,? )?(?:(?:i (?:think|believe|guess|suppose)|imo|imho|it looks like)\b|我觉得|我认为|感觉)",
    re.I,
)

ALTERNATIVE = re.compile(r"\W*(?:alternatively|or else|or,|or at least|或者)[,，]?\s*", re.I)
"""How a comment opens the second of two remedies; its reader takes one."""


def lesson(text: str, by_machine: bool = False) -> list[Sentence]:
    """The sentences of a comment that say something: its first ones, and the first that asks for something.

    Empty for questions, praise and nits. Headings, labels of a severity and links are no sentences. What a program
    posts is laid out as a document.
    """
    found = document_sentences(text, 0, len(text)) if by_machine else sentences(text)
    message = [s for s in found if not _is_label(s)]
    if not message or any(cues.find(family, message[0].own) for family in _TEACHES_NOTHING):
        return []
    if all(s.is_question and not _states(s) for s in message):
        return []
    stated = [s for s in message if (not s.is_question or _states(s) or asks(s)) and not cues.find("praise", s.own)]
    asked = next((n for n, s in enumerate(stated[:_FURTHEST_REQUEST]) if asks(s)), 0)
    others = [s for s in stated[asked + 1 : _FURTHEST_REQUEST] if ALTERNATIVE.match(s.own)][:1]
    if asked < _MOST_SENTENCES:
        first = stated[: max(_MOST_SENTENCES, asked + 1)]
        return [*first, *(s for s in others if s not in first)]
    return [*stated[: _MOST_SENTENCES - 1], stated[asked], *others]


def _states(sentence: Sentence) -> bool:
    """Whether a question mark only softens a statement that gives its reason: "I think X fits better, since …?"."""
    return bool(_SOFTENED.match(sentence.own)) and tells_why(sentence)


def asks(sentence: Sentence) -> bool:
    """Whether a sentence asks for something, also as a question ("could we use …?")."""
    if sentence.is_question:
        return bool(cues.find("suggesting_question", sentence.own))
    return bool(cues.find("request", sentence.own) or ALTERNATIVE.match(sentence.own))


def _is_label(sentence: Sentence) -> bool:
    bare = _MARKUP.sub("", sentence.own)
    return sentence.text.startswith("#") or bool(_LABEL.fullmatch(sentence.text)) or not re.search(r"\w", bare)


def is_durable(said: Sequence[Sentence]) -> bool:
    """Whether the words would help in another change than the one they were written on.

    A rule ("we never …") always does. A remark on names, comments or leftovers does not. Else the comment has to
    tell more than the change: a reason, what would happen, what to prefer to what; or a request that does not point
    at the lines beside it, together with a statement of what is wrong.
    """
    asked = [s for s in said if asks(s)]
    if any(cues.find("this_time", s.own) for s in asked):
        return False
    if any(cues.find("instruction", s.own) or cues.find("rule", s.own) for s in (asked or said)):
        return True
    if any(cues.find("cosmetic", s.own) for s in (asked or said)):
        return False
    if any(cues.find("instruction", s.own) or cues.find("rule", s.own) for s in said):
        return True
    if any(tells_why(s) for s in said):
        return True
    stated = [s for s in said if s not in asked and is_long(s) and not _POINTS_HERE.search(s.own)]
    return bool(asked and stated) and not any(_POINTS_HERE.search(s.own) for s in asked)


def tells_why(sentence: Sentence) -> bool:
    """Whether a sentence gives a reason, a consequence, a contrast or a rule."""
    found = any(cues.find(family, sentence.own) for family in ("rationale", "reason", "rule"))
    return found and is_long(sentence)


def gives_reason(own: str) -> bool:
    """Whether words give a reason, a purpose, a consequence or an option turned down; "consistent with …" is none."""
    if any(pattern.search(own) for cue, pattern in cues.family("rationale") if not cue.name.endswith(_LIKENESS)):
        return True
    found = cues.find("reason", own)
    return found is not None and found.cue.name.endswith(_BECAUSE)


def is_long(sentence: Sentence) -> bool:
    """Whether a sentence has words enough to state something; a script without spaces is counted by characters."""
    own = sentence.own.strip()
    return len(own.split()) >= _FEWEST_WORDS or (not own.isascii() and len(own) >= _FEWEST_CHARACTERS)


def words(said: Sequence[Sentence], by_machine: bool) -> dict[str, str]:
    """What to do, why and of what kind, in the reviewer's words: what asks for it, then what is left of the comment.

    A person's "always", "never" or "we use" is that person's word; anything else is only a comment that led to a
    change.
    """
    first = next((n for n, s in enumerate(said) if asks(s)), None)
    if first is None:
        return {"do": " ".join(s.text for s in said), "kind": "pattern", "trust_basis": "mechanical"}
    last = first
    while last + 1 < len(said) and last - first < 1 and asks(said[last + 1]):
        last += 1
    found = advice(said, first, last - first + 1)
    about = said[last + 1 :] if found.parts[-1] is said[last] else []
    whole = [s.text for s in about or said[:first] if not s.text.endswith((":", "："))]
    told = found.because or " ".join(whole[:_REASON_SENTENCES])
    standing = not by_machine and any(cues.find("instruction", s.own) for s in said[first : last + 1])
    do = ALTERNATIVE.sub("", found.do, count=1) if ALTERNATIVE.match(found.do) else found.do
    stated = {"do": do, "kind": found.kind, "trust_basis": "stated" if standing else "mechanical"}
    rejected = _whole_code(found.rejected, do)
    return stated | ({"because": told} if told else {}) | ({"rejected": rejected} if rejected else {})


def _whole_code(option: str | None, do: str) -> str | None:
    """An option turned down, with the rest of a code span that a full stop in it cut off."""
    if option is None or option.count("`") % 2 == 0:
        return option
    rest = re.search(rf"(?:instead of|rather than|not|over|never)\s+({re.escape(option)}[^`\n]{{0,200}}`)", do, re.I)
    return rest[1] if rest else None
