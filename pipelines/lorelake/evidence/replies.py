"""What a reply tells another person to do, and why: its concrete sentences, with the code that belongs to them.

Concrete is a step ("set the limit to 64"), a cause ("it is read once, at start") or a statement about a named thing
(a setting, a path, a command). A promise, a request for logs, a link, a liked product, "fixed in 1.4", a state that
passes and what the answerer did by hand are none: nobody could act on them a year later.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import msgspec

from lorelake.evidence import cues
from lorelake.evidence.conversations import FENCE, is_log, says, spoken, without_opening, worded
from lorelake.evidence.prose import Sentence
from lorelake.evidence.said import is_hedged, matter, reason_in

_TOOLS = (
    "aws|brew|cargo|composer|curl|docker|dotnet|gcloud|git|go (?:build|env|get|install|mod|run|test|vet)|gradle|helm"
    "|kubectl|mvn|npm|npx|pip|pnpm|poetry|psql|pytest|rake|systemctl|terraform|uv|yarn"
)
_NAMED_THING = re.compile(
    r"`[^`\n]+`|(?<!\w)--?[a-z][\w-]{2,}|\b\w+_\w+|\b[a-z]+[A-Z]\w+|(?<![\w/])~?/[\w.-]+/[\w./-]+"
    r"|\b\w[\w-]*\.(?:ya?ml|json|toml|py|go|js|ts|sh|sql|conf|cfg|ini|env|xml|md|txt|lock|jar)\b"
    r"|\b\w+(?:\.\w+)+\(|\b\w+\((?!s\))(?:[\w.]+(?:, ?[\w.]+)*)?\)|\b\w+\[['\"]"
    r"|\b[A-Za-z_][\w.-]*=\S|\*[A-Z]\w+(?: \w+){0,3}\*"
    rf"|\b\d{{1,3}}(?:\.\d{{1,3}}){{3}}\b|\b(?:{_TOOLS}) -{{0,2}}[a-z][\w-]+"
)
"""A setting, path, flag, file, call, assignment, code, or the bold name of a switch."""

_ADDRESS = re.compile(r"https?://\S+|\b[\w.-]+\.(?:com|io|org|dev|net)/\S+")
_BEFORE_FENCE = re.compile(r"[\s:：]*")
_JOINT = re.compile(r"^(?:(?:or|and|then|but|next|so)\b[, ]*)+", re.I)
_THE_CAUSE_IS = re.compile(
    r"^(?:(?:so|well|yes|no|hi|hey)[,. ]+)*(?:because (?!of\b)"
    r"|the (?:reason|issue|problem|cause)(?: \w+){0,2}? is (?:that |because (?:of )?))"
    r"|^因为",
    re.I,
)
"""How a sentence announces the cause that it goes on to tell."""

_MOST_SENTENCES = 4
_MOST_CODE_LINES = 8
_FEWEST_WORDS = 3
_FEWEST_TOLD = 8
_ONE_PERSON = re.compile(r"(?:i|i'[a-z]+|me|my|we had|we've|thanks|great|good|no idea)\b|我", re.I)
_ASIDE = ("", "(", "（")
_CAREFUL = re.compile(
    r"^\W*(?:(?:well|hm+|ok|hi|hey)[,. ]+)*"
    r"(?:you (?:can|may)(?: want to)?(?: also)?|i(?:'d| would) try(?: to)?|try(?: to)?)[, ]*",
    re.I,
)
_WORKED = "worked"
_TAKEN_UP = (_WORKED, "understood")
"""Confirmations that say more than thanks."""

_DISMISSED = ("asks_back", "promise", "tip", "volatile", "dated")


class Reply(msgspec.Struct, frozen=True):
    """The part of a message that answers.

    `start:end` is its place in the event's text, `do` what to do (or what is so), `because` the cause it names,
    `named` whether it names a setting, path, command or code, `stepwise` whether it tells what to do, `causal` whether
    it tells why. `witness` is the same sentences as they stand in the source, one after the other. `telling` is the one
    sentence of `do` that says most by itself: what cures it, else why it is so.
    """

    start: int
    end: int
    do: str
    because: str | None
    named: bool
    stepwise: bool
    causal: bool
    witness: str
    telling: str

    @property
    def weight(self) -> int:
        """How much of an answer it is: a step, a cause and a named thing each add to it."""
        return 2 * self.stepwise + 2 * self.causal + self.named


class _Part(msgspec.Struct, frozen=True):
    """A sentence that answers; `told` is what it comes to where that is not the sentence itself."""

    sentence: Sentence
    end: int
    code: str
    is_step: bool
    is_cause: bool
    is_named: bool
    told: str = ""


class _Heard(msgspec.Struct, frozen=True):
    """How a reply was taken: as the speaker's own story, as an answer to what was asked, with which confirmation."""

    own_story: bool
    asked: AbstractSet[str]
    confirmed: str


