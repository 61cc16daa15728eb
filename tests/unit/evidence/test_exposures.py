"""What counts as shown, opened and cited of lorelake's own items, and what does not, whoever forges it."""

import json

import pytest

from lorelake.content import markers
from lorelake.content.markers import cited_marker, opened_marker, recall_marker, shown_marker
from lorelake.evidence.exposures import exposure_rows
from lorelake.evidence.known_ids import KnownIds
from lorelake.evidence.recalls import recall_rows
from lorelake.evidence.traces import memory_texts, of_units
from lorelake.recall import answer
from lorelake.tables import EXPOSURES, RECALLS

RELEASE = "2026-03-01-0a1b2c3d"
CLAIM, OTHER = "lrn_" + "ab" * 16, "lrn_" + "cd" * 16
SHOWN = shown_marker(RELEASE, [CLAIM])
CITED = cited_marker([CLAIM[:16]])
ASKED = recall_marker(RELEASE, markers.Verdict("RELEVANT", 0.8, 0.6, 1, 3, ("team", "project:shop")))
SESSION = {"unit_id": "claude_code:s-1", "family_id": "fam-1", "person": "ana", "project": "shop"}
KNOWN = KnownIds([(1, CLAIM), (2, OTHER)], {RELEASE: 1, "2026-03-02-0a1b2c3d": 2})


def rows(*units, known=KNOWN, families=None):
    families = families or {}
    names = [unit.unit["unit_id"] for unit in units]
    sessions = [SESSION | {"unit_id": name, "family_id": families.get(name, "fam-1")} for name in names]
    events = {unit.unit["unit_id"]: unit.events for unit in units}
    traces = of_units(events, events, known)
    return exposure_rows(sessions, events, traces), recall_rows(sessions, traces)


def acts(*units, **more):
    return sorted((row["act"], row["claim_id"]) for row in rows(*units, **more)[0])


def recall(unit, command="lorelake recall 'pool size'", output=SHOWN, call_id="m1"):
    unit.run(call_id, command, f"1. Keep the pool small\n{output}", False)


def test_the_result_of_a_memory_call_shows_and_the_agents_answer_cites(unit):
    recall(unit)
    unit.add("answer", f"Kept it at five. {CITED}")
    assert acts(unit) == [("cited", CLAIM[:16]), ("shown", CLAIM)]
    found, _ = rows(unit)
    assert all(set(row) == set(EXPOSURES.column_names) for row in found)
    assert {row["release_id"] for row in found} == {RELEASE, None}


def test_a_question_with_its_verdict_is_a_recall_and_its_items_point_to_it(unit):
    recall(unit, output=f"{ASKED}\n{SHOWN}")
    (shown,), (asked,) = rows(unit)
    assert set(asked) == set(RECALLS.column_names)
    told = ("surface", "query", "verdict", "score", "threshold", "returned", "total", "truncated", "release_id")
    assert [asked[name] for name in told] == ["cli", "pool size", "RELEVANT", 0.8, 0.6, 1, 3, True, RELEASE]
    assert (asked["searched"], asked["project"], asked["audience"]) == (
        ["team", "project:shop"], "shop", "project:shop",
    )  # fmt: skip
    assert (shown["recall_id"], shown["rank"], shown["surface"]) == (asked["recall_id"], 1, "cli")


def test_an_answer_without_items_and_a_memory_out_of_reach_are_recalls_too(unit):
    nothing = recall_marker(RELEASE, markers.Verdict("NOT_RELEVANT", 0.0, 0.6, 0, 0, ()))
    lost = recall_marker(None, markers.Verdict("UNREACHABLE"))
    unit.run("m1", "lorelake recall x", f"NOT_RELEVANT\n{nothing}", False)
    unit.run("m2", "lorelake check y", f"UNREACHABLE  no release\n{lost}", True)
    shown, asked = rows(unit)
    assert shown == []
    found = {row["query"]: (row["verdict"], row["score"], row["truncated"], row["release_id"]) for row in asked}
    assert found == {"x": ("NOT_RELEVANT", 0.0, False, RELEASE), "y": ("UNREACHABLE", None, None, None)}


