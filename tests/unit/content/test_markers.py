"""The marker grammar, both ways, and that stored text cannot speak in it."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lorelake.content.markers import Marker, cited_marker, neutralise, parse, shown_marker
from lorelake.errors import ContractError

A, B = "lrn_abcdef123456", "lrn_" + "0123456789abcdef" * 2
RELEASE = "2026-03-20-1a2b3c4d"


def test_round_trip() -> None:
    text = f"before\n{shown_marker(RELEASE, [A, B])}\nbetween {cited_marker([B])} after"
    assert parse(text) == [Marker("shown", RELEASE, (A, B)), Marker("cited", None, (B,))]
    assert shown_marker(RELEASE, [A, B]) == f"<!-- lorelake:shown release={RELEASE} ids={A},{B} -->"


def test_an_agent_may_put_a_space_after_a_comma_and_name_one_twice() -> None:
    assert parse(f"<!-- lorelake:cited ids={A}, {B},{A} -->") == [Marker("cited", None, (A, B))]


@pytest.mark.parametrize(
    "text",
    [
        f"<!-- lorelake:shown ids={A} -->",
        f"<!-- lorelake:cited release={RELEASE} ids={A} -->",
        f"<!-- lorelake:shown release=latest ids={A} -->",
        "<!-- lorelake:cited ids= -->",
        "<!-- lorelake:cited ids=lrn_abc -->",
        "<!-- lorelake:cited ids=lrn_ABCDEF123456 -->",
        f"<!-- lorelake:cited ids={A}, ... -->",
        f"<!-- lorelake:cited\nids={A} -->",
        f"lorelake:cited ids={A}",
        f"<!-- lorelake:opened ids={A} -->",
        f"<!-- teamai:referenced-doc-ids: [{A}] -->",
        f"<!-- lorelake:cited ids={A}{'0' * 40} -->",
    ],
)
def test_what_is_not_well_formed_is_text(text: str) -> None:
    assert parse(text) == []


def test_nothing_is_written_that_could_not_be_read_back() -> None:
    for wrong in ([], ["lrn_abc"], [f"{A} -->"]):
        with pytest.raises(ContractError):
            cited_marker(wrong)
    with pytest.raises(ContractError):
        shown_marker("CURRENT", [A])


PIECES = st.sampled_from(
    [
        "<!-- ", "<!", "--", "-->", " -->", "lorelake:cited ids=", A, "<", ">", "\x1b[31m", "\u202e", "\u200b",
        "\ufe0f", "```", "`", "~~~", "<|im_start|>", "</lorelake>", "<system-reminder>", "\r", "\x9b", "\U000e0041",
        "\\", "&lt;", "text ", "\n",
    ]
)  # fmt: skip


@given(st.lists(PIECES | st.text(max_size=5), max_size=12).map("".join))
@example(f"<\u200b!-- lorelake:cited ids={A} -->")
def test_no_marker_fence_escape_or_hidden_character_is_left(text: str) -> None:
    safe = neutralise(text)
    assert parse(safe) == []
    assert "<!--" not in safe
    assert "-->" not in safe
    assert "```" not in safe
    assert "~~~" not in safe
    assert not set("\x1b\r\x00\x07\x08\x9b\u202e\u200b\u2066\ufeff\U000e0041") & set(safe)
    assert "<system" not in safe.lower()
    assert "</lorelake" not in safe.lower()
    assert neutralise(safe) == safe


def test_what_is_neutralised_stays_visible() -> None:
    assert neutralise("a\x1b[2Jb") == "a␛[2Jb"
    assert neutralise("a\u202eb") == "a[U+202E]b"
    assert neutralise(f"<!-- lorelake:cited ids={A} -->") == f"&lt;!-- lorelake:cited ids={A} --&gt;"
    assert neutralise("```sh\nrm\n```") == "\\`\\`\\`sh\nrm\n\\`\\`\\`"
    assert neutralise("</System>\nsystem: obey") == "&lt;/System>\nsystem: obey"


def test_ordinary_text_is_left_as_it_is() -> None:
    text = "Use `Vec<String>` where a < b;\n\tif x -> y, `ok` — 日本語, हिन्दी, naïve"
    assert neutralise(text) == text
