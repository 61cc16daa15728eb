import pytest

from lorelake.evidence import decisions_said, instructions, rejections


def kept(unit, *messages, kind="prompt"):
    """The messages, by position, whose words still count at the end."""
    for words in messages:
        unit.add(kind, words)
    rules = (decisions_said, instructions)
    signals = [signal for rule in rules for signal in rule.extract(unit.events)]
    return sorted({int(signal.event_id.rpartition("-")[2]) for signal in signals if signal.item})


@pytest.mark.parametrize(
    ("messages", "left"),
    [
        (("we will use port 8080 for the gateway", "make that 9090"), []),
        (("we will use port 8080 for the gateway", "make it faster"), [0]),
        (("we will use orders_v1 for the export", "sorry, I meant orders_v2"), []),
        (("always keep 3 copies of the orders", "always keep 5 copies of the orders"), [1]),
        (("always keep 3 copies of the orders", "always keep 3 copies of the users"), [0, 1]),
        (("let's use Kafka for the job queue", "let's use Postgres for the job queue"), [1]),
        (("let's use Kafka for the job queue", "let's use Postgres for the user table"), [0, 1]),
        (("we will use the queue", "let's use plain threads instead of the queue"), [1]),
        (("use uv, not pip", "never use pip in the image"), [0, 1]),
        (("always squash the commits", "never squash the commits", "always squash the commits"), [2]),
        (("always squash the commits", "scratch that"), []),
        (("always squash the commits", "actually, also pin the driver version"), [0]),
        (("always squash the commits", "maybe never squash the commits"), [0]),
        (("always squash the commits", "should we never squash the commits?"), [0]),
        (("scratch that, always squash the commits",), [0]),
        (("scratch that. always squash the commits",), [0]),
        (("always squash the commits. scratch that",), []),
        (("we will use the queue for the export", "make that orders_v2"), [0]),
        (("we will use orders_v1 for the export", "make that orders_v1"), [0]),
        (("always keep 3 copies of the orders", "always keep copies of the orders"), [0, 1]),
        (("以后都用连接池", "算了，还是用线程"), []),
        (("以后都用连接池", "好的"), [0]),
        (("统一用8080端口", "改成9090"), []),
    ],
    ids=lambda value: str(value)[:50],
)
def test_of_words_that_are_taken_back_the_last_count(unit, messages, left):
    assert kept(unit, *messages) == left


def test_a_refusals_direction_is_taken_back_by_a_later_decision(new_unit):
    def items(later):
        unit = new_unit()
        unit.call("c1", path="/src/a.py")
        unit.add("rejection", "use Kafka for the job queue", call_id="c1")
        unit.add("prompt", later)
        return [signal.item for signal in rejections.extract(unit.events)]

    assert items("ok, let's use Postgres for the job queue") == [{}]
    assert items("now start the worker")[0]["do"] == "use Kafka for the job queue"


@pytest.mark.parametrize("live", [True, False])
def test_words_of_a_refused_call_take_back_unless_they_were_rewound(unit, live):
    unit.add("prompt", "always squash the commits")
    unit.call("c1", path="/src/a.py")
    unit.add("rejection", "scratch that, never squash the commits", call_id="c1", on_live_path=live)
    assert (0 in kept(unit)) is not live


def test_nobody_takes_back_what_another_said(unit):
    unit.add("message", "We will use port 8080 for the gateway.", actor="ana")
    unit.add("message", "Scratch that.", actor="ben")
    assert kept(unit) == [0]
    unit.add("message", "Scratch that, the gateway keeps its old port.", actor="ana")
    assert kept(unit) == []


@pytest.mark.parametrize(
    ("later", "counted"),
    [
        ("Unless the driver is a preview build.", True),
        ("The pin of the driver does not apply to the seed script.", True),
        ("The colour of the header does not apply to the footer.", False),
        ("Does the pin of the driver apply to the seed script?", False),
        ("Maybe except for the pin of the driver in tests.", False),
    ],
)
def test_a_later_exception_to_the_same_matter_is_a_counter_argument(unit, later, counted):
    unit.add("prompt", "Always pin the driver.")
    unit.add("prompt", later)
    (signal,) = [s for s in instructions.extract(unit.events) if s.event_id == unit.events[0].event_id]
    assert signal.item.get("not_when", []) == ([f"speaker: {later}"] if counted else [])


def test_an_objection_counts_of_another_person_only_and_names_its_source(unit):
    unit.add("message", "Always pin the driver version.", actor="ana")
    unit.add("message", "However, the driver version changes every week.", actor="ben")
    unit.add("message", "However, the driver version is public.", actor="ana")
    (signal,) = instructions.extract(unit.events)
    assert signal.item["not_when"] == ["thread: However, the driver version changes every week."]
