"""One name for one error, in the outputs of many tools."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorelake.content.signatures import ALGORITHM, error_signature, mask

PYTHON = """Traceback (most recent call last):
  File "/home/{user}/shop/app/cart.py", line {line}, in total
    return rates[code]
  File "/usr/lib/python3/dist-packages/rates.py", line 9, in __getitem__
    raise KeyError(code)
KeyError: '{code}'
"""


def test_another_machine_line_and_value_is_the_same_error() -> None:
    one = error_signature(PYTHON.format(user="ann", line=12, code="EUR"))
    other = error_signature("\x1b[31mnoise\x1b[0m\n" + PYTHON.format(user="bob", line=99, code="USD"))
    assert one == other
    assert one is not None
    assert (one.type, one.frame, one.message) == ("KeyError", "app/cart.py:total", "<quoted>")
    assert one.key.startswith(f"{ALGORITHM}:")


PYTHON_CHAIN = """Traceback (most recent call last):
  File "a/b.py", line 1, in f
    x
ValueError: bad

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "a/c.py", line 2, in g
    y
shop.errors.CartError: no cart 17"""

PYTEST = """    def test_total():
>       assert total() == 3
E       AssertionError: assert 4 == 3
E        +  where 4 = total()

tests/test_cart.py:8: AssertionError
=== short test summary info ===
FAILED tests/test_cart.py::test_total - AssertionError: assert 4 == 3"""

NODE = """/srv/app/src/cart.js:10
    throw new TypeError('x')

TypeError: Cannot read properties of undefined (reading 'id')
    at next (/srv/app/node_modules/express/router.js:1:2)
    at total (/srv/app/src/cart.js:10:5)
"""

JEST = """  ● cart › adds up

    expect(received).toBe(expected)

    Expected: 3
    Received: 4

      at Object.<anonymous> (src/cart.test.ts:9:20)"""

GO_PANIC = """panic: runtime error: index out of range [5] with length 3

