from lorelake.content.normalise import content_key
from lorelake.content.similarity import signature
from lorelake.learnings.claims import claim
from lorelake.learnings.tombstones import match

QUOTE = "always close the database handle in a finally block before the worker returns"
REWORDED = "always close the database handle in a finally block before the worker is done"
OTHER = "use pnpm and never npm for anything in the web folder"


def decision(name, text, key=b""):
    return {"decision_id": name, "content_key": content_key(text), "signature": signature(text, key), "ts": 1}


def met(signal, words, *decisions, key=b""):
    return match(claim(signal("s1", words)), words, decisions, key)


def test_the_same_words_are_exact_nearly_the_same_are_near_and_others_are_none(signal):
    assert met(signal, QUOTE.upper(), decision("d1", QUOTE)) == ("d1", "exact")
    assert met(signal, REWORDED, decision("d1", QUOTE)) == ("d1", "near")
    assert met(signal, OTHER, decision("d1", QUOTE)) is None


def test_exact_goes_before_near(signal):
    assert met(signal, QUOTE, decision("d1", QUOTE), decision("d2", REWORDED)) == ("d1", "exact")


def test_a_tombstone_without_a_signature_meets_only_the_same_words(signal):
    bare = decision("d1", QUOTE) | {"signature": []}
    assert met(signal, QUOTE, bare) == ("d1", "exact")
    assert met(signal, REWORDED, bare) is None


def test_signatures_made_under_a_key_compare_under_that_key_only(signal):
    keyed = decision("d1", QUOTE, key=b"team")
    assert met(signal, REWORDED, keyed, key=b"team") == ("d1", "near")
    assert met(signal, REWORDED, keyed) is None
