"""What agents hand to memories becomes a proposal in their own words, and nothing more."""

import json

import pytest

from lorelake.evidence.gates import Context, admit
from lorelake.evidence.proposals import extract
from lorelake.evidence.signals import signal_rows

STORED = "Stored."


def hand_in(unit, tool, given, output=STORED, failed=False, call_id=None):
    call_id = call_id or f"p{len(unit.events)}"
    unit.call(call_id, tool=tool, text=json.dumps(given, ensure_ascii=False, separators=(",", ":"), sort_keys=True))
    unit.add("tool_result", output, call_id=call_id, tool=tool, is_error=failed)


def items(unit):
    return [signal.item for signal in extract(unit.events)]


CREATED = [
    (
        "mcp__gitmem__create_learning",
        {
            "learning_type": "scar",
            "title": "Pools of ten starve the tests",
            "severity": "High",
            "description": "Ten connections used up the database in CI.",
            "solution_approach": "Use five per worker.",
            "counter_arguments": ["Production has more", "Production has more", ""],
            "keywords": ["db", "ci"],
            "applies_when": ["tests run in parallel"],
        },
        {
            "title": "Pools of ten starve the tests",
            "do": "Use five per worker.",
            "kind": "scar",
            "severity": "high",
            "not_when": ["agent: Production has more"],
            "tags": ["ci", "db"],
            "when": "tests run in parallel",
        },
    ),
    (
        "mcp__gitmem__gitmem-cd",
        {
            "title": "Queue",
            "decision": "Use the job queue.",
            "rationale": "It retries.",
            "alternatives_considered": ["cron"],
        },
        {
            "title": "Queue",
            "do": "Use the job queue.",
            "because": "It retries.",
            "rejected": "cron",
            "kind": "decision",
        },
    ),
    (
        "mcp__mem0__add_memory",
        {"text": "The staging database is reset at night."},
        {"do": "The staging database is reset at night."},
    ),
    (
        "mcp__mem0__add-memories",
        {"messages": [{"role": "user", "content": "Pin the image to a digest."}]},
        {"do": "Pin the image to a digest."},
    ),
    (
        "store_memory",
        {"subject": "tests", "fact": "Run the tests with one worker.", "reason": "They share a port."},
        {"title": "tests", "do": "Run the tests with one worker.", "because": "They share a port."},
    ),
    ("save_memory", {"fact": "Releases are cut on Tuesdays."}, {"do": "Releases are cut on Tuesdays."}),
    (
        "mcp__serena__write_memory",
        {"memory_name": "style", "content": "Imports go at the top of the file."},
        {"title": "style", "do": "Imports go at the top of the file."},
    ),
    (
        "remember",
        {"text": "The lock file is written by the installer."},
        {"do": "The lock file is written by the installer."},
    ),
    (
        "mcp__lorelake__propose",
        {"text": "Quote every path in the scripts."},
        {"do": "Quote every path in the scripts."},
    ),
    (
        "mcp__memory__create_entities",
        {
            "entities": [
                {"name": "Pool", "entityType": "setting", "observations": ["Is five in tests", "Is ten elsewhere."]}
            ]
        },
        {"title": "Pool", "do": "Is five in tests. Is ten elsewhere.", "kind": "fact"},
    ),
]


@pytest.mark.parametrize(("tool", "given", "wanted"), CREATED, ids=[tool for tool, _, _ in CREATED])
def test_a_create_call_gives_the_item_in_the_agents_words(unit, tool, given, wanted):
    hand_in(unit, tool, given)
    (signal,) = extract(unit.events)
    assert signal.item["trust_basis"] == "proposed"
    assert {name: signal.item.get(name) for name in wanted} == wanted
    assert signal.event_id == unit.events[0].event_id
    assert unit.events[0].text[signal.quote_start : signal.quote_end] == signal.quote


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("mcp__gitmem__recall", {"plan": "Pin the image to a digest."}),
        ("mcp__gitmem__create_thread", {"text": "Pin the image to a digest."}),
        ("mcp__mem0__search_memories", {"text": "Pin the image to a digest."}),
        ("mcp__memory__read_graph", {"text": "Pin the image to a digest."}),
        ("mcp__linear__create_issue", {"title": "Memory", "text": "Pin the image to a digest."}),
        ("mcp__mem0__add_memory", {"user_id": "ana"}),
        ("TodoWrite", {"content": "remember to pin the image to a digest"}),
    ],
)
def test_any_other_call_proposes_nothing(unit, tool, given):
    hand_in(unit, tool, given)
    assert items(unit) == []


