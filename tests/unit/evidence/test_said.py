import pytest

from lorelake.evidence.prose import sentences
from lorelake.evidence.said import advice, kind_of


@pytest.mark.parametrize(
    ("words", "do", "because"),
    [
        ("Use the pool because threads leak.", "Use the pool", "threads leak"),
        ("Never search without the id, otherwise offices read each other.", "Never search without the id",
         "otherwise offices read each other"),
        ("Use tmp_path so that workers cannot collide.", "Use tmp_path", "so that workers cannot collide"),
        ("Wait ten minutes, since two merges at once are normal.", "Wait ten minutes",
         "two merges at once are normal"),
        ("Close the office, because of the fire in the hall.", "Close the office", "the fire in the hall"),
        ("Sort by both. Rows are skipped otherwise, and shown twice.", "Sort by both.", None),
    ],
)  # fmt: skip
def test_a_reason_is_cut_off_and_still_says_what_it_said(words, do, because):
    found = advice(sentences(words), 0)
    assert (found.do, found.because) == (do, because)


def test_stop_forbids_only_what_is_to_be_stopped():
    assert kind_of("stop opening connections") == "anti_pattern"
    assert kind_of("stop after the deadline of the request") == "pattern"
