import random
from datetime import UTC, datetime, timedelta

from lorelake.content.normalise import claim_id
from lorelake.content.similarity import jaccard
from lorelake.learnings.clusters import NEAR, Member, canonical_signal, clusters

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
LONG = "always close the database handle in a finally block before the worker returns its result to the queue"
NEARLY = LONG + " again"
FAR = "always open the database handle in a finally block after the worker takes its task from the queue"


def member(witness, minutes=0, audience="team", authored=False, reviewed=False, document=None, signal_id=None):
    return Member(
        claim_id=claim_id(audience, witness),
        signal_id=signal_id or f"{audience}-{minutes}",
        audience=audience,
        witness=witness,
        is_authored=authored,
        is_reviewed=reviewed,
        document=document,
        ts=NOON + timedelta(minutes=minutes),
    )


def test_nearly_the_same_words_are_one_learning_named_after_the_earliest():
    assert jaccard(LONG, NEARLY) >= NEAR > jaccard(LONG, FAR)
    first, second, third = member(LONG, 5), member(NEARLY, 1), member(FAR, 2)
    found = clusters([first, second, third])
    assert found[first.claim_id] == found[second.claim_id] == second.claim_id
    assert found[third.claim_id] == third.claim_id


def test_authored_goes_before_reviewed_before_earliest():
    early, reviewed, authored = (
        member(LONG, 0),
        member(NEARLY, 5, reviewed=True),
        member(LONG + " now", 9, authored=True),
    )
    assert set(clusters([early, reviewed]).values()) == {reviewed.claim_id}
    assert set(clusters([early, reviewed, authored]).values()) == {authored.claim_id}


def test_audiences_never_mix():
    here, there = member(LONG, audience="project:a"), member(NEARLY, audience="project:b")
    assert len(set(clusters([here, there]).values())) == 2


def test_a_chain_of_small_changes_does_not_drift():
    words = LONG.split()
    chain = [member(" ".join(words[: len(words) - n]), n) for n in range(6)]
    found = clusters(chain)
    for one in chain:
        canonical = next(other for other in chain if other.claim_id == found[one.claim_id])
        assert one is canonical or jaccard(one.witness, canonical.witness) >= NEAR
    assert len(set(found.values())) > 1


def test_no_order_of_input_shows():
    rng = random.Random(7)
    members = [member(" ".join(LONG.split()[: 8 + n % 9]) + f" {n % 4}", n) for n in range(40)]
    expected = clusters(members)
    for _ in range(5):
        rng.shuffle(members)
        assert clusters(members) == expected


def test_claims_that_share_only_common_word_pairs_are_not_compared():
    crowd = [member(f"keep the pool small {n} {n * 7} {n * 13}", n) for n in range(60)]
    assert len(set(clusters(crowd).values())) == len(crowd)


def test_of_several_versions_of_a_document_the_latest_words_are_served():
    old = member(LONG, 1, authored=True, document="a.md", signal_id="old")
    new = member(LONG, 9, authored=True, document="a.md", signal_id="new")
    other = member(LONG, 12, authored=True, document="b.md", signal_id="other")
    assert canonical_signal([new, other, old]) == "new"
    assert canonical_signal([member(LONG, 4, signal_id="later"), member(LONG, 2, signal_id="first")]) == "first"
