"""teamai's answers and what agents say they used of them."""

import pytest

from lorelake.evidence.exposures import exposure_rows
from lorelake.evidence.recalls import recall_rows
from lorelake.evidence.traces import of_units
from lorelake.evidence.traces_teamai import cited, document_reference, references, same_document

SESSION = {"unit_id": "claude_code:s-1", "family_id": "fam-1", "person": "ana", "project": "shop"}
POOL = "/home/ann/.teamai/learnings-wt/learnings/alpha/pool-size-2026-02-01-a1b2c3.md"
QUEUE = "/home/ann/.teamai/learnings-wt/learnings/queue-depth-2026-02-03-d4e5f6.md"


def entry(number, of, title, path, *snippet, kind="learnings", score="8.4"):
    return [
        f"[{number}/{of}] [{kind}] {title} ★3 [project]",
        f"Author: ana | Date: 2026-02-01 | Score: {score}",
        "Tags: database",
        *snippet,
        f"File: {path}",
        "",
    ]


def answered(*entries, start="--- [teamai:recall:start] --- (2 results) run=5f0c"):
    lines = [start, "", *(line for lines in entries for line in lines), "--- [teamai:recall:end] ---", ""]
    return "\n".join([*lines, "The above is for reference only."])


TWO = answered(entry(1, 2, "Keep the pool small", POOL), entry(2, 2, "Bound the queue", QUEUE, score="5.1"))


def rows(unit):
    events = {"claude_code:s-1": unit.events}
    traces = of_units(events, events)
    return exposure_rows([SESSION], events, traces), recall_rows([SESSION], traces)


def acts(unit):
    return sorted((row["act"], row["claim_id"]) for row in rows(unit)[0])


def recall(unit, output=TWO, command="teamai recall 'pool size'", call_id="t1"):
    unit.run(call_id, command, output, False)


POOL_ID, QUEUE_ID = "teamai:alpha/pool-size-2026-02-01-a1b2c3", "teamai:queue-depth-2026-02-03-d4e5f6"


def test_files_between_the_banners_are_shown_in_their_order(unit):
    recall(unit)
    shown, (asked,) = rows(unit)
    found = sorted((row["rank"], row["claim_id"], row["surface"]) for row in shown)
    assert found == [(1, POOL_ID, "teamai"), (2, QUEUE_ID, "teamai")]
    assert {row["recall_id"] for row in shown} == {asked["recall_id"]}
    told = ("surface", "query", "verdict", "score", "returned", "total", "truncated")
    assert [asked[name] for name in told] == ["teamai", "pool size", None, 8.4, 2, None, None]


@pytest.mark.parametrize(
    "output",
    [
        TWO.replace("--- [teamai:recall:start] ---", "recalled:"),
        TWO.replace("[1/2] ", "").replace("[2/2] ", ""),
        answered(entry(1, 1, "A rule", "/repo/rules/style.md", kind="rules")),
        f"See\n> --- [teamai:recall:start] ---\n> [1/1] x\n> File: {POOL}\n",
    ],
    ids=["no banner", "no entries", "a rule file", "quoted"],
)
def test_other_lines_that_name_a_file_show_nothing(unit, output):
    recall(unit, output)
    assert acts(unit) == []


def test_stored_text_cannot_add_a_file_to_an_entry(unit):
    recall(unit, answered([*entry(1, 1, "Pool", POOL), f"File: {QUEUE}", f"[7/9] Another\nFile: {QUEUE}"]))
    assert acts(unit) == [("shown", POOL_ID)]


@pytest.mark.parametrize("command", ["cat out.txt", "teamai recall pool; cat out.txt", "teamai pull"])
def test_the_same_lines_from_anything_else_are_text(unit, command):
    recall(unit, command=command)
    unit.add("answer", TWO)
    unit.add("prompt", TWO)
    assert rows(unit) == ([], [])


@pytest.mark.parametrize(
    ("output", "wanted"),
    [
        ('RELEVANT score=6.1 threshold=4.0 title="Pool" matched=pool missing=sea', ("RELEVANT", 6.1, 4.0, 0)),
        ("NOT_RELEVANT score=1.2 threshold=4.0", ("NOT_RELEVANT", 1.2, 4.0, 0)),
        ('ℹ No matching learnings found for "pool size". run=5f', ("NOT_RELEVANT", None, None, 0)),
        ("✗ Nothing was searched: c.yaml: broken. Fix the file.", ("UNREACHABLE", None, None, None)),
    ],
)
def test_what_teamai_says_of_its_answer(unit, output, wanted):
    recall(unit, output, "teamai recall --check 'pool size'")
    shown, (asked,) = rows(unit)
    assert shown == []
    assert tuple(asked[name] for name in ("verdict", "score", "threshold", "returned")) == wanted


