import re
from collections import defaultdict
from importlib import resources
from pathlib import Path

import pytest

from lorelake.errors import ContractError
from lorelake.evidence import cues
from lorelake.evidence.cues import FOLDER, all_cues, family, find, read_lists

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


BROAD = frozenset(
    """
    correction directive instruction practice decision suggesting_question reason rejected exception occasion general
    frequency task this_time hypothetical listed hedge one_answer undecided bare_no negation forbids prefers taken_back
    replaced concession request volatile machine
    """.split()  # noqa: SIM905 - a list of words is read more easily as text
)
"""Families that every typed sentence is searched for: each needs more than one example of a false hit."""


def test_broad_cues_have_three_examples_of_both_sorts():
    few = [(cue.family, cue.name) for cue in all_cues() if cue.family in BROAD]
    assert {name for name, _ in few} == BROAD
    thin = [cue.name for cue in all_cues() if cue.family in BROAD and min(len(cue.positive), len(cue.negative)) < 3]
    assert thin == []


def test_every_family_is_in_every_language():
    languages = {cue.language for cue in all_cues()}
    spoken = defaultdict(set)
    for cue in all_cues():
        spoken[cue.family].add(cue.language)
    assert {"en", "zh"} <= languages
    assert {name: sorted(languages - has) for name, has in spoken.items() if languages - has} == {}


def test_every_family_is_described_in_the_documentation():
    page = (Path(__file__).parents[3] / "docs" / "cues.md").read_text(encoding="utf-8")
    described = {row[1] for row in re.finditer(r"^\| `(\w+)` \| \S.* \|$", page, re.M)}
    assert described == {cue.family for cue in all_cues()}


def test_full_width_marks_traditional_characters_and_mixed_text_are_found():
    assert find("correction", "不對，應該放在 service 層")
    assert find("instruction", "请永远先跑 lint，再提交")
    assert find("decision", "結論：每個租戶一個桶")
    assert find("suggesting_question", "為什麼不用 queue 呢？")


def cue_list(name, family="instruction", pattern="immer", positive='"immer so"', negative='"nie so"'):
    return (
        f'[[cue]]\nfamily = "{family}"\nname = "{name}"\npattern = "{pattern}"\n'
        f"positive = [{positive}]\nnegative = [{negative}]\n"
    )


@pytest.fixture
def lists(tmp_path):
    for file in resources.files("lorelake.evidence").joinpath(FOLDER).iterdir():
        (tmp_path / file.name).write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
    return tmp_path


def test_a_further_language_is_a_file_and_changes_nothing_of_the_others(lists):
    (lists / "de.toml").write_text(cue_list("de_always"), encoding="utf-8")
    found = read_lists(lists)
    assert [cue.language for cue in found if cue.name == "de_always"] == ["de"]
    assert [cue for cue in found if cue.language != "de"] == list(all_cues())
    assert list(dict.fromkeys(cue.language for cue in found)) == ["en", "de", "zh"]


def test_a_sentence_without_the_signs_of_a_language_is_not_searched_for_its_cues(monkeypatch):
    searched = []

    def spy(name, scripts):
        searched.extend(cue.language for cue, _ in family(name) if cue.script in scripts)
        return tuple((cue, pattern) for cue, pattern in family(name) if cue.script in scripts)

    monkeypatch.setattr(cues, "_written_in", spy)
    find.cache_clear()
    assert find("instruction", "the cart shows totals") is None
    assert set(searched) == {"en"}
    assert find("instruction", "请永远先跑 lint") is not None
    assert set(searched) == {"en", "zh"}


@pytest.mark.parametrize("cue", [cue for cue in all_cues() if cue.script], ids=lambda cue: cue.name)
def test_no_cue_of_a_language_with_signs_of_its_own_is_lost_by_asking_for_them(cue):
    """What is left of an example without its signs has no such cue, or one of a list that is searched all the same."""
    for text in (*cue.positive, *cue.negative):
        rest = re.sub(f"[{cue.script}]", "", text)
        assert not re.search(cue.pattern, rest, re.IGNORECASE) or find(cue.family, rest)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (cue_list("always_never"), "two cues are called instruction.always_never"),
        (cue_list("de_always", pattern="(immer"), "pattern of instruction.de_always"),
        (cue_list("de_always", positive=""), "de_always needs examples"),
        ('script = "à-ý"\n' + cue_list("de_always"), "de_always has an example without a character of the script"),
        ('script = "z-a"\n' + cue_list("de_always"), "pattern of instruction.de_always"),
        ("cue = 3", "no cue list"),
        ("[[cue", "no cue list"),
    ],
)
def test_a_list_that_is_wrong_is_refused_by_name(lists, text, says):
    (lists / "de.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ContractError, match=says):
        read_lists(lists)
