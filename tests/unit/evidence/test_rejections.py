import pytest

from lorelake.evidence.rejections import changed_course, extract


def refuse(unit, words, *, then="other", refused_path="/src/app/db.py"):
    """A refused edit, the person's words, and what the agent did next."""
    unit.call("c1", path=refused_path, text='{"new":"a"}')
    unit.add("rejection", words, call_id="c1", is_error=True)
    if then == "other":
        unit.call("c2", path=refused_path, text='{"new":"b"}')
    elif then == "same":
        unit.call("c2", path=refused_path, text='{"new":"a"}')
    return extract(unit.events)


@pytest.mark.parametrize(
    "words",
    [
        "don't check this in",
        "use the sandbox account for that",
        "let's keep it in one file",
        "that is generated, so we must not touch it",
        "It's not a migration...",
        "can we put it behind a flag instead?",
        "不要直接改生成的文件",
    ],
)
def test_words_with_a_direction_or_a_reason_become_an_item(unit, words):
    (signal,) = refuse(unit, words)
    assert signal.quote == words
    assert signal.item["do"]
    assert signal.item["when"] == "editing `src/app/db.py`"
    assert signal.item["trust_basis"] == "stated"


@pytest.mark.parametrize(
    "words",
    [
        "i'll take it from here.",
        "what does the schema look like?",
        "is there any other way to solve this?",
        "stop",
        "wait, not yet",
        "can you explain this first?",
        "maybe use the sandbox account, not sure",
        "That's not it. Rounding cannot lose a whole night.",
    ],
)
def test_words_without_direction_stay_a_signal_and_no_item(unit, words):
    (signal,) = refuse(unit, words)
    assert signal.item == {}


def test_a_refusal_without_words_gives_no_signal(unit):
    assert refuse(unit, "  ") == []


@pytest.mark.parametrize("words", ["should we be using the shared client?", "didn't we have a helper for this?"])
def test_a_suggesting_question_counts_only_if_the_agent_changed_course(new_unit, words):
    (followed,) = refuse(new_unit(), words, then="other")
    (ignored,) = refuse(new_unit(), words, then="same")
    (unanswered,) = refuse(new_unit(), words, then="nothing")
    assert followed.item["do"] == words
    assert ignored.item == unanswered.item == {}


def test_a_conceding_answer_is_a_change_of_course(unit):
    refused = unit.call("c1", path="/src/a.py")
    unit.add("rejection", "isn't this the old table?", call_id="c1")
    unit.add("answer", "You're right, I will use the new one.")
    assert changed_course(unit.events, 1, refused)


def test_the_clause_that_directs_is_taken_and_the_reason_kept(unit):
    (signal,) = refuse(unit, "the old branch is merged, so nobody will use it - can we rename it on main instead?")
    assert signal.item["do"] == "can we rename it on main instead?"
    assert signal.item["because"] == "the old branch is merged, so nobody will use it"


def test_a_reason_in_another_sentence_is_found(unit):
    (signal,) = refuse(unit, "let's move it somewhere better named. It's not a plan...")
    assert signal.item["because"] == "It's not a plan"


def test_a_refused_command_is_the_trigger(unit):
    unit.call("c1", tool="Bash", command="cd /repo && git push origin main")
    unit.add("rejection", "never push to main, open a request", call_id="c1")
    (signal,) = extract(unit.events)
    assert signal.item["when"] == "running `git push origin main`"
    assert signal.item["applies_to"] == ["git push origin main"]
    assert signal.item["kind"] == "anti_pattern"


@pytest.mark.parametrize("more", [{"on_live_path": False}, {"actor_class": "injected"}])
def test_rewound_and_injected_words_are_evidence_of_nothing(unit, more):
    unit.call("c1", path="a.py")
    unit.add("rejection", "don't check this in", call_id="c1", **more)
    assert extract(unit.events) == []


def test_words_taken_back_later_are_no_item(unit):
    refuse(unit, "use the sandbox account for that")
    unit.add("prompt", "actually, keep the sandbox account out of it")
    (signal,) = extract(unit.events)
    assert signal.item == {}
    assert signal.seen["taken_back_by"] == unit.events[-1].event_id


@pytest.mark.parametrize(
    "words",
    ["```\nnever do this\n```", "> quoted by me", "error: never pass none", "# A\n\ntext\n\n# B", "不"],
)
def test_every_refusal_with_words_is_a_signal_also_where_none_of_them_are_the_persons_own(unit, words):
    (signal,) = refuse(unit, words)
    assert signal.item == {}
    assert signal.quote == words


@pytest.mark.parametrize("words", ["", " \n", "...", "—"])
def test_marks_alone_are_no_words(unit, words):
    assert refuse(unit, words) == []


def test_a_reason_that_the_direction_holds_already_is_not_said_twice(unit):
    (signal,) = refuse(unit, "that is generated, so we must not touch it")
    assert signal.item.get("because") is None
    assert signal.item["do"] == "that is generated, so we must not touch it"
