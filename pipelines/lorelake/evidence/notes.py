"""What a note without named sections advises: the sentences around its first command, else those that tell what to do.

Such a note mostly opens with how its author came to it. The words that lead to a line of code, and the line, are what
a reader keeps.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lorelake.evidence.prose import Sentence
from lorelake.evidence.said import matter

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*([\w+-]*)[^\n]*\n(.*?)(?:^[ \t]*\1[^\n]*$|\Z)", re.M | re.S)
_SHELLS = frozenset(("", "bash", "sh", "shell", "zsh", "console", "fish", "shell-session", "shellsession", "terminal"))
_PROMPT = re.compile(r"^(?:\$|%|❯|>)[ \t]+")
_COMMAND = re.compile(r"^[a-z][\w./-]+(?:[ \t]+\S+)+$")
_NO_COMMAND = re.compile(r"[{};]\s*$|^\w+\s*[=:(]|^(?:def|class|import|from|return|if|for|with|const|let|var)\b")
_LONGEST_CODE = 120
_FEWEST_LEAD_WORDS = 8
_POINTS_BACK = re.compile(
    r"^(?:it|this|that|these|those|there|here|like so|to do (?:this|so|that)|for (?:this|that|example|instance)|then|so"
    r"|e\.g\.|instead|another|also|which)\b|\b(?:like so|as follows|following|the above|this)\b[^.]{0,12}:$",
    re.I,
)
_ASIDE = re.compile(
    r"^(?:see|read more|for more|more details?|source|sources|check out|you can (?:read|find) more|h/t|thanks|credit"
    r"|hat tip|reference|docs?|\[?source)\b|\bmore (?:details|about|info|on)\b|\bfor additional (?:details|info)",
    re.I,
)
_ADVISES = re.compile(
    r"\b(?:(?:you|we|i|one) (?:can|could|need to|have to|should|must|want to use|just|simply|ran|run|use)"
    r"|allows? (?:you|me|us)|lets? (?:you|me|us)"
    r"|(?:best|better|easiest|simplest|quickest|another|right) way|the solution|the trick|the fix"
    r"|with the `|using (?:the )?`|by (?:\w+ly )?\w+ing|flags?\b|is to \w+)"
    r"|^(?:use|run|add|set|pass|include|make|put|call|open|press|type|create|install|give|try|avoid|never|always|don't)\b",
    re.I,
)
_LOOKS_AROUND = re.compile(
    r"(?:ls|cat|cd|pwd|docker ps|git (?:status|branch|reflog|log --oneline|stash list|remote -v)|python3?)(?: --?\S+)?$"
)
_UNFINISHED = re.compile(r"[a-z]+[ ,]")
"""A sentence that begins in the middle: its beginning stands before a block of code."""

_MOST_SENTENCES = 3


def advising(text: str, title: str, found: Sequence[Sentence], start: int, end: int) -> list[Sentence]:
    """The sentences of a passage that advise, at most three; the last but one may hold a line of code.

    Args:
        title: the note's title; of several commands the one that speaks of it most is meant.
        found: the sentences of the passage that stand by themselves, in order.
        start, end: the passage in the text.
    """
    kept = [s for s in found if not _ASIDE.search(s.text)]
    about = matter(title)
    led = [chosen for block in _FENCE.finditer(text, start, end) if (chosen := _around(text, kept, block))]
    if led:
        return max(enumerate(led), key=lambda entry: (_share(about, entry[1]), -entry[0]))[1]
    return _telling(kept, about)


def _share(about: set[str], chosen: Sequence[Sentence]) -> int:
    """How many of the title's words are in the sentences, those in the command twice."""
    words = matter(" ".join(s.text for s in chosen))
    command = next((matter(s.text[len(s.own) :]) for s in chosen if len(s.text) > len(s.own)), set())
    return len(about & words) + len(about & command)


def _around(text: str, found: Sequence[Sentence], block: re.Match[str]) -> list[Sentence]:
    """What leads to the command of a fenced block, with it, and what is said of a command that stands alone."""
    command = _command(block)
    lead = [n for n, s in enumerate(found) if s.end <= block.start() and not text[s.end : block.start()].strip()]
    if command is None or not lead or _UNFINISHED.match(found[lead[-1]].text):
        return []
    last = found[lead[-1]]
    line = _PROMPT.sub("", text[:command].rpartition("\n")[2].strip())
    if _LOOKS_AROUND.match(line):
        return []
    if f"`{line}`" in last.text:
        command = last.end
    chosen = [*_before(text, found, lead[-1]), Sentence(last.start, command, text[last.start : command], last.own)]
    following = next((s for s in found if s.start >= block.end()), None)
    alone = not text[command : block.end()].strip(" \t\n`~")
    if alone and following and not text[block.end() : following.start].strip():
        chosen += [] if following.text.endswith((":", "：", "?")) or _UNFINISHED.match(following.text) else [following]
    return chosen


def _command(block: re.Match[str]) -> int | None:
    """Where the first command of a fenced block ends, or None where its first line is none, or too long."""
    if block[2].lower() not in _SHELLS:
        return None
    position = block.start(3)
    for line in block[3].splitlines(keepends=True):
        words = line.strip()
        if words and not words.startswith("#"):
            bare = _PROMPT.sub("", words)
            is_command = bare != words or (_COMMAND.match(bare) and not _NO_COMMAND.search(bare))
            if not is_command or len(bare) > _LONGEST_CODE or bare.endswith("\\"):
                return None
            return position + len(line.rstrip())
        position += len(line)
    return None


def _before(text: str, found: Sequence[Sentence], at: int) -> list[Sentence]:
    """The sentence before a lead that cannot stand alone, of the same paragraph or the one before."""
    lead = found[at]
    needs = len(lead.text.split()) < _FEWEST_LEAD_WORDS or bool(_POINTS_BACK.search(lead.text))
    if (
        not needs
        or at == 0
        or not found[at - 1].text.endswith((".", "!", ")", "。"))
        or "```" in text[found[at - 1].end : lead.start]
    ):
        return []
    return [found[at - 1]]


def _telling(found: Sequence[Sentence], about: set[str]) -> list[Sentence]:
    """From the sentence that says what to do in most of the title's words; from the first one where none does."""
    whole = [s for s in found if not s.is_question and not s.text.endswith((":", "："))]
    advises = [n for n, s in enumerate(whole) if _ADVISES.search(s.text)]
    first = max(advises, key=lambda n: (len(about & matter(whole[n].text)), -n), default=0)
    if first and _POINTS_BACK.match(whole[first].text):
        first -= 1
    return whole[first : first + _MOST_SENTENCES]
