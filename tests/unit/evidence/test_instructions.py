import pytest

from lorelake.evidence.instructions import extract


def said(unit, words, kind="prompt", **more):
    unit.add(kind, words, **more)
    return extract(unit.events)


@pytest.mark.parametrize(
    ("words", "rejected"),
    [
        ("always run the linter before you push", None),
        ("Please never force-push to main", None),
        ("from now on write the changelog by hand", None),
        ("we use pnpm, not npm", "npm"),
        ("prefer composition over inheritance", "inheritance"),
        ("remember to bump the schema version", None),
        ("make sure the lock is released on every path", None),
        ("we don't mock the database in this repo", None),
        ("以后都用连接池", None),
    ],
)
def test_what_shall_hold_from_now_on_is_an_instruction(unit, words, rejected):
    (signal,) = said(unit, words)
    assert signal.quote == words
    assert signal.item.get("rejected") == rejected
    assert signal.item["trust_basis"] == "stated"


@pytest.mark.parametrize(
    "words",
    [
        "it always fails on CI",
        "never mind",
        "do we always run the linter?",
        "not 100% sure, but always restart the worker",
        "maybe always restart it",
        "always restart the worker. not sure though.",
        "Implement the following plan:\n\nAlways use the queue.",
        "```\n# always use the queue\n```",
        "> always use the queue",
        "add a button to the page",
    ],
)
def test_reports_questions_hedges_and_quoted_matter_are_none(unit, words):
    assert said(unit, words) == []


def test_the_sentence_alone_is_quoted_with_the_reason_right_after_it(unit):
    (signal,) = said(unit, "Thanks! Always pin the driver. Because the new one drops rows. Now run it.")
    assert signal.quote == "Always pin the driver. Because the new one drops rows."
    assert signal.item["because"] == "the new one drops rows"


@pytest.mark.parametrize("kind", ["prompt", "queued_prompt", "message", "review_comment", "comment"])
def test_every_place_where_a_person_speaks_counts(unit, kind):
    assert len(said(unit, "always pin the driver", kind=kind)) == 1


@pytest.mark.parametrize(
    "more",
    [{"actor_class": "agent"}, {"actor_class": "bot"}, {"actor_class": "injected"}, {"on_live_path": False}],
)
def test_only_a_persons_own_words_on_the_live_path_count(unit, more):
    assert said(unit, "always pin the driver", **more) == []


def test_a_compaction_summary_is_nobodys_word(unit):
    assert said(unit, "The user said: always pin the driver", kind="compaction") == []


def test_of_two_that_contradict_each_other_the_last_counts(unit):
    unit.add("prompt", "always squash the commits of a branch")
    unit.add("prompt", "never squash the commits of a branch")
    first, last = extract(unit.events)
    assert first.item == {}
    assert last.item["kind"] == "anti_pattern"


def test_another_speaker_takes_nothing_back(unit):
    unit.add("message", "always squash the commits of a branch")
    unit.add("message", "never squash the commits of a branch", actor="ben")
    assert all(signal.item for signal in extract(unit.events))


def test_a_review_comment_that_was_followed_is_not_said_twice(new_unit):
    unit = new_unit("github:acme/shop#7", "merge_request")
    unit.add("merge_request_opened", "Fields", actor="ana")
    comment = {"actor": "ben", "path": "proto/a.proto", "line": 4}
    unit.add("review_comment", "Never give a removed number to a new field.", attributes={"resolved": True}, **comment)
    assert extract(unit.events) == []
    unit.add("review_comment", "Never import from internal packages.", **comment)
    assert len(extract(unit.events)) == 1


def test_an_exception_said_right_after_is_a_counter_argument(unit):
    (signal,) = said(unit, "Always serve the stale calendar for a minute. Not for prices though.")
    assert signal.item["not_when"] == ["speaker: Not for prices though."]
    assert signal.quote == "Always serve the stale calendar for a minute."


def test_an_occasion_in_the_words_is_the_trigger(new_unit):
    (one,) = said(new_unit(), "remember to delete the old tree before the first install")
    assert one.item["when"] == "before the first install"
    (none,) = said(new_unit(), "Never deploy the worker before its queue is drained")
    assert "when" not in none.item


@pytest.mark.parametrize(
    ("words", "is_rule"),
    [
        ("Make sure you restart the importer after the change.", False),
        ("Never store the limit in the chart.", True),
        ("确保先把导入器停掉再改配置", False),
    ],
)
def test_in_chat_an_order_that_answers_a_question_is_for_who_asked(new_unit, words, is_rule):
    unit = new_unit("slack:C1:1767000000.000100", "thread")
    unit.add("message", "How do I raise the limit of the importer?", actor="ana")
    unit.add("message", words, actor="ben")
    assert bool(extract(unit.events)) is is_rule
    alone = new_unit("slack:C1:1767000000.000200", "thread")
    alone.add("message", words, actor="ben")
    assert extract(alone.events)
