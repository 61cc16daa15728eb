import pytest

from lorelake.learnings.grounding import inferred


@pytest.mark.parametrize(
    ("field", "quote", "ours"),
    [
        ("Use the job queue", "we're going with the job queue", False),
        ("Use the job queue", "we're going with threads", True),
        ("Add a retry to the client", "the fix is adding a retry to the client", False),
        ("Set the timeout to 30 seconds", "set the timeout to 60 seconds", True),
        ("Call `get_user` first", "call get_users first", True),
        ("Run the tests in `tests/unit`", "run the tests in tests/unit please", False),
        ("Do not commit generated files", "we don't commit generated files", False),
        ("Do not commit generated files", "we commit generated files", True),
        ("Commit generated files", "please commit generated files", False),
        ("不要直接改主分支", "请记住，不要直接改主分支", False),
        ("使用连接池", "以后都用线程池", True),
    ],
)
def test_a_word_that_stands_in_no_quote_marks_its_field(field, quote, ours):
    assert inferred({"do": field}, [quote]) == (["do"] if ours else [])


def test_fields_are_compared_one_by_one_and_with_all_quotes():
    fields = {"title": "Close the file", "when": "editing `store.py`", "because": "it leaks", "rejected": None}
    assert inferred(fields, ["close the file"]) == ["when", "because"]
    assert inferred(fields, ["close the file", "it leaks on every retry"]) == ["when"]


def test_empty_fields_need_no_quote():
    assert inferred({"title": "", "when": "", "do": "Stop", "because": None}, ["stop"]) == []
