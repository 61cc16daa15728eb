"""Work in the second process: results and errors come back whole; without one, work is done in place."""

from __future__ import annotations

import operator
import os

import pytest

from lorelake.errors import ContractError, SettingsError
from lorelake_assets import second_process


def test_without_a_second_process_work_is_done_here() -> None:
    assert second_process.call(os.getpid) == os.getpid()


@pytest.fixture(scope="module")
def second():
    following = second_process.NEXT
    second_process.NEXT = "json"
    with second_process.running():
        yield second_process
    second_process.NEXT = following


@pytest.mark.slow
def test_results_come_back_from_another_process(second) -> None:
    assert second.call(os.getpid) != os.getpid()
    wait = second.start(operator.add, 40, 2)
    assert wait() == 42


@pytest.mark.slow
def test_an_error_of_the_work_comes_back_with_its_place_and_remedy(second) -> None:
    with pytest.raises(ZeroDivisionError):
        second.call(operator.truediv, 1, 0)
    assert second.call(operator.add, 1, 1) == 2


def test_our_errors_survive_the_way_between_processes() -> None:
    import pickle

    error = pickle.loads(pickle.dumps(SettingsError("wrong", where="a.toml", remedy="mend it")))  # noqa: S301
    assert isinstance(error, SettingsError)
    assert str(error) == "a.toml: wrong\n  remedy: mend it"
    assert isinstance(pickle.loads(pickle.dumps(ContractError("x"))), ContractError)  # noqa: S301


@pytest.mark.slow
def test_a_second_process_that_died_is_told_as_that() -> None:
    with second_process.running():
        second_process.NEXT, following = "json", second_process.NEXT
        try:
            with pytest.raises(ConnectionError, match="_exit"):
                second_process.call(os._exit, 3)
        finally:
            second_process.NEXT = following
