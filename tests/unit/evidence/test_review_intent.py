import pytest

from lorelake.evidence import signals
from lorelake.evidence.review_intent import extract

ASKED = "Please return the error, otherwise the caller goes on with half of the rows."


@pytest.fixture
def answered(new_unit):
    """A merge request with one comment and its answers, each a text or (text, actor)."""

    def make(*answers, asked=ASKED, **more):
        unit = new_unit("github:acme/shop#7", "merge_request")
        unit.add("merge_request_opened", "Read the export", actor="ana")
        root = unit.add("review_comment", asked, actor="ben", path="app/read.py", line=40, **more)
        for answer in answers:
            text, actor = answer if isinstance(answer, tuple) else (answer, "ana")
            unit.add("review_comment", text, actor=actor, path="app/read.py", reply_to=root.event_id)
        return unit

    return make


def test_an_intent_with_its_reason_is_a_decision_of_the_person_who_states_it(answered):
    unit = answered("We intentionally log and go on here, because a broken row never heals by itself.")
    (signal,) = extract(unit.events)
    assert (signal.kind, signal.event_id) == ("decision", unit.events[2].event_id)
    assert signal.item["kind"] == "decision"
    assert signal.item["trust_basis"] == "stated"
    assert signal.item["because"] == "a broken row never heals by itself"
    assert signal.item["rejected"] == ASKED
    assert signal.item["applies_to"] == ["app/read.py"]
    ((event_id, start, end),) = signal.support
    assert (event_id, unit.events[1].text[start:end]) == (unit.events[1].event_id, ASKED)


def test_what_follows_a_bare_intent_is_meant(answered):
    (signal,) = extract(
        answered("This is intentional. Both readers share one file, and the second one owns it.").events
    )
    assert signal.item["do"] == "Both readers share one file, and the second one owns it."
    assert extract(answered("This is intentional.").events) == []


def test_skipped_to_match_the_established_pattern_is_the_convention(answered):
    (signal,) = extract(answered("Skipped, to match the established pattern in the other handlers.").events)
    assert signal.item["do"] == "match the established pattern in the other handlers"
    assert signal.item["trust_basis"] == "stated"


@pytest.mark.parametrize(
    "text",
    [
        "Is this intentional? It would never return on an empty list.",
        "I think it was maybe intentional, since nobody ever asked for it.",
        "We intentionally skip that for now, because the callers are few. Will revisit in a follow-up.",
        "Pre-existing, out of scope here.",
        "Won't fix - ten entries at most.",
        "No longer applicable.",
    ],
)
def test_questions_doubts_things_put_off_and_plain_refusals_are_none(answered, text):
    assert extract(answered(text).events) == []


def test_an_intent_given_up_later_is_none(answered):
    kept = "This is by design, because both readers share the file."
    assert len(extract(answered(kept).events)) == 1
    assert extract(answered(kept, "Reconsidered - fixed in 7f010c5.").events) == []


def test_a_programs_answer_is_none(answered):
    text = "We intentionally log and go on here, because a broken row never heals by itself."
    assert extract(answered(f"{text}\n\n🤖 Generated with [Claude Code](https://x.example)").events) == []


def test_chinese_answers_are_read(answered):
    (signal,) = extract(
        answered(
            "这里故意只记录日志，因为坏行不会自己恢复。", asked="这里应该返回错误，否则调用方只拿到一半数据。"
        ).events
    )
    assert signal.item["rejected"] == "这里应该返回错误，否则调用方只拿到一半数据。"
    (signal,) = extract(answered("跳过，与其他处理函数保持一致。").events)
    assert signal.item["do"] == "与其他处理函数保持一致"


def test_it_is_one_of_the_decisions_of_a_unit(answered):
    unit = answered("This is by design, because both readers share the file.")
    assert [signal.kind for signal in signals.extract(unit.events)] == ["decision"]
