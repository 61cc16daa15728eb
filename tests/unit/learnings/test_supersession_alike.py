"""Two statements about one subject: a changed value, a choice turned round, near duplicates; and none of these."""

import json
import random
import time
from datetime import UTC, datetime, timedelta

import pytest

from lorelake.learnings import supersession_reversed as reversal
from lorelake.learnings.supersession import candidates

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


class Said:
    """Learnings that persons stated, one signal each, a day apart."""

    def __init__(self):
        self.claims, self.signals = [], []

    def add(self, text, audience="project:shop", day=None, trust="stated", learning=None, **more):
        number = len(self.claims)
        claim = learning or f"lrn_{number:032x}"
        signal = {
            "signal_id": f"s{number}",
            "event_id": f"e{number}",
            "kind": "decision",
            "quote": text,
            "payload": "{}",
        }
        when = NOON + timedelta(days=number if day is None else day)
        self.signals.append(signal | {"audience": audience, "actor": more.pop("actor", "ana"), "ts": when})
        row = {"claim_id": claim, "signal_id": f"s{number}", "learning_id": claim, "is_canonical": learning is None}
        row |= {"title": text[:80], "trust_basis": trust, "kind": "decision", "rejected": None, "document": None}
        self.claims.append(row | {"applies_to": [], "tombstone_match": None} | more)
        return self

    def rows(self):
        return candidates(self.claims, self.signals, [], [])

    def links(self):
        return [(int(row["older_id"][4:], 16), int(row["newer_id"][4:], 16), row["reason"]) for row in self.rows()]


CHANGED = {
    "a number": ("The timeout is 30 s", "the timeout is 60 s"),
    "a number in other words": ("The gateway timeout is 30 s.", "Gateway: the timeout is 60 seconds now"),
    "a version": ("Use Node 20 for the workers", "use Node 22 for the workers"),
    "a spelled number": ("Retry the upload three times", "retry the upload five times"),
    "a name that is set": ("The primary region is eu-west-1", "the primary region is eu-north-1"),
    "a name in code": ("Set the log level to `info`", "set the log level to `warn`"),
    "Chinese": ("网关的超时是 30 秒", "网关的超时是 60 秒"),
}
UNCHANGED = {
    "the same value": ("The gateway timeout is 30 s", "for the gateway the timeout is 30 s"),
    "another subject": ("The timeout is 30 s", "The page size is 60 rows"),
    "a counted thing": ("Issue 12 breaks the gateway login", "Issue 14 breaks the gateway login"),
    "a day": ("The gateway moves on 2026-03-04", "The gateway moves on 2026-04-04"),
    "two values at once": ("Keep 3 replicas and 2 workers", "Keep 5 replicas and 4 workers"),
    "two commands that both hold": ("Run `make lint-all` before pushing", "Run `make test-all` before pushing"),
    "no subject at all": ("use 3", "use 4"),
}


@pytest.mark.parametrize("pair", CHANGED.values(), ids=CHANGED)
def test_another_value_for_the_same_subject_is_a_change(pair):
    assert Said().add(pair[0]).add(pair[1]).links() == [(0, 1, "value_changed")]


@pytest.mark.parametrize("pair", UNCHANGED.values(), ids=UNCHANGED)
def test_what_is_no_change_of_value(pair):
    assert "value_changed" not in {reason for *_, reason in Said().add(pair[0]).add(pair[1]).links()}


def test_a_change_has_both_quotes_the_values_and_the_later_speaker():
    (row,) = Said().add("The timeout is 30 s").add("The timeout is 60 s", actor="ben").rows()
    assert (row["older_quote"], row["newer_quote"]) == ("The timeout is 30 s", "The timeout is 60 s")
    assert (row["older_evidence"], row["newer_evidence"], row["evidence"]) == ("s0", "s1", "s1")
    features = json.loads(row["features"])
    assert (features["older"], features["newer"], features["subject"]) == ("30", "60", ["timeout"])
    assert (row["actor"], row["ts"], row["partial"], row["quote"]) == ("ben", NOON + timedelta(days=1), False, None)


def test_of_three_values_each_replaces_the_one_before():
    found = Said().add("The timeout is 30 s").add("The timeout is 60 s").add("The timeout is 90 s")
    assert found.links() == [(0, 1, "value_changed"), (1, 2, "value_changed")]


