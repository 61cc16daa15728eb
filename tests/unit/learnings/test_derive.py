import random

from lorelake.content.normalise import content_key
from lorelake.learnings.derive import learnings
from lorelake.tables import CLAIMS

LONG = "always close the database handle in a finally block before the worker returns its result to the queue"


def test_every_claim_has_its_cluster_and_each_learning_one_row_that_is_served(signal, admitted):
    signals = [
        signal("s1", LONG, 1), signal("s2", LONG, 2, family_id="fam-2"), signal("s3", LONG + " again", 3),
        signal("s4", "we use pnpm, not npm", 4),
    ]  # fmt: skip
    rows, links, _ = learnings(signals, admitted(*signals), [], [])
    assert all(set(row) == set(CLAIMS.column_names) for row in rows)
    assert links == []
    by_signal = {row["signal_id"]: row for row in rows}
    assert len({row["learning_id"] for row in rows}) == 2
    assert by_signal["s1"]["learning_id"] == by_signal["s3"]["learning_id"] == by_signal["s1"]["claim_id"]
    assert sorted(row["signal_id"] for row in rows if row["is_canonical"]) == ["s1", "s4"]


def test_a_standing_tombstone_marks_its_claim_and_a_lifted_one_does_not(signal, admitted):
    one = signal("s1", LONG)
    decision = {
        "decision_id": "d1", "decision": "reject", "claim_id": "lrn_x", "content_key": content_key(LONG),
        "other_claim_id": None, "signature": [], "verdict": "applies", "ts": 1, "actor": "ben",
    }  # fmt: skip
    restore = decision | {"decision_id": "d2", "decision": "restore", "ts": 2}
    ((row,), *_) = learnings([one], admitted(one), [decision], [])
    assert (row["tombstone"], row["tombstone_match"]) == ("d1", "exact")
    ((row,), *_) = learnings([one], admitted(one), [decision, restore], [])
    assert (row["tombstone"], row["tombstone_match"]) == (None, None)


def test_no_order_of_input_shows(signal, admitted):
    signals = [signal(f"s{n}", " ".join(LONG.split()[: 10 + n % 7]), n) for n in range(30)]
    expected = learnings(signals, admitted(*signals), [], [])
    rng = random.Random(3)
    for _ in range(4):
        rng.shuffle(signals)
        assert learnings(signals, admitted(*signals), [], []) == expected


def test_a_backfill_that_brings_an_earlier_member_keeps_every_id(signal, admitted):
    """The cluster has a new name; the name it had is a claim of it still."""
    said = [signal("s1", LONG, 5), signal("s2", LONG + " again", 6)]
    (before, *_) = learnings(said, admitted(*said), [], [])
    (name,) = {row["learning_id"] for row in before}
    said.append(signal("s0", LONG + " please", 0))
    (after, *_) = learnings(said, admitted(*said), [], [])
    holder = {row["claim_id"]: row["learning_id"] for row in after}
    assert len(set(holder.values())) == 1
    assert holder[name] != name
    assert {row["claim_id"] for row in before} < holder.keys()


def test_without_the_bridge_that_held_them_two_claims_stand_alone(signal, admitted):
    """The middle one was canonical, being the earliest; it is erased, and the outer two are too far from each other."""
    words = LONG.split()
    bridge = signal("bridge", " ".join(words), 0)
    left, right = signal("left", " ".join(words[2:]), 1), signal("right", " ".join(words[:-2]), 2)
    (rows, *_) = learnings([left, bridge, right], admitted(left, bridge, right), [], [])
    assert len({row["learning_id"] for row in rows}) == 1
    (rows, *_) = learnings([left, right], admitted(left, right), [], [])
    assert sorted(row["learning_id"] for row in rows) == sorted(row["claim_id"] for row in rows)
    assert all(row["is_canonical"] for row in rows)


def test_what_was_taken_out_takes_no_neighbour_with_it(signal, admitted):
    """Near enough for one cluster, were it not that another person is named: a rejection is of the one alone."""
    text = "Don't merge a change to src/billing/invoice.py without a review from {}."
    signals = [signal("s1", text.format("Ngozi")), signal("s2", text.format("Jonas"), 1)]
    decision = {
        "decision_id": "d1", "decision": "reject", "claim_id": "lrn_x", "content_key": content_key(signals[0]["quote"]),
        "other_claim_id": None, "claims": [], "signature": [], "verdict": "applies", "ts": 1, "actor": "ben",
        "reach": "team",
    }  # fmt: skip
    rows = learnings(signals, admitted(*signals), [decision], []).claims
    found = {row["signal_id"]: row for row in rows}
    assert [found[name]["tombstone_match"] for name in ("s1", "s2")] == ["exact", None]
    assert found["s1"]["learning_id"] != found["s2"]["learning_id"]
    assert found["s2"]["is_canonical"]
