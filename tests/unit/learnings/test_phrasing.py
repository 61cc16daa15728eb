import pytest

from lorelake.learnings import phrasing, titles


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
        ("No restarts of the pod are lost", "No restarts of the pod are lost"),
        ("no don't restart the pod", "Don't restart the pod"),
        ("fix the test, the code is right", "Fix the test, the code is right"),
        ("put it into the chart, right?", "Put it into the chart"),
        ("We'd also like the linter to be run on every push", "The linter should be run on every push"),
        ("we'd like to keep one chart a service", "Keep one chart a service"),
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
    assert len(title) <= titles.TITLE_CHARS


@pytest.mark.parametrize("size", [1, 7, 40, 79, 80, 81, 200, 1000])
def test_no_title_is_longer_than_80_or_ends_loosely(size):
    text = "Always write the export of `" + "word " * size + "` here"
    title = titles.shorten(text)
    assert len(title) <= titles.TITLE_CHARS
    assert not title.endswith((" ", ",", "…", "..."))
    assert title.count("`") % 2 == 0


def test_one_long_word_is_still_cut():
    assert titles.shorten("x" * 300) == "x" * titles.TITLE_CHARS


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


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("Remember: run the linter once", "Run the linter once"),
        ("Decision: every migration sets a timeout", "Every migration sets a timeout"),
        ("**Decision**: one bucket for all", "One bucket for all"),
        ("We decided to correct it by hand", "Correct it by hand"),
        ("We decided not to shard yet", "Do not shard yet"),
        ("we've decided against sharding", "Decided against sharding"),
        ("After discussion we decided to drop the count", "Drop the count"),
        ("We agreed to return no totals", "Return no totals"),
        ("We agreed on UTC for all columns", "Use UTC for all columns"),
        ("it was agreed that the gateway owns retries", "The gateway owns retries"),
        ("ok, let's go with the shared lock file", "Use the shared lock file"),
        ("We decided to go with a Postgres lock", "Use a Postgres lock"),
        ("We will use full jitter", "Use full jitter"),
        ("we're dropping support for the old file", "Drop support for the old file"),
        ("We always keep days as strings", "Always keep days as strings"),
        ("in this repo we don't mock the database", "Do not mock the database"),
        ("We use npm ci, not npm install", "Use npm ci, not npm install"),
        ("The fix requires using the full path", "Use the full path"),
        ("Consider adding a test", "Add a test"),
        ("Consider rethinking this", "Consider rethinking this"),
    ],
)
def test_what_was_settled_is_a_plain_statement(said, wanted):
    assert phrasing.imperative(said) == wanted


@pytest.mark.parametrize(
    ("error", "wanted"),
    [
        ("Error: Error acquiring the state lock", "Error acquiring the state lock"),
        ("KeyError: 'DATABASE_URL'", "KeyError: 'DATABASE_URL'"),
        ("FileNotFoundError: [Errno 2] No such file or directory: '/tmp/a.csv'",
         "FileNotFoundError: No such file or directory: '/tmp/a.csv'"),
        ("sqlalchemy.exc.InternalError: (psycopg.errors.ActiveSqlTransaction) no block here",
         "InternalError: no block here"),
        ("ProgrammingError: " + "operator class of a name " * 4, "Operator class of a name"
         + " operator class of a name" * 2),
        ("test_head fails: expected a message of forty characters or more, got: nothing of the kind at all",
         "test_head fails: expected a message of forty characters or more"),
        ("[MSW] Cannot bypass a request when using the strict strategy for the option of unhandled requests",
         "[MSW] Cannot bypass a request when using the strict strategy"),
    ],
)  # fmt: skip
def test_an_error_is_named_in_its_own_words(error, wanted):
    assert titles.error_title(error) == wanted


def test_the_latter_is_named_or_left_out():
    words = "the latter also kills backfills"
    assert phrasing.reason(words, "statement_timeout") == "statement_timeout also kills backfills"
    assert phrasing.reason(words) is None
    assert phrasing.reason("the former is slow", "the pool") is None
    assert phrasing.reason("so that workers cannot collide.") == "So that workers cannot collide"


def test_what_is_turned_down_keeps_its_name_and_is_not_said_twice():
    assert phrasing.option("npm install", "Use npm ci, not npm install.") == "npm install"
    assert phrasing.option("by dividing hours", "Count days, never by dividing hours.") == "dividing hours"
    assert phrasing.option("the total count", "Drop the total count.") is None


def test_inline_code_of_a_document_stays_as_it_is():
    assert phrasing.document_text("Use `**kwargs` and **no** `__x__`, see [`a`](b.md)") == (
        "Use `**kwargs` and no `__x__`, see `a`"
    )
    assert phrasing.document_title("Use `__post_init__` **always**") == "Use `__post_init__` always"


def test_a_title_ends_at_a_joint_of_its_sentence():
    long = "Add validation at the start of every single function to ensure the id does not contain separators"
    assert titles.shorten(long) == "Add validation at the start of every single function"


@pytest.mark.parametrize(
    ("long", "wanted"),
    [
        (
            'Return `fmt.Errorf("cannot load the first page of %s: %w", name)` instead of going on with the next',
            'Return `fmt.Errorf("cannot load the first page of %s: %w", name)`',
        ),
        (
            "While the text should be short enough for a small terminal, it must be plain to who never used the tool",
            "It must be plain to who never used the tool",
        ),
        (
            "Every time the cache is emptied for the same marina, the rebuild drops the season table, so it hangs",
            "The rebuild drops the season table, so it hangs",
        ),
        (
            "Add a `head == base` filter so the amend handler only restores trailers of sessions at the current head",
            "Add a `head == base` filter",
        ),
        (
            "Sort the pages by (created_at, id, marina, season, berth) and then sign them with the key of the team",
            "Sort the pages by (created_at, id, marina, season, berth)",
        ),
    ],
)
def test_a_title_is_cut_outside_of_code_and_keeps_what_is_said(long, wanted):
    assert titles.shorten(long) == wanted


def test_emphasis_in_a_reason_is_taken_off():
    assert phrasing.reason("**Keeps** the global rules") == "Keeps the global rules"


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("remember not to check in the scratch folder", "Do not check in the scratch folder"),
        ("dont add a trailer, continue", "Don't add a trailer"),
        ("No, before that, I think each region can have its own job", "Each region can have its own job"),
        ("I think twice before a release", "I think twice before a release"),
        ("again and again the lock is lost", "Again and again the lock is lost"),
    ],
)
def test_openers_that_say_nothing_are_left_out(said, wanted):
    assert phrasing.imperative(said) == wanted


def test_a_reason_told_apart_is_not_said_twice():
    do = "We log and go on rather than failing, since a lost row is written again."
    assert phrasing.advice(do, "a lost row is written again") == "We log and go on rather than failing."
    assert phrasing.advice(do, "another reason") == do
    assert phrasing.advice(do) == do


def test_a_title_is_not_cut_inside_a_list_of_names():
    title = phrasing.title(
        "Run ruff, mypy, bandit, vulture, deptry and import-linter before each and every release of it", None
    )
    assert not title.endswith(("ruff", "mypy", "bandit", "vulture"))
