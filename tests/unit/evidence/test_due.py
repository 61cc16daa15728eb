from datetime import date

import pytest

from lorelake.evidence.due import due_day, due_words, is_deadline

MONDAY = date(2026, 3, 2)


@pytest.mark.parametrize(
    ("words", "day", "said"),
    [
        ("I'll merge it tomorrow", date(2026, 3, 3), "tomorrow"),
        ("the day after tomorrow at the latest", date(2026, 3, 4), "day after tomorrow"),
        ("done by EOD", MONDAY, "by EOD"),
        ("we ship by Friday", date(2026, 3, 6), "by Friday"),
        ("within the next 2 days", date(2026, 3, 4), "within the next 2 days"),
        ("in two weeks", date(2026, 3, 16), "in two weeks"),
        ("a fix soon, ETA 1 day", date(2026, 3, 3), "soon"),
        ("on 2026-04-15 we switch", date(2026, 4, 15), "on 2026-04-15"),
        ("before the end of the month", date(2026, 3, 31), "before the end of the month"),
        ("明天上线", date(2026, 3, 3), "明天"),
        ("后天发版", date(2026, 3, 4), "后天"),
        ("两天内补上", date(2026, 3, 4), "两天内"),
        ("周五前给你", date(2026, 3, 6), "周五前"),
        ("下周三发版", date(2026, 3, 11), "下周三"),
        ("2026年4月1日切换", date(2026, 4, 1), "2026年4月1日"),
        ("月底之前", date(2026, 3, 31), "月底"),
    ],
)
def test_a_day_that_is_said_is_found(words, day, said):
    assert due_day(words, MONDAY) == day
    assert due_words(words) == said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("we will do it soon", "soon"),
        ("sometime next week", "next week"),
        ("on May 4th", "on May 4th"),
        ("today or tomorrow", "today"),
        ("by Monday", "by Monday"),
        ("in 3 business days", "in 3 business days"),
        ("on 2026-02-31", "on 2026-02-31"),
        ("尽快处理", "尽快"),
        ("I will write the test", None),
        ("version 10.20.30 fails", None),
    ],
)
def test_a_day_that_would_have_to_be_guessed_is_not(words, said):
    assert due_day(words, MONDAY) is None
    assert due_words(words) == said


def test_a_weekday_is_the_next_one_after_the_message():
    assert due_day("by Friday", date(2026, 3, 7)) == date(2026, 3, 13)


@pytest.mark.parametrize(
    "words", ["by Monday", "until Friday", "Before 2026-04-01", "within 2 days", "周五前", "两天内"]
)
def test_words_that_say_when_something_ends(words):
    assert is_deadline(words)


@pytest.mark.parametrize("words", ["from Monday", "on Monday", "in two weeks", "tomorrow", "两天后", None])
def test_words_that_say_when_something_begins(words):
    assert not is_deadline(words)
