"""How an item is worded: what a person said, as a person would write it down. Pure string rules, no model.

The words stay the speaker's. Taken off are greetings, politeness and the form of a question or proposal ("can't we
…?", "let's …"); what is left is cut at a clause, never in a word, and never ends in an ellipsis.
"""

from __future__ import annotations

import re

TITLE_CHARS = 80

_FILLER = re.compile(
    r"^(?:[\s,.!;:–—-]|(?:no|nope|nah|yes|yeah|yep|ok|okay|so|and|but|also|well|hmm+|ah|oh|hey|hi|hello|wait|right|gah|ugh"
    r"|please|actually|basically|btw|fyi|sorry|thanks|really|just|then|@\w+)\b[,.!?:;–—-]*\s+(?=\S))+",
    re.I,
)
_TAIL = re.compile(
    r"(?:[\s,]+(?:please|pls|thanks|thank you|thx|ok|okay|right|no|yes|though|too))?[\s.!?…。！？;:,]*$", re.I
)
_ADVERBS = r"(?: (?:also|just|please|not|maybe|instead|at least))*"
_QUESTION_FORMS = (
    (
        re.compile(rf"^(?:can|could|should|would|may|might)(?:n'?t)? (?:we|you|i|it){_ADVERBS} be (\w+?)ing\b", re.I),
        "gerund",
    ),
    (re.compile(rf"^(?:can|could|should|shall|would|won|will)(?:n'?t|'t)? (?:we|you|i){_ADVERBS} ", re.I), ""),
    (re.compile(r"^(?:any chance (?:we|you) (?:can|could)|is it possible to|would it be possible to) ", re.I), ""),
    (re.compile(r"^(?:why not|why don'?t (?:we|you)) ", re.I), ""),
    (re.compile(r"^(?:do|did)n'?t we(?: already)? (?=have|had|use)", re.I), "We already "),
    (re.compile(r"^is(?:n'?t| not) (it|this|that|there|the \w+) ", re.I), r"\1 is "),
    (re.compile(r"^should(?:n'?t)? (it|this|that|these|they|the \w+) ", re.I), r"\1 should "),
    (re.compile(r"^(?:what|how) about ", re.I), "Consider "),
)
_PROPOSALS = re.compile(
    r"^(?:let'?s (?!not\b)"
    r"|(?:i think |i guess )?(?:we|you) (?:should|must|need to|have to|ought to|want to)(?: also| just)? (?!not\b)"
    r"|i(?:'d| would)? (?:want|like) (?:you )?to |i want |(?:please )?remember to |make sure to "
    r"|from now on,? |going forward,? |next time,? |for the future,? )",
    re.I,
)
_NOT_BUT = re.compile(r"^not (.+?),? but (.+)$", re.I)
_LETS_NOT = re.compile(r"^let'?s not ", re.I)
_AFTER_CONDITION = re.compile(r"^(?:if|when|since|as) [^,]{3,60}?,? (?=let'?s |please |use |we should )", re.I)
_CUTS = (
    re.compile(r"[.!?;。！？；]\s"),
    re.compile(r"\s+[–—-]\s|[:：]\s"),
    re.compile(r",?\s(?=(?:because|since|so that|otherwise|which|unless|instead of|rather than)\b)|，|, "),
)
_JOINT = re.compile(r"\s(?=(?:and|or|that|to|for|with|from|in|by|using|at|when|before|after)\s)")
_LOOSE_END = re.compile(
    r"(?:[\s,(\"'`–—-]+"
    r"(?:a|an|the|of|to|and|or|for|in|on|at|with|by|from|as|that|which|is|are|into|it|so|but|we|i))+$",
    re.I,
)
_GERUNDS = {
    "us": "use", "mov": "move", "tak": "take", "mak": "make", "writ": "write", "stor": "store", "reus": "reuse",
    "runn": "run", "putt": "put", "gett": "get", "sett": "set", "shar": "share", "cach": "cache",
}  # fmt: skip
"""Stems that are no verb by themselves once `-ing` is taken off."""
_POINTS_BACK = re.compile(r"\b(?:it|this|that|them|these|those)\b(?! (?:is|should|must)\b)", re.I)
_EMPHASIS = re.compile(r"(\*\*|__|(?<!\w)\*(?=\S))(.+?)\1")
_LINK = re.compile(r"\[([^\]\n]+)\]\([^)\n]*\)")
_NUMBERED = re.compile(r"^(?:ADR[- ]?)?\d{1,5}[.:)]\s+|^ADR[- ]?\d{1,5}\s*[:–—-]?\s+", re.I)
_PAST = re.compile(
    r"^(?:now )?(?:(add|hoist|convert|adjust|revert)ed"
    r"|(remov|mov|renam|chang|replac|updat|consolidat|us|scop|captur)ed)\b",
    re.I,
)
_EVEN = 2


