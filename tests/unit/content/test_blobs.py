"""No byte of a picture is left; everything else is."""

from __future__ import annotations

import base64
import hashlib
import json
import random
from typing import Any

import pytest

from lorelake.content.blobs import strip_blobs, strip_text

PICTURE = b"\x89PNG\r\n\x1a\n" + random.Random(1).randbytes(3000)
ENCODED = base64.b64encode(PICTURE).decode()
SHA = hashlib.sha256(PICTURE).hexdigest()
BLOB = {"blob": {"type": "image/png", "size": len(PICTURE), "sha256": SHA}}
MARK = f"[blob:image/png:{len(PICTURE)}:{SHA}]"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (
            {"type": "base64", "media_type": "image/png", "data": ENCODED},
            {"type": "base64", "media_type": "image/png", "data": BLOB},
        ),
        (
            {"inlineData": {"mimeType": "image/png", "data": ENCODED}},
            {"inlineData": {"mimeType": "image/png", "data": BLOB}},
        ),
        ({"file": {"base64": ENCODED, "type": "image/png"}}, {"file": {"base64": BLOB, "type": "image/png"}}),
        ({"image_url": f"data:image/png;base64,{ENCODED}"}, {"image_url": BLOB}),
        (
            {"outputs": {"image/png": ENCODED, "text/plain": "<Figure>"}},
            {"outputs": {"image/png": BLOB, "text/plain": "<Figure>"}},
        ),
        ({"text": f"see ![x](data:image/png;base64,{ENCODED}) here"}, {"text": f"see ![x]({MARK}) here"}),
        ({"stdout": f"$ base64 x.png\n{ENCODED}\ndone"}, {"stdout": f"$ base64 x.png\n{MARK}\ndone"}),
        ([["a", {"b": [None, 1, True, 1.5, "c"]}]], [["a", {"b": [None, 1, True, 1.5, "c"]}]]),
    ],
)
def test_blobs_become_type_size_and_hash(value: Any, expected: Any) -> None:
    assert strip_blobs(value) == expected
    assert strip_blobs(expected) == expected


def test_wrapped_base64_is_one_blob() -> None:
    wrapped = base64.encodebytes(PICTURE).decode()
    assert strip_text(f"head\n{wrapped}tail") == f"head\n{MARK}\ntail"
    assert strip_text(json.dumps(f"head\n{wrapped}tail")) == json.dumps(f"head\n{MARK}\ntail")


def test_a_small_declared_picture_goes_too() -> None:
    value = {"media_type": "image/gif", "data": base64.b64encode(b"GIF89a" + b"x" * 9).decode()}
    assert strip_blobs(value)["data"]["blob"]["size"] == 15


def test_broken_base64_is_hashed_as_it_is() -> None:
    broken = ENCODED[:-3] + "A" if len(ENCODED[:-3]) % 4 == 0 else ENCODED[:-3]
    stripped = strip_blobs({"media_type": "image/png", "data": broken[: len(broken) // 4 * 4 + 1]})
    assert set(stripped["data"]["blob"]) == {"type", "size", "sha256"}


@pytest.mark.parametrize(
    "text",
    [
        "sha512-" + base64.b64encode(bytes(range(64))).decode(),
        "-" * 2000,
        "=" * 900,
        "a" * 3000,
        "/".join(["folder"] * 30) + " " + "word " * 400,
        "data: not a url; base64, no",
        json.dumps({"ids": ["lrn_" + "0a" * 16] * 40}),
    ],
)
def test_text_that_is_no_blob_stays(text: str) -> None:
    assert strip_blobs({"text": text, "data": "plain words", "type": "text/plain"}) == {
        "text": text,
        "data": "plain words",
        "type": "text/plain",
    }


def test_twenty_megabytes_leave_less_than_a_kilobyte() -> None:
    data = base64.b64encode(b"\xff\xd8\xff" + bytes(15_000_000)).decode()
    value = {
        "content": [
            {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": data}},
            {"text": "kept"},
        ]
    }
    stripped = strip_blobs(value)
    assert stripped["content"][1] == {"text": "kept"}
    assert len(json.dumps(stripped)) < 1000
    assert data[100:200] not in json.dumps(stripped)


def test_depth_is_no_limit() -> None:
    value: Any = ENCODED
    for _ in range(20_000):
        value = [value]
    stripped = strip_blobs(value)
    for _ in range(20_000):
        stripped = stripped[0]
    assert stripped == MARK