FIRST, LATER = "The timeout is 30 s", "The timeout is 60 s"


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ({}, {"audience": "project:pay"}),
        ({"day": 3}, {"day": 3}),
        ({"document": "docs/a.md"}, {"document": "docs/a.md"}),
        ({"applies_to": ["src/api"]}, {"applies_to": ["src/web"]}),
        ({}, {"trust": "mechanical"}),
        ({}, {"trust": "proposed"}),
        ({}, {"kind": "preference"}),
        ({"kind": "preference"}, {"kind": "preference", "actor": "ben"}),
        ({}, {"tombstone_match": "near"}),
    ],
    ids=["audience", "one moment", "one document", "other places", "a tool", "a model", "kinds", "persons", "held"],
)
def test_what_can_replace_nothing_gives_no_candidate(older, newer):
    assert Said().add(FIRST, **older).add(LATER, **newer).links() == []


def test_what_was_said_again_later_is_not_replaced():
    found = Said().add(FIRST).add(LATER)
    assert len(found.links()) == 1
    assert found.add("the timeout is 30 s", learning=found.claims[0]["claim_id"]).links() == []


REVERSED = {
    "instead of": ("Use Redis for the sessions", "Sessions live in Postgres instead of Redis", "redis"),
    "no longer": ("We use Jenkins for builds", "We no longer use Jenkins", "jenkins"),
    "moved from": ("Use pip for installs", "we moved from pip to uv", "pip"),
    "decided against": ("We chose GraphQL for the public API", "We decided against GraphQL", "graphql"),
    "dropped": ("Use moment.js for dates", "stop using moment.js", "moment.js"),
    "back to": ("We decided against tabs", "We went back to tabs", "tabs"),
    "Chinese": ("会话存储使用 Redis", "不再使用 Redis，改用 Postgres", "redis"),
    "denied": ("Always squash the commits of a branch", "Never squash the commits of a branch", None),
}


@pytest.mark.parametrize("case", REVERSED.values(), ids=REVERSED)
def test_what_turns_down_what_was_chosen_is_a_reversal(case):
    older, newer, term = case
    (row,) = Said().add(older).add(newer).rows()
    assert row["reason"] == "decision_reversed"
    assert json.loads(row["features"]).get("object") == term


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Use Redis for the sessions", "Logs live in Loki instead of Elastic"),
        ("Never use Redis for the sessions", "Sessions live in Postgres instead of Redis"),
        ("Use it for the sessions", "Do the other thing instead of it"),
        ("Use Redis for the sessions", "Redis holds the sessions of the shop"),
    ],
)
def test_what_reverses_nothing(older, newer):
    assert "decision_reversed" not in {reason for *_, reason in Said().add(older).add(newer).links()}


def test_the_option_an_item_says_was_turned_down_counts():
    assert reversal.read("keep the queue", rejected="Kafka streams").refused == {"kafka streams": "rejected"}
    found = Said().add("We settled on Kafka streams").add("keep the queue", rejected="Kafka streams")
    assert found.links() == [(0, 1, "decision_reversed")]


def test_near_duplicates_are_shown_and_others_are_not():
    first = "Ask for a second reader on every change of the database schema"
    near = "Please ask for a second reader on every change of the billing schema"
    far = "Ask the second shift for the billing schema of every reader"
    assert Said().add(first).add(near).links() == [(0, 1, "duplicate")]
    assert Said().add(first).add(far).links() == []
    (row,) = Said().add(first).add(near).rows()
    assert json.loads(row["features"])["similarity"] == pytest.approx(9 / 14, abs=0.001)


def test_a_word_that_settles_the_meaning_makes_no_duplicate_but_a_near_copy_is_shown():
    first = "Run the load test of the billing schema before every release"
    assert Said().add(first).add(first.replace("before", "after")).links() == []
    longer = first + " and keep its report with the release notes of the shop"
    (row,) = Said().add(longer).add(longer.replace("before", "after")).rows()
    assert (row["reason"], json.loads(row["features"])["differs"]) == ("duplicate", True)


def test_no_order_of_arrival_shows():
    found = Said()
    for texts in (*CHANGED.values(), *((older, newer) for older, newer, _ in REVERSED.values())):
        found.add(texts[0]).add(texts[1])
    expected = found.rows()
    assert len(expected) >= len(CHANGED) + len(REVERSED)
    for seed in range(3):
        random.Random(seed).shuffle(found.claims)
        random.Random(seed + 9).shuffle(found.signals)
        assert found.rows() == expected


def test_the_work_grows_with_the_number_of_statements_and_not_with_its_square():
    """Ten times the statements took about ten times as long when this was written; the square would take a hundred."""

    def cpu(count):
        pick = random.Random(7)
        words = [f"word{number}" for number in range(4000)]
        found = Said()
        for _ in range(count):
            said = " ".join(pick.choices(words, k=8))
            found.add(f"the {said} limit is {pick.randrange(90)} s")
        start = time.process_time()
        candidates(found.claims, found.signals, [], [])
        return time.process_time() - start

    cpu(200)
    assert cpu(3000) < 40 * cpu(300)
