import pytest

from lorelake.content.signatures import error_signature
from lorelake.evidence.telling import named, telling_line, witnesses


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    raise KeyError(code)\nKeyError: 17\n',
            "KeyError: 17",
        ),
        ("\x1b[31mError: disk full\x1b[0m\nbye", "\x1b[31mError: disk full\x1b[0m"),
        ("3 files\n  src/a.ts(1,2): error TS2304: Cannot find name 'rate'.\n",
         "src/a.ts(1,2): error TS2304: Cannot find name 'rate'."),
        ("--- FAIL: TestTotal (0.00s)\n    cart_test.go:12: got 4, want 3\nFAIL", "cart_test.go:12: got 4, want 3"),
        ("npm error code E404\nnpm error 404 No match found for version 4.40.1", "npm error 404 No match found for "
         "version 4.40.1"),
        ("--- FAIL: TestTotal (0.00s)\nFAIL", "--- FAIL: TestTotal (0.00s)"),
    ],
)  # fmt: skip
def test_the_line_that_tells_it(text, line):
    start, end = telling_line(text, error_signature(text))
    assert text[start:end] == line


def test_a_line_without_end_is_cut():
    text = "Error: " + "no " * 400
    start, end = telling_line(text, error_signature(text))
    assert end - start == 400


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("\x1b[31mError: disk full\x1b[0m", "disk full"),
        ("src/a.go:12:3: undefined: rate", "undefined: rate"),
        ("❌ The till is open", "The till is open"),
        ("ValueError: bad rate", "ValueError: bad rate"),
    ],
)
def test_an_error_is_named_without_its_place_and_its_trimmings(line, name):
    assert named(line, error_signature(line, True)) == name


def test_of_a_failing_test_the_test_comes_first():
    text = "--- FAIL: TestTotal (0.00s)\n    cart_test.go:12: got 4, want 3\nFAIL"
    assert named("cart_test.go:12: got 4, want 3", error_signature(text)) == "TestTotal fails: got 4, want 3"


def test_the_witness_is_the_signature_and_the_former_one_is_told():
    text = "cart.go:35:3: Error return value of `os.Chdir` is not checked (errcheck)"
    found = witnesses(error_signature(text), text)
    assert found["witness"].startswith("errcheck cart.go Error return value of `os.Chdir` is not checked sig-2:")
    (former,) = found["former_witnesses"]
    assert former.startswith("CompileError cart.go Error return value of <quoted> is not checked (errcheck) sig-1:")