def test_two_questions_on_one_line_are_two_recalls_with_their_own_items(unit):
    second = shown_marker(RELEASE, [CLAIM[:20]])
    unit.run("m1", "lorelake recall first && lorelake recall second", f"{ASKED}\n{SHOWN}\n{ASKED}\n{second}\n", False)
    shown, asked = rows(unit)
    by_id = {row["recall_id"]: row["query"] for row in asked}
    assert {row["claim_id"]: by_id[row["recall_id"]] for row in shown} == {CLAIM: "first", CLAIM[:20]: "second"}


def test_an_item_asked_for_by_its_id_is_opened(unit):
    recall(unit, f"lorelake show {CLAIM[:16]}", opened_marker(RELEASE, [CLAIM]))
    (opened,), asked = rows(unit)
    assert (opened["act"], opened["recall_id"], asked) == ("opened", None, [])


def hit(learning_id):
    known = {
        "learning_id": learning_id, "audience": "team", "trust": "stated", "state": "active", "kind": "scar",
        "severity": None, "title": "Keep the pool small", "when": "tuning", "do": "Use five.", "because": None,
        "rejected": None, "said_by": "mara", "people": 1, "families": 1, "first_said": "2026-03-01",
        "last_said": "2026-03-01", "confidence": 0.5, "confidence_interval": (0.1, 0.9),
    }  # fmt: skip
    lists = [name for name in answer.Hit.__struct_fields__ if name not in {*known, "score", "rank", "why"}]
    return answer.Hit(**known, **dict.fromkeys(lists, ()))


@pytest.mark.parametrize("lines", ["", "Chunk ID: 82fb10\nProcess exited with code 0\nOutput:\n"])
@pytest.mark.parametrize("render", [answer.to_text, answer.to_json])
def test_what_recall_prints_is_what_is_read(unit, render, lines):
    """As text and as JSON, alone and among the lines of a harness."""
    searched = answer.Searched(("team",), 12, RELEASE, "2026-03-01", 1, "lexical")
    told = answer.marked(answer.Answer("WEAK", 0.31, 0.6, ("pool",), ("sea",), searched, 4, 1, True, (hit(CLAIM),)))
    unit.run("m1", "lorelake recall pool at sea", lines + render(told) + "\n", False)
    (shown,), (asked,) = rows(unit)
    assert (shown["claim_id"], asked["verdict"], asked["score"], asked["total"]) == (CLAIM, "WEAK", 0.31, 4)


@pytest.mark.parametrize("tool", ["mcp__lorelake__recall", "mcp__plugin_team_lorelake__recall", "lorelake.recall"])
def test_our_mcp_tools_are_memory(unit, tool):
    unit.call("m1", tool=tool, text=json.dumps({"question": "pool size"}))
    unit.add("tool_result", f"{ASKED}\n{SHOWN}", call_id="m1", tool=tool)
    shown, asked = rows(unit)
    assert ([row["surface"] for row in shown], [row["query"] for row in asked]) == (["mcp"], ["pool size"])


# Each forges a marker in one way; `honest` is the same act done by memory itself.

PRINTED = f"{ASKED}\n{SHOWN}"
BOTH = f"{PRINTED}\n{CITED}"


def run(command, output=PRINTED):
    return lambda unit: unit.run("f1", command, output, False)


def tool(name, text="{}", output=PRINTED, **more):
    def forge(unit):
        unit.call("f1", tool=name, text=text, **more)
        unit.add("tool_result", output, call_id="f1", tool=name)

    return forge


def typed(kind, text=BOTH, **more):
    return lambda unit: unit.add(kind, text, **more)


def unpaired(unit):
    unit.call("f1", tool="Bash", command="lorelake recall pool")
    unit.add("tool_result", PRINTED, call_id="f2", tool="Bash")


def before_its_call(unit):
    unit.add("tool_result", PRINTED, call_id="f1", tool="Bash")
    unit.call("f1", tool="Bash", command="lorelake recall pool")


def a_second_result(unit):
    unit.run("f1", "lorelake recall pool", "NOT_RELEVANT", False)
    unit.add("tool_result", PRINTED, call_id="f1", tool="Bash")


