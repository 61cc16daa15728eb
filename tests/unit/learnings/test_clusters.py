import random
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorelake.content import contrast
from lorelake.content.normalise import claim_id, words
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


def test_what_a_model_proposed_words_nothing_that_somebody_said():
    said = member("always drain the queue of the worker before it is deployed", minutes=9)
    proposed = msgspec.structs.replace(
        member("always drain the queue of the worker before it is deployed", minutes=1), is_proposed=True
    )
    assert canonical_signal([proposed, said]) == said.signal_id
    assert canonical_signal([proposed]) == proposed.signal_id


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


def quadratic(members):
    """What the contract says, pair by pair: the most senior canonical member that is near and says the same."""
    best = {}
    for one in sorted(members, key=lambda m: (m.rank, m.ts, m.claim_id, m.signal_id)):
        best.setdefault(one.claim_id, one)
    canonical, found = [], {}
    for claim, one in best.items():
        chosen = next((other for other in canonical if one.audience == other.audience and copies(one, other)), one)
        found[claim] = chosen.claim_id
        if chosen is one:
            canonical.append(one)
    return found


def copies(one, other):
    if jaccard(one.witness, other.witness) < NEAR:
        return False
    left, right = words(one.witness), words(other.witness)
    if contrast.settled_by(one.witness, left) != contrast.settled_by(other.witness, right):
        return False
    return not contrast.differ(one.witness, other.witness, left, right)


FEW = st.sampled_from(
    ["close", "the", "handle", "pool", "never", "8080", "9090", "before", "after", "not", "queue", "worker"]
)
SENTENCES = st.lists(FEW, min_size=1, max_size=14).map(" ".join)
EDITS = st.lists(st.tuples(st.integers(0, 30), st.sampled_from(["", "again", "pool", "9090", "not"])), max_size=3)


@st.composite
def near_sentences(draw):
    """A sentence of few words, and copies of it with up to three words changed, added or left out."""
    base = draw(st.lists(FEW, min_size=6, max_size=24))
    found = [base]
    for edits in draw(st.lists(EDITS, max_size=6)):
        copy = list(base)
        for place, word in edits:
            copy[place % len(copy) : place % len(copy) + (place % 2)] = [word] if word else []
            copy = copy or ["pool"]
        found.append(copy)
    return [" ".join(text) for text in found]


@given(st.lists(near_sentences(), min_size=1, max_size=4), st.lists(SENTENCES, max_size=8), st.data())
def test_the_quick_way_finds_what_the_slow_way_finds_in_any_order(near, others, data):
    texts = [*(text for some in near for text in some), *others]
    audiences = data.draw(st.lists(st.sampled_from(["team", "project:a"]), min_size=len(texts), max_size=len(texts)))
    members = [
        member(text, n, audience, reviewed=n % 5 == 3)
        for n, (text, audience) in enumerate(zip(texts, audiences, strict=True))
    ]
    expected = quadratic(members)
    assert clusters(members) == expected
    assert clusters(data.draw(st.permutations(members))) == expected


@given(st.lists(near_sentences(), min_size=1, max_size=3), st.data())
def test_signals_of_one_claim_may_come_in_any_split(near, data):
    """A claim said again later, by whatever signal, stays where its most senior signal put it."""
    members = [member(text, n) for n, text in enumerate(text for some in near for text in some)]
    again = [member(one.witness, 100 + n, signal_id=f"again-{n}") for n, one in enumerate(members)]
    some = data.draw(st.lists(st.sampled_from(again), unique_by=lambda one: one.signal_id))
    assert clusters([*some, *members]) == clusters(members)


def test_many_copies_of_one_sentence_are_one_learning_although_no_bigram_of_it_is_rare():
    crowd = [
        member(f"{LONG} {word}", n)
        for n, word in enumerate(f"filler{chr(97 + n % 26) * (1 + n // 26)}" for n in range(400))
    ]
    assert len({one.claim_id for one in crowd}) == 400
    assert set(clusters([member(LONG, -1), *crowd]).values()) == {member(LONG, -1).claim_id}


@pytest.mark.parametrize("text", ["", "pool", "pool small", "pool small pool", "不", "保持连接池小"])
def test_the_shortest_texts_are_their_own(text):
    one, other = member(text, 1), member(text + " 7", 2)
    assert clusters([one, other]) == {one.claim_id: one.claim_id, other.claim_id: other.claim_id}


def test_the_threshold_is_met_exactly():
    """4 of 5 bigrams are near, 3 of 4 are not."""
    five = "close every open handle first"
    assert jaccard(five, five + " today") == 4 / 5
    assert len(set(clusters([member(five), member(five + " today", 1)]).values())) == 1
    four = "close every open handle"
    assert len(set(clusters([member(four), member(four + " today", 1)]).values())) == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (LONG + " on port 8080", LONG + " on port 9090"),
        (LONG, LONG.replace("always", "never")),
        (LONG + " and use pnpm, not yarn, there", LONG + " and use yarn, not pnpm, there"),
        (LONG.replace("before", "after"), LONG),
        (LONG + " of `orders`", LONG + " of `refunds`"),
    ],
)
def test_near_words_that_say_something_else_are_no_copy(one, other):
    assert jaccard(one, other) >= 0.6
    assert len(set(clusters([member(one), member(other, 1)]).values())) == 2


def test_nothing_is_no_cluster():
    assert clusters([]) == {}


def test_of_several_versions_of_a_document_the_latest_words_are_served():
    old = member(LONG, 1, authored=True, document="a.md", signal_id="old")
    new = member(LONG, 9, authored=True, document="a.md", signal_id="new")
    other = member(LONG, 12, authored=True, document="b.md", signal_id="other")
    assert canonical_signal([new, other, old]) == "new"
    assert canonical_signal([member(LONG, 4, signal_id="later"), member(LONG, 2, signal_id="first")]) == "first"
