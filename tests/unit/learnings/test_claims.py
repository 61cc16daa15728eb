import hashlib

import pytest

from lorelake.content.normalise import claim_id, content_key
from lorelake.learnings.claims import claim, claims, text_sha256
from lorelake.tables import CLAIMS

QUOTE = "always close the handle in a finally block"
COUNTER = ["author: A batch job that runs alone at night.", "author: The read replica, which allows fifty."]


def test_a_row_fits_the_contract(signal):
    row = claim(signal("s1", QUOTE))
    assert set(row) == set(CLAIMS.column_names)
    assert row["title"] == "Always close the handle in a finally block"
    assert row["do"] == "Always close the handle in a finally block."


def test_ids_are_made_of_the_witness_and_never_of_our_phrasing(signal):
    row = claim(signal("s1", QUOTE))
    other = claim(signal("s2", "Always close the handle\nin a *finally* block!", item={"do": "quite other words"}))
    assert row["claim_id"] == other["claim_id"] == claim_id("project:shop", QUOTE)
    assert row["content_key"] == content_key(QUOTE)
    wider = claim(signal("s3", QUOTE, audience="team"))
    assert wider["claim_id"] != row["claim_id"]
    assert wider["content_key"] == row["content_key"]


def test_a_witness_named_by_the_item_goes_before_the_quote(signal):
    row = claim(signal("s1", "Fixed in 1a2b3c4", item={"witness": QUOTE}))
    assert row["content_key"] == content_key(QUOTE)


def test_the_text_hash_binds_title_do_because_and_not_when_and_nothing_else(signal):
    row = claim(signal("s1", QUOTE, item={"not_when": COUNTER, "because": "the handle leaks"}))
    joined = "\x1f".join((row["title"], row["do"], row["because"], "\x1e".join(row["not_when"])))
    assert row["text_sha256"] == hashlib.sha256(joined.encode()).hexdigest()
    assert text_sha256("t", "d", None, []) == hashlib.sha256(b"t\x1fd\x1f\x1f").hexdigest()
    assert claim(signal("s1", QUOTE, item={"tags": ["x"]}))["text_sha256"] == claim(signal("s1", QUOTE))["text_sha256"]


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({"kind": "scar", "severity": "high"}, ("scar", "high")),
        ({"kind": "scar", "severity": "quite bad"}, ("scar", None)),
        ({"kind": "hunch"}, ("pattern", None)),
    ],
)
def test_kind_and_severity_stand_as_stated_within_their_vocabulary(signal, item, expected):
    row = claim(signal("s1", QUOTE, item=item))
    assert (row["kind"], row["severity"]) == expected


def test_only_admitted_signals_become_claims_in_order_of_id(signal, admitted):
    kept, refused = signal("s1", QUOTE), signal("s2", "use pnpm, not npm")
    verdicts = [*admitted(kept), {"signal_id": "s2", "admitted": False, "rule": "no_item", "detail": ""}]
    assert [row["signal_id"] for row in claims([refused, kept], verdicts)] == ["s1"]


def test_a_reason_that_only_repeats_the_advice_is_left_out(signal):
    assert claim(signal("s1", QUOTE, item={"because": QUOTE + "."}))["because"] is None


def test_an_unknown_trust_or_kind_is_never_taken_over(signal):
    row = claim(signal("s1", QUOTE, item={"trust_basis": "certain", "kind": "law"}))
    assert (row["trust_basis"], row["kind"]) == ("proposed", "pattern")
