from __future__ import annotations

import hashlib
import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorelake.formats import json_lines
from lorelake.formats.json_lines import Line, first_objects, read_lines
from lorelake.formats.record import Member, Refusal


def read(data: bytes) -> list[Line | Refusal]:
    return list(read_lines(Member("a.jsonl", len(data), lambda: io.BytesIO(data))))


def values(data: bytes) -> list[dict[str, object]]:
    return [line.value for line in read(data) if isinstance(line, Line)]


def reasons(data: bytes) -> list[str]:
    return [refusal.reason for refusal in read(data) if isinstance(refusal, Refusal)]


def test_place_and_bytes_of_each_object() -> None:
    data = b'\xef\xbb\xbf{"a":1}\r\n\n  {"b":"\xc3\xa9"} {"c":3}\n{"d":4}'
    lines = [line for line in read(data) if isinstance(line, Line)]
    assert [(line.line, line.value) for line in lines] == [(1, {"a": 1}), (3, {"b": "é"}), (3, {"c": 3}), (4, {"d": 4})]
    for line in lines:
        assert data[line.offset :].startswith(line.raw)


@pytest.mark.parametrize("data", [b"", b"\n", b" \n\r\n", b"\xef\xbb\xbf"])
def test_nothing_in_it_is_said(data: bytes) -> None:
    assert reasons(data) == ["empty"]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b'{"a": "cut he', "not_json"),
        (b'{"a": NaN}', "not_json"),
        (b'{"a": 1e999}', "not_json"),
        (b'{"a": "tab\there"}', "not_json"),
        (b'{"a": "\xff"}', "not_utf8"),
        (b'{"a": "\xed\xa0\x80"}', "not_utf8"),
        (b'{"a": "\\ud83d"}', "lone_surrogate"),
        (b'{"\\udc00": 1}', "lone_surrogate"),
        (b'{"a": "\\ude00\\ud83d"}', "lone_surrogate"),
        (b'["a"]', "wrong_shape"),
        (b'"a"', "wrong_shape"),
        (b"2026-02-03 12:00:01 started", "not_json"),
        (b'{"a":' * 201 + b"1" + b"}" * 201, "wrong_shape"),
    ],
)
def test_one_bad_line_costs_one_line(bad: bytes, reason: str) -> None:
    data = b'{"first":1}\n' + bad + b'\n{"last":1}\n'
    assert values(data) == [{"first": 1}, {"last": 1}]
    (refusal,) = (item for item in read(data) if isinstance(item, Refusal))
    assert refusal.reason == reason
    assert (refusal.line, refusal.offset) == (2, 12)
    assert refusal.sha256 == hashlib.sha256(bad).hexdigest()


@pytest.mark.parametrize("good", [b'"\\ud83d\\ude00"', b'"\\\\ud83d"', b'"a\\u0000b"', b"12345678901234567890123"])
def test_what_looks_bad_and_is_not(good: bytes) -> None:
    data = b'{"a":' + good + b"}\n"
    assert values(data) == [{"a": json.loads(good)}]


def test_two_objects_without_a_line_end_between() -> None:
    assert values(b'{"a":"}{"}{"b":2}\n') == [{"a": "}{"}, {"b": 2}]
    assert values(b'{"a":1}{"b":"\xff"}{"c":3}\n') == [{"a": 1}, {"c": 3}]
    assert reasons(b'{"a":1}{"b":"\xff"}{"c":3}\n') == ["not_utf8"]


def test_whole_object_before_a_torn_one_on_the_same_line() -> None:
    assert values(b'{"a":1}{"b":\n') == [{"a": 1}]
    assert reasons(b'{"a":1}{"b":\n') == ["not_json"]
    assert reasons(b'{"a":1}{"b":') == ["incomplete_tail"]


def test_nul_padding_is_refused_and_what_follows_it_is_kept() -> None:
    data = b'{"a":1}\n\0\0\0{"b":2}\n\0\0'
    assert values(data) == [{"a": 1}, {"b": 2}]
    assert reasons(data) == ["not_json", "not_json"]


def test_a_last_line_is_torn_only_if_it_is_not_whole() -> None:
    assert reasons(b'{"a":1}\n{"b":"\xc3') == ["incomplete_tail"]
    assert reasons(b'{"a":1}\n{"b":"\xff"}') == ["not_utf8"]
    assert reasons(b'{"a":1}\n{"b":2}') == []


def test_every_cut_keeps_what_was_whole_and_the_rest_is_read_when_it_has_come() -> None:
    whole = [{"n": number, "text": f'Größe {number}: 日本語 😀 \\ " \n'} for number in range(3)]
    lines = [json.dumps(value, ensure_ascii=number % 2 == 0).encode() + b"\n" for number, value in enumerate(whole)]
    data = b"".join(lines)
    ends = [sum(map(len, lines[: number + 1])) for number in range(3)]
    for cut in range(len(data) - 200, len(data) + 1):
        # A line whose end alone is missing is whole.
        expected = [value for value, end in zip(whole, ends, strict=True) if end - 1 <= cut]
        assert values(data[:cut]) == expected
        torn = cut not in (0, *ends) and cut + 1 not in ends
        assert reasons(data[:cut]) == (["incomplete_tail"] if torn else [])


def test_a_line_of_twenty_megabytes() -> None:
    data = json.dumps({"picture": "A" * 20_000_000}).encode() + b'\n{"b":1}\n'
    assert [list(value) for value in values(data)] == [["picture"], ["b"]]


def test_a_line_past_the_limit_is_refused_by_name_and_the_next_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_lines, "MAX_LINE_BYTES", 100)
    long = json.dumps({"a": "x" * 5000}).encode() + b"\n"
    data = b'{"a":1}\n' + long + b'{"b":2}\n'
    lines = read(data)
    assert [item.offset for item in lines] == [0, 8, 8 + len(long)]
    refusal = lines[1]
    assert isinstance(refusal, Refusal)
    assert refusal.reason == "too_large"
    assert refusal.sha256 == hashlib.sha256(long).hexdigest()
    assert values(data) == [{"a": 1}, {"b": 2}]


def test_head_for_sniffing_leaves_out_the_cut_line() -> None:
    assert first_objects(b'{"a":1}\n{"b":2}\n{"c":') == [{"a": 1}, {"b": 2}]


json_values = st.dictionaries(st.text(max_size=5), st.text(max_size=20) | st.integers() | st.lists(st.text(max_size=5)))


@given(st.lists(json_values, max_size=5), st.binary(max_size=60).filter(lambda noise: b"{" not in noise))
@settings(deadline=None)
def test_noise_never_costs_a_whole_line(objects: list[dict[str, object]], noise: bytes) -> None:
    lines = [json.dumps(value).encode() for value in objects]
    data = b"\n".join([noise, *lines]) + b"\n"
    assert values(data) == objects
    for refusal in (item for item in read(data) if isinstance(item, Refusal)):
        assert refusal.reason != "incomplete_tail"
