"""How an item is worded: what a person said, as a person would write it down. Pure string rules, no model.

The words stay the speaker's. Taken off are greetings, politeness and the form of a question or proposal ("can't we
…?", "let's …"); what is left is cut at a clause, never in a word, and never ends in an ellipsis.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lorelake.learnings.titles import TITLE_CHARS, sentence_case, shorten

_FILLER = re.compile(
    r"^(?:[\s,.!;:–—-]|no(?=[,.!;:–—-]|\s+(?:don'?t|do|never|use|it|that|this|we|you|the|let'?s|just|please|put|keep|stop"
    r"|not|need to)\b)[,.!?:;–—-]*\s+(?=\S)"
    r"|(?:nope|nah|yes|yeah|yep|ok|okay|so(?! that\b)|and|but|also|well|hmm+|ah|oh|hey|hi|hello|wait"
    r"|right|gah|ugh|please|actually|basically|btw|fyi|sorry|thanks|really|just|then|obviously|@\w+)\b[,.!?:;–—-]*\s+(?=\S)"
    r"|(?:before that|first of all|one more thing|another thing|as i said|like i said|again|imo|imho)[,:]\s+(?=\S)"
    r"|(?:i (?:really |still |also )?(?:think|believe|feel)(?: that| like)?,?|note that)\s+(?=(?:we|you|it|this|that"
    r"|the|these|those|there|they|each|every|all|different|\S+ (?:should|must|needs?|can|is|are))\b))+",
    re.I,
)
_TAIL = re.compile(
    r"(?:\s*,\s*(?:and )?(?:continue|go on|go ahead|carry on|proceed)"
    r"|[\s,]+(?:please|pls|thanks|thank you|thx|ok|okay|though|too)|,\s*(?:right|no|yes))?[\s.!?…。！？;:,]*$",
    re.I,
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
    r"|(?:i|we)(?:'d| would)?(?: also)? (?:want|like) (?:you )?to |i want |(?:please )?remember to |make sure to "
    r"|from now on,? |going forward,? |next time,? |for the future,? )",
    re.I,
)
_WHO = r"(?:we|i|the team|team|everyone|it was|it is)(?:'ve| have|'re| are|'ll| will| all| both| now| finally| just)*"
_ANNOUNCED = (
    (
        re.compile(r"^[*_]*(?:decision|decided|agreed|remember|reminder|note|rule|convention)[*_]*\s*[:—–-]\s*", re.I),
        "",
    ),
    (re.compile(r"^(?:after|following) (?:\w+ ){0,3}(?:discussion|call|meeting|review|talk)s?,? ", re.I), ""),
    (re.compile(rf"^{_WHO} (?:decided|agreed)(?: yesterday| today)? not to ", re.I), "Do not "),
    (re.compile(rf"^{_WHO} (?:decided|agreed)(?: yesterday| today)? (?:to|that) ", re.I), ""),
    (re.compile(rf"^{_WHO} (?:decided|agreed)(?: yesterday| today)? against ", re.I), "Decided against "),
    (re.compile(rf"^(?:{_WHO} (?:decided|agreed)(?: yesterday| today)? on|{_WHO} settled on) ", re.I), "Use "),
    (re.compile(rf"^(?:let'?s |{_WHO} |to )?(?:go|going) with ", re.I), "Use "),
    (re.compile(r"^(?:we'll|we will|we're going to|we are going to) (?=\w+)", re.I), ""),
    (re.compile(r"^(?:we're|we are|i'm) (?:dropping|removing support for) ", re.I), "Drop "),
    (re.compile(r"^we (?=(?:always|never) )", re.I), ""),
    (re.compile(r"^(?:in this (?:repo|project|codebase),? )?we (?:don't|do not) ", re.I), "Do not "),
    (re.compile(r"^we (?:only )?(?=use )", re.I), ""),
    (
        re.compile(
            r"^(?:i|we)(?:'d| would)?(?: also| really)? (?:want|like) (?P<what>[^,.;]{3,60}?) to (?=be |\w+)", re.I
        ),
        r"\g<what> should ",
    ),
    (re.compile(r"^(?:please )?(?:remember|keep in mind|make sure|be sure) not to ", re.I), "Do not "),
    (re.compile(r"^(don|won|can|shouldn|mustn|doesn|isn)'?t (?=\w)", re.I), r"\1't "),
    (re.compile(r"^the fix (?:is to|would be to) ", re.I), ""),
    (re.compile(r"^(?:the fix requires|consider) (\w+?)ing\b", re.I), "gerund"),
)
"""How people open what they settled, and what stays of it: a plain statement."""

_NOT_BUT = re.compile(r"^not (.+?),? but (.+)$", re.I)
_LETS_NOT = re.compile(r"^let'?s not ", re.I)
_AFTER_CONDITION = re.compile(r"^(?:if|when|since|as) [^,]{3,60}?,? (?=let'?s |please |use |we should )", re.I)
_GERUNDS = {
    "us": "use", "mov": "move", "tak": "take", "mak": "make", "writ": "write", "stor": "store", "reus": "reuse",
    "runn": "run", "putt": "put", "gett": "get", "sett": "set", "shar": "share", "cach": "cache", "remov": "remove",
    "renam": "rename", "chang": "change", "splitt": "split", "handl": "handle", "validat": "validate",
    "updat": "update", "dropp": "drop", "replac": "replace", "clos": "close", "rais": "raise", "creat": "create",
    "delet": "delete", "consolidat": "consolidate",
}  # fmt: skip
"""Stems that are no verb by themselves once `-ing` is taken off."""

_PLAIN_STEMS = frozenset(
    """
    add return check call wrap keep extract test log read throw pass document mark build send load start stop sort
    """.split()  # noqa: SIM905 - a list of words is read more easily as text
)
_POINTS_BACK = re.compile(r"\b(?:it|this|that|them|these|those)\b(?! (?:is|should|must)\b)", re.I)
_MARKUP = re.compile(
    r"(?P<code>`[^`]+`)|\[(?P<link>[^\]\n]+)\]\([^)\n]*\)|(?P<mark>\*\*|__|(?<![\w*])\*(?=\S))(?P<strong>(?:`[^`]+`|[^`])+?)(?P=mark)"
)
"""Inline code, which stays as it is; a link; emphasis."""

_NUMBERED = re.compile(r"^(?:ADR[- ]?)?\d{1,5}[.:)]\s+|^ADR[- ]?\d{1,5}\s*[:–—-]?\s+", re.I)
_PAST = re.compile(
    r"^(?:now )?(?:(add|hoist|convert|adjust|revert)ed"
    r"|(remov|mov|renam|chang|replac|updat|consolidat|us|scop|captur)ed)\b",
    re.I,
)
_POINTS_OUT = re.compile(r"^the (?:latter|former)\b", re.I)
_BY = re.compile(r"^by (?=\w+ing\b)", re.I)
_REASON_WORD = re.compile(r"[\s,;–—-]+(?:because(?: of)?|since|as|so that|otherwise)\s*$", re.I)
_FEWEST_WORDS = 3
_TURNS_DOWN = frozenset(("drop", "remove", "deprecate", "retire", "decided"))


def strip_politeness(text: str) -> str:
    """The text without opening fillers, closing politeness and end marks, on one line."""
    one = " ".join(text.split())
    stripped = _FILLER.sub("", one)
    return _TAIL.sub("", stripped or one).strip()


def imperative(text: str) -> str:
    """A sentence as advice: no question form, no proposal form, no report of what was done, no end mark."""
    plain = _PAST.sub(lambda done: done[1] or f"{done[2]}e", strip_politeness(text))
    plain = _AFTER_CONDITION.sub("", plain)
    plain = _first_form(plain, _QUESTION_FORMS)
    plain = _NOT_BUT.sub(r"\2, not \1", plain)
    plain = _LETS_NOT.sub("Do not ", plain)
    for _ in range(2):
        plain = _first_form(_PROPOSALS.sub("", plain), _ANNOUNCED)
    return sentence_case(strip_politeness(plain))


def _first_form(text: str, forms: Sequence[tuple[re.Pattern[str], str]]) -> str:
    """The text with the first of the forms it opens with replaced; "gerund" makes "adding" "add", if it can."""
    for pattern, replacement in forms:
        match = pattern.match(text)
        if match and replacement != "gerund":
            return match.expand(replacement) + text[match.end() :]
        if match and (verb := _verb(match[1])):
            return verb + text[match.end() :]
    return text


def _verb(stem: str) -> str | None:
    """The verb of a gerund's stem; None where only a dictionary could tell."""
    known = _GERUNDS.get(stem.lower())
    return known or (stem if stem.lower() in _PLAIN_STEMS else None)