@pytest.mark.parametrize(
    ("output", "failed"),
    [
        (STORED, True),
        ('{"error": "title is required"}', False),
        ("Error: the store is locked", False),
        ("⛔ Rejected: needs two counter-arguments", False),
        ("Not stored: no severity", False),
        ('{"success": false}', False),
    ],
)
def test_what_was_refused_is_no_proposal(unit, output, failed):
    hand_in(unit, "mcp__mem0__add_memory", {"text": "Pin the image to a digest."}, output, failed)
    assert items(unit) == []


def test_a_call_a_person_refused_or_that_has_no_result_is_no_proposal(unit):
    unit.call("p1", tool="mcp__mem0__add_memory", text='{"text":"Pin the image to a digest."}')
    unit.add("rejection", "no, that is not worth keeping", call_id="p1", tool="mcp__mem0__add_memory")
    unit.call("p2", tool="mcp__mem0__add_memory", text='{"text":"Pin the image to a digest."}')
    assert items(unit) == []


def test_lines_of_the_words_are_found_again_as_they_were_spelled(unit):
    text = 'Use "five" here.\nNever ten: 十个太多.'
    hand_in(unit, "mcp__mem0__add_memory", {"text": text})
    (signal,) = extract(unit.events)
    assert signal.item["witness"] == text
    assert signal.quote == 'Use \\"five\\" here.\\nNever ten: 十个太多.'


def test_equal_words_are_proposed_once(unit):
    for text in ("Pin the image to a digest.", "pin the image to a **digest**", "Pin the base image to a tag."):
        hand_in(unit, "mcp__mem0__add_memory", {"text": text})
    assert [item["do"] for item in items(unit)] == ["Pin the image to a digest.", "Pin the base image to a tag."]


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        ("lorelake propose 'Pin the image to a digest.'", ["Pin the image to a digest."]),
        ("cd /repo && lorelake propose Pin the image to a digest.", ["Pin the image to a digest."]),
        ("echo lorelake propose 'Pin the image to a digest.'", []),
        ("lorelake recall 'Pin the image to a digest.'", []),
        ('lorelake propose "$(cat notes.md)"', []),
    ],
)
def test_propose_on_the_command_line(unit, command, wanted):
    unit.run("p1", command, "counts after the next release", False)
    assert [item["do"] for item in items(unit)] == wanted


DOCUMENT = "---\ntitle: Pin images\n---\n# Pin images\n\nPin the base image to a digest. Tags move.\n\n- And more.\n"


@pytest.mark.parametrize("how", ["tool", "here-document"])
def test_teamais_contribute_hands_in_the_file_the_agent_wrote(unit, how):
    if how == "tool":
        unit.call("w1", tool="Write", path="/tmp/s/pin.md", text=json.dumps({"content": DOCUMENT, "file_path": "x"}))
        unit.add("tool_result", "written", call_id="w1", tool="Write")
    else:
        unit.run("w1", f"cat > /tmp/s/pin.md <<'EOF'\n{DOCUMENT}\nEOF", "", False)
    unit.run("p1", "teamai contribute --file /tmp/s/pin.md --title 'Pin base images'", "published", False)
    (signal,) = extract(unit.events)
    assert (signal.item["title"], signal.item["do"][:32]) == ("Pin base images", "Pin the base image to a digest. ")
    assert signal.event_id == unit.events[0].event_id


def test_contribute_of_a_file_the_unit_did_not_write_gives_nothing(unit):
    unit.call("w1", tool="Write", path="/tmp/other.md", text=json.dumps({"content": DOCUMENT}))
    unit.run("p1", "teamai contribute --file /tmp/s/pin.md", "published", False)
    assert items(unit) == []


@pytest.mark.parametrize(("trust", "wanted"), [("proposed", "admitted"), ("stated", "no_witness")])
def test_the_witness_gate_lets_a_proposal_pass_as_a_proposal_only(unit, trust, wanted):
    hand_in(unit, "mcp__mem0__add_memory", {"text": "Pin the base image to a digest in every build."})
    rows = [row for row in signal_rows(unit.events, {"family_id": "f"}) if row["kind"] == "proposed"]
    rows = [row | {"payload": row["payload"].replace('"proposed"', f'"{trust}"')} for row in rows]
    assert [verdict["rule"] for verdict in admit(rows, Context())] == [wanted]


def test_what_memory_said_before_is_an_echo_and_no_proposal(unit):
    text = "Pin the base image to a digest in every build of the service."
    hand_in(unit, "mcp__mem0__add_memory", {"text": text})
    rows = [row for row in signal_rows(unit.events, {"family_id": "f"}) if row["kind"] == "proposed"]
    assert [v["rule"] for v in admit(rows, Context(memory={"f": [(unit.events[0].ts, f"1. {text}")]}))] == ["self_echo"]
