"""A title of at most 80 characters out of a longer sentence, and the name of an error out of its message.

Cut at a joint of the sentence, never in a word, in inline code or inside brackets, and never ending in an ellipsis.
"""

from __future__ import annotations

import re

TITLE_CHARS = 80

_CUTS = (
    re.compile(r"[.!?;。！？；]\s|[。！？；]"),
    re.compile(r"\s+[–—-]\s|[:：]\s"),
    re.compile(
        r",?\s(?=(?:because|since|so(?= (?:that|the|an?|we|it|they|you|each|every|no)\b)|otherwise|which|unless"
        r"|instead of|rather than|leading to|matching|consistent with|preserving)\b)|，"
        r"|, (?!(?:[\w.`/-]+ ){0,2}[\w.`/-]+(?:, | and | or ))"
    ),
)
_JOINT = re.compile(r"\s(?=(?:and|or|that|to(?= [a-z])|for|with|from|in|by|using|at|when|before|after)\s)")
_LEAD = re.compile(
    r"^(?:while|although|though|since|because|as|if|when(?:ever)?|after|before|once|every time|each time|in order to"
    r"|to)\s[^,;:]{6,90},\s+(?:then\s+)?(?=\S)",
    re.I,
)
"""A clause that leads to what is said: it may go where the title cannot hold both."""

_LOOSE_END = re.compile(
    r"(?:[\s,(\"'`–—-]+"
    r"(?:a|an|the|of|to|and|or|for|in|on|at|with|by|from|as|that|which|is|are|into|it|so|but|we|i|only|just|also))+$",
    re.I,
)
_WHOLE = re.compile(r"`[^`]*`|\"[^\"\n]{0,80}\"|\([^()]*\)|\[[^\[\]]*\]")
"""Inline code, a quotation, what stands in brackets: cut before or behind it, not in it."""

_FEWEST = 15
_EVEN = 2
_ERROR_NOISE = (
    re.compile(r"^(?:error|err|fatal|failed)(?:\[\w+\])?: +(?=\S)", re.I),
    re.compile(r"\((?:[a-z_]\w*\.)+[A-Z]\w*\) +(?=\S)"),
    re.compile(r"\[(?:Errno|WinError) -?\d+\] +(?=\S)"),
)
_QUALIFIED = re.compile(r"^(?:[A-Za-z_]\w*\.)+([A-Z]\w*(?=[:\s]|$))")
_ERROR_TYPE = re.compile(r"^[A-Z]\w*(?:Error|Exception|Warning): +(?=\S)")
_ERROR_TAIL = re.compile(r"(?:,? (?:but )?got)?[ .,;:]*$")
_ERROR_JOINT = re.compile(r",? (?=got\b|but got\b|for the\b)|[,;:] |: |\s(?=\()")


def sentence_case(text: str) -> str:
    """The first letter upper case, unless the first word is a name with a form of its own (`go_test`, iOS, a.py)."""
    first = text.split(" ", 1)[0]
    if not first or not first[0].islower() or re.search(r"[`_/\\.\d]|[a-z][A-Z]", first):
        return text
    return first[0].upper() + text[1:]


def shorten(text: str, limit: int = TITLE_CHARS) -> str:
    """At most `limit` characters, cut after a sentence, a clause or a word, without a mark of the cut."""
    if len(text) <= limit:
        return text.rstrip(" .,;:，。；：")
    lead = _LEAD.match(text)
    if lead and len(text) - lead.end() >= _FEWEST:
        rest = text[lead.end() :]
        return shorten(sentence_case(rest), limit)
    whole = [(found.start(), found.end()) for found in _WHOLE.finditer(text)]
    tried = [(cut, earliest) for earliest in (limit // 2, limit // 3) for cut in _CUTS]
    tried += [(_JOINT, limit // 2), *((cut, _FEWEST) for cut in _CUTS)]
    for cut, earliest in tried:
        at = _last(cut, text, earliest, limit, whole)
        if at:
            return _closed(text[:at])
    at = text.rfind(" ", 0, limit + 1)
    return _closed(text[:at] if at > 0 else text[:limit])


def _last(cut: re.Pattern[str], text: str, earliest: int, limit: int, whole: list[tuple[int, int]]) -> int | None:
    """The last place to cut between two lengths that lies in nothing whole."""
    places = [match.start() for match in cut.finditer(text, 0, limit + 1)]
    open_ = [place for place in places if not any(start < place < end for start, end in whole)]
    return max((place for place in open_ if earliest <= place <= limit), default=None)


def _closed(text: str) -> str:
    """Without loose joining words, open brackets and a lone backtick at the end."""
    text = _LOOSE_END.sub("", text).rstrip(" ,;:–—-(")
    if text.count("`") % _EVEN:
        text = text[: text.rfind("`")] + text[text.rfind("`") + 1 :]
    if text.count("(") > text.count(")"):
        text = text[: text.rfind("(")].rstrip()
    return text


def error_title(text: str) -> str:
    """An error's own words, at most 80 characters: without module names, numbers of errors and words that say "error".

    Cut at a joint of the sentence where there is one in its second half; the type goes before the message is cut.
    """
    plain = " ".join(text.split())
    for pattern in _ERROR_NOISE:
        plain = pattern.sub("", plain)
    plain = _QUALIFIED.sub(r"\1", plain).strip()
    if len(plain) > TITLE_CHARS:
        plain = _ERROR_TYPE.sub("", plain)
    if len(plain) > TITLE_CHARS:
        joints = [joint.start() for joint in _ERROR_JOINT.finditer(plain, TITLE_CHARS // 2, TITLE_CHARS + 1)]
        plain = _closed(plain[: joints[-1] if joints else plain.rfind(" ", 0, TITLE_CHARS + 1)][:TITLE_CHARS])
    return sentence_case(_ERROR_TAIL.sub("", plain))
