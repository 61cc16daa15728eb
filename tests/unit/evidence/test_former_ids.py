"""An item that got its id under the former algorithm of error signatures is found by that id ever after."""

import pytest

from lorelake.content import signature_1
from lorelake.content.normalise import claim_id
from lorelake.evidence.signals import signal_rows
from lorelake.learnings.claims import claim

LINT = "cart.go:35:3: Error return value of `os.Chdir` is not checked (errcheck)"


def rows(unit, kind):
    return [claim(row) for row in signal_rows(unit.events, {"family_id": "f"}) if row["kind"] == kind]


@pytest.mark.parametrize("kind", ["error_fixed", "retry_worked"])
def test_a_claim_names_the_id_that_the_former_algorithm_gave_it(unit, kind):
    if kind == "error_fixed":
        failure = LINT
        unit.run("c1", "make lint", LINT, True)
        unit.call("e1", path="/home/a/shop/cart.go")
        unit.add("tool_result", "done", call_id="e1", tool="Edit", is_error=False)
        unit.run("c2", "make lint", "ok", False)
    else:
        failure = "Error: unknown flag: --fast"
        unit.run("c1", "till count --fast", failure, True)
        unit.run("c2", "till count", "17", False)
    (row,) = rows(unit, kind)
    before = signature_1.error_signature(failure)
    told = f"{before.type} {before.frame} {before.message} {before.key}"
    assert row["former_ids"] == [claim_id("project:shop", told)]
    assert row["claim_id"] not in row["former_ids"]


def test_a_claim_of_a_persons_words_has_no_other_id(unit):
    unit.add("prompt", "always count the carts before you close the till")
    (row,) = rows(unit, "instruction")
    assert row["former_ids"] == []
