"""Pairs that are near by their words: those that say the same, and those that say something else."""

from __future__ import annotations

import pytest

from lorelake.content.contrast import differ, settled_by
from lorelake.content.normalise import words


def same(left: str, right: str) -> bool:
    one, other = words(left), words(right)
    return settled_by(left, one) == settled_by(right, other) and not differ(left, right, one, other)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("the gateway listens on port 8080 behind the proxy", "the gateway listens on port 9090 behind the proxy"),
        ("wait five minutes for the cache", "wait ten minutes for the cache"),
        ("we are on version 3.11 of the runtime", "we are on version 3.12 of the runtime"),
        ("set retry_count in the worker", "set retry_limit in the worker"),
        ("pass --force to the command", "pass --dry-run to the command"),
        ("run `lint` before you push", "run `test` before you push"),
        ("use TypeScript for the till", "use JavaScript for the till"),
        ("always squash the commits", "never squash the commits"),
        ("the cache is shared between workers", "the cache isn't shared between workers"),
        ("do log the customer's order", "do not log the customer's order"),
        ("use pnpm, not yarn, in the shop", "use pnpm, not bun, in the shop"),
        ("use pnpm, not yarn, in the shop", "use yarn, not pnpm, in the shop"),
        ("use tabs instead of spaces", "use spaces instead of tabs"),
        ("the shop runs on rows and the till on columns", "the shop runs on columns and the till on rows"),
        ("prefer composition over inheritance", "prefer inheritance over composition"),
        ("we do not deploy but we announce", "we deploy but we do not announce"),
        ("migrate before the deploy", "migrate after the deploy"),
        ("enable the flag in staging", "disable the flag in staging"),
        ("stopping the worker drains it", "starting the worker drains it"),
        ("the report goes out on Monday", "the report goes out on Friday"),
        ("try it in staging first", "try it in production first"),
        ("部署之前要备份数据库", "部署之后要备份数据库"),
        ("可以直接推送到主分支", "不可以直接推送到主分支"),
        ("超时设为三秒钟就好", "超时设为五秒钟就好"),
        ("我们用甲方案不用乙方案", "我们用乙方案不用甲方案"),
        ("call [redacted:phone:1a2b3c4d] on an outage", "call [redacted:phone:ffffffff] on an outage"),
    ],
)
def test_what_says_something_else_differs(left: str, right: str) -> None:
    assert not same(left, right)
    assert not same(right, left)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("run `make lint` before you push", "Run make lint before you push, please"),
        ("never push to main on a Friday", "please never ever push to main on a Friday"),
        ("do not use npm in the shop", "please do not npm in the shop"),
        ("close the handle before the worker returns", "before the worker returns, close the handle"),
        ("1. keep the pool small", "3) keep the pool small"),
        ("a well-known port is fine", "a well known port is fine"),
        ("the Github token lies in the vault", "the GitHub token lies in the vault"),
        ("a log line, e.g. of the till, is enough", "a log line, of the till, is enough"),
        ("this is fast enough for the till", "this is quick enough for the till"),
        ("非常重要的是先备份", "重要的是先备份"),
        ("不过先备份数据库", "先备份数据库"),
    ],
)
def test_what_is_only_said_in_other_words_does_not(left: str, right: str) -> None:
    assert same(left, right)
    assert same(right, left)


def test_a_list_number_that_the_text_needs_stays() -> None:
    assert not same("8. port 8 is open", "8. port 9 is open")
    assert settled_by("8. port 8 is open", words("8. port 8 is open")) == ("8",)
