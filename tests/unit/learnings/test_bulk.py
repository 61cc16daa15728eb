"""The collector of cycles rests during bulk work, and is as it was afterwards."""

from __future__ import annotations

import gc

import pytest

from lorelake.learnings.bulk import without_collector


@without_collector()
def is_on() -> bool:
    return gc.isenabled()


def test_it_rests_meanwhile_and_works_again_after():
    assert gc.isenabled()
    assert not is_on()
    assert not is_on()
    assert gc.isenabled()


def test_it_works_again_after_a_failure():
    with pytest.raises(ValueError, match="on purpose"), without_collector():
        raise ValueError("on purpose")
    assert gc.isenabled()


def test_work_inside_other_work_does_not_wake_it():
    with without_collector():
        is_on()
        assert not gc.isenabled()
