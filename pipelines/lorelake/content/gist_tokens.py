"""A text as tokens for `content.gist`: concepts, names and quantities, and the words that steer how they are read.

Latin text is cut into words, of which the lexicon's phrases are taken whole; Chinese and Japanese runs into the terms
that the lexicon knows, and what is between them into pairs of characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise

import msgspec

from lorelake.content import gist_words
from lorelake.content.normalise import CJK, normalise


class Token(msgspec.Struct):
    """One token: a concept, or what steers how concepts are read (`end`, `not`, `instead`, `before` …)."""

    kind: str
    value: str = ""
    weight: float = 1.0


_PATTERN = re.compile(
    r"(?P<name>(?:--|\.{0,2}/|~/|[.$@])?[^\W_]\w*(?:(?:[/:\\@]|[._]+)\w+)+|(?:--|/|~/|\.)[a-z]\w*(?:[-/.]\w+)*"
    r"|\w+_\w+)"
    rf"|(?P<number>\d+(?:[.,]\d+)*)(?P<unit>[a-z%]{{0,4}})(?![^\W\d_])"
    rf"|(?P<cjk>[{CJK}]+)"
    r"|(?P<word>[^\W\d_]+(?:'[^\W\d_]+)?\d*(?:\+\+|\#)?)"
    r"|(?P<end>[.!?;,:()。！？；，、：→]+|->|\s[-=]\s)"
)


def tokenise(text: str) -> Iterator[Token]:
    """Tokens of a text in their order."""
    plain = normalise(text).replace("=", " = ")
    spoken = [_Spoken(match) for match in _PATTERN.finditer(_unhyphened(plain))]
    japanese = bool(_KANA.search(plain))
    at = 0
    while at < len(spoken):
        one = spoken[at]
        phrase, used = _phrase(spoken, at)
        if phrase is not None:
            yield phrase
            at += used
            continue
        at += 1
        if one.kind == "name":
            yield from _name(one.text)
        elif one.kind == "number" or (one.kind == "word" and one.text in gist_words.NUMERALS):
            token, used = _quantity(one, spoken[at] if at < len(spoken) else None)
            at += used
            if token is not None:
                yield token
        elif one.kind == "cjk":
            yield from _unspaced(one.text, japanese)
        elif one.kind == "end":
            yield Token("end", one.text)
        elif one.text in ("a", "an") and at < len(spoken) and spoken[at].text in _units():
            yield Token("quantity", f"1 {_units()[spoken[at].text]}")
            at += 1
        else:
            yield from _word(one.text)


class _Spoken:
    """One match of the token pattern."""

    __slots__ = ("kind", "text", "unit")

    def __init__(self, match: re.Match[str]) -> None:
        self.kind = "number" if match.lastgroup == "unit" else str(match.lastgroup)
        self.text = match[self.kind]
        self.unit = match["unit"] or ""


_KANA = re.compile("[\u3040-\u30ff]")
_HYPHEN = re.compile(r"(?<=[^\W\d_])-(?=[^\W\d_])")


def _unhyphened(plain: str) -> str:
    """`hard-coded` as two words; `--force`, paths and versions as they are."""
    return " ".join(
        token if "/" in token or token.startswith("-") else _HYPHEN.sub(" ", token) for token in plain.split(" ")
    )


@cache
def lexicon() -> dict[str, str]:
    """Stemmed word, or words of a phrase, to concept."""
    found: dict[str, str] = {}
    for line in gist_words.CONCEPTS.strip().splitlines():
        terms = [quoted or plain for quoted, plain in re.findall(r'"([^"]+)"|(\S+)', line)]
        for term in terms:
            found.setdefault(" ".join(stem(word) for word in term.replace("-", " ").split()), terms[0])
    return found


@cache
def _longest_phrase() -> int:
    return max(len(term.split()) for term in lexicon())


@cache
def _beginnings() -> dict[str, set[str]]:
    """The stems with which a phrase begins, and the concepts that those phrases name."""
    found: dict[str, set[str]] = {}
    steering = {" ".join(map(stem, words.split())): "" for words in _STEERING}
    for phrase, named in (lexicon() | steering).items():
        if " " in phrase:
            found.setdefault(phrase.split()[0], set()).add(named)
    return found


def may_name(word: str) -> set[str]:
    """The concepts that a normalised word may name, by itself or as the first of a phrase."""
    root = stem(word)
    return {lexicon().get(root, root), *_beginnings().get(root, ())}


@cache
def is_number(word: str) -> bool:
    """Whether a normalised word is a number, as digits or spelt out."""
    return word[:1].isdigit() or word in gist_words.NUMERALS


_STEERING = {
    "instead of": "instead", "rather than": "instead", "plutôt que": "instead", "anstatt": "instead",
    "keep out": "not", "as soon as": "after", "dès que": "after", "not only": "", "nicht nur": "",
    "before": "before", "bevor": "before", "vor": "before", "avant": "before", "until": "before",
    "after": "after", "nach": "after", "après": "after", "once": "after", "when": "end", "then": "then",
    "afterwards": "then", "first": "first", "zuerst": "first",
    "without": "without", "unless": "without", "ohne": "without", "sans": "without",
    "because": "end", "since": "end", "but": "end", "so": "end", "weil": "end", "sondern": "end", "mais": "end",
    "otherwise": "end", "dafür": "end", "in": "place", "for": "place", "at": "place", "im": "place", "pour": "place",
    "plus de": "not",
}  # fmt: skip
"""Words that steer how the concepts after them are read."""


def _phrase(spoken: Sequence[_Spoken], at: int) -> tuple[Token | None, int]:
    """The longest phrase of several words that begins here."""
    if spoken[at].kind != "word" or stem(spoken[at].text) not in _beginnings():
        return None, 0
    words: list[str] = []
    for one in spoken[at : at + _longest_phrase()]:
        if one.kind not in ("word",):
            break
        words.append(one.text)
    for count in range(len(words), 1, -1):
        plain = " ".join(words[:count])
        if plain in _STEERING:
            return Token(_STEERING[plain] or "filler"), count
        named = lexicon().get(" ".join(map(stem, words[:count])))
        if named is not None:
            return Token("concept", named), count
    return None, 0


def _name(text: str) -> Iterator[Token]:
    yield Token("name", text.strip("./~$@") or text)
    if (known := lexicon().get(stem(text))) is not None:
        yield Token("concept", known)


@cache
def _units() -> dict[str, str]:
    return {unit: line.split()[0] for line in gist_words.UNITS.strip().splitlines() for unit in line.split()}


_ONLY_WITH_UNIT = frozenset(("one", "once", "half", "eine", "einen", "1"))


def _quantity(one: _Spoken, after: _Spoken | None) -> tuple[Token | None, int]:
    """A number with the unit that stands behind it, and how many tokens that took."""
    value = gist_words.NUMERALS.get(one.text, one.text).replace(",", "")
    unit, used = _units().get(one.unit, ""), 0
    if not unit and after is not None and after.kind == "word" and after.text in _units():
        unit, used = _units()[after.text], 1
    if not unit and after is not None and after.kind == "cjk":
        unit = next((_units()[after.text[:size]] for size in (2, 1) if after.text[:size] in _units()), "")
    if not unit and one.text in _ONLY_WITH_UNIT:
        return None, 0
    return Token("quantity", f"{value} {unit}".strip()), used


@cache
def stop_words() -> frozenset[str]:
    """Words that say nothing by themselves, of all languages together."""
    return frozenset(gist_words.STOP.split())


@cache
def _weak() -> frozenset[str]:
    return frozenset(form for word in gist_words.WEAK.split() for form in (word, stem(word)))


@cache
def _tools() -> frozenset[str]:
    return frozenset(gist_words.TOOLS.split())


@cache
def _negations() -> frozenset[str]:
    return frozenset(gist_words.NEGATIONS.split())


@cache
def concept(word: str) -> str:
    """The concept that a single normalised word names; the word's stem where the lexicon has none."""
    root = stem(word)
    return lexicon().get(root, root)


