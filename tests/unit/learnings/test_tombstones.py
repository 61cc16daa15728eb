from datetime import UTC, datetime

from lorelake.content.gist_signature import signature
from lorelake.content.normalise import content_key
from lorelake.content.similarity import signature as word_pairs
from lorelake.content.tombstones import origins
from lorelake.learnings.claims import claim
from lorelake.learnings.tombstones import Ground, mark

QUOTE = "always close the database handle in a finally block before the worker returns"
COPY = "always close the database handle in a finally block before the worker returns please"
REWORDED = "the worker must not leak its database handle: close it in a finally block"
OTHER = "use pnpm and never npm for anything in the web folder"
KEY = b"k" * 32
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def decision(name, text, day=2, **more):
    row = {"decision_id": name, "content_key": content_key(text), "signature": signature(text, key=KEY)}
    return row | {"ts": NOON.replace(day=day), "reach": "team"} | more


def met(one, *decisions, key=KEY):
    row = claim(one)
    return Ground(decisions, {}, key).met(row, one["quote"], one["audience"], origins(row, one))


def test_the_same_words_and_copies_are_suppressed_and_other_words_are_held(signal):
    buried = decision("d1", QUOTE)
    assert met(signal("s1", QUOTE.upper()), buried) == ("d1", "exact")
    assert met(signal("s1", COPY), buried) == ("d1", "exact")
    assert met(signal("s1", REWORDED), buried) == ("d1", "near")
    assert met(signal("s1", OTHER), buried) is None


def test_a_copy_that_settles_something_else_is_none(signal):
    buried = decision("d1", "retry the upload 3 times before you call the export of the day broken")
    again = "retry the upload 9 times before you call the export of the day broken"
    assert met(signal("s1", again), buried) is None


def test_of_our_own_wording_of_a_claim_no_copy_is_made(signal):
    """The witness says it otherwise; only a person may say whether it is the same."""
    worded = signal("s1", "as discussed in the call of yesterday, the usual", item={"do": QUOTE})
    assert met(worded, decision("d1", QUOTE)) == ("d1", "near")


def test_exact_goes_before_near_and_the_latest_decision_before_others(signal):
    one = signal("s1", QUOTE)
    assert met(one, decision("d1", QUOTE), decision("d2", REWORDED, day=5)) == ("d1", "exact")
    assert met(one, decision("d1", QUOTE), decision("d0", QUOTE, day=5)) == ("d0", "exact")


def test_a_tombstone_reaches_its_audience_or_everybody(signal):
    there, here = (decision("d1", QUOTE, reach=reach) for reach in ("project:till", "project:shop"))
    for text in (QUOTE, COPY, REWORDED):
        assert met(signal("s1", text), there) is None
        assert met(signal("s1", text), here) is not None


def test_a_tombstone_without_a_signature_meets_only_the_same_words(signal):
    bare = decision("d1", QUOTE, signature=[])
    assert met(signal("s1", QUOTE), bare) == ("d1", "exact")
    assert met(signal("s1", REWORDED), bare) is None


def test_a_signature_compares_under_its_own_key_only(signal):
    assert met(signal("s1", REWORDED), decision("d1", QUOTE), key=b"another key, as long as the first") is None


def test_word_pairs_of_older_decision_files_still_hold(signal):
    older = decision("d1", QUOTE, signature=word_pairs(QUOTE))
    assert met(signal("s1", COPY), older) == ("d1", "near")
    assert met(signal("s1", OTHER), older) is None


def test_one_sentence_of_a_long_text_is_enough(signal):
    filler = "We looked at the graphs of the last week and at the tickets of the support. " * 8
    assert met(signal("s1", f"{filler}\n{REWORDED}.\n{filler}"), decision("d1", QUOTE)) == ("d1", "near")


def test_from_the_same_passage_less_is_enough(signal):
    """A parser that cuts the quote otherwise reads the same message again."""
    quote, part = "close the handle in finally, says the doc", "close the handle, the doc tells the limit of rows"
    assert met(signal("s2", part), decision("d1", quote)) is None
    same = decision("d1", quote, signature=signature(quote, ["event event-s2"], KEY))
    assert met(signal("s2", part), same) == ("d1", "near")


def test_the_lake_signs_what_a_tombstone_holds(signal):
    """A decision by hand carries a key only: the claims that have it say what it is about."""
    signals = [signal("s1", QUOTE), signal("s2", REWORDED), signal("s3", OTHER)]
    rows = [claim(one) for one in signals]
    by_id = {one["signal_id"]: one for one in signals}
    mark(rows, {name: one["quote"] for name, one in by_id.items()}, by_id, [decision("d1", QUOTE, signature=[])], KEY)
    assert [(row["tombstone"], row["tombstone_match"]) for row in rows] == [
        ("d1", "exact"), ("d1", "near"), (None, None),
    ]  # fmt: skip
    assert [bool(row["signature"]) for row in rows] == [True, False, False]
    assert rows[0]["signature"] == signature(QUOTE, origins(rows[0], signals[0]), KEY)