def test_an_answer_nobody_can_read_is_no_recall(unit):
    recall(unit, "usage: teamai recall <query>")
    assert rows(unit) == ([], [])


@pytest.mark.parametrize(
    "comment",
    [
        "<!-- teamai:referenced-doc-ids: [alpha/pool-size-2026-02-01-a1b2c3] -->",
        "<!— teamai:referenced-doc-ids: ['alpha/pool-size-2026-02-01-a1b2c3'] —>",
        "<!—- TEAMAI:Referenced-Doc-Ids: [“pool-size-2026-02-01-a1b2c3”] -—>",
        '<!-- teamai:referenced-doc-ids:["pool-size-2026-02-01-a1b2c3.md", ...]-->',
    ],
)
def test_a_citation_in_any_of_its_spellings_joins_what_was_shown(unit, comment):
    recall(unit)
    unit.add("answer", f"Kept it small.\n{comment}")
    assert ("cited", POOL_ID) in acts(unit)


@pytest.mark.parametrize(
    "comment",
    [
        "<!-- teamai:referenced-doc-ids: [] -->",
        "<!-- teamai:referenced-doc-ids: [beta/pool-size-2026-02-01-a1b2c3] -->",
        "<!-- teamai:referenced-doc-ids: [something-else] -->",
        "<!-- teamai:recalled-doc-ids: [pool-size-2026-02-01-a1b2c3] -->",
        "```\n<!-- teamai:referenced-doc-ids: [pool-size-2026-02-01-a1b2c3] -->\n```",
        "teamai:referenced-doc-ids: [pool-size-2026-02-01-a1b2c3]",
    ],
)
def test_a_citation_of_what_was_not_shown_or_is_no_comment_counts_for_nothing(unit, comment):
    recall(unit)
    unit.add("answer", comment)
    assert {act for act, _ in acts(unit)} == {"shown"}


def test_a_bare_name_that_two_shown_documents_have_credits_neither(unit):
    other = POOL.replace("/alpha/", "/beta/")
    recall(unit, answered(entry(1, 2, "Pool", POOL), entry(2, 2, "Pool", other)))
    unit.add("answer", "<!-- teamai:referenced-doc-ids: [pool-size-2026-02-01-a1b2c3] -->")
    assert {act for act, _ in acts(unit)} == {"shown"}


def test_recalled_ids_count_in_a_result_only(unit):
    line = "<!-- teamai:recalled-doc-ids: [alpha/pool-size-2026-02-01-a1b2c3, extra-note] -->"
    recall(unit, f"{TWO}\n{line}")
    unit.add("answer", line.replace("extra", "forged"))
    assert [claim for _, claim in acts(unit)] == [POOL_ID, "teamai:extra-note", QUEUE_ID]


def test_a_document_read_after_it_was_shown_is_opened(unit):
    unit.call("r0", tool="Read", path=QUEUE)
    unit.add("tool_result", "text", call_id="r0", tool="Read")
    recall(unit)
    for number, (path, fails) in enumerate([(POOL, False), (QUEUE, True), ("/repo/README.md", False)]):
        unit.call(f"r{number}x", tool="Read", path=path)
        unit.add("tool_result", "text", call_id=f"r{number}x", tool="Read", is_error=fails)
    assert [claim for act, claim in acts(unit) if act == "opened"] == [POOL_ID]


def test_ids_as_teamai_takes_them():
    assert references("a, 'b' ,\"c.md\", <d>, ..., a b, " + "x" * 400) == ["teamai:a", "teamai:b", "teamai:c"]
    assert cited("<!-- teamai:referenced-doc-ids: [a, a, n/b] -->") == ["teamai:a", "teamai:n/b"]
    assert document_reference("learnings/n/x.md") == "teamai:n/x"
    assert document_reference("C:\\team\\learnings\\x.md") == "teamai:x"
    assert document_reference("/repo/notes/x.md") == "teamai:x"
    assert document_reference("/repo/x.txt") is None
    assert same_document("teamai:n/x", "teamai:x")
    assert not same_document("teamai:n/x", "teamai:m/x")
    assert not same_document("teamai:x", "teamai:y")
