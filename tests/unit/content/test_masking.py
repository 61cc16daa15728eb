"""What is stored of a record: a look at its JSON text decides what is walked, and changes no outcome."""

from __future__ import annotations

import base64
import random
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorelake.content.blobs import LONGEST_KEPT, may_hold_blobs, strip_blobs
from lorelake.content.masking import encoded, masked
from lorelake.content.redaction import Redactor, disown

REDACTOR = Redactor(b"k" * 32)
NOISE = random.Random(4).randbytes(3000)
BASE64 = base64.b64encode(NOISE).decode()
LINES = base64.encodebytes(NOISE).decode()
MARK = REDACTOR.mark("email", "ann@team.example")

HOLDING = [
    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": BASE64[:40]}},
    {"mimeType": "image/png", "data": BASE64[:40]},
    {"image/png": BASE64[:40]},
    {"audio/ogg": BASE64[:40]},
    {"application/pdf": BASE64[:40]},
    {"encoding": "base64", "content": BASE64[:40]},
    {"b64_json": BASE64[:40]},
    {"format": "image/webp", "bytes": BASE64[:40]},
    {"text": f"see data:image/png;base64,{BASE64[:80]} there"},
    {"text": f"a {BASE64[: LONGEST_KEPT + 3]} b"},
    {"text": f"before\n{LINES}after"},
    {"text": LINES.replace("\n", "\r\n")},
    {"text": LINES.replace("\n", "\\n")},
    {"text": LINES.replace("\n", "\\r\\n")},
    {"text": BASE64.replace("+", "-").replace("/", "_")},
]


@pytest.mark.parametrize("value", HOLDING, ids=lambda value: str(value)[:40])
def test_a_value_with_a_blob_is_told_by_its_text(value: Any) -> None:
    assert strip_blobs(value) != value
    assert may_hold_blobs([b"{}", encoded(value)]) == [1]
    assert may_hold_blobs([b"{}", encoded(value)], pl.Series(["{}", encoded(value).decode()])) == [1]


@pytest.mark.parametrize("offset", range(9))
def test_a_run_of_the_least_length_is_told_wherever_it_starts(offset: int) -> None:
    value = {"k": "." * offset + BASE64[:LONGEST_KEPT]}
    assert strip_blobs(value) != value
    assert may_hold_blobs([b"{}", encoded(value)]) == [1]
    assert may_hold_blobs([b"{}", encoded(value)], pl.Series(["{}", encoded(value).decode()])) == [1]


def test_prose_code_and_hashes_hold_no_blob() -> None:
    plain = "the parser reads `src/app/main.py:41` and then fails, sha512-" + BASE64[:86] + "== 'x' "
    assert may_hold_blobs([encoded({"text": plain * 200, "ids": [BASE64[:400]]})]) == []


@given(st.lists(st.one_of(st.sampled_from(HOLDING), st.just({"by": MARK}), st.text(max_size=9)), max_size=5))
def test_the_body_is_that_of_the_value_walked_in_full(values: list[Any]) -> None:
    secret = {"say": "mail ann@team.example", "password": "hunter2!x"}
    values = [*values, secret]
    walked = [REDACTOR.values([disown(strip_blobs(value))])[0] for value in values]
    assert masked(values, [encoded(value) for value in values], REDACTOR) == [encoded(value) for value in walked]


def test_bodies_do_not_depend_on_what_stands_beside_them() -> None:
    filler = {"text": "words and words " * 800}
    values = [*HOLDING, {"by": MARK}, {"mail": "ann@team.example"}, filler]
    together = masked(values, [encoded(value) for value in values], REDACTOR)
    assert together == [masked([value], [encoded(value)], REDACTOR)[0] for value in values]