def read_reply(
    text: str, own_story: bool = False, asked: AbstractSet[str] = frozenset(), confirmed: str = ""
) -> Reply | None:
    """The concrete part of a message, or None where it holds none or its core is in doubt.

    Args:
        text: the event's text.
        own_story: the speaker tells how they solved it themselves, so what they did by hand is the answer.
        asked: words of the question; a full sentence that speaks of them answers it, also where it names nothing.
        confirmed: how the asker confirmed it, `""` where nobody did. What worked is told as a step, and what was put
            as a question ("did you try `-B`?") then says what to do. A hedge stays a hedge.
    """
    heard = _Heard(own_story, asked, confirmed)
    fences = [match for match in FENCE.finditer(text) if not is_log(match[1] or match[2] or "")]
    message = spoken(text)
    found = [(at, part) for at, one in enumerate(message) if (part := _part(text, one, fences, heard)) is not None]
    if not found:
        return _bare_code(fences) if not message else None
    sure = [(at, part) for at, part in found if part.told or not is_hedged(message, at)]
    if found[0] not in sure or _is_release_note(message):
        return None
    sure = sure[:_MOST_SENTENCES]
    kept = [part for _, part in sure if part.is_cause or not says("only_version", part.sentence)]
    before = _spoken_of(message, sure[0][0]) if kept and kept[0] is sure[0][1] else None
    return _reply([before, *kept] if before else kept)


def _is_release_note(message: Sequence[Sentence]) -> bool:
    """Whether a message only says in which version it is fixed, and how to get that one, but not what was wrong."""
    fixed = any(says("only_version", one) and not says("step", one) for one in message)
    return fixed and not any(says("cause", one) and not says("step", one) for one in message)


def _spoken_of(message: Sequence[Sentence], at: int) -> _Part | None:
    """The statement right before the first concrete sentence, which tells what that is about or why it is so."""
    if at == 0:
        return None
    before = message[at - 1]
    plain = without_opening(_ADDRESS.sub(" ", before.own)).strip()
    is_small = len(plain.split()) <= _FEWEST_WORDS and plain.isascii()
    says_nothing = before.is_question or is_small or _is_dismissed(before, False, False, False)
    if says_nothing or plain[:1] in _ASIDE or _ONE_PERSON.match(plain) or says("thanked", before):
        return None
    return _Part(before, before.end, "", False, False, bool(_NAMED_THING.search(plain)))


def _reply(parts: list[_Part]) -> Reply | None:
    if not parts:
        return None
    steps = [part for part in parts if part.is_step]
    others = [part for part in parts if not part.is_step]
    because = " ".join(_worded(part) for part in others) if steps else None
    because = because or next(filter(None, (reason_in(part.sentence.own) for part in parts)), None)
    do = " ".join(_worded(part) for part in (steps or parts))
    if not any(part.is_step or part.is_cause for part in parts) and len(do.split()) < _FEWEST_WORDS:
        return None
    witness = " ".join(f"{part.sentence.text} {part.code}".strip() for part in parts)
    named, causal = any(part.is_named for part in parts), any(part.is_cause for part in parts)
    start, end = parts[0].sentence.start, max(part.end for part in parts)
    told = (
        max(steps, key=lambda part: part.is_named)
        if steps
        else max(parts, key=lambda part: (part.is_cause, part.is_named))
    )
    telling = worded(_THE_CAUSE_IS.sub("", _worded(told)))
    return Reply(start, end, do, because, named, bool(steps), causal, witness, telling)


