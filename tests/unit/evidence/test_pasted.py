import time

import pytest

from lorelake.evidence import corrections, decisions_said, instructions, rejections
from lorelake.evidence.prose import own_words, sentences


def own(text):
    return " ".join(own_words(text).split())


@pytest.mark.parametrize(
    "pasted",
    [
        "➜  shop git:(main) ✗ git push\nerror: hook failed\n- to silence this, always run `hook off`",
        "dev@box:~/shop$ make\nnever run this as root",
        "PS C:\\shop> make\nalways run this elevated",
        'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    never(x)\nValueError: always pass a name',
        "java.lang.IllegalStateException: never null\n    at shop.Cart.always(Cart.java:31)",
        "10:31:07 never retry\n10:31:08 always retry",
        "[2026-03-02 10:00:00] never retry",
        "Mar  2 10:00:00 box shopd: always restarting",
        "INFO always restarting\nERROR never reached",
        "src/cart.ts:10:3 never used",
        "replicas: 3\nnever: true\nimage: always/latest",
        '{\n  "never": true,\n  "always": "x"\n}',
        "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-never\n+always",
        "| rule | value |\n| never | always |",
        "name   mode   since\nnever   always   2019\ncart   never   2020",
        "func never(a int) error {\n\treturn always(a)\n}",
        "const never = always(3);",
        "SELECT never FROM always",
        "Kim Park  10:32 AM\nwe should never do that",
        "ben: never do that\nkim: always do that",
        "octo commented 2 days ago\nwe never do that",
        "On Mon, Kim Park <k@p.example> wrote:\nnever do that",
        "~~~\nnever always\n~~~",
    ],
)
def test_what_was_pasted_without_a_fence_is_not_the_authors(pasted):
    text = f"look at this\n\n{pasted}\n\nand tell me why"
    found = own_words(text)
    assert len(found) == len(text)
    assert "never" not in found.lower()
    assert "always" not in found.lower()
    assert own(text).startswith("look at this")
    assert own(text).endswith("and tell me why")


@pytest.mark.parametrize(
    "typed",
    [
        "never do this",
        "- never do this\n- always do that",
        "Note: never do this",
        "Two rules:\n1. never do this\n2. always do that",
        "If the lock is held:\nnever do this",
        "The error is gone, never do this again",
        "Always use the pool (never a socket); it is shared.",
        "对了：不要 never 用",
    ],
)
def test_what_looks_a_little_like_it_and_was_typed_stays(typed):
    assert "never" in own(typed)


@pytest.mark.parametrize(
    "text",
    [
        "please do this review:\n\nMissing check\n\nHigh Severity\n\nNever trust the header.",
        "Let's address:   1. Bug: the header\n\n  Recommendation: never trust the header.",
        "## Ticket\n\nNever trust the header.\n\n## Acceptance criteria\n\nAlways check it.",
        "carry out the following migration plan\n\nNever trust the header.",
        "按照以下方案实现\n\nNever trust the header.",
        "I did run into this issue:  • never trust the header",
        "what do you make of this feedback:\n\nnever trust the header",
    ],
)
def test_plans_tickets_and_reviews_by_tools_are_not_the_authors_words(text):
    assert "never" not in own(text).lower()


def test_review_feedback_that_a_person_types_is_theirs():
    assert "never trust" in own("Some feedback on the change. We should never trust the header there.")


def test_after_an_announced_log_the_closing_words_are_the_authors_again():
    text = "I get this error:\nsomething went wrong\nit never came back\n\nwe no longer use that hook"
    assert own(text) == "I get this error: we no longer use that hook"


def test_of_a_text_too_long_to_have_been_typed_only_the_first_line_counts():
    text = "always pin the driver\n" + "never push to that branch, it is not ours. " * 200
    assert own(text) == "always pin the driver"
    assert "never push" in own(text[:2000])


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("the ticket says 'never use the old table for new rows'", False),
        ("文档里写着「永远不要使用旧的表」对吗", False),
        ("rename `never use the old table` to something", False),
        ("run `git push --never origin main` for it", True),
        ("the flag 'never' is wrong", True),
    ],
)
def test_a_quotation_is_somebody_elses_and_a_name_or_command_is_not(text, kept):
    assert ("never" in own(text) or "永远" in own(text)) is kept


@pytest.mark.parametrize(
    "nasty",
    [
        "a " * 10_000,
        "((((" * 5_000,
        '"' * 20_000,
        "'a b c d e f' " * 1_400,
        "`" * 20_000,
        "<a <b " * 3_000,
        "{'" * 10_000,
        "x = (" * 4_000,
        "key: value\n" * 1_800,
        "$ \n" * 6_000,
        "never, " * 2_800,
        "用" * 20_000,
        "\n" * 20_000,
        "a: " * 6_000,
        "don't " * 3_300,
        "no " * 6_600,
        "and so please " * 1_400,
        ("we use a " * 100 + "\n") * 20,
        ("never a b " * 90 + "\n") * 20,
        ("if a when b, " * 70 + "\n") * 20,
        ("our x, " * 130 + "\n") * 20,
        ("every a no b " * 70 + "\n") * 20,
        ("don't use a for b " * 50 + "\n") * 20,
        ("所有用" * 300 + "\n") * 20,
    ],
)
def test_no_text_makes_the_patterns_run_away(new_unit, nasty):
    unit = new_unit()
    unit.call("c1", path="a.py")
    unit.add("rejection", nasty, call_id="c1")
    unit.add("prompt", nasty)
    began = time.perf_counter()
    sentences(nasty)
    for rule in (rejections, corrections, instructions, decisions_said):
        rule.extract(unit.events)
    assert time.perf_counter() - began < 10
