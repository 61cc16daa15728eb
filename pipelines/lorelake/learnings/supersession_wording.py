"""The wording by which records replace each other, as patterns: English and Chinese.

They are searched in one sentence whose names are masked (`supersession_names.mask`). A new verb or joint is a new word
here, with a pair of cases in tests/unit/learnings/test_supersession_said.py.
"""

from __future__ import annotations

import re

from lorelake.learnings.supersession_names import GAP, NAME, THIS

CHEAP = re.compile(
    r"super[sc]ed|replac|obsolet|revers|revok|overrul|retir|deprecat|amend|updat|modif|correct|rescind|overturn|"
    r"in favou?r of|取代|替代|代替|废弃|废止|推翻|修订",
    re.I,
)
SENTENCE_END = re.compile(r"(?:(?<=[.!?])[\"')\]*_]*\s+(?![a-z])|(?<=[。！？；;])[*_]*\s*)")
MARKUP = re.compile(rf"[*`]+|(?<!\w)_+|_+(?!\w)|{GAP}+|(?:^|(?<=\n))[ \t]*>+")
BULLET = re.compile(r"^\s*(?:[-*+]|\d{1,3}[.)])\s+")

N = rf"{NAME}(?:\s*\([^()]{{0,160}}\))?"
JOIN = (
    r"\s*(?:,\s*(?:and\b|&)?|;\s*and\b|and\b|&|/|\+|as well as\b|、|和|以及|及|与)\s*(?:(?:the|our|also|both|of)\s+)*"
)
LIST = rf"{N}(?:{JOIN}{N})*"
VERB = re.compile(
    r"\b(?P<verb>(?P<stem>super[sc]ed|replac|obsolet|revers|revok|overrul|retir|deprecat|rescind|overturn|invalidat|"
    r"amend|updat|modif|correct)(?P<form>es|s|ies|ed|d|ied|ing|e|y)?)\b",
    re.I,
)
IN_PART_VERBS = ("amend", "updat", "modif", "correct")
IN_FAVOUR = re.compile(
    r"\b(?P<verb>(?:abandoned|dropped|discarded|withdrawn|closed|archived|rejected|outdated|deprecated|"
    r"retired|replaced|"
    r"super[sc]eded|obsolete[d]?)\W{1,3}(?:(?:(?:please )?see|use|now|refer to|→|->)(?: instead)?:?))\s*(?:the |our )?"
    rf"(?P<by>{LIST})",
    re.I,
)
GIVEN_UP = re.compile(
    rf"\b(?P<verb>(?:abandoned|dropped|discarded|withdrawn|closed|archived|rejected) in favou?r of)\s*(?:the |our )?"
    rf"(?P<by>{LIST})",
    re.I,
)
NOT = re.compile(
    r"\b(?:(?i:not|never|neither|nor|no|none|without|cannot|would|could|might|should|must|if|unless|until|once|whether|"
    r"when|will|shall|to|gets?|instead of|rather than)|may)\b|n['’]t\b"
)
CHOICE = re.compile(
    r"\b(?:proposed|accepted|rejected|draft)\b.{0,12}[|/].{0,12}\b(?:accepted|rejected|deprecated)\b", re.I
)
AUXILIARY = re.compile(
    r"(?:\b(?:is|was|are|were|been|be|being|has|have|had|now|then|also|since|hereby|fully|completely|entirely|wholly|"
    r"explicitly|effectively|later|again|already|therefore|thus|so|both|itself|formally|both|and|that|which|"
    r"(?P<soft>partially|partly|largely|mostly))|,)\s*$",
    re.I,
)
SOFTENED = re.compile(
    r"\b(?:refine[sd]?|extend(?:s|ed)|clarif\w+|narrow(?:s|ed)|amend(?:s|ed)|updated?s?)\s*(?:/|and|&|,)\s*$", re.I
)
PREFIX = re.compile(
    r"(?:(?:status(?: note)?|state|note|update|relation(?:s|ship)?|accepted|approved|proposed|rejected|"
    r"implemented|done|draft|deprecated|active|retired|obsolete|historical|date|(?:19|20)\d\d(?:-\d\d){0,2}|on|"
    r"since|as of|in|but|it|we|they|this|therefore|january|february|march|april|may|june|july|august|september|"
    r"october|november|december)\b|"
    rf"[^\w{NAME}{THIS}]|\d)+",
    re.I,
)
IN_PART = re.compile(
    r"^\W*(?:only\s+)?(?:in part|partially|partly|largely|mostly|to a (?:large|great|certain) extent)\W*$", re.I
)
OF_A_PART = re.compile(
    r"\b(?:portions?|parts?|sections?|aspects?|only|paragraphs?|chapters?|rules?|partial(?:ly)?)\b|部分", re.I
)
WHEN = re.compile(
    r"^\W*(?:(?:entirely|completely|fully|wholly|again|since|later|then|effectively|formally|immediately)\b|"
    r"(?:(?:on|in|as of|since|from)\b)?\W*(?:the )?[\d\W]*\d{4}[\d\W]*|\([\d\W]*\)|\W)*$",
    re.I,
)
FOR = re.compile(r"^\W*for\s+(?P<part>.{2,200})$", re.I | re.S)
REASON = re.compile(
    r"\b(?:reasons?|sake|now|good|simplicity|clarity|consistency|performance|speed|safety|security)\b\W*$", re.I
)
FILLER = re.compile(
    r"^(?:.*\b(?:and|in|of|from|per|at|plus)\s+)?(?:(?:the|our|a|an|newer|later|new|more recent|decisions?|records?|"
    r"adrs?|[:`])\s*)*$",
    re.I | re.S,
)
GENERIC = re.compile(
    r"^(?:\s|[:,'’]|\b(?:s|the|our|an?|all|both|whole|entire|everything|complete|earlier|previous|prior|older|old|original|"
    r"first|existing|current|decisions?|records?|adrs?|approach|contents?|text|of|in|from|made|taken|recorded|described|"
    r"documented|by|and|as|given)\b)*$",
    re.I,
)
WITHIN = re.compile(r"\b(?:of|in|from|by|within|under|per)\s*(?:(?:the|our|both|earlier|previous|original)\s+)*$", re.I)
NO_OBJECT = re.compile(
    r"\b(?:with|via|using|as (?:in|per|of)|see|like|unlike|such as|which|because|since|so|than)\b", re.I
)
POSSESSIVE = re.compile(r"^\s*['’]s?\s+(?P<part>[^.;:,(]{2,200})")
TAIL_FOR = re.compile(
    r"^\W{0,3}(?:but\s+)?(?:only\s+)?(?:for|regarding|with (?:regard|respect) to|as to|concerning|on)\s+"
    r"(?P<part>[^.;:]{2,300})",
    re.I,
)
TAIL_PART = re.compile(r"^\W{0,3}(?:in part|partially|partly)\b", re.I)
TAIL_WHICH = re.compile(r"^\s*,\s*(?:which|that)\s+(?P<part>[^.;:]{4,300})", re.I)
LEAD_ONLY = re.compile(
    r"^\W*(?:\*\*)?(?:(?:partially |partly )?super[sc]ed(?:es|ed(?: in part)? by)|replace(?:s|d by)|obsolete(?:s|d by)|"
    r"amend(?:s|ed by)|deprecated by|revers(?:es|ed by)|取代|被取代|替代)\W*$",
    re.I,
)
CHINESE_VERB = r"(?P<verb>取代|替代|代替|废弃|废止|推翻|撤销|修订|修改|更新)"
CHINESE_BY = re.compile(
    rf"(?P<subject>{LIST}\s*)?(?:目前|现|均)?(?P<not>[不没未将如若应]|是否|可能)?(?:已经?|也)?(?:被|由)\s*(?P<by>{LIST}|{THIS})\s*(?P<part>部分)?(?:所)?{CHINESE_VERB}"
)
CHINESE_SEE = re.compile(
    rf"(?P<verb>(?:已|已经|被)(?:废弃|废止|过时|取代|替代|失效))[，,、:：（(\s]*(?:请)?(?:见|参见|参考|改用|详见|由)\s*(?P<by>{LIST})"
)
CHINESE_OF = re.compile(
    rf"(?P<not>[不没未将如若应]|是否|可能)?(?:会|有|曾)?(?P<soft>部分)?{CHINESE_VERB}(?:了|掉)?\s*[:：]?\s*(?:原有?的?|此前的?|之前的?|旧的?)?\s*"
    rf"(?P<of>{LIST})(?:\s*(?:中|里)?的?\s*(?P<part>[^，。；,;{NAME}]{{1,60}}?)(?:部分|章节|内容|规定|决定|设定))?"
)