def a_rewound_result(unit):
    unit.call("f1", tool="Bash", command="lorelake recall pool", on_live_path=False)
    unit.add("tool_result", PRINTED, call_id="f1", tool="Bash", on_live_path=False)


def quoted_item(unit):
    """The text of an item that our own answer quotes: stored by an older version, not made inert."""
    unit.run("f1", "lorelake recall pool", f"RELEVANT\n> 1. Say this  [lrn_abababababab]\n>    do: {SHOWN}\n", False)


def in_an_item_of_our_json(unit):
    value = {"verdict": "RELEVANT", "hits": [{"title": SHOWN, "do": f"x\n{SHOWN}\n"}], "marker": ""}
    unit.run("f1", "lorelake recall pool --json", json.dumps(value, indent=2), False)


def an_item_of_other_json(unit):
    value = {"hits": [{"marker": SHOWN}], "verdict": "RELEVANT"}
    unit.run("f1", "lorelake recall pool --json", f"Output:\n{json.dumps(value, indent=2)}", False)


def in_the_question(unit):
    unit.run("f1", f"lorelake recall 'pool\n{SHOWN}\n'", f"Error: no such thing as pool\n{SHOWN}\n", True)


FORGED = {
    "echoed": run(f"echo '{SHOWN}'"),
    "printed": run("printf '%s' marker"),
    "a file that was shown": run("cat notes.md"),
    "searched for": run("grep -rn lorelake: ."),
    "a script": run("python -c 'print(open(\"n.md\").read())'"),
    "a here-document": run(f"cat <<'EOF'\n{SHOWN}\nEOF"),
    "behind a memory call": run("lorelake recall pool; cat notes.md"),
    "before a memory call": run(f"echo '{SHOWN}' && lorelake recall pool"),
    "piped through another program": run("lorelake recall pool | sed 's/x/y/'"),
    "as the output of a substitution": run("lorelake recall $(cat notes.md)"),
    "by a program of ours that asks nothing": run("lorelake sql 'select 1'"),
    "by a program called like ours": run("./lorelake recall pool"),
    "by a longer name": run("lorelake-mirror recall pool"),
    "by a quoted separator": run("echo -e ';' lorelake recall '\\n\\x3c!-- x'"),
    "in the question": in_the_question,
    "a file that was read": tool("Read", path="notes.md"),
    "a web page": tool("WebFetch", '{"url": "https://example.org"}'),
    "a sub-agent's summary": tool("Task", '{"prompt": "ask memory"}'),
    "another memory": tool("mcp__other__recall", '{"question": "pool"}'),
    "a tool whose name holds ours": tool("mcp__lorelake-docs__recall", '{"question": "pool"}'),
    "a tool of another server": tool("mcp__github__lorelake_recall", '{"question": "pool"}'),
    "another tool of ours": tool("mcp__lorelake__status"),
    "teamai's answer": run("teamai recall pool"),
    "gitmem's answer": tool("mcp__gitmem__recall", '{"plan": "pool"}'),
    "typed by a person": typed("prompt"),
    "typed while it worked": typed("queued_prompt"),
    "a refusal": typed("rejection"),
    "injected": typed("injected"),
    "a summary of what went before": typed("compaction"),
    "said by the agent": typed("answer"),
    "a chat message": typed("message"),
    "a review": typed("review_comment"),
    "a commit": typed("commit"),
    "another call's result": unpaired,
    "a result before its call": before_its_call,
    "a second result of one call": a_second_result,
    "a rewound turn": a_rewound_result,
    "the text of an item we show": quoted_item,
    "an item in our JSON": in_an_item_of_our_json,
    "a field of an item": an_item_of_other_json,
    "an id the release does not know": run("lorelake recall pool", shown_marker(RELEASE, [OTHER])),
    "a release that never was": run("lorelake recall pool", shown_marker("2026-03-01-ffffffff", [CLAIM])),
    "a question to a release that never was": run(
        "lorelake recall pool", ASKED.replace(RELEASE, "2026-03-01-ffffffff")
    ),
    "an invisible character in it": run("lorelake recall pool", SHOWN.replace("lorelake", "lore\u200blake")),
    "not alone on its line": run("lorelake recall pool", f"see {SHOWN}"),
    "within a line of code": run("lorelake recall pool", f"`{SHOWN}`"),
    "within a quotation": run("lorelake recall pool", f"> {SHOWN}"),
    "a citation in a memory's result": run("lorelake recall pool", CITED),
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED.keys())
def test_forged_markers_count_for_nothing(unit, forge):
    forge(unit)
    assert rows(unit) == ([], [])


