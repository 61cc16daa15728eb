import pytest

from lorelake.evidence.prose import sentences
from lorelake.evidence.said import advice, is_hedged, kind_of


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


@pytest.mark.parametrize(
    ("words", "do", "because"),
    [
        ("Never retry a payment, because it may be booked twice. Use a key.", "Never retry a payment. Use a key.",
         "it may be booked twice"),
        ("Never retry a payment because it may be booked twice, use a key instead.",
         "Never retry a payment. use a key instead.", "it may be booked twice"),
        ("Never use the admin role - use a scoped token.", "Never use the admin role. use a scoped token.", None),
        ("Don't add a table. It's not a report. Use the view.", "Don't add a table. Use the view.",
         "It's not a report"),
        ("Never retry a payment. Fix the page.", "Never retry a payment.", None),
        ("Never retry a payment. Is it booked?", "Never retry a payment.", None),
        ("If the pool is full, use the queue.", "If the pool is full, use the queue.", None),
        ("No, it fails because you ran it alone, just run the whole suite.", "just run the whole suite.",
         "you ran it alone"),
        ("No, the failure is cause you ran it alone, just run the whole suite.", "just run the whole suite.",
         "the failure is cause you ran it alone"),
        ("no tabs in tables please", "no tabs in tables please", None),
        ("不要重试支付，因为可能重复入账。用幂等键。", "不要重试支付。 用幂等键。", "可能重复入账"),
    ],
)  # fmt: skip
def test_what_to_do_instead_of_the_forbidden_is_kept(words, do, because):
    found = advice(sentences(words), 0)
    assert (found.do, found.because) == (do, because)


def test_a_complaint_beside_a_direction_is_its_reason():
    found = advice(sentences("Not as a comment, but as a document. You've put it in the project."), 0, 2)
    assert found.do == "Not as a comment, but as a document."
    assert found.because == "You've put it in the project"


@pytest.mark.parametrize(
    ("message", "hedged"),
    [
        ("not 100% sure, but always pin the driver", True),
        ("always pin the driver, not sure though", True),
        ("maybe always pin the driver", True),
        ("always pin the driver, and maybe add a test", False),
        ("perhaps it is late, but always pin the driver", False),
        ("always pin the driver", False),
        ("always pin the driver. not sure though.", True),
        ("always pin the driver. Maybe add a test.", False),
        ("I am not sure what the header is for and who reads it. Always pin the driver.", False),
        ("不确定，但一律固定驱动", True),
        ("一律固定驱动，也许再加个测试", False),
    ],
)
def test_a_hedge_counts_on_the_core_of_what_is_said_only(message, hedged):
    said = sentences(message)
    at = next(n for n, sentence in enumerate(said) if "pin" in sentence.own or "固定" in sentence.own)
    assert is_hedged(said, at) is hedged


def test_an_order_ends_where_the_task_of_the_moment_follows():
    assert advice(sentences("Make sure every job is typed and then let's open a request."), 0).do == (
        "Make sure every job is typed"
    )
    assert advice(sentences("Never touch the old table before you start the migration."), 0).do == (
        "Never touch the old table"
    )


def test_as_with_a_negation_gives_a_reason_and_as_a_comparison_does_not():
    said = advice(sentences("Never read the cache as we don't fill it any more."), 0)
    assert (said.do, said.because) == ("Never read the cache", "we don't fill it any more")
    assert advice(sentences("Always name it as we discussed."), 0).because is None