def _worded(part: _Part) -> str:
    text = _JOINT.sub("", without_opening(part.told or part.sentence.text))
    text = (" ".join(text.split()) if _NAMED_THING.match(text) else worded(text)).rstrip(":： ")
    text = f"{text}: {part.code}" if part.code else text
    if text.endswith((".", "!", "`", "。", "！")):
        return text
    return text + ("." if text.isascii() else "。")


def _part(text: str, sentence: Sentence, fences: Sequence[re.Match[str]], heard: _Heard) -> _Part | None:
    """A sentence as part of an answer, or None where it says nothing to act on."""
    end, code = sentence.end, ""
    gap = _BEFORE_FENCE.match(text, sentence.end)
    fence = next((one for one in fences if gap and one.start() == gap.end()), None)
    if fence is not None:
        end, code = fence.end(), _inline(fence[1] or fence[2] or "")
    if sentence.is_question:
        return _offered(sentence, end, code) if heard.confirmed in _TAKEN_UP else None
    plain = without_opening(_ADDRESS.sub(" ", sentence.own))
    is_step, is_cause = says("step", sentence), says("cause", sentence)
    told = _proven(sentence) if heard.confirmed == _WORKED else ""
    is_step = is_step or bool(told)
    is_named = bool(code) or bool(_NAMED_THING.search(plain))
    is_told = len(plain.split()) >= _FEWEST_TOLD and bool(matter(sentence.own) & heard.asked)
    if not (is_step or is_cause or is_named or is_told) or plain.lstrip()[:1] in _ASIDE:
        return None
    is_short = not is_named and plain.isascii() and len(plain.split()) < _FEWEST_WORDS
    if is_short or _is_dismissed(sentence, is_step, is_cause, heard.own_story):
        return None
    return _Part(sentence, end, code, is_step, is_cause, is_named, told)


def _proven(sentence: Sentence) -> str:
    """What a politely put step ("I'd try to set it to 64") comes to once it worked; `""` where it is none."""
    careful = _CAREFUL.match(sentence.text)
    rest = sentence.text[careful.end() :] if careful else ""
    return rest if rest and cues.find("step", rest) else ""


def _offered(question: Sentence, end: int, code: str) -> _Part | None:
    """A named thing put as a question ("did you try `-B`?") as the step it comes to, or None."""
    found = cues.find("offered", without_opening(question.own))
    thing = found.named.get("object", "") if found else ""
    if found is None or not (code or _NAMED_THING.search(thing)):
        return None
    use = "Use " if found.cue.language == "en" and _NAMED_THING.match(thing) else ""
    return _Part(question, end, code, True, False, True, f"{use}{thing}")


def _is_dismissed(sentence: Sentence, is_step: bool, is_cause: bool, own_story: bool) -> bool:
    if any(says(family, sentence) for family in _DISMISSED):
        return True
    if not own_story and not is_cause and says("by_hand", sentence):
        return True
    if not is_step and says("concession", sentence):
        return True
    if not own_story and not is_step and not is_cause and says("worked", sentence):
        return True
    return says("failed_again", sentence) and not is_step and not is_cause


def _bare_code(fences: Sequence[re.Match[str]]) -> Reply | None:
    if len(fences) != 1:
        return None
    code = fences[0]
    inner = _inline(code[1] or code[2] or "")
    return Reply(code.start(), code.end(), inner, None, True, False, False, inner, inner) if inner else None


def _inline(code: str) -> str:
    """A code block of a few lines as inline code, line by line; nothing of a longer one, which the quote shows."""
    lines = [line.strip() for line in code.splitlines() if line.strip()]
    return ", ".join(f"`{line}`" for line in lines) if len(lines) <= _MOST_CODE_LINES else ""


def exceptions_in(text: str) -> list[str]:
    """What the answerer says the answer is not for, each as `speaker: words`."""
    return [f"speaker: {one.text}" for one in spoken(text) if cues.find("exception", one.own) and not one.is_question]