def title(do: str, path: str | None) -> str:
    """A title of at most 80 characters from what to do; names the file where the words only point at it."""
    words = shorten(imperative(do))
    name = path.rsplit("/", 1)[-1] if path else ""
    if name and name not in words and _POINTS_BACK.search(words) and len(words) + len(name) + 3 <= TITLE_CHARS:
        return f"{words} ({name})"
    return words


def advice(do: str, because: str | None = None) -> str:
    """What to do, as one to three sentences with their end marks; without the reason where it is said apart."""
    parts = re.split(r"(?<=[.!?。！？])\s+", _without_reason(" ".join(do.split()), because))
    chosen = [imperative(part) for part in parts if part.strip()][:3]
    return " ".join(part if part.endswith(("。", "！")) else f"{part}." for part in chosen if part)


def _without_reason(do: str, because: str | None) -> str:
    """What stands before ", since <because>" where that closes the text."""
    reason_words = " ".join(because.split()).rstrip(" .!") if because else ""
    at = do.lower().rfind(reason_words.lower()) if reason_words else -1
    if at <= 0 or do[at + len(reason_words) :].strip(" .!"):
        return do
    before = _REASON_WORD.sub("", do[:at])
    return before if before != do[:at] and len(before.split()) >= _FEWEST_WORDS else do