def strip_politeness(text: str) -> str:
    """The text without opening fillers, closing politeness and end marks, on one line."""
    one = " ".join(text.split())
    stripped = _FILLER.sub("", one)
    return _TAIL.sub("", stripped or one).strip()


def imperative(text: str) -> str:
    """A sentence as advice: no question form, no proposal form, no report of what was done, no end mark."""
    plain = _PAST.sub(lambda done: done[1] or f"{done[2]}e", strip_politeness(text))
    plain = _AFTER_CONDITION.sub("", plain)
    for pattern, replacement in _QUESTION_FORMS:
        match = pattern.match(plain)
        if match:
            plain = (
                _ungerund(match[1]) + plain[match.end() :]
                if replacement == "gerund"
                else pattern.sub(replacement, plain)
            )
            break
    plain = _NOT_BUT.sub(r"\2, not \1", plain)
    plain = _LETS_NOT.sub("Do not ", plain)
    for _ in range(2):
        plain = _PROPOSALS.sub("", plain)
    return sentence_case(strip_politeness(plain))


def _ungerund(stem: str) -> str:
    return _GERUNDS.get(stem.lower(), stem)


def sentence_case(text: str) -> str:
    """The first letter upper case, unless the first word is a name with a form of its own (`go_test`, iOS, a.py)."""
    first = text.split(" ", 1)[0]
    if not first or not first[0].islower() or re.search(r"[`_/\\.\d]|[a-z][A-Z]", first):
        return text
    return first[0].upper() + text[1:]


def shorten(text: str, limit: int = TITLE_CHARS) -> str:
    """At most `limit` characters, cut after a sentence, a clause or a word, without a mark of the cut."""
    if len(text) <= limit:
        return text.rstrip(" .,;:")
    for cut in _CUTS:
        ends = [match.start() for match in cut.finditer(text, 0, limit + 1) if limit // 3 <= match.start() <= limit]
        if ends:
            return _closed(text[: ends[-1]])
    joints = [match.start() for match in _JOINT.finditer(text, 0, limit + 1) if match.start() >= limit * 3 // 4]
    at = joints[-1] if joints else text.rfind(" ", 0, limit + 1)
    return _closed(text[:at] if at > 0 else text[:limit])


def _closed(text: str) -> str:
    """Without loose joining words, open brackets and a lone backtick at the end."""
    text = _LOOSE_END.sub("", text).rstrip(" ,;:–—-(")
    if text.count("`") % _EVEN:
        text = text[: text.rfind("`")] + text[text.rfind("`") + 1 :]
    if text.count("(") > text.count(")"):
        text = text[: text.rfind("(")].rstrip()
    return text


def title(do: str, path: str | None) -> str:
    """A title of at most 80 characters from what to do; names the file where the words only point at it."""
    words = shorten(imperative(do))
    name = path.rsplit("/", 1)[-1] if path else ""
    if name and name not in words and _POINTS_BACK.search(words) and len(words) + len(name) + 3 <= TITLE_CHARS:
        return f"{words} ({name})"
    return words


def advice(do: str) -> str:
    """What to do, as one to three sentences with their end marks."""
    parts = re.split(r"(?<=[.!?。！？])\s+", " ".join(do.split()))
    chosen = [imperative(part) for part in parts if part.strip()][:3]
    return " ".join(part if part.endswith(("。", "！")) else f"{part}." for part in chosen if part)


def document_text(text: str) -> str:
    """A document's own sentences on one line: emphasis and link targets taken off, words untouched, an end mark."""
    plain = _LINK.sub(r"\1", _EMPHASIS.sub(r"\2", " ".join(text.split()))).strip()
    return plain if not plain or plain.endswith((".", "!", "?", "。", "！", "？", "`")) else plain.rstrip(":;,：") + "."


def document_title(text: str) -> str:
    """A document's title without the number of a decision record, at most 80 characters."""
    return shorten(_EMPHASIS.sub(r"\2", _NUMBERED.sub("", " ".join(text.split()))))


def clause(text: str | None) -> str | None:
    """A reason or an option in sentence case without end mark; None where nothing is left."""
    plain = strip_politeness(text) if text else ""
    return sentence_case(plain) or None
