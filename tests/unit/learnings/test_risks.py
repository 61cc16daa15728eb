import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorelake.learnings.claims import claim
from lorelake.learnings.risks import RISKS, possible


@pytest.mark.parametrize(
    ("words", "risks"),
    [
        ("never disable the sandbox of the worker", ["security"]),
        ("run rm -rf build before packaging", ["data_loss"]),
        ("drop table orders first", ["data_loss"]),
        ("always deploy from the release branch", ["deploy"]),
        ("keep the API key in the vault", ["credentials"]),
        ("read it from .env", ["credentials"]),
        ("commit with --no-verify", ["instructions_to_machine"]),
        ("部署之前先备份", ["deploy"]),
        ("keep the pool small in every worker", []),
        ("name the author in the docs", []),
        ("use the product table", []),
        ("delete all rows of the archive first", ["data_loss"]),
        ("push --force after the rebase", ["data_loss"]),
        ("run alembic downgrade on the replica", ["data_loss"]),
        ("pass the access token in the header", ["credentials"]),
        ("put the id into the page token and sort by both", []),
        ("reject a token whose filter differs", []),
        ("do not edit generated files, they are overwritten on every build", []),
        ("drop the index first if it is invalid", []),
        ("every migration sets a lock timeout", []),
        ("roll back the transaction before the next statement", []),
        ("use dependency injection for the clock", []),
        ("try it in the sandbox account", []),
    ],
)
def test_a_word_of_the_list_makes_a_person_look(signal, words, risks):
    assert claim(signal("s1", words))["risks"] == risks


def test_what_is_only_the_reason_is_no_risk_of_the_act(signal):
    reason = {"do": "Use jitter in every retry.", "because": "all workers start together after a deploy"}
    assert claim(signal("s1", "use jitter in every retry", item=reason))["risks"] == []
    secret = {"do": "Turn tracing off.", "because": "the log shows the API key"}
    assert claim(signal("s2", "turn tracing off there", item=secret))["risks"] == ["credentials"]


def test_a_path_or_command_it_applies_to_counts_too(signal):
    row = claim(signal("s1", "keep the order of the steps", item={"applies_to": ["terraform apply"]}))
    assert row["risks"] == ["deploy"]


def test_words_of_one_project_heard_by_the_team_are_wider_and_a_chats_are_not(signal):
    assert claim(signal("s1", "keep the pool small", audience="team"))["risks"] == ["wider_than_project"]
    assert claim(signal("s1", "keep the pool small", audience="team", unit_id="slack:C1:1"))["risks"] == []


def test_every_risk_has_a_name_the_design_uses():
    assert set(RISKS) == {"security", "data_loss", "deploy", "credentials", "instructions_to_machine"}


@pytest.mark.parametrize("name", RISKS)
@given(data=st.data())
@settings(max_examples=400)
def test_whatever_a_risks_pattern_finds_holds_a_cue_of_it(name, data):
    """Texts without one are not searched, so a word added to a pattern only would never be found."""
    ascii_only = st.characters(min_codepoint=9, max_codepoint=126)
    text = data.draw(st.from_regex(RISKS[name], alphabet=ascii_only))
    assert name in possible(text)
    assert name in possible(f"{text.upper()} ")
