"""Two statements about one subject that differ in one value: a number with its unit, a version, a name that is set.

"The timeout is 30 s" and "the timeout is 60 s" have one frame, `the timeout is #s`, and differ in what fills it. A name
counts only where one excludes another ("the region is …", "set the level to …"): two commands to run do not.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from lorelake.content.normalise import normalise, words

ALIKE = 0.6
"""Subject words in common (Jaccard) of two statements whose frames differ."""

_NUMBERS = {
    "once": "1", "twice": "2", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
    "eight": "8", "nine": "9", "ten": "10", "eleven": "11", "twelve": "12",
}  # fmt: skip
_UNITS = {
    "second": "s", "seconds": "s", "sec": "s", "secs": "s", "秒": "s", "minute": "min", "minutes": "min", "mins": "min",
    "分钟": "min", "hour": "h", "hours": "h", "小时": "h", "day": "d", "days": "d", "天": "d", "percent": "%",
    "times": "x", "time": "x", "次": "x",
}  # fmt: skip
_UNIT = (
    r"ms|seconds?|secs?|s|minutes?|mins?|min|hours?|h|days?|d|weeks?|months?|years?|[kmgt]i?b|bytes?|percent|%|px|rps|"
    r"qps|times?|x|characters?|chars?|lines?|rows?|workers?|threads?|retries|attempts|replicas?|秒|分钟|小时|天|次|个|行"
)
_VALUE = re.compile(
    rf"(?P<date>\b\d{{4}}-\d\d(?:-\d\d)?\b)|(?<![\w.#/@-])v?(?P<number>\d+(?:[._,]\d+)*)(?:\s?(?P<unit>{_UNIT})(?![a-z]))?(?![\w%-]|[./:]\w)"
    rf"|\b(?P<word>{'|'.join(_NUMBERS)})\b(?:\s(?P<of>{_UNIT})(?![a-z]))?"
    r"|(?P<name>(?<![\w./-])(?=[a-z0-9_./-]*[_./\d-][a-z0-9])[a-z][a-z0-9_./-]*[a-z0-9])"
)
_CODE_MARK = "codeword_"
"""Set before what stands in backticks, so that one plain word there is seen as a name."""
_CHEAP = re.compile(rf"\d|`|[_/.-][a-z]|{_CODE_MARK}|\b(?:{'|'.join(_NUMBERS)})\b")
_CODE = re.compile(r"`([^`\n]{1,80})`")
_COUNTED = re.compile(
    r"\b(?:steps?|issues?|prs?|mrs?|lines?|pages?|items?|phases?|parts?|options?|sections?|chapters?|adrs?|rules?|"
    r"points?|cases?|no\.?|numbers?|tickets?|tasks?|figures?|tables?|ids?|runs?|rounds?|weeks?|days?|sprints?|rfcs?|"
    r"commits?|bugs?|layers?|stages?|examples?|第)\s*$"
)
_SETS = re.compile(
    r"(?:\b(?:is|are|be|named|called|equals|default(?:s|ed)? to|set (?:[\w-]+ ){0,4}to|lives? (?:in|at|on)|means)|=|"
    r"是|为|叫|设为)\s*$"
)
_EMPTY = frozenset((
    "a", "an", "the", "is", "are", "was", "were", "be", "been", "to", "of", "in", "on", "at", "for", "with", "by",
    "and", "or", "as", "it", "its", "this", "that", "we", "you", "i", "our", "your", "they", "do", "does", "use",
    "uses", "used", "using", "set", "sets", "should", "must", "can", "will", "not", "no", "never", "always", "only",
    "than", "then", "so", "if", "when", "from", "into", "have", "has", "had", "there", "here", "all", "any", "each",
    "per", "up", "out", "over", "under", "about", "的", "了", "是", "在",
))  # fmt: skip
_MASK = re.compile(r"[#@]\S*")


class Read(msgspec.Struct, frozen=True):
    """A statement's frame, its words of substance, and what fills the frame.

    A value is (kind and unit, the word before it, the value): kind is `number` or `name`.
    """

    frame: str
    subject: frozenset[str]
    values: tuple[tuple[str, str, str], ...]


def read(text: str, plain: str) -> Read:
    """Read a statement, given as it is and normalised; one without a value has no values."""
    if "`" in text:
        plain = normalise(_CODE.sub(lambda match: f" {_CODE_MARK}{match[1].strip().replace(' ', '_')} ", text))
    if not _CHEAP.search(plain):
        return Read("", frozenset(), ())
    found: list[tuple[str, str, str]] = []
    frame: list[str] = []
    at = 0
    for match in _VALUE.finditer(plain):
        before = plain[max(match.start() - 60, 0) : match.start()]
        kind = _kind(match, before)
        if kind is None:
            continue
        frame += [plain[at : match.start()], "#" if kind.startswith("number") else "@", kind.partition(" ")[2]]
        found.append((kind, (before.split() or [""])[-1], _value(match)))
        at = match.end()
    if not found:
        return Read("", frozenset(), ())
    masked = "".join([*frame, plain[at:]]).strip(" .!。")
    subject = frozenset(word for word in words(_MASK.sub(" ", masked)) if _tells(word))
    return Read(masked, subject, tuple(found))


def _tells(word: str) -> bool:
    return word not in _EMPTY and len(word) > 1 and not word.startswith(_CODE_MARK.strip("_"))


def _kind(match: re.Match[str], before: str) -> str | None:
    if match["date"] or _COUNTED.search(before):
        return None
    if match["name"]:
        return "name" if _SETS.search(before) else None
    unit = match["unit"] or match["of"] or ""
    return f"number {_UNITS.get(unit, unit)}".strip()


def _value(match: re.Match[str]) -> str:
    if match["name"]:
        return match["name"].removeprefix(_CODE_MARK)
    return match["number"].replace("_", "").replace(",", "") if match["number"] else _NUMBERS[match["word"]]


def changed(older: Read, newer: Read) -> dict[str, Any] | None:
    """What matched and which value changed, or None: no one subject, or more than one value differs."""
    sizes = len(older.subject), len(newer.subject)
    if min(sizes) < ALIKE * max(sizes):
        return None  # whatever they share: subjects of equal frames are equal
    shared = older.subject & newer.subject
    if older.frame == newer.frame:
        pairs = list(zip(older.values, newer.values, strict=True))
        alike = 1.0
    else:
        alike = len(shared) / (sum(sizes) - len(shared)) if shared else 0.0
        if len(shared) < 2 or alike < ALIKE:
            return None
        pairs = _paired(older, newer)
    differ = [(before, after) for before, after in pairs if before[2] != after[2]]
    if len(differ) != 1 or not shared or (differ[0][0][0] == "name" and len(shared) < 2):
        return None
    before, after = differ[0]
    return {
        "subject": sorted(shared),
        "older": before[2],
        "newer": after[2],
        "kind": before[0],
        "similarity": round(alike, 3),
    }


def _paired(older: Read, newer: Read) -> list[tuple[tuple[str, str, str], tuple[str, str, str]]]:
    """Numbers of one unit that stand alone, or after the same word, on both sides."""
    found = []
    for kind in {value[0] for value in older.values} & {value[0] for value in newer.values}:
        if kind == "name":
            continue
        before = [value for value in older.values if value[0] == kind]
        after = [value for value in newer.values if value[0] == kind]
        if len(before) == len(after) == 1:
            found.append((before[0], after[0]))
        else:
            by_word = {value[1]: value for value in before}
            found += [(by_word[value[1]], value) for value in after if value[1] in by_word]
    return found