def _word(text: str) -> Iterator[Token]:
    if text in _STEERING:
        yield Token(_STEERING[text])
        return
    if text in _negations():
        yield Token("not")
        return
    if text == "over":
        yield Token("over")
    if text in ("keep", "prefer", "choose", "favour", "favor", "out"):
        yield Token(text)
    if text in stop_words():
        return
    if text in _tools():
        yield Token("name", text)
        return
    named = concept(text)
    yield Token("concept", named, 0.3 if named in _weak() else 1.0)


_ENDINGS = (
    "ations", "ation", "ingly", "ings", "ing", "edly", "ied", "ies", "ed", "ers", "er", "es", "en", "s", "e", "ly",
)  # fmt: skip


@cache
def stem(word: str) -> str:
    """A word without the ending that its use gave it; short words stay. The same for a lexicon's word and a text's."""
    word = word.removesuffix("'s").removesuffix("'")
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3 and word.isalpha():
            word = word[: -len(ending)]
            if ending in ("ies", "ied"):
                word += "y"
            break
    if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "sl":
        word = word[:-1]
    return word.removesuffix("e") if len(word) > 4 else word


@cache
def _unspaced_terms() -> tuple[re.Pattern[str], dict[str, Token]]:
    """Chinese and Japanese terms, the longest first, and what each is."""
    terms: dict[str, Token] = {}
    is_cjk = re.compile(f"[{CJK}]")
    for term, named in lexicon().items():
        if is_cjk.search(term):
            terms[term] = Token("concept", named, 0.3 if named in _weak() else 1.0)
    for term in gist_words.CJK_STOP.split():
        terms.setdefault(term, Token("filler"))
    for term in gist_words.CJK_NEGATIONS.split():
        terms[term] = Token("not")
    for term in gist_words.JA_NEGATIONS.split():
        terms[term] = Token("was not" if term != "ではなく" else "was instead")
    for term in ("先", "まず"):
        terms[term] = Token("first forward")
    for term in ("再", "然后", "それから"):
        terms[term] = Token("then")
    for term in ("而是", "因为", "から"):
        terms[term] = Token("end")
    terms["没有"] = Token("without")
    numerals = "|".join(numeral for numeral in gist_words.NUMERALS if is_cjk.match(numeral))
    units = "|".join(unit for unit in sorted(_units(), key=len, reverse=True) if is_cjk.match(unit))
    quantity = f"(?P<numeral>{numerals})(?P<cjkunit>{units}|次|倍|回)"
    known = "|".join(map(re.escape, sorted(terms, key=len, reverse=True)))
    return re.compile(f"{quantity}|(?P<term>{known})"), terms


def _unspaced(run: str, japanese: bool) -> Iterator[Token]:
    pattern, terms = _unspaced_terms()
    done = 0
    for match in pattern.finditer(run):
        yield from _leftover(run[done : match.start()])
        done = match.end()
        if match["numeral"]:
            unit = _units().get(match["cjkunit"], "")
            yield Token("quantity", f"{gist_words.NUMERALS[match['numeral']]} {unit}".strip())
            continue
        token = terms[match["term"]]
        if match["term"] == "禁止":
            token = Token("was not" if japanese else "not")
        elif token.kind == "was not" and not japanese:
            continue
        yield msgspec.structs.replace(token)
    yield from _leftover(run[done:])


def _leftover(run: str) -> Iterator[Token]:
    """Characters that the lexicon does not know, as pairs."""
    for one, other in pairwise(run):
        yield Token("concept", one + other, 0.5)
