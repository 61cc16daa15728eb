"""A person's words against what memory told: whose words, against which item, how plainly, and what instead."""

import json

import pytest

from lorelake.content.markers import opened_marker, shown_marker
from lorelake.evidence.memory_refuted import extract

RELEASE = "2026-03-01-0a1b2c3d"
POOL, QUEUE = "lrn_" + "ab" * 16, "lrn_" + "cd" * 16
POOL_TEXT = [
    "> 1. Keep the connection pool at ten  [lrn_abababababab]",
    ">    do: Set the pool of every worker to ten connections before the load test starts.",
]
QUEUE_TEXT = ["> 2. Bound the retry queue  [lrn_cdcdcdcdcdcd]", ">    do: Give the retry queue a bound of a thousand."]


def recall(unit, *ids, lines=(), command="lorelake recall pool"):
    unit.run(f"m{len(unit.events)}", command, "\n".join([*lines, shown_marker(RELEASE, list(ids))]), False)


def one(unit):
    recall(unit, POOL, lines=POOL_TEXT)


def both(unit):
    recall(unit, POOL, QUEUE, lines=[*POOL_TEXT, "", *QUEUE_TEXT])


def found(unit):
    return [(s.item_claim, s.how, s.plain) for s in map(_Told, extract(unit.events))]


class _Told:
    def __init__(self, signal):
        self.item_claim, self.how, self.plain = (signal.seen[name] for name in ("claim", "how", "plain"))


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("lrn_abababababab is wrong, ten is for the old database.", (POOL, "id", True)),
        ("Keep the connection pool at ten: that is outdated.", (POOL, "title", True)),
        ('It says "Set the pool of every worker to ten connections before the load test". That is no longer true.',
         (POOL, "quote", True)),
        ("> Give the retry queue a bound of a thousand.\n\nThat's not how we do it any more, it is obsolete.",
         (QUEUE, "quote", True)),
        ("Is lrn_abababababab still right? I think it is outdated?", (POOL, "id", False)),
        ("Maybe lrn_abababababab is outdated, not sure.", (POOL, "id", False)),
    ],
)  # fmt: skip
def test_an_item_is_named_by_id_title_or_its_own_words(unit, words, wanted):
    both(unit)
    unit.add("prompt", words)
    assert found(unit) == [wanted]


@pytest.mark.parametrize(
    "words",
    [
        "lrn_abababababab is right, do that.",
        "Use lrn_abababababab for the load test.",
        "The build is wrong.",
        "lrn_efefefefefef is wrong.",
        "That memory is outdated.",
        "The memory limit is wrong.",
        "Keep the pool: the config is outdated.",
    ],
)
def test_praise_other_matters_and_words_that_could_mean_either_item_say_nothing(unit, words):
    both(unit)
    unit.add("prompt", words)
    assert found(unit) == []


@pytest.mark.parametrize(
    "words", ["That memory is outdated.", "What lorelake said is no longer true.", "这条记忆过时了。"]
)
def test_the_memory_is_the_one_item_that_was_just_shown(unit, words):
    one(unit)
    unit.add("prompt", words)
    assert found(unit) == [(POOL, "memory", True)]


def test_the_memory_is_nothing_in_particular_turns_later(unit):
    one(unit)
    for _ in range(2):
        unit.add("prompt", "go on")
    unit.add("prompt", "That memory is outdated.")
    assert found(unit) == []


def test_words_before_it_was_shown_are_not_about_it(unit):
    unit.add("prompt", "lrn_abababababab is wrong.")
    one(unit)
    assert found(unit) == []


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("answer", {}), ("injected", {}), ("compaction", {}), ("prompt", {"on_live_path": False}),
        ("prompt", {"attributes": {"picked_option": True}}),
    ],
)  # fmt: skip
def test_only_a_persons_own_words_count(unit, kind, more):
    one(unit)
    unit.add(kind, "lrn_abababababab is wrong.", **more)
    assert found(unit) == []


@pytest.mark.parametrize("kind", ["prompt", "queued_prompt", "rejection"])
def test_a_refusal_and_words_typed_while_it_worked_are_a_persons_too(unit, kind):
    one(unit)
    unit.add(kind, "lrn_abababababab is wrong.")
    assert found(unit) == [(POOL, "id", True)]


def test_what_was_not_shown_by_a_memory_cannot_be_refuted(unit):
    recall(unit, POOL, lines=POOL_TEXT, command="cat notes.md")
    unit.add("prompt", "lrn_abababababab is wrong. That memory is outdated.")
    assert found(unit) == []


def test_an_observation_has_no_item_and_a_direction_makes_one(unit):
    one(unit)
    unit.add("prompt", "lrn_abababababab is wrong.")
    unit.add("prompt", "lrn_abababababab is outdated. Always set the pool to five.")
    bare, directed = extract(unit.events)
    assert (bare.item, bare.quote) == ({}, "lrn_abababababab is wrong.")
    assert directed.item["do"].startswith("Always set the pool to five")
    assert directed.item["trust_basis"] == "stated"
    for signal in (bare, directed):
        event = next(event for event in unit.events if event.event_id == signal.event_id)
        assert event.text[signal.quote_start : signal.quote_end] == signal.quote


def test_a_corrected_act_that_did_as_the_item_says_is_a_signal_but_not_plain(unit):
    one(unit)
    unit.call("e1", tool="Edit", path="/r/settings.py", text="set pool of every worker to ten connections")
    unit.add("prompt", "no, use five connections for the worker pool instead")
    assert found(unit) == [(POOL, "act", False)]
    (signal,) = extract(unit.events)
    assert signal.item == {}


def test_a_rule_about_the_same_place_is_not_against_the_item(unit):
    """Two words of a matter are shared by everything that is said of it."""
    one(unit)
    unit.call("e1", tool="Edit", path="/r/settings.py", text="set pool of every worker to ten connections")
    unit.add("prompt", "never start a worker without naming its load balancer in the settings")
    assert found(unit) == []


def test_a_correction_of_something_else_is_none(unit):
    one(unit)
    unit.call("e1", tool="Edit", path="/r/readme.md", text="rename the heading")
    unit.add("prompt", "no, use the short heading instead")
    assert found(unit) == []


def test_items_of_gitmem_and_an_item_opened_by_its_id(unit):
    scar = "gitmem ── 1 scar to review\n\n[!] **Keep the pool at ten** (high, 0.9) id:bc376d1f\nTen waits.\n"
    unit.call("g1", tool="mcp__gitmem__recall", text=json.dumps({"plan": "x"}))
    unit.add("tool_result", scar, call_id="g1", tool="mcp__gitmem__recall")
    unit.run("m1", f"lorelake show {QUEUE[:16]}", f"{QUEUE_TEXT[0]}\n{opened_marker(RELEASE, [QUEUE])}", False)
    unit.add("prompt", "bc376d1f is wrong.")
    unit.add("prompt", "Bound the retry queue, that is not correct any more.")
    assert found(unit) == [("gitmem:bc376d1f", "id", True), (QUEUE, "title", True)]
