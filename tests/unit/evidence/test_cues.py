import re

import pytest

from lorelake.evidence.cues import all_cues, family, find

CASES = [(cue, text, True) for cue in all_cues() for text in cue.positive] + [
    (cue, text, False) for cue in all_cues() for text in cue.negative
]


@pytest.mark.parametrize(("cue", "text", "wanted"), CASES, ids=lambda value: getattr(value, "name", str(value))[:40])
def test_every_example_of_a_cue_holds(cue, text, wanted):
    assert bool(re.search(cue.pattern, text, re.IGNORECASE)) is wanted


def test_every_cue_has_examples_of_both_sorts_and_a_name_of_its_own():
    names = [(cue.family, cue.name) for cue in all_cues()]
    assert len(names) == len(set(names))
    assert all(cue.positive and cue.negative for cue in all_cues())


def test_the_rejected_option_is_named():
    found = find("rejected", "we use the job queue instead of threads because they leak")
    assert found is not None
    assert found.named == {"rejected": "threads"}


def test_a_curly_apostrophe_is_read_as_a_straight_one():
    assert find("correction", "don’t edit the generated file")


def test_an_unknown_family_is_an_error_not_an_empty_answer():
    with pytest.raises(KeyError):
        family("no-such-family")
