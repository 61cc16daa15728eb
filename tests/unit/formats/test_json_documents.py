from __future__ import annotations

import io
import json
from typing import Any

import pytest

from lorelake.formats.json_documents import Document, documents
from lorelake.formats.record import Member, Refusal


def read(data: bytes) -> tuple[list[Any], list[Refusal]]:
    found = list(documents(Member("x.json", len(data), lambda: io.BytesIO(data))))
    return [one.value for one in found if isinstance(one, Document)], [one for one in found if isinstance(one, Refusal)]


@pytest.mark.parametrize(
    ("data", "values"),
    [
        (b'[{"a": 1}, {"b": 2}]', [[{"a": 1}, {"b": 2}]]),
        (b'[{"a": 1}][{"b": 2}]', [{"a": 1}, {"b": 2}]),
        (b'[{"a": 1}]\n\n[]\n[{"b": 2}]\n', [{"a": 1}, {"b": 2}]),
        (b'{"a": 1}\n{"b": 2}\r\n', [{"a": 1}, {"b": 2}]),
        (b'\xef\xbb\xbf{"a": 1}{"b": [[1], [2]]}', [{"a": 1}, {"b": [[1], [2]]}]),
        (b'[[1], [2]][[3]]', [[1], [2], [3]]),
    ],
)  # fmt: skip
def test_what_commands_write_is_read(data: bytes, values: list[Any]) -> None:
    assert read(data) == (values, [])


def test_a_cut_list_keeps_its_whole_elements_and_says_where_it_broke() -> None:
    rows = [{"text": f"ünïcode {number}"} for number in range(3)]
    data = json.dumps(rows, ensure_ascii=False).encode()
    place = data.rindex(b"{")
    values, refusals = read(data[:-3])
    assert (values, [(one.reason, one.offset) for one in refusals]) == (rows[:2], [("not_json", place)])


def test_bytes_that_are_no_text_cost_one_element() -> None:
    values, (refusal,) = read(b'[{"a": 1}, {"b": "\xff"}, {"c": 3}]')
    assert values == [{"a": 1}, {"c": 3}]
    assert (refusal.reason, refusal.offset) == ("not_utf8", 11)


@pytest.mark.parametrize(
    ("data", "reasons"),
    [(b"", ["empty"]), (b" \n", ["empty"]), (b"no json", ["not_json"]), (b'{"a": 1} tail', ["not_json"]),
     (b'{"a": ' * 3000, ["not_json"]), (b"[" * 100_000, ["not_json"])],
)  # fmt: skip
def test_what_is_no_json_is_refused_once(data: bytes, reasons: list[str]) -> None:
    assert [one.reason for one in read(data)[1]] == reasons