def document_text(text: str) -> str:
    """A document's own sentences on one line: emphasis and link targets taken off, words untouched, an end mark."""
    plain = _without_markup(text)
    return plain if not plain or plain.endswith((".", "!", "?", "。", "！", "？", "`")) else plain.rstrip(":;,：") + "."


def _without_markup(text: str) -> str:
    return _MARKUP.sub(lambda found: found["code"] or found["link"] or found["strong"], " ".join(text.split())).strip()


def document_title(text: str) -> str:
    """A document's title without the number of a decision record, at most 80 characters."""
    return shorten(_without_markup(_NUMBERED.sub("", " ".join(text.split()))))


def reason(text: str | None, rejected: str | None = None) -> str | None:
    """A reason in sentence case without end mark; None where nothing is left.

    "The latter" is named where the option turned down is known, which comes last in "this rather than that"; what
    else points at words that are not served is dropped.
    """
    plain = strip_politeness(_without_markup(text)) if text else ""
    if _POINTS_OUT.match(plain):
        plain = f"{rejected}{plain[len('the latter') :]}" if rejected and plain.lower().startswith("the latter") else ""
    return sentence_case(plain) or None


def option(text: str | None, do: str) -> str | None:
    """The option turned down, as written and without end mark; None where `do` is to turn it down."""
    plain = _BY.sub("", strip_politeness(text)) if text else ""
    opening, _, rest = do.partition(" ")
    if not plain or (opening.lower() in _TURNS_DOWN and rest.lower().startswith(plain.lower())):
        return None
    return plain
