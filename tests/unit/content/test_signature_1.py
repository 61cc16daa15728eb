"""What the former algorithm gave: these keys are in claims and ledgers, so none of them may ever change."""

from __future__ import annotations

import pytest

from lorelake.content import signature_1, signatures

TRACEBACK = """Traceback (most recent call last):
  File "/srv/till/app/cart.py", line 3, in total
    rate(code)
KeyError: 'EUR'
"""


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (TRACEBACK, "sig-1:b62e9f40190f5a55667baa56f7cd4dd8"),
        ("Error: connect ECONNREFUSED 127.0.0.1:5432", "sig-1:812c7415210819e98c4fc2235d67e2f5"),
        ("fatal: unrecognized argument: --no-stat", "sig-1:2701e9abd6c6053b81d581f3bffcb538"),
        (
            "--- FAIL: TestTotal (0.00s)\n    cart_test.go:12: got 4, want 3\nFAIL",
            "sig-1:743df6b95a6f9be43db7b3a4d4680750",
        ),
        (
            "cart.go:35:3: Error return value of `os.Chdir` is not checked (errcheck)",
            "sig-1:a451e2c8408e786a733a0cdc65ad7fe9",
        ),
    ],
)
def test_a_former_key_is_what_it_was(text: str, key: str) -> None:
    found = signature_1.error_signature(text)
    assert found is not None
    assert found.key == key


def test_every_key_says_which_algorithm_gave_it() -> None:
    old, new = signature_1.error_signature(TRACEBACK), signatures.error_signature(TRACEBACK)
    assert old is not None
    assert new is not None
    assert old.key.startswith("sig-1:")
    assert new.key.startswith("sig-2:")
    assert signatures.ALGORITHM != signature_1.ALGORITHM
