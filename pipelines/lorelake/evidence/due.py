"""The day a person names in a sentence, with the day of the message as anchor. A day that is not said is not guessed.

"by Friday", "tomorrow", "within 2 days", "2026-05-04", 明天, 两天内, 周五前 are days. "Soon", "next week", "May 4th"
(of which year?) and "by Friday" said on a Friday are words only: they stay in the sentence, the date stays unknown.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from datetime import date, timedelta

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_ZH_WEEKDAYS = "一二三四五六日"
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "ten": 10}
_ZH_NUMBERS = {"一": 1, "两": 2, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "十": 10}
_DAYS_IN = {"day": 1, "days": 1, "week": 7, "weeks": 7, "天": 1, "周": 7, "个星期": 7, "星期": 7}
_WORKDAY = re.compile(r"\b(?:business|working|work)\s+days?\b|工作日", re.I)


def _iso(found: re.Match[str], _anchor: date) -> date | None:
    try:
        return date(*(int(number) for number in found.groups() if number))
    except ValueError:
        return None


def _relative(found: re.Match[str], anchor: date) -> date | None:
    number = found[1].lower()
    count = int(number) if number.isdecimal() else _NUMBERS.get(number) or _ZH_NUMBERS.get(number)
    if count is None:
        return None
    try:
        return anchor + timedelta(days=count * _DAYS_IN[found[2].lower()])
    except OverflowError:
        return None


def _weekday(found: re.Match[str], anchor: date) -> date | None:
    ahead = (_WEEKDAYS.index(found[1].lower()) - anchor.weekday()) % 7
    return anchor + timedelta(days=ahead) if ahead else None


def _zh_weekday(found: re.Match[str], anchor: date) -> date:
    """这周五 and 下周五 name a day of this or the next calendar week; a bare 周五 is one of this week."""
    day = _ZH_WEEKDAYS.index(found[2].replace("天", "日"))
    monday = anchor - timedelta(days=anchor.weekday())
    return monday + timedelta(days=day + (7 if found[1] == "下" else 0))


def _month_end(_found: re.Match[str], anchor: date) -> date:
    return anchor.replace(day=calendar.monthrange(anchor.year, anchor.month)[1])


_RULES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], date], date | None]], ...] = (
    (re.compile(r"\b(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})\b|(?<!\d)(\d{4})年(\d{1,2})月(\d{1,2})[日号]"), _iso),
    (re.compile(r"\b(?:day after tomorrow)\b|后天", re.I), lambda _found, anchor: anchor + timedelta(days=2)),
    (re.compile(r"\btomorrow\b|明天|明日", re.I), lambda _found, anchor: anchor + timedelta(days=1)),
    (
        re.compile(r"\b(?:today|tonight|this (?:morning|afternoon|evening)|eod|end of (?:the )?day)\b|今天|今晚", re.I),
        lambda _found, anchor: anchor,
    ),
    (
        re.compile(
            r"\b(?:in|within|eta:?)(?: is| the)?(?: next)?\s+"
            r"(\d{1,3}|a|an|one|two|three|four|five|six|seven|ten)\s+(days?|weeks?)\b",
            re.I,
        ),
        _relative,
    ),
    (re.compile(r"(\d{1,3}|[一两二三四五六七十])(天|周|个星期|星期)(?:之内|以内|内|后|之后)"), _relative),
    (re.compile(r"\b(?:by|on|before|until|till|this|from)\s+(" + "|".join(_WEEKDAYS) + r")\b", re.I), _weekday),
    (re.compile(r"(这|本|下)?(?:周|星期|礼拜)([一二三四五六日天])"), _zh_weekday),
    (re.compile(r"\b(?:end of (?:the|this) month)\b|月底", re.I), _month_end),
)
_COUNT = r"(?:\d{1,3}|a|an|one|two|three|four|five|six|seven|ten|few|couple of)"
_WORDS = re.compile(
    r"\bday after tomorrow\b|\b(?:(?:by|before|until|till|on|from|in|within|around|eta:?|later)\s+)?(?:the\s+)?(?:"
    r"(?:(?:this|next)\s+)?(?:" + "|".join(_WEEKDAYS) + r")|tomorrow|today|tonight|eod|soon|shortly|\d{4}-\d\d-\d\d"
    rf"|(?:next\s+)?{_COUNT}\s+(?:more\s+)?(?:hours?|(?:(?:business|working|work)\s+)?days?|weeks?|months?)"
    r"|(?:this|next|(?:the\s+)?end of(?:\s+the|\s+this)?)\s+(?:day|week|month|quarter|sprint|morning|afternoon|evening)"
    r"|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d{1,2}(?:st|nd|rd|th)?)\b"
    r"|\d{4}年\d{1,2}月\d{1,2}[日号]|(?:这|本|下)?(?:周|星期|礼拜)[一二三四五六日天](?:前|之前)?|(?:明|后|今)天|今晚|月底|尽快"
    r"|下周|这周|(?:\d{1,3}|[一两二三四五六七十])(?:天|周|个星期|星期|个月)(?:之内|以内|内|后|之后)",
    re.I,
)


_DEADLINE = re.compile(r"(?:by|before|until|till|within|eta:?)\b|.*(?:之?前|之?内|以内)\Z", re.I)


def is_deadline(words: str | None) -> bool:
    """Whether words of `due_words` say by when something ends ("by Monday"), not when it begins ("from Monday")."""
    return words is not None and _DEADLINE.match(words) is not None


def due_words(sentence: str) -> str | None:
    """The words of a sentence that say when, as written; None where none do."""
    found = _WORDS.search(sentence)
    return found[0].strip() if found else None


def due_day(sentence: str, anchor: date) -> date | None:
    """The one day a sentence names, or None where it names none, several, or one that needs a guess.

    Args:
        sentence: the speaker's own words.
        anchor: the UTC day of the message; "tomorrow" is the day after it.
    """
    if _WORKDAY.search(sentence):
        return None
    named: set[date] = set()
    for pattern, day in _RULES:
        for found in pattern.finditer(sentence):
            if pattern is _RULES[1][0] or not _is_part(found, sentence):
                one = day(found, anchor)
                if one is None:
                    return None
                named.add(one)
    return named.pop() if len(named) == 1 else None


def _is_part(found: re.Match[str], sentence: str) -> bool:
    """Whether what was found is the end of "day after tomorrow"."""
    return sentence[: found.start()].lower().rstrip().endswith("day after")