goroutine 1 [running]:
main.total(...)
\t/home/ann/shop/cart/cart.go:14
main.main()
\t/home/ann/shop/main.go:5 +0x1d"""

RUST_PANIC = """thread 'main' panicked at src/cart.rs:7:9:
index out of bounds: the len is 3 but the index is 5
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace"""

JAVA = """Exception in thread "main" java.lang.IllegalStateException: wrapped
\tat com.shop.App.main(App.java:5)
Caused by: java.lang.NullPointerException: cart is null
\tat java.util.Objects.requireNonNull(Objects.java:1)
\tat com.shop.Cart.total(Cart.java:9)
"""

TEST_PLACE = "tests/test_cart.py"
QUOTED_TYPES = "Type <quoted> is not assignable to type <quoted>."
NO_REPOSITORY = "not a git repository (or any of the parent directories): .git"


@pytest.mark.parametrize(
    ("text", "type_", "frame", "message"),
    [
        (PYTHON_CHAIN, "CartError", "a/c.py:g", "no cart <n>"),
        (
            '  File "x/y.py", line 3\n    def f(:\n          ^\nSyntaxError: invalid syntax',
            "SyntaxError", "x/y.py", "invalid syntax",
        ),
        (PYTEST, "AssertionError", TEST_PLACE, "assert <n> == <n>"),
        (
            f"FAILED {TEST_PLACE}::test_total - assert 4 == 3\n1 failed",
            "TestFailed", f"{TEST_PLACE}:test_total", "assert <n> == <n>",
        ),
        (NODE, "TypeError", "src/cart.js:total", "Cannot read properties of undefined (reading <quoted>)"),
        (JEST, "TestFailed", "cart › adds up", "expect(received).toBe(expected)"),
        (
            "src/cart.ts(12,5): error TS2322: Type 'string' is not assignable to type 'number'.",
            "TS2322", "src/cart.ts", QUOTED_TYPES,
        ),
        (
            "src/cart.ts:12:5 - error TS2322: Type 'string' is not assignable to type 'number'.",
            "TS2322", "src/cart.ts", QUOTED_TYPES,
        ),
        (GO_PANIC, "panic", "cart/cart.go:total", "runtime error: index out of range [<n>] with length <n>"),
        (
            "--- FAIL: TestTotal (0.00s)\n    cart_test.go:12: got 4, want 3\nFAIL",
            "TestFailed", "TestTotal", "got <n>, want <n>",
        ),
        ("# shop/cart\n./cart.go:10:2: undefined: rates", "CompileError", "./cart.go", "undefined: rates"),
        (
            "error[E0382]: borrow of moved value: `cart`\n  --> src/main.rs:4:5\n   |",
            "E0382", "src/main.rs", "borrow of moved value: <quoted>",
        ),
        (RUST_PANIC, "panic", "src/cart.rs", "index out of bounds: the len is <n> but the index is <n>"),
        (JAVA, "NullPointerException", "com.shop.Cart:total", "cart is null"),
        ("Cart.java:5: error: cannot find symbol", "CompileError", "Cart.java", "cannot find symbol"),
        ("cart.c:3:5: error: unknown type name 'foo'", "CompileError", "cart.c", "unknown type name <quoted>"),
        ("src/a.py:1:1: F401 `os` imported but unused", "F401", "src/a.py", "<quoted> imported but unused"),
        ("bash: line 1: pnpm: command not found", "CommandNotFound", "pnpm", "command not found"),
        ("/bin/sh: 1: pnpm: not found", "CommandNotFound", "pnpm", "command not found"),
        ("zsh: command not found: pnpm", "CommandNotFound", "pnpm", "command not found"),
        (
            "npm ERR! code ERESOLVE\nnpm ERR! unable to resolve 3 peers",
            "ERESOLVE", "npm", "unable to resolve <n> peers",
        ),
        ("make: *** [Makefile:12: build] Error 2", "CommandFailed", "make", "[Makefile:<n>: build] Error <n>"),
        (
            "pg_restore: error: no such dump\nmake: *** [Makefile:41: restore] Error 1",
            "CommandFailed", "", "no such dump",
        ),
        (f"fatal: {NO_REPOSITORY}", "CommandFailed", "git", NO_REPOSITORY),
        ("cat: /tmp/x/y.txt: No such file or directory", "CommandFailed", "cat", "No such file or directory"),
        ("Error: connect ECONNREFUSED 127.0.0.1:5432", "CommandFailed", "", "connect ECONNREFUSED <n>:<n>"),
    ],
)  # fmt: skip
def test_what_is_read_from_an_output(text: str, type_: str, frame: str, message: str) -> None:
    found = error_signature(text)
    assert found is not None
    assert (found.type, found.frame, found.message) == (type_, frame, message)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "12 passed in 0.3s",
        "total 4\n-rw-r--r-- 1 ann ann 12 errors.py",
        "no error was found",
        "def error(): pass",
        "On branch main\nnothing to commit",
    ],
)
def test_where_nothing_failed_there_is_no_signature(text: str) -> None:
    assert error_signature(text) is None


def test_other_errors_have_other_keys() -> None:
    texts = ["bash: pnpm: command not found", "bash: yarn: command not found", "Error: disk full", NODE]
    keys = {found.key for text in texts if (found := error_signature(text))}
    assert len(keys) == 4


@pytest.mark.parametrize(
    ("message", "masked"),
    [
        ("took 3.5 s at 2026-03-20T10:11:12Z", "took <n> s at <time>"),
        ("at 0x7ffee and deadbeef01", "at <hex> and <hex>"),
        ("id 550e8400-e29b-41d4-a716-446655440000", "id <uuid>"),
        ("open /home/ann/x/y.txt: no", "open <path>/y.txt: no"),
        ("can't open file 'a.py' or \"b\"", "can't open file <quoted> or <quoted>"),
        ("bad [redacted:github_token:0a1b2c3d]", "bad <redacted>"),
        ("utf8 and x86 stay", "utf8 and x86 stay"),
        ("  many \n spaces ", "many spaces"),
    ],
)
def test_mask(message: str, masked: str) -> None:
    assert mask(message) == masked


@given(st.text())
def test_masking_twice_changes_nothing_more_and_any_text_is_taken(text: str) -> None:
    error_signature(text)
    assert len(mask(text)) <= 300


def test_a_long_output_of_blank_lines_takes_no_time() -> None:
    assert error_signature("\n" * 200_000) is None
    assert error_signature("a" * 200_000) is None
    assert error_signature(" at a" * 40_000) is None
