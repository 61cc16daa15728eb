import pytest

from lorelake.learnings import phrasing


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("no, please use the pool instead, thanks!", "Use the pool instead"),
        ("Can't we provide a setting to the decoder to be strict?", "Provide a setting to the decoder to be strict"),
        ("could we also just remove the default then", "Remove the default then"),
        ("should we be using the shared client here?", "Use the shared client here"),
        ("shouldn't this go in the base class?", "This should go in the base class"),
        ("didn't we have a helper for this?", "We already have a helper for this"),
        ("isn't this the old table?", "This is the old table"),
        ("if we're going to do that let's move it into lib", "Move it into lib"),
        ("let's not touch the schema", "Do not touch the schema"),
        ("I'd like you to keep one commit a file", "Keep one commit a file"),
        ("from now on, write the changelog by hand", "Write the changelog by hand"),
        ("not as a comment, but as a document", "As a document, not as a comment"),
        ("go_test must not run in parallel", "go_test must not run in parallel"),
        ("`make check` is the one to run", "`make check` is the one to run"),
        ("不要直接改生成的文件。", "不要直接改生成的文件"),
    ],
)
def test_what_was_said_is_written_as_advice(said, wanted):
    assert phrasing.imperative(said) == wanted


def test_a_title_is_cut_at_a_clause_never_in_a_word_and_without_dots():
    long = "Keep the retry in the transport layer of the client because the handler is called twice by the gate"
    title = phrasing.title(long, None)
    assert title == "Keep the retry in the transport layer of the client"
    assert len(title) <= phrasing.TITLE_CHARS


@pytest.mark.parametrize("size", [1, 7, 40, 79, 80, 81, 200, 1000])
def test_no_title_is_longer_than_80_or_ends_loosely(size):
    text = "Always write the export of `" + "word " * size + "` here"
    title = phrasing.shorten(text)
    assert len(title) <= phrasing.TITLE_CHARS
    assert not title.endswith((" ", ",", "…", "..."))
    assert title.count("`") % 2 == 0


def test_one_long_word_is_still_cut():
    assert phrasing.shorten("x" * 300) == "x" * phrasing.TITLE_CHARS


def test_a_title_that_points_at_something_names_the_file():
    assert phrasing.title("Move it into lib", "src/app/db.py") == "Move it into lib (db.py)"
    assert phrasing.title("Move the pool into lib", "src/app/db.py") == "Move the pool into lib"


def test_advice_is_at_most_three_sentences_with_end_marks():
    assert phrasing.advice("use the pool. don't open connections. give them back. and more") == (
        "Use the pool. Don't open connections. Give them back."
    )


def test_a_documents_words_are_left_as_written():
    assert (
        phrasing.document_text("Use **one** [bucket](https://x.example/b).\nAnd keep it")
        == "Use one bucket. And keep it."
    )
    assert phrasing.document_title("0003. Keep one bucket") == "Keep one bucket"
    assert phrasing.document_title("ADR-12: Drop the mirror") == "Drop the mirror"
