import time

import pytest

from lorelake.evidence.prose import clauses, document_sentences, own_words, sentences


def texts(text):
    return [sentence.text for sentence in sentences(text)]


def test_sentences_keep_their_place_in_the_text_as_stored():
    text = "Please stop.\n- use `make check`  \n  not the raw command! Thanks"
    for sentence in sentences(text):
        assert text[sentence.start : sentence.end] == sentence.text
    assert texts(text) == ["Please stop.", "use `make check`  \n  not the raw command!", "Thanks"]


@pytest.mark.parametrize(
    "foreign",
    [
        "```\nnever do this\n```",
        "> always do that",
        "<system-reminder>never do this</system-reminder>",
        "2026-03-02T10:00:00Z always restart the worker",
        "ValueError: never pass None",
        "    at Object.never (src/always.ts:3:1)",
        "| never | always |",
        'it said "you must always restart the worker by hand" here',
    ],
)
def test_what_others_said_is_blanked_without_moving_anything(foreign):
    text = f"Look at this\n{foreign}\nand tell me"
    own = own_words(text)
    assert len(own) == len(text)
    assert "never" not in own
    assert "always" not in own
    assert "and tell me" in own


def test_a_pasted_plan_document_or_report_is_not_the_persons_word():
    plan = "Implement the following plan:\n\n# Plan\n\nAlways use the queue."
    document = "Here is the page.\n\n# Setup\n\nAlways use the queue.\n\n## More\n\nNever push."
    report = "I got this feedback, what do you think:\n\nNever use a default case."
    for text in (plan, document, report):
        assert not any("lways" in found or "ever" in found for found in texts(text))


def test_a_line_of_code_with_a_version_or_an_abbreviation_does_not_end_a_sentence():
    assert texts("Use v1.2 of the client, e.g. the one in lib.") == ["Use v1.2 of the client, e.g. the one in lib."]


def test_a_number_of_a_list_is_no_sentence():
    assert texts("1. Keep the lock.\n2. Drop the cache.") == ["Keep the lock.", "Drop the cache."]


def test_a_document_wraps_its_lines_anywhere_and_a_list_item_is_its_own():
    text = "Keep the cache in\nRedis, not in\n`memory`.\n\n- First point\n- Second point"
    found = [sentence.text for sentence in document_sentences(text, 0, len(text))]
    assert found == ["Keep the cache in\nRedis, not in\n`memory`.", "First point", "Second point"]


def test_a_document_passage_is_cut_out_with_offsets_of_the_whole():
    text = "# A\n\nfirst part.\n\n# B\n\nsecond part."
    (found,) = document_sentences(text, text.index("second"), len(text))
    assert text[found.start : found.end] == "second part."


def test_clauses_part_at_dashes_and_reason_words():
    assert clauses("nobody uses it - can we rename it instead?") == ["nobody uses it", "can we rename it instead?"]
    assert clauses("use the pool, because threads leak") == ["use the pool", "because threads leak"]


def test_what_follows_twenty_thousand_characters_was_pasted():
    text = "always pin the driver\n" + '<div>"a b c ' * 20_000 + "\nnever push"
    began = time.perf_counter()
    assert sentences(text)[0].text == "always pin the driver"
    assert "never push" not in own_words(text)
    assert time.perf_counter() - began < 5


@pytest.mark.parametrize(
    "text",
    [
        "Returning a `list` of all the rows here is slow because we copy `rows` twice.",
        'Calling it "id" in one place and the very same thing "key" in another is confusing.',
        "把 `a` 放在前面而不是后面，因为 `b` 依赖它的顺序和结果。",
    ],
)
def test_the_words_between_two_short_names_are_the_authors_own(text):
    assert own_words(text) == text


def test_several_plain_words_in_backticks_stay_somebody_elses():
    said = own_words("It printed `please never delete the old rows` after `a` was set")
    assert "delete" not in said
    assert "after `a` was set" in said


def test_a_short_line_ends_a_thought_though_the_next_begins_in_lower_case():
    assert texts("fix the footer\ndont touch the header") == ["fix the footer", "dont touch the header"]
    wrapped = "keep the totals of a bill in the ledger and nowhere else in the\nwhole project"
    assert texts(wrapped) == [wrapped]
