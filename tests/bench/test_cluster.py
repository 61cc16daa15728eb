"""What clustering 100,000 claims costs, and how well it finds planted copies: `make bench` prints the figures.

Sentences are made of common words with the frequencies of a language, with the commands, paths, numbers and negations
that engineers write. A copy has one or two small edits; a contrast has one word that settles what is said changed.
"""

from __future__ import annotations

import random
import sys
import time
from datetime import UTC, datetime, timedelta
from itertools import accumulate

import pytest

from lorelake.content.normalise import claim_id
from lorelake.content.similarity import jaccard
from lorelake.learnings.clusters import NEAR, Member, clusters

CLAIMS = 100_000
COPIES = 20_000
CONTRASTS = 5_000
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
OPENINGS = ("always", "please", "we", "never", "in this repository we", "make sure to", "if it fails,", "do not", "now")
FILLERS = ("again", "please", "really", "here", "too", "now", "everyone", "folks")
FUNCTION = ("the", "a", "to", "of", "in", "and", "for", "with", "on", "so")
SYLLABLES = [a + b for a in "bdfgklmnprstv" for b in ("a", "e", "i", "o", "u", "an", "en", "or", "is", "at")]


class Sentences:
    """A language of 9,000 words, the commonest as frequent as those of a real one, from one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        made = ["".join(self.random.choices(SYLLABLES, k=self.random.choice((1, 2, 2, 3)))) for _ in range(9_000)]
        self.words = list(dict.fromkeys([*FUNCTION, *made]))
        self.weights = list(accumulate(1 / (rank + 2.7) for rank in range(len(self.words))))

    def sentence(self) -> list[str]:
        """12 to 40 words."""
        pick = self.random
        found = [*pick.choice(OPENINGS).split(), *self._words(pick.randint(11, 34))]
        for special in (f"`make {self._words(1)[0]}`", f"src/{'/'.join(self._words(2))}.py", str(pick.randrange(9999))):
            if pick.random() < 0.3:
                found.insert(pick.randrange(4, len(found)), special)
        return found

    def _words(self, count: int) -> list[str]:
        return self.random.choices(self.words, cum_weights=self.weights, k=count)

    def copy(self, of: list[str]) -> list[str]:
        """The sentence with one or two edits that a person makes who says it again."""
        found = list(of)
        for _ in range(self.random.choice((1, 1, 2))):
            at = self.random.randrange(3, len(found))
            edit = self.random.randrange(4)
            if edit == 0:
                found.insert(at, self.random.choice(FILLERS))
            elif edit == 1 and found[at] in FUNCTION:
                del found[at]
            elif edit == 2:
                found.append(self.random.choice(FILLERS))
            else:
                found[0] = found[0].title()
                found[-1] += "."
        return found

    def contrast(self, of: list[str]) -> list[str]:
        """The sentence with another number, or turned into its opposite."""
        number = next((at for at, word in enumerate(of) if word.isdigit()), None)
        if number is not None:
            return [*of[:number], str(int(of[number]) + 1), *of[number + 1 :]]
        if of[0] in ("always", "never"):
            return ["never" if of[0] == "always" else "always", *of[1:]]
        return [*of[:5], "not", *of[5:]]


def member(number: int, text: str) -> Member:
    return Member(
        claim_id=claim_id("team", text), signal_id=f"s{number}", audience="team", witness=text, is_authored=False,
        is_reviewed=False, document=None, ts=BEGAN + timedelta(minutes=number),
    )  # fmt: skip


def timed(texts: list[str]) -> tuple[list[Member], dict[str, str], float]:
    members = [member(number, text) for number, text in enumerate(texts)]
    began = time.process_time()
    found = clusters(members)
    return members, found, time.process_time() - began


def say(what: str, value: str) -> None:
    sys.stderr.write(f"\n  {what:<58} {value}")


def test_hundred_thousand_claims_of_one_audience():
    language = Sentences(11)
    originals = [language.sentence() for _ in range(CLAIMS - COPIES - CONTRASTS)]
    texts = [" ".join(words) for words in originals]
    planted: list[tuple[int, int, bool]] = []
    for number in range(COPIES + CONTRASTS):
        of = language.random.randrange(len(originals))
        is_copy = number < COPIES
        made = " ".join(language.copy(originals[of]) if is_copy else language.contrast(originals[of]))
        planted.append((of, len(texts), is_copy))
        texts.append(made)
    members, found, seconds = timed(texts)
    wanted = missed = wrong = 0
    for of, at, is_copy in planted:
        one, other = members[of], members[at]
        together = found[one.claim_id] == found[other.claim_id]
        if is_copy and jaccard(one.witness, other.witness) >= NEAR:
            wanted += 1
            missed += not together
        elif not is_copy:
            wrong += together
    by_claim = {one.claim_id: one.witness for one in members}
    joined = [(claim, to) for claim, to in found.items() if claim != to]
    below = sum(jaccard(by_claim[claim], by_claim[to]) < NEAR for claim, to in joined)
    recall = 1 - missed / wanted
    say("clustering 100k claims of one audience, CPU seconds", f"{seconds:.2f}")
    say("planted near copies found, of those at the threshold", f"{recall:.4f} of {wanted}")
    say("claims joined; of these below the threshold", f"{len(joined)}; {below}")
    say("contrasts (another number, negated) joined with their like", f"{wrong} of {CONTRASTS}")
    assert recall >= 0.99
    assert wanted > COPIES * 0.8
    assert (below, wrong) == (0, 0)


@pytest.mark.parametrize("shape", ["copies", "numbered", "few_words", "template"])
def test_shapes_that_are_hard(shape):
    """20,000 claims: copies of one; a template with numbers; a language of 60 words; a template with rare words."""
    language = Sentences(7)
    pick = language.random
    base = " ".join(language._words(30))
    few = language.words[:60]
    makes = {
        "copies": lambda n: f"{base} {language.words[n % 6000]} {'again ' * (n // 6000)}",
        "numbered": lambda n: f"{base} after {n} seconds",
        "few_words": lambda n: " ".join(pick.choices(few, k=16)),
        "template": lambda n: f"{base} {' '.join(pick.choices(language.words[4000:], k=6))}",
    }
    _, found, seconds = timed([makes[shape](n) for n in range(20_000)])
    say(f"20k claims, {shape}: CPU seconds; learnings", f"{seconds:.2f}; {len(set(found.values()))}")
