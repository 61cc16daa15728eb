"""What was taken out does not come back in other words, and its neighbours stay: every text of the suite, compared."""

import tomllib
from pathlib import Path

import pytest

from lorelake.content import gist_signature as signing

LESSONS = tomllib.loads(Path(__file__).with_name("tombstone_paraphrases.toml").read_text(encoding="utf-8"))["lesson"]
KEY = b"k" * 32


def texts(lesson, kind):
    return [entry.split(": ", 1)[1] for entry in lesson.get(kind, ())]


def meets(text, lesson, key=KEY):
    return signing.compare(signing.candidate(text, key=key), signing.hashed(signing.signature(lesson["text"], key=KEY)))


def test_the_suite_is_as_large_as_it_says():
    counts = {kind: sum(len(texts(lesson, kind)) for lesson in LESSONS) for kind in ("again", "stay", "missed", "held")}
    assert counts == {"again": 148, "stay": 148, "missed": 2, "held": 2}
    whys = {entry.split(": ", 1)[0] for lesson in LESSONS for entry in (*lesson["again"], *lesson["stay"])}
    assert whys >= {"synonyms", "shorter", "longer", "reordered", "register", "translated", "turned round", "negation"}


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson["text"][:30])
def test_every_way_of_saying_it_again_is_met_and_no_neighbour_is(lesson):
    assert meets(lesson["text"], lesson) == ("same", 1.0)
    assert [text for text in texts(lesson, "again") if meets(text, lesson) is None] == []
    assert [text for text in texts(lesson, "stay") if meets(text, lesson) is not None] == []


def test_what_the_comparison_cannot_do_is_written_down():
    """Should it learn to, the entry moves to the others, and the docs count anew."""
    assert all(meets(text, lesson) is None for lesson in LESSONS for text in texts(lesson, "missed"))
    assert all(meets(text, lesson) is not None for lesson in LESSONS for text in texts(lesson, "held"))


def test_no_lesson_meets_another():
    """Each with the neighbours of all others: one tombstone takes one lesson."""
    met = [
        (one["text"], text)
        for one in LESSONS
        for other in LESSONS
        if one is not other
        for text in (other["text"], *texts(other, "stay"))
        if meets(text, one) is not None
    ]
    assert met == []


def test_a_signature_says_nothing_without_its_key():
    """No entry of one made under a key is one that words alone would give, so words cannot be tried on it."""
    for lesson in LESSONS:
        keyed = signing.signature(lesson["text"], key=KEY)
        assert keyed
        assert set(keyed).isdisjoint(signing.signature(lesson["text"]))
        assert set(keyed).isdisjoint(signing.signature(lesson["text"], key=b"another key of the same length.."))
        assert meets(lesson["text"], lesson, key=b"") is None