@pytest.mark.parametrize(
    "honest",
    [
        run("lorelake recall pool"),
        run("lorelake recall 'pool; cat notes.md'"),
        run("lorelake recall pool --json | head -50", json.dumps({"marker": PRINTED}, indent=2)),
        tool("mcp__lorelake__recall", '{"question": "pool"}'),
        run("lorelake recall pool", f"> 1. quoted  [lrn_abababababab]\n>    do: nothing\n{PRINTED}"),
        run("lorelake recall pool", PRINTED.replace("\n", "\r\n")),
    ],
)
def test_their_honest_twins_count(unit, honest):
    honest(unit)
    shown, asked = rows(unit)
    assert [(row["act"], row["claim_id"]) for row in shown] == [("shown", CLAIM)]
    assert len(asked) == 1


FORGED_CITATIONS = {
    "a person": typed("prompt", CITED),
    "a tool": run("cat answer.md", CITED),
    "the agent before it was shown": None,
    "in a block of code": typed("answer", f"Agents end with\n```\n{CITED}\n```"),
    "in a line of code": typed("answer", f"They write `{CITED}`."),
    "in a quotation": typed("answer", f"> {CITED}"),
    "what was not shown": typed("answer", cited_marker([OTHER])),
    "a rewound answer": typed("answer", CITED, on_live_path=False),
    "a sub-agent's task": typed("injected", CITED, actor_class="agent"),
}


@pytest.mark.parametrize("forge", FORGED_CITATIONS.values(), ids=FORGED_CITATIONS.keys())
def test_a_citation_counts_only_in_the_agents_own_words_after_it_was_shown(unit, forge):
    if forge is None:
        unit.add("answer", CITED)
    recall(unit)
    if forge:
        forge(unit)
    assert acts(unit) == [("shown", CLAIM)]


def test_shown_in_one_session_of_the_family_and_cited_in_another(new_unit):
    parent, child = new_unit("claude_code:s-1"), new_unit("claude_code:s-1/a1")
    recall(parent)
    for _ in range(3):
        child.add("prompt", "go on")
    child.add("answer", CITED)
    assert acts(parent, child) == [("cited", CLAIM[:16]), ("shown", CLAIM)]
    apart = {"claude_code:s-1": "fam-1", "claude_code:s-1/a1": "fam-2"}
    assert acts(parent, child, families=apart) == [("shown", CLAIM)]


def test_a_release_answers_to_the_ids_of_its_publish_and_earlier_ones():
    assert KNOWN.knows(RELEASE, CLAIM)
    assert KNOWN.knows(RELEASE, CLAIM[:16])
    assert not KNOWN.knows(RELEASE, OTHER[:16])
    assert KNOWN.knows("2026-03-02-0a1b2c3d", OTHER[:16])
    assert not KNOWN.knows("2026-03-01-00000000", CLAIM)
    assert not KNOWN.is_release("2026-03-05-00000000")


def test_releases_from_before_the_books_cannot_be_looked_up():
    """faults 32: a lake whose history was lost still has its transcripts. Nothing later is taken unseen."""
    for release in ("2026-02-27-00000000", "2025-01-01-ffffffff"):
        assert KNOWN.knows(release, OTHER)
        assert KNOWN.is_release(release)
    assert KnownIds().knows(RELEASE, OTHER)


def test_what_memory_said_is_handed_to_the_echo_gate(unit):
    recall(unit)
    unit.run("r1", "cat notes.md", "notes", False)
    unit.run("r2", "lorelake recall x; cat notes.md", "more", False)
    unit.call("r3", tool="mcp__gitmem__create_learning", text='{"title": "x"}')
    unit.add("tool_result", "scar Created scar", call_id="r3", tool="mcp__gitmem__create_learning")
    assert [text for _, text in memory_texts(unit.events)] == [f"1. Keep the pool small\n{SHOWN}", "more"]
