"""Which words settle what a text says: two nearly equal texts that differ in one of them say different things.

`port 8080` and `port 9090`, `always` and `never`, `use pnpm, not npm` and `use npm, not pnpm` are near by their word
bigrams. The second of such a pair corrects, contradicts or replaces the first; it is no copy of it. Standard library.

- Numbers, and words that are identifiers by their look, must be the same.
- What a negation takes away must be the same: the first word with a meaning after each `not`, `never`, `instead of`.
- No word may stand where the other text has its opposite (`before` and `after`, Monday and Friday).
- No two words may have changed places, and no negation may have moved.

A plain word in place of another plain word is not seen; the threshold of the comparison is all that speaks there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from difflib import SequenceMatcher

from lorelake.content.normalise import words


def _all(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NEGATIONS = _all(
    "no not never none nothing nobody nor neither without cannot dont doesnt didnt cant couldnt wont wouldnt shouldnt "
    "mustnt isnt arent wasnt werent"
)
_PREFERRING = frozenset((("instead", "of"), ("rather", "than")))
_DENYING = _NEGATIONS | {"instead", "rather"}
_NUMERALS = _all(
    "zero two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty sixty ninety "
    "hundred thousand million half twice double triple"
)
_FUNCTION = _all(
    "a an the this that these those it its is are was were be been being do does did to of in on at as by for with and "
    "or so then than we you i they he she our your my us me them will would shall should must can could may might "
    "please just ever even also really again use using used any all some directly simply only have has had"
)
"""Words that an edit may drop or add anywhere. `use` is one, because `not use npm` and `not npm` say the same."""

_OPPOSITES = """
before/after | above/below | over/under | more/less fewer | first/last | up/down | left/right | on/off | true/false
yes/no | min minimum/max maximum | old/new | internal/external | inside/outside | public/private | local/remote
sync synchronous/async asynchronous | ascending/descending | required mandatory/optional | must/may might | use/avoid
upper/lower | input/output | client/server | success/failure | earlier/later | forward/backward | primary/replica
production prod/staging/development dev | small/large | higher/lower | often/rarely | and/or
monday/tuesday/wednesday/thursday/friday/saturday/sunday | morning/evening | daily/weekly/monthly/yearly
january/february/march/april/june/july/august/september/october/november/december | seconds/minutes/hours/days/weeks
之前/之后 | 以前/以后 | 开启 打开/关闭 | 启用/禁用 | 允许/禁止 | 必须/可以 | 增加/减少 | 同步/异步
最大/最小 | 以上/以下 | 添加/删除 | 开始/停止 | 内部/外部 | 本地/远程 | 公开/私有
总是/从不 | 线上/线下 | 升级/降级 | 有効/無効 | 前に/後に
"""
_OPPOSITE_ACTS = """
enable/disable | allow/forbid deny block | open/close | start/stop | add/remove delete | increase/decrease
raise/lower | read/write | push/pull | include/exclude | accept/reject | keep/drop delete
upgrade/downgrade | install/uninstall | lock/unlock | encode/decode | encrypt/decrypt
mount/unmount | import/export | show/hide | send/receive
"""
_INFLECTED = ("", "s", "d", "ed", "ing")


def _senses() -> dict[str, frozenset[tuple[int, int]]]:
    found: dict[str, set[tuple[int, int]]] = {}
    plain = [(group, ("",)) for group in re.split(r"[|\n]", _OPPOSITES)]
    acts = [(group, _INFLECTED) for group in re.split(r"[|\n]", _OPPOSITE_ACTS)]
    for number, (group, endings) in enumerate((*plain, *acts)):
        for side, synonyms in enumerate(group.split("/")):
            for word in synonyms.split():
                for form in (stem + ending for stem in _stems(word) for ending in endings):
                    found.setdefault(form, set()).add((number, side))
    return {word: frozenset(sides) for word, sides in found.items()}


def _stems(word: str) -> tuple[str, ...]:
    """As it is, and as it is before `-ing`: writ-ing, stopp-ing. A form that is no word does no harm."""
    return (word, word[:-1] if word.endswith("e") else word + word[-1])


_SENSES = _senses()


def senses_of(word: str) -> frozenset[tuple[int, int]]:
    """(group, side) of each pair of opposites that a normalised word is one side of."""
    return _SENSES.get(word, frozenset())


def other_sides(sides: Set[tuple[int, int]]) -> frozenset[tuple[int, int]]:
    """The sides that stand against those of a text, of each group of which the text has one side only."""
    groups = {group for group, _ in sides}
    return frozenset(
        (group, side)
        for found in _SENSES.values()
        for group, side in found
        if group in groups and (group, side) not in sides
    )


_SYMBOL = re.compile(r"\w[_./:\\@]+\w|^(?:--|\.{0,2}/|~/|[.$@!])\w|\w(?:\+\+|#)$|^redacted:")
_NO_IDENTIFIER = frozenset(("e.g", "i.e", "and/or", "a.m", "p.m", "he/she", "yes/no", "w/o"))
_LIST_MARK = re.compile(r"^\s*(?:[-*+]\s+)?\(?\d{1,3}[.)]\s+")
_CODE = re.compile(r"`([^`\n]{1,80})`|\b([A-Za-z][a-z0-9]+[A-Z]\w{0,60})")
_CJK_NEGATION = re.compile(
    r"(?<![特区级类识分个辨])别(?![的人名])|(?<!差)不(?![仅但管过断])|[没勿莫禁]|未(?!来)|非(?!常)|无(?!论)|ない|ません"
)
_CJK_NUMERAL = re.compile(r"十分|千万|万一|([二三四五六七八九十百千万两]+)")


def settled_by(text: str, found: Sequence[str]) -> tuple[str, ...]:
    """What a near copy must have too: its numbers and identifiers, then what its negations take away.

    Args:
        text: the text.
        found: `normalise.words(text)`, which the caller has.

    Returns:
        Sorted words; equal for texts that may be copies of each other.
    """
    distinct = set(found)
    settling = set(filter(_looks.__getitem__, distinct))
    if settling and (mark := _LIST_MARK.match(text)):
        settling -= set(words(mark[0])) - set(words(text[mark.end() :]))
    keys = [*sorted(settling)]
    if not distinct.isdisjoint(_DENYING) or "'" in text or "’" in text:
        keys += sorted(f"not {word}" for word in _negated(found))
    if not text.isascii():
        keys += ["not"] * len(_CJK_NEGATION.findall(text))
        keys += [number for number in _CJK_NUMERAL.findall(text) if number]
    return tuple(keys)


class _Looks(dict[str, bool]):
    """Whether a word is a number or an identifier by its look. Remembered: the words of a lake are few."""

    def __missing__(self, word: str) -> bool:
        if len(self) >= 1 << 18:
            self.clear()
        self[word] = _looks_settling(word)
        return self[word]


_looks = _Looks()


def _looks_settling(word: str) -> bool:
    if word.isalpha():
        return word in _NUMERALS
    if any(character.isdigit() for character in word):
        return True
    return bool(_SYMBOL.search(word)) and word not in _NO_IDENTIFIER


def _negated(found: Sequence[str]) -> Iterator[str]:
    for place, word in enumerate(found):
        before = found[place - 1] if place else ""
        if is_negation(word) or (before, word) in _PREFERRING:
            yield next((other for other in found[place + 1 :] if other not in _FUNCTION), "")


def is_negation(word: str) -> bool:
    """Whether a normalised word denies what follows it."""
    return word in _NEGATIONS or word.endswith("n't")


def differ(left: str, right: str, left_words: Sequence[str], right_words: Sequence[str]) -> bool:
    """Whether two near texts with equal `settled_by` say different things all the same.

    Args:
        left: one text.
        right: the other.
        left_words: `normalise.words(left)`.
        right_words: `normalise.words(right)`.
    """
    one, other = set(left_words), set(right_words)
    removed, added = one - other, other - one
    if any(_are_opposites(word, instead) for word in removed if word in _SENSES for instead in added):
        return True
    if _code_missing(left, other) or _code_missing(right, one):
        return True
    edited = removed | added
    kept = [[word for word in found if word not in edited] for found in (left_words, right_words)]
    return kept[0] != kept[1] and _reordered(left_words, right_words)


def _are_opposites(word: str, other: str) -> bool:
    sides = _SENSES.get(other, frozenset())
    return any(group == also and side != against for group, side in _SENSES[word] for also, against in sides)


def _code_missing(text: str, other: Set[str]) -> bool:
    """A word marked as code, or in CamelCase, that the other text does not have. Marks may be missing, words not."""
    if "`" not in text and text.islower():
        return False
    return any(
        word not in other and word not in _FUNCTION
        for span, name in _CODE.findall(text)
        for word in words(span or name)
    )


def _reordered(left: Sequence[str], right: Sequence[str]) -> bool:
    """Whether words with a meaning changed places. A whole phrase that moved, order kept, says the same there."""
    removed: list[tuple[bool, list[str]]] = []
    added: list[tuple[bool, list[str]]] = []
    for kind, a, b, c, d in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if kind != "equal":
            alone = kind != "replace"
            removed.append((alone, [word for word in left[a:b] if word not in _FUNCTION]))
            added.append((alone, [word for word in right[c:d] if word not in _FUNCTION]))
    for alone, gone in removed:
        for also_alone, come in added:
            if not gone or not come or set(gone).isdisjoint(come):
                continue
            moved_whole = alone and also_alone and gone == come
            if not moved_whole or any(is_negation(word) for word in gone):
                return True
    return False
