import msgspec
import polars as pl
import pytest

from lorelake.evidence.reviews_repeated import WANTED, extract

ASK = "Please note every new setting in the operators' handbook."


@pytest.fixture
def requests(new_unit):
    """Merge requests by number, each with the comments given as (reviewer, text) pairs."""

    def make(*comments, audience="project:shop", **more):
        units = {}
        for number, (reviewer, text) in enumerate(comments, 1):
            unit = new_unit(f"github:acme/shop#{number}", "merge_request", audience=audience)
            unit.add("merge_request_opened", "Read the rates", actor="ana")
            unit.add("review_comment", text, **({"actor": reviewer, "path": "app/rates.py", "line": 3} | more))
            units[unit.unit["unit_id"]] = unit.events
        return units

    return make


def only(found):
    ((signal,),) = found.values()
    return signal


def test_three_requests_and_two_reviewers_make_a_convention(requests):
    units = requests(("ben", ASK), ("cleo", ASK.lower()), ("ben", f"@ana {ASK}"))
    signal = only(extract(units))
    assert signal.event_id == "github:acme/shop#1-1"
    assert signal.quote == ASK
    assert signal.item["do"] == ASK
    assert (signal.item["trust_basis"], signal.item["kind"]) == ("stated", "pattern")
    assert signal.item["applies_to"] == ["app/rates.py"]
    assert signal.seen == {"merge_requests": 3, "reviewers": 2, "comments": 3}


@pytest.mark.parametrize("reviewers", [("ben", "cleo"), ("ben", "ben", "ben")])
def test_two_requests_or_one_reviewer_make_none(requests, reviewers):
    assert extract(requests(*((who, ASK) for who in reviewers))) == {}


def test_three_comments_on_one_request_are_one(new_unit):
    unit = new_unit("github:acme/shop#1", "merge_request")
    for who in ("ben", "cleo", "ben"):
        unit.add("review_comment", ASK, actor=who, path="app/rates.py")
    assert extract({"github:acme/shop#1": unit.events}) == {}


def test_nearly_the_same_words_are_the_same_comment_and_others_are_not(requests):
    one = "Every public function of this package needs a docstring that names its units and errors."
    near = "Every public function of this package needs a docstring that names its units and errors, please."
    far = "Every public function of this package needs a test that names its inputs."
    assert len(extract(requests(("ben", one), ("cleo", near), ("ben", one)))) == 1
    assert extract(requests(("ben", one), ("cleo", far), ("ben", one))) == {}


def test_a_question_and_a_nit_count_here(requests):
    units = requests(
        ("ben", "Could you add an entry to the changelog?"), ("cleo", "nit: could you add an entry to the changelog?"),
        ("cleo", "Could you add an entry to the changelog?"),
    )  # fmt: skip
    assert only(extract(units)).item["do"] == "Could you add an entry to the changelog?"


@pytest.mark.parametrize(
    "text",
    [
        "Looks good to me, thanks!",
        "Please rebase this on main first.",
        "Fixed in 1a2b3c4d, thanks for that.",
        "why so?",
    ],
)
def test_praise_chores_answers_and_short_words_are_no_convention(requests, text):
    assert extract(requests(("ben", text), ("cleo", text), ("dora", text))) == {}


def test_the_authors_own_words_a_reply_and_a_program_are_no_reviewer(requests):
    assert extract(requests(("ana", ASK), ("ben", ASK), ("cleo", ASK))) == {}
    assert extract(requests(("ben", ASK), ("cleo", ASK), ("ben", ASK), reply_to="somewhere")) == {}
    assert extract(requests(("lint-bot", ASK), ("other-bot", ASK), ("lint-bot", ASK), actor_class="bot")) == {}
    pasted = f"**Low Severity**\n\n{ASK}"
    assert extract(requests(("ben", pasted), ("cleo", pasted), ("ben", pasted))) == {}


def test_accounts_nobody_named_are_two_people_only_where_one_forge_says_so(requests):
    units = requests(("unknown:github:ben", ASK), ("unknown:github:cleo", ASK), ("unknown:github:ben", ASK))
    assert only(extract(units)).seen["reviewers"] == 2
    assert extract(_second_of_gitlab(units)) == {}


def _second_of_gitlab(units):
    second = "github:acme/shop#2"
    return units | {second: [msgspec.structs.replace(event, source="gitlab") for event in units[second]]}


def test_chinese_comments_count_too(requests):
    ask = "新增配置项请同步更新运维手册。"
    assert only(extract(requests(("ben", ask), ("cleo", ask), ("ben", f"小问题：{ask}")))).item["do"] == ask


def test_a_comment_that_everybody_makes_stays_cheap(requests):
    comments = [(f"r{n % 7}", f"{ASK} Case {n}.") for n in range(300)] + [(f"r{n % 5}", ASK) for n in range(2000)]
    found = extract(requests(*comments))
    assert any(signal.seen["comments"] >= 2000 for signals in found.values() for signal in signals)


@pytest.mark.parametrize(("kind", "actor_class", "wanted"), [
    ("review_comment", "human", True), ("comment", "human", True), ("comment", "bot", False),
    ("merge_request_opened", "bot", True), ("commit", "human", False),
])  # fmt: skip
def test_what_is_read_is_the_opening_and_what_people_commented(kind, actor_class, wanted):
    row = {"unit_kind": "merge_request", "kind": kind, "actor_class": actor_class}
    assert pl.DataFrame([row]).select(WANTED).item() is wanted
    assert pl.DataFrame([row | {"unit_kind": "session"}]).select(WANTED).item() is False


def test_four_sentences_are_a_comment_and_five_are_an_essay(requests):
    four = f"{ASK} The nightly job reads it. Operators look there first. Nobody reads the code."
    assert len(extract(requests(("ben", four), ("cleo", four), ("ben", four)))) == 1
    five = f"{four} That is all."
    assert extract(requests(("ben", five), ("cleo", five), ("ben", five))) == {}


def test_what_stands_beside_the_request_is_its_reason_and_a_question_is_none(requests):
    told = f"{ASK} The nightly job reads it. Does that sound right?"
    assert only(extract(requests(("ben", told), ("cleo", told), ("ben", told)))).item["because"] == (
        "The nightly job reads it."
    )
    assert "because" not in only(extract(requests(("ben", ASK), ("cleo", ASK), ("ben", ASK)))).item


def test_a_convention_of_several_files_applies_to_none_of_them_alone(requests):
    units = requests(("ben", ASK), ("cleo", ASK), ("ben", ASK))
    events = units["github:acme/shop#3"]
    events[1] = msgspec.structs.replace(events[1], path="app/taxes.py")
    item = only(extract(units)).item
    assert item["applies_to"] == []
    assert "when" not in item
