"""What a statement chooses, what it turns down, and what it goes back to: English and Chinese."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from lorelake.content.contrast import is_negation
from lorelake.content.normalise import normalise

_STOP = (
    r"(?!(?:for|because|since|in|on|at|to|and|or|with|as|when|if|but|any|again|here|now|anymore|so|it|is|are|was|from|"
    r"by|which|that|instead|everywhere)\b)"
)
_WORD = r"[\w@][\w@./+#-]*"
_TERM = rf"(?P<term>{_WORD}(?: {_STOP}{_WORD}){{0,3}})"
_HAN = r"(?P<term>[A-Za-z0-9@_][\w@./+#-]*|[\u4e00-\u9fff]{2,8}?)"
_HAN_END = r"(?=[，。；、,.;!！\s]|$|了|作|做|来|改|换|而|迁|切|因)"
_ARTICLE = r"(?:(?:the|a|an|our|any|plain|using) )*"

_NO_LONGER = r"no longer (?:use|using|need|want|run|rely on|depend on|support|ship|deploy)"
_MOVED = r"(?:mov(?:ed|e|ing)|switch(?:ed|ing)?|migrat(?:ed|e|ing)|chang(?:ed|e|ing)|went) (?:away )?(?:from|off)"
_DROPPED = r"(?:(?:we|i)(?:'ve| have)? (?:dropped|abandoned|ditched|gave up on)|stop(?:ped)? using)"
_REFUSED = (
    ("instead of", re.compile(rf"\b(?:instead of|rather than) {_ARTICLE}{_TERM}")),
    ("no longer", re.compile(rf"\b{_NO_LONGER} {_ARTICLE}{_TERM}")),
    ("no longer", re.compile(rf"(?:^|[.;,] ?){_ARTICLE}{_TERM} (?:is|are) no longer (?:used|needed|wanted|allowed)\b")),
    ("moved from", re.compile(rf"\b{_MOVED} {_ARTICLE}{_TERM}")),
    ("decided against", re.compile(rf"\b(?:decided|decide|deciding|voted) against {_ARTICLE}{_TERM}")),
    ("dropped", re.compile(rf"\b{_DROPPED} {_ARTICLE}{_TERM}")),
    ("replaced", re.compile(rf"\b(?:replaced?|swapp?(?:ed)?) {_ARTICLE}{_TERM} (?:with|by|for) ")),
    ("not any more", re.compile(rf"\b(?:don't|do not) use {_ARTICLE}{_TERM} any ?more\b")),
    ("不再", re.compile(rf"(?:不再(?:使用|用)|停用|放弃了?|弃用了?|而不是)\s*{_HAN}{_HAN_END}")),
    ("从", re.compile(rf"从\s*{_HAN}\s*(?:改成|改为|换成|换到|迁移到|切换到|迁到)")),
)
_CUES = (
    "instead", "rather", "longer", "move", "moving", "switch", "migrat", "chang", "went", "against", "drop", "abandon",
    "ditch", "gave", "stop", "replace", "swap", "anymore", "any more", "不再", "停用", "放弃", "弃用", "而不是", "从",
)  # fmt: skip
"""One of these stands in whatever `_REFUSED` finds."""
_RETURNED = (
    ("back to", re.compile(rf"\b(?:back to|revert(?:ed)? to|return(?:ed)? to) {_ARTICLE}{_TERM}")),
    ("换回", re.compile(rf"(?:换回|改回|回到)了?\s*{_HAN}{_HAN_END}")),
)
_CHOSEN = (
    re.compile(
        r"\b(?:use|uses|using|adopt(?:ed)?|chose|choose|chosen|picked?|prefer|(?:go(?:ing)?|went|stick(?:ing)?) with|"
        r"decided (?:on|for)|settled on|standardi[sz]e on|(?:moved|switched|migrated|move|switch|migrate) to|runs? on) "
        rf"{_ARTICLE}{_TERM}"
    ),
    re.compile(rf"(?<![不别停])(?:使用|采用|选择|选用|改用|用)\s*{_HAN}{_HAN_END}"),
)
_DENIES = re.compile(
    r"(?:\b(?:not|never|don't|doesn't|no longer|stop|avoid|against|cannot|without)(?: \w+)?|不要?|别|禁止|勿)\s*$"
)
_NO_TERM = frozenset((
    "it", "this", "that", "them", "these", "those", "one", "something", "anything", "nothing", "what", "which",
    "same", "other", "more", "less", "being", "having", "doing", "waiting", "a", "the", "an", "our", "your", "my",
    "new", "old",
))  # fmt: skip
_FORBIDS = frozenset(("avoid", "stop", "不要", "不能", "不得", "禁止", "不再", "不用", "不应"))


class Read(msgspec.Struct, frozen=True):
    """Terms a statement chooses, and those it refuses or goes back to with the words that say so."""

    chosen: frozenset[str]
    refused: dict[str, str]
    returned_to: dict[str, str]


def read(plain: str, title: str = "", rejected: str = "") -> Read:
    """Read a statement.

    Args:
        plain: the witness words, normalised.
        title: the learning's title; a document's choice often stands there alone.
        rejected: the option the item says was turned down.
    """
    refused = dict(_terms(plain, _REFUSED)) if any(cue in plain for cue in _CUES) else {}
    for term in map(_term, re.split(r"[;,，；]", normalise(rejected))) if rejected else ():
        if term:
            refused.setdefault(term, "rejected")
    returned = dict(_terms(plain, _RETURNED))
    chosen = {term for words_of in dict.fromkeys((plain, normalise(title))) for term in _chosen(words_of)}
    return Read(frozenset(chosen - refused.keys()), refused, returned)


def _terms(plain: str, patterns: Sequence[tuple[str, re.Pattern[str]]]) -> Iterator[tuple[str, str]]:
    for cue, pattern in patterns:
        for match in pattern.finditer(plain):
            if term := _term(match["term"]):
                yield term, cue


def _chosen(plain: str) -> Iterator[str]:
    for pattern in _CHOSEN:
        for match in pattern.finditer(plain):
            term = _term(match["term"])
            if term and not _DENIES.search(plain[max(match.start() - 20, 0) : match.start()]):
                yield term


def _term(words_of: str) -> str:
    """The term without what points elsewhere; "" for what names nothing."""
    term = words_of.strip(" .,;:").removeprefix("the ")
    parts = term.split()
    return term if parts and parts[0] not in _NO_TERM and len(parts) <= 4 and len(term) > 1 else ""


def is_denied(said: Sequence[str]) -> bool:
    """Whether a statement forbids or denies. `said` as `content.normalise.words` gives it."""
    return any(word in _FORBIDS or is_negation(word) for word in said)
